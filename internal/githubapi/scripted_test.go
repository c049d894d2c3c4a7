package githubapi_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/githubapi"
)

// scripted is a transport that gives one answer to everything and keeps what was
// sent, as it stands on the wire.
type scripted struct {
	status int
	body   string
	sent   []string
}

func (s *scripted) RoundTrip(req *http.Request) (*http.Response, error) {
	var body []byte
	if req.Body != nil {
		body, _ = io.ReadAll(req.Body)
	}
	s.sent = append(s.sent, strings.TrimSpace(fmt.Sprintf("%s %s %s", req.Method, req.URL.RequestURI(), body)))
	return &http.Response{StatusCode: s.status, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(s.body)), Request: req}, nil
}

// script returns a client whose every request gets one answer.
func script(t *testing.T, status int, body string) (*githubapi.Client, *scripted) {
	t.Helper()
	s := &scripted{status: status, body: body}
	return plainClient(t, "https://api.github.com", s), s
}

const shaA, shaB = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
