package gitrepo_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/gitrepo"
)

// TestMemoryOfGitIsLimited asserts that git ends if it needs more memory than MaxMemory, and that
// the error names that limit.
func TestMemoryOfGitIsLimited(t *testing.T) {
	t.Parallel()
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
		t.Errorf(`err = %v, want ErrTooLarge with "needs more than 64 MiB of memory"`, err)
	}
}
