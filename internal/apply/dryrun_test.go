package apply

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/githubtest"
	"github.com/agent-airlock/airlock/internal/safeoutput"
	"github.com/google/go-cmp/cmp"
)

func TestWithoutATokenTheSnapshotIsEmptyAndThePlanSaysSo(t *testing.T) {
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
	if got := permissionWords(plan.Permissions); got != "discussions: write, issues: write and pull-requests: write" {
		t.Errorf("permissions %s", got)
	}
	results := Execute(context.Background(), b.world, plan)
	want(t, results, "failed(no-token) failed(no-token) failed(no-token)")
	b.world.Diff = localDiff()
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
			wanted = Failed // what would fail is no success of a dry run
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
	results := Execute(context.Background(), b.world, plan)
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
		var a, c map[string]any
		if json.Unmarshal(p.Body, &a) != nil || json.Unmarshal(got.Body, &c) != nil {
			t.Fatalf("no JSON: %s, %s", p.Body, got.Body)
		}
		if p.Path == "/graphql" {
			delete(a, "mutation")
			delete(c, "query")
		}
		if diff := cmp.Diff(a, c); diff != "" {
			t.Errorf("%s (-planned +sent):\n%s", p.Path, diff)
		}
	}
}
