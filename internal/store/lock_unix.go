//go:build unix

package store

import (
	"errors"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// lockFile locks one byte of a file, which may lie beyond its end, so that one file
// serves any number of locks.
func lockFile(path string, at int64) (*fileLock, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	lock := unix.Flock_t{Type: unix.F_WRLCK, Whence: io.SeekStart, Start: at, Len: 1}
	for {
		err = unix.FcntlFlock(file.Fd(), setLock, &lock)
		if !errors.Is(err, unix.EINTR) {
			break
		}
	}
	if err == nil {
		return &fileLock{file}, nil
	}
	_ = file.Close()
	if errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EACCES) {
		return nil, ErrLocked
	}
	return nil, &os.PathError{Op: "lock", Path: path, Err: err}
}
