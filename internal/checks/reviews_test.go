package checks

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-airlock/airlock/internal/changes"
	"github.com/agent-airlock/airlock/internal/command"
	"github.com/agent-airlock/airlock/internal/config"
	"github.com/agent-airlock/airlock/internal/finding"
	"github.com/agent-airlock/airlock/internal/phase"
	"github.com/agent-airlock/airlock/internal/plugin"
	"github.com/agent-airlock/airlock/internal/reviewer"
	"github.com/agent-airlock/airlock/internal/secrets"
)

const weak = "package a\n\nimport \"os/exec\"\n\nfunc f(x string) {\n\t_ = exec.Command(\"sh\", \"-c\", \"ls \"+x)\n}\n"

// set returns a change of six files: a weak one, one that is marked as generated, a vendored one,
// a picture, a link, and old.go, which is weak in a line that did not change.
func set() *changes.Set {
	file := func(path, text string, marks ...changes.Mark) changes.File {
		f := changes.File{ChangedFile: changes.ChangedFile{Path: path, Status: changes.Modified}, Language: "go", AllChanged: true, Size: int64(len(text)), Text: []byte(text)}
		for _, m := range marks {
			f.Marks = append(f.Marks, changes.Marked{Mark: m, Why: "it is " + string(m)})
		}
		return f
	}
	old := file("old.go", weak)
	old.AllChanged, old.Changed = false, []changes.Span{{First: 1, Last: 1}}
	return &changes.Set{Files: []changes.File{
		file("a.go", weak), file("gen.go", weak, changes.MarkGenerated), file("link", "", changes.MarkLink), file("logo.png", "", changes.MarkBinary), old, file("vendor/v.go", weak, changes.MarkVendored),
	}}
}

// TestScriptsAreReviewed asserts that a script is reviewed whatever its name ends with.
func TestScriptsAreReviewed(t *testing.T) {
	text := "#!/usr/bin/env python3\nimport os\nos.system(\"ls \" + input())\n"
	for _, path := range []string{"bin/run", "run.txt", "run.py"} {
		s := &changes.Set{Files: []changes.File{{ChangedFile: changes.ChangedFile{Path: path}, AllChanged: true, Text: []byte(text), Language: changes.LanguageOf(path, []byte(text))}}}
		r, _ := openReviews(t, reviewsConfig{Changes: s}, nil)
		got, err := r.securityReview()(t.Context(), request(t, s))
		if err != nil || len(got) != 1 || got[0].Range.StartLine != 3 {
			t.Errorf("%s: %+v, %v, want one finding in line 3", path, got, err)
		}
	}
}

// TestDeletedFilesAreCompared asserts that settings and tests that a deleted or renamed file
// takes with it are listed, and only once, although two reviews look at the change.
func TestDeletedFilesAreCompared(t *testing.T) {
	s := &changes.Set{Files: []changes.File{
		{ChangedFile: changes.ChangedFile{Path: ".golangci.yml", Status: changes.Deleted, Patch: "@@ -1,3 +0,0 @@\n-linters:\n-  enable:\n-    - gosec\n"}, Size: -1, Marks: []changes.Marked{{Mark: changes.MarkDeleted, Why: "it is deleted"}}},
		{ChangedFile: changes.ChangedFile{Path: "a.go", PreviousPath: "a_test.go", Status: changes.Renamed}, Text: []byte("package a\n\nfunc TestA(t *testing.T) {}\n"), Language: "go"},
	}}
	r, _ := openReviews(t, reviewsConfig{Changes: s}, nil)
	for _, review := range []phase.Reviewer{r.securityReview(), r.codeReview()} {
		if _, err := review(t.Context(), request(t, s)); err != nil {
			t.Fatal(err)
		}
	}
	d := r.details()
	if got, want := fmt.Sprint(d.silences), "[{golangci-lint .golangci.yml 0 the file, with 1 setting project true 0} {the test runner a.go 3 1 test: TestA file true 3}]"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if len(d.skipped) != 1 || d.skipped[0].Path != ".golangci.yml" {
		t.Errorf("skipped: %+v", d.skipped)
	}
}

func request(t *testing.T, s *changes.Set) phase.ReviewRequest {
	t.Helper()
	r := phase.ReviewRequest{Repository: t.TempDir()}
	for _, f := range s.Files {
		r.Files, r.Diff = append(r.Files, f.Path), append(r.Diff, f.ChangedFile)
	}
	return r
}

// runner counts the runs of each program and answers for it.
type runner struct {
	mu     sync.Mutex
	runs   map[string]int
	args   map[string][]string // of the last run
	answer func(program string, run int) (stdout string, code int, err error)
}

func (r *runner) run(_ context.Context, spec command.Spec) (command.Result, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.runs[spec.Program]++
	r.args[spec.Program] = spec.Args
	stdout, code, err := r.answer(spec.Program, r.runs[spec.Program])
	_, _ = io.WriteString(spec.Stdout, stdout) // what reads a plug-in's output never fails
	return command.Result{ExitCode: code, Stdout: command.Output{Head: []byte(stdout)}}, err
}

// openReviews returns reviews, and the runner that runs their programs. Without a change in cfg, they
// review the one that set returns.
func openReviews(t testing.TB, cfg reviewsConfig, answer func(program string, run int) (string, int, error)) (*reviews, *runner) {
	t.Helper()
	r := &runner{runs: map[string]int{}, args: map[string][]string{}, answer: answer}
	cfg.Run, cfg.Scanner = r.run, secrets.New(nil)
	if cfg.Changes == nil {
		cfg.Changes = set()
	}
	out, err := newReviews(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return out, r
}

func places(findings []finding.Finding) []string {
	var all []string
	for _, f := range findings {
		all = append(all, fmt.Sprintf("%s:%d %s %s", f.Path, f.Range.StartLine, f.Tool, f.Rule))
	}
	return all
}

func TestBuiltInAlone(t *testing.T) {
	r, _ := openReviews(t, reviewsConfig{}, nil)
	got, err := r.securityReview()(t.Context(), request(t, set()))
	if err != nil {
		t.Fatal(err)
	}
	// The pull request itself wrote the header of gen.go. old.go's finding is on a line
	// that did not change, which phase validation distinguishes.
	if diff := cmp.Diff([]string{"a.go:6 airlock go/command-injection", "gen.go:6 airlock go/command-injection", "old.go:6 airlock go/command-injection"}, places(got)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if _, err := r.codeReview()(t.Context(), request(t, set())); err != nil {
		t.Fatal(err)
	}
	d := r.details()
	var skipped []string
	for _, s := range d.skipped {
		skipped = append(skipped, s.Path+": "+s.Reason)
	}
	want := []string{"link: it is link", "gen.go: a generated file: the built-in code review leaves it out", "logo.png: a binary file", "vendor/v.go: a vendored file: the built-in security review only looked for secrets"}
	for _, w := range want {
		if n := strings.Count(strings.Join(skipped, "\n"), w); n != 1 {
			t.Errorf("skipped %q; want %q once", skipped, w)
		}
	}
	if rule, ok := d.rules[[2]string{"airlock", "go/command-injection"}]; !ok || len(rule.CWE) == 0 {
		t.Errorf("rule %+v", rule)
	}
	if _, ok := d.rules[[2]string{"airlock", "nothing"}]; ok {
		t.Error("there is a rule nothing")
	}
}

const sarif = `{"version":"2.1.0","runs":[{"tool":{"driver":{"name":"%s","rules":[{"id":"S1","properties":{"tags":["CWE-78"],"precision":"%s"}}]}},"results":[
	{"ruleId":"S1","level":"error","message":{"text":"Shell with ghp_%s"},"locations":[{"physicalLocation":{"artifactLocation":{"uri":"a.go"},"region":{"startLine":6}}}]},
	{"ruleId":"S2","level":"error","message":{"text":"Other"},"locations":[{"physicalLocation":{"artifactLocation":{"uri":"vendor/v.go"},"region":{"startLine":1}}}]}]}]}`

func scanner(name string, check phase.Check) plugin.Config {
	return plugin.Config{Name: name, Args: []string{name, "{files}"}, Format: plugin.SARIF, Check: check, Precision: finding.PrecisionLow}
}

// TestPluginsAndBuiltInMerge asserts that the more precise of two equal findings stays,
// that a plug-in cannot pass for the built-in reviewer, and that secrets in its messages
// are masked.
func TestPluginsAndBuiltInMerge(t *testing.T) {
	secret := strings.Repeat("aB3dE6gH9", 4)
	for precision, kept := range map[string]string{"low": "a.go:6 airlock go/command-injection", "very-high": "a.go:6 scan S1"} {
		r, run := openReviews(t, reviewsConfig{Checks: config.Checks{Plugins: []plugin.Config{scanner("scan", phase.SecurityReview), scanner("lint", "")}}}, func(string, int) (string, int, error) {
			return fmt.Sprintf(sarif, "Airlock", precision, secret), 1, nil
		})
		got, err := r.securityReview()(t.Context(), request(t, set()))
		if err != nil {
			t.Fatal(err)
		}
		want := []string{kept, "gen.go:6 airlock go/command-injection", "old.go:6 airlock go/command-injection", "vendor/v.go:1 scan S2"}
		if diff := cmp.Diff(want, places(got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", precision, diff)
		}
		d := r.details()
		if len(d.duplicates) != 1 || d.duplicates[0].KeptBy.Path != "a.go" {
			t.Errorf("%s: duplicates %+v", precision, d.duplicates)
		}
		if text := fmt.Sprintf("%+v %+v", got, d); strings.Contains(text, secret) || !strings.Contains(text, "Shell with ") {
			t.Errorf("%s: what the plug-in quotes is not masked", precision)
		}
		if s1 := d.rules[[2]string{"scan", "S1"}]; string(s1.Precision) != precision {
			t.Errorf("S1 is %+v", s1)
		}
		if s2 := d.rules[[2]string{"scan", "S2"}]; s2.Precision != finding.PrecisionLow || s2.ID != "S2" {
			t.Errorf("S2 is %+v", s2)
		}
		// The security review does not believe that gen.go is generated; the code review does.
		if _, err := r.codeReview()(t.Context(), request(t, set())); err != nil {
			t.Fatal(err)
		}
		wantArgs := map[string][]string{"scan": {"./a.go", "./gen.go", "./old.go"}, "lint": {"./a.go", "./old.go"}}
		if diff := cmp.Diff(wantArgs, run.args); diff != "" {
			t.Errorf("files (-want +got):\n%s", diff)
		}
	}
}

// TestErrorsOfPlugInsHaveNoSecret asserts that what a plug-in printed is masked before it is cut.
func TestErrorsOfPlugInsHaveNoSecret(t *testing.T) {
	secret := "ghp_" + strings.Repeat("aB3dE6gH9", 4)
	r, _ := openReviews(t, reviewsConfig{Checks: config.Checks{Plugins: []plugin.Config{scanner("scan", phase.SecurityReview)}}}, func(string, int) (string, int, error) {
		return secret + strings.Repeat(" y", 140), 2, nil // of which the last 300 bytes are quoted
	})
	if _, err := r.securityReview()(t.Context(), request(t, set())); err == nil || strings.Contains(err.Error(), secret[30:]) || !strings.Contains(err.Error(), "*** y") {
		t.Error(err)
	}
}

// TestSuggestions asserts that a plug-in's suggestion stays, unless a secret is in it.
func TestSuggestions(t *testing.T) {
	secret := "ghp_" + strings.Repeat("aB3dE6gH9", 4)
	var output strings.Builder
	for i, text := range []string{"package b", "key := \"" + secret + "\""} {
		fmt.Fprintf(&output, `{"message":"m%d","location":{"path":"a.go","range":{"start":{"line":%d}}},"suggestions":[{"range":{"start":{"line":%[2]d},"end":{"line":%[2]d}},"text":%[3]q}]}`+"\n", i, i+1, text)
	}
	r, _ := openReviews(t, reviewsConfig{Checks: config.Checks{SkipCodeReview: true, Plugins: []plugin.Config{{Name: "lint", Command: "lint", Format: plugin.RDJSONL}}}}, func(string, int) (string, int, error) { return output.String(), 1, nil })
	got, err := r.codeReview()(t.Context(), request(t, set()))
	if err != nil || len(got) != 2 || got[0].Suggestion != "package b" || got[1].Suggestion != "" {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestOnePartFails asserts that the findings of the other reviewers count, and that only a
// reviewer that failed runs again, unless its tool is missing.
func TestOnePartFails(t *testing.T) {
	cfg := reviewsConfig{Checks: config.Checks{Plugins: []plugin.Config{scanner("good", phase.SecurityReview), scanner("breaks", phase.SecurityReview), scanner("gone", phase.SecurityReview), scanner("panics", phase.SecurityReview)}}}
	r, run := openReviews(t, cfg, func(program string, n int) (string, int, error) {
		switch {
		case program == "gone":
			return "", -1, command.ErrNotFound
		case program == "panics" && n == 1:
			panic("oh")
		case program == "breaks":
			return "", 2, nil
		}
		return fmt.Sprintf(sarif, program, "low", ""), 0, nil
	})
	req := request(t, set())
	got, err := r.securityReview()(t.Context(), req)
	if err == nil || len(got) != 4 {
		t.Fatalf("%v, %v", places(got), err)
	}
	for _, want := range []string{"breaks ended with exit code 2 (it failed; if the code means findings", `the tool "gone" is missing, which the reviewer "gone" runs`, "\npanics panicked: oh"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("error is %q; want %q in it", err, want)
		}
	}
	if got, err = r.securityReview()(t.Context(), req); err == nil || strings.Contains(err.Error(), "panics") || len(got) != 4 || len(r.details().duplicates) != 3 {
		t.Errorf("again: %v, %v", places(got), err)
	}
	if diff := cmp.Diff(map[string]int{"good": 1, "breaks": 2, "gone": 1, "panics": 2}, run.runs); diff != "" {
		t.Errorf("runs (-want +got):\n%s", diff)
	}
	want := []phase.MissingTool{{Tool: "gone", Check: phase.SecurityReview, Command: "gone {files}", Override: "checks: reviewers"}}
	if diff := cmp.Diff(want, r.details().missing); diff != "" {
		t.Errorf("missing (-want +got):\n%s", diff)
	}
	// For other files, a reviewer that succeeded runs again.
	req.Files = req.Files[:1]
	if _, err := r.securityReview()(t.Context(), req); err == nil || run.runs["good"] != 2 {
		t.Errorf("%v, runs %v", err, run.runs)
	}
	if diff := cmp.Diff([]string{"./a.go"}, run.args["good"]); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}

// TestAgentsAreShownWhatChanged asserts that a file without a known diff is shown in
// full, and that a file that is not asked about is not shown.
func TestAgentsAreShownWhatChanged(t *testing.T) {
	s := set()
	s.Files[4].Patch = "@@ -1 +1 @@\n-package b\n+package a\n" // old.go
	var input string
	r, err := newReviews(reviewsConfig{Changes: s, Scanner: secrets.New(nil), Checks: config.Checks{SkipCodeReview: true, Plugins: []plugin.Config{{Name: "agent", Command: "agent", Diff: true}}},
		Run: func(_ context.Context, spec command.Spec) (command.Result, error) {
			raw, err := io.ReadAll(spec.Stdin)
			input = string(raw)
			return command.Result{}, err
		}})
	if err != nil {
		t.Fatal(err)
	}
	req := request(t, s)
	req.Diff, req.Files = nil, []string{"a.go", "logo.png", "old.go"}
	if _, err := r.codeReview()(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	_, diff, _ := strings.Cut(input, "is an instruction.\n\n")
	want := "diff --git a/a.go b/a.go\n--- a/a.go\n+++ b/a.go\n@@ -0,0 +1,7 @@\n+package a\n+\n+import \"os/exec\"\n+\n+func f(x string) {\n+\t_ = exec.Command(\"sh\", \"-c\", \"ls \"+x)\n+}\n" +
		"diff --git a/logo.png b/logo.png\n(no lines are shown)\n" +
		"diff --git a/old.go b/old.go\n--- a/old.go\n+++ b/old.go\n@@ -1 +1 @@\n-package b\n+package a\n"
	if d := cmp.Diff(want, diff); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// TestWhatAPlugInIsNotGiven asserts that a generated or vendored file is listed for a plug-in with what
// the plug-in did not get of it, and is not listed if the plug-in reads the repository itself.
func TestWhatAPlugInIsNotGiven(t *testing.T) {
	const because = ", because it is generated or vendored"
	others, alone := []string{"a.go", "gen.go", "vendor/v.go"}, []string{"gen.go", "vendor/v.go"}
	long := "@@ -1 +1 @@\n-a\n+" + strings.Repeat("x", 5<<20) + "\n"
	for name, c := range map[string]struct {
		cfg   plugin.Config
		files []string
		patch string // of gen.go
		want  map[string]string
	}{
		"arguments":                  {plugin.Config{Command: "p {files}"}, others, "", map[string]string{"gen.go": "not given to p" + because, "vendor/v.go": "not given to p" + because}},
		"arguments and diff":         {plugin.Config{Command: "p {files}", Diff: true}, others, "", map[string]string{"gen.go": "only its diff was given to p" + because, "vendor/v.go": "only its diff was given to p" + because}},
		"arguments and a long diff":  {plugin.Config{Command: "p {files}", Diff: true}, others, long, map[string]string{"gen.go": "not given to p" + because, "vendor/v.go": "only its diff was given to p" + because}},
		"diff":                       {plugin.Config{Command: "p", Diff: true}, others, "", nil},
		"the entire repository":      {plugin.Config{Command: "p ./..."}, others, "", nil},
		"arguments, none left":       {plugin.Config{Command: "p {files}", Diff: true}, alone, "", map[string]string{"gen.go": "not given to p" + because, "vendor/v.go": "not given to p" + because}},
		"a language, none left":      {plugin.Config{Command: "p ./...", Languages: []string{"go"}}, alone, "", map[string]string{"gen.go": "not given to p" + because, "vendor/v.go": "not given to p" + because}},
		"repository, none left":      {plugin.Config{Command: "p ./..."}, alone, "", nil},
		"another language":           {plugin.Config{Command: "p {files}", Languages: []string{"python"}}, others, "", nil},
		"another directory":          {plugin.Config{Command: "p {files}", Dirs: []string{"vendor"}}, others, "", map[string]string{"vendor/v.go": "not given to p" + because}},
		"a directory twice":          {plugin.Config{Command: "p {files}", Dirs: []string{".", "vendor"}}, others, "", map[string]string{"gen.go": "not given to p" + because, "vendor/v.go": "not given to p" + because}},
		"a directory that is absent": {plugin.Config{Command: "p {files}", Dirs: []string{"none"}}, others, "", nil},
	} {
		s := set()
		s.Files[1].Patch = c.patch
		c.cfg.Name = "p"
		r, _ := openReviews(t, reviewsConfig{Changes: s, Checks: config.Checks{SkipCodeReview: true, Plugins: []plugin.Config{c.cfg}}}, func(string, int) (string, int, error) { return "", 0, nil })
		req := request(t, s)
		req.Files = c.files
		if err := os.Mkdir(filepath.Join(req.Repository, "vendor"), 0o755); err != nil {
			t.Fatal(err)
		}
		if _, err := r.codeReview()(t.Context(), req); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		var want []reviewer.Skipped
		for _, path := range slices.Sorted(maps.Keys(c.want)) {
			want = append(want, reviewer.Skipped{Path: path, Reason: c.want[path]})
		}
		if diff := cmp.Diff(want, r.details().skipped); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestBuiltInReviewsAreSkipped asserts that a review which the owner skips is done by the plug-ins alone,
// and not at all without any.
func TestBuiltInReviewsAreSkipped(t *testing.T) {
	r, _ := openReviews(t, reviewsConfig{Checks: config.Checks{SkipCodeReview: true, SkipSecurityReview: true, Plugins: []plugin.Config{scanner("scan", phase.SecurityReview)}}}, func(string, int) (string, int, error) {
		return fmt.Sprintf(sarif, "scan", "low", ""), 0, nil
	})
	if r.codeReview() != nil {
		t.Error("there is a code review, which no reviewer does")
	}
	got, err := r.securityReview()(t.Context(), request(t, set()))
	if diff := cmp.Diff([]string{"a.go:6 scan S1", "vendor/v.go:1 scan S2"}, places(got)); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
}

// TestFilesWithoutATextAreListed asserts that a changed file which no reviewer can read is listed
// with the reason, and only once, whoever reviews.
func TestFilesWithoutATextAreListed(t *testing.T) {
	marks := map[changes.Mark]string{
		changes.MarkDeleted: "it is deleted", changes.MarkSubmodule: "it is a submodule", changes.MarkLink: "it is a link", changes.MarkNotFile: "it is a directory",
		changes.MarkLFSPointer: "Git LFS keeps its content elsewhere", changes.MarkTooLarge: "it is larger than 1 MiB", changes.MarkUnread: "it could not be read", changes.MarkBinary: "it contains NUL bytes",
	}
	want := map[string]string{}
	s := set()
	s.Files = s.Files[:1]
	for mark, why := range marks {
		s.Files = append(s.Files, changes.File{ChangedFile: changes.ChangedFile{Path: string(mark)}, Marks: []changes.Marked{{Mark: mark, Why: why}}})
		want[string(mark)] = why
	}
	want[string(changes.MarkBinary)] = "a binary file"
	plugIns := map[string][]plugin.Config{"none": nil, "code": {scanner("lint", "")}, "security": {scanner("scan", phase.SecurityReview), scanner("scan2", phase.SecurityReview)}, "agent": {{Name: "agent", Command: "agent", Diff: true}}}
	for name, list := range plugIns {
		for _, skip := range []string{"", "code", "security", "code and security"} {
			cfg := config.Checks{SkipCodeReview: strings.Contains(skip, "code"), SkipSecurityReview: strings.Contains(skip, "security"), Plugins: list}
			r, _ := openReviews(t, reviewsConfig{Changes: s, Checks: cfg}, func(program string, _ int) (string, int, error) {
				if program == "agent" {
					return "", 0, nil
				}
				return fmt.Sprintf(sarif, program, "low", ""), 0, nil
			})
			reviews := 0
			for _, review := range []phase.Reviewer{r.codeReview(), r.securityReview()} {
				if review != nil {
					reviews++
					if _, err := review(t.Context(), request(t, s)); err != nil {
						t.Fatal(err)
					}
				}
			}
			if reviews == 0 {
				continue
			}
			got := map[string]string{}
			for _, f := range r.details().skipped {
				if _, twice := got[f.Path]; twice {
					t.Errorf("plug-ins: %s, skipped: %s: %s is there twice", name, skip, f.Path)
				}
				got[f.Path] = f.Reason
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("plug-ins: %s, skipped: %s (-want +got):\n%s", name, skip, diff)
			}
		}
	}
}

// TestCodeReviewAlone asserts that the built-in code review lists the files that it leaves out to
// the built-in security review if the owner skips that one. It asserts that it lists them as left
// out by itself alone: a plug-in may read them.
func TestCodeReviewAlone(t *testing.T) {
	want := []reviewer.Skipped{
		{Path: "gen.go", Reason: "a generated or vendored file: the built-in code review leaves it out"}, {Path: "link", Reason: "it is link"}, {Path: "logo.png", Reason: "a binary file"},
		{Path: "vendor/v.go", Reason: "a generated or vendored file: the built-in code review leaves it out"},
	}
	for name, plugIns := range map[string][]plugin.Config{
		"alone": nil,
		"next to a plug-in for the entire repository":          {{Name: "p", Command: "p ./..."}},
		"next to a security plug-in of another language":       {{Name: "p", Check: phase.SecurityReview, Command: "p {files}", Languages: []string{"python"}}},
		"next to a security plug-in of another directory":      {{Name: "p", Check: phase.SecurityReview, Command: "p {files}", Dirs: []string{"none"}}},
		"next to a security plug-in for the entire repository": {{Name: "p", Check: phase.SecurityReview, Command: "p ./..."}},
	} {
		r, _ := openReviews(t, reviewsConfig{Checks: config.Checks{SkipSecurityReview: true, Plugins: plugIns}}, func(string, int) (string, int, error) { return "", 0, nil })
		reviews := []phase.Reviewer{r.codeReview()}
		if slices.ContainsFunc(plugIns, func(c plugin.Config) bool { return c.Check == phase.SecurityReview }) {
			reviews = append(reviews, r.securityReview())
		} else if r.securityReview() != nil {
			t.Error("there is a security review, which no reviewer does")
		}
		for _, review := range reviews {
			if _, err := review(t.Context(), request(t, set())); err != nil {
				t.Fatal(err)
			}
		}
		if diff := cmp.Diff(want, r.details().skipped); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestNewRefuses(t *testing.T) {
	for name, cfg := range map[string]reviewsConfig{
		"nothing":                                {},
		"no runner":                              {Changes: set(), Scanner: secrets.New(nil), Checks: config.Checks{Plugins: []plugin.Config{scanner("s", "")}}},
		"an unknown rule of the code review":     {Changes: set(), Scanner: secrets.New(nil), Checks: config.Checks{CodeReview: reviewer.Config{Off: []string{"nothing"}}}},
		"an unknown rule of the security review": {Changes: set(), Scanner: secrets.New(nil), Checks: config.Checks{SecurityReview: reviewer.Config{On: []string{"nothing"}}}},
	} {
		if _, err := newReviews(cfg); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
}

func TestCancelled(t *testing.T) {
	r, _ := openReviews(t, reviewsConfig{Checks: config.Checks{Plugins: []plugin.Config{scanner("scan", "")}}}, func(string, int) (string, int, error) { return "", 0, nil })
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if got, err := r.codeReview()(ctx, request(t, set())); !errors.Is(err, context.Canceled) || got != nil {
		t.Errorf("%v, %v", got, err)
	}
}
