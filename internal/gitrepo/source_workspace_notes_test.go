//go:build unix

package gitrepo_test

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/agent-airlock/airlock/internal/gitrepo"
)

func TestWorkspaceSeriesOfCommitsAndMore(t *testing.T) {
	c, base, commits := varied(t)
	c.remove("src/tool.sh")
	c.write("agent.jsonl", "out")
	c.write(".airlock/x", "x")
	c.write("kept.txt", "new")
	src := gitrepo.WorkspaceSource{Bases: []string{strings.Repeat("1", 40), base}, Exclude: []string{".airlock", "./agent.jsonl", "plain.txt"}}
	c.write("plain.txt", "excluded")
	s, tree := c.workspace(src)
	if s.Base != base || len(s.Changes) != len(commits)+1 || len(s.Notes) > 0 {
		t.Fatalf("%+v", s)
	}
	for i, commit := range commits {
		if s.Changes[i].After != c.treeOf(commit) || s.Changes[i].Message == "" {
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
	c.remove("plain.txt")
	if _, tree := c.workspace(src); tree["plain.txt"] == "" {
		t.Error("an excluded file was removed")
	}
}

// TestWorkspaceSeriesNotes is what is left out, and said to be.
func TestWorkspaceSeriesNotes(t *testing.T) {
	nested := func(c clone, dir string) {
		c.write(dir+"/own.txt", "x")
		inner := clone{c.t, filepath.Join(c.dir, dir)}
		inner.git("init", "-q")
		inner.commit("inner")
	}
	for name, x := range map[string]struct {
		change func(c clone)
		note   string
		want   map[string]string // beside what is committed; "" for what is not there
	}{
		"a pipe": {func(c clone) {
			c.mkfifo("pipe")
			c.write(".gitignore", "*.sock\n")
			c.mkfifo("x.sock")
		}, `neither files nor links: "pipe"`, map[string]string{".gitignore": "100644 *.sock\n"}},
		"a pipe for a file": {func(c clone) { c.remove("a.txt"); c.mkfifo("a.txt") }, `neither files nor links: "a.txt"`, nil},
		"a new repository":  {func(c clone) { nested(c, "deep/in") }, `repositories of their own: "deep/in"`, nil},
		"a bare .git file":  {func(c clone) { c.write("in/.git", "gitdir: /etc\n"); c.write("in/x", "x") }, `repositories of their own: "in"`, nil},
		"disguised .git": {func(c clone) {
			c.write("in/.GIT/config", "x")
			c.write("in2/.g\u200cit. ", "x")
			c.write("in3/git~1/x", "x")
		}, `"in", "in2", "in3"`, nil},
		"disguised at the top": {func(c clone) { c.write(".GIT/config", "x"); c.write("git~1", "x") }, `repositories of their own: ".GIT", "git~1"`, nil},
		"ignored submodule":    {func(c clone) { c.write(".git/info/exclude", "/libs\n"); c.write("libs/x", "x") }, "", nil},
		"tracked in it": {func(c clone) { nested(c, "src"); c.write("src/b.txt", "2") }, `repositories of their own: "src"`,
			map[string]string{"src/b.txt": "100644 2", "src/own.txt": ""}},
		"a submodule moved": {func(c clone) {
			c.write("sub/more", "x")
			inner := clone{c.t, filepath.Join(c.dir, "sub")}
			inner.commit("more")
			c.git("add", "sub")
		}, `submodules stay as they are committed: "sub"`, nil},
		"a submodule gone":  {func(c clone) { c.remove("sub") }, `submodules stay as they are committed: "sub"`, nil},
		"a submodule dirty": {func(c clone) { c.write("sub/own.txt", "dirty") }, "", nil},
		"a submodule out":   {func(c clone) { c.git("rm", "-q", "--cached", "sub"); c.remove("sub") }, "", map[string]string{"sub": ""}},
		"a submodule new":   {func(c clone) { nested(c, "sub2"); c.git("add", "sub2") }, `stay as they are committed: "sub2"`, nil},
		"large file changed": {func(c clone) { c.write("large.lfs", "other") }, `a filter (Git LFS, say) that does not run: "large.lfs"`,
			nil},
		"large file touched": {func(c clone) { c.touch("large.lfs") }, "", nil},
		"large file's mode":  {func(c clone) { c.chmod("large.lfs", 0o755) }, "", map[string]string{"large.lfs": "100755 " + lfsPointer("large")}},
		"large file new":     {func(c clone) { c.write("new.lfs", "new") }, `does not run: "new.lfs"`, nil},
		"pointer":            {func(c clone) { c.write("new.lfs", lfsPointer("new")) }, "", map[string]string{"new.lfs": "100644 " + lfsPointer("new")}},
		"other filter": {func(c clone) {
			c.write(".gitattributes", "*.lfs filter=lfs\n*.txt filter=crypt\n")
			c.write("a.txt", "2")
		},
			`does not run: "a.txt"`, map[string]string{".gitattributes": "100644 *.lfs filter=lfs\n*.txt filter=crypt\n"}},
		"many": {func(c clone) {
			for i := range 12 {
				c.mkfifo(fmt.Sprintf("p%02d", i))
			}
		}, `"p09" and 2 more`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			c := newClone(t)
			c.write("a.txt", "one\n")
			c.write("src/b.txt", "one\n")
			c.write("large.lfs", lfsPointer("large"))
			c.commit("files")
			c.write(".gitattributes", "*.lfs filter=lfs\n")
			nested(c, "sub")
			nested(c, "libs/sub")
			c.commit("base")
			_, before := c.workspace(gitrepo.WorkspaceSource{})
			// As git lfs pull leaves it: the content in place, the pointer in the index.
			c.write("large.lfs", "large")
			x.change(c)
			s, tree := c.workspace(gitrepo.WorkspaceSource{})
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

func (c clone) mkfifo(name string) {
	c.t.Helper()
	if err := syscall.Mkfifo(filepath.Join(c.dir, name), 0o644); err != nil {
		c.t.Fatal(err)
	}
}

func (c clone) touch(name string) {
	c.t.Helper()
	when := time.Unix(1_600_000_000, 0)
	if err := os.Chtimes(filepath.Join(c.dir, name), when, when); err != nil {
		c.t.Fatal(err)
	}
}
