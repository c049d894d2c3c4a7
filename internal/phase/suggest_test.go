package phase_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/agent-airlock/airlock/internal/changes"
	"github.com/agent-airlock/airlock/internal/finding"
	"github.com/agent-airlock/airlock/internal/phase"
)

// inCopy is how checks run where nobody keeps the files, and inPlace where somebody does.
var (
	inCopy  = phase.Config{CheckOnly: true, Scratch: true, Suggest: true}
	inPlace = phase.Config{CheckOnly: true, Suggest: true}
)

// writing returns a step that writes these files.
func writing(contents map[string]string) step {
	return step{do: func(t *testing.T, dir string) { write(t, dir, contents) }}
}

func write(t *testing.T, dir string, contents map[string]string) {
	t.Helper()
	for name, text := range contents {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// summaries returns findings as "path:first-last rule=suggestion", as far as they have a rule and a
// suggestion.
func summaries(findings []finding.Finding) []string {
	var all []string
	for _, f := range findings {
		s := fmt.Sprintf("%s:%d-%d", f.Path, f.Range.StartLine, f.Range.EndLine)
		if f.Rule != "" {
			s += " " + f.Rule
		}
		if f.Suggestion != "" {
			s += fmt.Sprintf("=%q", f.Suggestion)
		}
		all = append(all, s)
	}
	return all
}

const (
	prettierLine = "prettier --check ."
	prettierFix  = "prettier --write --ignore-unknown a.js"
	eslintLine   = "eslint --format json ."
	eslintFix    = "eslint --fix --format json a.js"
	npmTest      = "npm test"
	withESLint   = `{"scripts":{"test":"x"},"eslintConfig":{}}`
)

// warned returns what Prettier prints of files that are not formatted.
func warned(files ...string) step {
	return step{code: 1, stderr: "Checking formatting...\n[warn] " + strings.Join(files, "\n[warn] ") + "\n[warn] Code style issues found in the above file. Run Prettier with --write to fix.\n"}
}

// linted returns what ESLint prints of findings in these lines of a.js.
func linted(dir string, lines ...int) step {
	var messages []string
	for i, l := range lines {
		messages = append(messages, fmt.Sprintf(`{"ruleId":"rule%d","severity":2,"message":"bad","line":%d,"column":%d}`, l, l, i+1))
	}
	return step{code: 1, stdout: fmt.Sprintf(`[{"filePath":%q,"messages":[%s]}]`, filepath.Join(dir, "a.js"), strings.Join(messages, ",")) + "\n"}
}

const source = "one\n two\nthree\nfour \nfive\n"

func TestSuggestions(t *testing.T) {
	t.Parallel()
	second := []changes.ChangedFile{{Path: "a.js", Status: changes.Modified, Patch: "@@ -1,2 +1,2 @@\n one\n-2\n+ two\n"}}
	third := []changes.ChangedFile{{Path: "a.js", Status: changes.Modified, Patch: "@@ -3 +3 @@\n-3\n+three\n"}}
	both := writing(map[string]string{"a.js": "one\ntwo\nthree\nfour\nfive\n"})
	tests := []struct {
		name     string
		config   func(*phase.Config)
		diff     []changes.ChangedFile
		steps    func(dir string) map[string][]step
		format   phase.Status
		blocking []string
		old      []string
		linting  []string
	}{
		{"each run of lines", nil, nil, func(string) map[string][]step {
			return map[string][]step{prettierLine: {warned("a.js")}, prettierFix: {both}}
		}, phase.Fail, []string{`a.js:2-2="two"`, `a.js:4-4="four"`}, nil, nil},
		{"changed lines block", func(c *phase.Config) { c.NewOnly = true }, second, func(string) map[string][]step {
			return map[string][]step{prettierLine: {warned("a.js")}, prettierFix: {both}}
		}, phase.Fail, []string{`a.js:2-2="two"`}, []string{"a.js:0-0"}, nil},
		{"old lines do not", func(c *phase.Config) { c.NewOnly = true }, third, func(string) map[string][]step {
			return map[string][]step{prettierLine: {warned("a.js")}, prettierFix: {both}}
		}, phase.Pass, nil, []string{"a.js:0-0"}, nil},
		{"a fix that changes nothing", func(c *phase.Config) { c.NewOnly = true }, third, func(string) map[string][]step {
			return map[string][]step{prettierLine: {warned("a.js")}, prettierFix: ok}
		}, phase.Fail, []string{"a.js:0-0"}, nil, nil},
		{"a fix that breaks off", nil, nil, func(string) map[string][]step {
			s := both
			s.timedOut = true
			return map[string][]step{prettierLine: {warned("a.js")}, prettierFix: {s}}
		}, phase.Fail, []string{"a.js:0-0"}, nil, nil},
		{"what a fix wrote before it broke off is not the next fix's", nil, nil, func(dir string) map[string][]step {
			s := writing(map[string]string{"a.js": "one\ntwo\nthree\nfour \nfive\n"})
			s.timedOut = true
			return map[string][]step{prettierLine: {warned("a.js")}, prettierFix: {s}, eslintLine: {linted(dir, 2, 4)}, eslintFix: {both}}
		}, phase.Fail, []string{"a.js:0-0"}, nil, []string{`a.js:2-0 rule2`, `a.js:4-4 rule4="four"`}},
		{"a fix of a file that is not among the changed ones", nil, nil, func(string) map[string][]step {
			return map[string][]step{prettierLine: {warned("a.js", "b.js")}, prettierFix: {writing(map[string]string{"b.js": "x\n"})}}
		}, phase.Fail, []string{"a.js:0-0", "b.js:0-0"}, nil, nil},
		{"a file that another check changes", nil, nil, func(string) map[string][]step {
			return map[string][]step{prettierLine: {warned("a.js")}, npmTest: {writing(map[string]string{"a.js": "generated\n"})}, prettierFix: {both}}
		}, phase.Fail, []string{"a.js:0-0"}, nil, nil},
		{"a linter's findings", nil, nil, func(dir string) map[string][]step {
			return map[string][]step{eslintLine: {linted(dir, 2, 3, 4)}, eslintFix: {both}}
		}, phase.Pass, nil, nil, []string{`a.js:2-2 rule2="two"`, `a.js:3-0 rule3`, `a.js:4-4 rule4="four"`}},
		{"two findings of a line get one suggestion", nil, nil, func(dir string) map[string][]step {
			return map[string][]step{eslintLine: {linted(dir, 2, 2)}, eslintFix: {both}}
		}, phase.Pass, nil, nil, []string{`a.js:2-2 rule2="two"`, `a.js:2-0 rule2`}},
		{"formatter and linter, one after the other", nil, nil, func(dir string) map[string][]step {
			return map[string][]step{
				prettierLine: {warned("a.js")}, prettierFix: {writing(map[string]string{"a.js": "one\ntwo\nadded\nthree\nfour \nfive\n"})},
				eslintLine: {linted(dir, 2, 4)}, eslintFix: {writing(map[string]string{"a.js": "one\ntwo\nadded\nthree\nfour\nfive\n"})},
			}
		}, phase.Fail, []string{"a.js:2-2=\"two\\nadded\""}, nil, []string{`a.js:2-0 rule2`, `a.js:4-4 rule4="four"`}},
		{"not if nobody asks", func(c *phase.Config) { c.Suggest = false }, nil, func(string) map[string][]step {
			return map[string][]step{prettierLine: {warned("a.js")}}
		}, phase.Fail, []string{"a.js:0-0"}, nil, nil},
	}
	for _, tt := range tests {
		for _, inPlace := range []bool{false, true} {
			dir := files(t, map[string]string{"package.json": withESLint, "a.js": source, "b.js": source})
			steps := map[string][]step{prettierLine: ok, eslintLine: ok, npmTest: ok}
			maps.Copy(steps, tt.steps(dir))
			_, planned := steps[prettierFix]
			config := inCopy
			if tt.config != nil {
				tt.config(&config)
			}
			s := newStage(t, dir, steps)
			deps := s.deps()
			var copied *copies
			if inPlace { // only the fixes run in a copy; the results are the same as if the checks ran there, too
				config.Scratch = false
				deps, copied = s.copying(prettierFix, eslintFix)
			}
			r := validate(t, phase.Job{Input: phase.Input{WorkingDirectory: dir, ChangedFiles: []string{"a.js"}}, Diff: tt.diff}, config, deps)
			f := checkOf(r, phase.Formatter)
			if f.Status != tt.format || (f.Status == phase.Pass) != (len(f.Problems) == 0) {
				t.Errorf("%s: %s, %q", tt.name, f.Status, f.Problems)
			}
			if diff := cmp.Diff([][]string{tt.blocking, tt.old, tt.linting}, [][]string{summaries(f.Blocking), summaries(f.Old), summaries(checkOf(r, phase.Linter).Blocking)}); diff != "" {
				t.Errorf("%s, in place: %v\n%s", tt.name, inPlace, diff)
			}
			for _, g := range f.Blocking {
				if g.Fingerprint == "" || g.Check != "formatter" || g.Tool != "prettier" || g.Severity != finding.Low {
					t.Errorf("%s: %+v", tt.name, g)
				}
			}
			ran := s.ran
			if copied != nil {
				ran = copied.ran()
			}
			if !planned && slices.Contains(ran, prettierFix) {
				t.Errorf("%s: %q was run", tt.name, prettierFix)
			}
			if fix := slices.Index(s.ran, prettierFix); fix >= 0 && fix < slices.Index(s.ran, npmTest) {
				t.Errorf("%s: the tests see what the fix made: %q", tt.name, s.ran)
			}
		}
	}
}

// TestTooManySuggestionsAreNone asserts that nothing is suggested for a file in which the formatter
// would change more than 1,000 places: there the formatter should be run.
func TestTooManySuggestionsAreNone(t *testing.T) {
	t.Parallel()
	var before, after strings.Builder
	for i := range 1100 {
		fmt.Fprintf(&before, "x%d \nkept %d\n", i, i)
		fmt.Fprintf(&after, "x%d\nkept %d\n", i, i)
	}
	dir := files(t, map[string]string{"package.json": withESLint, "a.js": before.String()})
	s := newStage(t, dir, map[string][]step{prettierLine: {warned("a.js")}, prettierFix: {writing(map[string]string{"a.js": after.String()})}, eslintLine: ok, npmTest: ok})
	f := checkOf(validate(t, phase.Job{Input: phase.Input{WorkingDirectory: dir, ChangedFiles: []string{"a.js"}}}, inCopy, s.deps()), phase.Formatter)
	if !slices.Equal(summaries(f.Blocking), []string{"a.js:0-0"}) || !slices.Contains(f.Notes, "no suggestions for a.js: there are more than 1000") {
		t.Errorf("%d findings, %q", len(f.Blocking), f.Notes)
	}
}

// TestWhatAToolCannotPrintIsNotSuggested asserts that no printed diff becomes a suggestion for a file
// with control characters, because these are removed from what a tool prints.
func TestWhatAToolCannotPrintIsNotSuggested(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"package  m\n// page\n": `a.go:1-1="package m"`, "package  m\n// \x0cpage\n": "a.go:1-1"} {
		job, dir := goJob(t)
		write(t, dir, map[string]string{"a.go": text})
		s := newStage(t, dir, goSteps(map[string][]step{gofmtLine: {{stdout: unformatted}}}))
		f := checkOf(validate(t, job, inCopy, s.deps()), phase.Formatter)
		if !slices.Equal(summaries(f.Blocking), []string{want}) {
			t.Errorf("%q: %q, want %s", text, summaries(f.Blocking), want)
		}
	}
}

// TestWhatAScriptRewritesIsSuggested asserts that the changes of a format script that rewrites
// files, and has no mode to check them, become suggestions.
func TestWhatAScriptRewritesIsSuggested(t *testing.T) {
	t.Parallel()
	const format = "npm run format"
	dir := files(t, map[string]string{"package.json": `{"scripts":{"format":"mine"},"eslintConfig":{}}`, "a.js": source, "old.js": source})
	s := newStage(t, dir, map[string][]step{format: {writing(map[string]string{"a.js": "one\ntwo\nthree\nfour\nfive\n", "old.js": "x\n"})}, eslintLine: ok, npmTest: ok})
	config := inCopy
	config.NewOnly = true
	diff := []changes.ChangedFile{{Path: "a.js", Status: changes.Modified, Patch: "@@ -4 +4 @@\n-4\n+four \n"}}
	r := validate(t, phase.Job{Input: phase.Input{WorkingDirectory: dir, ChangedFiles: []string{"a.js"}}, Diff: diff}, config, s.deps())
	f := checkOf(r, phase.Formatter)
	if diff := cmp.Diff([][]string{{`a.js:4-4="four"`}, {"old.js:0-0", "a.js:0-0"}, {"File a.js has formatting issues"}}, [][]string{summaries(f.Blocking), summaries(f.Old), f.Problems}); diff != "" {
		t.Error(diff)
	}
	if n := len(s.ran); f.Status != phase.Fail || s.ran[0] != format || slices.Contains(s.ran[1:], format) {
		t.Errorf("%s after %d commands: %q", f.Status, n, s.ran)
	}
}

// TestRootsBelowTheRepository asserts that paths are relative to the repository, not to the root.
func TestRootsBelowTheRepository(t *testing.T) {
	t.Parallel()
	repository := files(t, map[string]string{"web/app/package.json": withESLint, "web/app/a.js": source})
	dir := filepath.Join(repository, "web")
	s := newStage(t, dir, map[string][]step{prettierLine + " @app": {warned("a.js")}, prettierFix + " @app": {writing(map[string]string{"a.js": "one\ntwo\nthree\nfour \nfive\n"})}, eslintLine + " @app": ok, npmTest + " @app": ok})
	r := validate(t, phase.Job{Input: phase.Input{WorkingDirectory: dir, ChangedFiles: []string{"app/a.js"}}, Repository: repository}, inCopy, s.deps())
	if got := summaries(checkOf(r, phase.Formatter).Blocking); !slices.Equal(got, []string{`web/app/a.js:2-2="two"`}) {
		t.Errorf("%q", got)
	}
}

// TestGofmtSuggests asserts that a file is formatted once all suggestions are accepted. The
// suggestions come from gofmt's own diff. For a command that prints nothing, they come from the
// files that its fix writes, in the copy that is checked or in a copy only for the fix.
func TestGofmtSuggests(t *testing.T) {
	t.Parallel()
	const messy = "package m\n\nimport \"fmt\"\nfunc  A() {\n\n\n\tfmt.Println( 1 )\n   fmt.Println(2)\n}\n\n\n"
	for override, config := range map[string]phase.Config{"": inCopy, `test -z "$(gofmt -l .)"`: inCopy, `test -z "$(gofmt -l ./)"`: inPlace} {
		dir := files(t, map[string]string{"go.mod": "module example.com/m\n", "a.go": messy})
		in := phase.Input{WorkingDirectory: dir, ChangedFiles: []string{"a.go"}, FormatCommand: override, LintCommand: "true", BuildCommand: "true", SkipTests: true}
		r := validate(t, phase.Job{Input: in}, config, copyingDeps(t, dir))
		f := checkOf(r, phase.Formatter)
		if text, err := os.ReadFile(filepath.Join(dir, "a.go")); err != nil || !config.Scratch && string(text) != messy {
			t.Fatalf("%q: %v, the file was changed to %q", override, err, text)
		}
		if f.Status != phase.Fail || len(f.Blocking) < 2 {
			t.Fatalf("%q: %s, %q, %q", override, f.Status, summaries(f.Blocking), f.Notes)
		}
		write(t, dir, map[string]string{"a.go": accepted(t, messy, f.Blocking)})
		if f = checkOf(validate(t, phase.Job{Input: in}, inCopy, realDeps(t)), phase.Formatter); f.Status != phase.Pass {
			t.Errorf("%q: with all suggestions: %q", override, f.Problems)
		}
	}
}

// accepted returns a file's text with all suggestions in it. Each finding has to
// have one, and none may touch another's lines.
func accepted(t *testing.T, text string, findings []finding.Finding) string {
	t.Helper()
	lines := strings.Split(text, "\n")
	findings = slices.Clone(findings)
	finding.Sort(findings)
	next := len(lines) + 1
	for _, f := range slices.Backward(findings) {
		last := max(f.Range.StartLine, f.Range.EndLine)
		if f.Suggestion == "" || last >= next {
			t.Fatalf("%+v, before line %d", f, next)
		}
		lines, next = slices.Replace(lines, f.Range.StartLine-1, last, strings.Split(f.Suggestion, "\n")...), f.Range.StartLine
	}
	return strings.Join(lines, "\n")
}

// suggestedFor runs the formatter and the linter of a project as Airlock does in a
// copy of the workspace, and returns their findings with the suggestions. It asserts
// that accepting the suggestions removes at least as many findings.
func suggestedFor(t *testing.T, archive *txtar.Archive) string {
	t.Helper()
	contents, in := unpack(t, archive)
	in.SkipBuild, in.SkipTests = true, true
	r := validate(t, phase.Job{Input: in}, inCopy, realDeps(t))
	assertSameInPlace(t, archive, r)
	var b strings.Builder
	for _, check := range []phase.Check{phase.Formatter, phase.Linter} {
		suggested := map[string][]finding.Finding{}
		with := 0
		for _, f := range checkOf(r, check).Blocking {
			if f.Suggestion == "" {
				fmt.Fprintf(&b, "%s %s:%d %s\n", check, f.Path, f.Range.StartLine, f.Rule)
				continue
			}
			with++
			suggested[f.Path] = append(suggested[f.Path], f)
			fmt.Fprintf(&b, "%s %s:%d-%d %s\n  | %s\n", check, f.Path, f.Range.StartLine, f.Range.EndLine, f.Rule, strings.ReplaceAll(f.Suggestion, "\n", "\n  | "))
		}
		if with == 0 {
			continue
		}
		_, again := unpack(t, archive)
		again.SkipBuild, again.SkipTests = true, true
		for _, file := range in.ChangedFiles {
			write(t, again.WorkingDirectory, map[string]string{file: accepted(t, contents[file], suggested[file])})
		}
		now := checkOf(validate(t, phase.Job{Input: again}, inCopy, realDeps(t)), check)
		if was := checkOf(r, check); len(now.Blocking) > len(was.Blocking)-with {
			t.Errorf("%s: with %d suggestions accepted, %d of %d findings are left: %q", check, with, len(now.Blocking), len(was.Blocking), now.Problems)
		}
	}
	return strings.ReplaceAll(b.String(), " \n", "\n")
}

// assertSameInPlace runs the same checks in place, where the fixes run in a copy: they
// end alike, and the files stay as they are.
func assertSameInPlace(t *testing.T, archive *txtar.Archive, want phase.Result) {
	t.Helper()
	contents, in := unpack(t, archive)
	in.SkipBuild, in.SkipTests = true, true
	r := validate(t, phase.Job{Input: in}, inPlace, copyingDeps(t, in.WorkingDirectory))
	for _, check := range []phase.Check{phase.Formatter, phase.Linter} {
		want, got := checkOf(want, check), checkOf(r, check)
		if diff := cmp.Diff([]any{want.Status, summaries(want.Blocking), want.Notes}, []any{got.Status, summaries(got.Blocking), got.Notes}); diff != "" {
			t.Errorf("%s (-in a copy +in place)\n%s", check, diff)
		}
	}
	for _, file := range in.ChangedFiles {
		if text, err := os.ReadFile(filepath.Join(in.WorkingDirectory, file)); err != nil || string(text) != contents[file] {
			t.Errorf("%v, %s was changed to %q", err, file, text)
		}
	}
}

// copyingDeps returns dependencies that run real tools, and copy a directory.
func copyingDeps(t *testing.T, dir string) phase.Deps {
	t.Helper()
	deps := realDeps(t)
	deps.Copy = func(context.Context, []string) (phase.Copy, error) {
		to := t.TempDir()
		return phase.Copy{Repository: to, Run: deps.Run}, os.CopyFS(to, os.DirFS(dir))
	}
	return deps
}

// copies records the copies that were made.
type copies struct {
	omitted [][]string        // of each copy, the names that were left out
	stage   *stage            // of the last copy
	both    map[string][]step // what can be run in a copy, too
}

// ran returns what was run in the last copy.
func (c *copies) ran() []string {
	if c.stage == nil {
		return nil
	}
	return c.stage.ran
}

// copying returns the stage's deps, with which these commands exist only in a copy.
func (s *stage) copying(lines ...string) (phase.Deps, *copies) {
	steps := map[string][]step{}
	for _, l := range lines {
		if planned, ok := s.steps[l]; ok {
			steps[l] = planned
			delete(s.steps, l)
		}
	}
	c := &copies{}
	w := s.deps()
	w.Copy = func(_ context.Context, omitted []string) (phase.Copy, error) {
		dir := s.t.TempDir()
		maps.Copy(steps, c.both)
		c.omitted, c.stage = append(c.omitted, omitted), newStage(s.t, dir, steps)
		return phase.Copy{Repository: dir, Run: c.stage.run}, os.CopyFS(dir, os.DirFS(s.dir))
	}
	return w, c
}

// TestCopyIsMadeOnce asserts that one copy is made for all roots, and only if a fix is to run. The copy
// lacks the installed tools of languages in which no fix is to run.
func TestCopyIsMadeOnce(t *testing.T) {
	t.Parallel()
	contents := map[string]string{
		"web/package.json": withESLint, "web/a.js": source, "shop/package.json": withESLint, "shop/b.js": source, "api/go.mod": "module example.com/m\n", "api/a.go": "package m\n",
	}
	const webFormat, webFix, shopFormat, shopFix = prettierLine + " @web", prettierFix + " @web", prettierLine + " @shop", "prettier --write --ignore-unknown b.js @shop"
	const apiFix, ours = "gofmt -w a.go @api", "ours --fix"
	fixed := "one\ntwo\nthree\nfour\nfive\n"
	for name, tt := range map[string]struct {
		config  phase.Config
		steps   map[string][]step
		omitted [][]string
		ran     []string
		lint    string // the owner's command
	}{
		"all is well":    {inPlace, nil, nil, nil, ""},
		"the tests fail": {inPlace, map[string][]step{npmTest + " @web": {{code: 1}}}, nil, nil, ""},
		"one root": {inPlace, map[string][]step{webFormat: {warned("a.js")}, webFix: {writing(map[string]string{"a.js": fixed})}},
			[][]string{{".venv"}}, []string{webFix}, ""},
		"two roots": {inPlace, map[string][]step{webFormat: {warned("a.js")}, webFix: {writing(map[string]string{"a.js": fixed})}, shopFormat: {warned("b.js")}, shopFix: {writing(map[string]string{"b.js": fixed})}},
			[][]string{{".venv"}}, []string{webFix, shopFix}, ""},
		"another language":         {inPlace, map[string][]step{gofmtLine + " @api": {{code: 1, stderr: "broken"}}, apiFix: ok}, [][]string{{".venv", "node_modules"}}, []string{apiFix}, ""},
		"the owner's command":      {inPlace, map[string][]step{ours: {{code: 1, stdout: "api/a.go:1:1: bad\n"}, {}}}, [][]string{nil}, []string{ours}, ours},
		"nobody wants suggestions": {phase.Config{CheckOnly: true}, map[string][]step{webFormat: {warned("a.js")}}, nil, nil, ""},
		"fixed in place":           {phase.Config{Suggest: true}, map[string][]step{webFormat: {warned("a.js")}, webFix: ok}, nil, nil, ""},
	} {
		dir := files(t, contents)
		steps := map[string][]step{}
		for _, line := range []string{prettierLine, eslintLine, npmTest} {
			steps[line+" @web"], steps[line+" @shop"] = ok, ok
		}
		for line := range goSteps(nil) {
			steps[line+" @api"] = ok
		}
		maps.Copy(steps, tt.steps)
		s := newStage(t, dir, steps)
		deps, copied := s.copying(webFix, shopFix, apiFix)
		if tt.lint != "" { // the owner's command is its own fix
			s.steps[ours], copied.both = tt.steps[ours], map[string][]step{ours: ok}
		}
		if !tt.config.CheckOnly {
			s.steps[webFix] = ok
		}
		r := validate(t, phase.Job{Input: phase.Input{WorkingDirectory: dir, ChangedFiles: []string{"web/a.js", "shop/b.js", "api/a.go"}, MaxRetries: 1, LintCommand: tt.lint}}, tt.config, deps)
		slices.Sort(copied.ran())
		if diff := cmp.Diff([]any{tt.omitted, tt.ran}, []any{copied.omitted, copied.ran()}); diff != "" {
			t.Errorf("%s:\n%s", name, diff)
		}
		for _, root := range r.Roots {
			for _, f := range root.Checks[0].Blocking {
				if want := []string{f.Path + `:2-2="two"`, f.Path + `:4-4="four"`}; tt.omitted != nil && root.Language == phase.JavaScript && !slices.Equal(summaries(root.Checks[0].Blocking), want) {
					t.Errorf("%s: %q, want %q", name, summaries(root.Checks[0].Blocking), want)
				}
			}
		}
	}
}

// TestNoCopyNoSuggestions asserts that, where the workspace cannot be copied, the checks have the
// same results. If the copy fails, a note explains why there are no suggestions.
func TestNoCopyNoSuggestions(t *testing.T) {
	t.Parallel()
	for _, why := range []string{"", "no space left on device"} {
		dir := files(t, map[string]string{"package.json": withESLint, "a.js": source})
		s := newStage(t, dir, map[string][]step{prettierLine: {warned("a.js")}, eslintLine: {linted(dir, 2)}, npmTest: ok})
		deps, asked, notes := s.deps(), 0, 0
		if why != "" {
			deps.Copy = func(context.Context, []string) (phase.Copy, error) { asked++; return phase.Copy{}, errors.New(why) }
		}
		r := validate(t, phase.Job{Input: phase.Input{WorkingDirectory: dir, ChangedFiles: []string{"a.js"}}}, inPlace, deps)
		for check, want := range map[phase.Check]string{phase.Formatter: "a.js:0-0", phase.Linter: "a.js:2-0 rule2"} {
			c := checkOf(r, check)
			if c.Status != phase.Fail || !slices.Equal(summaries(c.Blocking), []string{want}) {
				t.Errorf("%q, %s: %s, %q", why, check, c.Status, summaries(c.Blocking))
			}
			if slices.Contains(c.Notes, "no suggestions: "+why) {
				notes++
			}
		}
		if why != "" && (asked != 1 || notes != 2) || why == "" && notes != 0 {
			t.Errorf("%q: asked %d times, %d notes", why, asked, notes)
		}
	}
}

// TestInterruptedCopy asserts that the validation ends if it is interrupted while it copies.
func TestInterruptedCopy(t *testing.T) {
	t.Parallel()
	dir := files(t, map[string]string{"package.json": withESLint, "a.js": source})
	s := newStage(t, dir, map[string][]step{prettierLine: {warned("a.js")}, eslintLine: ok, npmTest: ok})
	ctx, cancel := context.WithCancel(t.Context())
	deps := s.deps()
	deps.Copy = func(ctx context.Context, _ []string) (phase.Copy, error) {
		cancel()
		return phase.Copy{}, ctx.Err()
	}
	_, err := phase.Validate(ctx, phase.Job{Input: phase.Input{WorkingDirectory: dir, ChangedFiles: []string{"a.js"}}}, inPlace, deps)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// TestAWritingFormatterInACopy asserts that a formatter which writes is judged by the files that it
// changes in a copy. The linter sees the files as they were. Its fix runs after the formatter, and
// makes suggestions for the lines of these files.
func TestAWritingFormatterInACopy(t *testing.T) {
	t.Parallel()
	const format = "npm run format"
	for name, tt := range map[string]struct {
		writes   map[string]string
		status   phase.Status
		blocking []string
	}{
		"formatted":   {nil, phase.Pass, nil},
		"unformatted": {map[string]string{"a.js": "one\ntwo\nadded\nthree\nfour \nfive\n"}, phase.Fail, []string{"a.js:2-2=\"two\\nadded\""}},
	} {
		repository := files(t, map[string]string{"web/package.json": `{"scripts":{"format":"mine"},"eslintConfig":{}}`, "web/a.js": source, "other.js": source})
		dir := filepath.Join(repository, "web")
		steps := map[string][]step{
			format: {writing(tt.writes)}, eslintLine: {linted(dir, 2, 4)}, npmTest: ok,
			eslintFix: {step{do: func(t *testing.T, dir string) {
				text, err := os.ReadFile(filepath.Join(dir, "a.js"))
				if err != nil {
					t.Fatal(err)
				}
				write(t, dir, map[string]string{"a.js": strings.Replace(string(text), "four \n", "four\n", 1)})
			}}},
		}
		s := newStage(t, dir, steps)
		copied := newStage(t, "", map[string][]step{format: steps[format], eslintFix: steps[eslintFix]})
		delete(steps, format)
		delete(steps, eslintFix)
		deps, made := s.deps(), 0
		deps.Copy = func(_ context.Context, leave []string) (phase.Copy, error) {
			to := t.TempDir()
			made, copied.dir = made+1, filepath.Join(to, "web")
			if len(leave) > 0 {
				t.Errorf("%s: %q is left out: nobody knows what a script needs", name, leave)
			}
			return phase.Copy{Repository: to, Run: copied.run}, os.CopyFS(to, os.DirFS(repository))
		}
		r := validate(t, phase.Job{Input: phase.Input{WorkingDirectory: dir, ChangedFiles: []string{"a.js"}}, Repository: repository}, inPlace, deps)
		f := checkOf(r, phase.Formatter)
		for i, g := range tt.blocking {
			tt.blocking[i] = "web/" + g
		}
		if f.Status != tt.status || !slices.Equal(summaries(f.Blocking), tt.blocking) || made != 1 {
			t.Errorf("%s: %s, %q, %q, %d copies", name, f.Status, summaries(f.Blocking), f.Problems, made)
		}
		if got := summaries(checkOf(r, phase.Linter).Blocking); !slices.Equal(got, []string{`web/a.js:2-0 rule2`, `web/a.js:4-4 rule4="four"`}) {
			t.Errorf("%s: the linter: %q", name, got)
		}
		if text, err := os.ReadFile(filepath.Join(dir, "a.js")); err != nil || string(text) != source {
			t.Errorf("%s: %v, the file is %q", name, err, text)
		}
		if !slices.Equal(copied.ran, []string{format, eslintFix}) {
			t.Errorf("%s: %q", name, copied.ran)
		}
	}
}

// TestAFormatterThatCannotBeJudged asserts that the problem of a formatter which only writes, and cannot
// run in a copy, names the remedy.
func TestAFormatterThatCannotBeJudged(t *testing.T) {
	t.Parallel()
	dir := files(t, map[string]string{"package.json": `{"scripts":{"format":"mine"},"eslintConfig":{}}`, "a.js": source})
	s := newStage(t, dir, map[string][]step{eslintLine: ok, npmTest: ok})
	deps := s.deps()
	deps.Copy = func(context.Context, []string) (phase.Copy, error) { return phase.Copy{}, errors.New("too large") }
	f := checkOf(validate(t, phase.Job{Input: phase.Input{WorkingDirectory: dir, ChangedFiles: []string{"a.js"}}}, inPlace, deps), phase.Formatter)
	if text := strings.Join(f.Problems, "\n"); f.Status != phase.Fail || !strings.Contains(text, "add a script 'format:check'") || !strings.Contains(text, "nor can it be run in a copy: too large") {
		t.Errorf("%s, %q", f.Status, f.Problems)
	}
}
