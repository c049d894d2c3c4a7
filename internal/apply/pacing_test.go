package apply

import (
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/agent-airlock/airlock/internal/githubapi"
	"github.com/agent-airlock/airlock/internal/githubtest"
	"github.com/agent-airlock/airlock/internal/shorttest"
)

// limits are GitHub's known limits: within any span of time, the requests' weights add up to at
// most the limit.
var limits = []struct {
	name   string
	span   time.Duration
	weight func(githubtest.Request) int
	most   int
}{
	{"content-creating requests a minute", time.Minute, githubtest.Contents, 80},
	{"content-creating requests an hour", time.Hour, githubtest.Contents, 500},
	{"points a minute", time.Minute, githubtest.Points, 900},
	{"points a minute of GraphQL", time.Minute, func(r githubtest.Request) int {
		if r.Path != "/graphql" {
			return 0
		}
		return githubtest.Points(r)
	}, 2000},
}

// TestLimitsAreNeverPassed applies 1,000 items in virtual time and checks GitHub's limits in
// every window of the server's record.
func TestLimitsAreNeverPassed(t *testing.T) {
	for name, tt := range shorttest.Some(1, map[string]struct {
		pace  githubapi.PaceConfig
		fault bool
	}{
		"default spacing":      {githubapi.PaceConfig{MaxWait: 2 * time.Hour}, false},
		"without spacing":      {githubapi.PaceConfig{MaxWait: 2 * time.Hour, Spacing: -1}, false},
		"when a quarter fails": {githubapi.PaceConfig{MaxWait: 2 * time.Hour, Spacing: -1}, true},
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, fixture(), githubtest.Options{TrustAnswers: true, PerPage: 5})
			anyTarget(b.on("pull_request", pullNumber))
			b.pace = tt.pace
			if tt.fault {
				n := 0
				b.srv.SetFault(func(githubtest.Request) githubtest.Fault {
					if n++; n%4 == 0 {
						return githubtest.ServerError(502, n%8 == 0)
					}
					return githubtest.Fault{}
				})
			}
			lines := loadLines(1000)
			approved, _ := b.judge(lines...)
			gauge := &gauge{next: b.srv.Transport()}
			results, err := b.process(t.Context(), gauge, b.clock, approved)
			if err != nil {
				t.Fatal(err)
			}
			if n := Count(results); !tt.fault && n[Applied] != len(lines) {
				t.Errorf("it ended with %v", n)
			}
			for _, l := range limits {
				if n := githubtest.Peak(b.srv.Requests(), l.span, l.weight); n > l.most {
					t.Errorf("%d %s: GitHub allows %d", n, l.name, l.most)
				}
			}
			if n := gauge.most.Load(); n != 1 {
				t.Errorf("%d requests at once", n)
			}
		})
	}
}

// TestALongQueueEndsInTime asserts that a run does not wait for hours: items beyond GitHub's limit
// for an hour fail because of it, and the next run does them.
func TestALongQueueEndsInTime(t *testing.T) {
	b := newBench(t, fixture(), githubtest.Options{TrustAnswers: true})
	anyTarget(b.on("pull_request", pullNumber))
	b.pace = githubapi.PaceConfig{}
	lines := make([]string, 600)
	for i := range lines {
		lines[i] = aComment
	}
	results := b.run(lines...)
	for _, r := range results {
		if r.State == Failed && r.Code != string(githubapi.RateLimited) {
			t.Fatalf("failed(%s): %s", r.Code, r.Message)
		}
	}
	first := Count(results)
	if first[Applied] != 500 || first[Failed] != 100 {
		t.Errorf("the first run ended with %v", first)
	}
	if n := len(b.srv.Writes()); n != 500 {
		t.Errorf("%d writes were sent", n)
	}
	b.clock.Advance(time.Hour)
	b.cfg.Run.Attempt = 2
	if second := Count(b.run(lines...)); second[Adopted] != 500 || second[Applied] != 100 {
		t.Errorf("the second run ended with %v", second)
	}
}

// loadLines returns n items of the kinds that take one request each.
func loadLines(n int) []string {
	var lines []string
	for _, row := range requestRows() {
		switch row.name {
		case "create-issue", "create-discussion", "add-issue-label", "add-issue-comment":
			lines = append(lines, row.lines(n/4)...)
		}
	}
	return lines
}

// gauge counts how many requests are under way at once.
type gauge struct {
	next      http.RoundTripper
	now, most atomic.Int64
}

// RoundTrip implements http.RoundTripper.
func (g *gauge) RoundTrip(req *http.Request) (*http.Response, error) {
	n := g.now.Add(1)
	defer g.now.Add(-1)
	g.most.Store(max(g.most.Load(), n))
	return g.next.RoundTrip(req)
}

func TestPacing(t *testing.T) {
	b := newBench(t, fixture(), githubtest.Options{})
	b.pace = githubapi.PaceConfig{}
	lines := make([]string, 20)
	for i := range lines {
		lines[i] = aComment
	}
	b.run(lines...)
	if n := githubtest.Peak(b.srv.Requests(), time.Second, githubtest.Contents); n != 1 {
		t.Errorf("%d content-creating requests within a second", n)
	}
}
