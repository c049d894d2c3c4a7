//go:build unix

package agentchanges_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/agent-airlock/airlock/internal/agentchanges"

	"github.com/agent-airlock/airlock/internal/gitrepo/gittest"
	"github.com/agent-airlock/airlock/internal/shorttest"
)

// TestWorkspaceSeriesNeverLeavesTheWorkTree tests rule R7 of docs/security.md: while the work tree
// is read, directories and files in it are replaced by links that lead out of it, then put back.
// What these links lead to is never in the result.
func TestWorkspaceSeriesNeverLeavesTheWorkTree(t *testing.T) {
	t.Parallel()
	const secret = "SECRET"
	c, outside := newClone(t), t.TempDir()
	if err := os.WriteFile(filepath.Join(outside, "f.txt"), []byte(secret), 0o644); err != nil {
		t.Fatal(err)
	}
	for i := range 200 {
		c.Write(fmt.Sprintf("d%03d/f.txt", i), "inside\n")
	}
	base := c.Commit("base")
	c.Git("rm", "-q", "-r", "--cached", ".") // so that every file is read
	stop := make(chan struct{})
	var swapper sync.WaitGroup
	swapper.Go(func() {
		for i := 0; ; i = (i + 1) % 200 {
			select {
			case <-stop:
				return
			default:
			}
			dir := filepath.Join(c.Dir, fmt.Sprintf("d%03d", i))
			what, target := dir, outside
			if i%2 == 0 {
				what, target = filepath.Join(dir, "f.txt"), filepath.Join(outside, "f.txt")
			}
			if os.Rename(what, c.Dir+"/.git/aside") != nil || os.Symlink(target, what) != nil || os.Remove(what) != nil || os.Rename(c.Dir+"/.git/aside", what) != nil {
				return
			}
		}
	})
	r := c.Open()
	own := clone{gittest.In(t, r)}
	for range shorttest.Count(20, 10) {
		s, err := agentchanges.FromWorkspace(t.Context(), agentchanges.WorkspaceConfig{Repo: r, Dir: c.Dir, Bases: []string{base}})
		if err != nil {
			continue // a file changed while it was read, or is gone
		}
		for _, change := range s.Changes {
			if diff := string(own.Output("diff-tree", "-p", base, change.After)); strings.Contains(diff, secret) {
				t.Fatal(diff)
			}
		}
	}
	close(stop)
	swapper.Wait()
	s, err := agentchanges.FromWorkspace(t.Context(), agentchanges.WorkspaceConfig{Repo: r, Dir: c.Dir, Bases: []string{base}})
	if err != nil || len(s.Changes) > 0 {
		t.Errorf("%+v, %v", s, err)
	}
	// Nor did the file outside become an object.
	for line := range strings.Lines(string(own.Output("cat-file", "--batch-all-objects", "--batch-check=%(objectname) %(objecttype)", "--unordered"))) {
		if oid, ok := strings.CutSuffix(strings.TrimSpace(line), " blob"); ok && string(own.Output("cat-file", "blob", oid)) == secret {
			t.Errorf("the file outside became %s", oid)
		}
	}
}
