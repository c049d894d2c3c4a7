package report_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/apply"
	"github.com/agent-airlock/airlock/internal/report"
	"github.com/agent-airlock/airlock/internal/safeoutput"
)

// TestWhatTheChecksHadToSay is told apart from what an agent asked for, and fails a
// step only where something went wrong.
func TestWhatTheChecksHadToSay(t *testing.T) {
	comment := apply.Object{Type: "comment", ID: 7, Number: 2, URL: "https://github.com/o/r/pull/2#issuecomment-7"}
	own := []apply.Result{
		{Index: 0, Own: true, Kind: safeoutput.KindStickyComment, State: apply.Applied, Message: "commented", Object: &comment},
		{Index: 1, Own: true, Kind: safeoutput.KindCheckRun, State: apply.Skipped, Code: apply.CodeForkReadOnly, Message: "the token can only read"},
		{Index: 2, Own: true, Kind: safeoutput.KindMinimiseComments, State: apply.Applied, Message: "no comment had to be hidden"},
	}
	words := func(s string) string { return s }
	r := report.New(report.Input{Event: pull(), Results: own, Words: words})
	if !r.Clean() || r.FailedOwn() || r.Counts.Asked != 0 || len(r.Results) != 0 || len(r.Own) != 3 {
		t.Errorf("%+v", r)
	}
	if r.ShowsCheckRun() {
		t.Error("a check run that was not made shows nothing")
	}
	var text bytes.Buffer
	if err := r.Text(&text, false); err != nil {
		t.Fatal(err)
	}
	for name, shown := range map[string]string{"summary": r.Summary(1 << 20), "text": text.String()} {
		for _, want := range []string{"What the checks had to say", "issuecomment-7", "fork-read-only", "1 of 2 messages of the checks delivered"} {
			if name == "text" && want == "fork-read-only" {
				want = "the token can only read"
			}
			if !strings.Contains(shown, want) {
				t.Errorf("the %s lacks %q:\n%s", name, want, shown)
			}
		}
		if strings.Contains(shown, "no comment had to be hidden") {
			t.Errorf("the %s tells of nothing:\n%s", name, shown)
		}
	}
	if shown := r.Summary(1 << 20); !strings.Contains(shown, "\n### What the checks had to say\n") {
		t.Errorf("what could not be said is folded away:\n%s", shown)
	}
	all := report.New(report.Input{Event: pull(), Results: own[:1], Words: words}).Summary(1 << 20)
	if !strings.Contains(all, "<details><summary>What the checks had to say (1)</summary>\n\n|") || strings.Contains(all, "###") {
		t.Errorf("what was said is not folded:\n%s", all)
	}
	own[1].State = apply.Failed
	r = report.New(report.Input{Event: pull(), Results: own, Words: words})
	if r.Clean() || !r.FailedOwn() || len(r.Annotations()) != 1 || r.Annotations()[0].Level != report.Error {
		t.Errorf("%+v", r.Annotations())
	}
	refused := apply.Result{Own: true, Kind: safeoutput.KindCreateReviewComment, State: apply.Failed, Code: "permission", Message: "the token may not review",
		Fallback: &apply.Fallback{To: apply.ToAnnotation, Path: "a.go", Line: 3, Text: "**High:** bad"}}
	list := report.New(report.Input{Event: pull(), Results: []apply.Result{refused, refused}, Words: words}).Annotations()
	if len(list) != 1 || list[0].Level != report.Error || list[0].Path != "" {
		t.Errorf("a review that was refused is told with what it said, or more than once: %+v", list)
	}
	for _, o := range r.Outputs() {
		if o.Name == "comment-id" && o.Value != "" {
			t.Errorf("the comment of the checks is given out as the agent's: %q", o.Value)
		}
	}
}
