package githubapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/agent-airlock/airlock/internal/token"
)

// answer is a response that was read whole.
type answer struct {
	resp *http.Response
	body []byte
}

// broken classifies an exchange that yielded no whole answer; unsent says that
// the request certainly never left.
func (g *gate) broken(c *call, err error, a *answer, unsent bool) *Error {
	e := &Error{Kind: Unreachable, Op: c.op, Repo: c.repo, Message: oneLine(cause(err)), Err: err}
	if a != nil {
		e.Status = a.resp.StatusCode
		e.RequestID = a.resp.Header.Get("X-GitHub-Request-Id")
	}
	if c.write && !unsent {
		e.Kind = Ambiguous
	} else if a != nil {
		e.Kind = Malformed
	}
	return e
}

// redacted returns the answer with *** wherever it repeats the token.
func (a *answer) redacted(t token.Token) *answer {
	resp := *a.resp
	resp.Header = a.resp.Header.Clone()
	for name, values := range resp.Header {
		for i := range values {
			values[i] = t.Redact(values[i])
		}
		resp.Header[name] = values
	}
	return &answer{resp: &resp, body: []byte(t.Redact(string(a.body)))}
}

// response rebuilds the response around the body that was read. The rate-limit
// headers are dropped: the gate has dealt with them, and go-github would compare
// them with the machine's own clock.
func (a *answer) response(req *http.Request) *http.Response {
	r := *a.resp
	r.Header = a.resp.Header.Clone()
	for _, h := range []string{"X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"} {
		r.Header.Del(h)
	}
	r.Body = io.NopCloser(bytes.NewReader(a.body))
	r.Request = req
	return &r
}

// judge decides what an answer means; nil is a success.
func judge(req *http.Request, c *call, a *answer, now time.Time) *Error {
	status := a.resp.StatusCode
	switch {
	case status == http.StatusNoContent || status == http.StatusResetContent:
		return nil
	case status >= 200 && status < 300:
		if !json.Valid(a.body) {
			e := &Error{Kind: Malformed, Op: c.op, Repo: c.repo, Status: status, Message: "the answer is not JSON"}
			if c.write {
				e.Kind = Ambiguous
			}
			return e
		}
		if c.graphql {
			return judgeGraphQL(c, a, now)
		}
		return nil
	case status == http.StatusNotModified:
		return &Error{Kind: Malformed, Op: c.op, Repo: c.repo, Status: status, Message: "an answer without content"}
	case status >= 300 && status < 400:
		return redirect(req, c, a)
	}
	return refusal(c, a, now)
}

// cause strips the request's address from a transport error: it can be long,
// and the operation says it already.
func cause(err error) string {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err.Error()
	}
	return err.Error()
}
