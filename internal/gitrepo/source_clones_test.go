//go:build unix

package gitrepo_test

import (
	"path/filepath"
	"testing"

	"github.com/agent-airlock/airlock/internal/gitrepo"
)

// TestWorkspaceSeriesOfOtherClones: worktrees, SHA-256, a history that is cut
// off, and a clone that borrows its objects.
func TestWorkspaceSeriesOfOtherClones(t *testing.T) {
	for name, other := range map[string]func(c clone) clone{
		"a worktree": func(c clone) clone {
			tree := clone{t, filepath.Join(t.TempDir(), "tree")}
			c.git("worktree", "add", "-q", "-b", "topic", tree.dir)
			c.write(".git/info/exclude", "*.log\n")
			tree.write("x.log", "ignored")
			return tree
		},
		"shallow": func(c clone) clone {
			c.commit("another")
			shallow := clone{t, filepath.Join(t.TempDir(), "shallow")}
			c.git("clone", "-q", "--depth=1", "file://"+c.dir, shallow.dir)
			return shallow
		},
		"shared": func(c clone) clone {
			shared := clone{t, filepath.Join(t.TempDir(), "shared")}
			c.git("clone", "-q", "--shared", c.dir, shared.dir)
			return shared
		},
		"SHA-256": func(clone) clone {
			c := newClone(t, "--object-format=sha256")
			c.write("a", "1")
			c.write("b", "1")
			c.commit("base")
			return c
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := newClone(t)
			c.write("a", "1")
			c.write("b", "1")
			c.commit("base")
			c = other(c)
			base := c.git("rev-parse", "HEAD")
			c.write("a", "2")
			c.commit("committed")
			c.write("a", "3")
			c.write("c", "new")
			c.remove("b")
			s, err := c.open().WorkspaceSeries(t.Context(), gitrepo.WorkspaceSource{Dir: c.dir, Bases: []string{base}})
			if err != nil {
				t.Fatal(err)
			}
			c.git("add", "-A")
			if len(s.Changes) != 2 || s.Base != base || s.Changes[0].After != c.treeOf("HEAD") || s.Changes[1].After != c.git("write-tree") {
				t.Errorf("%+v", s)
			}
		})
	}
}
