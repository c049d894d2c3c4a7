package server_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/agent-airlock/airlock/internal/server"
)

// serving returns a function that serves an API as tools.
func serving(api server.API) func(context.Context, io.Reader, io.Writer) error {
	return func(ctx context.Context, in io.Reader, out io.Writer) error {
		return server.NewCoordinator("v1.2.3", nil).Serve(ctx, api, in, out)
	}
}

// TestWaitingTellsOfItsProgress asserts that a client which waits for a long run is notified of its
// progress, and gets the result in the end.
func TestWaitingTellsOfItsProgress(t *testing.T) {
	t.Parallel()
	asked := 0
	api := func(_ context.Context, method, target string, _ []byte) (int, []byte, error) {
		switch target {
		case "/runs/run_1/wait?timeout=20":
			if asked++; asked < 3 {
				return 200, []byte(`{"run_id":"run_1","status":"running"}`), nil
			}
			return 200, []byte(`{"run_id":"run_1","status":"completed","ended_at":"2026-11-23T00:00:00Z"}`), nil
		case "/runs/run_1/result":
			return 200, []byte(`{"n":7}`), nil
		}
		return 0, nil, fmt.Errorf("%s %s was asked for", method, target)
	}
	heard := make(chan string, 10)
	session := connectWith(t, &mcp.ClientOptions{ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
		heard <- fmt.Sprintf("%g of %g: %s", r.Params.Progress, r.Params.Total, r.Params.Message)
	}}, serving(api))
	params := &mcp.CallToolParams{Name: "get_run", Arguments: json.RawMessage(`{"run_id":"run_1","wait_seconds":600}`)}
	params.SetProgressToken("p")
	res, err := session.CallTool(t.Context(), params)
	if err != nil || res.IsError {
		t.Fatal(res, err)
	}
	if raw, err := json.Marshal(res.StructuredContent); err != nil || !strings.Contains(string(raw), `"result":{"n":7}`) {
		t.Errorf("%s, %v", raw, err)
	}
	for _, want := range []string{"20 of 600: the run is running", "40 of 600: the run is running"} {
		if got := <-heard; got != want {
			t.Errorf("the client heard %q, want %q", got, want)
		}
	}
}

// TestTheEndIsNoError asserts that a server whose context ends returns no error, and logs nothing
// that a person should see.
func TestTheEndIsNoError(t *testing.T) {
	t.Parallel()
	var log, output bytes.Buffer
	coordinator := server.NewCoordinator("v1.2.3", slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelWarn})))
	ctx, cancel := context.WithCancel(t.Context())
	api := func(context.Context, string, string, []byte) (int, []byte, error) {
		cancel()
		return 200, []byte(`{"agents":[]}`), nil
	}
	in, client := io.Pipe()
	defer client.Close()
	go func() {
		_, _ = io.WriteString(client, begin+`{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"list_agent_blueprints"}}`+"\n")
	}()
	if err := coordinator.Serve(ctx, api, in, &output); err != nil {
		t.Error(err)
	}
	if log.Len() > 0 {
		t.Errorf("the log has %s", &log)
	}
}

// TestACallIsCancelled asserts that the request to the API ends when a client cancels its call, and
// that the server goes on answering.
func TestACallIsCancelled(t *testing.T) {
	t.Parallel()
	waiting, gaveUp := make(chan struct{}), make(chan error, 1)
	api := func(ctx context.Context, _, target string, _ []byte) (int, []byte, error) {
		if !strings.Contains(target, "/wait") {
			return 200, []byte(`{"agents":[]}`), nil
		}
		close(waiting)
		<-ctx.Done()
		gaveUp <- ctx.Err()
		return 0, nil, ctx.Err()
	}
	session := connect(t, serving(api))
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-waiting; cancel() }()
	if _, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "get_run", Arguments: json.RawMessage(`{"run_id":"run_1","wait_seconds":600}`)}); err == nil {
		t.Error("a call that was cancelled has an answer")
	}
	if err := <-gaveUp; err == nil {
		t.Error("the API is still asked")
	}
	res, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "list_agent_blueprints", Arguments: json.RawMessage(`{}`)})
	if err != nil || res.IsError {
		t.Errorf("%v %v", res, err)
	}
}
