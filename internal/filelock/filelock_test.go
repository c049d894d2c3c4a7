//go:build linux || darwin || windows

package filelock_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/agent-airlock/airlock/internal/filelock"
)

// TestLocksBelongToTheOpenFile asserts that a lock also holds against the process that has it, and
// stays when another handle of the same file is closed.
func TestLocksBelongToTheOpenFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "locks")
	open := func() *os.File {
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
		return f
	}
	const offset, other = 1 << 40, 7
	holder := open()
	if err := filelock.TryLock(holder, offset); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second time, after a handle with a lock of its own was closed
		second := open()
		if err := filelock.TryLock(second, offset); !errors.Is(err, filelock.ErrHeld) {
			t.Errorf("the lock of another handle: %v, want ErrHeld", err)
		}
		if err := filelock.TryLock(second, other); err != nil {
			t.Errorf("another byte: %v", err)
		}
		second.Close()
	}
	holder.Close()
	if err := filelock.TryLock(open(), offset); err != nil {
		t.Errorf("after the holder was closed: %v", err)
	}
}
