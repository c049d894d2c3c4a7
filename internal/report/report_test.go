package report_test

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/renderer/html"

	"github.com/agent-airlock/airlock/internal/action"
	"github.com/agent-airlock/airlock/internal/apply"
	"github.com/agent-airlock/airlock/internal/intake"
	"github.com/agent-airlock/airlock/internal/report"
	"github.com/agent-airlock/airlock/internal/safeoutput"
)

// hostile is a text with which an agent tries to be obeyed, or to be taken for Airlock.
const hostile = "x\r\n\n## All is done\n| a | b |\n</details></table><script>alert(1)</script><img src=x onerror=y> ![i](https://evil.example/i) " +
	"[l](https://evil.example/l) https://evil.example @octocat @org/team `c` ``` ~~~ <!-- \x1b[2J\x1b]8;;https://evil.example\x07 \x00\u202e ::error::pwned ##[error]pwned"

// poisoned puts the hostile text into every text of the input that an agent can
// influence. Kinds and codes are ours, Fallback.Text passed the sanitizer.
func poisoned() report.Input {
	in := rich()
	for i := range in.Results {
		r := &in.Results[i]
		r.Message, r.Notes, r.Labels = hostile, []string{hostile}, []string{hostile}
		for j := range r.Cleaned {
			r.Cleaned[j].Detail, r.Cleaned[j].Field = hostile, hostile
		}
		for j := range r.Repaired {
			r.Repaired[j].Field = hostile
		}
		if r.Fallback != nil {
			r.Fallback.Title = hostile
			if r.Fallback.Path != "" {
				r.Fallback.Path = hostile
			}
		}
	}
	for i := range in.Rejected {
		for j := range in.Rejected[i].Violations {
			v := &in.Rejected[i].Violations[j]
			v.Message, v.Path = hostile, "$."+hostile
		}
	}
	for i := range in.Plan.Operations {
		op := &in.Plan.Operations[i]
		op.Summary, op.Notes, op.Target = hostile, []string{hostile}, hostile
		for j := range op.Items {
			op.Items[j].Reason = hostile
		}
	}
	in.Plan.Unchecked = []string{hostile}
	in.Earlier = []string{hostile}
	return in
}

// TestNothingThatAnAgentWroteIsLive checks the rendered summary, and the characters that a
// terminal and the runner get.
func TestNothingThatAnAgentWroteIsLive(t *testing.T) {
	for _, dryRun := range []bool{false, true} {
		in := poisoned()
		in.DryRun, in.Safe = dryRun, safe(t)
		r := report.New(in)

		summary := r.Summary(1_000_000)
		var page bytes.Buffer
		md := goldmark.New(goldmark.WithExtensions(extension.GFM), goldmark.WithRendererOptions(html.WithUnsafe()))
		if err := md.Convert([]byte(summary), &page); err != nil {
			t.Fatal(err)
		}
		for _, bad := range []string{"<script", "<img", "evil.example/i\"", `href="https://evil`, `href="http://evil`, "@octocat", "@org/team"} {
			if strings.Contains(page.String(), bad) {
				t.Errorf("dry run %t: the summary renders %q:\n%s", dryRun, bad, page.String())
			}
		}
		if strings.Contains(page.String(), "<h2>All is done") {
			t.Error("a heading of the agent's stands in the summary")
		}
		if strings.Count(page.String(), "<details>") != strings.Count(page.String(), "</details>") {
			t.Error("an element of the agent's is left open")
		}

		var text bytes.Buffer
		if err := errors.Join(r.PlanText(&text, false), r.Text(&text, false)); err != nil {
			t.Fatal(err)
		}
		shown := []string{summary, text.String()}
		for _, a := range r.Annotations() {
			shown = append(shown, a.Title, a.Message)
		}
		for _, s := range shown {
			if i := strings.IndexFunc(s, func(c rune) bool { return unicode.IsControl(c) && c != '\n' || c == '\u202e' }); i >= 0 {
				t.Errorf("dry run %t: a control character is shown: %q", dryRun, s[max(i-40, 0):min(i+40, len(s))])
			}
			if strings.Contains(s, "@octocat") {
				t.Errorf("dry run %t: a live mention is shown:\n%s", dryRun, s)
			}
			for line := range strings.Lines(s) {
				if strings.HasPrefix(strings.TrimSpace(line), "## All") {
					t.Errorf("dry run %t: a heading of the agent's begins a line: %q", dryRun, line)
				}
			}
		}
	}
}

// TestSummaryFits asserts that the summary of thousands of results is within GitHub's limit and
// mentions that there are more.
func TestSummaryFits(t *testing.T) {
	long := strings.Repeat("Wörter 日本語 ", 4000)
	in := report.Input{Event: pull(), Safe: safe(t)}
	for i := range 3000 {
		res := apply.Result{Index: i, Line: i + 1, Kind: "add-issue-comment", State: apply.Failed, Code: apply.CodeNoPermission, Message: "could not comment"}
		if i%10 == 0 {
			res.Fallback = &apply.Fallback{To: apply.ToSummary, Title: "t", Text: long}
		}
		in.Results = append(in.Results, res)
	}
	for i := range 3000 {
		in.Rejected = append(in.Rejected, intake.Rejected{Line: 3000 + i, Violations: []intake.Violation{{Line: 3000 + i, Path: "$", Message: "not valid JSON"}}})
		in.Earlier = append(in.Earlier, fmt.Sprintf("Line %d: not valid JSON", i))
	}
	r := report.New(in)
	summary := r.Summary(1_000_000)
	if len(summary) >= 1_000_000 || !strings.Contains(summary, "… and 5900 more") || !strings.Contains(summary, "The rest was cut") || !strings.HasPrefix(summary, "## Airlock: 0 of 6000 requests done") {
		t.Errorf("a summary of %d bytes: %.300s", len(summary), summary)
	}
	var text bytes.Buffer
	if err := r.Text(&text, false); err != nil || !strings.Contains(text.String(), "… and 5500 more") {
		t.Errorf("%v, a text of %d bytes", err, text.Len())
	}
}

// TestEarlierErrorsThatAreLeftOut asserts that the summary says where to find the errors that its
// list leaves out.
func TestEarlierErrorsThatAreLeftOut(t *testing.T) {
	in := report.Input{Event: pull(), Safe: safe(t), Earlier: slices.Repeat([]string{"Line 1: not valid JSON"}, 130)}
	if summary := report.New(in).Summary(1_000_000); !strings.Contains(summary, "\n\n*… and 30 more, in the results' JSON.*\n\n</details>") {
		t.Errorf("%s", summary[max(0, len(summary)-300):])
	}
}

// TestLongTextsAreCutVisibly asserts that one text cannot push all others off the
// page, and that the results' JSON has all of it.
func TestLongTextsAreCutVisibly(t *testing.T) {
	long := strings.Repeat("日本語 ", 5000)
	r := report.New(report.Input{Safe: safe(t), Results: []apply.Result{{Line: 1, Kind: "noop", State: apply.Applied, Message: long}}})
	var doc bytes.Buffer
	if err := r.JSON(&doc, ""); err != nil || !strings.Contains(doc.String(), long) {
		t.Errorf("%v: the JSON form is cut", err)
	}
	if summary := r.Summary(1_000_000); len(summary) > 1500 || !strings.Contains(summary, "… |") {
		t.Errorf("the summary has %d bytes: %.200s", len(summary), summary)
	}
}

func TestAnnotations(t *testing.T) {
	in := rich()
	in.Safe = safe(t)
	got := map[action.Level]int{}
	list := report.New(in).Annotations()
	for _, a := range list {
		got[a.Level]++
	}
	if diff := cmp.Diff(map[action.Level]int{action.Error: 1, action.Warning: 10, action.Notice: 1}, got); diff != "" {
		t.Errorf("annotations by level (-want +got):\n%s", diff)
	}
	if list[0].Level != action.Error || list[0].Title != "Airlock failed add-issue-comment (line 6)" {
		t.Errorf("the worst does not come first: %+v", list[0])
	}
	want := action.Annotation{Level: action.Notice, Title: "Airlock: review comment", Message: "Nice, @\u200boctocat <b>", File: "main.go", Line: 3, EndLine: 5}
	if diff := cmp.Diff(want, list[len(list)-1]); diff != "" {
		t.Errorf("the comment that GitHub did not take (-want +got):\n%s", diff)
	}
}

func TestOutputs(t *testing.T) {
	in := rich()
	in.Safe = safe(t)
	got := map[string]string{}
	for _, o := range report.New(in).Outputs() {
		if _, twice := got[o.Name]; twice {
			t.Errorf("the output %s is set twice", o.Name)
		}
		got[o.Name] = o.Value
	}
	want := map[string]string{
		"asked": "19", "applied": "5", "adopted": "2", "staged": "1", "denied": "2", "skipped": "4", "failed": "1", "rejected": "2", "dropped": "2",
		"issue-number": "12", "issue-url": "https://github.com/octo/hello/issues/12", "comment-id": "", "comment-url": "",
		"review-id": "1", "review-url": "https://github.com/octo/hello/pull/7#pullrequestreview-1", "discussion-number": "", "discussion-url": "",
		"pull-request-number": "13", "pull-request-url": "https://github.com/octo/hello/pull/13", "branch": "airlock/mend", "commit-sha": commit, "patch-file": ".airlock/airlock-0a1b2c3d.patch",
		"sarif-file": ".airlock/airlock.sarif", "sarif-id": "",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("outputs (-want +got):\n%s", diff)
	}
}

// TestOutputsNameWhatWasMade asserts that the outputs about a created issue name that one,
// although another issue was updated before it.
func TestOutputsNameWhatWasMade(t *testing.T) {
	r := report.New(report.Input{Safe: safe(t), Results: []apply.Result{
		{Kind: "update-issue", State: apply.Applied, Object: &apply.Object{Type: "issue", Number: 1}},
		{Kind: "create-issue", State: apply.Applied, Object: &apply.Object{Type: "issue", Number: 2}},
	}})
	outputs := r.Outputs()
	if i := slices.IndexFunc(outputs, func(o report.Output) bool { return o.Name == "issue-number" }); i < 0 || outputs[i].Value != "2" {
		t.Errorf("outputs %+v, want the created issue's number, 2", outputs)
	}
}

// TestClean asserts which states of a result, and which other parts of a report, make it unclean.
func TestClean(t *testing.T) {
	for state, clean := range map[apply.State]bool{
		apply.Applied: true, apply.Adopted: true, apply.Staged: true, apply.Denied: false, apply.Skipped: false, apply.Failed: false,
	} {
		r := report.New(report.Input{Safe: safe(t), Results: []apply.Result{{Kind: "noop", State: state}}})
		if r.Clean() != clean {
			t.Errorf("a result that is %s: clean is %t", state, r.Clean())
		}
	}
	for _, in := range []report.Input{{Rejected: []intake.Rejected{{Line: 1}}}, {Dropped: []intake.Dropped{{Line: 1}}}} {
		in.Safe = safe(t)
		if report.New(in).Clean() {
			t.Errorf("%+v is clean", in)
		}
	}
}

// TestCountsCoverEveryState asserts that a state cannot be left out of the counts.
func TestCountsCoverEveryState(t *testing.T) {
	in := rich()
	in.Safe = safe(t)
	c := report.New(in).Counts
	sum := 0
	v := reflect.ValueOf(c)
	for i := range v.NumField() {
		if v.Type().Field(i).Name != "Asked" {
			sum += int(v.Field(i).Int())
		}
	}
	if sum != c.Asked {
		t.Errorf("%d asked, %d in all states: %+v", c.Asked, sum, c)
	}
}

// failing is a writer that fails after some bytes.
type failing struct{ left int }

func (f *failing) Write(p []byte) (int, error) {
	if f.left -= len(p); f.left < 0 {
		return 0, errors.New("full")
	}
	return len(p), nil
}

func TestTextReportsThatItCannotBeWritten(t *testing.T) {
	in := rich()
	in.Safe = safe(t)
	r := report.New(in)
	for _, n := range []int{0, 100, 1000} {
		if err := r.Text(&failing{n}, true); err == nil {
			t.Errorf("Text with room for %d bytes has no error", n)
		}
	}
	if err := r.PlanText(&failing{10}, true); err == nil {
		t.Error("PlanText has no error")
	}
	if err := r.JSON(&failing{10}, ""); err == nil {
		t.Error("JSON has no error")
	}
}

// Airlock's own items do not come from a line of a file.
func TestPlanOfOwnItemsNamesNoLine(t *testing.T) {
	plan := &apply.Plan{Repository: "octo/hello", Operations: []apply.Operation{
		{Number: 1, Kind: "sticky-comment", Summary: "comment on pull request #7", Target: "pull request #7", Items: []apply.Member{{Outcome: "skipped", Reason: "no"}}},
		{Number: 2, Kind: "create-security-report", Summary: "upload", Target: "code scanning", Items: []apply.Member{{}, {Line: 3}}},
	}}
	r := report.New(report.Input{Event: pull(), Plan: plan, DryRun: true, Safe: safe(t)})
	var b strings.Builder
	if err := r.PlanText(&b, false); err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"sticky-comment  (checks → pull request #7)", "checks skipped: no", "(lines checks, 3 → code scanning)"} {
		if !strings.Contains(b.String(), part) || strings.Contains(b.String(), "line 0") {
			t.Errorf("the plan does not say %q, or it names line 0:\n%s", part, b.String())
		}
	}
}

func TestPlainBlock(t *testing.T) {
	if got := report.PlainBlock("a ``` b\n<b>"); got != "````text\na ``` b\n<b>\n````\n" {
		t.Errorf("%q", got)
	}
}

// TestOwnResults asserts that the results of Airlock's own items are shown apart from those of
// an agent's items, and fail a step only if something went wrong.
func TestOwnResults(t *testing.T) {
	comment := apply.Object{Type: "comment", ID: 7, Number: 2, URL: "https://github.com/o/r/pull/2#issuecomment-7"}
	own := []apply.Result{
		{Index: 0, Own: true, Kind: safeoutput.KindStickyComment, State: apply.Applied, Message: "commented", Object: &comment},
		{Index: 1, Own: true, Kind: safeoutput.KindCheckRun, State: apply.Skipped, Code: apply.CodeForkReadOnly, Message: "the token can only read"},
		{Index: 2, Own: true, Kind: safeoutput.KindMinimiseComments, State: apply.Applied, Message: "no comment had to be hidden"},
	}
	unchanged := func(s string) string { return s }
	r := report.New(report.Input{Event: pull(), Results: own, Safe: unchanged})
	if !r.Clean() || r.FailedOwn() || r.Counts.Asked != 0 || len(r.Results) != 0 || len(r.Own) != 3 {
		t.Errorf("%+v", r)
	}
	var text bytes.Buffer
	if err := r.Text(&text, false); err != nil {
		t.Fatal(err)
	}
	for name, shown := range map[string]string{"summary": r.Summary(1 << 20), "text": text.String()} {
		for _, want := range []string{"What the checks reported", "issuecomment-7", "fork-read-only", "1 of 2 messages of the checks delivered"} {
			if name == "text" && want == "fork-read-only" {
				want = "the token can only read"
			}
			if !strings.Contains(shown, want) {
				t.Errorf("the %s lacks %q:\n%s", name, want, shown)
			}
		}
		if strings.Contains(shown, "no comment had to be hidden") {
			t.Errorf("the %s shows an item that had nothing to do:\n%s", name, shown)
		}
	}
	if shown := r.Summary(1 << 20); !strings.Contains(shown, "\n### What the checks reported\n") {
		t.Errorf("what could not be delivered is folded:\n%s", shown)
	}
	all := report.New(report.Input{Event: pull(), Results: own[:1], Safe: unchanged}).Summary(1 << 20)
	if !strings.Contains(all, "<details><summary>What the checks reported (1)</summary>\n\n|") || strings.Contains(all, "###") {
		t.Errorf("what was delivered is not folded:\n%s", all)
	}
	own[1].State = apply.Failed
	r = report.New(report.Input{Event: pull(), Results: own, Safe: unchanged})
	if r.Clean() || !r.FailedOwn() || len(r.Annotations()) != 1 || r.Annotations()[0].Level != action.Error {
		t.Errorf("%+v", r.Annotations())
	}
	refused := apply.Result{Own: true, Kind: safeoutput.KindCreateReviewComment, State: apply.Failed, Code: "permission", Message: "the token may not review",
		Fallback: &apply.Fallback{To: apply.ToAnnotation, Path: "a.go", Line: 3, Text: "**High:** bad"}}
	list := report.New(report.Input{Event: pull(), Results: []apply.Result{refused, refused}, Safe: unchanged}).Annotations()
	if len(list) != 1 || list[0].Level != action.Error || list[0].File != "" {
		t.Errorf("a refused review is reported with its text or more than once: %+v", list)
	}
	for _, o := range r.Outputs() {
		if o.Name == "comment-id" && o.Value != "" {
			t.Errorf("the comment of the checks is given out as the agent's: %q", o.Value)
		}
	}
}

// TestSecretsAreMaskedBeforeTheCut asserts that no part of a secret is shown where a text is cut.
func TestSecretsAreMaskedBeforeTheCut(t *testing.T) {
	mask := func(s string) string { return strings.ReplaceAll(s, "hunter2", "***") }
	for before := 992; before <= 1000; before++ {
		long := strings.Repeat("x", before) + "hunter2" + strings.Repeat("y", 1000)
		r := report.New(report.Input{Safe: mask, Results: []apply.Result{{Line: 1, Kind: "noop", State: apply.Failed, Message: long, Notes: []string{long}}}})
		var terminal bytes.Buffer
		if err := r.Text(&terminal, false); err != nil {
			t.Fatal(err)
		}
		annotations := fmt.Sprint(r.Annotations())
		for _, shown := range []string{r.Summary(1_000_000), terminal.String(), annotations} {
			if strings.Contains(shown, "xh") || !strings.Contains(shown, "xxx") {
				t.Errorf("%d before the cut: %.80q", before, shown[max(strings.Index(shown, "xh")-10, 0):])
			}
		}
	}
}
