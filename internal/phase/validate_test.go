package phase_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agent-airlock/airlock/internal/changes"
	"github.com/agent-airlock/airlock/internal/finding"
	"github.com/agent-airlock/airlock/internal/phase"
	"github.com/agent-airlock/airlock/internal/toolreport"
	"github.com/google/go-cmp/cmp"
)

const (
	gofmtLine = "gofmt -l -d ."
	lintLine  = "golangci-lint run --output.json.path=stdout"
	lintFix   = "golangci-lint run --fix --output.json.path=stdout"
	vetLine   = "go vet ./..."
	buildLine = "go build ./..."
	testLine  = "go test -json ./..."
)

// goSteps is a Go project in which all is well, save for what a test changes.
func goSteps(changed map[string][]step) map[string][]step {
	steps := map[string][]step{gofmtLine: ok, "go fmt ./...": ok, vetLine: ok, buildLine: ok, testLine: ok}
	for line, s := range changed {
		steps[line] = s
	}
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
	job, dir := goJob(t)
	s := newStage(t, dir, goSteps(nil))
	r := validate(t, job, phase.Config{}, s.world())
	want := []string{gofmtLine, lintLine, vetLine, buildLine, testLine}
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

func TestAFormatterIsFixedUntilItsRetriesAreUsedUp(t *testing.T) {
	job, dir := goJob(t)
	s := newStage(t, dir, goSteps(map[string][]step{gofmtLine: {{stdout: unformatted}}}))
	r := validate(t, job, phase.Config{}, s.world())
	f := r.Output.Checks.Formatter
	if f.Status != phase.Fail || f.Retries != 3 || r.Output.TotalRetries != 3 || !slices.Equal(f.Issues, []string{"File a.go still has formatting issues after 3 retries"}) {
		t.Errorf("%+v", f)
	}
	if n := len(s.ran); n != 1+2*3+4 || r.Output.Checks.Tests.Status != phase.Pass {
		t.Errorf("ran %v: the checks behind a failed one still run", s.ran)
	}
}

func TestAFixThatHelps(t *testing.T) {
	job, dir := goJob(t)
	fix := func(t *testing.T, dir string) {
		if err := os.WriteFile(filepath.Join(dir, "a.go"), []byte("package m // longer\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	s := newStage(t, dir, goSteps(map[string][]step{gofmtLine: {{stdout: unformatted}, {}}, "go fmt ./...": {{do: fix}}}))
	r := validate(t, job, phase.Config{}, s.world())
	if c := checkOf(r, phase.Formatter); c.Status != phase.Pass || c.Retries != 1 || !slices.Equal(c.Rewritten, []string{"a.go"}) {
		t.Errorf("%+v", c)
	}
}

func TestGofmtCountsNoFilesThatGoFmtPassesOver(t *testing.T) {
	broken := func(names ...string) (said string) {
		for _, n := range names {
			said += n + ":1:9: expected ';', found '('\n"
		}
		return said
	}
	diff := func(name string) string { return strings.ReplaceAll(unformatted, "a.go", name) }
	for name, c := range map[string]struct {
		step   step
		status phase.Status
		issues int
	}{
		"fixtures":                   {step{code: 2, stderr: broken("testdata/a.go", "sub/testdata/src/b.go", "_old/c.go", ".x/d.go")}, phase.Pass, 0},
		"vendored and not formatted": {step{code: 1, stdout: diff("vendor/a.go")}, phase.Pass, 0},
		"a file beside them":         {step{code: 2, stdout: diff("a.go"), stderr: broken("testdata/a.go")}, phase.Fail, 1},
		"an error beside them":       {step{code: 2, stderr: broken("testdata/a.go", "b.go")}, phase.Fail, 1},
		"a name like theirs":         {step{code: 1, stdout: diff("testdata.go")}, phase.Fail, 1},
		"gofmt's own failure":        {step{code: 2, stderr: broken("testdata/a.go") + "open x: permission denied\n"}, phase.Fail, 1},
	} {
		for _, sub := range []string{"", "go/"} {
			job, dir := goJob(t)
			if sub != "" {
				job.Input.WorkingDirectory, job.Repository = filepath.Join(dir, "go"), dir
				if err := os.Mkdir(filepath.Join(dir, "go"), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			for _, name := range []string{"go.mod", "a.go", "b.go", "testdata.go", "testdata/a.go", "sub/testdata/src/b.go", "_old/c.go", ".x/d.go", "vendor/a.go"} {
				at := filepath.Join(dir, sub, name)
				if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o755), os.WriteFile(at, []byte("module m\n"), 0o644)); err != nil {
					t.Fatal(err)
				}
			}
			r := validate(t, job, phase.Config{CheckOnly: true}, newStage(t, job.Input.WorkingDirectory, goSteps(map[string][]step{gofmtLine: {c.step}})).world())
			if f := r.Output.Checks.Formatter; f.Status != c.status || len(f.Issues) != c.issues || f.Status == phase.Pass && len(checkOf(r, phase.Formatter).Notes) != 1 {
				t.Errorf("%s in %q: %+v", name, sub, f)
			}
		}
	}
}

func TestAFileThatCannotBeParsedIsNotOnlyUnformatted(t *testing.T) {
	job, dir := goJob(t)
	r := validate(t, job, phase.Config{CheckOnly: true}, newStage(t, dir, goSteps(map[string][]step{gofmtLine: {{code: 2, stderr: "a.go:3:1: expected declaration\n"}}})).world())
	if f := r.Output.Checks.Formatter; !slices.Equal(f.Issues, []string{"expected declaration at a.go:3"}) {
		t.Errorf("%+v", f)
	}
}

func TestCheckOnlyFixesNothing(t *testing.T) {
	job, dir := goJob(t)
	s := newStage(t, dir, goSteps(map[string][]step{gofmtLine: {{stdout: unformatted}}, vetLine: {{code: 1, stderr: "./a.go:1:1: bad\n"}}}))
	r := validate(t, job, phase.Config{CheckOnly: true}, s.world())
	if r.Output.TotalRetries != 0 || r.Output.Status != phase.Fail || slices.Contains(s.ran, "go fmt ./...") {
		t.Errorf("%+v ran %v", r.Output, s.ran)
	}
	if got := r.Output.Checks.Linter.Issues; !slices.Equal(got, []string{"bad at a.go:1"}) {
		t.Errorf("linter says %q", got)
	}
}

func TestBuildAndTestsAreRepeatedOnce(t *testing.T) {
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
		r := validate(t, job, phase.Config{}, newStage(t, dir, goSteps(map[string][]step{testLine: tt.steps})).world())
		got, c := r.Output.Checks.Tests, checkOf(r, phase.Tests)
		if got.Status != tt.status || got.Failing != tt.failing || got.Retries != tt.repeat || c.Flaky != tt.flaky {
			t.Errorf("%s: %+v, flaky %v", tt.name, got, c.Flaky)
		}
		if tt.flaky && !slices.ContainsFunc(c.Notes, func(n string) bool { return strings.HasPrefix(n, "flaky: TestA ") }) {
			t.Errorf("%s: it is not told which test: %q", tt.name, c.Notes)
		}
		if tt.flaky && (len(c.Failures) != 1 || c.Failures[0].Name != "TestA") {
			t.Errorf("%s: the test that failed first is forgotten: %+v", tt.name, c.Failures)
		}
	}
}

func TestAMissingToolFailsAtOnceAndIsNamed(t *testing.T) {
	tests := []struct {
		name, format, lint, build string
		steps                     map[string][]step
		want                      phase.MissingTool
		says                      string
	}{
		{"not in PATH, nor its stand-in", "", "", "", map[string][]step{vetLine: {{absent: true}}}, phase.MissingTool{Tool: "golangci-lint", Check: phase.Linter, Command: "golangci-lint run", Override: "lint_command"}, ""},
		{"127 of a shell", "", "mylint | cat", "", map[string][]step{"mylint | cat": {{code: 127, stderr: "sh: 1: mylint: not found\n"}}}, phase.MissingTool{Tool: "mylint", Check: phase.Linter, Command: "mylint | cat", Override: "lint_command"}, ""},
		{"127 of dash with a closed PATH", "", "mylint | cat", "", map[string][]step{"mylint | cat": {{code: 127, stderr: "sh: 1: mylint: Permission denied\n"}}}, phase.MissingTool{Tool: "mylint", Check: phase.Linter, Command: "mylint | cat", Override: "lint_command"}, ""},
		{"127 of bash", "", "", "make all", map[string][]step{"make all": {{code: 127, stderr: "bash: line 1: make: command not found\n"}}}, phase.MissingTool{Tool: "make", Check: phase.Build, Command: "make all", Override: "build_command"}, ""},
		{"127 of a shell that may not look into PATH", "", "mylint .", "", map[string][]step{"mylint .": {{code: 127, stderr: "sh: 1: mylint: Permission denied\n"}}}, phase.MissingTool{Tool: "mylint", Check: phase.Linter, Command: "mylint .", Override: "lint_command"}, ""},
		{"127 of bundler", "", "bundle exec standardrb", "", map[string][]step{"bundle exec standardrb": {{code: 127, stderr: "bundler: command not found: standardrb\nInstall missing gem executables with `bundle install`\n"}}}, phase.MissingTool{Tool: "standardrb", Check: phase.Linter, Command: "bundle exec standardrb", Override: "lint_command"}, ""},
		{"127 of env", "", "./lint.py", "", map[string][]step{"./lint.py": {{code: 127, stderr: "/usr/bin/env: ‘python9’: No such file or directory\n"}}}, phase.MissingTool{Tool: "python9", Check: phase.Linter, Command: "./lint.py", Override: "lint_command"}, ""},
	}
	for _, tt := range tests {
		job, dir := goJob(t)
		job.Input.LintCommand, job.Input.BuildCommand = tt.lint, tt.build
		s := newStage(t, dir, goSteps(tt.steps))
		r := validate(t, job, phase.Config{}, s.world())
		if diff := cmp.Diff([]phase.MissingTool{tt.want}, r.Missing); diff != "" {
			t.Errorf("%s:\n%s", tt.name, diff)
		}
		c := checkOf(r, tt.want.Check)
		if c.Status != phase.Fail || c.Retries != 0 || len(c.Problems) != 1 || !strings.Contains(c.Problems[0], "'"+tt.want.Tool+"'") || !strings.Contains(c.Problems[0], tt.want.Override) {
			t.Errorf("%s: %+v", tt.name, c)
		}
	}
}

func TestTheExitCodeOfAShellMayBeATools(t *testing.T) {
	job, dir := goJob(t)
	s := newStage(t, dir, goSteps(map[string][]step{testLine: {{code: 127, stderr: "boom\n"}}}))
	r := validate(t, job, phase.Config{}, s.world())
	c := checkOf(r, phase.Tests)
	if c.Status != phase.Fail || c.ExitCode != 127 || len(r.Missing) != 0 || len(c.Problems) != 1 || !strings.HasSuffix(c.Problems[0], "exit code 127: boom") {
		t.Errorf("%+v, missing %v", c, r.Missing)
	}
}

// diffOf says that these lines of a.go are new.
func diffOf(patch string) []changes.ChangedFile {
	return []changes.ChangedFile{{Path: "a.go", Status: changes.Modified, Patch: patch}}
}

func TestOnlyNewFindingsGate(t *testing.T) {
	patch := "@@ -1,2 +1,3 @@\n package m\n+var x = 1\n // end"
	tests := []struct {
		name   string
		vet    step
		diff   []changes.ChangedFile
		status phase.Status
		old    int
	}{
		{"on a changed line", step{code: 1, stderr: "./a.go:2:1: bad\n"}, diffOf(patch), phase.Fail, 0},
		{"on an old line", step{code: 1, stderr: "./a.go:3:1: bad\n"}, diffOf(patch), phase.Pass, 1},
		{"in another file", step{code: 1, stderr: "./b.go:2:1: bad\n"}, diffOf(patch), phase.Pass, 1},
		{"in a file that is not there", step{code: 1, stderr: "./line.go:2:1: bad\n"}, diffOf(patch), phase.Fail, 0}, // such as new\nline.go
		{"without a diff every line is changed", step{code: 1, stderr: "./a.go:3:1: bad\n"}, nil, phase.Fail, 0},
		{"a patch that is left out", step{code: 1, stderr: "./a.go:3:1: bad\n"}, []changes.ChangedFile{{Path: "a.go", PatchMissing: true}}, phase.Fail, 0},
		{"a type error", step{code: 1, stderr: "vet: ./b.go:3:1: undefined: y\n"}, diffOf(patch), phase.Fail, 0},
		{"output that says nothing", step{code: 1, stderr: "boom\n"}, diffOf(patch), phase.Fail, 0},
		{"a crash beside an old finding", step{code: 2, stderr: "./a.go:3:1: bad\n"}, diffOf(patch), phase.Fail, 0},
	}
	for _, tt := range tests {
		job, dir := goJob(t)
		job.Diff = tt.diff
		s := newStage(t, dir, goSteps(map[string][]step{vetLine: {tt.vet}}))
		r := validate(t, job, phase.Config{NewOnly: true}, s.world())
		c := checkOf(r, phase.Linter)
		if c.Status != tt.status || len(c.Old) != tt.old || c.Status == phase.Fail && len(c.Problems) == 0 {
			t.Errorf("%s: %+v", tt.name, c)
		}
	}
}

func TestAnOldFindingDoesNotExplainAnotherProgramsFailure(t *testing.T) {
	for line, want := range map[string]phase.Status{"go vet ./...": phase.Pass, "go vet ./... && ./ours": phase.Fail} {
		job, dir := goJob(t)
		job.Diff, job.Input.LintCommand = diffOf("@@ -1 +1 @@\n-a\n+b"), line
		r := validate(t, job, phase.Config{NewOnly: true}, newStage(t, dir, goSteps(map[string][]step{line: {{code: 1, stderr: "./b.go:9:2: odd\n"}}})).world())
		if c := checkOf(r, phase.Linter); c.Status != want || c.Status == phase.Fail && !strings.Contains(strings.Join(c.Problems, "; "), "exit code 1") {
			t.Errorf("%s: %+v", line, c)
		}
	}
}

func TestPathsFromAboveTheWorkingDirectory(t *testing.T) {
	dir := files(t, map[string]string{"crates/a/Cargo.toml": "[package]\n", "crates/a/src/lib.rs": "x\n", "src/lib.rs": "x\n", "crates/src/b.rs": "x\n"})
	for printed, want := range map[string]string{"src/lib.rs": "crates/a/src/lib.rs", "crates/a/src/lib.rs": "crates/a/src/lib.rs", "src/b.rs": "crates/src/b.rs", "a/src/lib.rs": "crates/a/src/lib.rs", "none.rs": "crates/a/none.rs"} {
		job := phase.Job{Repository: dir, Input: phase.Input{WorkingDirectory: filepath.Join(dir, "crates", "a"), ChangedFiles: []string{"src/lib.rs"}, SkipTests: true}}
		said := "error: odd\n --> " + printed + ":1:1\n  |\n\nerror: could not compile `a` (lib) due to 1 previous error\n"
		s := newStage(t, job.Input.WorkingDirectory, map[string][]step{"cargo fmt --check": ok, "cargo clippy --message-format=json": ok, "cargo build --message-format=json": {{code: 101, stderr: said}}})
		c := checkOf(validate(t, job, phase.Config{}, s.world()), phase.Build)
		if len(c.Gating) != 1 || c.Gating[0].Path != want {
			t.Errorf("%s: %+v, want %s", printed, c.Gating, want)
		}
	}
}

func TestBuildErrorsAlwaysGate(t *testing.T) {
	job, dir := goJob(t)
	job.Diff = diffOf("@@ -1 +1 @@\n-a\n+b")
	s := newStage(t, dir, goSteps(map[string][]step{buildLine: {{code: 1, stderr: "./other.go:9:2: undefined: y\n"}}}))
	r := validate(t, job, phase.Config{NewOnly: true}, s.world())
	if b := r.Output.Checks.Build; b.Status != phase.Fail || !slices.Equal(b.Errors, []string{"undefined: y at other.go:9"}) {
		t.Errorf("%+v", b)
	}
}

func TestInformationalChecksFailWithoutFailingTheWhole(t *testing.T) {
	job, dir := goJob(t)
	w := newStage(t, dir, goSteps(nil)).world()
	w.CodeReview = reviewed(finding.Finding{Severity: finding.Critical, Message: "bad", Path: "a.go"})
	r := validate(t, job, phase.Config{Informational: []phase.Check{phase.CodeReviewed}}, w)
	if c := r.Output.Checks.CodeReview; r.Output.Status != phase.Pass || c.Status != phase.Fail || c.Severity != finding.High || r.Output.Critical {
		t.Errorf("%s: %+v", r.Output.Status, c)
	}
	if r = validate(t, job, phase.Config{}, w); r.Output.Status != phase.Fail {
		t.Error("every check blocks by default")
	}
}

func TestAReviewerThatCrashesIsRunOnceMore(t *testing.T) {
	for crashes, want := range map[int]phase.Status{1: phase.Pass, 2: phase.Fail} {
		job, dir := goJob(t)
		w := newStage(t, dir, goSteps(nil)).world()
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
	job, dir := goJob(t)
	w := newStage(t, dir, goSteps(nil)).world()
	w.SecurityReview = func(context.Context, phase.ReviewRequest) ([]finding.Finding, error) {
		return []finding.Finding{{Severity: finding.Critical, Message: "bad", Path: "a.go"}}, errors.Join(errors.New("one tool is missing"), errors.New("another\nbroke"))
	}
	r := validate(t, job, phase.Config{}, w)
	got := r.Output.Checks.SecurityReview
	if want := []string{"The review could not be done: one tool is missing", "The review could not be done: another broke", "bad at a.go"}; len(r.Reviews[1].Notes) != 0 || got.Status != phase.Fail || got.Severity != finding.Critical || !slices.Equal(got.Vulnerabilities, want) || len(r.Reviews[1].Gating) != 1 {
		t.Errorf("%+v", got)
	}
}

func TestACancelledContextIsAnError(t *testing.T) {
	job, dir := goJob(t)
	ctx, cancel := context.WithCancel(t.Context())
	s := newStage(t, dir, goSteps(map[string][]step{buildLine: {{do: func(*testing.T, string) { cancel() }}}}))
	if r, err := phase.Validate(ctx, job, phase.Config{}, s.world()); !errors.Is(err, context.Canceled) || len(s.ran) != 4 {
		t.Errorf("%v after %v: %+v", err, s.ran, r.Output)
	}
}

// TestWhatIsLeftOutIsTold: nothing is dropped silently.
func TestWhatIsLeftOutIsTold(t *testing.T) {
	var printed strings.Builder
	for n := range toolreport.MaxFindings + 7 {
		fmt.Fprintf(&printed, "a.go:1:1: message %d\n", n)
	}
	printed.WriteString("/usr/lib/b.go:1:1: elsewhere\n")
	job, dir := goJob(t)
	job.Input.LintCommand = "lint"
	c := checkOf(validate(t, job, phase.Config{}, newStage(t, dir, goSteps(map[string][]step{"lint": {{code: 1, stdout: printed.String()}}})).world()), phase.Linter)
	want := []string{"it found more than is kept: 7 findings were left out", "findings in files outside the repository were left out: 1"}
	if diff := cmp.Diff(want, c.Notes); c.Status != phase.Fail || diff != "" {
		t.Errorf("%s (-want +got):\n%s", c.Status, diff)
	}
}

// TestNoTestsSayWhatToDo is what pytest ends with 5 for.
func TestNoTestsSayWhatToDo(t *testing.T) {
	job, dir := goJob(t)
	job.Input.TestCommand = "pytest"
	steps := map[string][]step{"pytest": {{code: 5, stdout: "collected 0 items\n\n===== no tests ran in 0.01s =====\n"}}}
	c := checkOf(validate(t, job, phase.Config{}, newStage(t, dir, goSteps(steps)).world()), phase.Tests)
	if want := []string{"'pytest' ended with exit code 5: no tests were run; add one, or leave the tests out by skip_tests"}; c.Status != phase.Fail || !slices.Equal(c.Problems, want) {
		t.Errorf("%s: %q", c.Status, c.Problems)
	}
}

func TestProgressTellsEachStep(t *testing.T) {
	job, dir := goJob(t)
	w := newStage(t, dir, goSteps(map[string][]step{testLine: {{code: 1, took: time.Second}}})).world()
	var told []string
	w.Progress = func(e phase.Event) {
		told = append(told, strings.TrimRight(string(e.Check)+" "+string(e.Status)+strings.Repeat("!", e.Retries)+" "+e.Elapsed.String(), " "))
	}
	validate(t, job, phase.Config{}, w)
	want := []string{
		"formatter  0s", "formatter pass 0s", "linter  0s", "linter  0s", "linter pass 0s", "build  0s", "build pass 0s",
		"tests  0s", "tests ! 1s", "tests fail! 2s", "code_review pass 0s", "security_review pass 0s",
	}
	slices.Sort(told[len(told)-2:])
	if diff := cmp.Diff(want, told); diff != "" {
		t.Error(diff)
	}
}

func TestAFormatterThatTimesOutIsNotFixed(t *testing.T) {
	job, dir := goJob(t)
	s := newStage(t, dir, goSteps(map[string][]step{gofmtLine: {{code: -1, timedOut: true}}}))
	r := validate(t, job, phase.Config{}, s.world())
	if c := checkOf(r, phase.Formatter); c.Status != phase.Fail || c.Retries != 0 || !c.TimedOut || !strings.Contains(c.Problems[0], "5m0s") {
		t.Errorf("%+v", c)
	}
}
