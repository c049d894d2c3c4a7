//go:build unix

package agentchanges_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/agentchanges"
	"github.com/agent-airlock/airlock/internal/command"
	"github.com/agent-airlock/airlock/internal/gitrepo"
	"github.com/agent-airlock/airlock/internal/shorttest"
)

// TestHostileWorkspaceRunsNothing tests rule R6 for a work tree: what its configuration, attributes
// and hooks name is not run, and the environment of this process is ignored.
func TestHostileWorkspaceRunsNothing(t *testing.T) {
	c, _, base, head := fork(t)
	c.Git("checkout", "-q", head)
	canary := filepath.Join(t.TempDir(), "canary")
	evil := filepath.Join(t.TempDir(), "evil")
	if err := os.WriteFile(evil, []byte("#!/bin/sh\necho \"$0 $*\" >> "+canary+"\ncat\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	c.Arm(evil)
	c.Write(".gitattributes", "* diff=evil merge=evil textconv=evil\na.txt filter=evil\n")
	c.Write("new.txt", "untracked\n")
	c.Trust()
	if err := os.Remove(canary); err != nil {
		t.Fatalf("nothing runs evil even where the clone is trusted: %v", err)
	}
	for name, value := range map[string]string{"HOME": c.Dir, "GIT_DIR": c.Dir + "/.git", "GIT_WORK_TREE": c.Dir, "GIT_INDEX_FILE": c.Dir + "/.git/index",
		"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "core.fsmonitor", "GIT_CONFIG_VALUE_0": evil} {
		t.Setenv(name, value)
	}
	s, tree := c.workspace(agentchanges.WorkspaceConfig{Bases: []string{base}})
	if len(s.Changes) != 2 || tree["new.txt"] != "100644 untracked\n" || tree["a.txt"] != "100644 1\nzwei\n3\n" ||
		len(s.Notes) != 1 || !strings.Contains(s.Notes[0], `does not run: "a.txt"`) {
		t.Errorf("%+v\n%q", s, tree)
	}
	if data, err := os.ReadFile(canary); err == nil {
		t.Errorf("the work tree ran:\n%s", data)
	}
}

func TestWorkspaceSeriesErrors(t *testing.T) {
	t.Parallel()
	for name, x := range shorttest.Some(2, map[string]struct {
		change func(c clone)
		want   string // part of the error; "" for success
	}{
		"unfinished merge": {func(c clone) {
			c.Git("checkout", "-q", "-b", "x")
			c.Write("a.txt", "x")
			c.Commit("x")
			c.Git("checkout", "-q", "main")
			c.Write("a.txt", "y")
			c.Commit("y")
			c.fails("merge", "x")
		}, `a merge was not finished in "a.txt"`},
		"no index":     {func(c clone) { c.Remove(".git/index") }, "nothing is checked out"},
		"broken index": {func(c clone) { c.Write(".git/index", "DIRC\x00\x00\x00\x02\xff\xff\xff\xff"+strings.Repeat("x", 40)) }, "not a complete index"},
		"linked index": {func(c clone) {
			c.Git("mv", "-f", "a.txt", "b.txt")
			c.Remove(".git/index")
			c.Link("/etc/passwd", ".git/index")
		}, "not an ordinary file"},
		"half an index": {func(c clone) {
			c.Git("update-index", "--split-index")
			shared, _ := filepath.Glob(filepath.Join(c.Dir, ".git", "sharedindex.*"))
			c.Remove(strings.TrimPrefix(shared[0], c.Dir))
		}, "--no-split-index"},
		"index split from itself": {func(c clone) {
			c.Git("update-index", "--split-index")
			shared, _ := filepath.Glob(filepath.Join(c.Dir, ".git", "sharedindex.*"))
			data, _ := os.ReadFile(filepath.Join(c.Dir, ".git", "index"))
			c.Write(strings.TrimPrefix(shared[0], c.Dir), string(data))
		}, "not a complete index"},
		"huge file":      {func(c clone) { c.sparseFile("huge.bin", 100<<20+1) }, `"huge.bin": too large: it has 100.1 MiB`},
		"huge rules":     {func(c clone) { c.sparseFile("src/.gitignore", 5<<20) }, `"src/.gitignore": too large`},
		"deep":           {func(c clone) { c.Write(strings.Repeat("d/", 210)+"x", "x") }, "more than 200 deep"},
		"no commit":      {func(c clone) { c.Git("checkout", "-q", "--orphan", "none") }, "has no commit yet"},
		"another .git":   {func(c clone) { c.Remove(".git"); c.Git("init", "-q") }, "has no commit yet"},
		"broken pattern": {func(c clone) { c.Write(".gitignore", "["); c.Write("[", "x") }, ""},
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newClone(t)
			c.Write("a.txt", "one\n")
			c.Write("src/b.txt", "one\n")
			base := c.Commit("base")
			x.change(c)
			s, err := agentchanges.FromWorkspace(t.Context(), agentchanges.WorkspaceConfig{Repo: c.Open(), Dir: c.Dir, Bases: []string{base}})
			if x.want == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), x.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%v, want %q in it; %+v", err, x.want, s)
			}
		})
	}
}

func TestWorkspaceSeriesWithoutBase(t *testing.T) {
	t.Parallel()
	c := newClone(t)
	c.Write("a.txt", "one\n")
	base := c.Commit("base")
	other := newClone(t)
	for name, src := range map[string]agentchanges.WorkspaceConfig{
		"none":          {Dir: c.Dir},
		"not there":     {Dir: c.Dir, Bases: []string{strings.Repeat("1", 40)}},
		"other's":       {Dir: other.Dir, Bases: []string{base}},
		"no work tree":  {Dir: t.TempDir(), Bases: []string{base}},
		"not a full id": {Dir: c.Dir, Bases: []string{"main"}},
	} {
		src.Repo = c.Open()
		_, err := agentchanges.FromWorkspace(t.Context(), src)
		if err == nil || errors.Is(err, agentchanges.ErrNoBase) != (name == "none" || name == "not there") {
			t.Errorf("%s: %v", name, err)
		}
	}
	r, err := gitrepo.New(nil, gitrepo.Options{TempDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if _, err := agentchanges.FromWorkspace(t.Context(), agentchanges.WorkspaceConfig{Repo: r, Dir: c.Dir, Bases: []string{base}}); err == nil {
		t.Error("a repository without a clone reads a work tree")
	}
}

// fails runs git, which has to fail.
func (c clone) fails(args ...string) {
	c.T.Helper()
	res, err := command.Run(c.T.Context(), command.Spec{Program: "git", Args: args, Dir: c.Dir,
		Env: []string{"PATH=" + gitrepo.DefaultPath, "HOME=" + c.Dir, "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com"}})
	if err != nil || res.OK() {
		c.T.Fatalf("git %v: %v\n%s", args, err, res.Stdout)
	}
}

// sparseFile writes a file of zeros, which take no space on the disk. size is the number of zeros.
func (c clone) sparseFile(name string, size int64) {
	c.T.Helper()
	c.Write(name, "")
	if err := os.Truncate(filepath.Join(c.Dir, name), size); err != nil {
		c.T.Fatal(err)
	}
}
