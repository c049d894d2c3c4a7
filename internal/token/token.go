// Package token holds a credential that prints as *** and knows the one host
// it may be sent to.
package token

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"
)

// ErrNone is returned by Authorize of a token that holds no secret.
var ErrNone = errors.New("no GitHub token: set the token input, or GITHUB_TOKEN in the environment")

// Token is a credential for one host. The zero Token holds none.
//
// The secret and the host live behind a function value: fmt reads the fields of
// a struct where it may not call methods (an unexported field, the verb %p),
// and a function prints as an address there.
type Token struct {
	open func() sealed
}

// sealed is what a Token hides.
type sealed struct {
	secret string
	origin string // scheme://host:port, canonical; "" when err is set
	err    error  // why the token may be sent nowhere
}

// New returns a token that may be sent to the host of apiURL only: scheme, host
// name and port must all match. The scheme must be https, except on a loopback
// address. White space around the secret is dropped, as secrets are often
// stored with a final newline. A URL that cannot be used is reported by the
// first Authorize, so that a run that sends nothing is not stopped by it.
func New(secret, apiURL string) Token {
	secret = strings.TrimSpace(secret)
	if secret == "" {
		return Token{}
	}
	s := sealed{secret: secret}
	s.origin, s.err = homeOf(apiURL)
	return Token{open: func() sealed { return s }}
}

// IsZero reports whether the token holds no secret.
func (t Token) IsZero() bool { return t.open == nil }

// Reveal returns the secret. It is for masking, for git's credential pipe and
// for scanning text for the secret; nothing else needs it.
func (t Token) Reveal() string {
	if t.open == nil {
		return ""
	}
	return t.open().secret
}

// Origin returns scheme, host and port of the one place the token may be sent
// to, such as "https://api.github.com:443", or "" where there is none.
func (t Token) Origin() string {
	if t.open == nil {
		return ""
	}
	return t.open().origin
}

// Authorize sets the request's Authorization header if the request goes to the
// token's host. Otherwise it removes the header and returns an error, and the
// request must not be sent.
func (t Token) Authorize(req *http.Request) error {
	req.Header.Del("Authorization")
	if t.open == nil {
		return ErrNone
	}
	s := t.open()
	if s.err != nil {
		return s.err
	}
	if strings.ContainsFunc(s.secret, notHeaderByte) {
		return errors.New("the GitHub token holds characters that a token cannot have (a space, a line break or a non-ASCII character): check how the secret was stored")
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

// homeOf returns the origin of the API's URL, which must be safe to send a
// token to.
func homeOf(apiURL string) (string, error) {
	u, err := url.Parse(strings.TrimSpace(apiURL))
	if err != nil {
		// The parser's message repeats the text, which may hold a password.
		return "", errors.New("the GitHub API URL cannot be read as a URL: give one such as https://api.github.com")
	}
	origin, err := originOf(u)
	if err != nil {
		return "", fmt.Errorf("the GitHub API URL cannot be used: %w", err)
	}
	if u.User != nil {
		return "", errors.New("the GitHub API URL must not hold a user name or password: give it as https://host/path")
	}
	return origin, nil
}

// originOf returns scheme, host and port of u in canonical form, or an error if
// a token must never travel there.
func originOf(u *url.URL) (string, error) {
	if u == nil || u.Opaque != "" || u.Hostname() == "" {
		return "", errors.New("the URL names no host")
	}
	scheme, host, port := strings.ToLower(u.Scheme), strings.ToLower(u.Hostname()), u.Port()
	switch scheme {
	case "https":
		if port == "" {
			port = "443"
		}
	case "http":
		if !loopback(host) {
			return "", fmt.Errorf("http://%s is not encrypted: use https", u.Host)
		}
		if port == "" {
			port = "80"
		}
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

// stars is what a token shows of itself, whoever asks.
const stars = "***"

// Format implements fmt.Formatter: every verb prints ***.
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
