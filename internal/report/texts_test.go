package report

import (
	"fmt"
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/apply"
	"github.com/agent-airlock/airlock/internal/event"
	"github.com/agent-airlock/airlock/internal/safeoutput"
)

func TestCompareLines(t *testing.T) {
	for _, c := range []struct{ asked, posted, want string }{
		{"a\nb", "a\nb", " a\n b"},
		{"a\nb\nc", "a\nc", " a\n-b\n c"},
		{"a\nc", "a\nb\nc", " a\n+b\n c"},
		{"a\nx\nb\ny\nc", "a\nX\nb\nY\nc", " a\n-x\n+X\n b\n-y\n+Y\n c"},
		{"x", "y", "-x\n+y"},
		{"a\na\na", "a", " a\n-a\n-a"},
	} {
		var got []string
		for _, l := range compareLines(strings.Split(c.asked, "\n"), strings.Split(c.posted, "\n")) {
			got = append(got, string(l.mark)+l.text)
		}
		if strings.Join(got, "\n") != c.want {
			t.Errorf("%q and %q: %q, want %q", c.asked, c.posted, got, c.want)
		}
	}
}

// planOf returns the report of a dry run of one item with one text.
func planOf(text apply.ItemText) *Report {
	plan := &apply.Plan{Operations: []apply.Operation{{Number: 1, Kind: safeoutput.KindCreateIssue, Summary: "create the issue", Target: "repository", Staged: true,
		Items: []apply.Member{{Line: 1, Kind: safeoutput.KindCreateIssue, Outcome: apply.OutcomeApply, Texts: []apply.ItemText{text}}}}}}
	same := func(s string) string { return s }
	return New(Input{Event: event.Event{Name: "issues"}, DryRun: true, Plan: plan, Safe: same, Block: same})
}

// TestTextsAreShownAsTheyWouldBePosted asserts that a person reads each text before it is
// posted, with what cleaning changed, on the terminal and in the summary.
func TestTextsAreShownAsTheyWouldBePosted(t *testing.T) {
	for _, c := range []struct{ asked, posted, terminal, summary string }{
		{"one\ntwo", "one\ntwo", "       │ one\n       │ two\n", "```markdown\none\ntwo\n```"},
		{"by @octo\u202ecat\nend", "by @&#8203;octocat\nend", "       - by @octo<U+202E>cat\n       + by @&#8203;octocat\n       │ end\n", "```diff\n- by @octo<U+202E>cat\n+ by @&#8203;octocat\n  end\n```"},
		{"@a", "@\u200ba", "       - @a\n       + @<U+200B>a\n", "+ @<U+200B>a"},
		{"👨\u200d👩 ❤\ufe0f", "👨\u200d👩 ❤\ufe0f", "│ 👨\u200d👩 ❤\ufe0f", "👨\u200d👩 ❤\ufe0f"},
		{"```\ncode\n```\n</details>", "```\ncode\n```\n</details>", "│ </details>", "````markdown\n```\ncode\n```\n</details>\n````"},
	} {
		r := planOf(apply.ItemText{Field: "body", Asked: c.asked, Posted: c.posted, Mode: safeoutput.Body})
		var text strings.Builder
		if err := r.PlanText(&text, false); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(text.String(), c.terminal) {
			t.Errorf("%q is shown as\n%s", c.posted, text.String())
		}
		if summary := r.Summary(1 << 20); !strings.Contains(summary, c.summary) || !strings.Contains(summary, "<details><summary>line 1") {
			t.Errorf("%q is in the summary as\n%s", c.posted, summary)
		}
	}
}

// TestTheTitleOfAFoldIsHTML asserts that a branch's name in the title of a fold is escaped as HTML,
// and not as Markdown, which is not read there.
func TestTheTitleOfAFoldIsHTML(t *testing.T) {
	r := planOf(apply.ItemText{Field: "body", Asked: "a", Posted: "a", Mode: safeoutput.Body})
	r.plan.Operations[0].Target = "branch fix/_x_&<b>"
	if summary := r.Summary(1 << 20); !strings.Contains(summary, " on branch fix/_x_&amp;&lt;b&gt;</summary>") {
		t.Errorf("%s", summary)
	}
}

func TestLongTextsAreCut(t *testing.T) {
	var long strings.Builder
	for i := range 100 {
		fmt.Fprintf(&long, "line %d\n", i)
	}
	var text strings.Builder
	if err := planOf(apply.ItemText{Field: "body", Asked: long.String(), Posted: long.String(), Mode: safeoutput.Body}).PlanText(&text, false); err != nil {
		t.Fatal(err)
	}
	if got := text.String(); !strings.Contains(got, "│ line 29\n       … 70 more lines; --plan FILE writes the whole text\n") || strings.Contains(got, "line 30\n") {
		t.Error(got)
	}
}

// TestAnObjectThatStandsInIsExplained asserts that the message of an applied item is not shown if
// the item's object can only be what the item asked for. The operation's summary says the same
// then.
func TestAnObjectThatStandsInIsExplained(t *testing.T) {
	for _, c := range []struct {
		kind        safeoutput.Kind
		object      string
		isExplained bool
	}{
		{safeoutput.KindCreatePullRequest, "issue", true},
		{safeoutput.KindCreatePullRequest, "pull-request", false},
		{safeoutput.KindCreateReviewComment, "review", true},  // with the comment on its lines, or in the review's body
		{safeoutput.KindCreateReviewComment, "comment", true}, // in the conversation, instead of on lines
		{safeoutput.KindCreateIssue, "issue", false},
		{safeoutput.KindAddIssueComment, "comment", false},
	} {
		plan := planOf(apply.ItemText{}).plan
		plan.Operations[0].Summary = "do as asked"
		same := func(s string) string { return s }
		r := New(Input{Event: event.Event{Name: "issues"}, Plan: plan, Safe: same, Block: same, Results: []apply.Result{
			{Line: 1, Kind: c.kind, State: apply.Applied, Message: "what became of it", Object: &apply.Object{Type: c.object, Number: 3, URL: "https://github.com/octo/app/issues/3"}}}})
		var text strings.Builder
		if err := r.Text(&text, false); err != nil {
			t.Fatal(err)
		}
		for _, shown := range []string{text.String(), r.Summary(1 << 20)} {
			if !strings.Contains(shown, "do as asked") || strings.Contains(shown, "what became of it") != c.isExplained {
				t.Errorf("%s as %s: explained is not %v in\n%s", c.kind, c.object, c.isExplained, shown)
			}
		}
	}
}
