//go:build unix

package agentchanges_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/agent-airlock/airlock/internal/agentchanges"
	"github.com/agent-airlock/airlock/internal/gitrepo"
)

// BenchmarkWorkspaceSeries reads a work tree of 50,000 files in 1,000
// directories.
func BenchmarkWorkspaceSeries(b *testing.B) {
	c := newClone(b)
	old := time.Now().Add(-time.Hour)
	for i := range 50_000 {
		name := fmt.Sprintf("d%02d/e%02d/f%02d.txt", i%20, i/20%50, i/1000)
		c.Write(name, fmt.Sprintf("%d\n", i))
		if err := os.Chtimes(filepath.Join(c.Dir, name), old, old); err != nil {
			b.Fatal(err)
		}
	}
	base := c.Commit("base")
	run := func(b *testing.B, want int) { // all changed files together are one change
		for b.Loop() {
			r, err := gitrepo.New(c.Locate(), gitrepo.Options{TempDir: b.TempDir()})
			if err != nil {
				b.Fatal(err)
			}
			s, err := agentchanges.FromWorkspace(b.Context(), agentchanges.WorkspaceConfig{Repo: r, Dir: c.Dir, Bases: []string{base}})
			if err != nil || len(s.Changes) != want {
				b.Fatal(s, err)
			}
			if err := r.Close(); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.Run("unchanged", func(b *testing.B) { run(b, 0) })
	b.Run("a thousand changed", func(b *testing.B) {
		for i := range 1000 {
			c.Write(fmt.Sprintf("d00/e%02d/f%02d.txt", i%50, i/50), "changed\n")
		}
		run(b, 1)
	})
	b.Run("no times known", func(b *testing.B) { // any file may have been written after the index
		now := time.Now()
		if err := os.Chtimes(filepath.Join(c.Dir, ".git/index"), old, old.Add(-time.Hour)); err != nil {
			b.Fatal(err)
		}
		run(b, 1)
		if err := os.Chtimes(filepath.Join(c.Dir, ".git/index"), now, now); err != nil {
			b.Fatal(err)
		}
	})
	b.Run("ten thousand untracked and twice as many ignored", func(b *testing.B) {
		c.Write(".gitignore", "node_modules/\n*.o\n")
		for i := range 10_000 {
			c.Write(fmt.Sprintf("new/n%02d/f%04d.txt", i%50, i), "new\n")
			c.Write(fmt.Sprintf("d01/n%02d/f%04d.o", i%50, i), "new\n")
			c.Write(fmt.Sprintf("node_modules/n%02d/f%04d.js", i%50, i), "new\n")
		}
		run(b, 1)
	})
}
