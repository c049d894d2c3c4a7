package policy_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/event"
	"github.com/agent-airlock/airlock/internal/intake"
	"github.com/agent-airlock/airlock/internal/policy"
	"github.com/agent-airlock/airlock/internal/safeoutput"
	"github.com/google/go-cmp/cmp"
)

// collect passes lines through intake, which must accept all of them.
func collect(t *testing.T, lines string) []intake.Accepted {
	t.Helper()
	unlimited := map[safeoutput.Kind]int{}
	for _, spec := range safeoutput.Kinds() {
		unlimited[spec.Kind] = -1
	}
	got, err := intake.Collect(context.Background(), strings.NewReader(lines), intake.Config{Max: unlimited, MaxLabels: -1})
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Rejected)+len(got.Dropped) > 0 {
		t.Fatalf("rejected %v, dropped %v", got.Rejected, got.Dropped)
	}
	return got.Accepted
}

func TestJudge(t *testing.T) {
	in := collect(t, `
{"type": "create-issue", "title": "A bug", "body": "Hello @octocat", "labels": ["Bug", "spam"]}
{"type": "add_comment", "body": "fine", "item_number": 7}
{"type": "add-issue-comment", "body": "elsewhere", "issue_number": "8"}
{"type": "update-issue", "status": "closed", "body": "done"}
{"type": "create-discussion", "title": "t", "body": "b"}
{"type": "create-pull-request-review-comment", "path": "a.go", "line": 3, "body": "b"}
{"type": "add-issue-label", "labels": ["spam"]}
{"type": 'noop', "message": "nothing",}
`)
	cfg := policy.Config{Kinds: map[policy.Kind]policy.KindConfig{
		"create-issue":                       {TitlePrefix: "[ai] ", Labels: []string{"automation"}, AllowedLabels: []string{"bug"}},
		"add-issue-comment":                  {Staged: true},
		"update-issue":                       {Update: policy.UpdateSettings{Status: true}},
		"create-pull-request-review-comment": {},
		"add-issue-label":                    {AllowedLabels: []string{"bug"}},
	}}
	approved, denied := policy.Judge(cfg, event.Event{Name: "issues", Number: 7}, in)

	var got []string
	for _, a := range approved {
		raw, err := safeoutput.Encode(a.Item())
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprintf("%d #%d staged=%t repairs=%d redactions=%d notes=%d %s", a.Line(), a.Target().Number, a.Staged(), len(a.Accepted().Notes().Repairs), len(a.Accepted().Notes().Redactions), len(a.Notes()), raw))
	}
	want := []string{
		"2 #0 staged=false repairs=0 redactions=1 notes=1 " + `{"type":"create-issue","title":"[ai] A bug","body":"` + textOf(t, in[0]) + `","labels":["Bug","automation"]}`,
		"3 #7 staged=true repairs=0 redactions=0 notes=0 " + `{"type":"add-issue-comment","body":"fine","issue_number":7}`,
		"9 #0 staged=false repairs=2 redactions=0 notes=0 " + `{"type":"noop","message":"nothing"}`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("approved (-want +got):\n%s", diff)
	}

	got = nil
	for _, d := range denied {
		got = append(got, fmt.Sprintf("%d %s %s", d.Line(), d.Item().Kind(), d.Rule))
	}
	want = []string{
		"4 add-issue-comment target",
		"5 update-issue field-not-enabled",
		"6 create-discussion kind-not-enabled",
		"7 create-pull-request-review-comment target-kind",
		"8 add-issue-label allowed-labels",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("denied (-want +got):\n%s", diff)
	}
	if n := len(approved) + len(denied); n != len(in) {
		t.Errorf("%d items in, %d out", len(in), n)
	}
}

// textOf returns the body of an issue as intake left it, with the escapes of JSON.
func textOf(t *testing.T, a intake.Accepted) string {
	t.Helper()
	issue, ok := a.Item().(*safeoutput.CreateIssue)
	if !ok || strings.Contains(issue.Body, " @octocat") {
		t.Fatalf("not a clean issue: %+v", a.Item())
	}
	raw, err := safeoutput.Encode(&safeoutput.Noop{Message: issue.Body})
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSuffix(strings.TrimPrefix(string(raw), `{"type":"noop","message":"`), `"}`)
}

// TestPrefixesWithMentions asserts that a title that begins with the owner's prefix does not get it
// once more where intake has made a mention in it inert.
func TestPrefixesWithMentions(t *testing.T) {
	in := collect(t, `{"type": "create-issue", "title": "@octocat: fixes #1: t", "body": "b"}`+"\n"+`{"type": "create-issue", "title": "t", "body": "b"}`)
	for prefix, want := range map[string][]string{"@octocat: ": {"@\u200boctocat: fixes \u200b#1: t", "@octocat: t"}, "@octo: ": {"@octo: @\u200boctocat: fixes \u200b#1: t", "@octo: t"}} {
		approved, _ := policy.Judge(policy.Config{Kinds: map[policy.Kind]policy.KindConfig{"create-issue": {TitlePrefix: prefix}}}, event.Event{}, in)
		if len(approved) != len(want) {
			t.Fatalf("%d items approved, want %d", len(approved), len(want))
		}
		for i, a := range approved {
			if got := a.Item().(*safeoutput.CreateIssue).Title; got != want[i] {
				t.Errorf("prefix %q: title %q, want %q", prefix, got, want[i])
			}
		}
	}
}

// TestJudgeIsPure asserts that Judge does not change the items that it is given, and returns the
// same when it is called again.
func TestJudgeIsPure(t *testing.T) {
	in := collect(t, `{"type": "create-issue", "title": "t", "body": "b", "labels": ["a"]}`+"\n"+`{"type": "create-discussion", "title": "t", "body": "b", "category": "x"}`)
	cfg := policy.Config{Kinds: map[policy.Kind]policy.KindConfig{
		"create-issue":      {TitlePrefix: "p ", Labels: []string{"l"}},
		"create-discussion": {Discussion: policy.DiscussionSettings{Category: "c"}},
	}}
	first, _ := policy.Judge(cfg, event.Event{}, in)
	second, _ := policy.Judge(cfg, event.Event{}, in)
	if len(first) != len(in) || len(second) != len(in) {
		t.Fatalf("%d items in, %d and %d approved", len(in), len(first), len(second))
	}
	for i := range first {
		if diff := cmp.Diff(first[i].Item(), second[i].Item()); diff != "" {
			t.Errorf("the second time (-first +second):\n%s", diff)
		}
		if cmp.Equal(first[i].Item(), in[i].Item()) { // cfg adds to both items
			t.Errorf("item %d: the accepted item was changed", i)
		}
	}
	if approved, denied := policy.Judge(cfg, event.Event{}, nil); approved != nil || denied != nil {
		t.Errorf("no items: %v, %v", approved, denied)
	}
}
