//go:build unix

package fixer

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestNewDirectoriesBelongToTheWorkspacesOwner asserts the owner of what install makes. Only root can
// write as somebody else.
func TestNewDirectoriesBelongToTheWorkspacesOwner(t *testing.T) {
	dir := t.TempDir()
	owner := os.Getuid()
	if owner == 0 {
		owner = 1001
		if err := os.Chown(dir, owner, owner); err != nil {
			t.Fatal(err)
		}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	for _, name := range []string{"new/deep/a.txt", "new/deep/b.txt", "new/c.txt", "d.txt"} {
		if err := (File{Path: name, Mode: "100644", Content: []byte("x")}).install(root); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"new", "new/deep", "new/deep/a.txt", "new/deep/b.txt", "new/c.txt", "d.txt"} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if st := info.Sys().(*syscall.Stat_t); int(st.Uid) != owner {
			t.Errorf("%s belongs to %d, want %d", name, st.Uid, owner)
		}
	}
}
