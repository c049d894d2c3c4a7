package isolate

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// TestEntriesAreFoundByDescriptor: on a file system that does not tell the kinds of
// entries, the os package asks for each by its directory's name, as Info does.
func TestEntriesAreFoundByDescriptor(t *testing.T) {
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
