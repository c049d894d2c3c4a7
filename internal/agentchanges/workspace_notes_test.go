//go:build unix

package agentchanges_test

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agent-airlock/airlock/internal/agentchanges"
	"github.com/agent-airlock/airlock/internal/gitrepo"
	"github.com/agent-airlock/airlock/internal/gitrepo/gittest"
)

func TestWorkspaceSeriesOfCommitsAndMore(t *testing.T) {
	c, base, commits := varied(t)
	c.Remove("src/tool.sh")
	c.Write("agent.jsonl", "out")
	c.Write(".airlock/x", "x")
	c.Write("kept.txt", "new")
	src := agentchanges.WorkspaceConfig{Bases: []string{strings.Repeat("1", 40), base}, Exclude: []string{".airlock", "./agent.jsonl", "plain.txt"}}
	c.Write("plain.txt", "excluded")
	s, tree := c.workspace(src)
	if s.Base != base || len(s.Changes) != len(commits)+1 || len(s.Notes) > 0 {
		t.Fatalf("%+v", s)
	}
	for i, commit := range commits {
		if s.Changes[i].After != c.Tree(commit) || s.Changes[i].Message == "" {
			t.Errorf("%d: %+v", i, s.Changes[i])
		}
	}
	if last := s.Changes[len(commits)]; last.Message != "" || last.Author != (gitrepo.Person{}) {
		t.Errorf("%+v", last)
	}
	for _, name := range []string{"src/tool.sh", "agent.jsonl", ".airlock/x"} {
		if _, ok := tree[name]; ok {
			t.Errorf("%s is in the tree", name)
		}
	}
	if tree["kept.txt"] != "100644 new" || tree["plain.txt"] == "100644 excluded" || tree["link"] != "120000 ../outside" {
		t.Errorf("%q", tree)
	}
	// An excluded file that is gone stays, too.
	c.Remove("plain.txt")
	if _, tree := c.workspace(src); tree["plain.txt"] == "" {
		t.Error("an excluded file was removed")
	}
}

// TestWorkspaceSeriesNotes is what is left out, and said to be.
func TestWorkspaceSeriesNotes(t *testing.T) {
	nested := func(c clone, dir string) {
		c.Write(dir+"/own.txt", "x")
		inner := clone{gittest.Clone{T: c.T, Dir: filepath.Join(c.Dir, dir)}}
		inner.Git("init", "-q")
		inner.Commit("inner")
	}
	for name, x := range map[string]struct {
		change func(c clone)
		note   string
		want   map[string]string // beside what is committed; "" for what is not there
	}{
		"a pipe": {func(c clone) {
			c.Mkfifo("pipe")
			c.Write(".gitignore", "*.sock\n")
			c.Mkfifo("x.sock")
		}, `neither files nor links: "pipe"`, map[string]string{".gitignore": "100644 *.sock\n"}},
		"a pipe for a file": {func(c clone) { c.Remove("a.txt"); c.Mkfifo("a.txt") }, `neither files nor links: "a.txt"`, nil},
		"a new repository":  {func(c clone) { nested(c, "deep/in") }, `repositories of their own: "deep/in"`, nil},
		"a bare .git file":  {func(c clone) { c.Write("in/.git", "gitdir: /etc\n"); c.Write("in/x", "x") }, `repositories of their own: "in"`, nil},
		"disguised .git": {func(c clone) {
			c.Write("in/.GIT/config", "x")
			c.Write("in2/.g\u200cit. ", "x")
			c.Write("in3/git~1/x", "x")
		}, `"in", "in2", "in3"`, nil},
		"disguised at the top": {func(c clone) { c.Write(".GIT/config", "x"); c.Write("git~1", "x") }, `repositories of their own: ".GIT", "git~1"`, nil},
		"ignored submodule":    {func(c clone) { c.Write(".git/info/exclude", "/libs\n"); c.Write("libs/x", "x") }, "", nil},
		"tracked in it": {func(c clone) { nested(c, "src"); c.Write("src/b.txt", "2") }, `repositories of their own: "src"`,
			map[string]string{"src/b.txt": "100644 2", "src/own.txt": ""}},
		"a submodule moved": {func(c clone) {
			c.Write("sub/more", "x")
			inner := clone{gittest.Clone{T: c.T, Dir: filepath.Join(c.Dir, "sub")}}
			inner.Commit("more")
			c.Git("add", "sub")
		}, `submodules stay as they are committed: "sub"`, nil},
		"a submodule gone":  {func(c clone) { c.Remove("sub") }, `submodules stay as they are committed: "sub"`, nil},
		"a submodule dirty": {func(c clone) { c.Write("sub/own.txt", "dirty") }, "", nil},
		"a submodule out":   {func(c clone) { c.Git("rm", "-q", "--cached", "sub"); c.Remove("sub") }, "", map[string]string{"sub": ""}},
		"a submodule new":   {func(c clone) { nested(c, "sub2"); c.Git("add", "sub2") }, `stay as they are committed: "sub2"`, nil},
		"large file changed": {func(c clone) { c.Write("large.lfs", "other") }, `a filter (Git LFS, say) that does not run: "large.lfs"`,
			nil},
		"large file touched": {func(c clone) { c.touch("large.lfs") }, "", nil},
		"large file's mode":  {func(c clone) { c.chmod("large.lfs", 0o755) }, "", map[string]string{"large.lfs": "100755 " + lfsPointer("large")}},
		"large file new":     {func(c clone) { c.Write("new.lfs", "new") }, `does not run: "new.lfs"`, nil},
		"pointer":            {func(c clone) { c.Write("new.lfs", lfsPointer("new")) }, "", map[string]string{"new.lfs": "100644 " + lfsPointer("new")}},
		"other filter": {func(c clone) {
			c.Write(".gitattributes", "*.lfs filter=lfs\n*.txt filter=crypt\n")
			c.Write("a.txt", "2")
		},
			`does not run: "a.txt"`, map[string]string{".gitattributes": "100644 *.lfs filter=lfs\n*.txt filter=crypt\n"}},
		"many": {func(c clone) {
			for i := range 12 {
				c.Mkfifo(fmt.Sprintf("p%02d", i))
			}
		}, `"p09" and 2 more`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			c := newClone(t)
			c.Write("a.txt", "one\n")
			c.Write("src/b.txt", "one\n")
			c.Write("large.lfs", lfsPointer("large"))
			c.Commit("files")
			c.Write(".gitattributes", "*.lfs filter=lfs\n")
			nested(c, "sub")
			nested(c, "libs/sub")
			c.Commit("base")
			_, before := c.workspace(agentchanges.WorkspaceConfig{})
			// As git lfs pull leaves it: the content in place, the pointer in the index.
			c.Write("large.lfs", "large")
			x.change(c)
			s, tree := c.workspace(agentchanges.WorkspaceConfig{})
			if notes := strings.Join(s.Notes, "\n"); !strings.Contains(notes, x.note) || len(s.Notes) > 1 || x.note == "" && notes != "" {
				t.Errorf("notes %q, want %q", s.Notes, x.note)
			}
			for name, want := range x.want {
				if before[name] = want; want == "" {
					delete(before, name)
				}
			}
			for _, name := range slices.Concat(keys(before), keys(tree)) {
				if tree[name] != before[name] {
					t.Errorf("%q is %q, want %q", name, tree[name], before[name])
				}
			}
		})
	}
}

func keys(m map[string]string) (names []string) {
	for name := range m {
		names = append(names, name)
	}
	return names
}

func lfsPointer(text string) string {
	return fmt.Sprintf("version https://git-lfs.github.com/spec/v1\noid sha256:%x\nsize %d\n", sha256.Sum256([]byte(text)), len(text))
}

func (c clone) touch(name string) {
	c.T.Helper()
	when := time.Unix(1_600_000_000, 0)
	if err := os.Chtimes(filepath.Join(c.Dir, name), when, when); err != nil {
		c.T.Fatal(err)
	}
}
