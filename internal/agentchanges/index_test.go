//go:build unix

package agentchanges_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/agent-airlock/airlock/internal/agentchanges"
)

// indexes returns indexes that git wrote for each version. Asked for version 2, it writes version
// 3, which the entry of "add -N" needs.
func indexes(t testing.TB) [][]byte {
	t.Helper()
	var all [][]byte
	for _, version := range []string{"2", "3", "4"} {
		c := newClone(t)
		for _, name := range []string{"a", "ab/c", "ab/cd", "b"} {
			c.Write(name, name)
		}
		c.Commit("base")
		c.Write("later", "x")
		c.Git("add", "-N", "later")
		c.Git("update-index", "--index-version="+version)
		data, err := os.ReadFile(filepath.Join(c.Dir, ".git/index"))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, data)
	}
	return all
}

// TestParseIndexCut cuts an index at every byte: the answer is an error, or
// misses nothing but extensions.
func TestParseIndexCut(t *testing.T) {
	t.Parallel()
	want := []string{"a", "ab/c", "ab/cd", "b", "later"}
	for _, data := range indexes(t) {
		for n := range len(data) + 1 {
			names, err := agentchanges.ParseIndex(data[:n:n], 20)
			slices.Sort(names)
			if err == nil && !slices.Equal(names, want) || n == len(data) && err != nil {
				t.Errorf("%d of %d bytes: %q, %v", n, len(data), names, err)
			}
		}
	}
}

func FuzzParseIndex(f *testing.F) {
	for _, data := range indexes(f) {
		f.Add(data)
	}
	c := newClone(f)
	c.Write("a", "a")
	c.Write("b", "b")
	c.Commit("base")
	c.Git("update-index", "--split-index")
	c.Git("rm", "-q", "--cached", "a")
	split, err := os.ReadFile(filepath.Join(c.Dir, ".git/index"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(split)
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, idLen := range []int{20, 32} {
			names, err := agentchanges.ParseIndex(data, idLen)
			if err == nil && len(names) > len(data) {
				t.Errorf("%d names in %d bytes", len(names), len(data))
			}
		}
	})
}
