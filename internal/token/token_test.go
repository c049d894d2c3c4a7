package token_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/token"
)

const secret = "ghs_notARealTokenButShapedLikeOne0000000"

func TestAuthorize(t *testing.T) {
	const gh = "https://api.github.com"
	tests := []struct {
		name, api, url string
		want           string // part of the error; "" for none
	}{
		{"same host", gh, "https://api.github.com/repos/o/r", ""},
		{"case and default port", "https://API.GitHub.com/", "https://api.github.com:443/graphql", ""},
		{"enterprise path", "https://ghe.example/api/v3", "https://ghe.example/api/graphql", ""},
		{"named port", "https://ghe.example:8443/api/v3", "https://ghe.example:8443/api/v3/user", ""},
		{"loopback address", "http://127.0.0.1:8080", "http://127.0.0.1:8080/x", ""},
		{"loopback name", "http://localhost:1", "http://localhost:1/", ""},
		{"loopback IPv6", "http://[::1]:9", "http://[::1]:9/", ""},
		{"other host", gh, "https://evil.example/", "refusing to send the GitHub token to https://evil.example:443"},
		{"subdomain", gh, "https://x.api.github.com/", "refusing"},
		{"parent domain", gh, "https://github.com/", "refusing"},
		{"suffix trick", gh, "https://api.github.com.evil.example/", "refusing"},
		{"user info trick", gh, "https://api.github.com@evil.example/", "refusing"},
		{"trailing dot", gh, "https://api.github.com./", "refusing"},
		{"other port", gh, "https://api.github.com:8443/", "refusing"},
		{"downgrade", gh, "http://api.github.com/", "not encrypted"},
		{"loopback is not the host", gh, "http://127.0.0.1/", "refusing"},
		{"http on loopback, https asked", "http://127.0.0.1:80", "https://127.0.0.1:80/", "refusing"},
		{"API without encryption", "http://ghe.example/api/v3", "http://ghe.example/api/v3", "use https"},
		{"file scheme", "file:///etc/passwd", "file:///etc/passwd", "names no host"},
		{"other scheme", "ftp://api.github.com", "ftp://api.github.com", `scheme "ftp"`},
		{"no scheme", "api.github.com", "https://api.github.com/", "names no host"},
		{"empty", "", "https://api.github.com/", "names no host"},
		{"unreadable", "https://[::1", "https://api.github.com/", "cannot be read"},
		{"password in the API URL", "https://u:" + secret + "@api.github.com", "https://api.github.com/", "must not hold a user name"},
		{"unreadable with password", "https://u:" + secret + "@[::1", "https://api.github.com/", "cannot be read"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			req, err := http.NewRequest("GET", tt.url, nil)
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Authorization", "stale")
			err = token.New(secret, tt.api).Authorize(req)
			got := req.Header.Get("Authorization")
			if tt.want == "" {
				if err != nil || got != "Bearer "+secret {
					t.Errorf("Authorize: err %v, header set: %v", err, got != "")
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Authorize: err %v, want one with %q", err, tt.want)
			}
			if got != "" {
				t.Error("a refused request still carries a header")
			}
			if err != nil && strings.Contains(err.Error(), secret) {
				t.Error("the error shows the token")
			}
		})
	}
}

func TestAuthorizeWithoutSecret(t *testing.T) {
	for _, tok := range []token.Token{{}, token.New("", "https://api.github.com"), token.New(" \n", "https://api.github.com")} {
		req, _ := http.NewRequest("GET", "https://api.github.com", nil)
		if err := tok.Authorize(req); !errors.Is(err, token.ErrNone) {
			t.Errorf("Authorize = %v, want ErrNone", err)
		}
		if !tok.IsZero() || tok.Reveal() != "" || tok.Origin() != "" {
			t.Error("a token without a secret is not zero")
		}
	}
}

func TestBrokenSecretIsNamedNotShown(t *testing.T) {
	req, _ := http.NewRequest("GET", "https://api.github.com", nil)
	err := token.New(secret+"\r\nX-Evil: 1", "https://api.github.com").Authorize(req)
	if err == nil || strings.Contains(err.Error(), secret) || req.Header.Get("Authorization") != "" {
		t.Errorf("Authorize = %v", err)
	}
}

func TestSpaceAroundTheSecretIsDropped(t *testing.T) {
	tok := token.New(" "+secret+"\n", "https://api.github.com")
	if tok.Reveal() != secret || tok.IsZero() {
		t.Error("the secret was not trimmed")
	}
	if got := tok.Origin(); got != "https://api.github.com:443" {
		t.Errorf("Origin = %q", got)
	}
}
