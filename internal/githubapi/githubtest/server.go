// Package githubtest is a GitHub for tests: one repository with real state,
// whose every request and answer is checked against GitHub's own descriptions
// of its REST and GraphQL APIs, and which can be told to fail.
//
// It is an http.Handler on TCP (Start) and an http.RoundTripper in memory
// (Transport); in memory it can live in virtual time.
package githubtest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"time"
)

// Reporter is told of every violation of a contract; *testing.T is one.
type Reporter interface {
	Helper()
	Errorf(format string, args ...any)
}

// Options say how the server behaves.
type Options struct {
	Clock      Clock                // default: the machine's
	Lag        time.Duration        // how long a new object stays out of listings
	LagOf      func() time.Duration // asked for every new object, instead of Lag; may be nil
	Processing time.Duration        // how long a SARIF upload is pending
	Fault      func(Request) Fault  // asked for every request, before it is handled; may be nil
	Enterprise bool                 // serve REST below /api/v3 and GraphQL at /api/graphql
	HourLimit  int                  // requests an hour and token; default 5,000
	PerPage    int                  // the most entries on a page of a REST list; default 100, as GitHub's
	// TrustAnswers leaves out the check of the server's own answers, which takes
	// a third of the time: for tests of very many requests, whose sorts other
	// tests check. Requests are always checked.
	TrustAnswers bool
	Record       io.Writer // every request as a line of JSON, when it is answered; may be nil
	Git          *Git      // the repository's content, served to git clients at GitURL; nil: only what the fixture has
}

// Server is a GitHub with one repository.
type Server struct {
	t        Reporter
	o        Options
	rest     *contract
	mu       sync.Mutex // over everything below; requests are handled one after another
	state    Fixture
	listed   map[any]time.Time // when an object appears in listings; absent: at once
	late     []lateEffect      // what takes effect later, the soonest first
	at       time.Time         // when what is handled takes effect, where that is not now
	nextID   int64
	nextNum  int
	seq      int
	record   []*Request
	broken   []string
	hourFrom time.Time
	hourUsed map[string]int
	baseURL  string
	verified map[string]bool   // commits that the server made, and so signed
	heads    map[string]string // where the branches were when the pull requests followed them last
}

// New returns a server that starts with the fixture. Broken contracts are told
// to t.
func New(t Reporter, f Fixture, o Options) *Server {
	t.Helper()
	rest, err := restContract()
	if err != nil {
		panic("githubtest: " + err.Error())
	}
	if o.Clock == nil {
		o.Clock = realClock{}
	}
	if o.HourLimit == 0 {
		o.HourLimit = 5000
	}
	if o.PerPage == 0 {
		o.PerPage = 100
	}
	s := &Server{t: t, o: o, rest: rest, state: f.clone(), listed: map[any]time.Time{}, hourUsed: map[string]int{}, baseURL: "https://github.test", verified: map[string]bool{}}
	s.complete()
	if o.Git != nil {
		o.Git.Run("symbolic-ref", "HEAD", "refs/heads/"+s.state.Repo.DefaultBranch)
	}
	return s
}

// SetFault replaces Options.Fault.
func (s *Server) SetFault(f func(Request) Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.o.Fault = f
}

// State returns a copy of everything on the server.
func (s *Server) State() Fixture {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.catchUp()
	if err := s.followBranches(); err != nil {
		s.t.Errorf("githubtest: %v", err)
	}
	return s.state.clone()
}

// Change lets f alter the state, as other people do on GitHub.
func (s *Server) Change(f func(*Fixture)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.catchUp()
	f(&s.state)
	s.complete()
}

// Requests returns every request so far, in order.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]Request, len(s.record))
	for i, r := range s.record {
		out[i] = *r
	}
	return out
}

// Writes returns the requests that write.
func (s *Server) Writes() []Request {
	return slices.DeleteFunc(s.Requests(), func(r Request) bool { return !r.Write })
}

// ResetRequests forgets the requests so far.
func (s *Server) ResetRequests() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.record = nil
}

// Violations returns what broke a contract so far.
func (s *Server) Violations() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.broken)
}

// Start serves on a loopback address until the test's end and returns the REST
// API's URL.
func (s *Server) Start(t interface {
	Reporter
	Cleanup(func())
}) string {
	t.Helper()
	srv := httptest.NewServer(s)
	t.Cleanup(srv.Close)
	s.SetBaseURL(srv.URL)
	return s.APIURL()
}

// SetBaseURL says at which address (scheme and host) the server is reached.
func (s *Server) SetBaseURL(u string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.baseURL = strings.TrimRight(u, "/")
}

// APIURL is the address of the REST API: of a server in memory, below
// https://github.test.
func (s *Server) APIURL() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.apiURL()
}

// GitURL is the address for git clients when there is Options.Git. As on GitHub,
// the password is the token and any name will do.
func (s *Server) GitURL() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.gitURL()
}

func (s *Server) gitURL() string {
	return fmt.Sprintf("%s/%s/%s.git", s.baseURL, s.state.Repo.Owner, s.state.Repo.Name)
}

func (s *Server) apiURL() string {
	if s.o.Enterprise {
		return s.baseURL + "/api/v3"
	}
	return s.baseURL
}

// violation reports a broken contract. The caller holds the lock.
func (s *Server) violation(rec *Request, what string, err error) reply {
	s.t.Helper()
	msg := fmt.Sprintf("githubtest: %s %s (%s): %s: %s", rec.Method, rec.Path, rec.Operation, what, brief(err))
	s.broken = append(s.broken, msg)
	s.t.Errorf("%s", msg)
	return fail(http.StatusInternalServerError, msg)
}

// reply is what a handler answers.
type reply struct {
	status int
	header http.Header
	body   any    // marshalled; nil for no body
	raw    []byte // sent as it is, instead of body
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
