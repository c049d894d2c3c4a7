package githubapi

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// PaceConfig keeps requests below GitHub's limits. In each field 0 means the
// default and a negative number means no limit. Sources of the defaults:
// GitHub's "Rate limits for the REST API" and "Best practices for using the
// REST API".
type PaceConfig struct {
	Spacing          time.Duration // between two writes; default 1 s
	ContentPerMinute int           // content-creating requests; default 80
	ContentPerHour   int           // content-creating requests; default 500
	PointsPerMinute  int           // a read is 1 point, a write 5; default 900
	MaxWait          time.Duration // the longest that one request may wait for limits; default 10 minutes
}

// Unpaced returns the configuration without any pacing, for tests and for hosts with
// rate limits switched off.
func Unpaced() PaceConfig {
	return PaceConfig{Spacing: -1, ContentPerMinute: -1, ContentPerHour: -1, PointsPerMinute: -1}
}

// orDefault returns the limit that a field of a PaceConfig means; 0 is no limit.
func orDefault[T int | time.Duration](v, def T) T {
	if v == 0 {
		return def
	}
	return max(v, 0)
}

// pace is the state of a PaceConfig: what was sent lately.
type pace struct {
	clock     Clock
	spacing   time.Duration
	maxWait   time.Duration
	mu        sync.Mutex // guards what follows
	lastWrite time.Time
	minute    window // content-creating requests of the last minute
	hour      window // content-creating requests of the last hour
	points    window // all requests of the last minute
}

func newPace(c PaceConfig, clock Clock) *pace {
	return &pace{clock: clock, spacing: orDefault(c.Spacing, time.Second), maxWait: orDefault(c.MaxWait, defaultMaxWait),
		minute: window{span: time.Minute, limit: orDefault(c.ContentPerMinute, 80)},
		hour:   window{span: time.Hour, limit: orDefault(c.ContentPerHour, 500)},
		points: window{span: time.Minute, limit: orDefault(c.PointsPerMinute, 900)}}
}

// wait waits until the request may be sent, and counts it.
func (p *pace) wait(ctx context.Context, op *operation, log func(string)) error {
	waited := time.Duration(0)
	for {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("could not %s: %w", op.what, err)
		}
		d := p.reserve(op)
		if d == 0 {
			return nil
		}
		if waited += d; p.maxWait > 0 && waited > p.maxWait {
			e := op.fail(RateLimited, "GitHub's limit for this many requests would mean waiting for %v", d.Round(time.Second))
			e.Until = p.clock.Now().Add(d)
			return e
		}
		if d > p.spacing {
			log(fmt.Sprintf("waiting %v to stay below GitHub's limits", d.Round(time.Millisecond)))
		}
		if err := p.clock.Sleep(ctx, d); err != nil {
			return fmt.Errorf("could not %s: %w", op.what, err)
		}
	}
}

// reserve counts the request and returns 0, or returns how long to wait.
func (p *pace) reserve(op *operation) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.clock.Now()
	cost := 1
	var wait time.Duration
	if op.write {
		cost = 5
		if !p.lastWrite.IsZero() {
			wait = p.lastWrite.Add(p.spacing).Sub(now)
		}
	}
	wait = max(wait, p.points.wait(now, cost))
	if op.content {
		wait = max(wait, p.minute.wait(now, 1), p.hour.wait(now, 1))
	}
	if wait > 0 {
		return wait
	}
	p.points.add(now, cost)
	if op.content {
		p.minute.add(now, 1)
		p.hour.add(now, 1)
	}
	if op.write {
		p.lastWrite = now
	}
	return 0
}

// window counts what happened within a span of time that ends now.
type window struct {
	span   time.Duration
	limit  int // 0: no limit
	total  int
	events []event
}

type event struct {
	at   time.Time
	cost int
}

// wait returns how long it takes until an event with this cost fits. If the cost is above the limit,
// it never fits, and wait returns 0.
func (w *window) wait(now time.Time, cost int) time.Duration {
	if w.limit <= 0 {
		return 0
	}
	old := 0
	for old < len(w.events) && now.Sub(w.events[old].at) >= w.span {
		w.total -= w.events[old].cost
		old++
	}
	w.events = w.events[old:]
	free := w.limit - w.total
	if free >= cost {
		return 0
	}
	for _, e := range w.events {
		free += e.cost // once this event is older than the span
		if free >= cost {
			return e.at.Add(w.span).Sub(now)
		}
	}
	return 0 // cost is above the limit
}

// add counts what happens now.
func (w *window) add(now time.Time, cost int) {
	if w.limit > 0 {
		w.total += cost
		w.events = append(w.events, event{now, cost})
	}
}

// Patience is how long one request, such as a command of git that talks to GitHub, waits for
// GitHub's rate limits.
type Patience struct {
	clock  Clock
	log    func(string)
	max    time.Duration // 0: for ever
	waited time.Duration
	least  time.Duration // the shortest next wait where GitHub says when the limit ends: it doubles, because that time may be wrong
	next   time.Duration // the next wait where GitHub does not say when the limit ends: it doubles, too
}

// The first values of Patience's next and least, and the largest value of both. GitHub advises to
// wait a minute if it does not say when the limit ends.
const (
	firstLimitWait = time.Minute
	minLimitWait   = time.Second
	maxLimitWait   = 15 * time.Minute
)

// defaultMaxWait is PaceConfig.MaxWait where nothing is configured.
const defaultMaxWait = 10 * time.Minute

// NewPatience returns the patience of a request that does not go through a Client, such as git's.
// It waits as long as a Client with the default configuration. log gets a line about every wait.
func NewPatience(clock Clock, log func(string)) *Patience {
	return newPatience(clock, log, defaultMaxWait)
}

func newPatience(clock Clock, log func(string), longest time.Duration) *Patience {
	return &Patience{clock: clock, log: log, max: longest, least: minLimitWait, next: firstLimitWait}
}

// Wait sleeps until the limit that e reports should be over, and sets e.Until to that time. If that
// takes too long, it returns e at once. It returns ctx's error as soon as ctx ends.
func (p *Patience) Wait(ctx context.Context, e *Error) error {
	d := p.next
	if !e.Until.IsZero() {
		d = max(e.Until.Sub(p.clock.Now()), p.least)
		p.least = min(p.least*2, maxLimitWait)
	} else {
		p.next = min(p.next*2, maxLimitWait)
	}
	e.Until = p.clock.Now().Add(d)
	if p.waited += d; p.max > 0 && p.waited > p.max {
		return e
	}
	p.log(fmt.Sprintf("GitHub asks to slow down (%q); waiting %v before: %s", e.Message, d.Round(time.Second), e.Op))
	if err := p.clock.Sleep(ctx, d); err != nil {
		return fmt.Errorf("could not %s: %w", e.Op, err)
	}
	return nil
}
