//go:build unix

package filelock

import (
	"errors"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

func tryLock(f *os.File, offset int64) error {
	lock := unix.Flock_t{Type: unix.F_WRLCK, Whence: io.SeekStart, Start: offset, Len: 1}
	for {
		switch err := unix.FcntlFlock(f.Fd(), setLock, &lock); {
		case errors.Is(err, unix.EINTR):
			// A signal came in between: try again.
		case errors.Is(err, unix.EAGAIN), errors.Is(err, unix.EACCES):
			return ErrHeld
		default:
			return err
		}
	}
}
