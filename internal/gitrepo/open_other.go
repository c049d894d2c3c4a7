//go:build !unix

package gitrepo

// openNonblock is 0 where files cannot be FIFOs.
const openNonblock = 0
