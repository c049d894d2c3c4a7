package githubtest

import (
	"context"
	"sync"
	"time"
)

// Clock is the server's time. It is the same as githubapi's Clock, so one
// virtual clock serves both ends.
type Clock interface {
	Now() time.Time
	Sleep(ctx context.Context, d time.Duration) error
}

// VirtualClock stands still until somebody sleeps or advances it: a sleep takes
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

// Now is the virtual time.
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

// Skewed is a clock that is wrong by the given amount, and passes time with c.
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
