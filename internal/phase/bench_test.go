package phase_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/agent-airlock/airlock/internal/changes"
	"github.com/agent-airlock/airlock/internal/command"
	"github.com/agent-airlock/airlock/internal/phase"
)

// manyFiles makes a repository of n files, 100 a directory, and of the files in contents. It returns the
// names of the first nChanged files, and a diff that changes 10 lines in each of them.
func manyFiles(b *testing.B, n, nChanged int, contents map[string]string) (dir string, names []string, diff []changes.ChangedFile) {
	b.Helper()
	dir = b.TempDir()
	for name, text := range contents {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	text := []byte(strings.Repeat("const a = [ 1 ] ;\nexport default a\n", 150))
	for i := range n {
		sub := fmt.Sprintf("src/d%03d", i/100)
		if i%100 == 0 {
			if err := os.MkdirAll(filepath.Join(dir, sub), 0o755); err != nil {
				b.Fatal(err)
			}
		}
		name := fmt.Sprintf("%s/f%02d.js", sub, i%100)
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o644); err != nil {
			b.Fatal(err)
		}
		if i < nChanged {
			names = append(names, name)
			diff = append(diff, changes.ChangedFile{Path: name, Status: changes.Modified, Patch: "@@ -1,10 +1,10 @@\n" + strings.Repeat("-a\n", 10) + strings.Repeat("+b\n", 10)})
		}
	}
	return dir, names, diff
}

// BenchmarkStart takes the time from Validate to the first command, in a
// repository of 50,000 files of which 1,000 changed. The goal is 150 ms. Nothing may be
// copied by then.
func BenchmarkStart(b *testing.B) {
	for _, bm := range []struct {
		name, manifest string
		config         phase.Config
	}{
		{"known", "{}", inCopy}, {"writing", `{"scripts":{"format":"mine"}}`, inCopy},
		{"in-place", "{}", inPlace}, {"without-suggestions", "{}", phase.Config{CheckOnly: true}},
	} {
		b.Run(bm.name, func(b *testing.B) {
			dir, names, diff := manyFiles(b, 50_000, 1000, map[string]string{"package.json": bm.manifest})
			stop := errors.New("the first command")
			var total time.Duration
			for b.Loop() {
				ctx, cancel := context.WithCancelCause(b.Context())
				began := time.Now()
				deps := phase.Deps{Now: time.Now, Wait: func(context.Context, time.Duration) error { return nil }}
				deps.Copy = func(context.Context, []string) (phase.Copy, error) {
					b.Error("the repository is copied")
					return phase.Copy{}, nil
				}
				deps.Run = func(context.Context, command.Spec) (command.Result, error) {
					total += time.Since(began)
					cancel(stop)
					return command.Result{}, nil
				}
				job := phase.Job{Input: phase.Input{WorkingDirectory: dir, ChangedFiles: names}, Diff: diff}
				config := bm.config
				config.NewOnly = true
				if _, err := phase.Validate(ctx, job, config, deps); !errors.Is(err, stop) {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(total.Milliseconds())/float64(b.N), "ms/start")
		})
	}
}

// BenchmarkSuggest takes the time that suggestions cost in addition to the tool's own: for
// 1,000 changed lines in 10 or 100 files, and for 1,000 files in which all 150 lines that are not
// formatted change. The goal is 200 ms.
func BenchmarkSuggest(b *testing.B) {
	for _, size := range []struct{ files, lines int }{{10, 100}, {100, 10}, {1000, 300}} {
		b.Run(fmt.Sprintf("%dx%d", size.files, size.lines), func(b *testing.B) {
			dir, names, diff := manyFiles(b, size.files, size.files, map[string]string{"package.json": "{}"})
			before, err := os.ReadFile(filepath.Join(dir, names[0]))
			if err != nil {
				b.Fatal(err)
			}
			after := []byte(strings.Replace(string(before), "const a = [ 1 ] ;\n", "const a = [1];\n", size.lines))
			set := func(text []byte) {
				for _, n := range names {
					if err := os.WriteFile(filepath.Join(dir, n), text, 0o644); err != nil {
						b.Fatal(err)
					}
				}
			}
			var cost time.Duration
			for b.Loop() {
				set(before)
				var idle time.Time // since when no command runs
				deps := phase.Deps{Now: time.Now, Wait: func(context.Context, time.Duration) error { return nil }}
				deps.Run = func(_ context.Context, spec command.Spec) (command.Result, error) {
					r := command.Result{}
					switch line := strings.Join(append([]string{spec.Program}, spec.Args...), " "); line {
					case prettierLine:
						r.ExitCode = 1
						fmt.Fprint(spec.Stderr, warned(names...).stderr) //nolint:errcheck // it never fails
					case prettierFix:
						cost += time.Since(idle)
						set(after)
					}
					idle = time.Now()
					return r, nil
				}
				config := inCopy
				r, err := phase.Validate(b.Context(), phase.Job{Input: phase.Input{WorkingDirectory: dir, ChangedFiles: names}, Diff: diff}, config, deps)
				if err != nil {
					b.Fatal(err)
				}
				cost += time.Since(idle)
				if len(checkOf(r, phase.Formatter).Blocking) < size.files {
					b.Fatalf("%d findings", len(checkOf(r, phase.Formatter).Blocking))
				}
			}
			b.ReportMetric(float64(cost.Microseconds())/1000/float64(b.N), "ms/suggestions")
		})
	}
}
