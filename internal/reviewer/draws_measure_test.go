//go:build real

package reviewer

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/agent-airlock/airlock/internal/finding"
)

// TestDraw draws findings at random from the sources in -drawFrom, and prints them for judging.
func TestDraw(t *testing.T) {
	if *drawFrom == "" {
		t.Fatal("-drawFrom is needed: the directory with the sources of the draw, each in a directory of its own")
	}
	entries, err := os.ReadDir(*drawFrom)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		dir, err := filepath.EvalSymlinks(filepath.Join(*drawFrom, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		files := realFiles(t, dir, nil)
		found, m := review(t, Config{MinPrecision: finding.Precision(*leastPrecision)}, files)
		found = slices.DeleteFunc(found, isNote)
		counts := map[string]int{}
		for _, f := range found {
			counts[f.Rule]++
		}
		fmt.Printf("SOURCE %s files=%d found=%d %v\n", e.Name(), m.Files, len(found), counts)
		show(t, files, drawn(found, *drawSeed, *drawMost))
	}
}

// isNote reports whether a finding is about a TODO that names no issue. Such findings are right nearly
// everywhere, and so many that they would hide the rest.
func isNote(f finding.Finding) bool { return f.Rule == "todo-without-issue" }

// drawn returns findings of a source at random: as many as the parameter most says, or all if there
// are fewer.
func drawn[F any](found []F, seed uint64, most int) []F {
	found = slices.Clone(found)
	rand.New(rand.NewPCG(seed, uint64(len(found)))).Shuffle(len(found), func(i, j int) { found[i], found[j] = found[j], found[i] })
	return found[:min(most, len(found))]
}
