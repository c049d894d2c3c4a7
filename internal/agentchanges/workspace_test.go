//go:build unix

package agentchanges_test

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/agent-airlock/airlock/internal/agentchanges"
	"github.com/agent-airlock/airlock/internal/gitrepo"
	"github.com/agent-airlock/airlock/internal/gitrepo/gittest"
)

// snapshot says everything about a directory that a reader could have changed,
// save for the times of objects: git renews that of one which it would have
// written again.
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

// workspaceSeries reads the clone's work tree and asserts that this changed
// nothing in it.
func (c clone) workspaceSeries(r *gitrepo.Repo, src agentchanges.WorkspaceConfig) gitrepo.Series {
	c.T.Helper()
	t := c.T.(*testing.T)
	src.Repo, src.Dir = r, c.Dir
	if src.Bases == nil {
		src.Bases = []string{c.Git("rev-parse", "HEAD")}
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

// workspace does so too, and returns the mode and content of each file of the
// last tree.
func (c clone) workspace(src agentchanges.WorkspaceConfig) (gitrepo.Series, map[string]string) {
	c.T.Helper()
	r := c.Open()
	s, t := c.workspaceSeries(r, src), c.T
	own := clone{gittest.In(t, r)}
	last := s.Base
	if n := len(s.Changes); n > 0 {
		last = s.Changes[n-1].After
	}
	tree := map[string]string{}
	for _, record := range strings.Split(strings.TrimSuffix(string(own.Output("ls-tree", "-r", "-z", last)), "\x00"), "\x00") {
		what, path, _ := strings.Cut(record, "\t")
		fields := strings.Fields(what)
		text := ""
		if fields[1] == "blob" {
			text = string(own.Output("cat-file", "blob", fields[2]))
		}
		tree[path] = fields[0] + " " + text
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

// TestWorkspaceSeries holds the last change against the tree that git itself
// makes of the same work tree.
func TestWorkspaceSeries(t *testing.T) {
	for name, change := range map[string]func(c clone){
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
	} {
		t.Run(name, func(t *testing.T) {
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
