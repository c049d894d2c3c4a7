package githubtest

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// need says 403 unless the token has one of the permissions, which are written
// as in X-Accepted-GitHub-Permissions: "issues=write; pull_requests=write".
// Reading a public repository needs none.
func (s *Server) need(c *conversation, accepted string) (reply, bool) {
	if s.may(c, accepted) {
		return reply{}, true
	}
	r := fail(http.StatusForbidden, "Resource not accessible by integration")
	r.header = http.Header{"X-Accepted-Github-Permissions": {accepted}}
	return r, false
}

func (s *Server) may(c *conversation, accepted string) bool {
	return c.token == nil || !c.rec.Write && !s.state.Repo.Private && !strings.Contains(accepted, "security_events") || c.token.has(accepted)
}

// has reports whether a token has one of the permissions.
func (t *Token) has(accepted string) bool {
	if t.Permissions == nil {
		return true
	}
	for alt := range strings.SplitSeq(accepted, ";") {
		name, level, _ := strings.Cut(strings.TrimSpace(alt), "=")
		if has := t.Permissions[name]; has == level || has == "write" {
			return true
		}
	}
	return false
}

// countHour counts the request against its token's limit for the hour.
func (s *Server) countHour(c *conversation) (reply, bool) {
	now := s.o.Clock.Now()
	if now.Sub(s.hourFrom) >= time.Hour {
		s.hourFrom, s.hourUsed = now, map[string]int{}
	}
	s.hourUsed[c.account.Login]++
	if s.hourUsed[c.account.Login] > s.o.HourLimit {
		return fail(http.StatusForbidden, "API rate limit exceeded for installation ID 1."), true
	}
	return reply{}, false
}

func (s *Server) rateHeaders(c *conversation, h http.Header) {
	h.Set("X-RateLimit-Limit", strconv.Itoa(s.o.HourLimit))
	h.Set("X-RateLimit-Remaining", strconv.Itoa(max(0, s.o.HourLimit-s.hourUsed[c.account.Login])))
	h.Set("X-RateLimit-Reset", strconv.FormatInt(s.hourFrom.Add(time.Hour).Unix(), 10))
}
