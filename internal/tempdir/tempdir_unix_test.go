//go:build unix

package tempdir

import (
	"os"
	"syscall"
	"testing"
	"time"
)

// TestDirectoryInUseWithoutLocks asserts that on a file system without locks nobody removes a
// directory that is in use, although it is old and its process has put nothing into it.
func TestDirectoryInUseWithoutLocks(t *testing.T) {
	locks := tryLock
	t.Cleanup(func() { tryLock = locks })
	parent := t.TempDir()
	tryLock = func(*os.File) error { return syscall.ENOLCK }
	used, err := Make(parent, "airlock-test-", nil)
	if err != nil {
		t.Fatal(err)
	}
	longAgo := time.Now().Add(-24 * time.Hour)
	if err := os.Chtimes(used.Path, longAgo, longAgo); err != nil {
		t.Fatal(err)
	}
	for name, lock := range map[string]func(*os.File) error{"no locks": tryLock, "locks": locks} {
		tryLock = lock
		other, err := Make(parent, "airlock-test-", nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := other.Close(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := os.Stat(used.Path); err != nil {
			t.Errorf("%s: the directory in use is gone: %v", name, err)
		}
	}
	if err := used.Close(); err != nil {
		t.Error(err)
	}
	if entries, err := os.ReadDir(parent); err != nil || len(entries) > 0 {
		t.Errorf("%v is left (%v)", entries, err)
	}
}
