//go:build unix

package phase

import "syscall"

// openNonblock keeps the opening of a FIFO from waiting for its other end.
const openNonblock = syscall.O_NONBLOCK
