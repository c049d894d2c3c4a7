//go:build unix

package agentchanges_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/gitrepo"
	"github.com/agent-airlock/airlock/internal/gitrepo/gittest"
	"github.com/agent-airlock/airlock/internal/shorttest"
)

func TestMain(m *testing.M) {
	shorttest.LeaveOut( // each starts git some dozens of times
		"TestWorkspaceSeriesNeverLeavesTheWorkTree", "TestBundleSeriesRefusesHostileObjects", "TestPatchSeriesErrors", "TestIndexSparesReading",
		"TestWorkspaceSeriesOfOtherClones", "TestPatchSeriesOfOtherDiffs", "TestPatchSeriesFindsItsBase",
	)
	shorttest.TempInMemory()
	os.Exit(m.Run())
}

// clone is a clone that a test writes with git itself.
type clone struct{ gittest.Clone }

func newClone(t testing.TB, initArgs ...string) clone {
	t.Helper()
	return clone{gittest.New(t, initArgs...)}
}

// fork is gittest.Fork.
func fork(t testing.TB, initArgs ...string) (c clone, root, base, head string) {
	t.Helper()
	c.Clone, root, base, head = gittest.Fork(t, initArgs...)
	return c, root, base, head
}

// variedClone returns a clone with commits of every kind of change, its base commit
// and the commits after it.
func variedClone(t testing.TB) (c clone, base string, commits []string) {
	t.Helper()
	c = newClone(t)
	c.Write("plain.txt", numbers(40))
	c.Write("dos.txt", strings.ReplaceAll(numbers(20), "\n", "\r\n"))
	c.Write("no-end.txt", "one\ntwo")
	c.Write("moved.txt", numbers(30))
	c.Write("gone.txt", "gone\n")
	c.Write("data.bin", "\x00\x01"+strings.Repeat("\xff\x00abc", 100))
	c.Write("src/tool.sh", "echo\n")
	base = c.Commit("base")
	step := func(message string, change func()) {
		change()
		commits = append(commits, c.Commit(message))
	}
	step("edit: [api] the plain file\n\nBecause\n it was --- plain.", func() {
		c.Write("plain.txt", strings.Replace(numbers(40), "line 7\n", "-- seven\nFrom here\n", 1))
	})
	step("dos\n\nFrom the body\n", func() {
		c.Write("dos.txt", strings.ReplaceAll(strings.Replace(numbers(20), "line 3", "three", 1), "\n", "\r\n"))
		c.Write("no-end.txt", "one\ntwo and\nthree")
	})
	step("Verschiebe Größe \u2192 \u65e5\u672c\u8a9e", func() {
		c.Git("mv", "moved.txt", "src/new name.txt")
		c.Write("src/new name.txt", numbers(30)+"more\n")
	})
	step("binary", func() {
		c.Write("data.bin", "\x00\x02"+strings.Repeat("\xff\x00abc", 100)+"x")
		c.Write("new.bin", "\x00\xff\xfe")
	})
	step("names", func() {
		c.Write("d\u00efr/\u65e5 \"q\"\t.txt", "x\n")
		c.Write("sp ace/a b", "y\n")
		c.Write("empty", "")
	})
	step("modes", func() {
		if err := os.Chmod(filepath.Join(c.Dir, "src/tool.sh"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink("../outside", filepath.Join(c.Dir, "link")); err != nil {
			t.Fatal(err)
		}
		c.Git("rm", "-q", "gone.txt")
		c.Git("update-index", "--add", "--cacheinfo", "160000,"+base+",sub")
		if err := os.Mkdir(filepath.Join(c.Dir, "sub"), 0o755); err != nil {
			t.Fatal(err)
		}
	})
	return c, base, commits
}

// numbers returns n lines, "line 0" and so on.
func numbers(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "line %d\n", i)
	}
	return b.String()
}

// cloneOf returns a clone that contains only a commit and its history.
func cloneOf(t testing.TB, from clone, commit string) clone {
	t.Helper()
	c := newClone(t)
	c.Git("fetch", "-q", from.Dir, commit)
	c.Git("reset", "-q", "--hard", commit)
	return c
}

// checkSeries asserts that the series is complete: all objects of its trees are in the
// repository, and each change leads from the tree of the one before it, the first one from the
// base's tree, to another tree.
func checkSeries(t *testing.T, r *gitrepo.Repo, s gitrepo.Series) {
	t.Helper()
	own := clone{gittest.In(t, r)}
	tree := own.Git("rev-parse", s.Base+"^{tree}")
	for i, c := range s.Changes {
		if c.Before != tree || c.After == c.Before {
			t.Errorf("change %d leads from %s to %s, want one from %s to another tree", i, c.Before, c.After, tree)
		}
		tree = c.After
		own.Git("rev-list", "--objects", "--quiet", tree)
	}
}
