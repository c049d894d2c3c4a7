package apply

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agent-airlock/airlock/internal/event"
	"github.com/agent-airlock/airlock/internal/githubapi"
	"github.com/agent-airlock/airlock/internal/githubtest"
	"github.com/agent-airlock/airlock/internal/intake"
	"github.com/agent-airlock/airlock/internal/policy"
	"github.com/agent-airlock/airlock/internal/safeoutput"
	"github.com/agent-airlock/airlock/internal/sanitize"
	"github.com/agent-airlock/airlock/internal/token"
)

// The fixture's numbers.
const (
	issueNumber = 5
	pullNumber  = 7
	discussion  = 9
	headSHA     = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
)

// noon is when the virtual clock starts; the events happened ten minutes before.
var noon = time.Date(2026, 1, 15, 12, 0, 0, 0, time.UTC)

// patch shows the new lines 1 to 6 and, further down, 20 to 23 of main.go.
const patch = `@@ -1,4 +1,6 @@
 package main
+
+import "fmt"
 
-func old() {}
+func new() {}
 // end
@@ -18,3 +20,4 @@ func other()
 a
 b
+c
 d`

// bench is one repository on a fake GitHub that checks requests, and a workflow run in it.
type bench struct {
	t     testing.TB
	srv   *githubtest.Server
	clock *githubtest.VirtualClock
	cfg   Config
	ev    event.Event
	pol   policy.Config
	deps  Deps
	// pace is that of the client.
	pace  githubapi.PaceConfig
	token string
	files map[string][]byte
	log   []string
}

func fixture() githubtest.Fixture {
	return githubtest.Fixture{
		Repo:   githubtest.Repo{ID: 42, Owner: "octo", Name: "repo"},
		Labels: []githubtest.Label{{Name: "bug"}, {Name: "Help Wanted"}},
		Issues: []*githubtest.Issue{
			{Number: issueNumber, Title: "It breaks", Body: "Sometimes.", Labels: []string{"Bug"}},
			{Number: pullNumber, Title: "Mend it", Body: "So.", Pull: &githubtest.Pull{
				Head:  githubtest.Branch{Ref: "topic", SHA: headSHA},
				Files: []githubtest.File{{Path: "main.go", Patch: patch}, {Path: "logo.png"}, {Path: "new name.go", PreviousPath: "old.go", Status: "renamed", Patch: "@@ -1 +1 @@\n-a\n+b"}},
			}},
		},
		Categories:  []githubtest.Category{{Name: "Announcements", Slug: "announcements"}, {Name: "General", Slug: "general"}, {Name: "Q&A", Slug: "q-a", Answerable: true}},
		Discussions: []*githubtest.Discussion{{Number: discussion, Title: "What if", Body: "?"}},
	}
}

// newBench returns a bench that starts with a fixture. Every kind is enabled and may act on
// any target.
func newBench(t testing.TB, f githubtest.Fixture, o githubtest.Options) *bench {
	t.Helper()
	return newSkewedBench(t, f, o, 0)
}

// newSkewedBench returns a bench whose GitHub has a clock that differs from the machine's.
func newSkewedBench(t testing.TB, f githubtest.Fixture, o githubtest.Options, skew time.Duration) *bench {
	t.Helper()
	b := &bench{t: t, pace: githubapi.Unpaced(), token: "ghs_test", files: map[string][]byte{}}
	b.renew(f, o, skew)
	b.ev = newEvent()
	b.cfg = Config{Workflow: "agent", Run: event.Run{ID: 100, Attempt: 1, Job: "apply", Step: "airlock",
		StartedAt: b.ev.Time, URL: "https://github.com/octo/repo/actions/runs/100"}, Sanitizer: sanitizer(t)}
	b.pol = policy.Config{Kinds: map[safeoutput.Kind]policy.KindConfig{}}
	for _, s := range safeoutput.Kinds() {
		b.pol.Kinds[s.Kind] = policy.KindConfig{Target: policy.TargetRule{Any: true}, MaxLabels: -1,
			Update: policy.UpdateSettings{Status: true, Title: true, Body: true}}
	}
	return b
}

// renew starts a new server and a new clock.
func (b *bench) renew(f githubtest.Fixture, o githubtest.Options, skew time.Duration) {
	b.clock = githubtest.NewVirtualClock(noon)
	o.Clock = githubtest.Skewed(b.clock, skew)
	b.srv = githubtest.New(b.t, f, o)
	b.srv.SetBaseURL("https://api.github.test")
}

// newEvent returns the event of a workflow that somebody started by hand.
func newEvent() event.Event {
	return event.Event{Name: "workflow_dispatch", Repo: event.Repo{ID: 42, Owner: "octo", Name: "repo", DefaultBranch: "main"},
		SHA: headSHA, Ref: "refs/heads/main", Actor: "octocat", Time: noon.Add(-10 * time.Minute)}
}

// on changes the event of the run: a pull request, an issue or a discussion triggered it. Each kind
// may act only on that one.
func (b *bench) on(name string, number int) *bench {
	b.ev.Name, b.ev.Number = name, number
	switch number {
	case pullNumber:
		b.ev.IsPull = true
		b.ev.Head = event.Ref{Ref: "topic", SHA: headSHA, Repo: "octo/repo"}
		b.ev.Base = event.Ref{Ref: "main", Repo: "octo/repo"}
		b.ev.Ref = fmt.Sprintf("refs/pull/%d/merge", number)
	case discussion:
		b.ev.IsDiscussion = true
	}
	for k, kc := range b.pol.Kinds {
		kc.Target = policy.TargetRule{}
		b.pol.Kinds[k] = kc
	}
	return b
}

// kind changes the policy of a kind.
func (b *bench) kind(k safeoutput.Kind, f func(*policy.KindConfig)) *bench {
	kc := b.pol.Kinds[k]
	f(&kc)
	b.pol.Kinds[k] = kc
	return b
}

func (b *bench) client() *githubapi.Client { return b.clientOver(b.srv.Transport()) }

// clientOver returns a client with a transport of its own.
func (b *bench) clientOver(rt http.RoundTripper) *githubapi.Client {
	b.t.Helper()
	c, err := githubapi.New(githubapi.Options{Token: token.New(b.token, b.srv.APIURL()), APIURL: b.srv.APIURL(), Transport: rt,
		Clock: b.clock, Pace: b.pace, Log: func(s string) { b.log = append(b.log, s) }})
	if err != nil {
		b.t.Fatal(err)
	}
	return c
}

// WriteFile implements Files.
func (b *bench) WriteFile(name string, data []byte) (string, error) {
	b.files[name] = data
	return "/out/" + name, nil
}

// judge takes lines through intake and the policy.
func (b *bench) judge(lines ...string) ([]policy.Approved, []policy.Denied) {
	b.t.Helper()
	max := map[safeoutput.Kind]int{}
	for _, s := range safeoutput.Kinds() {
		max[s.Kind] = -1
	}
	res, err := intake.Collect(context.Background(), strings.NewReader(strings.Join(lines, "\n")), intake.Config{Max: max, MaxLabels: -1, Sanitize: sanitize.Config{}})
	if err != nil {
		b.t.Fatal(err)
	}
	for _, r := range res.Rejected {
		b.t.Fatalf("intake rejected line %d: %+v", r.Line, r)
	}
	return policy.Judge(b.pol, b.ev, res.Accepted)
}

// plan observes and plans.
func (b *bench) plan(lines ...string) *Plan {
	b.t.Helper()
	approved, denied := b.judge(lines...)
	if len(denied) > 0 {
		b.t.Fatalf("policy denied %+v", denied)
	}
	return b.planOf(approved)
}

// planOf observes and plans what the policy approved.
func (b *bench) planOf(approved []policy.Approved) *Plan {
	b.t.Helper()
	if b.token != "" {
		b.deps.GitHub = b.client()
	}
	b.deps.Clock, b.deps.Files = b.clock, b
	b.deps.Log = func(s string) { b.log = append(b.log, s) }
	snap, err := Observe(context.Background(), b.deps, b.cfg, b.ev, approved)
	if err != nil {
		b.t.Fatal(err)
	}
	plan, err := NewPlan(b.cfg, b.ev, approved, snap)
	if err != nil {
		b.t.Fatal(err)
	}
	return plan
}

// run takes lines through intake and the policy, and applies them.
func (b *bench) run(lines ...string) []Result {
	b.t.Helper()
	results := execute(context.Background(), b.deps, b.plan(lines...))
	if len(results) != len(lines) {
		b.t.Fatalf("%d results for %d items", len(results), len(lines))
	}
	return results
}

// states lists the results' states with their codes.
func states(results []Result) string {
	words := make([]string, len(results))
	for i, r := range results {
		words[i] = string(r.State)
		if r.Code != "" {
			words[i] += "(" + r.Code + ")"
		}
	}
	return strings.Join(words, " ")
}

// want asserts the states of results.
func want(t *testing.T, results []Result, wanted string) {
	t.Helper()
	if got := states(results); got != wanted {
		t.Errorf("got %s, want %s", got, wanted)
		for _, r := range results {
			t.Logf("  line %d: %s: %s", r.Line, r.Kind, r.Message)
		}
	}
}

// operations returns the names of the requests' operations.
func operations(reqs []githubtest.Request) []string {
	names := make([]string, len(reqs))
	for i, r := range reqs {
		names[i] = r.Operation
	}
	return names
}

// issue returns an issue or pull request of the server.
func (b *bench) issue(n int) *githubtest.Issue {
	b.t.Helper()
	for _, i := range b.srv.State().Issues {
		if i.Number == n {
			return i
		}
	}
	b.t.Fatalf("there is no #%d", n)
	return nil
}

func line(v map[string]any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(raw)
}

func reviewLine(path string, n int, body string) string {
	return line(map[string]any{"type": "create-pull-request-review-comment", "path": path, "line": n, "body": body})
}

func count(list []string, s string) int {
	return len(slices.DeleteFunc(slices.Clone(list), func(x string) bool { return x != s }))
}

// ownBench returns a run on the pull request in which all of Airlock's own items are allowed, except
// for those of a fix loop.
func ownBench(t testing.TB, o githubtest.Options) *bench {
	t.Helper()
	b := newBench(t, fixture(), o).on("pull_request", pullNumber)
	b.allowOwn()
	return b
}

func (b *bench) allowOwn() {
	b.pol.Own = policy.OwnSettings{Comment: true, Review: true, CheckRun: true, SecurityReport: true, Tick: true}
	b.cfg.Run.WorkflowPath = ".github/workflows/checks.yml"
}

// approve takes Airlock's own items through intake and the policy, after an agent's lines.
func (b *bench) approve(own []intake.OwnItem, lines ...string) []policy.Approved {
	b.t.Helper()
	approved, denied := b.judge(lines...)
	accepted, rejected, err := intake.Own(own, intake.Config{})
	if err != nil || len(rejected) > 0 {
		b.t.Fatalf("%v, rejected %+v", err, rejected)
	}
	ours, deniedOurs := policy.Judge(b.pol, b.ev, accepted)
	if denied = append(denied, deniedOurs...); len(denied) > 0 {
		b.t.Fatalf("policy denied %+v", denied)
	}
	return append(approved, ours...)
}

// runOwn takes Airlock's own items through intake and the policy, and applies them, after an agent's
// lines.
func (b *bench) runOwn(own []intake.OwnItem, lines ...string) []Result {
	b.t.Helper()
	results := execute(context.Background(), b.deps, b.planOf(b.approve(own, lines...)))
	if len(results) != len(own)+len(lines) {
		b.t.Fatalf("%d results for %d items", len(results), len(own)+len(lines))
	}
	return results
}

// found returns a finding's review comment.
func found(name string, line int) intake.OwnItem {
	return intake.OwnItem{Stable: "finding/" + name,
		Item: &safeoutput.CreateReviewComment{Path: "main.go", Line: line, Body: fmt.Sprintf("Found %s.", name)}}
}

func sanitizer(t testing.TB) *sanitize.Sanitizer {
	t.Helper()
	s, err := sanitize.New(sanitize.Config{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// execute carries out a plan to which nothing is added on the way.
func execute(ctx context.Context, deps Deps, plan *Plan) []Result {
	e := NewExecution(deps, plan)
	e.Perform(ctx)
	return e.Finish(ctx)
}
