package phase_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/agent-airlock/airlock/internal/phase"
)

// TestKnownStamps asserts that files which a command rewrites are noticed, whether their stamps are
// known before or not. A file is compared with its known stamp, or else with the stamp that it had
// before the command. Known stamps are asked for once, before the first command.
func TestKnownStamps(t *testing.T) {
	t.Parallel()
	for _, known := range []bool{true, false} {
		dir := files(t, map[string]string{
			"web/package.json": `{"scripts":{"format:check":"mine","lint":"other"}}`, "web/a.js": "a", "web/sub/b.js": "b", "web/ignored.txt": "c", "d.js": "d",
		})
		old := time.Unix(1_700_000_000, 5)
		asked := []string{}
		stamps := func(name string) (time.Time, int64, bool) {
			asked = append(asked, name)
			info, err := os.Stat(filepath.Join(dir, name))
			if err != nil || info.IsDir() || name == "web/ignored.txt" || name == "web/new.txt" {
				return time.Time{}, 0, false
			}
			return info.ModTime(), info.Size(), true
		}
		write := func(names ...string) func(*testing.T, string) {
			return func(t *testing.T, in string) {
				for _, name := range names {
					if err := os.WriteFile(filepath.Join(in, name), []byte("more"), 0o644); err != nil {
						t.Fatal(err)
					}
				}
			}
		}
		for _, name := range []string{"a.js", "sub/b.js", "ignored.txt"} {
			if err := os.Chtimes(filepath.Join(dir, "web", name), old, old); err != nil {
				t.Fatal(err)
			}
		}
		s := newStage(t, filepath.Join(dir, "web"), map[string][]step{
			"npm run format:check": {{do: write("sub/b.js", "ignored.txt", "new.txt")}}, "npm run lint": {{do: write("a.js")}}, "npm test": ok,
		})
		job := phase.Job{Input: phase.Input{WorkingDirectory: filepath.Join(dir, "web"), ChangedFiles: []string{"a.js"}, SkipTests: true}, Repository: dir}
		if known {
			job.Stamps = stamps
		}
		r := validate(t, job, phase.Config{}, s.deps())
		if got, want := checkOf(r, phase.Formatter).Rewritten, []string{"ignored.txt", "sub/b.js"}; !slices.Equal(got, want) {
			t.Errorf("known %v: the formatter has rewritten %q, want %q", known, got, want)
		}
		if got, want := checkOf(r, phase.Linter).Rewritten, []string{"a.js"}; !slices.Equal(got, want) {
			t.Errorf("known %v: the linter has rewritten %q, want %q", known, got, want)
		}
		slices.Sort(asked)
		if want := []string{"web/a.js", "web/ignored.txt", "web/package.json", "web/sub", "web/sub/b.js"}; known && !slices.Equal(asked, want) {
			t.Errorf("asked for the stamps of %q, want %q: once, before the first command", asked, want)
		}
	}
}
