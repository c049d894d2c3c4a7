//go:build unix

package gitrepo_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/agent-airlock/airlock/internal/gitrepo"
)

// TestObjectsAreOrdinaryFiles asserts that a FIFO, which git would wait for, is refused.
func TestObjectsAreOrdinaryFiles(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"pack/pack-x.idx", "pack/pack-x.pack", "pack/multi-pack-index", "info/commit-graph", "info/commit-graphs/commit-graph-chain", "ab/0123", "pack/pack-x.keep"} {
		for _, linked := range []bool{false, true} {
			c, _, _, _ := fork(t)
			path := filepath.Join(c.Dir, ".git", "objects", filepath.FromSlash(name))
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			fifo := path
			if linked {
				fifo = filepath.Join(t.TempDir(), "fifo")
				if err := os.Symlink(fifo, path); err != nil {
					t.Fatal(err)
				}
			}
			if err := syscall.Mkfifo(fifo, 0o644); err != nil {
				t.Fatal(err)
			}
			temp := t.TempDir()
			r, err := gitrepo.New(c.Locate(), gitrepo.Options{TempDir: temp})
			if err == nil || !strings.Contains(err.Error(), "is not an ordinary file: remove it") {
				t.Errorf("%s: %v, %v", name, r, err)
			}
			if left, _ := os.ReadDir(temp); len(left) > 0 {
				t.Errorf("%s left %v", name, left)
			}
		}
	}
}

// TestObjectsKeepTheirTimes asserts that Close restores the modification times of the objects
// that git has touched: of packs and of single objects, in the clone and in the clone whose
// objects it shares, also of those that links there lead to.
func TestObjectsKeepTheirTimes(t *testing.T) {
	t.Parallel()
	for i := range 6 {
		packed, linked := i%2 == 1, []string{"", "files", "directories"}[i/2]
		c, _, base, _ := fork(t)
		if packed {
			c.Git("repack", "-adq")
		}
		elsewhere := t.TempDir()
		if objects := filepath.Join(c.Dir, ".git", "objects"); linked != "" {
			moveAndLink(t, objects, elsewhere, linked == "files")
		}
		borrower := clone{c.Clone}
		borrower.Dir = filepath.Join(t.TempDir(), "borrower")
		c.Git("clone", "-q", "--shared", c.Dir, borrower.Dir)
		times := func() map[string]time.Time {
			all := map[string]time.Time{}
			for _, dir := range []string{filepath.Join(c.Dir, ".git"), filepath.Join(borrower.Dir, ".git"), elsewhere} {
				_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
					if info, err := d.Info(); err == nil {
						all[path] = info.ModTime()
					}
					return err
				})
			}
			return all
		}
		hourAgo := time.Now().Add(-time.Hour)
		for path := range times() {
			if err := os.Chtimes(path, hourAgo, hourAgo); err != nil {
				t.Fatal(err)
			}
		}
		before := times()
		r, err := gitrepo.New(borrower.Locate(), gitrepo.Options{TempDir: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		content := c.GitFed("", "show", base+":a.txt")
		if _, err := r.Run(t.Context(), gitrepo.Call{Stdin: strings.NewReader(content)}, "hash-object", "-w", "--stdin"); err != nil {
			t.Fatal(err)
		}
		if changed := differing(before, times()); changed == 0 {
			t.Error("git marked nothing as used, so this test shows nothing")
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		if changed := differing(before, times()); changed > 0 {
			t.Errorf("packed %v, linked %s: %d times changed", packed, linked, changed)
		}
	}
}

// moveAndLink moves the objects and packs below a directory of objects to another directory, or the
// directories in which they are, and puts links in their place.
func moveAndLink(t *testing.T, objects, to string, files bool) {
	t.Helper()
	err := filepath.WalkDir(objects, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Name() == "info" {
			return fs.SkipDir
		}
		if err != nil || path == objects || d.IsDir() == files {
			return err
		}
		moved := filepath.Join(to, strings.ReplaceAll(strings.TrimPrefix(path, objects+"/"), "/", "-"))
		if err := errors.Join(os.Rename(path, moved), os.Symlink(moved, path)); err != nil {
			return err
		}
		if !files {
			return fs.SkipDir
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// differing counts the paths whose time is not the same in both, or that only one of them has.
func differing(a, b map[string]time.Time) (n int) {
	for path, when := range a {
		if !b[path].Equal(when) {
			n++
		}
	}
	for path := range b {
		if _, both := a[path]; !both {
			n++
		}
	}
	return n
}
