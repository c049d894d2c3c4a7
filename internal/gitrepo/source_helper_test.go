//go:build unix

package gitrepo_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/command"
	"github.com/agent-airlock/airlock/internal/gitrepo"
)

// varied is a clone with commits of every kind of change: it returns the base
// and the commits after it.
func varied(t testing.TB) (c clone, base string, commits []string) {
	t.Helper()
	c = newClone(t)
	c.write("plain.txt", numbers(40))
	c.write("dos.txt", strings.ReplaceAll(numbers(20), "\n", "\r\n"))
	c.write("no-end.txt", "one\ntwo")
	c.write("moved.txt", numbers(30))
	c.write("gone.txt", "gone\n")
	c.write("data.bin", "\x00\x01"+strings.Repeat("\xff\x00abc", 100))
	c.write("src/tool.sh", "echo\n")
	base = c.commit("base")
	step := func(message string, change func()) {
		change()
		commits = append(commits, c.commit(message))
	}
	step("edit: [api] the plain file\n\nBecause\n it was --- plain.", func() {
		c.write("plain.txt", strings.Replace(numbers(40), "line 7\n", "-- seven\nFrom here\n", 1))
	})
	step("dos\n\nFrom the body\n", func() {
		c.write("dos.txt", strings.ReplaceAll(strings.Replace(numbers(20), "line 3", "three", 1), "\n", "\r\n"))
		c.write("no-end.txt", "one\ntwo and\nthree")
	})
	step("Verschiebe Größe \u2192 \u65e5\u672c\u8a9e", func() {
		c.git("mv", "moved.txt", "src/new name.txt")
		c.write("src/new name.txt", numbers(30)+"more\n")
	})
	step("binary", func() {
		c.write("data.bin", "\x00\x02"+strings.Repeat("\xff\x00abc", 100)+"x")
		c.write("new.bin", "\x00\xff\xfe")
	})
	step("names", func() {
		c.write("d\u00efr/\u65e5 \"q\"\t.txt", "x\n")
		c.write("sp ace/a b", "y\n")
		c.write("empty", "")
	})
	step("modes", func() {
		if err := os.Chmod(filepath.Join(c.dir, "src/tool.sh"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink("../outside", filepath.Join(c.dir, "link")); err != nil {
			t.Fatal(err)
		}
		c.git("rm", "-q", "gone.txt")
		c.git("update-index", "--add", "--cacheinfo", "160000,"+base+",sub")
		if err := os.Mkdir(filepath.Join(c.dir, "sub"), 0o755); err != nil {
			t.Fatal(err)
		}
	})
	return c, base, commits
}

func numbers(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString("line " + string(rune('0'+i/10)) + string(rune('0'+i%10)) + "\n")
	}
	return strings.ReplaceAll(b.String(), "line 0", "line ")
}

// only makes a clone that holds nothing but the history of a commit.
func only(t testing.TB, from clone, commit string) clone {
	t.Helper()
	c := newClone(t)
	c.git("fetch", "-q", from.dir, commit)
	c.git("reset", "-q", "--hard", commit)
	return c
}

// output is what git prints, byte for byte.
func (c clone) output(args ...string) []byte {
	c.t.Helper()
	var out bytes.Buffer
	res, err := command.Run(c.t.Context(), command.Spec{
		Program: "git", Args: args, Dir: c.dir, Stdout: &out,
		Env: []string{"PATH=" + gitrepo.DefaultPath, "HOME=" + c.dir, "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1",
			"GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com"},
	})
	if err != nil || !res.OK() {
		c.t.Fatalf("git %v: %v\n%s", args, err, res.Stderr)
	}
	return out.Bytes()
}

// checkSeries asserts that the series is whole: its trees are in the repository,
// with all that they hold, and follow one another from the base's on.
func checkSeries(t *testing.T, r *gitrepo.Repo, s gitrepo.Series) {
	t.Helper()
	own := clone{t, r.GitDir()}
	tree := own.git("rev-parse", s.Base+"^{tree}")
	for i, c := range s.Changes {
		if c.Before != tree || c.After == c.Before {
			t.Errorf("change %d leads from %s to %s, after %s", i, c.Before, c.After, tree)
		}
		tree = c.After
		own.git("rev-list", "--objects", "--quiet", tree)
	}
}

// treeOf returns the id of a commit's tree.
func (c clone) treeOf(commit string) string { return c.git("rev-parse", commit+"^{tree}") }
