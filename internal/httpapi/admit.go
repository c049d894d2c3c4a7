package httpapi

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"golang.org/x/time/rate"

	"github.com/agent-airlock/airlock/internal/access"
)

// admit decides whether a request may reach its handler, and for whom.
func (s *Server) admit(r *http.Request, rt *route) (access.Grant, error) {
	grant, admitted := r.Context().Value(grantKey{}).(access.Grant)
	if !admitted {
		if err := s.checkOrigin(r); err != nil {
			return access.Grant{}, err
		}
		if rt.scope == "" {
			return access.Grant{Name: "anybody"}, nil
		}
		var err error
		if grant, err = s.identify(r); err != nil {
			return grant, err
		}
	}
	if rt.scope != "" && !grant.Allows(rt.scope) {
		return grant, refuse(http.StatusForbidden, "forbidden", "the token %s does not have the scope %s", grant.Name, rt.scope)
	}
	if r.Context().Value(countedKey{}) != nil {
		return grant, nil
	}
	return grant, s.limit(grant.Name, 1)
}

// checkOrigin refuses requests that a browser sends for a page of another site. Such a request goes
// across sites, or to a name of the other site that its owner made point here (DNS rebinding).
func (s *Server) checkOrigin(r *http.Request) error {
	host := r.Host
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.Trim(strings.ToLower(host), "[]")
	isLoopback := slices.Contains([]string{"localhost", "127.0.0.1", "::1"}, host)
	isOurs := slices.ContainsFunc(s.Hosts, func(h string) bool { return strings.EqualFold(h, host) })
	anyName := s.Public && len(s.Hosts) == 0
	if !isLoopback && !isOurs && !anyName && !isOwnAddress(r.Context(), host) {
		return refuse(http.StatusForbidden, "forbidden_host", "this server is not called %q: use its address, or allow the name with --host", host)
	}
	if site := r.Header.Get("Sec-Fetch-Site"); site == "cross-site" || site == "same-site" {
		return refuse(http.StatusForbidden, "forbidden_origin", "requests from pages of other sites are refused")
	}
	if origin := r.Header.Get("Origin"); origin != "" {
		if u, err := url.Parse(origin); err != nil || !strings.EqualFold(u.Host, r.Host) {
			return refuse(http.StatusForbidden, "forbidden_origin", "requests from pages of other sites are refused")
		}
	}
	return nil
}

// isOwnAddress reports whether host is the address that the request's connection was made to. An
// address is not looked up, so it cannot be a name that somebody made point here.
func isOwnAddress(ctx context.Context, host string) bool {
	address, err := netip.ParseAddr(host)
	here, ok := ctx.Value(http.LocalAddrContextKey).(*net.TCPAddr)
	return err == nil && ok && address.Unmap() == here.AddrPort().Addr().Unmap()
}

// unauthorized returns the error for a caller without a valid token.
func unauthorized(code, format string, args ...any) *apiError {
	return refuse(http.StatusUnauthorized, code, format, args...).with("Www-Authenticate", `Bearer realm="airlock"`)
}

// identify returns the grant of the caller.
func (s *Server) identify(r *http.Request) (access.Grant, error) {
	if header := r.Header.Get("Authorization"); header != "" {
		scheme, token, _ := strings.Cut(header, " ")
		if !strings.EqualFold(scheme, "Bearer") {
			return access.Grant{}, unauthorized("unauthorized", "only Bearer tokens are understood")
		}
		grant, ok, err := s.Tokens.Check(r.Context(), strings.TrimSpace(token))
		if err == nil && !ok {
			err = unauthorized("invalid_token", "the token is not known, or was revoked")
		}
		return grant, err
	}
	hasTokens, err := s.Tokens.Any(r.Context())
	switch {
	case err != nil:
		return access.Grant{}, err
	case hasTokens || s.Public:
		return access.Grant{}, unauthorized("unauthorized", "a token is needed: send it as 'Authorization: Bearer TOKEN'")
	case !isOwnUser(r.Context()):
		return access.Grant{}, unauthorized("unauthorized", "without a token only the server's own user is answered: make a token with 'airlock token add'")
	}
	return access.WithoutToken(), nil
}

// maxLimiters is the largest number of callers whose requests are counted. With one more, the counting
// begins anew for all.
const maxLimiters = 10_000

// limit counts n requests that a caller sends at once, and refuses them if they exceed the rate.
func (s *Server) limit(caller string, n int) error {
	if s.Rate <= 0 {
		return nil
	}
	s.mu.Lock()
	l, ok := s.limiters[caller]
	if !ok {
		if len(s.limiters) >= maxLimiters {
			s.limiters = map[string]*rate.Limiter{}
		}
		l = rate.NewLimiter(rate.Limit(s.Rate), max(int(s.Rate), 1))
		s.limiters[caller] = l
	}
	s.mu.Unlock()
	if l.AllowN(time.Now(), n) {
		return nil
	}
	if n > 1 {
		return refuse(http.StatusTooManyRequests, "rate_limited", "the requests of the batch are more than %g a second: send fewer at once", s.Rate).with("Retry-After", "1")
	}
	return refuse(http.StatusTooManyRequests, "rate_limited", "more than %g requests a second: wait a second and try again", s.Rate).with("Retry-After", "1")
}

// maxLarge is how many large answers a caller may be reading at once. Each takes some megabytes of
// memory until the caller has read it, which may be slow.
const maxLarge = 16

// enterWithin bounds how long a request waits until the caller has read an earlier answer.
const enterWithin = 10 * time.Second

// enter waits, at most for enterWithin, until the caller reads fewer than maxLarge large answers,
// and counts one more. leave ends the counting of that one.
func (s *Server) enter(r *http.Request, caller string) (leave func(), err error) {
	s.mu.Lock()
	reading, ok := s.large[caller]
	if !ok {
		reading = make(chan struct{}, maxLarge)
		s.large[caller] = reading
	}
	s.mu.Unlock()
	ctx, cancel := context.WithTimeout(r.Context(), enterWithin)
	defer cancel()
	select {
	case reading <- struct{}{}:
		return func() { <-reading }, nil
	case <-ctx.Done():
		if err := r.Context().Err(); err != nil {
			return nil, err
		}
		return nil, refuse(http.StatusTooManyRequests, "too_many_answers", "%d large answers are being read already: read them to their ends, and try again", maxLarge).with("Retry-After", "5")
	}
}
