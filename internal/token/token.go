// Package token defines a credential that prints as *** and may be sent to one
// host only.
package token

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"
)

// ErrNone is returned by Authorize of a token without a secret.
var ErrNone = errors.New("no GitHub token: set the token input, or GITHUB_TOKEN in the environment")

// Token is a credential for one host. The zero Token has no secret.
//
// The secret and the host are the result of a function, because fmt prints the fields of a struct
// where it may not call methods (an unexported field, the verb %p). It prints a function as an
// address.
type Token struct {
	open func() sealed
}

// sealed is what a Token hides.
type sealed struct {
	secret string
	origin string // scheme://host:port, canonical; "" if err is set
	err    error  // why the token may not be sent anywhere
}

// New returns a token that may be sent to the host of apiURL only: scheme, host name and port must
// all match. The scheme must be https, except on a loopback address. Space around the secret is
// removed, because secrets are often stored with a final newline. If apiURL cannot be used, only
// Authorize reports it, because a run that sends nothing does not need apiURL.
func New(secret, apiURL string) Token {
	secret = strings.TrimSpace(secret)
	if secret == "" {
		return Token{}
	}
	s := sealed{secret: secret}
	s.origin, s.err = apiOrigin(apiURL)
	return Token{open: func() sealed { return s }}
}

// IsZero reports whether the token has no secret.
func (t Token) IsZero() bool { return t.open == nil }

func (t Token) sealed() sealed {
	if t.open == nil {
		return sealed{err: ErrNone}
	}
	return t.open()
}

// Reveal returns the secret, or "". It is only for masking, for git's credential
// pipe and for finding the secret in texts.
func (t Token) Reveal() string { return t.sealed().secret }

// Origin returns scheme, host and port of the one place that the token may be
// sent to, such as "https://api.github.com:443", or "" if there is none.
func (t Token) Origin() string { return t.sealed().origin }

// Authorize sets the request's Authorization header if the request goes to the
// token's host and a header may contain the secret. Otherwise it removes the
// header and returns an error, and the request must not be sent.
func (t Token) Authorize(req *http.Request) error {
	req.Header.Del("Authorization")
	s := t.sealed()
	if s.err != nil {
		return s.err
	}
	if strings.ContainsFunc(s.secret, notHeaderByte) {
		return errors.New("the token contains characters that no token has (a space, a line break or a non-ASCII character): check how the secret was stored")
	}
	got, err := originOf(req.URL)
	if err != nil {
		return fmt.Errorf("refusing to send the GitHub token: %w", err)
	}
	if got != s.origin {
		return fmt.Errorf("refusing to send the GitHub token to %s: it belongs to %s", got, s.origin)
	}
	req.Header.Set("Authorization", "Bearer "+s.secret)
	return nil
}

func notHeaderByte(r rune) bool { return r <= ' ' || r >= 0x7f }

// apiOrigin returns the origin of the API's URL, or an error if it is not safe to
// send a token there.
func apiOrigin(apiURL string) (string, error) {
	u, err := url.Parse(strings.TrimSpace(apiURL))
	if err != nil {
		// The parser's message repeats the text, which may contain a password.
		return "", errors.New("the GitHub API URL cannot be read as a URL: give one such as https://api.github.com")
	}
	origin, err := originOf(u)
	if err != nil {
		return "", fmt.Errorf("the GitHub API URL cannot be used: %w", err)
	}
	if u.User != nil {
		return "", errors.New("the GitHub API URL must not contain a user name or password: give it as https://host/path")
	}
	return origin, nil
}

// originOf returns scheme, host and port of u in canonical form, or an error if
// a token must never be sent there.
func originOf(u *url.URL) (string, error) {
	if u == nil || u.Opaque != "" || u.Hostname() == "" {
		return "", errors.New("the URL has no host")
	}
	scheme, host, port := strings.ToLower(u.Scheme), strings.ToLower(u.Hostname()), u.Port()
	switch scheme {
	case "https":
		port = cmp.Or(port, "443")
	case "http":
		if !loopback(host) {
			return "", fmt.Errorf("http://%s is not encrypted: use https", u.Host)
		}
		port = cmp.Or(port, "80")
	default:
		return "", fmt.Errorf("the scheme %q is not https", u.Scheme)
	}
	return scheme + "://" + net.JoinHostPort(host, port), nil
}

// loopback reports whether host names this machine.
func loopback(host string) bool {
	if host == "localhost" {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

// stars is what a Token prints.
const stars = "***"

// Format implements fmt.Formatter. It prints *** for every verb. For some verbs, such as %p, fmt does
// not call it.
func (Token) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, stars) }

// String implements fmt.Stringer.
func (Token) String() string { return stars }

// GoString implements fmt.GoStringer.
func (Token) GoString() string { return stars }

// LogValue implements slog.LogValuer.
func (Token) LogValue() slog.Value { return slog.StringValue(stars) }

// MarshalText implements encoding.TextMarshaler, which XML, flags and map keys
// use too.
func (Token) MarshalText() ([]byte, error) { return []byte(stars), nil }

// MarshalJSON implements json.Marshaler.
func (Token) MarshalJSON() ([]byte, error) { return []byte(`"` + stars + `"`), nil }

// MarshalYAML implements the YAML packages' Marshaler.
func (Token) MarshalYAML() (any, error) { return stars, nil }

// MarshalBinary implements encoding.BinaryMarshaler, which gob uses.
func (Token) MarshalBinary() ([]byte, error) { return []byte(stars), nil }
