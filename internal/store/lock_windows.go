package store

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// lockFile locks one byte of a file, which may lie beyond its end, so that one file
// serves any number of locks.
func lockFile(path string, at int64) (*fileLock, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	place := windows.Overlapped{Offset: uint32(at), OffsetHigh: uint32(at >> 32)}
	err = windows.LockFileEx(windows.Handle(file.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, &place)
	if err == nil {
		return &fileLock{file}, nil
	}
	_ = file.Close()
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING) {
		return nil, ErrLocked
	}
	return nil, &os.PathError{Op: "lock", Path: path, Err: err}
}
