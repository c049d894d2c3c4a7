package githubapi

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
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

// The time limit of one attempt, and the waits between attempts.
const (
	attemptTimeout = 30 * time.Second // four times that for a large body
	firstBackoff   = time.Second      // then it doubles
	maxBackoff     = 30 * time.Second
)

// sender is the one way out: it authorizes, paces, sends, retries, waits for rate
// limits, and turns every answer that is not a success into an *Error. It stands
// below go-github as its transport, so that nothing gets past it.
type sender struct {
	next      http.RoundTripper
	token     token.Token
	clock     Clock
	log       func(string)
	userAgent string
	pace      *pace
	attempts  int
	maxBody   int64
	accepted  atomic.Bool // GitHub has accepted the token
}

func newSender(o Options) *sender {
	s := &sender{next: o.Transport, token: o.Token, clock: o.Clock, log: o.Log, userAgent: cmp.Or(o.UserAgent, "airlock"),
		attempts: cmp.Or(o.Attempts, 4), maxBody: cmp.Or(o.MaxBody, 64<<20)}
	if s.clock == nil {
		s.clock = SystemClock{}
	}
	if s.log == nil {
		s.log = func(string) {}
	}
	s.pace = newPace(o.Pace, s.clock)
	return s
}

// RoundTrip sends the request, again where that helps, until there is an answer or an error to
// return. It leaves the error in the request's operation, too.
func (s *sender) RoundTrip(req *http.Request) (*http.Response, error) {
	op := operationOf(req.Context())
	resp, err := s.exchange(req, op)
	if err != nil {
		op.err = err
	}
	return resp, err
}

func (s *sender) exchange(req *http.Request, op *operation) (*http.Response, error) {
	ctx := req.Context()
	body, err := requestBody(req)
	if op.err != nil {
		return nil, op.err // the operation was refused
	}
	if err != nil {
		return nil, op.fail(Usage, "%s", asMessage(err.Error()))
	}
	patience := newPatience(s.clock, s.log, s.pace.maxWait)
	for attempt := 1; ; attempt++ {
		if err := s.pace.wait(ctx, op, s.log); err != nil {
			return nil, err
		}
		got, bad := s.attempt(req, body, op)
		if bad == nil {
			return got.response(req), nil
		}
		if bad.Kind == RateLimited {
			if err := patience.Wait(ctx, bad); err != nil {
				return nil, err
			}
			attempt-- // a rate limit does not count as a failed attempt
			continue
		}
		if !retryable(bad, op) || attempt >= s.attempts || ctx.Err() != nil {
			return nil, bad
		}
		d := backoff(attempt)
		s.log(fmt.Sprintf("%v; trying again in %v", bad, d))
		if err := s.clock.Sleep(ctx, d); err != nil {
			return nil, fmt.Errorf("%w (after: %w)", err, bad)
		}
	}
}

// attempt sends the request once and judges the answer.
func (s *sender) attempt(orig *http.Request, body []byte, op *operation) (*answer, *Error) {
	timeout := attemptTimeout
	if op.slow {
		timeout *= 4
	}
	ctx, cancel := context.WithTimeout(orig.Context(), timeout)
	defer cancel()
	req := orig.Clone(ctx)
	if body != nil {
		req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
		req.Body, _ = req.GetBody()
		req.ContentLength = int64(len(body))
	}
	req.Header.Set("User-Agent", s.userAgent)
	req.Header.Del("Authorization")
	if !s.token.IsZero() {
		if err := s.token.Authorize(req); err != nil {
			e := op.fail(Unauthorized, "%s", asMessage(err.Error()))
			e.Err = err
			return nil, e
		}
	}
	trace := &connectionTrace{}
	resp, err := s.next.RoundTrip(req.WithContext(httptrace.WithClientTrace(ctx, trace.hooks())))
	if err != nil {
		return nil, brokenOff(op, err, nil, trace.noConnection() || neverSent(err))
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(io.LimitReader(resp.Body, s.maxBody+1))
	if err == nil && int64(len(data)) > s.maxBody {
		err = fmt.Errorf("the answer is larger than %s", text.Bytes(s.maxBody))
	}
	got := &answer{resp: resp, body: data}
	if err != nil {
		return nil, brokenOff(op, err, got, false)
	}
	if judge(orig, op, got, s.clock.Now()) == nil {
		if !s.token.IsZero() {
			s.accepted.Store(true)
		}
		return got, nil
	}
	// The message about a failure is shown to people, and an error page may repeat the request: the
	// answer is judged again without the token.
	bad := judge(orig, op, got.redacted(s.token), s.clock.Now())
	if bad != nil {
		bad.Expired = bad.Kind == Unauthorized && s.accepted.Load()
	}
	return got, bad
}

// retryable reports whether sending again can help and can do no harm.
func retryable(e *Error, op *operation) bool {
	switch e.Kind {
	case Unreachable:
		return true // a write that fails like this was never sent; otherwise it is Ambiguous
	case Malformed:
		return !op.write && e.Status < 300 // the next answer may be complete; a redirect would come again
	}
	return false
}

// backoff returns the wait after the nth failed attempt. There is no jitter: a
// process sends few requests at the same time, and the pace keeps writes apart.
func backoff(n int) time.Duration {
	d := firstBackoff
	for range n - 1 {
		d = min(2*d, maxBackoff)
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

// connectionTrace watches a transport to learn whether a request can have left. It
// believes positive evidence only: a transport that reports nothing proves nothing.
type connectionTrace struct{ asked, got atomic.Bool }

func (t *connectionTrace) hooks() *httptrace.ClientTrace {
	return &httptrace.ClientTrace{
		GetConn: func(string) { t.asked.Store(true) },
		GotConn: func(httptrace.GotConnInfo) { t.got.Store(true) },
	}
}

// noConnection reports whether a connection was asked for and there was none: no name,
// no route, no proxy, no TLS.
func (t *connectionTrace) noConnection() bool { return t.asked.Load() && !t.got.Load() }

// neverSent reports whether an error shows that the request was not sent, because there was no
// connection or no TLS.
func neverSent(err error) bool {
	var op *net.OpError
	if errors.As(err, &op) && (op.Op == "dial" || op.Op == "proxyconnect") {
		return true
	}
	for _, target := range []any{new(*net.DNSError), new(*tls.CertificateVerificationError), new(tls.RecordHeaderError), new(tls.AlertError)} {
		if errors.As(err, target) {
			return true
		}
	}
	return false
}
