package checkreport_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agent-airlock/airlock/internal/checkreport"
	"github.com/agent-airlock/airlock/internal/finding"
	"github.com/agent-airlock/airlock/internal/phase"
	"github.com/agent-airlock/airlock/internal/safeoutput"
	"github.com/agent-airlock/airlock/internal/sanitize"
	"github.com/agent-airlock/airlock/internal/sarif"
	"github.com/agent-airlock/airlock/internal/toolreport"
	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files")

// safeText returns the SafeText of the command line, without secrets.
func safeText(t *testing.T) checkreport.SafeText {
	t.Helper()
	s, err := sanitize.New(sanitize.Config{})
	if err != nil {
		t.Fatal(err)
	}
	return checkreport.SafeText{
		Line: func(text string) string {
			out, _ := s.Plain(text)
			return strings.Join(strings.Fields(out), " ")
		},
		Code: func(text string) string {
			out, _ := s.Characters(text)
			return out
		},
	}
}

// failing returns a validation that fails, with something for each part of a report.
func failing() checkreport.Input {
	lint := finding.Finding{Check: "linter", Tool: "vet", Rule: "printf", Severity: finding.Medium, Message: "fmt.Printf format %d has arg \"x\" of wrong type", Path: "api/a.go",
		Range: finding.Range{StartLine: 6, StartColumn: 13}}
	hostile := finding.Finding{Check: "security_review", Tool: "airlock", Rule: "go-sql", Severity: finding.Critical,
		Message: "db.Query gets SQL <img src=x> @octocat\x1b[31m", Path: "api/b.go", Range: finding.Range{StartLine: 3, EndLine: 4}}
	old := finding.Finding{Check: "code_review", Tool: "airlock", Rule: "todo", Severity: finding.Low, Message: "TODO without an issue", Path: "api/a.go", Range: finding.Range{StartLine: 90}}
	format := finding.Finding{Check: "formatter", Tool: "gofmt", Severity: finding.Low, Message: "These lines are not formatted.", Path: "api/a.go",
		Range: finding.Range{StartLine: 2, EndLine: 3}, Suggestion: "\tx := 1 // ```\n\treturn x"}
	root := phase.RootResult{Dir: "api", Language: phase.Go, Checks: []phase.CheckResult{
		{Check: phase.Formatter, Status: phase.Fail, Command: "gofmt -l .", Retries: 3, Rewritten: []string{"b.go"}, Duration: 210 * time.Millisecond, ExitCode: 1,
			Problems: []string{"File a.go still has formatting issues after 3 retries"}, Blocking: []finding.Finding{format}},
		{Check: phase.Linter, Status: phase.Fail, Command: "go vet ./...", Duration: 2 * time.Second, ExitCode: 1, Problems: []string{"a | b at api/a.go:6"}, Blocking: []finding.Finding{lint}, Excerpt: "a.go:6:13: bad\n```\n@octocat"},
		{Check: phase.Build, Status: phase.Skipped, Notes: []string{"skip_build is set"}},
		{Check: phase.Tests, Status: phase.Fail, Command: "go test ./...", Retries: 1, Duration: 65 * time.Second, ExitCode: 1, Failing: 2, Problems: []string{"'go test ./...' ended with exit code 1"},
			Failures: []toolreport.Failure{{Name: "TestA", Unit: "m", Path: "api/a_test.go", Line: 9, Message: "a_test.go:9: got 1, want 2\nmore"}, {Name: "TestB", Unit: "m"}}},
	}}
	r := phase.Result{Roots: []phase.RootResult{root}, Missing: []phase.MissingTool{{Tool: "golangci-lint", Check: phase.Linter, Command: "golangci-lint run", Override: "lint_command"}}}
	r.Reviews = []phase.CheckResult{
		{Check: phase.CodeReview, Status: phase.Pass, Severity: finding.None, Old: []finding.Finding{old}, Duration: 30 * time.Millisecond},
		{Check: phase.SecurityReview, Status: phase.Fail, Severity: finding.Critical, Blocking: []finding.Finding{hostile}, Problems: []string{"db.Query gets SQL at api/b.go:3"}, Duration: 40 * time.Millisecond},
	}
	r.Output = phase.Output{Status: phase.Fail, Time: 68_000, TotalRetries: 4, Critical: true, Checks: phase.Checks{
		Formatter:      phase.StyleCheck{Status: phase.Fail, Issues: root.Checks[0].Problems, Retries: 3, Command: "(cd 'api' && gofmt -l .)", Time: 210},
		Linter:         phase.StyleCheck{Status: phase.Fail, Issues: root.Checks[1].Problems, Command: "(cd 'api' && go vet ./...)", Time: 2000},
		Build:          phase.BuildCheck{Status: phase.Skipped},
		Tests:          phase.TestsCheck{Status: phase.Fail, Failing: 2, Retries: 1, Command: "(cd 'api' && go test ./...)", Time: 65_000},
		CodeReview:     phase.CodeReviewCheck{Status: phase.Pass, Severity: finding.None, Time: 30},
		SecurityReview: phase.SecurityReviewCheck{Status: phase.Fail, Vulnerabilities: r.Reviews[1].Problems, Severity: finding.Critical, Time: 40},
	}}
	return checkreport.Input{
		Result: r, Repository: "octo/app", Number: 7, Head: strings.Repeat("ab", 20),
		Rules: func(tool, rule string) (finding.Rule, bool) {
			return finding.Rule{ID: rule, Name: "SQL built from variables", Short: "Whoever controls a variable controls the statement.", Help: "Whoever controls a variable controls the statement.\n\nPass the value as a *parameter*.", CWE: []int{89}, Severity: finding.High, Precision: finding.PrecisionHigh}, rule == "go-sql"
		},
		NewSuppressions: []checkreport.NewSuppression{
			{Tool: "golangci-lint", Path: ".golangci.yml", Line: 5, Text: "- errcheck", Scope: "project"}, {Tool: "ESLint", Path: "web/a.js", Line: 1, Text: "eslint-disable", Scope: "file"},
			{Tool: "gosec", Path: "api/a.go", Line: 3, Text: "nosec <img src=x> @octocat", Scope: "line"}, {Tool: "gosec", Path: "api/a.go", Line: 4, Text: "nosec", Scope: "line"},
			{Tool: "ESLint", Path: ".eslintrc.json", Text: "the file, with 9 settings", Scope: "project", TakesOut: true}, {Tool: "the test runner", Path: "api/a_test.go", Line: 5, Text: "2 tests: TestC, TestD <img src=x> @octocat", Scope: "file", TakesOut: true},
		},
		Suppressed: []checkreport.Suppressed{{Rule: "go-tls", Path: "api/c.go", Line: 8, Message: "TLS is off", Reason: "a test server"}},
		Skipped:    []checkreport.Skipped{{Path: "logo.png", Reason: "it is binary"}, {Path: "index.php", Reason: "there are no rules for PHP: the built-in security review only looked for secrets", Language: "PHP"}, {Path: "A.cs", Reason: "there are no rules for C#", Language: "C#"}},
		Notes:      []string{"What changed is compared with main."},
	}
}

func passing() checkreport.Input {
	in := failing()
	ok := phase.StyleCheck{Status: phase.Pass, Command: "gofmt -l .", Time: 10}
	in.Result = phase.Result{Output: phase.Output{Status: phase.Pass, Time: 40, Checks: phase.Checks{Formatter: ok, Linter: ok, Build: phase.BuildCheck{Status: phase.Pass}, Tests: phase.TestsCheck{Status: phase.Pass},
		CodeReview: phase.CodeReviewCheck{Status: phase.Pass, Severity: finding.None}, SecurityReview: phase.SecurityReviewCheck{Status: phase.Pass, Severity: finding.None}}}}
	in.Suppressed, in.Skipped, in.Notes = nil, nil, nil
	return in
}

func TestHeadlineOfChecksThatOnlyInform(t *testing.T) {
	t.Parallel()
	for _, want := range []string{"the checks passed, except for linter, which only informs", "the checks passed, except for linter, code review, which only inform"} {
		in := passing()
		in.Result.Roots = []phase.RootResult{{Dir: ".", Checks: []phase.CheckResult{{Check: phase.Linter, Status: phase.Fail}}}}
		in.Informational = []phase.Check{phase.Linter, phase.CodeReview}
		out := &in.Result.Output.Checks
		out.Linter.Status = phase.Fail
		if strings.Contains(want, "code review") {
			in.Result.Reviews = []phase.CheckResult{{Check: phase.CodeReview, Status: phase.Fail}}
			out.CodeReview.Status = phase.Fail
		}
		if got := checkreport.New(in).Headline(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestHeadlineNamesUnknownLanguages asserts that the headline of checks which passed counts the files
// whose language none of them knows, and names at most four of these languages.
func TestHeadlineNamesUnknownLanguages(t *testing.T) {
	for _, c := range []struct {
		languages []string
		want      string
	}{
		{[]string{""}, "all 6 checks passed"},
		{[]string{"PHP"}, "all 6 checks passed; none knows the language of 1 changed file (PHP)"},
		{[]string{"PHP", "C#", "PHP", ""}, "all 6 checks passed; none knows the language of 3 changed files (C#, PHP)"},
		{[]string{"[x](https://x) @octocat", "#1"}, "all 6 checks passed; none knows the language of 2 changed files (another)"},
		{[]string{"A", "B", "C", "D", "E"}, "all 6 checks passed; none knows the language of 5 changed files (A, B, C, D, and others)"},
	} {
		in := passing()
		for _, l := range c.languages {
			in.Skipped = append(in.Skipped, checkreport.Skipped{Path: "a", Reason: "b", Language: l})
		}
		if got := checkreport.New(in).Headline(); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}

func TestWhatPeopleSee(t *testing.T) {
	t.Parallel()
	for name, in := range map[string]checkreport.Input{"failing": failing(), "passing": passing()} {
		d := checkreport.New(in)
		golden(t, name+".summary.md", d.Summary(safeText(t), 1<<20))
		var text, doc bytes.Buffer
		if err := errors.Join(d.Text(&text, safeText(t), false), d.Write(&doc)); err != nil {
			t.Fatal(err)
		}
		golden(t, name+".txt", text.String())
		golden(t, name+".json", doc.String())
	}
}

// TestADocumentSurvivesItsFile asserts that one job can read the document that another job has
// written, and reports the same.
func TestADocumentSurvivesItsFile(t *testing.T) {
	t.Parallel()
	d := checkreport.New(failing())
	var file bytes.Buffer
	if err := d.Write(&file); err != nil {
		t.Fatal(err)
	}
	read, err := checkreport.Read(&file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(d.Summary(safeText(t), 1<<20), read.Summary(safeText(t), 1<<20)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(d, read); diff != "" {
		t.Error(diff)
	}
}

func TestASummaryFits(t *testing.T) {
	t.Parallel()
	in := failing()
	for range 500 {
		in.Result.Output.Checks.Linter.Issues = append(in.Result.Output.Checks.Linter.Issues, strings.Repeat("bad ", 200))
	}
	d := checkreport.New(in)
	if s := d.Summary(safeText(t), 6000); len(s) > 6000 || !strings.Contains(s, "The rest was cut") {
		t.Errorf("%d bytes\n%s", len(s), s)
	}
	if s := d.Summary(safeText(t), 1<<20); !strings.Contains(s, "… and 498 more<") && !strings.Contains(s, "… and 498 more |") || !strings.Contains(s, "… and 471 more, in the findings document") {
		t.Error("the summary does not show how much it leaves out:\n" + s[:3000])
	}
}

// TestADirectoryInTheTitleOfAFold asserts that the title of a fold, which is HTML, shows a directory
// as it is named.
func TestADirectoryInTheTitleOfAFold(t *testing.T) {
	t.Parallel()
	in := failing()
	in.Result.Roots[0].Dir = "apps/[id]/_x_&<b>"
	if s := checkreport.New(in).Summary(safeText(t), 1<<20); !strings.Contains(s, "<summary>Output in apps/[id]/_x_&amp;&lt;b&gt;</summary>") {
		t.Errorf("%s", s)
	}
}

// TestACommentThatIsCutLinksTheRest asserts that the comment, of which anything may be cut, still has
// the link to the job summary, where the rest is.
func TestACommentThatIsCutLinksTheRest(t *testing.T) {
	t.Parallel()
	in, wanted := failing(), linked(t)
	for i := range 200 {
		in.Result.Missing = append(in.Result.Missing, phase.MissingTool{Tool: fmt.Sprint("tool-", i, strings.Repeat("x", 300)), Check: phase.Linter, Command: "c", Override: "lint_command"})
	}
	body := passFirstDoor(t, checkreport.New(in), wanted)[safeoutput.KindStickyComment][0].Item().(*safeoutput.StickyComment).Body
	if i := strings.Index(body, "The rest was cut"); i < 0 || !strings.Contains(body[i:], "[The job summary]("+wanted.SummaryURL+")") {
		t.Errorf("the comment ends with %s", body[max(0, len(body)-400):])
	}
}

func TestSARIFContainsOnlyTheSecurityReview(t *testing.T) {
	t.Parallel()
	raw, err := checkreport.New(failing()).SARIF("v1.2.3")
	if err != nil {
		t.Fatal(err)
	}
	if v, err := sarif.Validate(raw); err != nil || len(v) > 0 {
		t.Errorf("%v %v", v, err)
	}
	var log struct {
		Runs []struct {
			Results []struct{ RuleID string }
			Tool    struct {
				Driver struct{ Rules []struct{ ID string } }
			}
		}
	}
	if err := json.Unmarshal(raw, &log); err != nil || len(log.Runs[0].Results) != 1 || log.Runs[0].Results[0].RuleID != "go-sql" || log.Runs[0].Tool.Driver.Rules[0].ID != "go-sql" {
		t.Errorf("%v\n%s", err, raw)
	}
}

// TestSARIFSaysWhatIsWrong asserts that the short description of a rule of ours, under which code
// scanning lists its alerts, says what is wrong, and not what to do.
func TestSARIFSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	in := failing()
	in.Rules = func(_, rule string) (finding.Rule, bool) {
		return finding.Rule{ID: rule, Name: "SQL that is built from text", Short: "Use placeholders.", Help: "Why."}, true
	}
	raw, err := checkreport.New(in).SARIF("v1.2.3")
	want := `"shortDescription":{"text":"SQL that is built from text"},"fullDescription":{"text":"Use placeholders."}`
	if err != nil || !strings.Contains(string(raw), want) {
		t.Errorf("%v\n%s", err, raw)
	}
}

func TestSecretsAndPlaces(t *testing.T) {
	t.Parallel()
	in := failing()
	in.Result.Roots[0].Checks[0].Blocking[0].Suggestion = "\tkey := \"hunter2\""
	in.Result.Roots[0].Checks[1].Excerpt = "the key is hunter2"
	in.Result.Roots[0].Checks[1].Blocking[0].Rule = "hunter2"
	in.Result.Roots[0].Checks[3].Failures[1].Unit = "with[hunter2]"
	tags := []string{"hunter2"}
	in.Rules = func(_, rule string) (finding.Rule, bool) {
		return finding.Rule{ID: rule, Help: "not hunter2", HelpURI: "https://example.com/?key=hunter2", Tags: tags}, true
	}
	in.Mask = func(s string) string { return strings.ReplaceAll(s, "hunter2", "***") }
	in.Place = func(path string, start, end int) (int, int, bool) { return start + 10, end + 10, path != "api/b.go" }
	d := checkreport.New(in)
	for _, f := range d.Findings {
		want := map[string][2]int{"gofmt": {12, 13}, "vet": {16, 0}, "tests": {19, 0}}[f.Tool]
		if f.Path == "api/a.go" && f.Blocking && [2]int{f.StartLine, f.EndLine} != want {
			t.Errorf("%s is at %d-%d, want %v", f.Tool, f.StartLine, f.EndLine, want)
		}
		if f.Path == "api/b.go" && f.StartLine != 0 {
			t.Error("a finding whose line is not at the head keeps it")
		}
		if f.Suggestion != "" {
			t.Error("a suggestion with a secret is kept, masked or not")
		}
	}
	var out bytes.Buffer
	if err := d.Write(&out); err != nil || strings.Contains(out.String(), "hunter2") {
		t.Errorf("%v: the secret is in the document:\n%s", err, out.String())
	}
	if in.Result.Roots[0].Checks[1].Excerpt != "the key is hunter2" || tags[0] != "hunter2" {
		t.Error("the result itself was changed")
	}
}

func TestAnnotations(t *testing.T) {
	t.Parallel()
	got := checkreport.New(failing()).Annotations(safeText(t))
	var places []string
	for _, a := range got {
		places = append(places, string(a.Severity)+" "+a.Path+" "+a.Title)
	}
	want := []string{"critical api/b.go security review: go-sql", "high api/a_test.go tests", "medium api/a.go linter: printf", "low api/a.go formatter"}
	if diff := cmp.Diff(want, places); diff != "" {
		t.Error(diff)
	}
	in := failing()
	in.Result.Roots[0].Checks[1].Blocking = nil
	if got := checkreport.New(in).Annotations(safeText(t)); got[len(got)-1].Title != "linter failed" || got[len(got)-1].Path != "" {
		t.Errorf("a check without a place is not reported: %+v", got)
	}
}

func TestOutputForPeople(t *testing.T) {
	t.Parallel()
	in := failing()
	in.Result.Roots[0].Checks[1].Excerpt = `[{"filePath":"a.js"}]`
	in.Result.Roots[0].Checks[3].Excerpt = `{"Action":"fail"}`
	got := checkreport.New(in).Outputs(safeText(t))
	if len(got) != 1 || got[0].Text != "--- m TestA\ngot 1, want 2\nmore" || got[0].Title != "api: tests: output of go test ./..." {
		t.Errorf("%q", got)
	}
}

// TestOutputForPeopleLeavesOutRecords asserts that JSON in an output is left out, and the lines
// before and after it are shown.
func TestOutputForPeopleLeavesOutRecords(t *testing.T) {
	t.Parallel()
	in := failing()
	in.Result.Roots[0].Checks[1].Excerpt = "npm warn exec eslint will be installed\n[{\"filePath\":\"a.js\",\"messages\":[]}]\n[build] done"
	if got := checkreport.New(in).Outputs(safeText(t)); len(got) == 0 || got[0].Text != "npm warn exec eslint will be installed\n[build] done" {
		t.Errorf("%q", got)
	}
}

// TestWhatTheOutputDoesNotNameIsCounted asserts that a list of problems that is cut ends with the
// number of those left out, and that this line does not count as a problem.
func TestWhatTheOutputDoesNotNameIsCounted(t *testing.T) {
	t.Parallel()
	in := failing()
	in.Result.Output.Checks.Linter.Issues = append(slices.Repeat([]string{"unused at a.go:1"}, 200), "and 9800 more")
	d := checkreport.New(in)
	var text bytes.Buffer
	if err := d.Text(&text, safeText(t), false); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"10000 problems", "… and 9970 more, in the findings document"} {
		for name, page := range map[string]string{"text": text.String(), "summary": d.Summary(safeText(t), 1<<20)} {
			if !strings.Contains(page, want) || strings.Contains(page, "and 9800 more") {
				t.Errorf("%s: no %q\n%s", name, want, page)
			}
		}
	}
	if s := d.Summary(safeText(t), 1<<20); !strings.Contains(s, "… and 9997 more") && !strings.Contains(s, "… and 9998 more") {
		t.Error(s)
	}
}

// TestWhatACommandRewroteIsNoted asserts that a note names the files that a command has rewritten,
// unless the check failed because of these files and reports them.
func TestWhatACommandRewroteIsNoted(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		status  phase.Status
		retries int
		want    string
	}{
		{phase.Pass, 0, "note: api: the command has changed b.go"}, {phase.Pass, 1, "note: api: the fix has changed b.go"}, {phase.Fail, 0, ""},
	} {
		in := failing()
		check := &in.Result.Roots[0].Checks[0]
		check.Status, check.Retries = c.status, c.retries
		var text bytes.Buffer
		if err := checkreport.New(in).Text(&text, safeText(t), false); err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(text.String(), "has changed b.go"); got != (c.want != "") || !strings.Contains(text.String(), c.want) {
			t.Errorf("%s after %d retries:\n%s", c.status, c.retries, text.String())
		}
	}
}

// TestATimeLimitIsNamedNextToFailingTests asserts that a command that was ended at its time limit
// says so, because the tests that failed before that do not explain it.
func TestATimeLimitIsNamedNextToFailingTests(t *testing.T) {
	t.Parallel()
	const ended = "'go test ./...' ended with exit code 1" // is listed as a problem only if the command timed out
	for _, timedOut := range []bool{false, true} {
		in := failing()
		in.Result.Roots[0].Checks[3].TimedOut = timedOut
		var text bytes.Buffer
		if err := checkreport.New(in).Text(&text, safeText(t), false); err != nil {
			t.Fatal(err)
		}
		if got := text.String(); !strings.Contains(got, "TestA at api/a_test.go:9") || strings.Contains(got, ended) != timedOut {
			t.Errorf("timed out: %t\n%s", timedOut, got)
		}
	}
}

// TestPathsAreMaskedBeforeTheCut asserts that no part of a secret in a path is shown. The document
// has to keep paths.
func TestPathsAreMaskedBeforeTheCut(t *testing.T) {
	t.Parallel()
	mask := func(s string) string { return strings.ReplaceAll(s, "hunter2", "***") }
	safe := checkreport.SafeText{Line: mask, Code: mask}
	for _, limit := range []int{200, 500, 1000} {
		for before := limit - 8; before <= limit; before++ {
			path := strings.Repeat("x", before) + "hunter2" + strings.Repeat("y", 1000)
			in := failing()
			for i := range in.NewSuppressions {
				in.NewSuppressions[i].Path = path
			}
			for i := range in.Skipped {
				in.Skipped[i].Path = path
			}
			in.Result.Reviews[1].Blocking[0].Path = path
			in.Result.Roots[0].Checks[0].Blocking[0].Path = path
			d := checkreport.New(in)
			var terminal bytes.Buffer
			if err := d.Text(&terminal, safe, false); err != nil {
				t.Fatal(err)
			}
			page, err := json.Marshal(d.PlanChecks(safe))
			if err != nil {
				t.Fatal(err)
			}
			given := linked(t)
			given.SafeText = safe
			comment := deliver(t, d.Deliver(given), noAlerts, nil)[safeoutput.KindStickyComment][0].Item().(*safeoutput.StickyComment).Body
			comment = strings.ReplaceAll(comment, "#"+path, "#") // the path is in the addresses that the function deliver gives
			for where, s := range map[string]string{"summary": d.Summary(safe, 1<<20), "terminal": terminal.String(), "page": string(page), "comment": comment} {
				if strings.Contains(s, "xh") || !strings.Contains(s, "xxx") {
					t.Errorf("%s, with a secret at %d and a cut at %d: %.80q", where, before, limit, s[max(strings.Index(s, "xh")-limit-40, 0):])
				}
			}
		}
	}
}
