package apply

import (
	"context"
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/githubtest"
)

// Where GitHub itself keeps a workflow run from writing, the items are shown by other means, and
// nothing fails. Each sort of such a run has its own explanation. Elsewhere, the items fail if
// there is no token, or if it lacks a permission.
func TestRunsThatMayOnlyRead(t *testing.T) {
	lines := []string{reviewLine("main.go", 1, "One."), anIssue, alert("main.go", 3, "Bad.", "r"), `{"type":"noop","message":"m"}`}
	const (
		asUsual      = "applied applied applied applied"
		forked       = "skipped(fork-read-only) skipped(fork-read-only) skipped(fork-read-only) applied"
		byDependabot = "skipped(dependabot-read-only) skipped(dependabot-read-only) skipped(dependabot-read-only) applied"
	)
	for _, tt := range []struct {
		name, event       string
		fork, dependabot  bool
		permission, token string
		states, says      string
	}{
		{"a fork", "pull_request", true, false, "read", "ghs_test", forked, "workflow runs for pull requests from forks have a read-only token"},
		{"a fork without a token", "pull_request", true, false, "read", "", forked, "forks get no secrets"},
		{"Dependabot", "pull_request", false, true, "read", "ghs_test", byDependabot, "Dependabot starts have a read-only token unless the job's permissions: block raises it"},
		{"Dependabot without a token", "pull_request", false, true, "read", "", byDependabot, "store the token under Settings, Secrets and variables, Dependabot"},
		{"Dependabot with permissions", "pull_request", false, true, "write", "ghs_test", asUsual, ""},
		{"Dependabot on pull_request_target", "pull_request_target", false, true, "read", "ghs_test", byDependabot, "Dependabot"},
		{"a fork on pull_request_target", "pull_request_target", true, false, "read", "ghs_test",
			"failed(permission) failed(permission) failed(permission) applied", "lacks the permission"},
		{"anybody", "pull_request", false, false, "read", "ghs_test", "failed(permission) failed(permission) failed(permission) applied", "lacks the permission"},
		{"anybody without a token", "pull_request", false, false, "read", "", "failed(no-token) failed(no-token) failed(no-token) applied", "no token"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := fixture()
			f.Tokens = []githubtest.Token{{Secret: "ghs_test", Permissions: map[string]string{"contents": "read", "metadata": "read",
				"issues": tt.permission, "pull_requests": tt.permission, "security_events": tt.permission}}}
			b := newBench(t, f, githubtest.Options{}).on(tt.event, pullNumber)
			b.ev.Fork = tt.fork
			if tt.dependabot {
				b.ev.Actor = "dependabot[bot]"
			}
			b.token = tt.token
			plan := b.plan(lines...)
			if tt.token == "" {
				b.deps.GitHub = nil
			}
			results := execute(context.Background(), b.deps, plan)
			want(t, results, tt.states)
			for _, r := range results[:3] {
				if !strings.Contains(r.Message, tt.says) {
					t.Errorf("%s: the message lacks %q: %s", r.Kind, tt.says, r.Message)
				}
				if r.State == Skipped && r.Fallback == nil && r.File == "" {
					t.Errorf("%s: its text is lost", r.Kind)
				}
				if r.Code == CodeDependabotReadOnly && tt.token != "" && !strings.Contains(r.Message, ": write)") {
					t.Errorf("%s: the message does not name the permission: %s", r.Kind, r.Message)
				}
			}
		})
	}
}

// A token that GitHub accepted at first and not any more was not wrong: it has expired.
func TestATokenThatExpires(t *testing.T) {
	b := newBench(t, fixture(), githubtest.Options{})
	written := 0
	b.srv.SetFault(func(r githubtest.Request) githubtest.Fault {
		if r.Write {
			if written++; written > 1 {
				return githubtest.Fault{Status: 401, Body: `{"message":"Bad credentials"}`}
			}
		}
		return githubtest.Fault{}
	})
	results := b.run(anIssue, aComment, aDiscussion)
	want(t, results, "applied failed(unauthorized) failed(unauthorized)")
	if !strings.Contains(results[1].Message, "does not accept the token any more") || !strings.Contains(results[1].Message, "expired") {
		t.Errorf("message %q", results[1].Message)
	}
	if !strings.HasPrefix(results[2].Message, "not tried, because an item before could not be done: ") {
		t.Errorf("message %q", results[2].Message)
	}
}

// The message about a repository that was renamed does not say that it does not exist.
func TestAWriteToARenamedRepository(t *testing.T) {
	b := newBench(t, fixture(), githubtest.Options{})
	b.srv.SetFault(times(10, "issues/create", githubtest.Fault{Status: 301, Header: map[string][]string{"Location": {"https://api.github.test/repositories/42/issues"}},
		Body: `{"message":"Moved Permanently","url":"https://api.github.test/repositories/42/issues"}`}))
	results := b.run(anIssue)
	want(t, results, "failed(not-found)")
	if !strings.Contains(results[0].Message, "was renamed or transferred") || strings.Contains(results[0].Message, "does not exist") {
		t.Errorf("message %q", results[0].Message)
	}
}
