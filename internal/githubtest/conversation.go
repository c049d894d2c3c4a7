package githubtest

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
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

// sent is an answer as it leaves the server. If cut is true, the connection is closed without an
// answer.
type sent struct {
	status  int
	header  http.Header
	body    []byte
	cut     bool
	cutBody bool // half of the body is sent before the connection is closed
}

// answer handles one request, from its arrival to the answer that leaves the server. sleep passes
// time on the server's clock and reports whether the client is still there.
func (s *Server) answer(req *http.Request, body []byte, sleep func(time.Duration) bool) sent {
	s.mu.Lock()
	s.catchUp()
	c := s.receive(req, body)
	var f Fault
	if hook := s.o.Fault; hook != nil {
		rec := *c.rec
		s.withoutLock(func() { f = hook(rec) }) // the hook may look at the server
	}
	c.fault = f
	if f.Delay > 0 && !f.After {
		s.withoutLock(func() {
			if !sleep(f.Delay) {
				f.Cut = true
			}
		})
	}
	if f.Late > 0 {
		f.Cut, f.After = true, false // no effect now, and no answer
		s.postpone(c, f.Late)
	}
	var r reply // remains empty where the fault prevents the effect
	if f.After || !f.replaces() {
		s.unlisted = f.Unlisted
		if f.Twice && c.git == nil {
			s.handleSafely(c)
		}
		r = s.handleSafely(c)
		s.unlisted = 0
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

// withoutLock releases the lock, which the caller holds, while f runs. It stays released if f does not
// return, as in a test that fails there.
func (s *Server) withoutLock(f func()) {
	s.mu.Unlock()
	f()
	s.mu.Lock()
}

// handleSafely handles a request. A panic of the server itself becomes a violation: it fails the
// test, and does not leave the lock taken.
func (s *Server) handleSafely(c *conversation) (r reply) {
	defer func() {
		if p := recover(); p != nil {
			r = s.violation(c.rec, "githubtest itself failed", fmt.Errorf("%v", p))
		}
	}()
	return s.handle(c)
}

// send turns a reply into bytes, checks them, and applies the fault. The reply is empty where the
// fault prevented the effect.
func (s *Server) send(c *conversation, f Fault, r reply) sent {
	out := sent{status: r.status, header: http.Header{}, cut: f.Cut, cutBody: f.CutBody}
	maps.Copy(out.header, r.header)
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
	validRequest := c.exchange != nil && c.violation == nil
	if r.status != 0 && validRequest && !s.o.TrustAnswers {
		if err := s.rest.checkResponse(c.exchange, r.status, out.header, out.body); err != nil {
			v := s.violation(c.rec, fmt.Sprintf("the answer with status %d breaks GitHub's description", r.status), err)
			out.status = v.status
			out.body, _ = json.Marshal(v.body)
		}
	}
	if f.Status != 0 {
		out.status, out.body, out.header = f.Status, []byte(f.Body), http.Header{}
		maps.Copy(out.header, f.Header)
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

// conversation is one request while it is handled.
type conversation struct {
	query     url.Values
	body      []byte
	exchange  *exchange         // nil for GraphQL and for unknown addresses
	graphql   *document         // nil for REST
	git       *gitCall          // nil for the API
	params    map[string]string // the variables of a REST address, decoded
	token     *Token            // nil without authorization
	account   Account           // the token's
	badToken  bool              // the request has an authorization without a token that the server knows
	fault     Fault
	rec       *Request
	violation error // the contract that the request breaks; nil for none
	refused   bool  // there was no effect although the status is 200, as GraphQL and git report errors
}

// receive records a request and checks it against the contracts. The caller
// holds the lock.
func (s *Server) receive(req *http.Request, body []byte) *conversation {
	s.seq++
	rec := &Request{Seq: s.seq, At: s.o.Clock.Now(), Method: req.Method, Path: req.URL.Path, Query: req.URL.Query(), Header: req.Header.Clone(), Write: req.Method != http.MethodGet}
	rec.Header.Del("Authorization")
	if json.Valid(body) {
		rec.Body = body
	}
	s.record = append(s.record, rec)
	c := &conversation{query: req.URL.Query(), body: body, rec: rec}
	if s.receiveGit(c, req) {
		return c
	}
	s.authenticate(c, req.Header.Get("Authorization"))

	restPrefix, graphQLPath := "", "/graphql"
	if s.o.Enterprise {
		restPrefix, graphQLPath = "/api/v3", "/api/graphql"
	}
	if req.URL.Path == graphQLPath {
		s.receiveGraphQL(c)
		return c
	}
	c.violation = s.receiveREST(c, req, restPrefix)
	if c.violation == nil && req.Header.Get("User-Agent") == "" {
		c.violation = errors.New("a request without User-Agent is refused by GitHub")
	}
	return c
}

// receiveREST finds the operation of a request below the API's base, and checks the request against
// its description.
func (s *Server) receiveREST(c *conversation, req *http.Request, base string) error {
	address, ok := strings.CutPrefix(req.URL.EscapedPath(), base)
	if !ok {
		return errors.New("the address is not below the API's base " + base)
	}
	inner := req.Clone(req.Context())
	inner.URL.Path, _ = url.PathUnescape(address)
	inner.URL.RawPath = address
	c.rec.Path = inner.URL.Path
	x, err := s.rest.checkRequest(inner, c.body)
	if x == nil {
		return err
	}
	c.exchange, c.rec.Operation, c.params = x, x.operation(), map[string]string{}
	for k, v := range x.input.PathParams { // the router leaves them escaped
		if plain, err := url.PathUnescape(v); err == nil {
			v = plain
		}
		c.params[k] = v
	}
	createsNoContent := slices.Contains([]string{"issues/add-labels", "code-scanning/upload-sarif", "git/create-ref"}, c.rec.Operation)
	c.rec.Content = c.rec.Method == http.MethodPost && !createsNoContent
	return err
}

// authenticate reads the token of an Authorization header.
func (s *Server) authenticate(c *conversation, header string) {
	if header == "" {
		return
	}
	scheme, secret, _ := strings.Cut(header, " ")
	if scheme != "Bearer" && scheme != "token" {
		secret = ""
	}
	s.recognise(c, secret)
}

// recognise finds the token with this secret, and its account. No token has the secret "". If the
// fixture lists no tokens, any other secret is accepted.
func (s *Server) recognise(c *conversation, secret string) {
	if secret == "" {
		c.badToken = true
		return
	}
	c.account = s.state.Viewer
	if len(s.state.Tokens) == 0 {
		c.token = &Token{Secret: secret}
	}
	for i, t := range s.state.Tokens {
		if t.Secret == secret {
			c.token = &s.state.Tokens[i]
			if t.Account.ID != 0 {
				c.account = t.Account
			}
		}
	}
	if c.token == nil {
		c.badToken = true
		return
	}
	c.rec.Account = c.account.Login
}

// need returns a 403 unless the token has one of the permissions, which are written
// as in X-Accepted-GitHub-Permissions: "issues=write; pull_requests=write".
// Reading a public repository needs none, except for its security events.
func (s *Server) need(c *conversation, accepted string) (reply, bool) {
	if s.isPermitted(c, accepted) {
		return reply{}, true
	}
	return lacks(accepted), false
}

// lacks returns the answer where a token has none of the permissions.
func lacks(accepted string) reply {
	r := fail(http.StatusForbidden, "Resource not accessible by integration")
	r.header = http.Header{"X-Accepted-Github-Permissions": {accepted}}
	return r
}

// isPermitted reports whether a request may do what one of the permissions allows. A request without
// a token gets here only if it reads a public repository.
func (s *Server) isPermitted(c *conversation, accepted string) bool {
	readsPublic := !c.rec.Write && !s.state.Repo.Private && !strings.Contains(accepted, "security_events")
	return c.token == nil || readsPublic || c.token.has(accepted)
}

// has reports whether a token has one of the permissions. It has all if Permissions is nil.
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

// countHour counts the request against its account's limit for the hour. If that is exceeded, it
// returns the refusal and true.
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
