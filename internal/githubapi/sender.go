package githubapi

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"sync/atomic"
	"time"

	"github.com/agent-airlock/airlock/internal/text"
	"github.com/agent-airlock/airlock/internal/token"
)

// gate is the one way out: it authorizes, paces, sends, retries, waits for rate
// limits, and turns every answer that is not a success into an *Error. It stands
// below go-github as its transport, so that nothing gets past it.
type gate struct {
	next      http.RoundTripper
	token     token.Token
	clock     Clock
	log       func(string)
	userAgent string
	pace      *pace
	retry     RetryConfig
	timeout   time.Duration
	maxBody   int64
}

func newGate(o Options) *gate {
	g := &gate{next: o.Transport, token: o.Token, clock: o.Clock, log: o.Log, userAgent: o.UserAgent,
		retry: o.Retry, timeout: o.Timeout, maxBody: o.MaxBody}
	if g.clock == nil {
		g.clock = SystemClock{}
	}
	if g.log == nil {
		g.log = func(string) {}
	}
	if g.userAgent == "" {
		g.userAgent = "airlock"
	}
	if g.retry.Attempts <= 0 {
		g.retry.Attempts = 4
	}
	if g.retry.Base <= 0 {
		g.retry.Base = time.Second
	}
	if g.retry.Max <= 0 {
		g.retry.Max = 30 * time.Second
	}
	if g.timeout <= 0 {
		g.timeout = 30 * time.Second
	}
	if g.maxBody <= 0 {
		g.maxBody = 64 << 20
	}
	g.pace = newPace(o.Pace, g.clock)
	return g
}

// RoundTrip sends the request until it has an answer that is worth having.
func (g *gate) RoundTrip(req *http.Request) (*http.Response, error) {
	c := callOf(req.Context())
	resp, err := g.exchange(req, c)
	if err != nil {
		c.err = err
	}
	return resp, err
}

func (g *gate) exchange(req *http.Request, c *call) (*http.Response, error) {
	ctx := req.Context()
	body, err := requestBody(req)
	if err != nil {
		return nil, &Error{Kind: Usage, Op: c.op, Repo: c.repo, Message: oneLine(err.Error()), Err: err}
	}
	limit := newLimitWait(g)
	for attempt := 1; ; attempt++ {
		if err := g.pace.take(ctx, c, g.log); err != nil {
			return nil, err
		}
		got, bad := g.attempt(req, body, c)
		if bad == nil {
			return got.response(req), nil
		}
		if bad.Kind == RateLimited {
			if err := limit.wait(ctx, c, bad); err != nil {
				return nil, err
			}
			attempt-- // a refusal for speed is not a failure
			continue
		}
		if !retryable(bad, c) || attempt >= g.retry.Attempts || ctx.Err() != nil {
			return nil, bad
		}
		d := g.backoff(attempt)
		g.log(fmt.Sprintf("%v; trying again in %v", bad, d))
		if err := g.clock.Sleep(ctx, d); err != nil {
			return nil, fmt.Errorf("%w (after: %w)", err, bad)
		}
	}
}

// attempt sends the request once and judges what comes back. With an error the
// answer may still be set, for its headers.
func (g *gate) attempt(orig *http.Request, body []byte, c *call) (*answer, *Error) {
	timeout := g.timeout
	if c.slow {
		timeout *= 4
	}
	ctx, cancel := context.WithTimeout(orig.Context(), timeout)
	defer cancel()
	req := orig.Clone(ctx)
	if body != nil {
		req.Body, req.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
	}
	req.Header.Set("User-Agent", g.userAgent)
	req.Header.Del("Authorization")
	if !g.token.IsZero() {
		if err := g.token.Authorize(req); err != nil {
			return nil, &Error{Kind: Unauthorized, Op: c.op, Repo: c.repo, Message: oneLine(err.Error()), Err: err}
		}
	}
	trace := &sentTrace{}
	resp, err := g.next.RoundTrip(req.WithContext(httptrace.WithClientTrace(ctx, trace.hooks())))
	if err != nil {
		return nil, g.broken(c, err, nil, trace.never() || neverSent(err))
	}
	defer resp.Body.Close()
	got, err := io.ReadAll(io.LimitReader(resp.Body, g.maxBody+1))
	a := &answer{resp: resp, body: got}
	if err != nil {
		return a, g.broken(c, err, a, false)
	}
	if int64(len(got)) > g.maxBody {
		return a, g.broken(c, fmt.Errorf("the answer is larger than %s", text.Bytes(g.maxBody)), a, false)
	}
	bad := judge(orig, c, a, g.clock.Now())
	if bad != nil {
		// What is said about a failure is shown to people, and an error page may
		// repeat the request: it is judged without the token.
		if bad = judge(orig, c, a.redacted(g.token), g.clock.Now()); bad != nil {
			bad.Message = g.token.Redact(bad.Message) // what JSON had escaped
		}
	}
	return a, bad
}

// retryable reports whether sending again can help and can do no harm.
func retryable(e *Error, c *call) bool {
	switch e.Kind {
	case Unreachable:
		return true // of a write: it was never sent
	case Malformed:
		return !c.write && e.Status < 300 // another answer may be whole; a redirect stays one
	}
	return false
}

// backoff is the wait after the nth failed attempt: doubling, bounded. There is
// no jitter: one process sends one request at a time.
func (g *gate) backoff(n int) time.Duration {
	d := g.retry.Base
	for range n - 1 {
		if d *= 2; d >= g.retry.Max {
			return g.retry.Max
		}
	}
	return d
}

func requestBody(req *http.Request) ([]byte, error) {
	if req.Body == nil || req.Body == http.NoBody {
		return nil, nil
	}
	defer req.Body.Close()
	return io.ReadAll(req.Body)
}

// sentTrace watches a transport to learn whether a request can have left. It
// believes positive evidence only: a transport that does not report at all says
// nothing.
type sentTrace struct{ asked, got atomic.Bool }

func (t *sentTrace) hooks() *httptrace.ClientTrace {
	return &httptrace.ClientTrace{
		GetConn: func(string) { t.asked.Store(true) },
		GotConn: func(httptrace.GotConnInfo) { t.got.Store(true) },
	}
}

// never reports that a connection was asked for and none was had: no name, no
// route, no proxy, no TLS.
func (t *sentTrace) never() bool { return t.asked.Load() && !t.got.Load() }

// neverSent reports whether an error came before the request could have left:
// no connection, no TLS.
func neverSent(err error) bool {
	var op *net.OpError
	if errors.As(err, &op) && (op.Op == "dial" || op.Op == "proxyconnect") {
		return true
	}
	var (
		dns      *net.DNSError
		unknown  x509.UnknownAuthorityError
		host     x509.HostnameError
		invalid  x509.CertificateInvalidError
		verify   *tls.CertificateVerificationError
		badRec   tls.RecordHeaderError
		tlsAlert tls.AlertError
	)
	return errors.As(err, &dns) || errors.As(err, &unknown) || errors.As(err, &host) || errors.As(err, &invalid) ||
		errors.As(err, &verify) || errors.As(err, &badRec) || errors.As(err, &tlsAlert)
}
