//go:build unix

package phase_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/agent-airlock/airlock/internal/command"
	"github.com/agent-airlock/airlock/internal/phase"
	"github.com/agent-airlock/airlock/internal/shorttest"
)

// TestCommandsThatMisbehave asserts that real commands end, and what the result reports about them.
func TestCommandsThatMisbehave(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, line string
		limit      time.Duration
		status     phase.Status
		timedOut   bool
		want       string // in a problem or a note
	}{
		{"ignores the signal", "trap '' TERM; while :; do sleep 300; done", 100 * time.Millisecond, phase.Fail, true, "the time limit of a command"},
		{"leaves a process behind", "sleep 300 & exit 0", 0, phase.Pass, false, ""},
		{"leaves a failing process behind", "sleep 300 & exit 1", 0, phase.Fail, false, "ended with exit code 1"},
		{"kills itself", "kill -9 $$", 0, phase.Fail, false, "ended by a signal: killed"},
		{"is not there", "no-such-tool --all", 0, phase.Fail, false, "'no-such-tool' is missing"},
		{"reads what is not given", "cat", 0, phase.Pass, false, ""},
		{"prints a gigabyte and fails", "head -c 1000000000 /dev/zero; exit 3", 0, phase.Fail, false, "ended with exit code 3"},
		{"prints endless lines", "yes error", 100 * time.Millisecond, phase.Fail, true, "ended after 100ms"},
		{"prints one endless line", "yes | tr -d '\\n'", 100 * time.Millisecond, phase.Fail, true, "ended after 100ms"},
		{"prints a gigabyte as its error", "head -c 1000000000 /dev/zero >&2; echo >&2; echo x.go:1:2: bad >&2; exit 1", 0, phase.Fail, false, "bad at x.go:1"},
		{"prints what is not text", "head -c 100000 /dev/urandom; exit 1", 0, phase.Fail, false, "ended with exit code 1"},
		{"leaves a process in a session of its own", "mkfifo p; setsid sh -c 'echo >p; sleep 20' & read x <p; exit 0", 0, phase.Pass, false, "a process that the command left behind was still running"},
		{"forks until its time is over", "while :; do sleep 300 & done", 100 * time.Millisecond, phase.Fail, true, "ended after 100ms"},
		{"is not there, without a shell", "no-such-tool {files}", 0, phase.Fail, false, "'no-such-tool' is missing"},
		{"is a script that is not there", "./gone.sh {files}", 0, phase.Fail, false, "is missing"},
		{"is a directory", "/tmp {files}", 0, phase.Fail, false, "it is a directory"},
		{"is not executable", "./a.go {files}", 0, phase.Fail, false, "it is not executable"},
		{"has an argument list that is too long", "true " + strings.Repeat("x", 3_000_000), 0, phase.Fail, false, "argument list too long"},
		{"closes its streams", "exec >&- 2>&-; exit 4", 0, phase.Fail, false, "exit code 4"},
		{"removes its directory", "rm -rf \"$PWD\"; exit 1", 0, phase.Fail, false, "exit code 1"},
	}
	for _, tt := range shorttest.First(5, tests) {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			job, _ := goJob(t)
			job.Input.SkipTests, job.Input.MaxRetries = true, 0
			job.Input.FormatCommand, job.Input.LintCommand, job.Input.BuildCommand = "true", "true", tt.line
			r := validate(t, job, phase.Config{TimeLimit: tt.limit}, realDeps(t))
			c := checkOf(r, phase.Build)
			if c.Status != tt.status || c.TimedOut != tt.timedOut || r.Output.Status != tt.status {
				t.Errorf("%+v", c)
			}
			if got := strings.Join(append(c.Problems, c.Notes...), "\n"); !strings.Contains(got, tt.want) {
				t.Errorf("%q, want %q in it", got, tt.want)
			}
		})
	}
}

// TestADirectoryThatGoesAway asserts that, if a command removes the root, each later check
// reports that it is missing, and that another validation returns an error.
func TestADirectoryThatGoesAway(t *testing.T) {
	t.Parallel()
	job, dir := goJob(t)
	job.Input.FormatCommand, job.Input.LintCommand, job.Input.BuildCommand, job.Input.TestCommand = `rm -rf "$PWD"`, "true", "true {files}", "true"
	r := validate(t, job, phase.Config{}, realDeps(t))
	for _, c := range r.Roots[0].Checks[1:] {
		if c.Status != phase.Fail || len(c.Problems) != 1 || !strings.Contains(c.Problems[0], "could not be run") || !strings.Contains(c.Problems[0], "no such file or directory") {
			t.Errorf("%s: %s, %q", c.Check, c.Status, c.Problems)
		}
	}
	if _, err := phase.Validate(t.Context(), job, phase.Config{}, realDeps(t)); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), dir) {
		t.Errorf("without the directory: %v", err)
	}
}

// TestOnlyRegularFilesAreSuggested asserts that nothing is suggested for a changed file that a
// command has removed, or replaced by something other than a text file of ordinary size.
func TestOnlyRegularFilesAreSuggested(t *testing.T) {
	t.Parallel()
	for name, line := range map[string]string{
		"a link":           "ln -sf /etc/passwd a.go",
		"a FIFO":           "rm a.go; mkfifo a.go",
		"a directory":      "rm a.go; mkdir a.go",
		"nothing":          "rm a.go",
		"large":            "head -c 2000000 /dev/zero | tr '\\0' x >a.go",
		"no text":          "printf 'a\\0b\\n' >a.go",
		"not UTF-8":        "printf '\\377\\n' >a.go",
		"a link to a link": "rm a.go; ln -s .. up; ln -s up/x a.go",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			job, _ := goJob(t)
			job.Input.SkipTests, job.Input.FormatCommand, job.Input.LintCommand = true, "false", "true"
			w := realDeps(t)
			inner := w.Run
			w.Run = func(ctx context.Context, spec command.Spec) (command.Result, error) {
				if spec.Program == "go" && slices.Contains(spec.Args, "fmt") {
					spec.Program, spec.Args = "sh", []string{"-c", line}
				}
				return inner(ctx, spec)
			}
			r := validate(t, job, inCopy, w)
			if c := checkOf(r, phase.Formatter); c.Status != phase.Fail || len(c.Blocking) > 0 {
				t.Errorf("%s: %q", c.Status, summaries(c.Blocking))
			}
		})
	}
}

// TestAFIFOInsteadOfADirectory asserts that looking for a project's files does not wait for
// somebody to write to a FIFO.
func TestAFIFOInsteadOfADirectory(t *testing.T) {
	t.Parallel()
	job, dir := goJob(t)
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	job.Input.ChangedFiles = []string{"pipe/a.go"}
	if r := validate(t, job, phase.Config{}, newStage(t, dir, goSteps(nil)).deps()); r.Output.Status != phase.Pass {
		t.Errorf("%+v", r.Output)
	}
}

// TestMoreFilesThanAProgramTakes asserts that the system's limit for arguments is reported, with
// what to do.
func TestMoreFilesThanAProgramTakes(t *testing.T) {
	t.Parallel()
	job, dir := goJob(t)
	job.Input.FormatCommand, job.Input.SkipTests, job.Input.SkipBuild, job.Input.LintCommand = "true {files}", true, true, "true"
	for i := range 300 {
		sub := filepath.Join(strings.Repeat("d", 200), strings.Repeat("e", 200), strings.Repeat("f", 200))
		name := filepath.Join(sub, fmt.Sprintf("%0190d.go", i))
		if err := errors.Join(os.MkdirAll(filepath.Join(dir, sub), 0o755), os.WriteFile(filepath.Join(dir, name), nil, 0o644)); err != nil {
			t.Fatal(err)
		}
		for range 30 {
			job.Input.ChangedFiles = append(job.Input.ChangedFiles, name)
		}
	}
	r := validate(t, job, phase.Config{CheckOnly: true}, realDeps(t))
	if f := r.Output.Checks.Formatter; f.Status != phase.Fail || len(f.Issues) != 1 || !strings.Contains(f.Issues[0], "a directory instead of {files}") {
		t.Errorf("%+v", f)
	}
}
