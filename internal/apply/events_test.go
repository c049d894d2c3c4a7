package apply

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/event"
	"github.com/agent-airlock/airlock/internal/githubtest"
	"github.com/agent-airlock/airlock/internal/intake"
	"github.com/agent-airlock/airlock/internal/policy"
)

// eventBench returns a run on a real payload, in a repository that contains what the event is
// about.
func eventBench(t *testing.T, name, payload string) *bench {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("..", "..", "testdata", "events", payload))
	if err != nil {
		t.Fatal(err)
	}
	env := event.Env{Repository: "octo-org/octo-repo", SHA: strings.Repeat("d", 40), Ref: "refs/heads/main", RunID: "100", RunAttempt: "1", Job: "apply", Step: "airlock", ServerURL: "https://github.com"}
	if strings.Contains(string(raw), `"Codertocat/Hello-World"`) {
		env.Repository = "Codertocat/Hello-World"
	}
	if name == "pull_request" || strings.HasPrefix(name, "pull_request_review") {
		env.Ref = "refs/pull/2/merge"
	}
	ev, err := event.Parse(name, raw, env)
	if err != nil {
		t.Fatal(err)
	}
	f := fixture()
	f.Repo = githubtest.Repo{ID: ev.Repo.ID, Owner: ev.Repo.Owner, Name: ev.Repo.Name}
	f.Issues, f.Discussions = nil, nil
	switch {
	case ev.IsDiscussion:
		f.Discussions = []*githubtest.Discussion{{Number: ev.Number, Title: "T", Body: "B"}}
	case ev.IsPull:
		f.Issues = fixture().Issues[1:]
		f.Issues[0].Number = ev.Number
		if ev.Head.SHA != "" {
			f.Issues[0].Pull.Head.SHA = ev.Head.SHA
		}
	case ev.Number != 0:
		f.Issues = []*githubtest.Issue{{Number: ev.Number, Title: "T", Body: "B"}}
	}
	b := newBench(t, f, githubtest.Options{})
	b.ev = ev
	if b.cfg.Run, err = event.ParseRun(env, ev); err != nil {
		t.Fatal(err)
	}
	for k, kc := range b.pol.Kinds {
		kc.Target = policy.TargetRule{}
		b.pol.Kinds[k] = kc
	}
	return b
}

// TestEventsWithRealPayloads applies items of nine kinds that carry no code, on real payloads of
// events. The items name no target. A second attempt adopts what the first one has created.
func TestEventsWithRealPayloads(t *testing.T) {
	lines := []string{
		`{"type":"create-issue","title":"T","body":"B"}`,
		`{"type":"add-issue-comment","body":"B"}`,
		`{"type":"add-issue-label","labels":["x"]}`,
		`{"type":"update-issue","status":"closed"}`,
		reviewLine("main.go", 3, "B"),
		`{"type":"create-discussion","title":"T","body":"B"}`,
		`{"type":"missing-tool","tool":"t","reason":"r"}`,
		alert("main.go", 3, "Bad.", "r"),
		`{"type":"noop","message":"m"}`,
	}
	const (
		onIssue      = "applied applied applied applied denied(target-kind) applied applied applied applied"
		onPull       = "applied applied applied denied(target-kind) applied applied applied applied applied"
		onDiscussion = "applied applied denied(target-kind) denied(target-kind) denied(target-kind) applied applied applied applied"
		onNothing    = "applied denied(no-context) denied(no-context) denied(no-context) denied(no-context) applied applied applied applied"
	)
	for _, tt := range []struct{ event, payload, states string }{
		{"pull_request", "pull_request.opened.json", onPull},
		{"pull_request", "pull_request.opened-fork.json", onPull},
		{"pull_request_target", "pull_request.opened-fork.json", onPull},
		{"issues", "issues.opened.json", onIssue},
		{"issue_comment", "issue_comment.created.json", onIssue},
		{"issue_comment", "issue_comment.created-pull-request.json", onPull},
		{"pull_request_review", "pull_request_review.submitted.json", onPull},
		{"pull_request_review_comment", "pull_request_review_comment.created.json", onPull},
		{"discussion", "discussion.created.json", onDiscussion},
		{"discussion_comment", "discussion_comment.created.json", onDiscussion},
		{"workflow_dispatch", "workflow_dispatch.json", onNothing},
		{"schedule", "schedule.json", onNothing},
		{"push", "push.json", onNothing},
		{"workflow_run", "workflow_run.completed.json", onNothing},
	} {
		t.Run(tt.event+"/"+tt.payload, func(t *testing.T) {
			b := eventBench(t, tt.event, tt.payload)
			first := b.outcomes(lines)
			want(t, first, tt.states)
			writes := len(b.srv.Writes())
			b.cfg.Run.Attempt = 2
			for _, r := range b.outcomes(lines) {
				switch r.Kind {
				case "missing-tool", "noop", "create-security-report": // nothing to adopt
				default:
					if r.State != Adopted && r.State != Denied {
						t.Errorf("second attempt: %s: %s(%s): %s", r.Kind, r.State, r.Code, r.Message)
					}
				}
			}
			for _, w := range b.srv.Writes()[writes:] {
				if w.Operation != "code-scanning/upload-sarif" {
					t.Errorf("the second attempt wrote %s", w.Operation)
				}
			}
		})
	}
}

// outcomes takes lines through both doors and applies them. It returns one result for each
// line, including the policy's denials.
func (b *bench) outcomes(lines []string) []Result {
	b.t.Helper()
	res, err := intake.Collect(context.Background(), strings.NewReader(strings.Join(lines, "\n")), intake.Config{})
	if err != nil || len(res.Rejected)+len(res.Dropped) > 0 {
		b.t.Fatalf("intake: %v, %v, %v", err, res.Rejected, res.Dropped)
	}
	approved, denied := policy.Judge(b.pol, b.ev, res.Accepted)
	plan := b.planOf(approved)
	out := make([]Result, len(lines))
	for _, r := range append(execute(context.Background(), b.deps, plan), DeniedResults(denied)...) {
		if r.Line < 1 || r.Line > len(lines) || out[r.Line-1].State != "" {
			b.t.Fatalf("a result for line %d: %s", r.Line, fmt.Sprint(r))
		}
		out[r.Line-1] = r
	}
	return out
}
