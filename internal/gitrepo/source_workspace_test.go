//go:build unix

package gitrepo_test

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/agent-airlock/airlock/internal/gitrepo"
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
func (c clone) workspaceSeries(r *gitrepo.Repo, src gitrepo.WorkspaceSource) gitrepo.Series {
	c.t.Helper()
	t := c.t.(*testing.T)
	src.Dir = c.dir
	if src.Bases == nil {
		src.Bases = []string{c.git("rev-parse", "HEAD")}
	}
	before := snapshot(t, c.dir)
	s, err := r.WorkspaceSeries(t.Context(), src)
	if err != nil {
		t.Fatal(err)
	}
	if after := snapshot(t, c.dir); after != before {
		t.Errorf("the work tree was changed, from\n%s\nto\n%s", before, after)
	}
	checkSeries(t, r, s)
	return s
}

// workspace does so too, and returns the mode and content of each file of the
// last tree.
func (c clone) workspace(src gitrepo.WorkspaceSource) (gitrepo.Series, map[string]string) {
	c.t.Helper()
	r := c.open()
	s, t := c.workspaceSeries(r, src), c.t
	own := clone{t, r.GitDir()}
	last := s.Base
	if n := len(s.Changes); n > 0 {
		last = s.Changes[n-1].After
	}
	tree := map[string]string{}
	for _, record := range strings.Split(strings.TrimSuffix(string(own.output("ls-tree", "-r", "-z", last)), "\x00"), "\x00") {
		what, path, _ := strings.Cut(record, "\t")
		fields := strings.Fields(what)
		text := ""
		if fields[1] == "blob" {
			text = string(own.output("cat-file", "blob", fields[2]))
		}
		tree[path] = fields[0] + " " + text
	}
	return s, tree
}

// asGit returns the tree that git add --all makes of the work tree, in a copy of
// the clone.
func (c clone) asGit() string {
	c.t.Helper()
	copied := clone{c.t, filepath.Join(c.t.TempDir(), "copy")}
	if err := os.CopyFS(copied.dir, os.DirFS(c.dir)); err != nil {
		c.t.Fatal(err)
	}
	copied.git("add", "--all")
	return copied.git("write-tree")
}

func (c clone) chmod(name string, mode fs.FileMode) {
	c.t.Helper()
	if err := os.Chmod(filepath.Join(c.dir, name), mode); err != nil {
		c.t.Fatal(err)
	}
}

func (c clone) link(target, name string) {
	c.t.Helper()
	if err := os.Symlink(target, filepath.Join(c.dir, name)); err != nil {
		c.t.Fatal(err)
	}
}

// TestWorkspaceSeries holds the last change against the tree that git itself
// makes of the same work tree.
func TestWorkspaceSeries(t *testing.T) {
	for name, change := range map[string]func(c clone){
		"nothing":   func(clone) {},
		"edited":    func(c clone) { c.write("a.txt", "changed\n") },
		"same size": func(c clone) { c.write("a.txt", "eno\n") },
		"deleted":   func(c clone) { c.remove("src") },
		"new": func(c clone) {
			c.write("new/deep/er.txt", "x")
			c.write("n\u00e9w \"q\"\n\t.txt", "")
			c.write(":(top)x", "y")
		},
		"staged": func(c clone) { c.write("a.txt", "2\n"); c.write("s", "s"); c.git("add", "."); c.write("a.txt", "3\n") },
		"staged and gone": func(c clone) {
			c.write("s", "s")
			c.git("add", ".")
			c.remove("s")
			c.remove("a.txt")
		},
		"moved":             func(c clone) { c.git("mv", "src", "lib") },
		"executable":        func(c clone) { c.chmod("a.txt", 0o755); c.chmod("run.sh", 0o644) },
		"links":             func(c clone) { c.link("/etc/passwd", "out"); c.link("src", "dir"); c.link("nowhere", "broken") },
		"link changed":      func(c clone) { c.remove("link"); c.link("elsewhere", "link") },
		"link to file":      func(c clone) { c.remove("link"); c.write("link", "a.txt") },
		"file to link":      func(c clone) { c.remove("a.txt"); c.link("src/b.txt", "a.txt") },
		"file to directory": func(c clone) { c.remove("a.txt"); c.write("a.txt/x", "x") },
		"directory to file": func(c clone) { c.remove("src"); c.write("src", "x") },
		"directory to link": func(c clone) { c.git("mv", "src", "lib"); c.link("lib", "src") },
		"intent to add":     func(c clone) { c.write("later.txt", "x"); c.git("add", "-N", "later.txt") },
		"untracked":         func(c clone) { c.git("rm", "-q", "--cached", "a.txt") },
		"ignored": func(c clone) {
			c.write(".gitignore", "*.log\n/build/\n!keep.log\nonly-dir/\n/src/*\n!/src/sub/\n\\!x\nspace\\ \n")
			for _, name := range []string{"a.log", "keep.log", "build/x", "src/build/x", "x/only-dir/y", "only-dir", "src/n.txt", "src/sub/n.txt", "!x", "space ", "space"} {
				c.write(name, name)
			}
			c.write("build/.gitignore", "!x\n")
			c.write("deep/.gitignore", "*\n!.gitignore\n")
			c.write("deep/x", "x")
			c.write("star/.gitignore", "*\n!*/\n!*.go\n")
			c.write("star/in/x.go", "x")
			c.write("star/in/x.c", "x")
		},
		"ignored by exclude": func(c clone) { c.write(".git/info/exclude", "*.log\n"); c.write("a.log", "x"); c.write("b.txt", "x") },
		"ignored, but tracked": func(c clone) {
			c.write(".gitignore", "a.txt\nsrc/\n")
			c.write("a.txt", "changed\n")
			c.write("src/b.txt", "changed\n")
			c.write("src/new.txt", "x")
			c.write("forced.log", "x")
			c.git("add", "-f", "forced.log")
		},
		"ignored and untracked": func(c clone) { c.write(".gitignore", "a.txt\n"); c.git("rm", "-q", "--cached", "a.txt") },
		"line ends": func(c clone) {
			c.write(".gitattributes", "*.txt text=auto\n*.crlf text eol=crlf\nraw.txt -text\nwide.x working-tree-encoding=UTF-16LE text\nid.x ident\n!neg x\n")
			c.write("a.txt", "1\r\n2\r\n")
			c.write("dos.txt", "committed\r\nwith it\r\nand more\r\n")
			c.write("new.txt", "1\r\n")
			c.write("raw.txt", "1\r\n")
			c.write("x.crlf", "1\r\n")
			c.write("wide.x", "h\x00i\x00\r\x00\n\x00")
			c.write("id.x", "$Id: 1234 $\n")
		},
		"autocrlf": func(c clone) { c.git("config", "core.autocrlf", "true"); c.write("a.txt", "1\r\n2\r\n") },
		"no modes": func(c clone) {
			c.git("config", "core.fileMode", "false")
			c.chmod("a.txt", 0o755)
			c.write("run.sh", "2\n")
		},
		"no links":        func(c clone) { c.git("config", "core.symlinks", "false"); c.remove("link"); c.write("link", "a.txt") },
		"index version 2": func(c clone) { c.git("update-index", "--index-version=2"); c.write("a.txt", "2\n") },
		"index version 4": func(c clone) { c.git("update-index", "--index-version=4"); c.write("a.txt", "2\n") },
		"extensions": func(c clone) {
			c.git("update-index", "--untracked-cache", "--force-untracked-cache")
			c.write("x", "y")
		},
		"submodule untouched": func(c clone) {
			c.git("update-index", "--add", "--cacheinfo", "160000,"+c.git("rev-parse", "HEAD")+",sub")
			c.write("sub/.keep", "")
			c.remove("sub/.keep")
			c.git("commit", "-qm", "sub")
		},
		"sparse, cone": func(c clone) { c.git("sparse-checkout", "set", "--cone", "src"); c.write("src/b.txt", "2\n") },
		"sparse index": func(c clone) {
			c.git("sparse-checkout", "set", "--cone", "--sparse-index", "src")
			c.write("src/b.txt", "2\n")
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := newClone(t)
			c.write("a.txt", "one\n")
			c.write("src/b.txt", "one\n")
			c.write("src/sub/c.txt", "one\n")
			c.write("other/deep/d.txt", "one\n")
			c.write("dos.txt", "committed\r\nwith it\r\n")
			c.write("run.sh", "#!/bin/sh\n")
			c.chmod("run.sh", 0o755)
			c.link("a.txt", "link")
			c.commit("base")
			change(c)
			want := c.asGit()
			s := c.workspaceSeries(c.open(), gitrepo.WorkspaceSource{})
			got := c.treeOf("HEAD")
			if n := len(s.Changes); n > 0 {
				got = s.Changes[n-1].After
			}
			if got != want {
				_, tree := c.workspace(gitrepo.WorkspaceSource{})
				t.Errorf("the tree is %s, and git's is %s: %q", got, want, tree)
			}
			if len(s.Changes) > 1 || len(s.Notes) > 0 {
				t.Errorf("%+v", s)
			}
		})
	}
}
