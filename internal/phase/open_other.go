//go:build !unix

package phase

// openNonblock is 0 where files cannot be FIFOs.
const openNonblock = 0
