package apply

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/agent-airlock/airlock/internal/githubapi"
	"github.com/agent-airlock/airlock/internal/githubtest"
	"github.com/agent-airlock/airlock/internal/intake"
	"github.com/agent-airlock/airlock/internal/policy"
	"github.com/agent-airlock/airlock/internal/safeoutput"
	"github.com/agent-airlock/airlock/internal/token"
)

// chaos is one schedule that is being played: everything in it follows from the
// seed.
type chaos struct {
	*bench
	r        *rand.Rand
	items    []chaosItem
	approved []policy.Approved
	lag      time.Duration
	skew     time.Duration
	refused  string // a text that GitHub does not take as an inline comment
	stranger *stranger
	late     int // writes whose effect came, or may come, after everybody had gone
	diary    []string
}

// maxSkew is by how much GitHub's clock and the machine's differ at most.
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
	c.bench = newSkewedBench(t, fixture(), o, c.skew)
	ev := []string{"pull_request", "pull_request", "workflow_dispatch", "discussion"}[r.IntN(4)]
	switch ev {
	case "pull_request":
		c.on(ev, pullNumber)
	case "discussion":
		c.on(ev, discussion)
	}
	c.ev.Time = c.ev.Time.Add(c.skew) // GitHub's own
	if r.IntN(8) == 0 {
		c.ev.Time = time.Time{} // as of a schedule
	}
	anyTarget(c.bench)
	if ev == "discussion" { // which an item cannot name
		c.kind(safeoutput.KindAddIssueComment, func(kc *policy.KindConfig) { kc.Target = policy.TargetRule{} })
	}
	c.items = drawItems(r, ev)
	outside := []policy.OutsideDiff{policy.OutsideBody, policy.OutsideFile}[r.IntN(2)]
	c.kind(safeoutput.KindCreateReviewComment, func(kc *policy.KindConfig) { kc.Review.OutsideDiff = outside })
	asIssue := r.IntN(2) == 0
	c.kind(safeoutput.KindMissingTool, func(kc *policy.KindConfig) { kc.MissingTool.CreateIssue = asIssue })
	lines := make([]string, len(c.items))
	for i, it := range c.items {
		lines[i] = it.line
		if strings.HasPrefix(it.name, "missing tool") && !asIssue {
			c.items[i].times = nil
		}
		if strings.HasPrefix(it.name, "review comment") && r.IntN(12) == 0 {
			c.refused, _, _ = strings.Cut(it.text, "\n") // which holds its number
		}
	}
	var own []intake.OwnItem
	if luck := rand.New(rand.NewPCG(seed, 2)); ev == "pull_request" && luck.IntN(3) == 0 {
		c.allowOwn()
		for _, it := range drawOwn(luck) {
			c.items, own = append(c.items, it), append(own, *it.own)
		}
		if err := c.before(); err != nil {
			t.Fatal(err)
		}
	}
	c.approved = c.approve(own, lines...)
	c.cfg.Settle = []Settle{SettleAuto, SettleAuto, SettleAlways}[r.IntN(3)]
	if r.IntN(4) == 0 {
		c.pace = githubapi.PaceConfig{}
	}
	c.write("%s, lag %v (each another: %v), skew %v, %d a page, settle %d, paced %v", ev, c.lag, o.LagOf != nil, c.skew, o.PerPage, c.cfg.Settle, c.pace == githubapi.PaceConfig{})
	for _, it := range c.items {
		c.write("  item: %s", it.name)
	}
	if c.refused != "" {
		c.write("  refused inline: %q", c.refused)
	}
	return c
}

// write keeps a line for those who have to find out what went wrong.
func (c *chaos) write(format string, args ...any) {
	c.diary = append(c.diary, fmt.Sprintf(format, args...))
}

// now is the time on GitHub's clock.
func (c *chaos) now() time.Time { return c.clock.Now().Add(c.skew) }

// attempt is one run of the step: with faults, and killed at some request, unless
// it is calm. It returns nil when it was killed or could not begin.
func (c *chaos) attempt(n int, calm bool) []Result {
	c.cfg.Run.Attempt = n
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
		c.truth(before, c.srv.State(), results)
	}
	return results
}

// hook is what the world does to the requests: one in rate fails. A fault may stay:
// then every further request of the same operation has it, too.
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
		case refuses(c.refused, req):
			name, fault = "refused", githubtest.OutsideDiff()
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

// process is one process with its own client: it ends with its results, with the
// error for which it could not begin, or with neither when it was killed.
func (b *bench) process(ctx context.Context, rt http.RoundTripper, clock Clock, approved []policy.Approved) (results []Result, err error) {
	client, err := githubapi.New(githubapi.Options{Token: token.New(b.token, b.srv.APIURL()), APIURL: b.srv.APIURL(), Transport: rt, Clock: clock, Pace: b.pace})
	if err != nil {
		b.t.Fatal(err)
	}
	w := World{GitHub: client, Clock: clock, Files: b, Code: b.world.Code}
	ended := make(chan struct{})
	go func() {
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
		results = Execute(ctx, w, plan)
	}()
	<-ended
	return results, err
}
