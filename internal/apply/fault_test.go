package apply

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-airlock/airlock/internal/event"
	"github.com/agent-airlock/airlock/internal/githubapi"
	"github.com/agent-airlock/airlock/internal/githubtest"
)

// always returns a function that answers every request of an operation with a fault.
func always(operation string, f githubtest.Fault) func(githubtest.Request) githubtest.Fault {
	return githubtest.Faults([]githubtest.FaultRule{{Operation: operation, Fault: f}})
}

// once is like always, but only for the first request of the operation.
func once(operation string, f githubtest.Fault) func(githubtest.Request) githubtest.Fault {
	return times(1, operation, f)
}

// times is like always, but only for the first n requests of the operation. 0 means all.
func times(n int, operation string, f githubtest.Fault) func(githubtest.Request) githubtest.Fault {
	return githubtest.Faults([]githubtest.FaultRule{{Operation: operation, Times: n, Fault: f}})
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
	b.deps.GitHub, b.deps.Clock = b.client(), b.clock
	_, err := Observe(context.Background(), b.deps, b.cfg, b.ev, approved)
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

func TestLostAnswersAreReadBack(t *testing.T) {
	for _, tt := range []struct {
		name, operation, line string
		pull                  bool
	}{
		{"issue", "issues/create", anIssue, false},
		{"comment", "issues/create-comment", aComment, false},
		{"discussion", "graphql/CreateDiscussion", aDiscussion, false},
		{"labels", "issues/add-labels", aLabel, false},
		{"review", "pulls/create-review", reviewLine("main.go", 3, "Why?"), true},
		{"review in its body only", "pulls/create-review", reviewLine("main.go", 333, "Why?"), true},
	} {
		for fault, f := range map[string]githubtest.Fault{
			"502 after the write":     githubtest.ServerError(502, true),
			"502 before the write":    githubtest.ServerError(502, false),
			"cut after the write":     {Cut: true, After: true},
			"cut in the answer":       {CutBody: true},
			"no JSON after the write": githubtest.NotJSON(true),
			"late, after the write":   {Delay: time.Minute, After: true},
			"late, before the write":  {Delay: time.Minute},
		} {
			for _, lag := range []time.Duration{0, 25 * time.Second} {
				t.Run(tt.name+"/"+fault+"/lag "+lag.String(), func(t *testing.T) {
					b := newBench(t, fixture(), githubtest.Options{Lag: lag})
					if tt.pull {
						b.on("pull_request", pullNumber)
					}
					b.srv.SetFault(once(tt.operation, f))
					want(t, b.run(tt.line), "applied")
					effects := 0
					for _, w := range b.srv.Writes() {
						if w.Effect && w.Operation == tt.operation {
							effects++
						}
					}
					if tt.name != "labels" && effects != 1 {
						t.Errorf("it was done %d times: %v", effects, operations(b.srv.Writes()))
					}
				})
			}
		}
	}
}

// A write that is refused at the second try may have taken effect at the first. The message must
// not claim that it did not.
func TestARefusalAfterALostAnswerStaysAmbiguous(t *testing.T) {
	for operation, line := range map[string]string{
		"issues/add-labels":          aLabel,
		"issues/update":              `{"type":"update-issue","title":"New","issue_number":5}`,
		"code-scanning/upload-sarif": alert("main.go", 3, "Found.", ""),
	} {
		for name, refusal := range map[string]githubtest.Fault{
			"404": githubtest.NotThere(),
			"403": {Status: 403, Body: `{"message":"Resource not accessible by integration"}`},
			"422": githubtest.OutsideDiff(),
		} {
			t.Run(operation+"/"+name, func(t *testing.T) {
				b := newBench(t, fixture(), githubtest.Options{})
				b.srv.SetFault(githubtest.Faults([]githubtest.FaultRule{
					{Operation: operation, Times: 1, Fault: githubtest.ServerError(502, true)},
					{Operation: operation, Fault: refusal}}))
				results := b.run(line)
				want(t, results, "failed(ambiguous)")
				if !strings.Contains(results[0].Message, "may or may not have happened") || !strings.Contains(results[0].Message, "trying again led to") {
					t.Errorf("message %q", results[0].Message)
				}
			})
		}
	}
}

func TestNoRetryWhereLookingIsImpossible(t *testing.T) {
	b := newBench(t, fixture(), githubtest.Options{})
	lost := false
	b.srv.SetFault(func(r githubtest.Request) githubtest.Fault {
		switch {
		case r.Operation == "issues/create":
			lost = true
			return githubtest.ServerError(502, true)
		case r.Operation == "issues/list-for-repo" && lost:
			return githubtest.ServerError(503, false)
		}
		return githubtest.Fault{}
	})
	want(t, b.run(anIssue), "failed(ambiguous)")
	if n := count(operations(b.srv.Writes()), "issues/create"); n != 1 {
		t.Errorf("%d writes: a second one could double the issue", n)
	}
}

// A list that cannot be read may contain what an earlier attempt posted.
func TestNoReviewWhereLookingIsImpossible(t *testing.T) {
	for _, list := range []string{"pulls/list-reviews", "pulls/list-review-comments"} {
		t.Run(list, func(t *testing.T) {
			b := newBench(t, fixture(), githubtest.Options{}).on("pull_request", pullNumber)
			lines := []string{reviewLine("main.go", 3, "Inline."), reviewLine("main.go", 333, "Outside.")}
			want(t, b.run(lines...), "applied applied")
			b.cfg.Run.Attempt = 2
			b.srv.SetFault(times(100, list, githubtest.NotThere()))
			want(t, b.run(lines...), "failed(not-found) failed(not-found)")
			if n := len(b.srv.Writes()); n != 1 {
				t.Errorf("%d writes: a second one doubles the comments", n)
			}
		})
	}
}

func TestCancelFinishesTheWriteInFlightAndReportsTheRest(t *testing.T) {
	b := newBench(t, fixture(), githubtest.Options{})
	plan := b.plan(anIssue, aComment, aLabel)
	ctx, cancel := context.WithCancel(context.Background())
	b.srv.SetFault(func(r githubtest.Request) githubtest.Fault {
		if r.Operation == "issues/create" {
			cancel()
		}
		return githubtest.Fault{}
	})
	results := execute(ctx, b.deps, plan)
	want(t, results, "applied failed(cancelled) failed(cancelled)")
	if n := len(b.srv.Writes()); n != 1 {
		t.Errorf("%d writes", n)
	}
	b.cfg.Run.Attempt = 2
	want(t, b.run(anIssue, aComment, aLabel), "adopted applied applied")
}

func TestCancelDuringAnAmbiguousFailureLooksOnceMore(t *testing.T) {
	b := newBench(t, fixture(), githubtest.Options{})
	plan := b.plan(anIssue)
	ctx, cancel := context.WithCancel(context.Background())
	b.srv.SetFault(func(r githubtest.Request) githubtest.Fault {
		if r.Operation == "issues/create" {
			cancel()
			return githubtest.ServerError(502, true)
		}
		return githubtest.Fault{}
	})
	want(t, execute(ctx, b.deps, plan), "applied")
}

// TestInformationalAnswers sends a 102 and a 103, as a proxy may, before each answer.
func TestInformationalAnswers(t *testing.T) {
	t.Parallel()
	b := newBench(t, fixture(), githubtest.Options{})
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		w.WriteHeader(http.StatusProcessing)
		w.Header().Set("Link", `</style.css>; rel="preload"`)
		w.WriteHeader(http.StatusEarlyHints)
		w.Header().Del("Link")
		b.srv.ServeHTTP(w, req)
	}))
	t.Cleanup(srv.Close)
	b.srv.SetBaseURL(srv.URL)
	transport, err := githubapi.NewTransport(githubapi.TransportOptions{})
	if err != nil {
		t.Fatal(err)
	}
	approved, _ := b.judge(anIssue, aComment, aLabel, aDiscussion)
	for _, state := range []string{"applied applied applied applied", "adopted adopted adopted adopted"} {
		results, err := b.process(t.Context(), transport, b.clock, approved)
		if err != nil {
			t.Fatal(err)
		}
		want(t, results, state)
	}
}
