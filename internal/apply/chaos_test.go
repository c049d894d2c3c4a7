package apply

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/agent-airlock/airlock/internal/githubapi"
	"github.com/agent-airlock/airlock/internal/githubapi/githubtest"
	"github.com/agent-airlock/airlock/internal/markdown"
	"github.com/agent-airlock/airlock/internal/token"
	"github.com/google/go-cmp/cmp"
)

// killer is a transport that ends its goroutine at the nth request, as a process
// that is killed ends: before the request is sent, or after it took effect.
type killer struct {
	next  http.RoundTripper
	left  int
	after bool
}

// RoundTrip implements http.RoundTripper.
func (k *killer) RoundTrip(req *http.Request) (*http.Response, error) {
	if k.left--; k.left != 0 {
		return k.next.RoundTrip(req)
	}
	if k.after {
		if resp, err := k.next.RoundTrip(req); err == nil {
			_ = resp.Body.Close()
		}
	}
	runtime.Goexit()
	return nil, nil
}

// chaosLines touch everything that is created.
func chaosLines() []string {
	return []string{anIssue, aComment, aComment, aDiscussion, aLabel, anIssue,
		`{"type":"update-issue","title":"New","issue_number":5}`,
		`{"type":"add-issue-comment","body":"On the pull request.","issue_number":7}`,
		reviewLine("main.go", 3, "Inline."), reviewLine("main.go", 333, "Outside."), reviewLine("main.go", 5, "Inline too."),
		`{"type":"create-discussion","title":"More","body":"Some."}`}
}

// invoke is one process: it ends with its results, or with nil when it was killed
// or could not begin.
func (b *bench) invoke(rt http.RoundTripper, lines []string) (results []Result) {
	client, err := githubapi.New(githubapi.Options{Token: token.New(b.token, b.srv.APIURL()), APIURL: b.srv.APIURL(), Transport: rt, Clock: b.clock, Pace: b.pace})
	if err != nil {
		b.t.Fatal(err)
	}
	approved, _ := b.judge(lines...)
	w := World{GitHub: client, Clock: b.clock, Files: b}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		snap, err := Observe(context.Background(), w, b.cfg, b.ev, approved)
		if err != nil {
			return
		}
		plan, err := NewPlan(b.cfg, b.ev, approved, snap)
		if err != nil {
			return
		}
		results = Execute(context.Background(), w, plan)
	}()
	<-ended
	return results
}

// summary is what matters about a repository: all texts, without footers, keys
// and numbers, sorted.
func (b *bench) summary() []string {
	var out []string
	add := func(where, body string) {
		body = markdown.StripMarkers(body)
		if i := strings.Index(body, "> Asked for by"); i >= 0 {
			body = body[:i]
		}
		if body = strings.TrimSpace(body); body != "" && !strings.HasPrefix(body, "*This review was posted twice") {
			out = append(out, where+": "+body)
		}
	}
	st := b.srv.State()
	for _, i := range st.Issues {
		if i.State == "open" {
			add("issue", i.Title+" "+strings.Join(i.Labels, ",")+"\n"+i.Body)
		}
		for _, c := range i.Comments {
			add(fmt.Sprint("comment on ", i.Number), c.Body)
		}
		if i.Pull != nil {
			for _, r := range i.Pull.Reviews {
				add("review", r.Body)
			}
			for _, c := range i.Pull.Comments {
				add(fmt.Sprint("line ", c.Line), c.Body)
			}
		}
	}
	for _, d := range st.Discussions {
		add("discussion", d.Title+"\n"+d.Body)
	}
	slices.Sort(out)
	return out
}

// randomFault is something that goes wrong with about one request in eight.
func randomFault(r *rand.Rand) func(githubtest.Request) githubtest.Fault {
	return func(githubtest.Request) githubtest.Fault {
		if r.IntN(8) != 0 {
			return githubtest.Fault{}
		}
		after := r.IntN(2) == 0
		switch r.IntN(6) {
		case 0:
			return githubtest.ServerError([]int{500, 502, 503}[r.IntN(3)], after)
		case 1:
			return githubtest.Fault{Cut: true, After: after}
		case 2:
			return githubtest.Fault{CutBody: true}
		case 3:
			return githubtest.NotJSON(after)
		case 4:
			return githubtest.Fault{Delay: time.Minute, After: after}
		}
		return githubtest.SecondaryLimit([]int{403, 429}[r.IntN(2)], r.IntN(3)-1)
	}
}

// TestWhateverHappensEveryItemIsDoneOnce kills a run at random moments, under
// random faults and lag, runs it again until it ends, and compares the repository
// with one where nothing happened.
func TestWhateverHappensEveryItemIsDoneOnce(t *testing.T) {
	lines := chaosLines()
	calm := newBench(t, fixture(), githubtest.Options{}).on("pull_request", pullNumber)
	anyTarget(calm)
	calm.run(lines...)
	wanted := calm.summary()
	schedules := 80
	if testing.Short() {
		schedules = 20
	}
	for seed := range schedules {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(uint64(seed), 2))
			b := newBench(t, fixture(), githubtest.Options{Lag: time.Duration(r.IntN(30)) * time.Second})
			anyTarget(b.on("pull_request", pullNumber))
			var last []Result
			for attempt := 1; ; attempt++ {
				b.cfg.Run.Attempt = attempt
				var rt http.RoundTripper = b.srv.Transport()
				b.srv.SetFault(nil)
				if attempt < 6 {
					b.srv.SetFault(randomFault(r))
					rt = &killer{next: rt, left: 1 + r.IntN(40), after: r.IntN(2) == 0}
				}
				last = b.invoke(rt, lines)
				b.clock.Advance(time.Duration(r.IntN(5)) * time.Second)
				if last != nil && Count(last)[Failed] == 0 {
					break
				}
				if attempt > 8 {
					t.Fatalf("it does not end: %s", states(last))
				}
			}
			if diff := cmp.Diff(wanted, b.summary()); diff != "" {
				t.Errorf("the repository (-without faults +with):\n%s", diff)
			}
			for _, res := range last {
				if res.State != Applied && res.State != Adopted {
					t.Errorf("%s: %s(%s): %s", res.Kind, res.State, res.Code, res.Message)
				}
			}
		})
	}
}

// anyTarget lets items act on the issue and the pull request alike.
func anyTarget(b *bench) *bench {
	for k, kc := range b.pol.Kinds {
		kc.Target.Any = k != "create-pull-request-review-comment"
		b.pol.Kinds[k] = kc
	}
	return b
}

// TestTwoRunsAtOnceEndWithOneOfEach lets two runs of one job work at the same
// moment.
func TestTwoRunsAtOnceEndWithOneOfEach(t *testing.T) {
	lines := chaosLines()
	calm := anyTarget(newBench(t, fixture(), githubtest.Options{}).on("pull_request", pullNumber))
	calm.run(lines...)
	wanted := calm.summary()
	for seed := range 40 {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(uint64(seed), 3))
			b := newBench(t, fixture(), githubtest.Options{Lag: time.Duration(r.IntN(30)) * time.Second})
			anyTarget(b.on("pull_request", pullNumber))
			b.cfg.Settle = SettleAlways
			var wg sync.WaitGroup
			for range 2 {
				one := *b
				wg.Go(func() { one.invoke(b.srv.Transport(), lines) })
			}
			wg.Wait()
			if diff := cmp.Diff(wanted, b.summary()); diff != "" {
				t.Errorf("the repository (-one run +two runs):\n%s", diff)
			}
		})
	}
}

// A review that is being divided, killed before or after each of its requests,
// is completed by the next attempt: every comment stands there once.
func TestKilledWhileDividingAReview(t *testing.T) {
	lines := []string{reviewLine("main.go", 1, "Good one."), reviewLine("main.go", 99, "Bad one."), reviewLine("main.go", 3, "Good two."),
		reviewLine("gone.go", 1, "Bad two."), reviewLine("main.go", 5, "Good three.")}
	for n := 1; n < 60; n++ {
		for _, after := range []bool{false, true} {
			b := reviewBench(t, githubtest.Options{Lag: 5 * time.Second, Fault: func(r githubtest.Request) githubtest.Fault {
				if r.Operation == "pulls/list-files" {
					return githubtest.Fault{Status: 404, Body: `{"message":"Not Found"}`}
				}
				return githubtest.Fault{}
			}})
			first := b.invoke(&killer{next: b.srv.Transport(), left: n, after: after}, lines)
			b.cfg.Run.Attempt = 2
			results := b.invoke(b.srv.Transport(), lines)
			for i, r := range results {
				if r.State != Applied && r.State != Adopted {
					t.Errorf("killed at %d (%v), item %d: %s(%s): %s", n, after, i, r.State, r.Code, r.Message)
				}
			}
			text := b.everywhere()
			for _, part := range []string{"Good one.", "Bad one.", "Good two.", "Bad two.", "Good three."} {
				if c := strings.Count(text, part); c != 1 {
					t.Errorf("killed at %d (%v): %q stands there %d times", n, after, part, c)
				}
			}
			if first != nil { // it ended before the kill
				return
			}
		}
	}
	t.Error("it never ended")
}
