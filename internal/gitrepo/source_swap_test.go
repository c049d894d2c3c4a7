//go:build unix

package gitrepo_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/agent-airlock/airlock/internal/gitrepo"
)

// TestWorkspaceSeriesNeverLeavesTheWorkTree is rule R7: while the work tree is
// read, directories and files in it become links that lead out, and back. What
// is out there never is in the result.
func TestWorkspaceSeriesNeverLeavesTheWorkTree(t *testing.T) {
	const secret = "SECRET"
	c, outside := newClone(t), t.TempDir()
	if err := os.WriteFile(filepath.Join(outside, "f.txt"), []byte(secret), 0o644); err != nil {
		t.Fatal(err)
	}
	for i := range 200 {
		c.write(fmt.Sprintf("d%03d/f.txt", i), "inside\n")
	}
	base := c.commit("base")
	c.git("rm", "-q", "-r", "--cached", ".") // so that every file is read
	stop := make(chan struct{})
	var swapper sync.WaitGroup
	swapper.Go(func() {
		for i := 0; ; i = (i + 1) % 200 {
			select {
			case <-stop:
				return
			default:
			}
			dir := filepath.Join(c.dir, fmt.Sprintf("d%03d", i))
			what, target := dir, outside
			if i%2 == 0 {
				what, target = filepath.Join(dir, "f.txt"), filepath.Join(outside, "f.txt")
			}
			if os.Rename(what, c.dir+"/.git/aside") != nil || os.Symlink(target, what) != nil || os.Remove(what) != nil || os.Rename(c.dir+"/.git/aside", what) != nil {
				return
			}
		}
	})
	r := c.open()
	own := clone{t, r.GitDir()}
	for range 20 {
		s, err := r.WorkspaceSeries(t.Context(), gitrepo.WorkspaceSource{Dir: c.dir, Bases: []string{base}})
		if err != nil {
			continue // it says that a file changed, or is gone
		}
		for _, change := range s.Changes {
			if diff := string(own.output("diff-tree", "-p", base, change.After)); strings.Contains(diff, secret) {
				t.Fatal(diff)
			}
		}
	}
	close(stop)
	swapper.Wait()
	s, err := r.WorkspaceSeries(t.Context(), gitrepo.WorkspaceSource{Dir: c.dir, Bases: []string{base}})
	if err != nil || len(s.Changes) > 0 {
		t.Errorf("%+v, %v", s, err)
	}
	// Nor did any object come to be.
	for line := range strings.Lines(string(own.output("cat-file", "--batch-all-objects", "--batch-check=%(objectname) %(objecttype)", "--unordered"))) {
		if oid, ok := strings.CutSuffix(strings.TrimSpace(line), " blob"); ok && string(own.output("cat-file", "blob", oid)) == secret {
			t.Errorf("the file outside became %s", oid)
		}
	}
}
