package agentchanges_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/agent-airlock/airlock/internal/agentchanges"
)

// TestIndexSparesReading asserts that a file is not read if it has the metadata of the index,
// unless it may have been written since.
func TestIndexSparesReading(t *testing.T) {
	t.Parallel()
	for name, args := range map[string][]string{
		"version 2":    {"update-index", "--index-version=2"},
		"version 4":    {"update-index", "--index-version=4"},
		"version 3":    {"update-index", "--skip-worktree", "gone.txt"},
		"an extension": {"update-index", "--force-untracked-cache"},
	} {
		for _, format := range []string{"sha1", "sha256"} {
			t.Run(name+" "+format, func(t *testing.T) {
				t.Parallel()
				c := newClone(t, "--object-format="+format)
				old := time.Unix(1_600_000_000, 123_456_789)
				all := []string{"a", "a-b", "dir/" + strings.Repeat("long", 60), "dir/x", "n\u00e9w", "run.sh"}
				for _, name := range append(all, "gone.txt") {
					c.Write(name, name)
					if err := os.Chtimes(filepath.Join(c.Dir, name), old, old); err != nil {
						t.Fatal(err)
					}
				}
				c.chmod("run.sh", 0o755)
				c.Link("nowhere", "zz")
				c.Commit("base")
				c.Git(args...)
				c.Remove("gone.txt")
				if err := os.Chtimes(filepath.Join(c.Dir, ".git/index"), time.Time{}, time.Now().Add(time.Hour)); err != nil {
					t.Fatal(err)
				}
				assertFresh(t, c, all, []string{"gone.txt"}, "zz")
				c.Write("a", "A")
				c.chmod("dir/x", 0o755)
				c.touch("run.sh")
				assertFresh(t, c, []string{"a-b", all[2], "n\u00e9w"}, []string{"a", "dir/x", "gone.txt", "run.sh"}, "zz")
				// A file as old as the index may have been written right after it.
				if err := os.Chtimes(filepath.Join(c.Dir, ".git/index"), time.Time{}, old); err != nil {
					t.Fatal(err)
				}
				assertFresh(t, c, nil, append(all, "gone.txt"), "zz")
			})
		}
	}
}

// assertFresh asserts which files of the index need not be read, the fresh ones, and which have to
// be, the stale ones. The index has one more file, which may be either.
func assertFresh(t *testing.T, c clone, fresh, stale []string, either string) {
	t.Helper()
	got, err := agentchanges.Fresh(c.Open(), c.Dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != len(fresh)+len(stale)+1 {
		t.Errorf("the index has %v, want %d files", got, len(fresh)+len(stale)+1)
	}
	for _, name := range fresh {
		if !got[name] {
			t.Errorf("%.20q would be read", name)
		}
	}
	for _, name := range stale {
		if isFresh, ok := got[name]; isFresh || !ok {
			t.Errorf("%.20q would be read: %t, is in the index: %t; want both", name, !isFresh, ok)
		}
	}
	if _, ok := got[either]; !ok {
		t.Errorf("%q is not in the index", either)
	}
}
