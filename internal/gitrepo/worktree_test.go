//go:build unix

package gitrepo_test

import (
	"errors"
	"io/fs"
	"path/filepath"
	"testing"

	"github.com/agent-airlock/airlock/internal/gitrepo"
	"github.com/agent-airlock/airlock/internal/gitrepo/gittest"
)

// TestReadBelow asserts that Read takes ordinary files only: it follows no link, even one that stays
// inside, and does not wait for a FIFO. Link and Lstat follow no link on the way either.
func TestReadBelow(t *testing.T) {
	t.Parallel()
	c := clone{gittest.Clone{T: t, Dir: t.TempDir()}}
	c.Write("dir/in/f.txt", "text")
	c.Link("dir", "to-dir")
	c.Link("dir/in/f.txt", "to-file")
	c.Link(filepath.Join(c.Dir, "dir"), "absolute")
	c.Mkfifo("pipe")
	tree, err := gitrepo.OpenWorkTree(c.Dir)
	if err != nil {
		t.Fatal(err)
	}
	defer tree.Close()
	for name, ok := range map[string]bool{
		"dir/in/f.txt": true, "to-dir/in/f.txt": false, "to-file": false, "absolute/in/f.txt": false, "pipe": false, "dir": false,
		"none": false, "none/x": false, "../x": false, "dir/../dir/in/f.txt": false, "dir/in/f.txt/x": false,
	} {
		data, err := tree.Read(name, 4)
		if ok != (err == nil) || ok && string(data) != "text" {
			t.Errorf("%s: %q, %v", name, data, err)
		}
	}
	if _, err := tree.Read("dir/in/f.txt", 3); !errors.Is(err, gitrepo.ErrTooLarge) {
		t.Error(err)
	}
	for name, want := range map[string]string{"to-dir": "dir", "dir": "", "none": "", "../x": "", "to-dir/in": ""} {
		if got, err := tree.Link(name); got != want || (err == nil) != (want != "") {
			t.Errorf("the link %s: %q, %v", name, got, err)
		}
	}
	for name, ok := range map[string]bool{"to-dir": true, "dir/in": true, "pipe": true, "to-dir/in": false, "none": false, ".": false, "/etc": false, "dir/in/f.txt/x": false} {
		if _, err := tree.Lstat(name); ok != (err == nil) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, name := range []string{"none/x", "to-dir/in", "dir/in/f.txt/x"} {
		if _, err := tree.Lstat(name); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := gitrepo.OpenWorkTree(filepath.Join(c.Dir, "none")); err == nil {
		t.Error("a directory that is not there is opened")
	}
}
