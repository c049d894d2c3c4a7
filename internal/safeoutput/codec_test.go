package safeoutput

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func ptr[T any](v T) *T { return &v }

func TestEncodeAndDecode(t *testing.T) {
	tests := []struct {
		item Item
		want string
	}{
		{&CreateIssue{Title: "a", Body: "b\n\"c\" <é>", Labels: []string{"x", "y"}},
			`{"type":"create-issue","title":"a","body":"b\n\"c\" <é>","labels":["x","y"]}`},
		{&AddIssueComment{Body: "b", IssueNumber: 7}, `{"type":"add-issue-comment","body":"b","issue_number":7}`},
		{&CreatePullRequest{Title: "a", Body: "b", Draft: ptr(false)}, `{"type":"create-pull-request","title":"a","body":"b","draft":false}`},
		{&AddIssueLabel{Labels: []string{"x"}}, `{"type":"add-issue-label","labels":["x"]}`},
		{&UpdateIssue{Status: ptr("open"), Title: ptr("")}, `{"type":"update-issue","status":"open","title":""}`},
		{&PushToBranch{}, `{"type":"push-to-branch"}`},
		{&CreateReviewComment{Path: "a.go", Line: 3, Body: "b", Side: "LEFT"},
			`{"type":"create-pull-request-review-comment","path":"a.go","line":3,"body":"b","side":"LEFT"}`},
		{&CreateDiscussion{Title: "a", Body: "b"}, `{"type":"create-discussion","title":"a","body":"b"}`},
		{&MissingTool{Tool: "a", Reason: "b"}, `{"type":"missing-tool","tool":"a","reason":"b"}`},
		{&CreateSecurityReport{SARIF: json.RawMessage(`{"runs":[1]}`), Category: "c"},
			`{"type":"create-security-report","sarif":{"runs":[1]},"category":"c"}`},
		{&CreateSecurityReport{File: "a", Line: 1, Severity: "note", Message: "m", RuleIDSuffix: "r"},
			`{"type":"create-security-report","file":"a","line":1,"severity":"note","message":"m","ruleIdSuffix":"r"}`},
		{&Noop{Message: "m"}, `{"type":"noop","message":"m"}`},
	}
	for _, tt := range tests {
		got, err := Encode(tt.item)
		if err != nil || string(got) != tt.want {
			t.Errorf("Encode = %s, %v; want %s", got, err, tt.want)
		}
		back, err := Decode(tt.item.Kind(), got)
		if err != nil {
			t.Errorf("Decode(%s): %v", got, err)
		}
		if d := cmp.Diff(tt.item, back); d != "" {
			t.Errorf("Decode(%s) differs: %s", got, d)
		}
	}
}

func TestEncodeKeepsTheOutputOnOneLine(t *testing.T) {
	got, err := Encode(&CreateSecurityReport{SARIF: json.RawMessage("{\n \"runs\": [\n]\n}")})
	if err != nil || string(got) != `{"type":"create-security-report","sarif":{"runs":[]}}` {
		t.Errorf("Encode = %s, %v", got, err)
	}
}

func TestDecodeRefuses(t *testing.T) {
	for _, raw := range []string{``, `null`, `[]`, `{"message":"a"`, `{"message":1}`, `{"nope":"a"}`, `{"Message":"a"}`, `{"message":"a","message":"b"}`} {
		if it, err := Decode(KindNoop, []byte(raw)); err == nil {
			t.Errorf("Decode(%s) = %+v, want an error", raw, it)
		}
	}
	if _, err := Decode("nope", []byte(`{}`)); err == nil {
		t.Error("Decode of an unknown kind gives no error")
	}
}

func TestParseWhole(t *testing.T) {
	for raw, want := range map[string]int{`1`: 1, `7.0`: 7, `1e2`: 100, `"7"`: 7, `2147483647`: 2147483647} {
		if got, err := ParseWhole([]byte(raw)); got != want || err != nil {
			t.Errorf("ParseWhole(%s) = %d, %v; want %d", raw, got, err, want)
		}
	}
	for _, raw := range []string{``, `0`, `-1`, `1.5`, `"0"`, `"007"`, `"+7"`, `" 7"`, `"7 "`, `"10abc"`, `""`, `"1.0"`, `2147483648`, `1e10000000`, `true`, `null`} {
		if got, err := ParseWhole([]byte(raw)); err == nil {
			t.Errorf("ParseWhole(%s) = %d, want an error", raw, got)
		}
	}
}

func TestLookup(t *testing.T) {
	for name, want := range map[string]Kind{
		"create-issue": KindCreateIssue, "create_issue": KindCreateIssue, "add-comment": KindAddIssueComment, "add_comment": KindAddIssueComment,
		"add-labels": KindAddIssueLabel, "push_to_pull_request_branch": KindPushToBranch, "create-code-scanning-alert": KindCreateSecurityReport,
		"create_pull_request_review_comment": KindCreateReviewComment, "noop": KindNoop,
	} {
		if s, ok := Lookup(name); !ok || s.Kind != want {
			t.Errorf("Lookup(%q) = %q, %v; want %q", name, s.Kind, ok, want)
		}
	}
	for _, name := range []string{"", "Create-Issue", "create issue", "item", "_"} {
		if s, ok := Lookup(name); ok {
			t.Errorf("Lookup(%q) = %q, want none", name, s.Kind)
		}
	}
}

func TestCanonicalField(t *testing.T) {
	if got := CanonicalField(KindUpdateIssue, "item_number"); got != "issue_number" {
		t.Errorf("update-issue: item_number is %q", got)
	}
	if got := CanonicalField(KindCreateIssue, "item_number"); got != "item_number" {
		t.Errorf("create-issue has no issue_number, but item_number is %q", got)
	}
}
