package isolate

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// TestEntriesAreFoundByDescriptor because on a file system that does not report the kinds
// of entries, the os package looks each up by its directory's name, as Info does.
func TestEntriesAreFoundByDescriptor(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	if err := os.MkdirAll(filepath.Join(base, "a/b/c"), 0o700); err != nil {
		t.Fatal(err)
	}
	at := unix.AT_FDCWD
	for _, name := range []string{filepath.Join(base, "a"), "b"} {
		dir, err := openDir(at, name)
		if err != nil {
			t.Fatal(err)
		}
		defer dir.Close()
		at = int(dir.Fd())
		entries, err := dir.ReadDir(-1)
		if err != nil || len(entries) != 1 {
			t.Fatalf("%s: %d entries, %v", name, len(entries), err)
		}
		if info, err := entries[0].Info(); err != nil || !info.IsDir() {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestIdentities asserts that identities differ, that each has a guard of its own, and that
// those that systemd may lend to a service come last.
func TestIdentities(t *testing.T) {
	t.Parallel()
	taken, lent := map[uint32]bool{}, false
	for _, id := range identities() {
		if taken[id.UID] || taken[id.UID+1] || id.UID != id.GID || id.UID < 65000 || id.UID+1 > 65533 {
			t.Errorf("%+v", id)
		}
		if id.UID+1 > 65519 && lent {
			t.Errorf("%d comes after ids that systemd lends", id.UID)
		}
		lent = lent || id.UID <= 65519
		taken[id.UID], taken[id.UID+1] = true, true
	}
	if len(taken) < 2*64 {
		t.Errorf("%d identities are not enough for many workers", len(taken)/2)
	}
}
