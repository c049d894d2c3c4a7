package githubapi

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/agent-airlock/airlock/internal/text"
	"github.com/agent-airlock/airlock/internal/token"
	"github.com/go-json-experiment/json/jsontext"
)

// answer is a response that was read in full.
type answer struct {
	resp *http.Response
	body []byte
}

// redacted returns the answer with *** wherever it repeats the token, also if JSON escapes a part
// of it.
func (a *answer) redacted(t token.Token) *answer {
	resp := *a.resp
	resp.Header = a.resp.Header.Clone()
	for _, values := range resp.Header {
		for i := range values {
			values[i] = t.Redact(values[i])
		}
	}
	body := jsontext.Value(bytes.Clone(a.body))
	// With these options, Format accepts all that encoding/json does. What is not JSON stays as it is.
	_ = body.Format(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true), jsontext.PreserveRawStrings(false))
	return &answer{resp: &resp, body: []byte(t.Redact(string(body)))}
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

// brokenOff returns the error of an exchange that yielded no complete answer. The parameter a has the
// part of the answer that arrived, or is nil if none did; unsent is true if the request certainly
// never left. The address is left out of the message: it can be long, and the operation describes it
// already.
func brokenOff(op *operation, err error, a *answer, unsent bool) *Error {
	cause := err
	if inURL := (*url.Error)(nil); errors.As(err, &inURL) {
		cause = inURL.Err
	}
	e := op.fail(Unreachable, "%s", asMessage(cause.Error()))
	e.Err = err
	if a != nil {
		e.Kind, e.Status = Malformed, a.resp.StatusCode
	}
	if !unsent {
		e.Kind = op.uncertain(e.Kind)
	}
	return e
}

// judge returns the error that an answer means; nil for a success and for a redirect to be followed.
func judge(req *http.Request, op *operation, a *answer, now time.Time) *Error {
	status := a.resp.StatusCode
	var bad *Error
	switch {
	case status >= 200 && status < 300:
		bad = judgeSuccess(op, a, now)
	case status == http.StatusNotModified:
		bad = op.fail(op.uncertain(Malformed), "an answer without content")
	case status >= 300 && status < 400:
		bad = judgeRedirect(req, op, a)
	default:
		bad = refusal(op, a, now)
	}
	if bad != nil {
		bad.Status = status
	}
	return bad
}

// judgeSuccess returns nil if an answer with the status of a success really is a success. It must
// be JSON, in the shape that the operation reads. If the operation reads nothing, a status for no
// content is enough.
func judgeSuccess(op *operation, a *answer, now time.Time) *Error {
	hasNoContent := a.resp.StatusCode == http.StatusNoContent || a.resp.StatusCode == http.StatusResetContent
	switch {
	case hasNoContent && op.answer == anyShape && !op.graphql:
		return nil
	case !json.Valid(a.body):
		return op.fail(op.uncertain(Malformed), "the answer is not JSON")
	case op.graphql:
		return judgeGraphQL(op, a, now)
	case op.answer != anyShape && shape(bytes.TrimLeft(a.body, " \t\r\n")[0]) != op.answer: // valid JSON has a first byte
		return op.fail(op.uncertain(Malformed), "the answer is not %v", op.answer)
	}
	return nil
}

// judgeRedirect returns nil if a redirect is to be followed. It must keep the scheme, the host and the
// port, and lead to the same thing in the same repository: that may have another name, but what
// follows the name stays. An issue that was transferred, for example, is in another repository. The
// redirect of a write must have a status that keeps the method.
func judgeRedirect(req *http.Request, op *operation, a *answer) *Error {
	location := a.resp.Header.Get("Location")
	to, err := req.URL.Parse(location)
	switch status := a.resp.StatusCode; {
	case location == "" || err != nil:
		return op.fail(Malformed, "a redirect that names no address")
	case !sameOrigin(req.URL, to):
		return op.fail(Malformed, "a redirect to another host, which is not followed")
	case !op.repo.IsZero() && !sameThing(req.URL, to, op.repo.ID),
		op.write && status != http.StatusTemporaryRedirect && status != http.StatusPermanentRedirect:
		return op.moved()
	}
	return nil
}

// sameThing reports whether two addresses are the same but for the repository's name, in place of
// which GitHub's redirects have its id. id is the id that the repository must have, 0 for any.
func sameThing(a, b *url.URL, id int64) bool {
	before, _, after := cutRepository(a.Path)
	newBefore, newID, newAfter := cutRepository(b.Path)
	return before == newBefore && after == newAfter && (id == 0 || newID == "" || newID == strconv.FormatInt(id, 10))
}

// cutRepository divides a path of the API around the repository. id is "" if the path contains the
// repository's name. For a path without a repository, before is all of the path.
func cutRepository(path string) (before, id, after string) {
	before, rest, found := strings.Cut(path, "/repos/")
	if byID, rest, found := strings.Cut(path, "/repositories/"); found && len(byID) < len(before) {
		id, after, _ = strings.Cut(rest, "/")
		return byID, id, after
	}
	if found {
		_, rest, _ = strings.Cut(rest, "/")
		_, after, _ = strings.Cut(rest, "/")
	}
	return before, "", after
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

// refusal turns an answer with an error status into an *Error; the caller sets its Status.
func refusal(op *operation, a *answer, now time.Time) *Error {
	status, h := a.resp.StatusCode, a.resp.Header
	message, fields := errorBody(a.body)
	e := op.fail(Validation, "%s", asMessage(message)) // unless the status or the reasons mean another kind
	e.Fields = fields
	if status == http.StatusForbidden || status == http.StatusNotFound {
		e.Permission = cmp.Or(asMessage(h.Get("X-Accepted-GitHub-Permissions")), op.needs)
	}
	reasons := e.reasons()
	e.Feature = featureOf(status, reasons)
	switch {
	case e.Feature == "" && limited(status, h, reasons):
		e.Kind, e.Until = RateLimited, limitEnd(h, now)
	case status == http.StatusUnauthorized:
		e.Kind = Unauthorized
	case e.Feature != "", status == http.StatusForbidden:
		e.Kind = Forbidden
	case status == http.StatusNotFound, status == http.StatusGone:
		e.Kind = NotFound
	case status == http.StatusConflict, status == http.StatusPreconditionFailed, status == http.StatusUnprocessableEntity && existsAlready(reasons):
		e.Kind = Conflict
	case status == http.StatusRequestTimeout, status >= 500:
		e.Kind = op.uncertain(Unreachable)
	case e.Message == "" && len(e.Fields) == 0:
		e.Message = "status " + strconv.Itoa(status)
	}
	return e
}

// reasons returns e.Message and the messages of e.Fields, in lower case: the reason of a refusal may
// be in any of them.
func (e *Error) reasons() string {
	all := []string{e.Message}
	for _, f := range e.Fields {
		all = append(all, f.Message)
	}
	return strings.ToLower(strings.Join(all, "; "))
}

// maxFieldErrors is how many reasons of one refusal are kept.
const maxFieldErrors = 20

// errorBody reads GitHub's error document. Its errors are a string, an object, or a list of
// both; some of GitHub's endpoints, and proxies, answer with an object that has the reasons
// by field, as in {"body": ["is too long"]}, and some write another member than message.
func errorBody(body []byte) (message string, fields []FieldError) {
	var doc map[string]any
	if json.Unmarshal(body, &doc) != nil {
		return "", nil
	}
	for _, name := range []string{"message", "error_description", "error"} {
		if message != "" {
			break
		}
		if s, ok := doc[name].(string); ok {
			message = s
		} else {
			fields = appendReasons(fields, "", doc[name])
		}
	}
	return message, appendReasons(fields, "", doc["errors"])
}

// appendReasons adds the reasons in a value of an error document. A reason that names no field gets
// the given one, which may be "".
func appendReasons(fields []FieldError, field string, value any) []FieldError {
	if len(fields) == maxFieldErrors {
		return fields
	}
	switch value := value.(type) {
	case string:
		if value = asMessage(value); value != "" {
			fields = append(fields, FieldError{Field: field, Message: value})
		}
	case []any:
		for _, element := range value {
			fields = appendReasons(fields, field, element)
		}
	case map[string]any:
		member := func(name string) string {
			s, _ := value[name].(string)
			return asMessage(s)
		}
		one := FieldError{Resource: member("resource"), Field: member("field"), Code: member("code"), Message: member("message")}
		if one != (FieldError{}) {
			one.Field = cmp.Or(one.Field, field)
			return append(fields, one)
		}
		for _, name := range slices.Sorted(maps.Keys(value)) {
			fields = appendReasons(fields, cmp.Or(field, asMessage(name)), value[name])
		}
	}
	return fields
}

// asMessage returns a foreign text as one line of at most 500 bytes.
func asMessage(s string) string { return text.TruncateBytes(text.OneLine(s), 500) }

// RefusedPush returns the error for a push by git that GitHub refused, in the form of the API's
// errors. status is 0 if it is unknown. permission is the permission that a push needs. The status
// 401 means that the token expired, because the API must have accepted the token before.
func RefusedPush(status int, reason, permission string) *Error {
	e := &Error{Kind: Forbidden, Op: "push", Status: status, Message: reason, Permission: permission}
	if status == http.StatusUnauthorized {
		e.Kind, e.Expired = Unauthorized, true
		return e
	}
	e.Feature = featureOf(cmp.Or(status, http.StatusForbidden), strings.ToLower(reason))
	return e
}

// featureOf returns the Feature constant that explains a refusal, or "" if none does. It recognises
// GitHub's wordings; reasons must be in lower case. The status of GraphQL's refusals is 200.
func featureOf(status int, reasons string) string {
	has := func(wordings ...string) bool { return containsAny(reasons, wordings) }
	switch {
	case status == http.StatusUnavailableForLegalReasons:
		return FeatureBlocked
	case status != http.StatusForbidden && status != http.StatusGone && status != http.StatusOK && status != http.StatusUnprocessableEntity:
		return ""
	case has("not permitted to create or approve pull requests"):
		return FeaturePullCreation
	case has("draft pull requests are not supported"):
		return FeatureDrafts
	case status == http.StatusUnprocessableEntity:
		return ""
	case status == http.StatusForbidden && has("saml enforcement", "saml sso", "ip allow list"):
		return FeatureAccess
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
	return slices.ContainsFunc(wordings, func(w string) bool { return strings.Contains(s, w) })
}

// existsAlready reports whether GitHub refused to create something because it exists
// already: a branch, or a pull request between the same two branches.
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

// limitEnd returns when a rate limit ends, by the headers, or the zero time if they do not say it.
// A time in a header is on GitHub's clock, so it is taken relative to the answer's own Date.
func limitEnd(h http.Header, now time.Time) time.Time {
	serverNow := now
	if d, err := http.ParseTime(h.Get("Date")); err == nil {
		serverNow = d
	}
	if v := h.Get("Retry-After"); v != "" {
		s, err := strconv.ParseFloat(v, 64)
		isNumber := err == nil || errors.Is(err, strconv.ErrRange) // beyond the range, s is infinite
		if isNumber && !math.IsNaN(s) && s >= 0 {
			return now.Add(time.Duration(min(s, longestLimit.Seconds()) * float64(time.Second)))
		}
		if t, err := http.ParseTime(v); err == nil {
			return now.Add(min(t.Sub(serverNow), longestLimit))
		}
	}
	if h.Get("X-RateLimit-Remaining") == "0" {
		if s, err := strconv.ParseInt(h.Get("X-RateLimit-Reset"), 10, 64); err == nil {
			reset := time.Unix(min(s, serverNow.Add(longestLimit).Unix()), 0)
			// One second more: both ends are rounded to full seconds.
			return now.Add(reset.Sub(serverNow) + time.Second)
		}
	}
	return time.Time{}
}

// longestLimit is the longest that a limit is believed to last, so that no computation with it
// overflows. Nobody waits that long.
const longestLimit = 365 * 24 * time.Hour
