package githubtest

import (
	"context"
	"slices"
	"sync"
	"time"
)

// Clock is the server's time. It is the same as githubapi's Clock, so one
// virtual clock serves both ends.
type Clock interface {
	Now() time.Time
	Sleep(ctx context.Context, d time.Duration) error
}

// VirtualClock stands still until somebody sleeps or advances it: a sleep costs
// no real time and moves it forward.
type VirtualClock struct {
	mu  sync.Mutex
	now time.Time
}

// NewVirtualClock starts at the given time; the zero time means noon UTC of 15
// January 2026.
func NewVirtualClock(start time.Time) *VirtualClock {
	if start.IsZero() {
		start = time.Date(2026, 1, 15, 12, 0, 0, 0, time.UTC)
	}
	return &VirtualClock{now: start}
}

// Now returns the virtual time.
func (c *VirtualClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Advance moves the clock forward.
func (c *VirtualClock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// Sleep advances the clock by d, unless ctx is done.
func (c *VirtualClock) Sleep(ctx context.Context, d time.Duration) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if d > 0 {
		c.Advance(d)
	}
	return nil
}

// Skewed returns a clock that advances with c and is ahead of it by the given amount.
func Skewed(c Clock, by time.Duration) Clock { return skewed{c, by} }

type skewed struct {
	Clock
	by time.Duration
}

func (s skewed) Now() time.Time { return s.Clock.Now().Add(s.by) }

// realClock is the machine's.
type realClock struct{}

func (realClock) Now() time.Time { return time.Now() }

func (realClock) Sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

// lateEffect is a request that takes effect after its client has gone.
type lateEffect struct {
	at time.Time
	c  *conversation
}

// postpone makes a request take effect later. The caller holds the lock.
func (s *Server) postpone(c *conversation, by time.Duration) {
	s.late = append(s.late, lateEffect{s.o.Clock.Now().Add(by), c})
	slices.SortStableFunc(s.late, func(a, b lateEffect) int { return a.at.Compare(b.at) })
}

// catchUp handles the postponed requests that are due, each at its own time.
// The caller holds the lock.
func (s *Server) catchUp() {
	for len(s.late) > 0 && !s.late[0].at.After(s.o.Clock.Now()) {
		next := s.late[0]
		s.late = s.late[1:]
		s.at = next.at
		r := s.handleSafely(next.c)
		next.c.rec.Effect = r.status < 300 && !next.c.refused
	}
	s.at = time.Time{}
}

// time returns when the request that is being handled takes effect.
func (s *Server) time() time.Time {
	if !s.at.IsZero() {
		return s.at
	}
	return s.o.Clock.Now()
}
