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

// refusal turns an answer with an error status into an *Error.
func refusal(c *call, a *answer, now time.Time) *Error {
	status, h := a.resp.StatusCode, a.resp.Header
	message, fields := errorBody(a.body)
	e := &Error{Op: c.op, Repo: c.repo, Status: status, Message: oneLine(message), Fields: fields, RequestID: h.Get("X-GitHub-Request-Id")}
	if status == http.StatusForbidden || status == http.StatusNotFound {
		e.Permission = oneLine(h.Get("X-Accepted-GitHub-Permissions"))
	}
	e.Feature = featureOf(status, e.words())
	if limited(status, h, e.words()) && e.Feature == "" {
		e.Kind = RateLimited
		if until, ok := limitEnd(h, now); ok {
			e.Until = until
		}
		return e
	}
	switch {
	case status == http.StatusUnauthorized:
		e.Kind = Unauthorized
	case e.Feature != "":
		e.Kind = Forbidden
	case status == http.StatusForbidden, status == http.StatusUnavailableForLegalReasons:
		e.Kind = Forbidden
	case status == http.StatusNotFound, status == http.StatusGone:
		e.Kind = NotFound
	case status == http.StatusConflict, status == http.StatusPreconditionFailed, status == http.StatusUnprocessableEntity && existsAlready(e.words()):
		e.Kind = Conflict
	case status == http.StatusRequestTimeout:
		e.Kind = transient(c)
	case status >= 500:
		e.Kind = transient(c)
	default:
		e.Kind = Validation
		if e.Message == "" && len(e.Fields) == 0 {
			e.Message = "status " + strconv.Itoa(status)
		}
	}
	return e
}

// words is all that GitHub says in an answer: a refusal's reason may stand in its
// message or only in its errors.
func (e *Error) words() string {
	all := []string{e.Message}
	for _, f := range e.Fields {
		all = append(all, f.Message)
	}
	return strings.Join(all, "; ")
}

// transient is the kind of a failure that is GitHub's own: a read can be sent
// again, of a write nobody knows.
func transient(c *call) Kind {
	if c.write {
		return Ambiguous
	}
	return Unreachable
}

// errorBody reads GitHub's error document; its errors are objects or plain strings.
func errorBody(body []byte) (string, []FieldError) {
	var doc struct {
		Message string          `json:"message"`
		Errors  json.RawMessage `json:"errors"`
	}
	if json.Unmarshal(body, &doc) != nil {
		return "", nil
	}
	var list []json.RawMessage
	if json.Unmarshal(doc.Errors, &list) != nil {
		var one string
		if json.Unmarshal(doc.Errors, &one) == nil && one != "" {
			return doc.Message, []FieldError{{Message: oneLine(one)}}
		}
		return doc.Message, nil
	}
	fields := make([]FieldError, 0, len(list))
	for _, raw := range list {
		var text string
		if json.Unmarshal(raw, &text) == nil {
			fields = append(fields, FieldError{Message: oneLine(text)})
			continue
		}
		var f struct{ Resource, Field, Code, Message string }
		if json.Unmarshal(raw, &f) == nil {
			fields = append(fields, FieldError{Resource: oneLine(f.Resource), Field: oneLine(f.Field), Code: oneLine(f.Code), Message: oneLine(f.Message)})
		}
	}
	return doc.Message, fields
}

// featureOf recognises GitHub's wordings for "this is switched off", which are
// no matter of permissions.
func featureOf(status int, message string) string {
	m := strings.ToLower(message)
	has := func(s string) bool { return strings.Contains(m, s) }
	switch {
	case status != http.StatusForbidden && status != http.StatusGone && status != http.StatusOK && status != http.StatusUnprocessableEntity:
		return ""
	case has("not permitted to create or approve pull requests"):
		return FeaturePullCreation
	case has("draft pull requests are not supported"):
		return FeatureDrafts
	case status == http.StatusUnprocessableEntity:
		return ""
	case has("must be enabled") && (has("advanced security") || has("code security") || has("code scanning")),
		has("code scanning is not enabled"), has("advanced security is not enabled"), has("code security is not enabled"):
		return FeatureCodeScanning
	case has("issues are disabled"), has("issues has been disabled"):
		return FeatureIssues
	case has("discussions are disabled"), has("discussions are not enabled"), has("discussions has been disabled"), has("discussions is not enabled"):
		return FeatureDiscussions
	case has("is locked"), has("because it is locked"), has("conversation has been locked"):
		return FeatureLocked
	case has("archived so is read-only"), has("is archived"), has("was archived"):
		return FeatureArchived
	}
	return ""
}

// existsAlready recognises the refusals of what is unique and there already:
// branches, and pull requests between the same two.
func existsAlready(words string) bool {
	m := strings.ToLower(words)
	return strings.Contains(m, "reference already exists") || strings.Contains(m, "a pull request already exists")
}

// limited reports whether an answer says "too fast" or "too much": by status, by
// headers, or only by its words.
func limited(status int, h http.Header, words string) bool {
	if status == http.StatusTooManyRequests {
		return true
	}
	if status != http.StatusForbidden && status != http.StatusUnprocessableEntity {
		return false
	}
	m := strings.ToLower(words)
	if strings.Contains(m, "resource not accessible") {
		return false
	}
	if limitWords(m) {
		return true
	}
	return status == http.StatusForbidden && (h.Get("Retry-After") != "" || h.Get("X-RateLimit-Remaining") == "0")
}

// limitWords matches the wordings of GitHub's rate limits in lower-case text.
func limitWords(m string) bool {
	for _, w := range []string{"secondary rate limit", "abuse detection", "rate limit exceeded", "submitted too quickly", "too many requests", "exceeded a rate limit"} {
		if strings.Contains(m, w) {
			return true
		}
	}
	return false
}

// limitEnd says when a rate limit ends, by the headers. The reset time is on
// GitHub's clock, so it is taken relative to the answer's own Date.
func limitEnd(h http.Header, now time.Time) (time.Time, bool) {
	server := now
	if d, err := http.ParseTime(h.Get("Date")); err == nil {
		server = d
	}
	if v := h.Get("Retry-After"); v != "" {
		if s, err := strconv.Atoi(v); err == nil && s >= 0 && s < 1<<30 {
			return now.Add(time.Duration(s) * time.Second), true
		}
		if t, err := http.ParseTime(v); err == nil {
			return now.Add(t.Sub(server)), true
		}
	}
	if h.Get("X-RateLimit-Remaining") == "0" {
		if s, err := strconv.ParseInt(h.Get("X-RateLimit-Reset"), 10, 64); err == nil {
			// One second more: both ends are rounded to whole seconds.
			return now.Add(time.Unix(s, 0).Sub(server) + time.Second), true
		}
	}
	return time.Time{}, false
}

// redirect decides about an answer that points elsewhere: it is followed on the
// same scheme, host and port only, and a write only where the method stays.
func redirect(req *http.Request, c *call, a *answer) *Error {
	e := &Error{Kind: NotFound, Op: c.op, Repo: c.repo, Status: a.resp.StatusCode}
	to, err := req.URL.Parse(a.resp.Header.Get("Location"))
	switch {
	case a.resp.Header.Get("Location") == "" || err != nil:
		e.Kind, e.Message = Malformed, "a redirect that names no address"
	case !sameOrigin(req.URL, to):
		e.Kind, e.Message = Malformed, "a redirect to another host, which is not followed"
	case c.write && a.resp.StatusCode != http.StatusTemporaryRedirect && a.resp.StatusCode != http.StatusPermanentRedirect:
		e.Message = "it has moved; use its new name"
	default:
		return nil
	}
	return e
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
