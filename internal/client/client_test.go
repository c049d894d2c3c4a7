package client_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/agents"
	"github.com/agent-airlock/airlock/internal/client"
	"github.com/agent-airlock/airlock/internal/exitcode"
	"github.com/agent-airlock/airlock/internal/runs"
)

// exitOf returns the exit code that an error carries; -1 if it carries none.
func exitOf(err error) int {
	var exit *exitcode.Error
	if errors.As(err, &exit) {
		return exit.Code
	}
	return -1
}

func TestServersThatAreNotAsked(t *testing.T) {
	for server, want := range map[string]string{
		"":                          "not a URL",
		"127.0.0.1:8417":            "not a URL",
		"ftp://127.0.0.1/":          "not a URL",
		"http://":                   "not a URL",
		"http://example.com:8417":   "without TLS",
		"http://localhost.evil:80/": "without TLS",
		"http://[2001:db8::1]:80":   "without TLS",
	} {
		if _, err := client.New(server, "a-token"); exitOf(err) != exitcode.Usage || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want an error of usage with %q", server, err, want)
		}
	}
	for _, server := range []string{"https://example.com", "http://localhost:1/", "http://127.0.0.9:1", "http://[::1]:1"} {
		if _, err := client.New(server, "a-token"); err != nil {
			t.Errorf("%q: %v", server, err)
		}
	}
	if _, err := client.New("http://example.com:8417", ""); err != nil {
		t.Errorf("without a token: %v", err)
	}
}

func TestATokenIsNotSentToWhereAnAnswerLeads(t *testing.T) {
	elsewhere := 0
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { elsewhere++ }))
	defer other.Close()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if got := r.Header.Get("Authorization"); got != "Bearer a-token" {
			t.Errorf("Authorization: %q", got)
		}
		http.Redirect(w, r, other.URL, http.StatusTemporaryRedirect)
	}))
	defer server.Close()
	c, err := client.New(server.URL, "a-token")
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Get(context.Background(), "1"); err == nil || !strings.Contains(err.Error(), "307 Temporary Redirect") {
		t.Errorf("err = %v", err)
	}
	if elsewhere > 0 {
		t.Errorf("%d requests went elsewhere", elsewhere)
	}
}

func TestAnswers(t *testing.T) {
	tests := map[string]struct {
		status int
		body   string
		want   string
		exit   int
	}{
		"a page":                    {200, "<html>", "something else than Airlock's JSON", -1},
		"nothing":                   {200, "", "something else than Airlock's JSON", -1},
		"a gateway's page":          {502, "<html>bad gateway</html>", "the server answered 502 Bad Gateway", -1},
		"a refusal":                 {404, `{"error":"not_found","message":"there is no run 1"}`, "there is no run 1", exitcode.Usage},
		"a refusal with violations": {400, `{"error":"invalid_request","message":"invalid","validation_errors":[{"path":"$.a","message":"too long"}]}`, "invalid\n  $.a: too long", exitcode.Usage},
		"a failure":                 {503, `{"error":"store_locked","message":"the store is locked"}`, "the store is locked", -1},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(tt.status)
				_, _ = io.WriteString(w, tt.body)
			}))
			defer server.Close()
			c, err := client.New(server.URL, "")
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			if _, err := c.Get(context.Background(), "1"); err == nil || !strings.Contains(err.Error(), tt.want) || exitOf(err) != tt.exit {
				t.Errorf("err = %v with the code %d, want %q with %d", err, exitOf(err), tt.want, tt.exit)
			}
		})
	}
}

func TestViolationsOfParametersAreKept(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if key := r.Header.Get("Idempotency-Key"); key != "k" {
			t.Errorf("Idempotency-Key: %q", key)
		}
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, `{"error":"parameter_validation_failed","agent_name":"a","validation_errors":[{"path":"$.x","message":"too large"}],"parameters_schema":{"type":"object"}}`)
	}))
	defer server.Close()
	c, err := client.New(server.URL, "")
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_, err = c.Create(context.Background(), runs.Request{AgentName: "a", Parameters: []byte(`{}`), Key: "k"})
	var refused *agents.ParameterError
	if !errors.As(err, &refused) || refused.AgentName != "a" || len(refused.Violations) != 1 || refused.Violations[0].Path != "$.x" {
		t.Errorf("err = %#v", err)
	}
}

// TestRefusalsAreSaidOnce asserts that a message that contains the only violation is not followed
// by it. Two violations are listed in full.
func TestRefusalsAreSaidOnce(t *testing.T) {
	answer := `{"error":"invalid_request","message":"the body is not valid: $.needs: 'a' is wrong","validation_errors":[{"path":"$.needs","message":"'a' is wrong"}]}`
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, answer)
	}))
	defer server.Close()
	c, err := client.New(server.URL, "")
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_, err = c.Create(t.Context(), runs.Request{AgentName: "echo", Parameters: []byte(`{}`)})
	if exitOf(err) != exitcode.Usage || err.Error() != "the body is not valid: $.needs: 'a' is wrong" {
		t.Errorf("one violation: %v", err)
	}
	answer = `{"error":"invalid_request","message":"the body is not valid: $.a: x","validation_errors":[{"path":"$.a","message":"x"},{"path":"$.b","message":"y"}]}`
	if _, err = c.Create(t.Context(), runs.Request{AgentName: "echo", Parameters: []byte(`{}`)}); err == nil || err.Error() != "the body is not valid: $.a: x\n  $.a: x\n  $.b: y" {
		t.Errorf("two violations: %v", err)
	}
	_, err = c.Create(t.Context(), runs.Request{AgentName: "echo", Parameters: []byte(`{`)})
	if exitOf(err) != exitcode.Usage || err.Error() != "the parameters are not JSON: unexpected end of JSON input" {
		t.Errorf("not JSON: %v", err)
	}
}
