package apply

import (
	"context"
	"math/rand/v2"
	"net/http"
	"slices"
	"time"

	"github.com/agent-airlock/airlock/internal/githubtest"
)

// stage interleaves several processes, so that only one runs at a time. Before and after each
// request, and whenever a process sleeps, the stage chooses the process that goes on: at random, or
// by calling next. Time passes when all of them sleep.
type stage struct {
	r     *rand.Rand
	clock *githubtest.VirtualClock
	all   []*actor
	// held reports whether a process is not to go on yet, though it could; nil for never.
	held func(a *actor) bool
	next func(ready []*actor) *actor // nil for at random
}

// actor is a process on a stage. It is also the clock and the transport that the process uses.
type actor struct {
	stage *stage
	next  http.RoundTripper
	turn  chan struct{} // a value lets the process go on
	rest  chan struct{} // the process sends a value when it waits or has ended
	wake  time.Time
	ended bool
}

// add puts a process on the stage. It begins only in play.
func (s *stage) add(next http.RoundTripper, process func(a *actor)) {
	a := &actor{stage: s, next: next, turn: make(chan struct{}), rest: make(chan struct{})}
	s.all = append(s.all, a)
	go func() {
		<-a.turn
		process(a)
		a.ended = true
		a.rest <- struct{}{}
	}()
}

// play runs until each process has ended or is held.
func (s *stage) play() {
	for {
		left := slices.DeleteFunc(slices.Clone(s.all), func(a *actor) bool { return a.ended || s.held != nil && s.held(a) })
		if len(left) == 0 {
			return
		}
		ready := slices.DeleteFunc(slices.Clone(left), func(a *actor) bool { return a.wake.After(s.clock.Now()) })
		if len(ready) == 0 {
			first := slices.MinFunc(left, func(a, b *actor) int { return a.wake.Compare(b.wake) })
			s.clock.Advance(first.wake.Sub(s.clock.Now()))
			continue
		}
		var a *actor
		if s.next != nil {
			a = s.next(ready)
		} else {
			a = ready[s.r.IntN(len(ready))]
		}
		a.turn <- struct{}{}
		<-a.rest
	}
}

// pause lets other processes run until it is the actor's turn again.
func (a *actor) pause(until time.Time) {
	a.wake = until
	a.rest <- struct{}{}
	<-a.turn
}

// Now implements githubapi.Clock.
func (a *actor) Now() time.Time { return a.stage.clock.Now() }

// Sleep implements githubapi.Clock.
func (a *actor) Sleep(ctx context.Context, d time.Duration) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	a.pause(a.Now().Add(d))
	return ctx.Err()
}

// RoundTrip implements http.RoundTripper.
func (a *actor) RoundTrip(req *http.Request) (*http.Response, error) {
	a.pause(a.Now())
	resp, err := a.next.RoundTrip(req)
	a.pause(a.Now())
	return resp, err
}
