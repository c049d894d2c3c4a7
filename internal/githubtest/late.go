package githubtest

import (
	"slices"
	"time"
)

// lateEffect is a request that takes effect when its client has long gone.
type lateEffect struct {
	at time.Time
	c  *conversation
}

// putOff lets a request take effect later. The caller holds the lock.
func (s *Server) putOff(c *conversation, by time.Duration) {
	s.late = append(s.late, lateEffect{s.o.Clock.Now().Add(by), c})
	slices.SortStableFunc(s.late, func(a, b lateEffect) int { return a.at.Compare(b.at) })
}

// catchUp lets take effect what was put off until now, each at its own time. The
// caller holds the lock.
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

// time is when what is handled takes effect.
func (s *Server) time() time.Time {
	if !s.at.IsZero() {
		return s.at
	}
	return s.o.Clock.Now()
}
