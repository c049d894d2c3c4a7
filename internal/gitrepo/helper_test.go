//go:build unix

package gitrepo_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/command"
	"github.com/agent-airlock/airlock/internal/gitrepo"
)

// clone is a clone that a test writes with git itself.
type clone struct {
	t   testing.TB
	dir string
}

func newClone(t testing.TB, initArgs ...string) clone {
	t.Helper()
	c := clone{t, t.TempDir()}
	c.git(append([]string{"init", "-q", "-b", "main"}, initArgs...)...)
	return c
}

// git runs git in the clone, as somebody who trusts it would.
func (c clone) git(args ...string) string {
	c.t.Helper()
	return strings.TrimSpace(c.gitFed("", args...))
}

// mktree makes a tree of the lines that git ls-tree would print of it.
func (c clone) mktree(lines string) string {
	c.t.Helper()
	return strings.TrimSpace(c.gitFed(lines, "mktree"))
}

// gitFed runs git as git does, with a standard input, and returns all it prints.
func (c clone) gitFed(stdin string, args ...string) string {
	c.t.Helper()
	res, err := command.Run(c.t.Context(), command.Spec{
		Program: "git", Args: args, Dir: c.dir, Stdin: strings.NewReader(stdin),
		Env: []string{"PATH=" + gitrepo.DefaultPath, "HOME=" + c.dir, "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1",
			"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_AUTHOR_DATE=1700000000 +0000",
			"GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com", "GIT_COMMITTER_DATE=1700000000 +0000"},
	})
	if err != nil || !res.OK() {
		c.t.Fatalf("git %v: %v\n%s%s", args, err, res.Stdout, res.Stderr)
	}
	return res.Stdout.String()
}

func (c clone) write(name, text string) {
	c.t.Helper()
	path := filepath.Join(c.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		c.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		c.t.Fatal(err)
	}
}

func (c clone) commit(message string) string {
	c.t.Helper()
	c.git("add", "-A")
	c.git("commit", "-q", "--allow-empty", "-m", message)
	return c.git("rev-parse", "HEAD")
}

func (c clone) locate() *gitrepo.Clone {
	c.t.Helper()
	found, err := gitrepo.Locate(c.dir)
	if err != nil {
		c.t.Fatal(err)
	}
	return found
}

func (c clone) open() *gitrepo.Repo {
	c.t.Helper()
	return open(c.t, c.locate())
}

func open(t testing.TB, c *gitrepo.Clone) *gitrepo.Repo {
	t.Helper()
	temp := t.TempDir()
	r, err := gitrepo.New(c, gitrepo.Options{TempDir: temp})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
		if left, _ := os.ReadDir(temp); len(left) > 0 {
			t.Errorf("Close left %v", left)
		}
	})
	return r
}
