package githubapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/agent-airlock/airlock/internal/text"
	"github.com/agent-airlock/airlock/internal/token"
)

// answer is a response that was read in full.
type answer struct {
	resp *http.Response
	body []byte
}

func (a *answer) requestID() string { return a.resp.Header.Get("X-GitHub-Request-Id") }

// redacted returns the answer with *** wherever it repeats the token.
func (a *answer) redacted(t token.Token) *answer {
	resp := *a.resp
	resp.Header = a.resp.Header.Clone()
	for _, values := range resp.Header {
		for i := range values {
			values[i] = t.Redact(values[i])
		}
	}
	return &answer{resp: &resp, body: []byte(t.Redact(string(a.body)))}
}

// response rebuilds the response around the body that was read. The rate-limit
// headers are dropped: the sender has handled them, and go-github would compare
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

// broken classifies an exchange that yielded no complete answer; unsent reports that
// the request certainly never left. The address is left out of the message: it can be
// long, and the operation describes it already.
func broken(op *operation, err error, a *answer, unsent bool) *Error {
	cause := err
	if inURL := (*url.Error)(nil); errors.As(err, &inURL) {
		cause = inURL.Err
	}
	e := op.fail(Unreachable, "%s", asMessage(cause.Error()))
	e.Err = err
	if a != nil {
		e.Kind, e.Status, e.RequestID = Malformed, a.resp.StatusCode, a.requestID()
	}
	if !unsent {
		e.Kind = op.unknown(e.Kind)
	}
	return e
}

// judge decides what an answer means; nil is a success.
func judge(req *http.Request, op *operation, a *answer, now time.Time) *Error {
	status := a.resp.StatusCode
	var bad *Error
	switch {
	case (status == http.StatusNoContent || status == http.StatusResetContent) && op.answer == anyShape && !op.graphql:
	case status >= 200 && status < 300 && !json.Valid(a.body):
		bad = op.fail(op.unknown(Malformed), "the answer is not JSON")
	case status >= 200 && status < 300 && op.graphql:
		return judgeGraphQL(op, a, now)
	case status >= 200 && status < 300 && op.answer != anyShape && shape(first(a.body)) != op.answer:
		bad = op.fail(op.unknown(Malformed), "the answer is not %v", op.answer)
	case status >= 200 && status < 300:
	case status == http.StatusNotModified:
		bad = op.fail(Malformed, "an answer without content")
	case status >= 300 && status < 400:
		bad = redirect(req, op, a)
	default:
		return refusal(op, a, now)
	}
	if bad != nil {
		bad.Status = status
	}
	return bad
}

// first returns the first byte of a JSON value, 0 if there is none.
func first(body []byte) byte {
	if body = bytes.TrimLeft(body, " \t\r\n"); len(body) == 0 {
		return 0
	}
	return body[0]
}

// redirect judges an answer that points elsewhere: it is followed on the same
// scheme, host and port only, and a write only where the method stays.
func redirect(req *http.Request, op *operation, a *answer) *Error {
	location := a.resp.Header.Get("Location")
	to, err := req.URL.Parse(location)
	switch status := a.resp.StatusCode; {
	case location == "" || err != nil:
		return op.fail(Malformed, "a redirect that names no address")
	case !sameOrigin(req.URL, to):
		return op.fail(Malformed, "a redirect to another host, which is not followed")
	case op.write && status != http.StatusTemporaryRedirect && status != http.StatusPermanentRedirect:
		e := op.fail(NotFound, "it has moved")
		e.Moved = true
		return e
	}
	return nil
}

func sameOrigin(a, b *url.URL) bool {
	return strings.EqualFold(a.Scheme, b.Scheme) && strings.EqualFold(a.Hostname(), b.Hostname()) && portOf(a) == portOf(b)
}

func portOf(u *url.URL) string {
	if p := u.Port(); p != "" {
		return p
	}
	if strings.EqualFold(u.Scheme, "http") {
		return "80"
	}
	return "443"
}

// refusal turns an answer with an error status into an *Error.
func refusal(op *operation, a *answer, now time.Time) *Error {
	status, h := a.resp.StatusCode, a.resp.Header
	message, fields := errorBody(a.body)
	e := op.fail(Validation, "%s", asMessage(message))
	e.Status, e.Fields, e.RequestID = status, fields, a.requestID()
	if status == http.StatusForbidden || status == http.StatusNotFound {
		e.Permission = asMessage(h.Get("X-Accepted-GitHub-Permissions"))
	}
	reasons := e.reasons()
	e.Feature = featureOf(status, reasons)
	switch {
	case e.Feature == "" && limited(status, h, reasons):
		e.Kind, e.Until = RateLimited, limitEnd(h, now)
	case status == http.StatusUnauthorized:
		e.Kind = Unauthorized
	case e.Feature != "", status == http.StatusForbidden, status == http.StatusUnavailableForLegalReasons:
		e.Kind = Forbidden
	case status == http.StatusNotFound, status == http.StatusGone:
		e.Kind = NotFound
	case status == http.StatusConflict, status == http.StatusPreconditionFailed, status == http.StatusUnprocessableEntity && existsAlready(reasons):
		e.Kind = Conflict
	case status == http.StatusRequestTimeout, status >= 500:
		e.Kind = op.unknown(Unreachable)
	case e.Message == "" && len(e.Fields) == 0:
		e.Message = "status " + strconv.Itoa(status)
	}
	return e
}

// reasons returns all that GitHub wrote, in lower case: a refusal's reason may stand
// in its message or only in its errors.
func (e *Error) reasons() string {
	all := []string{e.Message}
	for _, f := range e.Fields {
		all = append(all, f.Message)
	}
	return strings.ToLower(strings.Join(all, "; "))
}

// errorBody reads GitHub's error document; its errors are one string, or a list of
// objects and strings.
func errorBody(body []byte) (message string, fields []FieldError) {
	var doc struct {
		Message string          `json:"message"`
		Errors  json.RawMessage `json:"errors"`
	}
	if json.Unmarshal(body, &doc) != nil {
		return "", nil
	}
	var list []json.RawMessage
	var only string
	if json.Unmarshal(doc.Errors, &only) == nil && only != "" {
		list = []json.RawMessage{doc.Errors}
	} else if json.Unmarshal(doc.Errors, &list) != nil {
		return doc.Message, nil
	}
	for _, raw := range list {
		var f FieldError
		if json.Unmarshal(raw, &f.Message) != nil && json.Unmarshal(raw, &f) != nil {
			continue
		}
		for _, s := range []*string{&f.Resource, &f.Field, &f.Code, &f.Message} {
			*s = asMessage(*s)
		}
		fields = append(fields, f)
	}
	return doc.Message, fields
}

// asMessage returns a foreign text as one line of at most 500 bytes.
func asMessage(s string) string { return text.TruncateBytes(text.OneLine(s), 500) }

// featureOf recognises GitHub's wordings, in lower case, for "this is switched off",
// which is not about permissions.
func featureOf(status int, reasons string) string {
	has := func(wordings ...string) bool { return containsAny(reasons, wordings) }
	switch {
	case status != http.StatusForbidden && status != http.StatusGone && status != http.StatusOK && status != http.StatusUnprocessableEntity:
		return ""
	case has("not permitted to create or approve pull requests"):
		return FeaturePullCreation
	case has("draft pull requests are not supported"):
		return FeatureDrafts
	case status == http.StatusUnprocessableEntity:
		return ""
	case has("must be enabled") && has("advanced security", "code security", "code scanning"),
		has("code scanning is not enabled", "advanced security is not enabled", "code security is not enabled"):
		return FeatureCodeScanning
	case has("issues are disabled", "issues has been disabled"):
		return FeatureIssues
	case has("discussions are disabled", "discussions are not enabled", "discussions has been disabled", "discussions is not enabled"):
		return FeatureDiscussions
	case has("is locked", "because it is locked", "conversation has been locked"):
		return FeatureLocked
	case has("archived so is read-only", "is archived", "was archived"):
		return FeatureArchived
	}
	return ""
}

func containsAny(s string, wordings []string) bool {
	for _, w := range wordings {
		if strings.Contains(s, w) {
			return true
		}
	}
	return false
}

// existsAlready recognises the refusals of what is unique and there already:
// branches, and pull requests between the same two.
func existsAlready(reasons string) bool {
	return containsAny(reasons, []string{"reference already exists", "a pull request already exists"})
}

// limited reports whether an answer means "too fast" or "too much": by status, by
// headers, or only by its wording.
func limited(status int, h http.Header, reasons string) bool {
	switch {
	case status == http.StatusTooManyRequests:
		return true
	case status != http.StatusForbidden && status != http.StatusUnprocessableEntity, strings.Contains(reasons, "resource not accessible"):
		return false
	case mentionsLimit(reasons):
		return true
	}
	return status == http.StatusForbidden && (h.Get("Retry-After") != "" || h.Get("X-RateLimit-Remaining") == "0")
}

// mentionsLimit recognises the wordings of GitHub's rate limits in lower case.
func mentionsLimit(reasons string) bool {
	return containsAny(reasons, []string{"secondary rate limit", "abuse detection", "rate limit exceeded", "submitted too quickly", "too many requests", "exceeded a rate limit"})
}

// limitEnd returns when a rate limit ends, by the headers; zero when they do not
// include it. The reset time is on GitHub's clock, so it is taken relative to the
// answer's own Date.
func limitEnd(h http.Header, now time.Time) time.Time {
	server := now
	if d, err := http.ParseTime(h.Get("Date")); err == nil {
		server = d
	}
	if v := h.Get("Retry-After"); v != "" {
		if s, err := strconv.Atoi(v); err == nil && s >= 0 && s < 1<<30 {
			return now.Add(time.Duration(s) * time.Second)
		}
		if t, err := http.ParseTime(v); err == nil {
			return now.Add(t.Sub(server))
		}
	}
	if h.Get("X-RateLimit-Remaining") == "0" {
		if s, err := strconv.ParseInt(h.Get("X-RateLimit-Reset"), 10, 64); err == nil {
			// One second more: both ends are rounded to full seconds.
			return now.Add(time.Unix(s, 0).Sub(server) + time.Second)
		}
	}
	return time.Time{}
}
