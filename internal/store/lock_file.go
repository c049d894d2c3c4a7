package store

import (
	"context"
	"os"
)

// fileLock is a lock on a byte of a file next to a SQLite store. It belongs to the open file.
type fileLock struct{ file *os.File }

// hold implements heldLock: another process would lock a file of the same name if this one was
// removed.
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
