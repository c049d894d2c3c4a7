package phase_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-airlock/airlock/internal/finding"
	"github.com/agent-airlock/airlock/internal/phase"
	"github.com/agent-airlock/airlock/internal/toolreport"
)

const (
	gofmtLine = "gofmt -l -d ."
	gofmtFix  = "gofmt -w a.go"
	vetLine   = "go vet ./..."
	buildLine = "go build ./..."
	testLine  = "go test -json ./..."
)

// goSteps returns the steps of a Go project whose checks all pass, except for those that a test
// changes.
func goSteps(changed map[string][]step) map[string][]step {
	steps := map[string][]step{gofmtLine: ok, gofmtFix: ok, vetLine: ok, buildLine: ok, testLine: ok}
	maps.Copy(steps, changed)
	return steps
}

func goJob(t *testing.T) (phase.Job, string) {
	t.Helper()
	dir := files(t, map[string]string{"go.mod": "module example.com/m\n", "a.go": "package m\n", "b.go": "package m\n"})
	return phase.Job{Input: phase.Input{WorkingDirectory: dir, ChangedFiles: []string{"a.go"}, MaxRetries: 3}}, dir
}

// checkOf returns one check of the first root.
func checkOf(r phase.Result, c phase.Check) phase.CheckResult {
	for _, got := range r.Roots[0].Checks {
		if got.Check == c {
			return got
		}
	}
	return phase.CheckResult{}
}

const unformatted = "diff a.go.orig a.go\n--- a.go.orig\n+++ a.go\n@@ -1,1 +1,1 @@\n-package  m\n+package m\n"

func TestAllIsWell(t *testing.T) {
	t.Parallel()
	job, dir := goJob(t)
	s := newStage(t, dir, goSteps(nil))
	r := validate(t, job, phase.Config{}, s.deps())
	want := []string{gofmtLine, vetLine, buildLine, testLine}
	if diff := cmp.Diff(want, s.ran); diff != "" || r.Output.Status != phase.Pass {
		t.Errorf("%s\n%s", r.Output.Status, diff)
	}
	if c := r.Output.Checks; c.Formatter.Command != "gofmt -l ." || c.Linter.Command != "go vet ./..." || c.Tests.Command != "go test ./..." {
		t.Errorf("commands are shown as %+v", c)
	}
	for _, spec := range s.specs {
		if spec.Timeout != 300*time.Second || spec.Dir != dir || !slices.Equal(spec.Env, []string{"PATH=/usr/bin:/bin"}) {
			t.Errorf("%s runs as %+v", spec.Program, spec)
		}
	}
	for _, n := range r.Reviews {
		if len(n.Notes) != 1 || n.Status != phase.Pass {
			t.Errorf("without a reviewer: %+v, want a note", n)
		}
	}
}

func TestTestsAreRepeatedOnce(t *testing.T) {
	t.Parallel()
	failing := step{code: 1, stdout: `{"Action":"run","Package":"example.com/m","Test":"TestA"}` + "\n" + `{"Action":"fail","Package":"example.com/m","Test":"TestA"}` + "\n" + `{"Action":"fail","Package":"example.com/m"}` + "\n"}
	tests := []struct {
		name            string
		max             int
		steps           []step
		status          phase.Status
		failing, repeat int
		flaky           bool
	}{
		{"flaky", 3, []step{failing, {}}, phase.Pass, 0, 1, true},
		{"failing", 3, []step{failing}, phase.Fail, 1, 1, false},
		{"no retries allowed", 0, []step{failing, {}}, phase.Fail, 1, 0, false},
		{"a crash without output", 3, []step{{code: 2}}, phase.Fail, 1, 1, false},
		{"a time-out is not repeated", 3, []step{{code: -1, timedOut: true}}, phase.Fail, 1, 0, false},
	}
	for _, tt := range tests {
		job, dir := goJob(t)
		job.Input.MaxRetries = tt.max
		r := validate(t, job, phase.Config{}, newStage(t, dir, goSteps(map[string][]step{testLine: tt.steps})).deps())
		got, c := r.Output.Checks.Tests, checkOf(r, phase.Tests)
		if got.Status != tt.status || got.Failing != tt.failing || got.Retries != tt.repeat || c.Flaky != tt.flaky {
			t.Errorf("%s: %+v, flaky %v", tt.name, got, c.Flaky)
		}
		if tt.flaky && !slices.ContainsFunc(c.Notes, func(n string) bool { return strings.HasPrefix(n, "flaky: TestA ") }) {
			t.Errorf("%s: it does not name the test: %q", tt.name, c.Notes)
		}
		if tt.flaky && (len(c.Failures) != 1 || c.Failures[0].Name != "TestA") {
			t.Errorf("%s: the test that failed first is forgotten: %+v", tt.name, c.Failures)
		}
	}
}

func TestAMissingToolFailsAtOnceAndIsNamed(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, lint, build string
		steps             map[string][]step
		want              phase.MissingTool
	}{
		{"not in PATH", "", "", map[string][]step{vetLine: {{absent: true}}}, phase.MissingTool{Tool: "go", Check: phase.Linter, Command: "go vet ./...", Override: "lint_command"}},
		{"127 of dash in a pipeline", "mylint | cat", "", map[string][]step{"mylint | cat": {{code: 127, stderr: "sh: 1: mylint: not found\n"}}}, phase.MissingTool{Tool: "mylint", Check: phase.Linter, Command: "mylint | cat", Override: "lint_command"}},
		{"127 of dash that may not look into PATH, in a pipeline", "mylint | cat", "", map[string][]step{"mylint | cat": {{code: 127, stderr: "sh: 1: mylint: Permission denied\n"}}}, phase.MissingTool{Tool: "mylint", Check: phase.Linter, Command: "mylint | cat", Override: "lint_command"}},
		{"127 of bash", "", "make all", map[string][]step{"make all": {{code: 127, stderr: "bash: line 1: make: command not found\n"}}}, phase.MissingTool{Tool: "make", Check: phase.Build, Command: "make all", Override: "build_command"}},
		{"127 of dash that may not look into PATH", "mylint .", "", map[string][]step{"mylint .": {{code: 127, stderr: "sh: 1: mylint: Permission denied\n"}}}, phase.MissingTool{Tool: "mylint", Check: phase.Linter, Command: "mylint .", Override: "lint_command"}},
		{"127 of bundler", "bundle exec standardrb", "", map[string][]step{"bundle exec standardrb": {{code: 127, stderr: "bundler: command not found: standardrb\nInstall missing gem executables with `bundle install`\n"}}}, phase.MissingTool{Tool: "standardrb", Check: phase.Linter, Command: "bundle exec standardrb", Override: "lint_command"}},
		{"127 of env", "./lint.py", "", map[string][]step{"./lint.py": {{code: 127, stderr: "/usr/bin/env: ‘python9’: No such file or directory\n"}}}, phase.MissingTool{Tool: "python9", Check: phase.Linter, Command: "./lint.py", Override: "lint_command"}},
	}
	for _, tt := range tests {
		job, dir := goJob(t)
		job.Input.LintCommand, job.Input.BuildCommand = tt.lint, tt.build
		s := newStage(t, dir, goSteps(tt.steps))
		r := validate(t, job, phase.Config{}, s.deps())
		if diff := cmp.Diff([]phase.MissingTool{tt.want}, r.Missing); diff != "" {
			t.Errorf("%s:\n%s", tt.name, diff)
		}
		c := checkOf(r, tt.want.Check)
		if c.Status != phase.Fail || c.Retries != 0 || len(c.Problems) != 1 || !strings.Contains(c.Problems[0], "'"+tt.want.Tool+"'") || !strings.Contains(c.Problems[0], tt.want.Override) {
			t.Errorf("%s: %+v", tt.name, c)
		}
	}
}

func TestExitCode127IsNotAlwaysAMissingTool(t *testing.T) {
	t.Parallel()
	job, dir := goJob(t)
	s := newStage(t, dir, goSteps(map[string][]step{testLine: {{code: 127, stderr: "boom\n"}}}))
	r := validate(t, job, phase.Config{}, s.deps())
	c := checkOf(r, phase.Tests)
	if c.Status != phase.Fail || c.ExitCode != 127 || len(r.Missing) != 0 || len(c.Problems) != 1 || !strings.HasSuffix(c.Problems[0], "exit code 127: boom") {
		t.Errorf("%+v, missing %v", c, r.Missing)
	}
}

func TestAReviewerThatCrashesIsRunOnceMore(t *testing.T) {
	t.Parallel()
	for crashes, want := range map[int]phase.Status{1: phase.Pass, 2: phase.Fail} {
		job, dir := goJob(t)
		w := newStage(t, dir, goSteps(nil)).deps()
		calls := 0
		w.SecurityReview = func(_ context.Context, r phase.ReviewRequest) ([]finding.Finding, error) {
			if calls++; calls > crashes {
				return nil, nil
			}
			if calls == 1 {
				panic("hostile file")
			}
			return nil, errors.New("again")
		}
		r := validate(t, job, phase.Config{}, w)
		if got := r.Output.Checks.SecurityReview; got.Status != want || calls != 2 || len(r.Reviews[1].Notes) != 1 {
			t.Errorf("%d crashes, %d calls: %+v, %+v", crashes, calls, got, r.Reviews[1])
		}
	}
}

func TestWhatAFailedReviewFoundCounts(t *testing.T) {
	t.Parallel()
	job, dir := goJob(t)
	w := newStage(t, dir, goSteps(nil)).deps()
	w.SecurityReview = func(context.Context, phase.ReviewRequest) ([]finding.Finding, error) {
		return []finding.Finding{{Severity: finding.Critical, Message: "bad", Path: "a.go"}}, errors.Join(errors.New("one tool is missing"), errors.New("another\nbroke"))
	}
	r := validate(t, job, phase.Config{}, w)
	got := r.Output.Checks.SecurityReview
	if want := []string{"The review could not be done: one tool is missing", "The review could not be done: another broke", "bad at a.go"}; len(r.Reviews[1].Notes) != 0 || got.Status != phase.Fail || got.Severity != finding.Critical || !slices.Equal(got.Vulnerabilities, want) || len(r.Reviews[1].Blocking) != 1 {
		t.Errorf("%+v", got)
	}
}

// TestAReviewListsTheGravestFirst asserts that people read of a critical weakness first, wherever it
// is.
func TestAReviewListsTheGravestFirst(t *testing.T) {
	t.Parallel()
	job, dir := goJob(t)
	w := newStage(t, dir, goSteps(nil)).deps()
	w.SecurityReview = func(context.Context, phase.ReviewRequest) ([]finding.Finding, error) {
		return []finding.Finding{{Severity: finding.Low, Message: "one", Path: "a.go"}, {Severity: finding.Critical, Message: "two", Path: "b.go"}, {Severity: finding.High, Message: "three", Path: "c.go"}}, nil
	}
	got := validate(t, job, phase.Config{}, w).Output.Checks.SecurityReview.Vulnerabilities
	if want := []string{"two at b.go", "three at c.go", "one at a.go"}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

func TestACancelledContextIsAnError(t *testing.T) {
	t.Parallel()
	job, dir := goJob(t)
	ctx, cancel := context.WithCancel(t.Context())
	s := newStage(t, dir, goSteps(map[string][]step{buildLine: {{do: func(*testing.T, string) { cancel() }}}}))
	if r, err := phase.Validate(ctx, job, phase.Config{}, s.deps()); !errors.Is(err, context.Canceled) || len(s.ran) != 3 {
		t.Errorf("%v after %v: %+v", err, s.ran, r.Output)
	}
}

// TestWhatIsLeftOutIsNoted asserts that notes report findings that were left out.
func TestWhatIsLeftOutIsNoted(t *testing.T) {
	t.Parallel()
	var printed strings.Builder
	for n := range toolreport.MaxFindings + 7 {
		fmt.Fprintf(&printed, "a.go:1:1: message %d\n", n)
	}
	printed.WriteString("/usr/lib/b.go:1:1: elsewhere\n")
	job, dir := goJob(t)
	job.Input.LintCommand = "lint"
	c := checkOf(validate(t, job, phase.Config{}, newStage(t, dir, goSteps(map[string][]step{"lint": {{code: 1, stdout: printed.String()}}})).deps()), phase.Linter)
	want := []string{"it found more than is kept: 7 findings left out", "findings in files outside the repository were left out: 1"}
	if diff := cmp.Diff(want, c.Notes); c.Status != phase.Fail || diff != "" {
		t.Errorf("%s (-want +got):\n%s", c.Status, diff)
	}
}

// TestNoTestsSayWhatToDo asserts what is reported if a runner finds no tests. pytest ends with exit
// code 5 then.
func TestNoTestsSayWhatToDo(t *testing.T) {
	t.Parallel()
	job, dir := goJob(t)
	job.Input.TestCommand = "pytest"
	steps := map[string][]step{"pytest": {{code: 5, stdout: "collected 0 items\n\n===== no tests ran in 0.01s =====\n"}}}
	c := checkOf(validate(t, job, phase.Config{}, newStage(t, dir, goSteps(steps)).deps()), phase.Tests)
	if want := []string{"'pytest' ended with exit code 5: no tests were run; add one, or leave the tests out by skip_tests"}; c.Status != phase.Fail || !slices.Equal(c.Problems, want) {
		t.Errorf("%s: %q", c.Status, c.Problems)
	}
}

func TestProgressReportsEachStep(t *testing.T) {
	t.Parallel()
	job, dir := goJob(t)
	w := newStage(t, dir, goSteps(map[string][]step{testLine: {{code: 1, took: time.Second}}})).deps()
	var events []string
	w.Progress = func(e phase.Event) {
		events = append(events, strings.TrimRight(string(e.Check)+" "+string(e.Status)+strings.Repeat("!", e.Retries)+" "+e.Elapsed.String(), " "))
	}
	validate(t, job, phase.Config{}, w)
	want := []string{
		"formatter  0s", "formatter pass 0s", "linter  0s", "linter pass 0s", "build  0s", "build pass 0s",
		"tests  0s", "tests ! 1s", "tests fail! 2s", "code_review pass 0s", "security_review pass 0s",
	}
	slices.Sort(events[len(events)-2:])
	if diff := cmp.Diff(want, events); diff != "" {
		t.Error(diff)
	}
}
