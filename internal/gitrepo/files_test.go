//go:build unix

package gitrepo_test

import (
	"compress/zlib"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/gitrepo"
)

func TestFiles(t *testing.T) {
	c := newClone(t)
	c.Write("policy.yml", "max: 1\n")
	c.Write("deep/er/still/x", "deep")
	c.Write("deep/er/y", "y")
	c.Write("empty", "")
	c.Write("odd\nname ü", "odd")
	c.Write("big", strings.Repeat("x", 1001))
	c.Write("run.sh", "#!/bin/sh\n")
	for _, err := range []error{os.Chmod(c.Dir+"/run.sh", 0o755), os.Symlink("policy.yml", c.Dir+"/link"), os.Symlink("deep", c.Dir+"/linkdir")} {
		if err != nil {
			t.Fatal(err)
		}
	}
	head := c.Commit("one")
	c.Write("policy.yml", "max: 1000\n") // the tree as the agent left it
	r := c.Open()
	text := map[string]string{"policy.yml": "max: 1\n", "deep/er/still/x": "deep", "deep/er/y": "y", "empty": "", "odd\nname ü": "odd", "run.sh": "#!/bin/sh\n"}
	bad := map[string]string{
		"big": "too large: 1001 bytes, at most 1000 bytes", "none": "does not exist", "deep/none": "does not exist", "policy.yml/x": "does not exist",
		"deep": "is a directory", "link": "a link is not followed", "linkdir/er/y": "a link is not followed",
		"../x": "not a path", "/etc/passwd": "not a path", "": "not a path", ".": "not a path", "a//b": "not a path", "deep/../policy.yml": "not a path",
	}
	var paths []string
	for p := range text {
		paths = append(paths, p)
	}
	for p := range bad {
		paths = append(paths, p)
	}
	files, err := r.Files(t.Context(), head, paths, 1000)
	if err != nil {
		t.Fatal(err)
	}
	if len(files) != len(paths) {
		t.Errorf("%d files of %d", len(files), len(paths))
	}
	for p, want := range text {
		if f := files[p]; string(f.Data) != want || f.Err != nil || f.Exec != (p == "run.sh") {
			t.Errorf("%q: %q, %v", p, f.Data, f.Err)
		}
	}
	for p, want := range map[string]string{"policy.yml": "100644", "run.sh": "100755", "link": "120000", "deep": "040000", "linkdir/er/y": "", "none": "", "big": "100644"} {
		if got := files[p].Mode; got != want {
			t.Errorf("the mode of %s is %q, not %q", p, got, want)
		}
	}
	for p, want := range bad {
		if f := files[p]; f.Err == nil || !strings.Contains(f.Err.Error(), want) || f.Data != nil {
			t.Errorf("%q: %q, %v, want %q", p, f.Data, f.Err, want)
		}
	}
	again, err := r.Files(t.Context(), head, paths, 1000) // now from what is known
	if err != nil {
		t.Fatal(err)
	}
	for p := range files {
		if string(again[p].Data) != string(files[p].Data) || (again[p].Err == nil) != (files[p].Err == nil) {
			t.Errorf("%q: first %q, %v, then %q, %v", p, files[p].Data, files[p].Err, again[p].Data, again[p].Err)
		}
	}
	if !errors.Is(files["none"].Err, fs.ErrNotExist) || !errors.Is(files["big"].Err, gitrepo.ErrTooLarge) {
		t.Error("the errors lost what they are")
	}
}

func TestSubmoduleIsNotFollowed(t *testing.T) {
	c := newClone(t)
	head := c.Commit("one")
	c.Git("update-index", "--add", "--cacheinfo", "160000,"+head+",sub")
	c.Git("commit", "-q", "-m", "two")
	if _, err := c.Open().File(t.Context(), c.Git("rev-parse", "HEAD"), "sub", 10); err == nil || !strings.Contains(err.Error(), "submodule") {
		t.Errorf("err = %v", err)
	}
}

// TestForgedObjects replaces, in the clone, the content of each object on the
// way to a file, as an agent with write access to .git could.
func TestForgedObjects(t *testing.T) {
	for _, what := range []string{"HEAD", "HEAD^{tree}", "HEAD:dir", "HEAD:dir/policy.yml"} {
		t.Run(what, func(t *testing.T) {
			c := newClone(t)
			c.Write("dir/policy.yml", "max: 1\n")
			head := c.Commit("one")
			other := newClone(t)
			other.Write("dir/policy.yml", "max: 999\n")
			other.Commit("one")
			target := c.Git("rev-parse", what)
			// The objects that the forged one leads to are there as well.
			for _, o := range []string{"HEAD^{tree}", "HEAD:dir", "HEAD:dir/policy.yml"} {
				id := other.Git("rev-parse", o)
				c.forge(id, other.loose(id))
			}
			c.forge(target, other.loose(other.Git("rev-parse", what)))
			data, err := c.Open().File(t.Context(), head, "dir/policy.yml", 100)
			if err == nil {
				t.Fatalf("read %q without an error", data)
			}
			if strings.Contains(string(data), "999") {
				t.Errorf("the forged text is returned")
			}
		})
	}
}

// loose returns an object's file as git stores it.
func (c clone) loose(oid string) []byte {
	c.T.Helper()
	data, err := os.ReadFile(filepath.Join(c.Dir, ".git/objects", oid[:2], oid[2:]))
	if err != nil {
		c.T.Fatal(err)
	}
	return data
}

// forge stores an object's file under another id.
func (c clone) forge(oid string, data []byte) {
	c.T.Helper()
	path := filepath.Join(c.Dir, ".git/objects", oid[:2], oid[2:])
	_ = os.MkdirAll(filepath.Dir(path), 0o755)
	_ = os.Remove(path)
	if err := os.WriteFile(path, data, 0o444); err != nil {
		c.T.Fatal(err)
	}
}

func TestBrokenTreeIsAnError(t *testing.T) {
	c := newClone(t)
	c.Write("a", "x")
	head := c.Commit("one")
	tree := c.Git("rev-parse", "HEAD^{tree}")
	var b strings.Builder
	w := zlib.NewWriter(&b)
	fmt.Fprintf(w, "tree %d\x00%s", 5, "hello")
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	c.forge(tree, []byte(b.String()))
	if _, err := c.Open().File(t.Context(), head, "a", 10); err == nil {
		t.Error("a broken tree is read")
	}
}

func BenchmarkFile(b *testing.B) {
	c := newClone(b)
	c.Write("a/b/c/file", strings.Repeat("x\n", 100))
	head := c.Commit("one")
	r := c.Open()
	for b.Loop() {
		if _, err := r.File(b.Context(), head, "a/b/c/file", 1000); err != nil {
			b.Fatal(err)
		}
	}
}
