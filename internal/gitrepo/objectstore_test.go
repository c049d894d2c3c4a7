//go:build unix

package gitrepo_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/agent-airlock/airlock/internal/gitrepo"
)

// TestObjectsAreOrdinaryFiles: git opens nothing that could keep it waiting.
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

// TestObjectsKeepTheirTimes: what git marks as used has its times again when the repository is
// closed, in packs and single objects, of the clone and of what it borrows from.
func TestObjectsKeepTheirTimes(t *testing.T) {
	t.Parallel()
	for _, packed := range []bool{false, true} {
		c, _, base, _ := fork(t)
		if packed {
			c.Git("repack", "-adq")
		}
		borrower := clone{c.Clone}
		borrower.Dir = filepath.Join(t.TempDir(), "borrower")
		c.Git("clone", "-q", "--shared", c.Dir, borrower.Dir)
		times := func() map[string]time.Time {
			all := map[string]time.Time{}
			for _, dir := range []string{c.Dir, borrower.Dir} {
				_ = filepath.WalkDir(filepath.Join(dir, ".git"), func(path string, d fs.DirEntry, err error) error {
					if info, err := d.Info(); err == nil {
						all[path] = info.ModTime()
					}
					return err
				})
			}
			return all
		}
		long := time.Now().Add(-time.Hour)
		for path := range times() {
			if err := os.Chtimes(path, long, long); err != nil {
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
			t.Errorf("packed %v: %d times changed", packed, changed)
		}
	}
}

func differing(a, b map[string]time.Time) (n int) {
	for path, when := range a {
		if !b[path].Equal(when) {
			n++
		}
	}
	return n + len(b) - len(a)
}

// TestMemoryOfGitIsLimited: git gets no more memory than it may have, and the error says so.
func TestMemoryOfGitIsLimited(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("only Linux can limit it")
	}
	c := newClone(t)
	c.Write("a", "a")
	c.Commit("base")
	r, err := gitrepo.New(c.Locate(), gitrepo.Options{TempDir: t.TempDir(), MaxMemory: 64 << 20})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	// A tree, unlike a file, is read into memory as one piece.
	_, err = r.Run(t.Context(), gitrepo.Call{Stdin: strings.NewReader(strings.Repeat("x", 200<<20))}, "hash-object", "-t", "tree", "-w", "--stdin")
	if !errors.Is(err, gitrepo.ErrTooLarge) || !strings.Contains(err.Error(), "needs more than 64 MiB of memory") {
		t.Errorf("%v", err)
	}
}
