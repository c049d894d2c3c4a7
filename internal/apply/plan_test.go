package apply

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-airlock/airlock/internal/event"
	"github.com/agent-airlock/airlock/internal/githubtest"
	"github.com/agent-airlock/airlock/internal/markdown"
	"github.com/agent-airlock/airlock/internal/policy"
	"github.com/agent-airlock/airlock/internal/safeoutput"
)

func TestWithoutATokenTheSnapshotIsEmptyAndThePlanNotesIt(t *testing.T) {
	b := newBench(t, fixture(), githubtest.Options{}).on("pull_request", pullNumber)
	b.token = ""
	plan := b.plan(anIssue, reviewLine("main.go", 3, "Why?"), aDiscussion)
	if len(b.srv.Requests()) != 0 {
		t.Error("requests were made")
	}
	text := strings.Join(plan.Unchecked, "\n")
	for _, part := range []string{"earlier attempt", "lines of the review comments"} {
		if !strings.Contains(text, part) {
			t.Errorf("the plan does not say that %q is unchecked: %s", part, text)
		}
	}
	if got := joinPermissions(plan.Permissions); got != "discussions: write, issues: write and pull-requests: write" {
		t.Errorf("permissions %s", got)
	}
	results := execute(context.Background(), b.deps, plan)
	want(t, results, "failed(no-token) failed(no-token) failed(no-token)")
	b.deps.Diff = localDiff()
	plan = b.plan(reviewLine("main.go", 333, "Why?"))
	if len(plan.Unchecked) != 1 || len(plan.Operations[0].Notes) != 0 {
		t.Errorf("with a diff from git the lines are checked: %q", plan.Unchecked)
	}
	if !strings.Contains(string(plan.Operations[0].Requests[0].Body), "line 333") {
		t.Error("the comment outside the diff is not in the body")
	}
}

func TestADryRunWritesNothing(t *testing.T) {
	b := newBench(t, fixture(), githubtest.Options{}).on("pull_request", pullNumber)
	b.cfg.DryRun = true
	lines := []string{anIssue, `{"type":"add-issue-comment","body":"Hello."}`, aDiscussion, `{"type":"add-issue-label","labels":["x"]}`,
		reviewLine("main.go", 3, "Why?"), reviewLine("main.go", 333, "Why?"), `{"type":"missing-tool","tool":"t","reason":"r"}`, `{"type":"noop","message":"m"}`,
		`{"type":"create-security-report","file":"main.go","line":3,"severity":"error","message":"Bad."}`, `{"type":"create-pull-request","title":"T","body":"B"}`}
	for _, r := range b.run(lines...) {
		wanted := Staged
		if r.Kind == safeoutput.KindCreatePullRequest {
			wanted = Failed // a dry run reports what would fail
		}
		if r.State != wanted {
			t.Errorf("%s: %s, want %s", r.Kind, r.State, wanted)
		}
	}
	if w := b.srv.Writes(); len(w) != 0 {
		t.Errorf("a dry run wrote: %v", operations(w))
	}
	if len(b.files) != 0 {
		t.Errorf("a dry run stored files: %v", b.files)
	}
}

func TestThePlanIsWhatIsSent(t *testing.T) {
	b := newBench(t, fixture(), githubtest.Options{}).on("pull_request", pullNumber)
	lines := []string{anIssue, `{"type":"add-issue-comment","body":"Hello."}`, aDiscussion, `{"type":"add-issue-label","labels":["x"]}`,
		reviewLine("main.go", 3, "Why?"), reviewLine("main.go", 333, "Outside."),
		line(map[string]any{"type": "create-pull-request-review-comment", "path": "main.go", "line": 5, "start_line": 2, "body": "A range."})}
	plan := b.plan(lines...)
	raw, err := json.Marshal(plan)
	if err != nil {
		t.Fatal(err)
	}
	if again, _ := json.Marshal(b.plan(lines...)); string(again) != string(raw) {
		t.Error("the same arguments gave another plan")
	}
	b.srv.ResetRequests()
	results := execute(context.Background(), b.deps, plan)
	for _, r := range results {
		if r.State != Applied {
			t.Errorf("%s: %s: %s", r.Kind, r.State, r.Message)
		}
	}
	var planned []Request
	for _, op := range plan.Operations {
		planned = append(planned, op.Requests...)
	}
	sent := b.srv.Writes()
	if len(sent) != len(planned) {
		t.Fatalf("%d requests planned, %d sent", len(planned), len(sent))
	}
	for i, p := range planned {
		got := sent[i]
		if p.Method != got.Method || p.Path != got.Path {
			t.Errorf("planned %s %s, sent %s %s", p.Method, p.Path, got.Method, got.Path)
		}
		var plannedBody, sentBody map[string]any
		if json.Unmarshal(p.Body, &plannedBody) != nil || json.Unmarshal(got.Body, &sentBody) != nil {
			t.Fatalf("not JSON: %s, %s", p.Body, got.Body)
		}
		if p.Path == "/graphql" {
			delete(plannedBody, "mutation")
			delete(sentBody, "query")
		}
		if diff := cmp.Diff(plannedBody, sentBody); diff != "" {
			t.Errorf("%s (-planned +sent):\n%s", p.Path, diff)
		}
	}
}

func TestPermissionsNeeded(t *testing.T) {
	req := []Request{{Method: "POST", Path: "/x"}}
	ops := []Operation{
		{Permissions: permissionsFor(safeoutput.KindCreateReviewComment, policy.Target{Number: 1, IsPull: true}), Requests: req},
		{Permissions: permissionsFor(safeoutput.KindCreateIssue, policy.Target{}), Requests: req},
		{Permissions: permissionsFor(safeoutput.KindCreateIssue, policy.Target{}), Requests: req},
		{Permissions: permissionsFor(safeoutput.KindCreateDiscussion, policy.Target{}), Requests: req, Staged: true},
		{Permissions: permissionsFor(safeoutput.KindCreateSecurityReport, policy.Target{})}, // everything adopted
	}
	want := []Permission{{"issues", "write"}, {"pull-requests", "write"}}
	if diff := cmp.Diff(want, PermissionsNeeded(ops, false)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	block := PermissionsBlock(PermissionsNeeded(ops, true))
	if diff := cmp.Diff("permissions:\n  contents: read\n  discussions: write\n  issues: write\n  pull-requests: write\n", block); diff != "" {
		t.Errorf("block (-want +got):\n%s", diff)
	}
	if got := PermissionsBlock(nil); got != "permissions:\n  contents: read\n" {
		t.Errorf("an empty plan: %q", got)
	}
}

func TestEarliestNeverMissesWhatThisRunWrote(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	hourAgo := now.Add(-time.Hour)
	for _, tt := range []struct {
		name   string
		run    event.Run
		ev     event.Event
		latest time.Time // the result must not be after this
	}{
		{"event's time", event.Run{Attempt: 3}, event.Event{Time: hourAgo}, hourAgo},
		{"schedule", event.Run{Attempt: 1, StartedAt: hourAgo}, event.Event{}, now.Add(-20 * time.Hour)},
		{"schedule, run again", event.Run{Attempt: 2, StartedAt: hourAgo}, event.Event{}, now.Add(-60 * 24 * time.Hour)},
		{"our clock is slow", event.Run{Attempt: 1}, event.Event{Time: now.Add(time.Hour)}, now.Add(-20 * time.Hour)},
	} {
		if got := earliest(tt.run, tt.ev, now); got.After(tt.latest) {
			t.Errorf("%s: %v is after %v", tt.name, got, tt.latest)
		}
	}
}

func TestPlanAsATable(t *testing.T) {
	b := newBench(t, fixture(), githubtest.Options{}).on("pull_request", pullNumber)
	b.kind(safeoutput.KindCreateDiscussion, func(k *policy.KindConfig) { k.Staged = true })
	p := b.plan(anIssue, aDiscussion, `{"type":"create-pull-request","title":"T","body":"B"}`, reviewLine("main.go", 3, "x"), reviewLine("main.go", 4, "y"))
	header, rows := p.Table()
	text := strings.Join(header, "|") + "\n"
	for _, r := range rows {
		text += strings.ReplaceAll(strings.Join(r, "|"), "\n", "; ") + "\n"
	}
	// What carries code comes first.
	wanted := `#|kind|what|lines|requests|permissions|notes
1|create-pull-request|open the pull request "T"|3||contents: write and pull-requests: write|failed: the changes are not at hand: check the repository out in this job (actions/checkout), or name the patch or bundle that contains them (changes)
2|create-issue|create the issue "Crash on start"|1|POST /repos/octo/repo/issues|issues: write|
3|create-discussion|create the discussion "Ideas"|2|POST /graphql|discussions: write|staged: nothing is written; in the category General
4|create-pull-request-review-comment|review pull request #7 with 2 comments|4, 5|POST /repos/octo/repo/pulls/7/reviews|pull-requests: write|
`
	if diff := cmp.Diff(wanted, text); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestPlanDocumentIsStable(t *testing.T) {
	b := newBench(t, fixture(), githubtest.Options{})
	raw, err := json.Marshal(b.plan(aComment))
	if err != nil {
		t.Fatal(err)
	}
	var doc map[string]any
	if err := json.Unmarshal(raw, &doc); err != nil {
		t.Fatal(err)
	}
	key := doc["operations"].([]any)[0].(map[string]any)["items"].([]any)[0].(map[string]any)["key"].(string)
	wanted := map[string]any{"version": 1.0, "repository": "octo/repo", "event": "workflow_dispatch", "dry_run": false,
		"permissions": []any{map[string]any{"name": "issues", "level": "write"}},
		"operations": []any{map[string]any{"number": 1.0, "kind": "add-issue-comment", "summary": "comment on #5", "target": "#5",
			"items":       []any{map[string]any{"index": 0.0, "line": 1.0, "kind": "add-issue-comment", "key": key, "outcome": "apply"}},
			"permissions": []any{map[string]any{"name": "issues", "level": "write"}},
			"requests": []any{map[string]any{"method": "POST", "path": "/repos/octo/repo/issues/5/comments",
				"body": map[string]any{"body": "Hello.\n\n> Asked for by an agent in the workflow [agent](https://github.com/octo/repo/actions/runs/100); checked and posted by Airlock.\n\n" + markdown.Marker(key)}}}}}}
	if diff := cmp.Diff(wanted, doc); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestJoinPermissions(t *testing.T) {
	p := []Permission{{"a", "read"}, {"b", "write"}, {"c", "write"}}
	for n, want := range []string{"", "a: read", "a: read and b: write", "a: read, b: write and c: write"} {
		if got := joinPermissions(p[:n]); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
