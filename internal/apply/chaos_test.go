package apply

import (
	"context"
	"flag"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/agent-airlock/airlock/internal/githubtest"
)

// invoke is one process: it ends with its results, or with nil when it was killed
// or could not begin.
func (b *bench) invoke(rt http.RoundTripper, lines []string) []Result {
	approved, _ := b.judge(lines...)
	results, _ := b.process(context.Background(), rt, b.clock, approved)
	return results
}

// chaosSeed shows one schedule of a random test again.
var chaosSeed = flag.Uint64("chaos.seed", 0, "play only the schedule of this seed")

// moreChaos is the environment variable that says how many times as many schedules
// are played. CI sets it.
const moreChaos = "AIRLOCK_CHAOS"

// eachSeed plays schedules side by side, one subtest a seed.
func eachSeed(t *testing.T, schedules uint64, play func(t *testing.T, seed uint64)) {
	if more := os.Getenv(moreChaos); more != "" {
		times, err := strconv.ParseUint(more, 10, 32)
		if err != nil {
			t.Fatalf("%s: %v", moreChaos, err)
		}
		schedules *= times
	}
	first, last := uint64(1), schedules
	if *chaosSeed > 0 {
		first, last = *chaosSeed, *chaosSeed
	}
	for seed := first; seed <= last; seed++ {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			play(t, seed)
		})
	}
}

// TestWhateverHappensEveryItemIsDoneOnce plays random items under random faults:
// the run is killed at random moments and run again until it ends. The repository
// must look as without faults, and every report must say the truth.
func TestWhateverHappensEveryItemIsDoneOnce(t *testing.T) {
	eachSeed(t, 400, func(t *testing.T, seed uint64) {
		c := newChaos(t, seed)
		wanted := c.withoutFaults()
		defer c.explain(seed)
		faulty := 1 + c.r.IntN(4)
		for n := 1; ; n++ {
			results := c.attempt(n, n > faulty)
			c.clock.Advance(time.Duration(c.r.IntN(5)) * time.Second)
			if results != nil && Count(results)[Failed] == 0 {
				break
			}
			if n > faulty {
				t.Errorf("it does not end without faults: %s", states(results))
				break
			}
		}
		c.clock.Advance(time.Minute) // for what comes late
		c.once(wanted)
	})
}

// withoutFaults is what the same items lead to when nothing goes wrong.
func (c *chaos) withoutFaults() []string {
	calm := *c
	one := *c.bench
	calm.bench = &one
	calm.stranger = &stranger{}
	calm.cfg.Settle = SettleNever
	calm.renew(fixture(), githubtest.Options{TrustAnswers: true}, c.skew)
	if calm.pol.Own.Review {
		if err := calm.before(); err != nil {
			c.t.Fatal(err)
		}
	}
	results, err := calm.process(context.Background(), calm.srv.Transport(), calm.clock, calm.approved)
	if err != nil || Count(results)[Applied]+Count(results)[Adopted] != len(calm.items) {
		c.t.Fatalf("without faults it ends with %s, %v", states(results), err)
	}
	wanted := ownThings(calm.srv.State())
	calm.once(wanted)
	return wanted
}

// explain tells how to see a schedule that failed again, and what happened in it.
func (c *chaos) explain(seed uint64) {
	if c.t.Failed() {
		name, _, _ := strings.Cut(c.t.Name(), "/")
		c.t.Logf("again: go test ./internal/apply -run '^%s$' -chaos.seed=%d\n%s", name, seed, strings.Join(c.diary, "\n"))
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

// TestTwoRunsAtOnceEndWithOneOfEach plays two runs of one job that work at the
// same moment. Without faults their settle passes are enough; after faults and
// kills it takes one more run.
func TestTwoRunsAtOnceEndWithOneOfEach(t *testing.T) {
	eachSeed(t, 150, func(t *testing.T, seed uint64) {
		c := newChaos(t, seed)
		wanted := c.withoutFaults()
		defer c.explain(seed)
		c.cfg.Settle = SettleAlways
		faulty := c.r.IntN(2) == 0
		for i, results := range c.atOnce(faulty) {
			if n := Count(results); !faulty && n[Applied]+n[Adopted] != len(c.items) {
				t.Errorf("run %d ended with %s", i+1, states(results))
			}
		}
		if faulty {
			c.clock.Advance(time.Minute)
			if results := c.attempt(3, true); Count(results)[Applied]+Count(results)[Adopted] != len(c.items) {
				t.Errorf("the last run ended with %s", states(results))
			}
		}
		c.once(wanted)
	})
}

// atOnce lets two processes work at the same moment, and returns their results.
func (c *chaos) atOnce(faulty bool) (results [2][]Result) {
	s := &stage{r: c.r, clock: c.clock}
	rate := 0
	if faulty {
		rate = []int{4, 8, 16}[c.r.IntN(3)]
	}
	c.srv.SetFault(c.hook(rate, c.r.IntN(2) == 0))
	for i := range results {
		one := *c.bench
		one.cfg.Run.Attempt = 1 + c.r.IntN(2)
		left := 0
		if faulty && c.r.IntN(2) == 0 {
			left = 1 + c.r.IntN(12+2*len(c.items))
		}
		c.write("run %d: attempt %d, one fault in %d, killed at request %d", i+1, one.cfg.Run.Attempt, rate, left)
		after := c.r.IntN(2) == 0
		s.add(c.srv.Transport(), func(a *actor) {
			var err error
			results[i], err = one.process(context.Background(), &killer{next: a, left: left, after: after}, a, c.approved)
			c.write("run %d ended: %s %v", i+1, states(results[i]), err)
		})
	}
	s.play()
	return results
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
