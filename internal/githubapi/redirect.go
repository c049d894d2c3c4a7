package githubapi

import (
	"net/http"
	"net/url"
	"strings"
)

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
