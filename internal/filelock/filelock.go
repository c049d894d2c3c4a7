// Package filelock locks bytes of a file against other processes. On Linux, macOS and Windows, a lock
// also holds against other open files of the same process. The system releases a lock when its file
// is closed or its process ends, however that happens.
package filelock

import (
	"errors"
	"os"
)

// ErrHeld reports that another process holds a lock, or another open file of the same process does.
var ErrHeld = errors.New("the lock is held by another process")

// TryLock locks the byte at an offset, which may be beyond the file's end, so that one file serves
// any number of locks. The file must be open for writing. TryLock does not wait: if the lock is
// held, the error is ErrHeld. Any other error means that the file cannot be locked, as on a file
// system without locks.
func TryLock(f *os.File, offset int64) error {
	err := tryLock(f, offset)
	if err == nil || errors.Is(err, ErrHeld) {
		return err
	}
	return &os.PathError{Op: "lock", Path: f.Name(), Err: err}
}
