//go:build unix

package agentchanges_test

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/agent-airlock/airlock/internal/agentchanges"
	"github.com/agent-airlock/airlock/internal/gitrepo"
	"github.com/agent-airlock/airlock/internal/gitrepo/gittest"
	"github.com/agent-airlock/airlock/internal/shorttest"
)

// snapshot describes everything in a directory that a reader could have changed,
// except the times of objects: git renews the time of an object instead of
// writing it again.
func snapshot(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		content := ""
		switch {
		case info.Mode().IsRegular():
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			content = fmt.Sprintf("%x", sha256.Sum256(data))
		case info.Mode()&fs.ModeSymlink != 0:
			content, _ = os.Readlink(path)
		}
		changed := info.ModTime()
		if strings.Contains(path, "/.git/objects/") {
			changed = time.Time{}
		}
		_, err = fmt.Fprintf(&b, "%s %v %v %s\n", path, info.Mode(), changed, content)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// workspaceSeries reads the clone's work tree, with its head as the base unless src has one, and
// asserts that this changed nothing in it.
func (c clone) workspaceSeries(r *gitrepo.Repo, src agentchanges.WorkspaceConfig) gitrepo.Series {
	c.T.Helper()
	t := c.T.(*testing.T)
	src.Repo, src.Dir = r, c.Dir
	if src.Bases == nil {
		src.Bases = []string{c.Head()}
	}
	before := snapshot(t, c.Dir)
	s, err := agentchanges.FromWorkspace(t.Context(), src)
	if err != nil {
		t.Fatal(err)
	}
	if after := snapshot(t, c.Dir); after != before {
		t.Errorf("the work tree was changed, from\n%s\nto\n%s", before, after)
	}
	checkSeries(t, r, s)
	return s
}

// workspace does what workspaceSeries does. It also returns the mode and content of each file of
// the last tree.
func (c clone) workspace(src agentchanges.WorkspaceConfig) (s gitrepo.Series, tree map[string]string) {
	c.T.Helper()
	r, t := c.Open(), c.T
	s = c.workspaceSeries(r, src)
	own := clone{gittest.In(t, r)}
	last := s.Base
	if n := len(s.Changes); n > 0 {
		last = s.Changes[n-1].After
	}
	tree = map[string]string{}
	var names []string
	var oids strings.Builder
	for _, record := range strings.Split(strings.TrimSuffix(string(own.Output("ls-tree", "-r", "-z", last)), "\x00"), "\x00") {
		what, path, _ := strings.Cut(record, "\t")
		fields := strings.Fields(what)
		tree[path] = fields[0] + " "
		if fields[1] == "blob" {
			names = append(names, path)
			oids.WriteString(fields[2] + "\n")
		}
	}
	rest := own.GitFed(oids.String(), "cat-file", "--batch=%(objectsize)")
	for _, name := range names {
		size, content, _ := strings.Cut(rest, "\n")
		n, err := strconv.Atoi(size)
		if err != nil || n >= len(content) {
			t.Fatalf("git cat-file says %q of %s", size, name)
		}
		tree[name] += content[:n]
		rest = content[n+1:]
	}
	return s, tree
}

// asGit returns the tree that git add --all makes of the work tree, in a copy of
// the clone.
func (c clone) asGit() string {
	c.T.Helper()
	copied := clone{gittest.Clone{T: c.T, Dir: filepath.Join(c.T.TempDir(), "copy")}}
	if err := os.CopyFS(copied.Dir, os.DirFS(c.Dir)); err != nil {
		c.T.Fatal(err)
	}
	copied.Git("add", "--all")
	return copied.Git("write-tree")
}

func (c clone) chmod(name string, mode fs.FileMode) {
	c.T.Helper()
	if err := os.Chmod(filepath.Join(c.Dir, name), mode); err != nil {
		c.T.Fatal(err)
	}
}

// TestWorkspaceSeries compares the last change with the tree that git itself
// makes of the same work tree.
func TestWorkspaceSeries(t *testing.T) {
	t.Parallel()
	for name, change := range shorttest.Some(3, map[string]func(c clone){
		"nothing":   func(clone) {},
		"edited":    func(c clone) { c.Write("a.txt", "changed\n") },
		"same size": func(c clone) { c.Write("a.txt", "eno\n") },
		"deleted":   func(c clone) { c.Remove("src") },
		"new": func(c clone) {
			c.Write("new/deep/er.txt", "x")
			c.Write("n\u00e9w \"q\"\n\t.txt", "")
			c.Write(":(top)x", "y")
		},
		"staged": func(c clone) { c.Write("a.txt", "2\n"); c.Write("s", "s"); c.Git("add", "."); c.Write("a.txt", "3\n") },
		"split index": func(c clone) {
			for i := range 200 {
				c.Write(fmt.Sprintf("many/%03d", i), "1\n")
			}
			c.Git("add", ".")
			c.Git("commit", "-q", "-m", "Many")
			c.Git("update-index", "--split-index")
			c.Write("a.txt", "2\n")
			c.Write("many/100", "2\n")
			c.Write("added", "1\n")
			c.Git("rm", "-q", "--cached", "many/070", "src/b.txt")
			c.Git("add", "a.txt", "many/100", "added")
			c.Write("many/101", "not staged\n")
			c.Remove("many/070")
			c.Remove("many/199")
			if shared, _ := filepath.Glob(filepath.Join(c.Dir, ".git", "sharedindex.*")); len(shared) != 1 {
				c.T.Errorf("the index is not split: %q", shared)
			}
		},
		"staged and gone": func(c clone) {
			c.Write("s", "s")
			c.Git("add", ".")
			c.Remove("s")
			c.Remove("a.txt")
		},
		"moved":             func(c clone) { c.Git("mv", "src", "lib") },
		"executable":        func(c clone) { c.chmod("a.txt", 0o755); c.chmod("run.sh", 0o644) },
		"links":             func(c clone) { c.Link("/etc/passwd", "out"); c.Link("src", "dir"); c.Link("nowhere", "broken") },
		"link changed":      func(c clone) { c.Remove("link"); c.Link("elsewhere", "link") },
		"link to file":      func(c clone) { c.Remove("link"); c.Write("link", "a.txt") },
		"file to link":      func(c clone) { c.Remove("a.txt"); c.Link("src/b.txt", "a.txt") },
		"file to directory": func(c clone) { c.Remove("a.txt"); c.Write("a.txt/x", "x") },
		"directory to file": func(c clone) { c.Remove("src"); c.Write("src", "x") },
		"directory to link": func(c clone) { c.Git("mv", "src", "lib"); c.Link("lib", "src") },
		"intent to add":     func(c clone) { c.Write("later.txt", "x"); c.Git("add", "-N", "later.txt") },
		"untracked":         func(c clone) { c.Git("rm", "-q", "--cached", "a.txt") },
		"ignored": func(c clone) {
			c.Write(".gitignore", "*.log\n/build/\n!keep.log\nonly-dir/\n/src/*\n!/src/sub/\n\\!x\nspace\\ \n")
			for _, name := range []string{"a.log", "keep.log", "build/x", "src/build/x", "x/only-dir/y", "only-dir", "src/n.txt", "src/sub/n.txt", "!x", "space ", "space"} {
				c.Write(name, name)
			}
			c.Write("build/.gitignore", "!x\n")
			c.Write("deep/.gitignore", "*\n!.gitignore\n")
			c.Write("deep/x", "x")
			c.Write("star/.gitignore", "*\n!*/\n!*.go\n")
			c.Write("star/in/x.go", "x")
			c.Write("star/in/x.c", "x")
		},
		"ignored by exclude": func(c clone) { c.Write(".git/info/exclude", "*.log\n"); c.Write("a.log", "x"); c.Write("b.txt", "x") },
		"ignored, but tracked": func(c clone) {
			c.Write(".gitignore", "a.txt\nsrc/\n")
			c.Write("a.txt", "changed\n")
			c.Write("src/b.txt", "changed\n")
			c.Write("src/new.txt", "x")
			c.Write("forced.log", "x")
			c.Git("add", "-f", "forced.log")
		},
		"ignored and untracked": func(c clone) { c.Write(".gitignore", "a.txt\n"); c.Git("rm", "-q", "--cached", "a.txt") },
		"line ends": func(c clone) {
			c.Write(".gitattributes", "*.txt text=auto\n*.crlf text eol=crlf\nraw.txt -text\nwide.x working-tree-encoding=UTF-16LE text\nid.x ident\n!neg x\n")
			c.Write("a.txt", "1\r\n2\r\n")
			c.Write("dos.txt", "committed\r\nwith it\r\nand more\r\n")
			c.Write("new.txt", "1\r\n")
			c.Write("raw.txt", "1\r\n")
			c.Write("x.crlf", "1\r\n")
			c.Write("wide.x", "h\x00i\x00\r\x00\n\x00")
			c.Write("id.x", "$Id: 1234 $\n")
		},
		"autocrlf": func(c clone) { c.Git("config", "core.autocrlf", "true"); c.Write("a.txt", "1\r\n2\r\n") },
		"no modes": func(c clone) {
			c.Git("config", "core.fileMode", "false")
			c.chmod("a.txt", 0o755)
			c.Write("run.sh", "2\n")
		},
		"no links":        func(c clone) { c.Git("config", "core.symlinks", "false"); c.Remove("link"); c.Write("link", "a.txt") },
		"index version 2": func(c clone) { c.Git("update-index", "--index-version=2"); c.Write("a.txt", "2\n") },
		"index version 4": func(c clone) { c.Git("update-index", "--index-version=4"); c.Write("a.txt", "2\n") },
		"extensions": func(c clone) {
			c.Git("update-index", "--untracked-cache", "--force-untracked-cache")
			c.Write("x", "y")
		},
		"submodule untouched": func(c clone) {
			c.Git("update-index", "--add", "--cacheinfo", "160000,"+c.Git("rev-parse", "HEAD")+",sub")
			c.Write("sub/.keep", "")
			c.Remove("sub/.keep")
			c.Git("commit", "-qm", "sub")
		},
		"sparse, cone": func(c clone) { c.Git("sparse-checkout", "set", "--cone", "src"); c.Write("src/b.txt", "2\n") },
		"sparse index": func(c clone) {
			c.Git("sparse-checkout", "set", "--cone", "--sparse-index", "src")
			c.Write("src/b.txt", "2\n")
		},
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newClone(t)
			c.Write("a.txt", "one\n")
			c.Write("src/b.txt", "one\n")
			c.Write("src/sub/c.txt", "one\n")
			c.Write("other/deep/d.txt", "one\n")
			c.Write("dos.txt", "committed\r\nwith it\r\n")
			c.Write("run.sh", "#!/bin/sh\n")
			c.chmod("run.sh", 0o755)
			c.Link("a.txt", "link")
			c.Commit("base")
			change(c)
			want := c.asGit()
			s := c.workspaceSeries(c.Open(), agentchanges.WorkspaceConfig{})
			got := c.Tree("HEAD")
			if n := len(s.Changes); n > 0 {
				got = s.Changes[n-1].After
			}
			if got != want {
				_, tree := c.workspace(agentchanges.WorkspaceConfig{})
				t.Errorf("the tree is %s, and git's is %s: %q", got, want, tree)
			}
			if len(s.Changes) > 1 || len(s.Notes) > 0 {
				t.Errorf("%+v", s)
			}
		})
	}
}

func TestWorkspaceSeriesOfCommitsAndMore(t *testing.T) {
	t.Parallel()
	c, base, commits := variedClone(t)
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
	// An excluded file stays in the tree even if it was removed from the work tree.
	c.Remove("plain.txt")
	if _, tree := c.workspace(src); tree["plain.txt"] == "" {
		t.Error("an excluded file was removed")
	}
}

// TestWorkspaceSeriesNotes asserts which changes in a work tree are left out, and which of those a
// note names.
func TestWorkspaceSeriesNotes(t *testing.T) {
	t.Parallel()
	nested := func(c clone, dir string) {
		c.Write(dir+"/own.txt", "x")
		inner := clone{gittest.Clone{T: c.T, Dir: filepath.Join(c.Dir, dir)}}
		inner.Git("init", "-q")
		inner.Commit("inner")
	}
	base := newClone(t)
	base.Write("a.txt", "one\n")
	base.Write("src/b.txt", "one\n")
	base.Write("large.lfs", lfsPointer("large"))
	base.Commit("files")
	base.Write(".gitattributes", "*.lfs filter=lfs\n")
	nested(base, "sub")
	nested(base, "libs/sub")
	base.Commit("base")
	_, before := base.workspace(agentchanges.WorkspaceConfig{})
	for name, x := range shorttest.Some(2, map[string]struct {
		change func(c clone)
		note   string
		want   map[string]string // in addition to what is committed; "" for what is not there
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
		"a new repository around tracked files": {func(c clone) { nested(c, "src"); c.Write("src/b.txt", "2") }, `repositories of their own: "src"`,
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
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := clone{base.Copy(t)}
			c.Git("update-index", "-q", "--refresh")
			before := maps.Clone(before)
			// As git lfs pull leaves it: the content in place, the pointer in the index.
			c.Write("large.lfs", "large")
			x.change(c)
			s, tree := c.workspace(agentchanges.WorkspaceConfig{})
			if notes := strings.Join(s.Notes, "\n"); !strings.Contains(notes, x.note) || len(s.Notes) > 1 || x.note == "" && notes != "" {
				t.Errorf("notes %q, want %q", s.Notes, x.note)
			}
			maps.Copy(before, x.want)
			for _, name := range slices.AppendSeq(slices.Collect(maps.Keys(before)), maps.Keys(tree)) {
				if tree[name] != before[name] {
					t.Errorf("%q is %q, want %q", name, tree[name], before[name])
				}
			}
		})
	}
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

// TestBaseOfAnotherObjectFormat asserts that the error about a base with an id of SHA-1 in a
// SHA-256 repository asks for another clone, and not for more history.
func TestBaseOfAnotherObjectFormat(t *testing.T) {
	t.Parallel()
	c := newClone(t, "--object-format=sha256")
	c.Commit("base")
	_, err := agentchanges.FromWorkspace(t.Context(), agentchanges.WorkspaceConfig{Repo: c.Open(), Dir: c.Dir, Bases: []string{strings.Repeat("1", 40)}})
	if !errors.Is(err, agentchanges.ErrNoBase) || !strings.Contains(err.Error(), "use a clone in the server's object format") || strings.Contains(err.Error(), "fetch-depth") {
		t.Errorf("err = %v", err)
	}
}

// TestWorkspaceSeriesOfOtherClones reads a linked worktree, a SHA-256 repository, a
// shallow clone, and a clone that shares the objects of another one.
func TestWorkspaceSeriesOfOtherClones(t *testing.T) {
	t.Parallel()
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
			t.Parallel()
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

// TestReadWorkspaceStamps asserts that regular files that are as in the index have the stamps of the
// work tree, and that nothing else has stamps.
func TestReadWorkspaceStamps(t *testing.T) {
	t.Parallel()
	c := newClone(t)
	for _, name := range []string{"a", "dir/b", "edited", "removed"} {
		c.Write(name, name+"\n")
	}
	c.Write(".gitignore", "ignored\n")
	if err := os.Symlink("a", filepath.Join(c.Dir, "link")); err != nil {
		t.Fatal(err)
	}
	base := c.Commit("base")
	old := time.Unix(1_700_000_000, 7)
	for _, name := range []string{"a", "dir/b", "edited"} { // as old as the files of a checkout are
		if err := os.Chtimes(filepath.Join(c.Dir, name), old, old); err != nil {
			t.Fatal(err)
		}
	}
	c.Git("update-index", "--refresh")
	c.Write("edited", "more\n")
	c.Write("ignored", "x\n")
	c.Write("untracked", "x\n")
	if err := os.Remove(filepath.Join(c.Dir, "removed")); err != nil {
		t.Fatal(err)
	}
	_, stamps, err := agentchanges.ReadWorkspace(t.Context(), agentchanges.WorkspaceConfig{Repo: c.Open(), Dir: c.Dir, Bases: []string{base}})
	if err != nil {
		t.Fatal(err)
	}
	for name, size := range map[string]int64{"a": 2, "dir/b": 6} {
		if modified, n, ok := stamps(name); !ok || !modified.Equal(old) || n != size {
			t.Errorf("%s: %v, %d, %v", name, modified, n, ok)
		}
	}
	for _, name := range []string{"edited", "removed", "ignored", "untracked", "link", "dir", ""} {
		if modified, n, ok := stamps(name); ok {
			t.Errorf("%s: %v, %d", name, modified, n)
		}
	}
}

// TestFilteredFilesAreKept asserts that files whose content would go through a filter are taken as
// they are if that is asked for, except for those whose content the committed pointer stands for.
func TestFilteredFilesAreKept(t *testing.T) {
	c := newClone(t)
	c.Write("a.txt", "one\n")
	c.Write("same.lfs", lfsPointer("large"))
	c.Commit("files")
	c.Write(".gitattributes", "* filter=crypt\n*.lfs filter=lfs\n")
	c.Write("a.txt", "two\n")
	c.Write("b.txt", "new\n")
	c.Write("same.lfs", "large")
	c.Write("new.lfs", "other")
	s, tree := c.workspace(agentchanges.WorkspaceConfig{KeepFiltered: true})
	want := map[string]string{".gitattributes": "100644 * filter=crypt\n*.lfs filter=lfs\n", "a.txt": "100644 two\n", "b.txt": "100644 new\n",
		"same.lfs": "100644 " + lfsPointer("large"), "new.lfs": "100644 other"}
	if !maps.Equal(tree, want) || len(s.Notes) > 0 {
		t.Errorf("%q, notes %q", tree, s.Notes)
	}
}
