// Package githubapi is the gateway to GitHub's REST and GraphQL APIs: authentication,
// paging, retries, rate limits and one error model, in values of its own.
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

// Options describe how a Client reaches GitHub.
type Options struct {
	Transport  http.RoundTripper // required; see NewTransport. Go's default would obey the environment
	Token      token.Token       // zero: requests are anonymous
	APIURL     string            // default DefaultAPIURL; on GitHub Enterprise https://HOST/api/v3
	GraphQLURL string            // default: derived from APIURL
	Clock      Clock             // default SystemClock
	Log        func(string)      // gets a line about every wait and retry; may be nil
	UserAgent  string            // default "airlock"
	Pace       PaceConfig        // the zero value paces as GitHub asks
	Attempts   int               // the most times that a request is sent, apart from rate limits, where sending it again does no harm; default 4
	MaxBody    int64             // the most bytes of an answer; default 64 MiB
}

// Client talks to one GitHub host with one token. It is safe for concurrent
// use; requests are then paced together.
type Client struct {
	gh      *github.Client
	http    *http.Client
	graphql string
}

// maxRedirects bounds how often one request may be redirected. GitHub redirects
// once for a renamed repository.
const maxRedirects = 3

// New checks the options and returns a Client. It sends nothing.
func New(o Options) (*Client, error) {
	if o.Transport == nil {
		return nil, errors.New("githubapi: Options.Transport is required")
	}
	if o.APIURL == "" {
		o.APIURL = DefaultAPIURL
	}
	if o.GraphQLURL == "" {
		o.GraphQLURL = GraphQLURLOf(o.APIURL)
	}
	api, err := parseBase("API", o.APIURL, "https://api.github.com or https://HOST/api/v3")
	if err != nil {
		return nil, err
	}
	graphql, err := parseBase("GraphQL", o.GraphQLURL, "https://api.github.com/graphql or https://HOST/api/graphql")
	if err != nil {
		return nil, err
	}
	s := newSender(o)
	client := &http.Client{Transport: s, CheckRedirect: func(_ *http.Request, via []*http.Request) error {
		if len(via) > maxRedirects { // via are the requests so far, the first one included
			return fmt.Errorf("more than %d redirects", maxRedirects)
		}
		return nil
	}}
	gh := github.NewClient(client)
	gh.BaseURL = api.JoinPath("/")
	gh.UserAgent = s.userAgent
	return &Client{gh: gh, http: client, graphql: strings.TrimSuffix(graphql.String(), "/")}, nil
}

// send sends a request for which go-github has no method, or only a method that leaves something
// out. path is below the address of the operation's repository. The caller passes the error to
// op.finish.
func (c *Client) send(ctx context.Context, op *operation, method, path string, body, out any) error {
	if op.err != nil {
		return op.err
	}
	req, err := c.gh.NewRequest(method, fmt.Sprintf("repos/%s/%s/%s", op.repo.Owner, op.repo.Name, path), body)
	if err != nil {
		return op.fail(Usage, "%v", err)
	}
	_, err = c.gh.Do(op.context(ctx), req, out)
	return err
}

// GraphQLURLOf derives the GraphQL address from a REST address: /api/v3 becomes
// /api/graphql on GitHub Enterprise, elsewhere /graphql is added.
func GraphQLURLOf(apiURL string) string {
	base := strings.TrimRight(apiURL, "/")
	if root, ok := strings.CutSuffix(base, "/api/v3"); ok {
		return root + "/api/graphql"
	}
	return base + "/graphql"
}

func parseBase(what, s, examples string) (*url.URL, error) {
	u, err := url.Parse(strings.TrimSpace(s))
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return nil, fmt.Errorf("the %s URL cannot be used: give one such as %s", what, examples)
	}
	if u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return nil, fmt.Errorf("the %s URL must be scheme, host and path only, without user, query or fragment", what)
	}
	return u, nil
}

// Clock is the time that a Client uses. Tests give a virtual one.
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
