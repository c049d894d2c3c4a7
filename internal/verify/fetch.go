package verify

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/agent-airlock/airlock/internal/acceptance"
	"github.com/agent-airlock/airlock/internal/text"
)

// Limits of requests.
const (
	maxBody      = 64 << 10 // bytes of an answer that are kept
	maxSecret    = 16 << 10 // bytes of an answer that are read after maxBody, for a secret that begins before it
	maxRedirects = 5
	reachTimeout = 3 * time.Second
)

// reach implements acceptance.Deps.Reach.
func reach(ctx context.Context, address string) error {
	dialer := net.Dialer{Timeout: reachTimeout}
	conn, err := dialer.DialContext(ctx, "tcp", address)
	if err != nil {
		return plain(err)
	}
	return conn.Close()
}

// plain shortens a connection's error to its reason.
func plain(err error) error {
	if op, ok := errors.AsType[*net.OpError](err); ok {
		return op.Err
	}
	return err
}

// fetcher sends requests: for the owner to public addresses and allowed hosts, for others only to
// allowed hosts.
type fetcher struct {
	hosts []string            // allowed: host, or host:port
	mask  func(string) string // masks secrets
}

// allowed reports whether an entry of hosts is a URL's host, and its port if the entry names one. A
// URL that names no port has that of its scheme.
func (f fetcher) allowed(u *url.URL) bool {
	port := portOf(u)
	return slices.ContainsFunc(f.hosts, func(host string) bool {
		if h, p, err := net.SplitHostPort(host); err == nil {
			return strings.EqualFold(h, u.Hostname()) && p == port
		}
		return strings.EqualFold(strings.Trim(host, "[]"), u.Hostname())
	})
}

// portOf returns the port of an http or https URL.
func portOf(u *url.URL) string {
	return cmp.Or(u.Port(), map[string]string{"http": "80", "https": "443"}[u.Scheme])
}

// check returns an error unless a criterion may name the URL. Whether the address is private shows
// only when it is connected to: see send.
func (f fetcher) check(u *url.URL, trust acceptance.Trust) error {
	switch {
	case u.Scheme != "http" && u.Scheme != "https":
		return errors.New("the URL does not begin with http:// or https://")
	case u.Hostname() == "":
		return errors.New("the URL names no host")
	case u.User != nil:
		return errors.New("the URL contains a user, and credentials are not sent")
	case trust != acceptance.Owner && !f.allowed(u):
		return fmt.Errorf("criteria from others may read only hosts that the owner allows (acceptance: allowed-hosts), and %s is not among them", net.JoinHostPort(u.Hostname(), portOf(u)))
	}
	return nil
}

// follows returns why a redirect is not followed; nil if it is. It has to lead to the same host, and
// to a URL that the criterion may name itself. The port of that URL is another one where only the
// scheme differs.
func (f fetcher) follows(trust acceptance.Trust, from, to *url.URL) error {
	if !strings.EqualFold(to.Host, from.Host) {
		return fmt.Errorf("it leads to another host or port than %s", from.Host)
	}
	return f.check(to, trust)
}

// send sends one request, not what it is redirected to. No proxy is used: it would resolve the
// host's name itself, and so decide where the request goes.
func (f fetcher) send(request *http.Request) (*http.Response, error) {
	dialer := net.Dialer{Timeout: 30 * time.Second}
	if !f.allowed(request.URL) {
		dialer.Control = refusePrivate
	}
	transport := &http.Transport{DialContext: dialer.DialContext, DisableKeepAlives: true, TLSHandshakeTimeout: 30 * time.Second, MaxResponseHeaderBytes: 1 << 20}
	return transport.RoundTrip(request)
}

// roundTripper is a function as an http.RoundTripper.
type roundTripper func(*http.Request) (*http.Response, error)

// RoundTrip implements http.RoundTripper.
func (f roundTripper) RoundTrip(request *http.Request) (*http.Response, error) { return f(request) }

// fetch implements acceptance.Deps.Fetch.
func (f fetcher) fetch(ctx context.Context, r acceptance.Fetch) (acceptance.Answer, error) {
	u, err := url.Parse(r.URL)
	if err != nil {
		return acceptance.Answer{}, fmt.Errorf("the URL cannot be read: %w", err)
	}
	if err := f.check(u, r.Trust); err != nil {
		return acceptance.Answer{}, err
	}
	notFollowed := ""
	client := http.Client{Transport: roundTripper(f.send), CheckRedirect: func(next *http.Request, via []*http.Request) error {
		if !r.Redirects {
			return http.ErrUseLastResponse
		}
		why := f.follows(r.Trust, u, next.URL)
		if why == nil && len(via) > maxRedirects {
			why = fmt.Errorf("it comes after %d others", maxRedirects)
		}
		if why == nil {
			return nil
		}
		notFollowed = fmt.Sprintf("the redirect to %q is not followed: %v", text.Truncate(f.mask(next.URL.Redacted()), 200), why)
		return http.ErrUseLastResponse
	}}
	request, err := http.NewRequestWithContext(ctx, r.Method, r.URL, nil)
	if err != nil {
		return acceptance.Answer{}, err
	}
	request.Header.Set("User-Agent", "airlock")
	answer, err := client.Do(request)
	if err != nil {
		return acceptance.Answer{}, plain(err)
	}
	defer answer.Body.Close() //nolint:errcheck // it was only read
	body, err := io.ReadAll(io.LimitReader(answer.Body, maxBody+maxSecret))
	if err != nil && len(body) == 0 {
		return acceptance.Answer{}, fmt.Errorf("the answer cannot be read: %w", plain(err))
	}
	if len(body) > maxBody {
		masked := f.mask(strings.ToValidUTF8(string(body), "\uFFFD"))
		body = []byte(masked[:min(len(masked), maxBody)])
	}
	return acceptance.Answer{Status: answer.StatusCode, Body: body, NotFollowed: notFollowed}, nil
}

// refusePrivate refuses a connection to an address that only this machine or its network
// reaches. It sees the address after the host's name was resolved.
func refusePrivate(_, address string, _ syscall.RawConn) error {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return err
	}
	ip, err := netip.ParseAddr(host)
	if err != nil {
		return err
	}
	if !isPublic(ip) {
		return fmt.Errorf("the address %s is private, and refused unless its host is allowed (--allow-host, or acceptance: allowed-hosts)", ip)
	}
	return nil
}

// special are addresses that are not public, in addition to those that netip knows: shared and
// reserved ones, and those that stand for an IPv4 address (RFC 6890, RFC 6052, RFC 3056).
var special = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"), netip.MustParsePrefix("100.64.0.0/10"), netip.MustParsePrefix("192.0.0.0/24"), netip.MustParsePrefix("198.18.0.0/15"),
	netip.MustParsePrefix("240.0.0.0/4"), netip.MustParsePrefix("64:ff9b::/96"), netip.MustParsePrefix("64:ff9b:1::/48"), netip.MustParsePrefix("2002::/16"), netip.MustParsePrefix("2001::/32"),
}

// isPublic reports whether an address is one of the public internet.
func isPublic(ip netip.Addr) bool {
	ip = ip.Unmap().WithZone("")
	if !ip.IsGlobalUnicast() || ip.IsPrivate() {
		return false
	}
	return !slices.ContainsFunc(special, func(p netip.Prefix) bool { return p.Contains(ip) })
}
