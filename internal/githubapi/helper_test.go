package githubapi_test

import (
	"context"
	"fmt"
	"io"
	"iter"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/agent-airlock/airlock/internal/githubapi"
	"github.com/agent-airlock/airlock/internal/githubtest"
	"github.com/agent-airlock/airlock/internal/token"
)

const secret = "ghs_TestSecretThatMustNeverShow"

var repo = githubapi.Repo{Owner: "octo", Name: "repo"}

// testEnv is a server in memory, a client for it, and the clock that both use.
type testEnv struct {
	*githubtest.Server
	*githubapi.Client
	clock *githubtest.VirtualClock
	ctx   context.Context
	log   *[]string
}

type settings struct {
	server githubtest.Options
	client githubapi.Options
}

func newTestEnv(t *testing.T, f githubtest.Fixture, change ...func(*settings)) testEnv {
	t.Helper()
	clock := githubtest.NewVirtualClock(time.Time{})
	set := settings{server: githubtest.Options{Clock: clock}}
	log := &[]string{}
	set.client = githubapi.Options{Clock: clock, Pace: githubapi.Unpaced(), Log: func(s string) { *log = append(*log, s) }}
	for _, c := range change {
		c(&set)
	}
	s := githubtest.New(t, f, set.server)
	if set.client.Transport == nil {
		set.client.Transport = s.Transport()
	}
	set.client.APIURL = s.APIURL()
	set.client.Token = token.New(secret, s.APIURL())
	c, err := githubapi.New(set.client)
	if err != nil {
		t.Fatal(err)
	}
	return testEnv{Server: s, Client: c, clock: clock, ctx: t.Context(), log: log}
}

func collect[T any](t *testing.T, seq iter.Seq2[T, error]) []T {
	t.Helper()
	var out []T
	for v, err := range seq {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, v)
	}
	return out
}

// operations lists the operations of all requests that the server got, in order.
func (env testEnv) operations() string {
	var ops []string
	for _, r := range env.Requests() {
		ops = append(ops, r.Operation)
	}
	return strings.Join(ops, " ")
}

const patch = "@@ -1,3 +1,4 @@\n one\n-two\n+TWO\n+extra\n three\n@@ -10,2 +11,3 @@ func x\n ten\n+eleven\n twelve"

// fixture returns a repository with an issue, a pull request and a discussion.
func fixture() githubtest.Fixture {
	return githubtest.Fixture{
		Labels: []githubtest.Label{{Name: "Bug"}, {Name: "docs"}},
		Issues: []*githubtest.Issue{
			{Number: 1, Title: "First", Body: "Text", Labels: []string{"bug"}, Comments: []*githubtest.Comment{{Body: "hello"}}},
			{Number: 2, Title: "A change", Body: "Please", Pull: &githubtest.Pull{
				Head: githubtest.Branch{Ref: "topic", SHA: strings.Repeat("a", 40)},
				Files: []githubtest.File{{Path: "main.go", Patch: patch}, {Path: "new.go", PreviousPath: "old.go", Status: "renamed"},
					{Path: "logo.png", Status: "added"}}}},
		},
		Categories:  []githubtest.Category{{Name: "General", Slug: "general"}, {Name: "Q&A", Slug: "q-a", Answerable: true}},
		Discussions: []*githubtest.Discussion{{Number: 3, Title: "Talk", Body: "Let us", Comments: []*githubtest.Comment{{Body: "yes"}}}},
		Files:       []githubtest.StoredFile{{Path: ".github/airlock.yml", Content: "create-issue:\n"}, {Path: "docs", Type: "dir"}},
	}
}

// scripted is a transport that gives the same answer to every request and records the
// requests.
type scripted struct {
	status int
	body   string
	sent   []string
}

func (s *scripted) RoundTrip(req *http.Request) (*http.Response, error) {
	var body []byte
	if req.Body != nil {
		body, _ = io.ReadAll(req.Body)
	}
	s.sent = append(s.sent, strings.TrimSpace(fmt.Sprintf("%s %s %s", req.Method, req.URL.RequestURI(), body)))
	return &http.Response{StatusCode: s.status, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(s.body)), Request: req}, nil
}

// script returns a client that gets the same answer to every request.
func script(t *testing.T, status int, body string) (*githubapi.Client, *scripted) {
	t.Helper()
	s := &scripted{status: status, body: body}
	return plainClient(t, "https://api.github.com", s), s
}

const shaA, shaB = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
