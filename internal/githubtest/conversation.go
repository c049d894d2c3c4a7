package githubtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// violation reports a broken contract. The caller holds the lock.
func (s *Server) violation(rec *Request, what string, err error) reply {
	s.t.Helper()
	msg := fmt.Sprintf("githubtest: %s %s (%s): %s: %s", rec.Method, rec.Path, rec.Operation, what, brief(err))
	s.broken = append(s.broken, msg)
	s.t.Errorf("%s", msg)
	return fail(http.StatusInternalServerError, msg)
}

// sent is what leaves the server.
type sent struct {
	status  int
	header  http.Header
	body    []byte
	cut     bool
	cutBody bool
}

// answer handles one request from its arrival to what leaves the server. sleep
// passes time on the server's clock and reports whether the client is still there.
func (s *Server) answer(req *http.Request, body []byte, sleep func(time.Duration) bool) sent {
	s.mu.Lock()
	s.catchUp()
	c := s.receive(req, body)
	var f Fault
	if s.o.Fault != nil {
		hook, rec := s.o.Fault, *c.rec
		s.mu.Unlock()
		f = hook(rec) // outside the lock: it may look at the server
		s.mu.Lock()
	}
	c.fault = f
	if f.Delay > 0 && !f.After {
		s.mu.Unlock()
		there := sleep(f.Delay)
		s.mu.Lock()
		if !there {
			f.Cut = true
		}
	}
	if f.Late > 0 {
		f.Cut, f.After = true, false
		s.putOff(c, f.Late)
	}
	var r reply
	if f.After || !f.replaces() {
		r = s.handleSafely(c)
		c.rec.Effect = r.status < 300 && !c.refused
	}
	out := s.send(c, f, r)
	s.finish(c, out)
	s.mu.Unlock()
	if f.Delay > 0 && f.After && !sleep(f.Delay) {
		out.cut = true
	}
	return out
}

// handleSafely turns a fault of the server's own into a failed test instead of a
// lock that is never released.
func (s *Server) handleSafely(c *conversation) (r reply) {
	defer func() {
		if p := recover(); p != nil {
			r = s.violation(c.rec, "githubtest itself failed", fmt.Errorf("%v", p))
		}
	}()
	return s.handle(c)
}

// send turns a reply into bytes, checks them, and lets the fault have its way.
func (s *Server) send(c *conversation, f Fault, r reply) sent {
	out := sent{status: r.status, header: http.Header{}, cut: f.Cut, cutBody: f.CutBody}
	for k, v := range r.header {
		out.header[k] = v
	}
	if r.body != nil {
		data, err := json.Marshal(r.body)
		if err != nil {
			panic(err)
		}
		out.body = data
		out.header.Set("Content-Type", "application/json; charset=utf-8")
	}
	if r.raw != nil {
		out.body = r.raw
	}
	if r.status != 0 && c.exchange != nil && c.violation == nil && !s.o.TrustAnswers {
		if err := s.rest.response(c.exchange, r.status, out.header, out.body); err != nil {
			v := s.violation(c.rec, fmt.Sprintf("the answer with status %d breaks GitHub's description", r.status), err)
			out.status = v.status
			out.body, _ = json.Marshal(v.body)
		}
	}
	if f.Status != 0 {
		out.status, out.body, out.header = f.Status, []byte(f.Body), http.Header{}
		for k, v := range f.Header {
			out.header[k] = v
		}
	}
	if f.Garbage != "" {
		out.body = []byte(f.Garbage)
	}
	if c.git == nil && out.header.Get("X-RateLimit-Limit") == "" {
		s.rateHeaders(c, out.header)
	}
	out.header.Set("Date", s.o.Clock.Now().UTC().Format(http.TimeFormat))
	out.header.Set("X-GitHub-Request-Id", fmt.Sprintf("TEST:%d", c.rec.Seq))
	return out
}

// finish completes the record.
func (s *Server) finish(c *conversation, out sent) {
	if !out.cut {
		c.rec.Status = out.status
	}
	if s.o.Record != nil {
		if line, err := json.Marshal(c.rec); err == nil {
			_, _ = s.o.Record.Write(append(line, '\n'))
		}
	}
}

// brief keeps a validation error readable: what is wrong and where, without the
// schemas and values that the validator prints along with it.
func brief(err error) string {
	var out []string
	keep := true
	for line := range strings.SplitSeq(err.Error(), "\n") {
		trimmed := strings.TrimSpace(line)
		switch {
		case trimmed == "Schema:" || trimmed == "Value:":
			keep = false
		case strings.Contains(line, "Error at ") || strings.HasPrefix(line, "the "):
			keep = true
		}
		if keep && trimmed != "" && len(out) < 12 {
			out = append(out, line)
		}
	}
	return strings.Join(out, "\n")
}
