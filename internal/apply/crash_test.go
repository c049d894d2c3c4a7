package apply

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/crash"
	"github.com/agent-airlock/airlock/internal/githubtest"
)

// defective is a transport that panics: after an issue was created, or before issues are listed.
type defective struct {
	next         http.RoundTripper
	create, list bool
}

// RoundTrip implements http.RoundTripper.
func (d defective) RoundTrip(req *http.Request) (*http.Response, error) {
	isIssues := strings.HasSuffix(req.URL.Path, "/issues")
	if d.list && isIssues && req.Method == http.MethodGet {
		panic("ghs_test")
	}
	resp, err := d.next.RoundTrip(req)
	if d.create && isIssues && req.Method == http.MethodPost {
		panic(errors.New("it happened with ghs_test"))
	}
	return resp, err
}

// A defect costs the items that it concerns. The others are done, and everything is reported.
func TestACrashCostsItsOwnItem(t *testing.T) {
	b := newBench(t, fixture(), githubtest.Options{})
	plan := b.plan(aComment, anIssue, aDiscussion)
	b.deps.GitHub = b.clientOver(defective{next: b.srv.Transport(), create: true})
	results := execute(context.Background(), b.deps, plan)
	want(t, results, "applied failed(crash) applied")
	r := results[1]
	if !strings.Contains(r.Message, "may or may not have happened") || !strings.Contains(r.Message, "apply/crash_test.go:") || r.Fallback == nil {
		t.Errorf("message %q, fallback %+v", r.Message, r.Fallback)
	}
	for _, line := range append(b.log, r.Message) {
		if strings.Contains(line, "ghs_") {
			t.Errorf("the token shows: %s", line)
		}
	}
	b.cfg.Run.Attempt = 2 // without the defect
	want(t, b.run(aComment, anIssue, aDiscussion), "adopted adopted adopted")
}

// A defect in the search for doubles, which a self-hosted runner makes necessary, costs no item: they
// are applied by then. One in what is read before the plan is made fails all items.
func TestACrashWhileReadingOrLookingForDoubles(t *testing.T) {
	b := newBench(t, fixture(), githubtest.Options{})
	b.cfg.Run.SelfHosted = true
	plan := b.plan(anIssue)
	b.deps.GitHub = b.clientOver(defective{next: b.srv.Transport(), list: true})
	want(t, execute(context.Background(), b.deps, plan), "applied")
	approved, _ := b.judge(anIssue, aComment)
	_, err := Observe(context.Background(), b.deps, b.cfg, b.ev, approved)
	if !crash.Is(err) {
		t.Fatalf("Observe: %v", err)
	}
	want(t, CrashedResults(approved, err), "failed(crash) failed(crash)")
}
