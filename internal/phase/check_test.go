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
	"testing"

	"github.com/agent-airlock/airlock/internal/command"
	"github.com/agent-airlock/airlock/internal/phase"
)

func TestAFormatterIsFixedUntilItsRetriesAreUsedUp(t *testing.T) {
	t.Parallel()
	job, dir := goJob(t)
	s := newStage(t, dir, goSteps(map[string][]step{gofmtLine: {{stdout: unformatted}}}))
	r := validate(t, job, phase.Config{}, s.deps())
	f := r.Output.Checks.Formatter
	if f.Status != phase.Fail || f.Retries != 3 || r.Output.TotalRetries != 3 || !slices.Equal(f.Issues, []string{"File a.go still has formatting issues after 3 retries"}) {
		t.Errorf("%+v", f)
	}
	if n := len(s.ran); n != 1+2*3+3 || r.Output.Checks.Tests.Status != phase.Pass {
		t.Errorf("ran %v, want gofmt, its fix and itself again three times, and the three checks after it", s.ran)
	}
}

func TestAFixThatHelps(t *testing.T) {
	t.Parallel()
	job, dir := goJob(t)
	fix := writing(map[string]string{"a.go": "package m // longer\n"})
	s := newStage(t, dir, goSteps(map[string][]step{gofmtLine: {{stdout: unformatted}, {}}, gofmtFix: {fix}}))
	r := validate(t, job, phase.Config{}, s.deps())
	if c := checkOf(r, phase.Formatter); c.Status != phase.Pass || c.Retries != 1 || !slices.Equal(c.Rewritten, []string{"a.go"}) {
		t.Errorf("%+v", c)
	}
}

// TestTheLintersFixIsFormatted asserts that the formatter checks the files again after the linter's
// fix has changed them, and passes only if they are formatted then.
func TestTheLintersFixIsFormatted(t *testing.T) {
	t.Parallel()
	const format, fixFormat, lint, fixLint = "black --check --diff .", "black a.py", "ruff check --output-format=json .", "ruff check --fix --force-exclude --output-format=json a.py"
	linted, formatted := writing(map[string]string{"a.py": "\nx = 1\n"}), writing(map[string]string{"a.py": "x = 1\n"})
	fails, passes := step{code: 1, stdout: "[]"}, step{}
	for name, c := range map[string]struct {
		format    []step
		fix       step // of the linter
		config    phase.Config
		retries   int
		ran       []string // the commands of the formatter and the linter
		status    phase.Status
		rewritten []string // files that the formatter has changed
	}{
		"as the formatter has it":  {[]step{passes, passes}, linted, phase.Config{}, 3, []string{format, lint, fixLint, lint, format}, phase.Pass, nil},
		"in another format":        {[]step{passes, {code: 1}, passes}, linted, phase.Config{}, 3, []string{format, lint, fixLint, lint, format, fixFormat, format, lint}, phase.Pass, []string{"a.py"}},
		"in a copy":                {[]step{passes, {code: 1}, passes}, linted, phase.Config{Scratch: true}, 3, []string{format, lint, fixLint, lint, format, fixFormat, format, lint}, phase.Pass, []string{"a.py"}},
		"with no retry left":       {[]step{{code: 1}, passes, {code: 1}}, linted, phase.Config{}, 1, []string{format, fixFormat, format, lint, fixLint, lint, format}, phase.Fail, []string{"a.py"}},
		"a fix that wrote nothing": {[]step{passes}, passes, phase.Config{}, 3, []string{format, lint, fixLint, lint}, phase.Pass, nil},
		"only checked":             {[]step{passes}, linted, phase.Config{CheckOnly: true}, 3, []string{format, lint}, phase.Pass, nil},
	} {
		dir := files(t, map[string]string{"pyproject.toml": "[tool.black]\n[tool.ruff]\n", "a.py": "import os\nx = 1\n"})
		s := newStage(t, dir, map[string][]step{format: c.format, fixFormat: {formatted}, lint: {fails, passes}, fixLint: {c.fix}})
		r := validate(t, phase.Job{Input: phase.Input{WorkingDirectory: dir, ChangedFiles: []string{"a.py"}, MaxRetries: c.retries, SkipBuild: true, SkipTests: true}}, c.config, s.deps())
		if !slices.Equal(s.ran, c.ran) {
			t.Errorf("%s: ran %q\nwant %q", name, s.ran, c.ran)
		}
		got := checkOf(r, phase.Formatter)
		if got.Status != c.status || !slices.Equal(got.Rewritten, c.rewritten) || got.Retries > c.retries || len(r.Roots[0].Checks) != 4 {
			t.Errorf("%s: %+v", name, got)
		}
		if fixed := len(r.Fixed) > 0; fixed != c.config.Scratch || fixed && string(r.Fixed[0].After) != "x = 1\n" {
			t.Errorf("%s: %q is carried over", name, r.Fixed)
		}
	}
}

// TestOwnersCommandThatOnlyPrints asserts that an owner's command such as gofmt -l, which prints
// what is not formatted and ends with exit code 0, fails the formatter if it prints anything, and
// that other commands do not.
func TestOwnersCommandThatOnlyPrints(t *testing.T) {
	t.Parallel()
	for line, fails := range map[string]bool{
		"gofmt -l .": true, "gofmt -s -l cmd internal": true, "gofmt -d .": true, "/usr/local/go/bin/gofmt -l .": true, "go tool gofumpt -l .": true, "goimports -local x -l .": true,
		"black --diff .": true, "isort --diff -q src": true, "gofmt -l {files}": true,
		"gofmt -l . | tee list": false, "gofmt -l . && true": false, "gofmt -s .": false, "gofmt -w .": false, "gofmt -l -w .": false, "gofmt -w -l a.go": false, "goimports -local x .": false, "black --color .": false, "make gofmt -l": false, "echo gofmt -l .": false,
	} {
		for printed, passes := range map[string]bool{"a.go\n": !fails, "": true} {
			job, dir := goJob(t)
			if strings.HasPrefix(line, "black") || strings.HasPrefix(line, "isort") {
				job.Input.Language = phase.Python
			}
			job.Input.FormatCommand, job.Input.LintCommand, job.Input.SkipBuild, job.Input.SkipTests = line, "true", true, true
			ran := strings.ReplaceAll(line, "{files}", "a.go")
			r := validate(t, job, phase.Config{CheckOnly: true}, newStage(t, dir, map[string][]step{ran: {{stdout: printed}}, "true": ok}).deps())
			if f := r.Output.Checks.Formatter; (f.Status == phase.Pass) != passes || f.Command != line {
				t.Errorf("%s prints %q: %+v", line, printed, f)
			}
		}
	}
}

// TestWhatIsFormattedAgainIsLinted asserts that a linter does not pass whose fix the formatter undoes,
// and that the two do not go on forever.
func TestWhatIsFormattedAgainIsLinted(t *testing.T) {
	t.Parallel()
	const format, fixFormat, lint, fixLint = "black --check --diff .", "black a.py", "ruff check --output-format=json .", "ruff check --fix --force-exclude --output-format=json a.py"
	fails := step{code: 1, stdout: `[{"code":"Q000","message":"Double quotes found","filename":"a.py","location":{"row":1,"column":5},"end_location":{"row":1,"column":8}}]`}
	dir := files(t, map[string]string{"pyproject.toml": "[tool.black]\n[tool.ruff]\n", "a.py": "x = \"a\"\n"})
	s := newStage(t, dir, map[string][]step{
		format: {{}, {code: 1}, {}}, fixFormat: {writing(map[string]string{"a.py": "x = \"a\"\n"})},
		lint: {fails, {}, fails}, fixLint: {writing(map[string]string{"a.py": "x = 'a'\n"})},
	})
	r := validate(t, phase.Job{Input: phase.Input{WorkingDirectory: dir, ChangedFiles: []string{"a.py"}, MaxRetries: 3, SkipBuild: true, SkipTests: true}}, phase.Config{}, s.deps())
	if want := []string{format, lint, fixLint, lint, format, fixFormat, format, lint}; !slices.Equal(s.ran, want) {
		t.Errorf("ran %q\nwant %q", s.ran, want)
	}
	got := checkOf(r, phase.Linter)
	if got.Status != phase.Fail || got.Retries != 1 || len(got.Problems) != 1 || !strings.Contains(strings.Join(got.Notes, "\n"), "agree") {
		t.Errorf("%+v", got)
	}
	if checkOf(r, phase.Formatter).Status != phase.Pass || r.Output.Status != phase.Fail || r.Output.TotalRetries != 2 {
		t.Errorf("%+v", r.Output)
	}
}

func TestFormatterIgnoresFilesThatGoFmtIgnores(t *testing.T) {
	t.Parallel()
	broken := func(names ...string) (printed string) {
		for _, n := range names {
			printed += n + ":1:9: expected ';', found '('\n"
		}
		return printed
	}
	diff := func(name string) string { return strings.ReplaceAll(unformatted, "a.go", name) }
	for name, c := range map[string]struct {
		step   step
		status phase.Status
		issues int
	}{
		"fixtures":                   {step{code: 2, stderr: broken("testdata/a.go", "sub/testdata/src/b.go", "_old/c.go", ".x/d.go")}, phase.Pass, 0},
		"vendored and not formatted": {step{code: 1, stdout: diff("vendor/a.go")}, phase.Pass, 0},
		"another file":               {step{code: 2, stdout: diff("a.go"), stderr: broken("testdata/a.go")}, phase.Fail, 1},
		"another error":              {step{code: 2, stderr: broken("testdata/a.go", "b.go")}, phase.Fail, 1},
		"a name with that beginning": {step{code: 1, stdout: diff("testdata.go")}, phase.Fail, 1},
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
				file := filepath.Join(dir, sub, name)
				if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte("module m\n"), 0o644)); err != nil {
					t.Fatal(err)
				}
			}
			r := validate(t, job, phase.Config{CheckOnly: true}, newStage(t, job.Input.WorkingDirectory, goSteps(map[string][]step{gofmtLine: {c.step}})).deps())
			if f := r.Output.Checks.Formatter; f.Status != c.status || len(f.Issues) != c.issues || f.Status == phase.Pass && len(checkOf(r, phase.Formatter).Notes) != 1 {
				t.Errorf("%s in %q: %+v", name, sub, f)
			}
		}
	}
}

func TestAFileThatCannotBeParsedIsNotOnlyUnformatted(t *testing.T) {
	t.Parallel()
	job, dir := goJob(t)
	r := validate(t, job, phase.Config{CheckOnly: true}, newStage(t, dir, goSteps(map[string][]step{gofmtLine: {{code: 2, stderr: "a.go:3:1: expected declaration\n"}}})).deps())
	if f := r.Output.Checks.Formatter; !slices.Equal(f.Issues, []string{"expected declaration at a.go:3"}) {
		t.Errorf("%+v", f)
	}
}

func TestCheckOnlyFixesNothing(t *testing.T) {
	t.Parallel()
	job, dir := goJob(t)
	s := newStage(t, dir, goSteps(map[string][]step{gofmtLine: {{stdout: unformatted}}, vetLine: {{code: 1, stderr: "./a.go:1:1: bad\n"}}}))
	r := validate(t, job, phase.Config{CheckOnly: true}, s.deps())
	if r.Output.TotalRetries != 0 || r.Output.Status != phase.Fail || slices.Contains(s.ran, gofmtFix) {
		t.Errorf("%+v ran %v", r.Output, s.ran)
	}
	if got := r.Output.Checks.Linter.Issues; !slices.Equal(got, []string{"bad at a.go:1"}) {
		t.Errorf("linter: %q", got)
	}
}

func TestAFormatterThatTimesOutIsNotFixed(t *testing.T) {
	t.Parallel()
	job, dir := goJob(t)
	s := newStage(t, dir, goSteps(map[string][]step{gofmtLine: {{code: -1, timedOut: true}}}))
	r := validate(t, job, phase.Config{}, s.deps())
	if c := checkOf(r, phase.Formatter); c.Status != phase.Fail || c.Retries != 0 || !c.TimedOut || !strings.Contains(c.Problems[0], "5m0s") {
		t.Errorf("%+v", c)
	}
}

// TestAToolThatMayNotBeRun asserts that the formatter, the build and the tests fail and say what to
// do if the checks' own user cannot enter the directory of a tool, such as one below root's home.
func TestAToolThatMayNotBeRun(t *testing.T) {
	t.Parallel()
	job, _ := goJob(t)
	job.Input.MaxRetries = 0
	deps := realDeps(t)
	deps.Run = func(_ context.Context, spec command.Spec) (command.Result, error) {
		return command.Result{ExitCode: -1}, fmt.Errorf("cannot start %s: %w", spec.Program, fs.ErrPermission)
	}
	r := validate(t, job, phase.Config{}, deps)
	for check, override := range map[phase.Check]string{phase.Formatter: "format_command", phase.Build: "build_command", phase.Tests: "test_command"} {
		c := checkOf(r, check)
		if got := strings.Join(c.Problems, "\n"); c.Status != phase.Fail || !strings.Contains(got, "install it for every user, or set "+override+" to another command") {
			t.Errorf("%s: %s, %q", check, c.Status, got)
		}
	}
}
