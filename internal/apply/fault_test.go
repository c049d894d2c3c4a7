package apply

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/agent-airlock/airlock/internal/event"
	"github.com/agent-airlock/airlock/internal/githubapi"
	"github.com/agent-airlock/airlock/internal/githubtest"
	"github.com/google/go-cmp/cmp"
)

// once returns a fault for the first request of an operation.
func once(operation string, f githubtest.Fault) func(githubtest.Request) githubtest.Fault {
	return times(1, operation, f)
}

func times(n int, operation string, f githubtest.Fault) func(githubtest.Request) githubtest.Fault {
	return func(r githubtest.Request) githubtest.Fault {
		if r.Operation != operation || n == 0 {
			return githubtest.Fault{}
		}
		n--
		return f
	}
}

const (
	aComment    = `{"type":"add-issue-comment","body":"Hello.","issue_number":5}`
	aDiscussion = `{"type":"create-discussion","title":"Ideas","body":"Some."}`
	aLabel      = `{"type":"add-issue-label","labels":["x"],"issue_number":5}`
)

func TestAFailureStopsOnlyItsOwnItem(t *testing.T) {
	b := newBench(t, fixture(), githubtest.Options{})
	b.srv.SetFault(times(100, "issues/create-comment", githubtest.ServerError(502, false)))
	results := b.run(aComment, anIssue, aLabel)
	want(t, results, "failed(ambiguous) applied applied")
	if n := count(operations(b.srv.Writes()), "issues/create-comment"); n != maxTries {
		t.Errorf("%d tries", n)
	}
}

func TestAnOutageIsNotTriedOutForEveryItem(t *testing.T) {
	b := newBench(t, fixture(), githubtest.Options{})
	b.srv.SetFault(func(r githubtest.Request) githubtest.Fault {
		if r.Write {
			return githubtest.ServerError(503, false)
		}
		return githubtest.Fault{}
	})
	lines := make([]string, 50)
	for i := range lines {
		lines[i] = anIssue
	}
	for _, r := range b.run(lines...) {
		if r.State != Failed || r.Code != "ambiguous" {
			t.Fatalf("%s(%s)", r.State, r.Code)
		}
	}
	if n := len(b.srv.Writes()); n != maxOutages*maxTries {
		t.Errorf("%d writes", n)
	}
}

func TestMissingPermissionIsNamedAndNotTriedAgain(t *testing.T) {
	f := fixture()
	f.Tokens = []githubtest.Token{{Secret: "ghs_weak", Permissions: map[string]string{"contents": "read", "issues": "read", "pull_requests": "read", "discussions": "read", "metadata": "read"}}}
	b := newBench(t, f, githubtest.Options{})
	b.token = "ghs_weak"
	results := b.run(anIssue, anIssue, anIssue, aComment, aDiscussion)
	want(t, results, "failed(permission) failed(permission) failed(permission) failed(permission) failed(permission)")
	for i, perm := range []string{"issues: write", "issues: write", "issues: write", "issues: write", "discussions: write"} {
		if !strings.Contains(results[i].Message, perm) {
			t.Errorf("item %d: the message does not name %q: %s", i, perm, results[i].Message)
		}
	}
	if n := len(b.srv.Writes()); n != 3 {
		t.Errorf("%d writes: each kind is tried once", n)
	}
}

func TestWhatEndsEverythingIsNotTriedAgain(t *testing.T) {
	for name, tt := range map[string]struct {
		fault githubtest.Fault
		code  string
	}{
		"the token expired":      {githubtest.Fault{Status: 401, Body: `{"message":"Bad credentials"}`}, "unauthorized"},
		"a limit for hours":      {githubtest.PrimaryLimit(403, noon.Add(3*time.Hour)), "rate-limited"},
		"an archived repository": {githubtest.Fault{Status: 403, Body: `{"message":"Repository was archived so is read-only."}`}, CodeArchived},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, fixture(), githubtest.Options{})
			b.srv.SetFault(func(r githubtest.Request) githubtest.Fault {
				if r.Write {
					return tt.fault
				}
				return githubtest.Fault{}
			})
			for _, r := range b.run(aComment, anIssue, aLabel, aDiscussion) {
				if r.State != Failed || r.Code != tt.code {
					t.Errorf("%s: %s(%s): %s", r.Kind, r.State, r.Code, r.Message)
				}
			}
			if n := len(b.srv.Writes()); n != 1 {
				t.Errorf("%d writes", n)
			}
		})
	}
}

func TestShortLimitsAreWaitedFor(t *testing.T) {
	b := newBench(t, fixture(), githubtest.Options{})
	b.srv.SetFault(times(2, "issues/create", githubtest.SecondaryLimit(403, 30)))
	want(t, b.run(anIssue), "applied")
	if n := len(b.srv.State().Issues); n != 3 {
		t.Errorf("%d issues", n)
	}
}

func TestCreatingALabelOnAPullRequestTakesIssuesWrite(t *testing.T) {
	f := fixture()
	f.Tokens = []githubtest.Token{{Secret: "ghs_pulls", Permissions: map[string]string{"contents": "read", "pull_requests": "write", "metadata": "read"}}}
	b := newBench(t, f, githubtest.Options{}).on("pull_request", pullNumber)
	b.token = "ghs_pulls"
	results := b.run(`{"type":"add-issue-label","labels":["bug"]}`, `{"type":"add-issue-label","labels":["nowhere yet"]}`, `{"type":"add-issue-comment","body":"Hello."}`)
	want(t, results, "applied failed(permission) applied")
	if !strings.Contains(results[1].Message, "a label that the repository does not have is created, which takes issues: write") {
		t.Errorf("message %q", results[1].Message)
	}
}

func TestABadTokenEndsObserving(t *testing.T) {
	f := fixture()
	f.Tokens = []githubtest.Token{{Secret: "other"}}
	b := newBench(t, f, githubtest.Options{})
	approved, _ := b.judge(anIssue)
	b.world.GitHub, b.world.Clock = b.client(), b.clock
	_, err := Observe(context.Background(), b.world, b.cfg, b.ev, approved)
	if err == nil || !isKind(err, githubapi.Unauthorized) {
		t.Errorf("error %v", err)
	}
}

func TestRequestsAreNotWasted(t *testing.T) {
	b := newBench(t, fixture(), githubtest.Options{}).on("pull_request", pullNumber)
	lines := []string{`{"type":"noop","message":"m"}`, `{"type":"missing-tool","tool":"t","reason":"r"}`}
	b.run(lines...)
	if n := len(b.srv.Requests()); n != 0 {
		t.Errorf("%d requests for nothing", n)
	}
	for range 50 {
		lines = append(lines, anIssue, `{"type":"add-issue-comment","body":"Hello."}`, reviewLine("main.go", 3, "Why?"))
	}
	b.srv.ResetRequests()
	b.run(lines...)
	got := map[string]int{}
	for _, r := range b.srv.Requests() {
		got[r.Operation]++
	}
	wantReqs := map[string]int{"graphql/Viewer": 1, "issues/list-for-repo": 1, "issues/list-comments": 1, "pulls/get": 1, "pulls/list-files": 1,
		"pulls/list-reviews": 1, "pulls/list-review-comments": 1, "issues/create": 50, "issues/create-comment": 50, "pulls/create-review": 1}
	if diff := cmp.Diff(wantReqs, got); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
}

func TestUnknownStartOfARun(t *testing.T) {
	b := newBench(t, fixture(), githubtest.Options{})
	b.ev = event.Event{Name: "schedule", Repo: b.ev.Repo}
	b.cfg.Run.StartedAt = time.Time{}
	want(t, b.run(anIssue), "applied")
	b.clock.Advance(23 * time.Hour)
	want(t, b.run(anIssue), "adopted")
	b.clock.Advance(20 * 24 * time.Hour)
	b.cfg.Run.Attempt = 2
	want(t, b.run(anIssue), "adopted")
}
