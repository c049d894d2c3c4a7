//go:build unix

package action

import (
	"errors"
	"os"
	"syscall"
)

// tryLock locks an open file against other processes that lock it, until it is closed. It
// reports false where another one has it, or a signal came.
func tryLock(f *os.File) (bool, error) {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) || errors.Is(err, syscall.EINTR) {
		return false, nil
	}
	return err == nil, err
}
