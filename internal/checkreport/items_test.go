package checkreport_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/checkreport"
	"github.com/agent-airlock/airlock/internal/finding"
	"github.com/agent-airlock/airlock/internal/intake"
	"github.com/agent-airlock/airlock/internal/markdown"
	"github.com/agent-airlock/airlock/internal/phase"
	"github.com/agent-airlock/airlock/internal/safeoutput"
	"github.com/agent-airlock/airlock/internal/toolreport"
	"github.com/google/go-cmp/cmp"
)

// allItems selects all items.
func allItems(t *testing.T) checkreport.ItemsInput {
	return checkreport.ItemsInput{SafeText: safeText(t), Head: strings.Repeat("ab", 20), Version: "v1", OnPull: true, Comment: true, CheckRun: true, SecurityReport: true, ReviewComments: 20}
}

// refusedKinds has the kinds of items that GitHub does not take.
type refusedKinds map[safeoutput.Kind]bool

// noAlerts is what is refused in a repository without code scanning.
var noAlerts = refusedKinds{safeoutput.KindCreateSecurityReport: true}

// passFirstDoor calls deliver for a document and a GitHub that takes all items but security
// reports.
func passFirstDoor(t *testing.T, d *checkreport.Document, in checkreport.ItemsInput) map[safeoutput.Kind][]intake.Accepted {
	t.Helper()
	return deliver(t, d.Deliver(in), noAlerts, nil)
}

// deliver passes a delivery's items to intake.Own, and gives the delivery an outcome for each: it
// is shown unless its kind is refused, and the address of a review comment names its place. It
// returns what Own accepted, by kind.
func deliver(t *testing.T, delivery *checkreport.Delivery, refused refusedKinds, inDiff checkreport.InDiff) map[safeoutput.Kind][]intake.Accepted {
	t.Helper()
	by := map[safeoutput.Kind][]intake.Accepted{}
	var outcomes []checkreport.Outcome
	for {
		items, err := delivery.Next(outcomes, inDiff)
		if err != nil {
			t.Fatal(err)
		}
		if len(items) == 0 {
			return by
		}
		accepted, rejected, err := intake.Own(items, intake.Config{})
		if err != nil || len(rejected) > 0 {
			t.Fatalf("%v %+v", err, rejected)
		}
		outcomes = nil
		for _, a := range accepted {
			kind := a.Item().Kind()
			by[kind] = append(by[kind], a)
			o := checkreport.Outcome{Kind: kind, Name: a.Stable(), Shown: !refused[kind], URL: "https://github.com/octo/app/" + string(kind)}
			if c, ok := a.Item().(*safeoutput.CreateReviewComment); ok {
				o.URL = fmt.Sprintf("https://github.com/octo/app/pull/7#%s-%d", c.Path, c.Line)
			}
			outcomes = append(outcomes, o)
		}
	}
}

func TestItems(t *testing.T) {
	t.Parallel()
	got := passFirstDoor(t, checkreport.New(failing()), allItems(t))
	comments := got[safeoutput.KindCreateReviewComment]
	var places []string
	for _, a := range comments {
		c := a.Item().(*safeoutput.CreateReviewComment)
		places = append(places, c.Path)
		if c.Side != "RIGHT" || !strings.Contains(a.Stable(), "/") {
			t.Errorf("%+v under the name %q", c, a.Stable())
		}
	}
	if diff := cmp.Diff([]string{"api/b.go", "api/a_test.go", "api/a.go", "api/a.go"}, places); diff != "" {
		t.Error("the most severe come first:\n" + diff)
	}
	first := comments[0].Item().(*safeoutput.CreateReviewComment)
	if first.StartLine != 3 || first.Line != 4 || strings.Contains(first.Body, "@octocat") || !strings.Contains(first.Body, `\<img`) || strings.Contains(first.Body, "\x1b") || !strings.Contains(first.Body, "*parameter*") {
		t.Errorf("%+v", first)
	}
	if n := strings.Count(first.Body, "Whoever controls a variable controls the statement."); n != 1 {
		t.Errorf("the rule is described %d times:\n%s", n, first.Body)
	}
	last := comments[3].Item().(*safeoutput.CreateReviewComment)
	if want := "````suggestion\n\tx := 1 // ```\n\treturn x\n````\n"; !strings.Contains(last.Body, want) {
		t.Errorf("the suggestion is not byte for byte what the formatter wrote:\n%s", last.Body)
	}
	run := got[safeoutput.KindCheckRun][0].Item().(*safeoutput.CheckRun)
	if run.Conclusion != "failure" || len(run.Annotations) != 0 || run.HeadSHA != strings.Repeat("ab", 20) {
		t.Errorf("%+v", run)
	}
	in := allItems(t)
	in.ReviewComments = 0
	run = passFirstDoor(t, checkreport.New(failing()), in)[safeoutput.KindCheckRun][0].Item().(*safeoutput.CheckRun)
	if len(run.Annotations) != 4 || run.Annotations[0].Level != "failure" || run.Annotations[3].Level != "notice" {
		t.Errorf("what has no comment is annotated: %+v", run.Annotations)
	}
	if diff := cmp.Diff([]string{"formatter", "tests", "code_review", "security_review"}, hidden(t, got)); diff != "" {
		t.Errorf("the linter's tool is missing, and nothing was built:\n%s", diff)
	}
	if c := got[safeoutput.KindStickyComment][0].Item().(*safeoutput.StickyComment); c.OnlyUpdate || !strings.Contains(c.Body, "4 of 6 checks failed") {
		t.Errorf("%+v", c)
	}
	if len(got[safeoutput.KindCreateSecurityReport]) != 1 || len(got[safeoutput.KindMissingTool]) != 1 {
		t.Errorf("%v", got)
	}
}

// hidden returns the checks whose comments are hidden unless they are kept.
func hidden(t *testing.T, got map[safeoutput.Kind][]intake.Accepted) []string {
	t.Helper()
	if n := len(got[safeoutput.KindMinimiseComments]); n != 1 {
		t.Fatalf("%d items that hide comments", n)
	}
	m := got[safeoutput.KindMinimiseComments][0].Item().(*safeoutput.MinimiseComments)
	if len(m.Keep) < 2 {
		t.Errorf("%q: every finding keeps its comment, also one on a line that did not change", m.Keep)
	}
	return m.Scopes
}

// TestChecksThatDidNotEndHideNothing asserts that no comment is hidden of a check that was
// cut short, or that failed without saying where.
func TestChecksThatDidNotEndHideNothing(t *testing.T) {
	t.Parallel()
	in := failing()
	in.Result.Missing = nil
	checks := in.Result.Roots[0].Checks
	checks[0].TimedOut = true                         // formatter
	checks[1].Blocking, checks[3].Failures = nil, nil // linter and tests fail without a word
	if diff := cmp.Diff([]string{"code_review", "security_review"}, hidden(t, passFirstDoor(t, checkreport.New(in), allItems(t)))); diff != "" {
		t.Error(diff)
	}
}

// TestJobsHaveTheirOwnCheckRun asserts that no job's success hides another's failure.
func TestJobsHaveTheirOwnCheckRun(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		job  string
		leg  int
		want string
	}{
		{"", 0, "Airlock checks"}, {"", 1, "Airlock checks (2)"}, {"report", 0, "Airlock checks (report)"}, {"report-web", 0, "Airlock checks (report-web)"}, {"report", 2, "Airlock checks (report, 3)"},
		{"api / gate", 0, "Airlock checks (api / gate)"}, {"web / gate", 0, "Airlock checks (web / gate)"},
		{strings.Repeat("a", 100) + "b", 0, "Airlock checks (" + strings.Repeat("a", 100) + "… d89d25f6)"},
		{strings.Repeat("a", 100) + "c", 0, "Airlock checks (" + strings.Repeat("a", 100) + "… 46f3eb12)"},
	} {
		in := allItems(t)
		in.Job, in.Leg = c.job, c.leg
		if run := passFirstDoor(t, checkreport.New(passing()), in)[safeoutput.KindCheckRun][0].Item().(*safeoutput.CheckRun); run.Name != c.want {
			t.Errorf("job %q, leg %d: %q", c.job, c.leg, run.Name)
		}
	}
}

// TestJobsHaveTheirOwnCategory asserts that no job's upload replaces another's.
func TestJobsHaveTheirOwnCategory(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, c := range []struct {
		job  string
		leg  int
		want string
	}{
		{"", 0, ""}, {"report", 0, "/report"}, {"report", 1, "/report/2"}, {"api / report", 0, "/api---report-"}, {"api---report", 0, "/api---report"}, {"web / report", 0, "/web---report-"},
		{strings.Repeat("a", 150), 0, "/aaaa"}, {strings.Repeat("a", 151), 0, "/aaaa"},
	} {
		in := allItems(t)
		in.Job, in.Leg = c.job, c.leg
		got := passFirstDoor(t, checkreport.New(failing()), in)[safeoutput.KindCreateSecurityReport][0].Item().(*safeoutput.CreateSecurityReport)
		if !strings.HasPrefix(got.Category, "airlock/security-review"+c.want) || seen[got.Category] || !strings.Contains(string(got.SARIF), got.Category) {
			t.Errorf("job %q, leg %d: %q", c.job, c.leg, got.Category)
		}
		seen[got.Category] = true
	}
}

func TestWhereAllIsWellNothingIsOpened(t *testing.T) {
	t.Parallel()
	got := passFirstDoor(t, checkreport.New(passing()), allItems(t))
	if c := got[safeoutput.KindStickyComment][0].Item().(*safeoutput.StickyComment); !c.OnlyUpdate {
		t.Error("a comment would be opened although all is well")
	}
	if run := got[safeoutput.KindCheckRun][0].Item().(*safeoutput.CheckRun); run.Conclusion != "success" {
		t.Errorf("%+v", run)
	}
	if len(got[safeoutput.KindCreateReviewComment]) != 0 {
		t.Error("there is something to comment on")
	}
}

// TestFindingsOfAnotherCommit asserts that no item points at lines of another commit,
// that no existing comment is hidden, and that the check run fails even if all checks passed.
func TestFindingsOfAnotherCommit(t *testing.T) {
	t.Parallel()
	in := allItems(t)
	in.Head = strings.Repeat("cd", 20)
	got := passFirstDoor(t, checkreport.New(failing()), in)
	run := got[safeoutput.KindCheckRun][0].Item().(*safeoutput.CheckRun)
	if good := passFirstDoor(t, checkreport.New(passing()), in)[safeoutput.KindCheckRun][0].Item().(*safeoutput.CheckRun); good.Conclusion != "failure" || !strings.HasPrefix(good.Title, "another commit was checked: ") {
		t.Errorf("a commit that nobody checked is reported as good: %+v", good)
	}
	if len(run.Annotations) != 0 || len(got[safeoutput.KindCreateReviewComment])+len(got[safeoutput.KindMinimiseComments])+len(got[safeoutput.KindCreateSecurityReport]) != 0 {
		t.Errorf("%+v", got)
	}
}

// TestFindingsOfNoCommit asserts that a document that names no commit is not used for
// items that point at lines.
func TestFindingsOfNoCommit(t *testing.T) {
	t.Parallel()
	d := checkreport.New(failing())
	d.Head = ""
	got := passFirstDoor(t, d, allItems(t))
	if n := len(got[safeoutput.KindCreateReviewComment]) + len(got[safeoutput.KindMinimiseComments]) + len(got[safeoutput.KindCreateSecurityReport]); n != 0 {
		t.Errorf("%d items point at lines of an unknown commit", n)
	}
}

// TestPathsThatNoCommentCanBeOn asserts that findings in files whose names GitHub or intake
// refuses have neither a comment nor an annotation, and do not count as shown by code scanning
// either: they are in the text of the check run.
func TestPathsThatNoCommentCanBeOn(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"api/\u202egnp.go", "api/a\nb.go", "api/a\u2028b.go", `api\b.go`, "c:b.go", "api://b.go"} {
		for _, refused := range []refusedKinds{nil, noAlerts} {
			in := failing()
			in.Result.Reviews[1].Blocking[0].Path = path
			in.Result.Roots[0].Checks[1].Blocking[0].Path = path
			got := deliver(t, checkreport.New(in).Deliver(allItems(t)), refused, nil)
			run := got[safeoutput.KindCheckRun][0].Item().(*safeoutput.CheckRun)
			if n, m := len(got[safeoutput.KindCreateReviewComment]), len(run.Annotations); n != 2 || m != 0 || !strings.Contains(run.Text, "db.Query gets SQL") || !strings.Contains(run.Text, "fmt.Printf format") {
				t.Errorf("%q: %d comments and %d annotations, want 2 and 0, and the others in\n%s", path, n, m, run.Text)
			}
		}
	}
}

// TestAFindingWithoutWordsHasAnAnnotation asserts that a finding with a blank message has an
// annotation with another message, because GitHub accepts no annotation without one.
func TestAFindingWithoutWordsHasAnAnnotation(t *testing.T) {
	t.Parallel()
	in, wanted := failing(), allItems(t)
	wanted.ReviewComments = 0
	in.Result.Roots[0].Checks[1].Blocking[0].Message = "\u200b"
	run := passFirstDoor(t, checkreport.New(in), wanted)[safeoutput.KindCheckRun][0].Item().(*safeoutput.CheckRun)
	if !slices.ContainsFunc(run.Annotations, func(a safeoutput.CheckAnnotation) bool { return a.Message == "linter: printf" }) {
		t.Errorf("%+v", run.Annotations)
	}
}

func TestOnlyWhatIsWanted(t *testing.T) {
	t.Parallel()
	in := allItems(t)
	in.Comment, in.CheckRun, in.SecurityReport, in.ReviewComments = false, false, false, 0
	if got := passFirstDoor(t, checkreport.New(failing()), in); len(got) != 1 || len(got[safeoutput.KindMissingTool]) != 1 {
		t.Errorf("%v", got)
	}
}

// TestEveryWeaknessOfALineIsShown asserts that one comment has what a check finds on a line, the
// most severe first and each only once, and counts what it has no room for.
func TestEveryWeaknessOfALineIsShown(t *testing.T) {
	t.Parallel()
	in := failing()
	review := &in.Result.Reviews[1]
	on := func(line int, rule string, severity finding.Severity) finding.Finding {
		return finding.Finding{Check: "security_review", Tool: "airlock", Rule: rule, Severity: severity, Message: "About " + rule + ".", Path: "api/c.go", Range: finding.Range{StartLine: line}}
	}
	review.Blocking = []finding.Finding{on(7, "tls", finding.Medium), on(7, "sql", finding.Critical), on(7, "tls", finding.Medium), on(9, "tls", finding.Medium)}
	for n := range 7 {
		review.Blocking = append(review.Blocking, on(11, fmt.Sprint("rule", n), finding.Low))
	}
	review.Severity, in.Result.Output.Checks.SecurityReview.Severity, in.Result.Output.Critical = finding.Critical, finding.Critical, true
	bodies := map[int][]string{}
	for _, a := range passFirstDoor(t, checkreport.New(in), allItems(t))[safeoutput.KindCreateReviewComment] {
		if c := a.Item().(*safeoutput.CreateReviewComment); c.Path == "api/c.go" {
			bodies[c.Line] = append(bodies[c.Line], c.Body)
		}
	}
	if len(bodies[7]) != 1 || len(bodies[9]) != 1 || len(bodies[11]) != 1 {
		t.Fatalf("%v", bodies)
	}
	first := bodies[7][0]
	if sql, tls := strings.Index(first, "Critical:** About sql."), strings.Index(first, "Medium:** About tls. `tls`"); sql < 0 || tls < sql || strings.Count(first, "About tls.") != 1 {
		t.Errorf("%s", first)
	}
	if strings.Contains(bodies[9][0], "Also on this line") || !strings.Contains(bodies[11][0], "and 1 more") {
		t.Errorf("%s\n%s", bodies[9][0], bodies[11][0])
	}
}

// TestNoiseIsCapped asserts that only the most severe of many findings are shown, and
// that there is one comment for each line.
func TestNoiseIsCapped(t *testing.T) {
	t.Parallel()
	in := failing()
	many := &in.Result.Roots[0].Checks[1].Blocking
	for line := range 100 {
		for range 3 {
			*many = append(*many, finding.Finding{Check: "linter", Tool: "vet", Rule: "x", Severity: finding.Low, Message: strings.Repeat("m", line+1), Path: "api/z.go", Range: finding.Range{StartLine: line + 1}})
		}
	}
	got := passFirstDoor(t, checkreport.New(in), allItems(t))[safeoutput.KindCreateReviewComment]
	seen := map[string]bool{}
	for i, a := range got {
		c := a.Item().(*safeoutput.CreateReviewComment)
		at := fmt.Sprint(c.Path, ":", c.Line)
		if seen[at] || i == 0 && c.Path != "api/b.go" {
			t.Errorf("comment %d is on %s:%d", i, c.Path, c.Line)
		}
		seen[at] = true
	}
	if len(got) != 20 {
		t.Errorf("%d comments", len(got))
	}
}

// TestToolsCrowdNoReviewOut asserts that the reviews' findings are shown even if a pull
// request makes its linter report very many findings of the same severity.
func TestToolsCrowdNoReviewOut(t *testing.T) {
	t.Parallel()
	in := failing()
	for line := range 100 {
		in.Result.Roots[0].Checks[1].Blocking = append(in.Result.Roots[0].Checks[1].Blocking, finding.Finding{Check: "linter", Tool: "vet", Severity: finding.Medium,
			Message: strings.Repeat("m", line+1), Path: "api/a.go", Range: finding.Range{StartLine: line + 1}})
	}
	for i, c := range []phase.Check{phase.CodeReview, phase.SecurityReview} {
		in.Result.Reviews[i].Blocking = []finding.Finding{{Check: string(c), Tool: "airlock", Severity: finding.Medium, Message: "here", Path: "api/z.go", Range: finding.Range{StartLine: 10 + i}}}
	}
	got := passFirstDoor(t, checkreport.New(in), allItems(t))[safeoutput.KindCreateReviewComment]
	var lines []int
	for _, a := range got {
		if c := a.Item().(*safeoutput.CreateReviewComment); c.Path == "api/z.go" {
			lines = append(lines, c.Line)
		}
	}
	if len(got) != 20 || !cmp.Equal(lines, []int{11, 10}) { // the security review's comes first
		t.Errorf("%d comments, of the reviews on lines %v", len(got), lines)
	}
}

// TestLintersErrorsAreMedium asserts that an error of a linter or a formatter has the severity
// medium, and that code that does not compile keeps its severity.
func TestLintersErrorsAreMedium(t *testing.T) {
	t.Parallel()
	in := failing()
	for i, check := range []string{"formatter", "linter", "build"} {
		in.Result.Roots[0].Checks[i].Blocking = []finding.Finding{{Check: check, Tool: "t", Severity: finding.High, Message: check, Path: "a.go", Range: finding.Range{StartLine: 1}}}
	}
	got := map[string]finding.Severity{}
	for _, f := range checkreport.New(in).Findings {
		got[f.Message] = f.Severity
	}
	want := map[string]finding.Severity{"formatter": finding.Medium, "linter": finding.Medium, "build": finding.High}
	for message, severity := range want {
		if got[message] != severity {
			t.Errorf("%s: %s, want %s", message, got[message], severity)
		}
	}
}

// TestWhatSeveralChecksReportIsShownOnce asserts that a file that does not compile makes one
// comment and one annotation, not three, and that what each check reports in addition stays.
func TestWhatSeveralChecksReportIsShownOnce(t *testing.T) {
	t.Parallel()
	in := failing()
	checks := in.Result.Roots[0].Checks
	broken := finding.Finding{Check: "linter", Tool: "go vet", Severity: finding.Medium, Message: "undefined: x", Path: "api/c.go", Range: finding.Range{StartLine: 5, StartColumn: 2}}
	again := broken
	again.Range.StartColumn = 9
	built := broken
	built.Check, built.Tool, built.Severity = "build", "go build", finding.High
	other := built
	other.Message = "undefined: y"
	checks[1].Blocking = append(checks[1].Blocking, broken, again)
	tested := broken
	tested.Check = "tests"
	checks[3].Blocking = []finding.Finding{tested}
	checks[2].Blocking, checks[2].Status = []finding.Finding{built, other}, phase.Fail
	d := checkreport.New(in)
	got := passFirstDoor(t, d, allItems(t))
	var bodies []string
	for _, a := range got[safeoutput.KindCreateReviewComment] {
		if c := a.Item().(*safeoutput.CreateReviewComment); c.Path == "api/c.go" {
			bodies = append(bodies, c.Body)
		}
	}
	if len(bodies) != 1 || !strings.Contains(bodies[0], "undefined: x") || !strings.Contains(bodies[0], "<sub>build · go build · also linter, tests</sub>") {
		t.Errorf("%d comments: %q", len(bodies), bodies)
	}
	var titles []string
	for _, a := range d.Annotations(safeText(t)) {
		if a.Path == "api/c.go" {
			titles = append(titles, a.Title+": "+a.Message)
		}
	}
	if diff := cmp.Diff([]string{"build, linter, tests: undefined: x", "build: undefined: y"}, titles); diff != "" {
		t.Error(diff)
	}
	if m := got[safeoutput.KindMinimiseComments][0].Item().(*safeoutput.MinimiseComments); len(m.Keep) != len(d.Findings) {
		t.Errorf("of %d findings %d keep their comment", len(d.Findings), len(m.Keep))
	}
}

// TestOneCommentForTheSameWords asserts that a tool that reports the same for many lines of
// a file makes one comment, which names the lines, and leaves room for suggestions.
func TestOneCommentForTheSameWords(t *testing.T) {
	t.Parallel()
	in := failing()
	var many []finding.Finding
	for line := range 40 {
		many = append(many, finding.Finding{Check: "linter", Tool: "flake8", Rule: "E111", Severity: finding.Medium, Message: "indentation", Path: "a.py", Range: finding.Range{StartLine: line + 1}})
	}
	two := []finding.Finding{many[3], many[8]}
	for i := range two {
		two[i].Path = "b.py"
	}
	in.Result.Roots[0].Checks[1].Blocking = append(many, two...)
	bodies := map[string][]string{}
	for _, a := range passFirstDoor(t, checkreport.New(in), allItems(t))[safeoutput.KindCreateReviewComment] {
		c := a.Item().(*safeoutput.CreateReviewComment)
		bodies[c.Path] = append(bodies[c.Path], c.Body)
	}
	for path, want := range map[string]string{
		"a.py": "Found on lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20 and 20 more.\n", "b.py": "Found on lines 4 and 9.\n", "api/a.go": "```suggestion",
	} {
		if len(bodies[path]) != 1 || !strings.Contains(bodies[path][0], want) {
			t.Errorf("%s: %q", path, bodies[path])
		}
	}
}

// TestASuggestionKeepsItsEmptyLines asserts that the empty lines with which a suggestion ends are
// in the comment: without them, accepting it would remove lines.
func TestASuggestionKeepsItsEmptyLines(t *testing.T) {
	t.Parallel()
	for _, suggestion := range []string{"x", "x\n", "x\n\n", "\n", "\n\nx\n"} {
		in := failing()
		in.Result.Roots[0].Checks[0].Blocking[0].Suggestion = suggestion
		comments := passFirstDoor(t, checkreport.New(in), allItems(t))[safeoutput.KindCreateReviewComment]
		body := comments[len(comments)-1].Item().(*safeoutput.CreateReviewComment).Body
		if want := "\n```suggestion\n" + suggestion + "\n```\n"; !strings.Contains(body, want) {
			t.Errorf("%q is not in\n%s", want, body)
		}
	}
}

// TestTheHelpOfARuleStaysInItsFold asserts that the help of a rule, which may be anybody's Markdown,
// changes nothing of the comment below it, also where it is too long, and that a short description is
// left out of the help only where it is a paragraph.
func TestTheHelpOfARuleStaysInItsFold(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x := 1\n", 2000)
	for help, want := range map[string]string{
		"Never use eval.\n\n```go\nx := 1":                "Never use eval.\n\n```go\nx := 1\n```\n\n</details>",
		"Text.\n\n```go\n" + long + "```":                 "x := 1\n```\n\n*The rest was cut: the findings document has it.*\n\n</details>",
		"Text.\n\n<!-- open":                              "</details>",
		"Text.\n\neval\n\nMore.":                          "Text.\n\nMore.\n\n</details>",
		"Text.\r\n\r\neval\r\n\r\nLess.":                  "Text.\n\nLess.\n\n</details>",
		"An evaluation by eval, such as in medieval code": "An evaluation by eval, such as in medieval code\n\n</details>",
	} {
		in := failing()
		in.Result.Reviews[1].Blocking[0].Suggestion = "\tfixed()"
		in.Rules = func(_, rule string) (finding.Rule, bool) {
			return finding.Rule{ID: rule, Short: "eval", Help: help}, rule == "go-sql"
		}
		body := passFirstDoor(t, checkreport.New(in), allItems(t))[safeoutput.KindCreateReviewComment][0].Item().(*safeoutput.CreateReviewComment).Body
		doc := markdown.Scan(body)
		suggestion := slices.ContainsFunc(doc.Blocks, func(b markdown.Block) bool {
			return b.Kind == markdown.FencedCodeBlock && strings.HasPrefix(body[b.Start:], "```suggestion\n") && b.Parent < 0
		})
		if !suggestion || !strings.Contains(body, want) || !strings.HasSuffix(body, "</sub>\n") {
			t.Errorf("help %.40q: want %q and a suggestion in\n%.600s\n…%s", help, want, body, body[max(0, len(body)-300):])
		}
	}
}

// TestAFailedTestWithoutAName asserts that such a test is shown with its message, if it has one.
func TestAFailedTestWithoutAName(t *testing.T) {
	t.Parallel()
	for want, f := range map[string]toolreport.Failure{
		"tests: a target's process ended": {Message: "a target's process ended"},
		"tests: a test failed":            {},
	} {
		in := failing()
		in.Result.Roots[0].Dir = "."
		in.Result.Roots[0].Checks[3].Failures = []toolreport.Failure{f}
		if lines := checkreport.New(in).Failures(safeText(t)); !slices.Contains(lines, want) {
			t.Errorf("%q is not in %q", want, lines)
		}
	}
}

// TestFailedTestsAreDistinguishedByName asserts that the finding of a failed test stays the same when
// the test prints something else, such as another address.
func TestFailedTestsAreDistinguishedByName(t *testing.T) {
	t.Parallel()
	names := func(address string) (out []string) {
		in := failing()
		in.Result.Roots[0].Checks[3].Failures[0].Message = "<object at 0x" + address + "> != 1"
		for _, f := range checkreport.New(in).Findings {
			if f.Check == phase.Tests {
				out = append(out, f.Fingerprint)
			}
		}
		return out
	}
	if diff := cmp.Diff(names("7fb16b562020"), names("7f0aaf5d5e40")); diff != "" || len(names("")) != 1 {
		t.Error(diff)
	}
}

// TestCommentsStayWithTheirCode asserts which comment is hidden as resolved if there were three
// findings with the same message. The first is fixed, and the others have moved and are indented:
// only the comment on the first is hidden.
func TestCommentsStayWithTheirCode(t *testing.T) {
	t.Parallel()
	stableAndKept := func(code string, lines ...int) (stable, keep []string) {
		in := failing()
		in.Code = func(_ string, start, _ int) string {
			if all := strings.Split(code, "\n"); start <= len(all) {
				return all[start-1]
			}
			return ""
		}
		var found []finding.Finding
		for _, line := range lines {
			found = append(found, finding.Finding{Check: "security_review", Tool: "airlock", Rule: "go-sql", Severity: finding.High, Message: "SQL of variables", Path: "api/b.go", Range: finding.Range{StartLine: line}})
		}
		in.Result.Reviews[1].Blocking, in.Result.Roots = found, nil
		got := passFirstDoor(t, checkreport.New(in), allItems(t))
		for _, a := range got[safeoutput.KindCreateReviewComment] {
			stable = append(stable, a.Stable())
		}
		return stable, got[safeoutput.KindMinimiseComments][0].Item().(*safeoutput.MinimiseComments).Keep
	}
	before, _ := stableAndKept("query(a)\nx\nquery(b)\nquery(b)\n", 1, 3, 4)
	after, keep := stableAndKept("bind(a)\nx\ny\n\tquery(b)\n\tquery(b)\n", 4, 5)
	if len(before) != 3 || before[0] == before[1] || before[1] == before[2] {
		t.Errorf("three places have the comments %q", before)
	}
	if diff := cmp.Diff(before[1:], after); diff != "" {
		t.Errorf("the comments have moved (-want +got):\n%s", diff)
	}
	if slices.Contains(keep, before[0]) || !slices.Contains(keep, before[1]) {
		t.Errorf("%q are kept", keep)
	}
}
