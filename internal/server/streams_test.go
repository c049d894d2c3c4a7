package server_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/server"
)

// post sends a message to a handler by the streamable HTTP transport. Headers are "Name: value".
func post(ctx context.Context, t *testing.T, h http.Handler, message string, headers ...string) (*http.Response, error) {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL, strings.NewReader(message))
	if err != nil {
		t.Fatal(err)
	}
	for _, header := range append(headers, "Content-Type: application/json", "Accept: application/json, text/event-stream") {
		name, value, _ := strings.Cut(header, ": ")
		req.Header.Set(name, value)
	}
	return http.DefaultClient.Do(req)
}

// TestSubscriptionsEnd asserts that a client which subscribes to changes of the lists is answered
// at once, because the lists do not change. Otherwise the request would be open for ever, and a
// server on standard input would not end with its input.
func TestSubscriptionsEnd(t *testing.T) {
	t.Parallel()
	const listen = `{"jsonrpc":"2.0","id":7,"method":"subscriptions/listen","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
		`"io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}},` +
		`"notifications":{"toolsListChanged":true,"promptsListChanged":true,"resourcesListChanged":true,"resourceSubscriptions":["airlock://agents/a"]}}}`
	coordinator := server.NewCoordinator("v1.2.3", nil)
	for name, serve := range map[string]func(context.Context, io.Reader, io.Writer) error{
		"coordinator":  serving(nil),
		"safe outputs": server.NewSafeOutputs(server.SafeOutputsConfig{}, nil).Serve,
	} {
		var output bytes.Buffer
		if err := serve(t.Context(), strings.NewReader(listen+"\n"), &output); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if !strings.Contains(output.String(), `"id":7,"result":`) {
			t.Errorf("%s: %s", name, &output)
		}
	}
	res, err := post(t.Context(), t, coordinator.Handler(nil), listen, "Mcp-Protocol-Version: 2026-07-28", "Mcp-Method: subscriptions/listen")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if raw, err := io.ReadAll(res.Body); err != nil || !strings.Contains(string(raw), `"id":7,"result":`) {
		t.Errorf("%s %s, %v", res.Status, raw, err)
	}
}

// TestCallEndsWithItsConnection asserts that nobody waits for a run any longer when the client that
// asked has closed the connection.
func TestCallEndsWithItsConnection(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	gaveUp := make(chan error, 1)
	handler := server.NewCoordinator("v1.2.3", nil).Handler(func(asked context.Context, _, _ string, _ []byte) (int, []byte, error) {
		cancel()
		<-asked.Done()
		gaveUp <- asked.Err()
		return 0, nil, asked.Err()
	})
	res, err := post(ctx, t, handler, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get_run","arguments":{"run_id":"run_1","wait_seconds":600}}}`)
	if err == nil {
		res.Body.Close()
	}
	if err := <-gaveUp; err == nil {
		t.Error("the API is still asked")
	}
}
