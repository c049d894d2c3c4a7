//go:build unix

package agentchanges_test

import (
	"path/filepath"
	"testing"

	"github.com/agent-airlock/airlock/internal/agentchanges"

	"github.com/agent-airlock/airlock/internal/gitrepo/gittest"
)

// TestWorkspaceSeriesOfOtherClones: worktrees, SHA-256, a history that is cut
// off, and a clone that borrows its objects.
func TestWorkspaceSeriesOfOtherClones(t *testing.T) {
	for name, other := range map[string]func(c clone) clone{
		"a worktree": func(c clone) clone {
			tree := clone{gittest.Clone{T: t, Dir: filepath.Join(t.TempDir(), "tree")}}
			c.Git("worktree", "add", "-q", "-b", "topic", tree.Dir)
			c.Write(".git/info/exclude", "*.log\n")
			tree.Write("x.log", "ignored")
			return tree
		},
		"shallow": func(c clone) clone {
			c.Commit("another")
			shallow := clone{gittest.Clone{T: t, Dir: filepath.Join(t.TempDir(), "shallow")}}
			c.Git("clone", "-q", "--depth=1", "file://"+c.Dir, shallow.Dir)
			return shallow
		},
		"shared": func(c clone) clone {
			shared := clone{gittest.Clone{T: t, Dir: filepath.Join(t.TempDir(), "shared")}}
			c.Git("clone", "-q", "--shared", c.Dir, shared.Dir)
			return shared
		},
		"SHA-256": func(clone) clone {
			c := newClone(t, "--object-format=sha256")
			c.Write("a", "1")
			c.Write("b", "1")
			c.Commit("base")
			return c
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := newClone(t)
			c.Write("a", "1")
			c.Write("b", "1")
			c.Commit("base")
			c = other(c)
			base := c.Git("rev-parse", "HEAD")
			c.Write("a", "2")
			c.Commit("committed")
			c.Write("a", "3")
			c.Write("c", "new")
			c.Remove("b")
			s, err := agentchanges.FromWorkspace(t.Context(), agentchanges.WorkspaceConfig{Repo: c.Open(), Dir: c.Dir, Bases: []string{base}})
			if err != nil {
				t.Fatal(err)
			}
			c.Git("add", "-A")
			if len(s.Changes) != 2 || s.Base != base || s.Changes[0].After != c.Tree("HEAD") || s.Changes[1].After != c.Git("write-tree") {
				t.Errorf("%+v", s)
			}
		})
	}
}
