package apply

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-airlock/airlock/internal/githubapi"
	"github.com/agent-airlock/airlock/internal/githubtest"
	"github.com/agent-airlock/airlock/internal/intake"
	"github.com/agent-airlock/airlock/internal/markdown"
	"github.com/agent-airlock/airlock/internal/policy"
	"github.com/agent-airlock/airlock/internal/safeoutput"
	"github.com/agent-airlock/airlock/internal/shorttest"
	"github.com/agent-airlock/airlock/internal/token"
)

// invoke runs one process. It returns its results, or nil if it was killed or could not begin.
func (b *bench) invoke(rt http.RoundTripper, lines []string) []Result {
	approved, _ := b.judge(lines...)
	results, _ := b.process(context.Background(), rt, b.clock, approved)
	return results
}

// chaosSeed repeats one schedule of a random test.
var chaosSeed = flag.Uint64("chaos.seed", 0, "play only the schedule of this seed")

// moreChaos is the environment variable that multiplies the number of schedules. CI sets it.
const moreChaos = "AIRLOCK_CHAOS"

// everyCombination reports whether a table is played in every form that its cases can have, as in
// CI. Otherwise each case is played in some of them, so that each form occurs.
func everyCombination() bool { return os.Getenv(moreChaos) != "" }

// eachSeed plays schedules in parallel, one subtest for each seed.
func eachSeed(t *testing.T, n uint64, play func(t *testing.T, seed uint64)) {
	first, last := uint64(1), schedules(t, n)
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

// schedules returns how many schedules of a test are played, which are n by default.
func schedules(t *testing.T, n uint64) uint64 {
	t.Helper()
	if more := os.Getenv(moreChaos); more != "" {
		times, err := strconv.ParseUint(more, 10, 32)
		if err != nil {
			t.Fatalf("%s: %v", moreChaos, err)
		}
		n *= times
	}
	return shorttest.Count(n, 10)
}

// TestWhateverHappensEveryItemIsDoneOnce applies random items under random faults: the run is
// killed at random moments and run again until it ends. The repository must then look as it
// does without faults, and the results of every attempt must be true.
func TestWhateverHappensEveryItemIsDoneOnce(t *testing.T) {
	eachSeed(t, 20, func(t *testing.T, seed uint64) {
		c := newChaos(t, seed)
		wanted := c.withoutFaults()
		defer explain(t, seed, &c.diary)
		faulty := 1 + c.r.IntN(4)
		for n := 1; ; n++ {
			results := c.attempt(n, n > faulty)
			c.clock.Advance(time.Duration(c.r.IntN(5)) * time.Second)
			if results != nil && c.ended(results) {
				break
			}
			if n > faulty {
				t.Errorf("an attempt without faults does not end: %s", states(results))
				break
			}
		}
		c.clock.Advance(time.Minute) // until late writes have taken effect
		c.checkEnd(wanted)
	})
}

// withoutFaults returns what the same items lead to when nothing goes wrong.
func (c *chaos) withoutFaults() []string {
	calm := *c
	one := *c.bench
	calm.bench = &one
	calm.stranger, calm.hasDraft = &stranger{}, false
	calm.cfg.Run.Shared, calm.cfg.Run.SelfHosted = false, false
	calm.renew(fixture(), githubtest.Options{TrustAnswers: true}, c.skew)
	if calm.pol.Own.Review {
		if err := calm.playEarlierRuns(); err != nil {
			c.t.Fatal(err)
		}
	}
	results, err := calm.process(context.Background(), calm.srv.Transport(), calm.clock, calm.approved)
	if err != nil || calm.done(results) != len(calm.items) {
		c.t.Fatalf("without faults it ends with %s, %v", states(results), err)
	}
	wanted := ownThings(calm.srv.State())
	calm.checkEnd(wanted)
	return wanted
}

// explain logs how to repeat a schedule that failed, and what happened in it.
func explain(t testing.TB, seed uint64, diary *[]string) {
	if t.Failed() {
		name, _, _ := strings.Cut(t.Name(), "/")
		t.Logf("again: go test ./internal/apply -run '^%s$' -chaos.seed=%d\n%s", name, seed, strings.Join(*diary, "\n"))
	}
}

// anyTarget allows items to act on both the issue and the pull request. Review comments may still
// act only on the pull request of the event.
func anyTarget(b *bench) *bench {
	for k, kc := range b.pol.Kinds {
		kc.Target.Any = k != "create-pull-request-review-comment"
		b.pol.Kinds[k] = kc
	}
	return b
}

// triggeredBy makes the run one of an event, whose items may act on any target.
func (b *bench) triggeredBy(ev string) {
	switch ev {
	case "pull_request":
		b.on(ev, pullNumber)
	case "discussion":
		b.on(ev, discussion)
	}
	anyTarget(b)
	if ev == "discussion" { // an item cannot name a discussion
		b.kind(safeoutput.KindAddIssueComment, func(kc *policy.KindConfig) { kc.Target = policy.TargetRule{} })
	}
}

// TestTwoRunsAtOnceEndWithOneOfEach plays two runs of one job that work at the
// same moment. Without faults, their own reconciling is enough; after faults and kills it
// takes one more run.
func TestTwoRunsAtOnceEndWithOneOfEach(t *testing.T) {
	eachSeed(t, 8, func(t *testing.T, seed uint64) {
		c := newChaos(t, seed)
		c.cfg.Run.SelfHosted = true
		c.endsWithOneOfEach(seed, func() int { return 1 + c.r.IntN(2) })
	})
}

// TestTwoEqualAttemptsEndWithOneOfEach plays two runs that are both on the second attempt, on
// GitHub's own runners.
func TestTwoEqualAttemptsEndWithOneOfEach(t *testing.T) {
	eachSeed(t, 8, func(t *testing.T, seed uint64) {
		c := newChaos(t, seed)
		c.cfg.Run.SelfHosted = false
		c.endsWithOneOfEach(seed, func() int { return 2 })
	})
}

// TestTwoEqualCallersEndWithOneOfEach plays two jobs of one attempt that nothing distinguishes.
func TestTwoEqualCallersEndWithOneOfEach(t *testing.T) {
	eachSeed(t, 8, func(t *testing.T, seed uint64) {
		c := newChaos(t, seed)
		c.cfg.Run.SelfHosted, c.cfg.Run.Shared = false, true
		c.endsWithOneOfEach(seed, func() int { return 1 })
	})
}

// TestOneJobOnTwoRunnersEndsWithOneOfEach plays one job of one attempt that GitHub has given to two
// runners of the owner's.
func TestOneJobOnTwoRunnersEndsWithOneOfEach(t *testing.T) {
	eachSeed(t, 8, func(t *testing.T, seed uint64) {
		c := newChaos(t, seed)
		c.cfg.Run.SelfHosted = true
		c.endsWithOneOfEach(seed, func() int { return 1 })
	})
}

// TestTwoClaimsEndWithOneOfEach plays two jobs with the same identity and different claims. It
// asserts that at most one of them is refused. If one job does not write an item, or removes it
// again, the other must have written it.
func TestTwoClaimsEndWithOneOfEach(t *testing.T) {
	eachSeed(t, 8, func(t *testing.T, seed uint64) {
		c := newChaos(t, seed)
		c.cfg.Run.SelfHosted, c.cfg.Run.Shared = false, true
		wanted := c.withoutFaults()
		defer explain(t, seed, &c.diary)
		claims := []string{claimOne, claimTwo}
		attempt := 1 + c.r.IntN(2)
		through := 0
		for i, results := range c.atOnce(false, func() int {
			c.cfg.Run.Claim, claims = claims[0], claims[1:]
			return attempt
		}) {
			if results == nil {
				continue
			}
			through++
			yielded := len(slices.DeleteFunc(slices.Clone(results), func(r Result) bool { return r.Code != CodeSameIdentity }))
			if c.done(results)+yielded != len(c.items) {
				t.Errorf("job %d ended with %s", i+1, states(results))
			}
		}
		if through == 0 {
			t.Error("both jobs were refused")
		}
		c.checkEnd(wanted)
	})
}

// endsWithOneOfEach plays two runs that work at the same moment, on the attempts that attempt
// returns.
func (c *chaos) endsWithOneOfEach(seed uint64, attempt func() int) {
	t := c.t
	wanted := c.withoutFaults()
	defer explain(t, seed, &c.diary)
	faulty := c.r.IntN(2) == 0
	for i, results := range c.atOnce(faulty, attempt) {
		if !faulty && c.done(results) != len(c.items) {
			t.Errorf("run %d ended with %s", i+1, states(results))
		}
	}
	if faulty {
		c.clock.Advance(time.Minute)
		if results := c.attempt(3, true); c.done(results) != len(c.items) {
			t.Errorf("the last run ended with %s", states(results))
		}
	}
	c.checkEnd(wanted)
}

// atOnce lets two processes work at the same moment, and returns their results.
func (c *chaos) atOnce(faulty bool, attempt func() int) (results [2][]Result) {
	s := &stage{r: c.r, clock: c.clock}
	rate := 0
	if faulty {
		rate = []int{4, 8, 16}[c.r.IntN(3)]
	}
	c.srv.SetFault(c.hook(rate, c.r.IntN(2) == 0))
	for i := range results {
		number := attempt()
		one := *c.bench
		one.cfg.Run.Attempt = number
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

// chaos is one schedule that is being played. Everything in it follows from the seed.
type chaos struct {
	*bench
	r        *rand.Rand
	items    []chaosItem
	approved []policy.Approved
	lag      time.Duration
	skew     time.Duration
	refused  string // a text that GitHub takes neither on lines nor on a file
	stranger *stranger
	// hasDraft is set where a person who uses the same account has not submitted a review.
	hasDraft bool
	replayed bool // the method attempt runs each process in the same attempt of the job
	late     int  // writes that take effect after their client has stopped waiting
	diary    []string
}

// strangersDraft is the text of a person's draft.
const strangersDraft = "Thoughts that are not ready yet."

// maxSkew is the largest difference between GitHub's clock and the machine's.
const maxSkew = 2 * time.Hour

func newChaos(t testing.TB, seed uint64) *chaos {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 1))
	c := &chaos{r: r, stranger: &stranger{}}
	c.lag = []time.Duration{0, time.Duration(r.IntN(31)) * time.Second, listLag}[r.IntN(3)]
	c.skew = []time.Duration{0, 0, time.Duration(r.Int64N(int64(2*maxSkew))) - maxSkew}[r.IntN(3)]
	o := githubtest.Options{Lag: c.lag, PerPage: []int{2, 3, 100}[r.IntN(3)], TrustAnswers: true, Processing: time.Duration(r.IntN(60)) * time.Second}
	if r.IntN(3) == 0 {
		o.LagOf = func() time.Duration { return time.Duration(r.Int64N(int64(c.lag) + 1)) }
	}
	o.RefuseComment = func(body string) bool { return c.refused != "" && strings.Contains(body, c.refused) }
	c.bench = newSkewedBench(t, fixture(), o, c.skew)
	ev := []string{"pull_request", "pull_request", "workflow_dispatch", "discussion"}[r.IntN(4)]
	c.triggeredBy(ev)
	c.ev.Time = c.ev.Time.Add(c.skew) // by GitHub's clock
	if r.IntN(8) == 0 {
		c.ev.Time = time.Time{} // like the event of a schedule
	}
	c.items = drawItems(r, ev)
	outside := []policy.OutsideDiff{policy.OutsideBody, policy.OutsideFile}[r.IntN(2)]
	c.kind(safeoutput.KindCreateReviewComment, func(kc *policy.KindConfig) { kc.Review.OutsideDiff = outside })
	asIssue := r.IntN(2) == 0
	c.kind(safeoutput.KindMissingTool, func(kc *policy.KindConfig) { kc.CreateIssue = asIssue })
	c.kind(safeoutput.KindMissingData, func(kc *policy.KindConfig) { kc.CreateIssue = asIssue })
	c.kind(safeoutput.KindReportIncomplete, func(kc *policy.KindConfig) { kc.CreateIssue = asIssue })
	lines := make([]string, len(c.items))
	for i, it := range c.items {
		lines[i] = it.line
		if (strings.HasPrefix(it.name, "missing ") || strings.HasPrefix(it.name, "incomplete ")) && !asIssue {
			c.items[i].times = nil
		}
		if strings.HasPrefix(it.name, "review comment") && r.IntN(12) == 0 {
			c.refused, _, _ = strings.Cut(it.text, "\n") // the first line contains its number
		}
	}
	// The items below are drawn with random numbers of their own: the rest of a schedule stays the
	// same.
	var own []intake.OwnItem
	if luck := rand.New(rand.NewPCG(seed, 2)); ev == "pull_request" && luck.IntN(3) == 0 {
		c.allowOwn()
		for _, it := range drawOwn(luck) {
			c.items, own = append(c.items, it), append(own, *it.own)
		}
		if err := c.playEarlierRuns(); err != nil {
			t.Fatal(err)
		}
	}
	if luck := rand.New(rand.NewPCG(seed, 3)); ev == "pull_request" && luck.IntN(3) == 0 {
		body := "A run that was killed began this.\n\n" + markdown.Marker(strings.Repeat("7", keyLen+1))
		if c.hasDraft = own == nil && luck.IntN(2) == 0; c.hasDraft {
			body = strangersDraft
		}
		c.draftOf(body)
	}
	c.replayed = rand.New(rand.NewPCG(seed, 4)).IntN(3) == 0
	c.approved = c.approve(own, lines...)
	c.cfg.Run.SelfHosted = r.IntN(3) == 0
	if r.IntN(4) == 0 {
		c.pace = githubapi.PaceConfig{}
	}
	c.write("%s, lag %v (at random up to it: %v), skew %v, %d a page, self-hosted %v, paced %v", ev, c.lag, o.LagOf != nil, c.skew, o.PerPage, c.cfg.Run.SelfHosted, c.pace == githubapi.PaceConfig{})
	for _, it := range c.items {
		c.write("  item: %s", it.name)
	}
	if c.refused != "" {
		c.write("  refused inline: %q", c.refused)
	}
	return c
}

// write adds a line to the diary, which explain logs.
func (c *chaos) write(format string, args ...any) {
	c.diary = append(c.diary, fmt.Sprintf(format, args...))
}

// now returns the time on GitHub's clock.
func (c *chaos) now() time.Time { return c.clock.Now().Add(c.skew) }

// attempt runs the step once: with faults, and killed at some request, unless it is calm. It
// returns nil if the run was killed or could not begin.
func (c *chaos) attempt(n int, calm bool) []Result {
	c.cfg.Run.Attempt = n
	if c.replayed { // by a script or a person, in the same attempt of the job
		c.cfg.Run.Attempt, c.cfg.Run.Begun = 1, n > 1
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	rt := c.srv.Transport()
	c.srv.SetFault(c.hook(0, false))
	if !calm {
		rate, aimed := []int{0, 3, 8, 16}[c.r.IntN(4)], c.r.IntN(2) == 0
		c.srv.SetFault(c.hook(rate, aimed))
		how := ""
		if c.r.IntN(3) > 0 {
			k := &killer{next: rt, left: 1 + c.r.IntN(12+2*len(c.items)), after: c.r.IntN(2) == 0}
			how = fmt.Sprintf(", killed at request %d (after its effect: %v)", k.left, k.after)
			if c.r.IntN(4) == 0 {
				k.cancel, how = cancel, fmt.Sprintf(", interrupted at request %d", k.left)
			}
			rt = k
		}
		c.write("attempt %d: one fault in %d (writes only: %v)%s", n, rate, aimed, how)
	} else {
		c.write("attempt %d: calm", n)
	}
	before, writes := c.srv.State(), len(c.srv.Writes())
	results, err := c.process(ctx, rt, c.clock, c.approved)
	switch {
	case err != nil:
		c.write("  it could not begin: %v", err)
		if calm || len(c.srv.Writes()) != writes {
			c.t.Errorf("attempt %d could not begin, and wrote %d times: %v", n, len(c.srv.Writes())-writes, err)
		}
	case results == nil:
		c.write("  killed")
	default:
		c.write("  ended: %s", states(results))
		c.checkResults(before, c.srv.State(), results)
	}
	return results
}

// hook returns a fault hook that makes one request in rate fail. A fault may stay: then every
// further request of the same operation has it too.
func (c *chaos) hook(rate int, writesOnly bool) func(githubtest.Request) githubtest.Fault {
	stays := map[string]githubtest.Fault{}
	return func(req githubtest.Request) githubtest.Fault {
		if c.r.IntN(12) == 0 {
			c.srv.Change(func(f *githubtest.Fixture) { c.stranger.act(c.r, f, c.now()) })
		}
		name := ""
		fault, stayed := stays[req.Operation]
		switch {
		case stayed:
			name = "as before"
		case rate > 0 && (req.Write || !writesOnly) && c.r.IntN(rate) == 0:
			name, fault = drawFault(c.r, req, c.now(), c.lag)
			if c.r.IntN(6) == 0 {
				name, stays[req.Operation] = name+", and it stays", fault
			}
		}
		if fault.Late > 0 && req.Write {
			c.late++
		}
		c.write("  %d %s %s %s", req.Seq, req.Operation, req.Path, name)
		return fault
	}
}

// process runs one process with a client of its own. It returns the results, or the error for
// which it could not begin, or neither if it was killed.
func (b *bench) process(ctx context.Context, rt http.RoundTripper, clock githubapi.Clock, approved []policy.Approved) (results []Result, err error) {
	return b.loggedProcess(ctx, rt, clock, approved, nil)
}

// loggedProcess is process with a log.
func (b *bench) loggedProcess(ctx context.Context, rt http.RoundTripper, clock githubapi.Clock, approved []policy.Approved, log func(string)) (results []Result, err error) {
	client, err := githubapi.New(githubapi.Options{Token: token.New(b.token, b.srv.APIURL()), APIURL: b.srv.APIURL(), Transport: rt, Clock: clock, Pace: b.pace, Log: log})
	if err != nil {
		b.t.Fatal(err)
	}
	w := Deps{GitHub: client, Clock: clock, Files: b, Code: b.deps.Code, Log: log}
	ended := make(chan struct{})
	go func() { // which a killer can end
		defer close(ended)
		snap, failed := Observe(ctx, w, b.cfg, b.ev, approved)
		if failed != nil {
			err = failed
			return
		}
		plan, failed := NewPlan(b.cfg, b.ev, approved, snap)
		if failed != nil {
			err = failed
			return
		}
		results = execute(ctx, w, plan)
	}()
	<-ended
	return results, err
}

// reported reports whether an item was done, but counts as failed because it reports that a task was
// not completed.
func reported(r Result) bool { return r.Code == CodeIncomplete }

// done returns how many items are done, by this attempt or by an earlier one.
func (c *chaos) done(results []Result) int {
	return len(slices.DeleteFunc(slices.Clone(results), func(r Result) bool { return r.State != Applied && r.State != Adopted && !reported(r) }))
}

// ended reports whether nothing is left to be done in another attempt.
func (c *chaos) ended(results []Result) bool {
	return !slices.ContainsFunc(results, func(r Result) bool { return r.State == Failed && !reported(r) })
}

// tally counts the outcomes of equal items.
type tally struct{ all, applied, adopted, unsure, failed int }

func (c *chaos) tallies(results []Result) map[string]*tally {
	out := map[string]*tally{}
	for i, it := range c.items {
		t := out[it.name]
		if t == nil {
			t = &tally{}
			out[it.name] = t
		}
		t.all++
		switch r := results[i]; {
		case r.State == Applied, reported(r):
			t.applied++
		case r.State == Adopted:
			t.adopted++
		case r.State == Failed && (r.Code == string(githubapi.Ambiguous) || r.Code == CodeNotTaken):
			t.unsure++
		case r.State == Failed:
			t.failed++
		}
	}
	return out
}

// checkResults asserts that the results of an attempt agree with the server: what is applied
// or adopted is there, and what certainly failed was not written.
func (c *chaos) checkResults(before, after githubtest.Fixture, results []Result) {
	if len(results) != len(c.items) {
		c.t.Errorf("%d results for %d items", len(results), len(c.items))
		return
	}
	tallies := c.tallies(results)
	for _, it := range c.items {
		n := tallies[it.name]
		if n.applied+n.adopted+n.unsure+n.failed != n.all {
			c.t.Errorf("%s: an item has an outcome that is not expected here: %s", it.name, states(results))
		}
		if it.times == nil {
			if n.applied != n.all {
				c.t.Errorf("%s: %+v, although nothing has to be written", it.name, n)
			}
			continue
		}
		there, least, most := it.times(after), n.applied+n.adopted, n.applied+n.unsure
		if c.late > 0 {
			most = n.all // late writes of an earlier attempt can add to those of this one
		}
		if it.once {
			least, most = min(least, 1), min(most, 1)
		}
		if there < least {
			c.t.Errorf("%s is there %d times, but the results are %+v", it.name, there, *n)
		}
		if written := there - it.times(before); written > most {
			c.t.Errorf("%s was written %d times, but the results are %+v", it.name, written, *n)
		}
	}
	for i, r := range results {
		c.objectExists(after, c.items[i], r)
	}
}

// objectExists asserts that a result's object, if there is one, is on the server.
func (c *chaos) objectExists(st githubtest.Fixture, it chaosItem, r Result) {
	if r.Object != nil && r.Object.ID != 0 && !exists(st, r.Object.ID) {
		c.t.Errorf("%s: %s, but its object does not exist: %+v", it.name, r.State, *r.Object)
	}
}

// exists reports whether an object with an id is on the server.
func exists(st githubtest.Fixture, id int64) bool {
	isComment := func(m *githubtest.Comment) bool { return m.ID == id }
	for _, i := range st.Issues {
		if i.ID == id || slices.ContainsFunc(i.Comments, isComment) {
			return true
		}
		if p := i.Pull; p != nil && (slices.ContainsFunc(p.Reviews, func(v *githubtest.Review) bool { return v.ID == id }) ||
			slices.ContainsFunc(p.Comments, func(d *githubtest.DiffComment) bool { return d.ID == id })) {
			return true
		}
	}
	for _, d := range st.Discussions {
		if d.ID == id || slices.ContainsFunc(d.Comments, isComment) {
			return true
		}
	}
	return slices.ContainsFunc(st.Checks, func(k *githubtest.Check) bool { return k.ID == id })
}

// checkEnd asserts that every item is in the repository once and in full, that faults have left
// nothing more of ours there, and that nothing of other people's is gone.
func (c *chaos) checkEnd(wanted []string) {
	st := c.srv.State()
	for i, it := range c.items {
		if it.times == nil {
			continue
		}
		want := len(slices.DeleteFunc(slices.Clone(c.items), func(o chaosItem) bool { return o.name != it.name }))
		if it.once {
			want = 1
		}
		if n := it.times(st); n != want {
			c.t.Errorf("item %d, %s, is there %d times, not %d", i, it.name, n, want)
		}
	}
	if diff := cmp.Diff(wanted, ownThings(st)); diff != "" {
		c.t.Errorf("the repository (-without faults +with):\n%s", diff)
	}
	c.checkDrafts(issueIn(st, pullNumber).Pull.Reviews)
	strange := 0
	for _, i := range st.Issues {
		for _, m := range i.Comments {
			if m.Author == c.stranger.account() {
				strange++
			}
		}
	}
	if strange != c.stranger.left {
		c.t.Errorf("of the %d comments of others %d are left", c.stranger.left, strange)
	}
}

// checkDrafts asserts that a person's draft is still there, and none of Airlock's where a review
// was posted.
func (c *chaos) checkDrafts(reviews []*githubtest.Review) {
	theirs, ours, posted := 0, 0, 0
	for _, v := range reviews {
		switch {
		case v.State != "PENDING":
			posted++
		case v.Body == strangersDraft:
			theirs++
		default:
			ours++
		}
	}
	if c.hasDraft != (theirs == 1) || ours > 0 && posted > 0 {
		c.t.Errorf("%d drafts of a person and %d of ours are left next to %d reviews", theirs, ours, posted)
	}
}

// ownThings returns the issues and discussions with the comments of our account, sorted, without
// footers, keys and numbers. It leaves out the issues that others added. It also leaves out review
// comments, because their place depends on what GitHub refuses.
func ownThings(st githubtest.Fixture) []string {
	var out []string
	add := func(where, text string) {
		text = markdown.StripMarkers(text)
		for _, footer := range []string{"> Asked for by", "> Found by"} {
			text, _, _ = strings.Cut(text, footer)
		}
		out = append(out, where+": "+strings.TrimSpace(text))
	}
	for _, i := range st.Issues {
		if i.Number > discussion && (i.Author != st.Viewer || i.State != "open") {
			continue // written by others, or a duplicate that was closed
		}
		labels := slices.Sorted(slices.Values(i.Labels))
		add("issue", fmt.Sprintln(i.Title, i.State, labels)+i.Body)
		for _, m := range i.Comments {
			if m.Author == st.Viewer && !strings.Contains(m.Body, "**`main.go`, line") && !strings.Contains(m.Body, "**`gone.go`, line") {
				add(fmt.Sprint("comment on ", i.Title), m.Body)
			}
		}
	}
	for _, d := range st.Discussions {
		add("discussion", d.Title+"\n"+d.Body)
		for _, m := range d.Comments {
			add("comment on "+d.Title, m.Body)
		}
	}
	slices.Sort(out)
	return out
}
