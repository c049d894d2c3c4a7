// Package githubapi is the gateway to GitHub's REST and GraphQL APIs: auth,
// paging, retry, rate limits and one error model, in values of its own.
package githubapi

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/google/go-github/v60/github"

	"github.com/agent-airlock/airlock/internal/token"
)

// DefaultAPIURL is the REST API of GitHub.com.
const DefaultAPIURL = "https://api.github.com"

// Options say how a Client reaches GitHub. Only Transport is required.
type Options struct {
	Token      token.Token       // zero: requests are anonymous
	APIURL     string            // default DefaultAPIURL; on GitHub Enterprise https://HOST/api/v3
	GraphQLURL string            // default: derived from APIURL
	UploadURL  string            // default: derived from APIURL
	Transport  http.RoundTripper // see NewTransport; there is no default, so that the environment decides nothing
	Clock      Clock             // default SystemClock
	Log        func(string)      // told of every wait and retry, one line each; default: nobody
	UserAgent  string            // default "airlock"
	Pace       PaceConfig        // the zero value paces as GitHub asks
	Retry      RetryConfig       // the zero value retries reads three times
	Timeout    time.Duration     // of one attempt; default 30 s, four times that for uploads
	MaxBody    int64             // bytes of an answer; default 64 MiB
}

// RetryConfig bounds what is tried again.
type RetryConfig struct {
	Attempts int           // of a read, in all; default 4
	Base     time.Duration // the first wait, which then doubles; default 1 s
	Max      time.Duration // the longest wait between two attempts; default 30 s
}

// Client talks to one GitHub host with one token. It is safe for concurrent
// use; requests are then paced together.
type Client struct {
	gh      *github.Client
	http    *http.Client
	graphql string
	clock   Clock
}

// New checks the options and returns a Client. It sends nothing.
func New(o Options) (*Client, error) {
	if o.Transport == nil {
		return nil, errors.New("githubapi: Options.Transport is required")
	}
	if o.APIURL == "" {
		o.APIURL = DefaultAPIURL
	}
	api, err := parseBase("API", o.APIURL)
	if err != nil {
		return nil, err
	}
	if o.GraphQLURL == "" {
		o.GraphQLURL = GraphQLURLOf(o.APIURL)
	}
	gql, err := parseBase("GraphQL", o.GraphQLURL)
	if err != nil {
		return nil, err
	}
	if o.UploadURL == "" {
		o.UploadURL = uploadURLOf(api)
	}
	upload, err := parseBase("upload", o.UploadURL)
	if err != nil {
		return nil, err
	}
	g := newGate(o)
	hc := &http.Client{Transport: g, CheckRedirect: func(_ *http.Request, via []*http.Request) error {
		if len(via) >= maxRedirects {
			return fmt.Errorf("more than %d redirects", maxRedirects)
		}
		return nil
	}}
	gh := github.NewClient(hc)
	gh.BaseURL, gh.UploadURL = withSlash(api), withSlash(upload)
	gh.UserAgent = g.userAgent
	return &Client{gh: gh, http: hc, graphql: strings.TrimSuffix(gql.String(), "/"), clock: g.clock}, nil
}

// maxRedirects bounds how often one request may be redirected. GitHub redirects
// once for a renamed repository.
const maxRedirects = 3

// GraphQLURLOf derives the GraphQL address from a REST address: /api/v3 becomes
// /api/graphql on GitHub Enterprise, elsewhere /graphql is added.
func GraphQLURLOf(apiURL string) string {
	base := strings.TrimRight(apiURL, "/")
	if root, ok := strings.CutSuffix(base, "/api/v3"); ok {
		return root + "/api/graphql"
	}
	return base + "/graphql"
}

// uploadURLOf derives the address for release files from that of the API.
func uploadURLOf(api *url.URL) string {
	u := *api
	if root, ok := strings.CutSuffix(strings.TrimRight(u.Path, "/"), "/api/v3"); ok {
		u.Path = root + "/api/uploads"
	} else if host, ok := strings.CutPrefix(u.Host, "api."); ok {
		u.Host = "uploads." + host
	}
	return u.String()
}

func parseBase(what, s string) (*url.URL, error) {
	u, err := url.Parse(strings.TrimSpace(s))
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return nil, fmt.Errorf("the %s URL cannot be used: give one such as https://api.github.com or https://HOST/api/v3", what)
	}
	if u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return nil, fmt.Errorf("the %s URL must be scheme, host and path only, without user, query or fragment", what)
	}
	return u, nil
}

func withSlash(u *url.URL) *url.URL {
	v := *u
	v.Path = strings.TrimRight(v.Path, "/") + "/"
	v.RawPath = ""
	return &v
}

// call is one operation on its way through the gate. It travels in the context,
// because go-github hides the transport's error once a context has ended.
type call struct {
	op      string
	repo    Repo
	write   bool // changes something: never sent twice unless it is certain that the first had no effect
	content bool // creates content: counts against GitHub's limits for that
	graphql bool
	slow    bool   // carries a large body
	needs   string // the permission it takes, where GitHub's answer does not name it
	err     error
}

type callKey struct{}

// start attaches an operation to a context.
func start(ctx context.Context, c *call) context.Context {
	return context.WithValue(ctx, callKey{}, c)
}

// callOf returns the operation of a context; without one, the request is taken
// for a write, which is the careful choice.
func callOf(ctx context.Context) *call {
	if c, ok := ctx.Value(callKey{}).(*call); ok {
		return c
	}
	return &call{write: true}
}

// finish turns what go-github returned into the error to return: the gate's
// typed error where there is one.
func (c *call) finish(err error) error {
	if err == nil {
		return nil
	}
	if c.err != nil {
		return c.err
	}
	var own *Error
	if errors.As(err, &own) {
		return own
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("could not %s: %w", c.op, err)
	}
	// The gate let the answer through, so its status was good and its body JSON,
	// but not of the shape that was expected.
	kind := Malformed
	if c.write {
		kind = Ambiguous
	}
	return &Error{Kind: kind, Op: c.op, Repo: c.repo, Message: oneLine(err.Error()), Err: err}
}

// usage refuses a request before it is sent.
func usage(op string, r Repo, format string, args ...any) error {
	return &Error{Kind: Usage, Op: op, Repo: r, Message: fmt.Sprintf(format, args...)}
}

// read and write name the two sorts of REST operation.
func read(ctx context.Context, op string, r Repo) (context.Context, *call) {
	c := &call{op: op, repo: r}
	return start(ctx, c), c
}

func write(ctx context.Context, op string, r Repo) (context.Context, *call) {
	c := &call{op: op, repo: r, write: true}
	return start(ctx, c), c
}

func create(ctx context.Context, op string, r Repo) (context.Context, *call) {
	c := &call{op: op, repo: r, write: true, content: true}
	return start(ctx, c), c
}

// Clock is the time that a Client lives in. Tests give a virtual one.
type Clock interface {
	Now() time.Time
	// Sleep waits for d, or returns ctx's error as soon as ctx is done.
	Sleep(ctx context.Context, d time.Duration) error
}

// SystemClock is the machine's own clock.
type SystemClock struct{}

// Now is time.Now.
func (SystemClock) Now() time.Time { return time.Now() }

// Sleep waits for d or until ctx is done.
func (SystemClock) Sleep(ctx context.Context, d time.Duration) error {
	if err := ctx.Err(); err != nil || d <= 0 {
		return err
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}
