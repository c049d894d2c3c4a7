package token_test

import (
	"bytes"
	"encoding/base64"
	"encoding/gob"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/token"
	"go.yaml.in/yaml/v3"
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
		{"file scheme", "file:///etc/passwd", "file:///etc/passwd", "has no host"},
		{"other scheme", "ftp://api.github.com", "ftp://api.github.com", `scheme "ftp"`},
		{"no scheme", "api.github.com", "https://api.github.com/", "has no host"},
		{"empty", "", "https://api.github.com/", "has no host"},
		{"unreadable", "https://[::1", "https://api.github.com/", "cannot be read"},
		{"password in the API URL", "https://u:" + secret + "@api.github.com", "https://api.github.com/", "must not contain a user name"},
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
	if err == nil || !strings.Contains(err.Error(), "characters that no token has") || strings.Contains(err.Error(), secret) || req.Header.Get("Authorization") != "" {
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

// hidden has a token where fmt may not call its methods.
type hidden struct{ t token.Token }

// shown has a token where marshallers reach it.
type shown struct {
	T token.Token  `json:"t" yaml:"t" xml:"t"`
	P *token.Token `json:"p" yaml:"p" xml:"p"`
}

// assertStars asserts that out does not show the token, and contains *** if wantStars is set.
func assertStars(t *testing.T, how, out string, wantStars bool) {
	t.Helper()
	if strings.Contains(out, secret) || strings.Contains(out, base64.StdEncoding.EncodeToString([]byte(secret))) ||
		strings.Contains(out, fmt.Sprintf("%x", secret)) {
		t.Errorf("%s shows the token", how)
	}
	if wantStars && !strings.Contains(out, "***") {
		t.Errorf("%s = %q, want ***", how, out)
	}
}

func TestEveryVerbPrintsStars(t *testing.T) {
	tok := token.New(secret, "https://api.github.com")
	for _, verb := range "vTtbcdoOqxXUeEfFgGspw!" {
		for _, flag := range []string{"", "+", "#", " ", "0", "-60", ".3"} {
			format := "%" + flag + string(verb)
			for name, v := range map[string]any{
				"value": tok, "pointer": &tok, "slice": []token.Token{tok}, "map": map[string]any{"t": tok},
				"exported field": shown{tok, &tok}, "hidden field": hidden{tok}, "hidden pointer": &hidden{tok}, "error": errOf{tok},
			} {
				assertStars(t, name+" by "+format, fmt.Sprintf(format, v), false)
			}
		}
		if !strings.ContainsRune("Tpw!", verb) {
			assertStars(t, "%"+string(verb), fmt.Sprintf("%"+string(verb), tok), true)
		}
	}
	assertStars(t, "Sprint", fmt.Sprint(tok, &tok), true)
	assertStars(t, "String", tok.String(), true)
	assertStars(t, "GoString", tok.GoString(), true)
}

type errOf struct{ t token.Token }

func (e errOf) Error() string { return fmt.Sprint("failed with ", e.t) }

func TestEveryMarshallerPrintsStars(t *testing.T) {
	tok := token.New(secret, "https://api.github.com")
	v := shown{tok, &tok}
	for name, marshal := range map[string]func(any) ([]byte, error){"json": json.Marshal, "yaml": yaml.Marshal, "xml": xml.Marshal} {
		out, err := marshal(v)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		assertStars(t, name, string(out), true)
	}
	out, err := json.Marshal(map[string]any{"a": []any{tok}})
	if err != nil {
		t.Error(err)
	}
	assertStars(t, "json in a map", string(out), true)
	var buf bytes.Buffer
	if err := gob.NewEncoder(&buf).Encode(tok); err != nil {
		t.Error(err)
	}
	assertStars(t, "gob", buf.String(), true)
}

func TestLoggersPrintStars(t *testing.T) {
	tok := token.New(secret, "https://api.github.com")
	var buf bytes.Buffer
	log.New(&buf, "", 0).Println(tok, hidden{tok})
	slog.New(slog.NewTextHandler(&buf, nil)).Info("x", "t", tok, "h", hidden{tok}, "s", shown{tok, &tok})
	slog.New(slog.NewJSONHandler(&buf, nil)).Info("x", "t", tok, "h", hidden{tok}, "s", shown{tok, &tok})
	assertStars(t, "loggers", buf.String(), true)
}
