// Package githubtest is a GitHub for tests: one repository with real state, which fails where a
// test wants it to. Requests and answers are checked against GitHub's own descriptions of its REST
// and GraphQL APIs.
//
// It is an http.Handler on TCP (Start) and an http.RoundTripper in memory (Transport); in memory it
// can live in virtual time.
package githubtest

import (
	"cmp"
	"fmt"
	"io"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"time"
)

// Reporter receives every violation of a contract; *testing.T is one.
type Reporter interface {
	Helper()
	Errorf(format string, args ...any)
}

// Options are how the server behaves.
type Options struct {
	Clock      Clock                // default: the machine's
	Lag        time.Duration        // how long a new object stays out of listings
	LagOf      func() time.Duration // asked for every new object, instead of Lag; may be nil
	Processing time.Duration        // how long a SARIF upload is pending
	Fault      func(Request) Fault  // asked for every request, before it is handled; may be nil
	// RefuseComment reports whether GitHub refuses every review comment with this text, on a
	// line as well as on a file, whatever the diff says; may be nil.
	RefuseComment func(body string) bool
	Enterprise    bool // serve REST below /api/v3 and GraphQL at /api/graphql
	HourLimit     int  // requests an hour and token; default 5,000
	PerPage       int  // the most entries on a page of a REST list; default 100, as GitHub's
	// TrustAnswers skips the check of the server's own answers, which takes a third of
	// the time. It is for tests that send very many requests, if other tests check the
	// answers to such requests. Requests are always checked.
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
	listed   map[any]time.Time // when an object appears in listings; one without an entry is there at once
	unlisted time.Duration     // Fault.Unlisted of the request that is being handled
	late     []lateEffect      // the postponed requests, the soonest first
	at       time.Time         // when the request that is being handled takes effect; zero means now
	nextID   int64
	nextNum  int
	seq      int
	record   []*Request
	broken   []string
	hourFrom time.Time
	hourUsed map[string]int
	baseURL  string
	verified map[string]bool   // ids of the commits that are signed: those of createCommitOnBranch
	heads    map[string]string // each branch's commit when followBranches last looked
}

// New returns a server that starts with the fixture. Broken contracts are reported
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
	o.HourLimit, o.PerPage = cmp.Or(o.HourLimit, 5000), cmp.Or(o.PerPage, 100)
	s := &Server{t: t, o: o, rest: rest, state: f.clone(), listed: map[any]time.Time{}, hourUsed: map[string]int{}, baseURL: "https://github.test", verified: map[string]bool{}}
	s.complete()
	if o.Git != nil {
		o.Git.setHead("refs/heads/" + s.state.Repo.DefaultBranch)
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

// SetBaseURL sets the address (scheme and host) at which the server is reached.
func (s *Server) SetBaseURL(u string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.baseURL = strings.TrimRight(u, "/")
}

// APIURL returns the address of the REST API. That of a server in memory is below
// https://github.test.
func (s *Server) APIURL() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.apiURL()
}

// GitURL returns the address for git clients when there is Options.Git. As on GitHub,
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
