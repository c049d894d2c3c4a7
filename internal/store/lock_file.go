package store

import (
	"context"
	"errors"
	"os"

	"github.com/agent-airlock/airlock/internal/filelock"
)

// fileLock is a lock on a byte of a file next to a SQLite store. Closing the file frees the lock.
type fileLock struct{ file *os.File }

// lockFile takes the lock on the byte of a file at an offset. The error is ErrLocked if somebody has
// it.
func lockFile(path string, offset int64) (*fileLock, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := filelock.TryLock(file, offset); err != nil {
		_ = file.Close()
		if errors.Is(err, filelock.ErrHeld) {
			return nil, ErrLocked
		}
		return nil, err
	}
	return &fileLock{file}, nil
}

// hold implements heldLock. If the file was removed or replaced, another process would lock another
// file of the same name.
func (l *fileLock) hold(context.Context) error {
	held, err := l.file.Stat()
	if err != nil {
		return err
	}
	if current, err := os.Stat(l.file.Name()); err != nil || !os.SameFile(held, current) {
		return ErrLost
	}
	return nil
}

// free implements heldLock.
func (l *fileLock) free() { _ = l.file.Close() }
