package phase_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/changes"
	"github.com/agent-airlock/airlock/internal/finding"
	"github.com/agent-airlock/airlock/internal/phase"
)

// diffOf returns the diff of a.go with a patch.
func diffOf(patch string) []changes.ChangedFile {
	return []changes.ChangedFile{{Path: "a.go", Status: changes.Modified, Patch: patch}}
}

func TestOnlyNewFindingsBlock(t *testing.T) {
	t.Parallel()
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
		{"in a file that is not there", step{code: 1, stderr: "./line.go:2:1: bad\n"}, diffOf(patch), phase.Fail, 0}, // the end of the name "new\nline.go", which is printed on two lines
		{"without a diff every line is changed", step{code: 1, stderr: "./a.go:3:1: bad\n"}, nil, phase.Fail, 0},
		{"a patch that is left out", step{code: 1, stderr: "./a.go:3:1: bad\n"}, []changes.ChangedFile{{Path: "a.go", PatchMissing: true}}, phase.Fail, 0},
		{"in a new file without a line", step{code: 1, stderr: "./a.go:1:1: expected 'package', found 'EOF'\n"}, []changes.ChangedFile{{Path: "a.go", Status: changes.Added}}, phase.Fail, 0},
		{"a type error", step{code: 1, stderr: "vet: ./b.go:3:1: undefined: y\n"}, diffOf(patch), phase.Fail, 0},
		{"output without a finding", step{code: 1, stderr: "boom\n"}, diffOf(patch), phase.Fail, 0},
		{"a crash and an old finding", step{code: 2, stderr: "./a.go:3:1: bad\n"}, diffOf(patch), phase.Fail, 0},
	}
	for _, tt := range tests {
		job, dir := goJob(t)
		job.Diff = tt.diff
		s := newStage(t, dir, goSteps(map[string][]step{vetLine: {tt.vet}}))
		r := validate(t, job, phase.Config{NewOnly: true}, s.deps())
		c := checkOf(r, phase.Linter)
		if c.Status != tt.status || len(c.Old) != tt.old || c.Status == phase.Fail && len(c.Problems) == 0 {
			t.Errorf("%s: %+v, want %s with %d old findings", tt.name, c, tt.status, tt.old)
		}
	}
}

// TestWhatCannotBeParsedBlocksOnlyIfItChanged asserts that one broken file does not make every old
// finding count, and that a list of findings does not count as complete if some may be missing.
func TestWhatCannotBeParsedBlocksOnlyIfItChanged(t *testing.T) {
	t.Parallel()
	const code, document = "@@ -1,2 +1,3 @@\n package m\n+var x = 1\n // end", "@@ -1 +1 @@\n-a\n+b"
	stylish := func(broken string) step {
		return step{code: 1, stdout: "b.go\n  9:1  error  old  no-old\n\n" + broken + "\n  1:1  error  Parsing error: odd\n\n✖ 2 problems (2 errors, 0 warnings)\n"}
	}
	syntaxError := func(file string) step {
		return step{code: 1, stderr: "# m\nvet: ./" + file + ":9:9: expected ')', found '{'\n./b.go:5:1: old\n"}
	}
	typeError := step{code: 1, stderr: "vet: ./b.go:3:1: undefined: y\n"}
	for _, tt := range []struct {
		name, changed, patch, lint string
		printed                    step
		status                     phase.Status
		blocking                   int
	}{
		{"another file cannot be parsed", "a.go", code, "eslint .", stylish("b.go"), phase.Pass, 0},
		{"the changed file cannot be parsed", "a.go", code, "eslint .", stylish("a.go"), phase.Fail, 1},
		{"documents change", "doc.md", document, "eslint .", stylish("a.go"), phase.Pass, 0},
		{"code is compiled together with what changed", "a.go", code, "go vet ./...", typeError, phase.Fail, 1},
		{"documents change, and the code does not compile", "doc.md", document, "go vet ./...", typeError, phase.Pass, 0},
		{"an old finding in code that does not compile", "a.go", code, "go vet ./...", step{code: 1, stderr: "vet: ./b.go:3:1: undefined: y\n./b.go:9:1: old\n"}, phase.Fail, 1},
		{"another file of Go cannot be parsed", "a.go", code, "go vet ./...", syntaxError("b.go"), phase.Pass, 0},
		{"the changed file of Go cannot be parsed", "a.go", code, "go vet ./...", syntaxError("a.go"), phase.Fail, 1},
		{"a file of which nobody knows the package", "a.go", code, "go vet ./...", step{code: 1, stderr: "vet: ./b.go:1:1: expected 'package', found pakage\n"}, phase.Fail, 1},
		{"dependencies change, and the code does not compile", "go.mod", document, "go vet ./...", typeError, phase.Fail, 1},
	} {
		job, dir := goJob(t)
		job.Input.ChangedFiles, job.Input.LintCommand = []string{tt.changed}, tt.lint
		job.Diff = []changes.ChangedFile{{Path: tt.changed, Status: changes.Modified, Patch: tt.patch}}
		c := checkOf(validate(t, job, phase.Config{NewOnly: true}, newStage(t, dir, goSteps(map[string][]step{tt.lint: {tt.printed}})).deps()), phase.Linter)
		if c.Status != tt.status || len(c.Blocking) != tt.blocking {
			t.Errorf("%s: %+v, want %s with %d blocking findings", tt.name, c, tt.status, tt.blocking)
		}
	}
}

func TestAnOldFindingDoesNotExplainAnotherProgramsFailure(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]phase.Status{"go vet ./...": phase.Pass, "go vet ./... && ./ours": phase.Fail} {
		job, dir := goJob(t)
		job.Diff, job.Input.LintCommand = diffOf("@@ -1 +1 @@\n-a\n+b"), line
		r := validate(t, job, phase.Config{NewOnly: true}, newStage(t, dir, goSteps(map[string][]step{line: {{code: 1, stderr: "./b.go:9:2: odd\n"}}})).deps())
		if c := checkOf(r, phase.Linter); c.Status != want || c.Status == phase.Fail && !strings.Contains(strings.Join(c.Problems, "; "), "exit code 1") {
			t.Errorf("%s: %+v", line, c)
		}
	}
}

func TestPathsFromAboveTheWorkingDirectory(t *testing.T) {
	t.Parallel()
	dir := files(t, map[string]string{"crates/a/Cargo.toml": "[package]\n", "crates/a/src/lib.rs": "x\n", "src/lib.rs": "x\n", "crates/src/b.rs": "x\n"})
	for printed, want := range map[string]string{"src/lib.rs": "crates/a/src/lib.rs", "crates/a/src/lib.rs": "crates/a/src/lib.rs", "src/b.rs": "crates/src/b.rs", "a/src/lib.rs": "crates/a/src/lib.rs", "none.rs": "crates/a/none.rs"} {
		job := phase.Job{Repository: dir, Input: phase.Input{WorkingDirectory: filepath.Join(dir, "crates", "a"), ChangedFiles: []string{"src/lib.rs"}, SkipTests: true}}
		printedByCargo := "error: odd\n --> " + printed + ":1:1\n  |\n\nerror: could not compile `a` (lib) due to 1 previous error\n"
		s := newStage(t, job.Input.WorkingDirectory, map[string][]step{"cargo fmt --check": ok, "cargo clippy --message-format=json": ok, "cargo build --message-format=json": {{code: 101, stderr: printedByCargo}}})
		c := checkOf(validate(t, job, phase.Config{}, s.deps()), phase.Build)
		if len(c.Blocking) != 1 || c.Blocking[0].Path != want {
			t.Errorf("%s: %+v, want %s", printed, c.Blocking, want)
		}
	}
}

func TestBuildErrorsAlwaysBlock(t *testing.T) {
	t.Parallel()
	job, dir := goJob(t)
	job.Diff = diffOf("@@ -1 +1 @@\n-a\n+b")
	s := newStage(t, dir, goSteps(map[string][]step{buildLine: {{code: 1, stderr: "./other.go:9:2: undefined: y\n"}}}))
	r := validate(t, job, phase.Config{NewOnly: true}, s.deps())
	if b := r.Output.Checks.Build; b.Status != phase.Fail || !slices.Equal(b.Errors, []string{"undefined: y at other.go:9"}) {
		t.Errorf("%+v", b)
	}
}

// TestFindingBlocksForTheLinesThatItIsAbout asserts that a review's finding blocks if the change
// touches a line of the code that it is about.
func TestFindingBlocksForTheLinesThatItIsAbout(t *testing.T) {
	t.Parallel()
	job, dir := goJob(t)
	for last, want := range map[int]phase.Status{0: phase.Pass, 2: phase.Pass, 3: phase.Fail} {
		job.Diff = diffOf("@@ -1,3 +1,3 @@\n a\n b\n-c\n+d")
		w := newStage(t, dir, goSteps(nil)).deps()
		w.SecurityReview = reviewed(finding.Finding{Severity: finding.Critical, Message: "bad", Path: "a.go", Range: finding.Range{StartLine: 1, EndLine: 1}, LastLine: last})
		if r := validate(t, job, phase.Config{NewOnly: true}, w); r.Output.Status != want {
			t.Errorf("with the last line %d: %s, want %s", last, r.Output.Status, want)
		}
	}
}

func TestInformationalChecksDoNotFailTheValidation(t *testing.T) {
	t.Parallel()
	job, dir := goJob(t)
	w := newStage(t, dir, goSteps(nil)).deps()
	w.CodeReview = reviewed(finding.Finding{Severity: finding.Critical, Message: "bad", Path: "a.go"})
	r := validate(t, job, phase.Config{Informational: []phase.Check{phase.CodeReview}}, w)
	// In the output, a code review's severity is at most high.
	if c := r.Output.Checks.CodeReview; r.Output.Status != phase.Pass || c.Status != phase.Fail || c.Severity != finding.High || r.Output.Critical {
		t.Errorf("%s: %+v", r.Output.Status, c)
	}
	if r = validate(t, job, phase.Config{}, w); r.Output.Status != phase.Fail {
		t.Error("every check blocks by default")
	}
}
