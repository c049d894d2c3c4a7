//go:build unix

package gitrepo_test

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/agent-airlock/airlock/internal/gitrepo"
)

// TestReadBelow: only ordinary files are opened, by no link, even one that stays
// inside, and without waiting for what a pipe would give.
func TestReadBelow(t *testing.T) {
	c := clone{t, t.TempDir()}
	c.write("dir/in/f.txt", "text")
	c.link("dir", "to-dir")
	c.link("dir/in/f.txt", "to-file")
	c.link(filepath.Join(c.dir, "dir"), "absolute")
	c.mkfifo("pipe")
	for name, ok := range map[string]bool{
		"dir/in/f.txt": true, "to-dir/in/f.txt": false, "to-file": false, "absolute/in/f.txt": false, "pipe": false, "dir": false,
		"none": false, "none/x": false, "../x": false, "dir/../dir/in/f.txt": false, "dir/in/f.txt/x": false,
	} {
		data, err := gitrepo.ReadBelow(c.dir, name, 4)
		if ok != (err == nil) || ok && string(data) != "text" {
			t.Errorf("%s: %q, %v", name, data, err)
		}
	}
	if _, err := gitrepo.ReadBelow(c.dir, "dir/in/f.txt", 3); !errors.Is(err, gitrepo.ErrTooLarge) {
		t.Error(err)
	}
}
