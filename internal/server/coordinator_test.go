package server_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// connect serves the SDK's own client over pipes, as a process does over its standard input and
// output.
func connect(t *testing.T, serve func(ctx context.Context, in io.Reader, out io.Writer) error) *mcp.ClientSession {
	t.Helper()
	return connectWith(t, nil, serve)
}

// connectWith is connect with options of the client.
func connectWith(t *testing.T, options *mcp.ClientOptions, serve func(ctx context.Context, in io.Reader, out io.Writer) error) *mcp.ClientSession {
	t.Helper()
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		err := serve(context.Background(), in, out)
		ended <- errors.Join(err, in.Close(), out.Close())
	}()
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, options)
	session, err := client.Connect(t.Context(), &mcp.IOTransport{Reader: fromServer, Writer: toServer}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = session.Close()
		if err := <-ended; err != nil && !errors.Is(err, io.ErrClosedPipe) { // an answer that the client did not wait for
			t.Errorf("Serve: %v", err)
		}
	})
	return session
}

// call calls a tool with arguments in JSON, and returns its structured content in JSON.
func call(t *testing.T, s *mcp.ClientSession, tool, arguments string) (answer string, isError bool) {
	t.Helper()
	res, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: json.RawMessage(arguments)})
	if err != nil {
		t.Fatalf("%s(%s): %v", tool, arguments, err)
	}
	raw, err := json.Marshal(res.StructuredContent)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw), res.IsError
}

// coordinator returns a client of a server whose API answers as respond does, and the requests to
// the API.
func coordinator(t *testing.T, respond func(request string) (status int, answer string, err error)) (*mcp.ClientSession, *[]string) {
	t.Helper()
	var requests []string
	api := func(_ context.Context, method, target string, body []byte) (int, []byte, error) {
		request := strings.TrimSpace(method + " " + target + " " + string(body))
		requests = append(requests, request)
		status, answer, err := respond(request)
		return status, []byte(answer), err
	}
	return connect(t, serving(api)), &requests
}

// TestEachToolIsOneRequest asserts which request each tool makes, and that what a caller writes
// stays one element of its path.
func TestEachToolIsOneRequest(t *testing.T) {
	s, requests := coordinator(t, func(string) (int, string, error) { return http.StatusOK, `{"status": "running"}` + "\n", nil })
	calls := map[string]struct{ arguments, request string }{
		"list_agent_blueprints": {`{}`, `GET /agents`},
		"validate_parameters":   {`{"agent_name": "a/../b", "parameters": {"n":1}}`, `POST /agents/a%2F..%2Fb/validate {"n":1}`},
		"start_run":             {`{"agent_name": "mend", "needs": ["gpu"]}`, `POST /runs {"agent_name":"mend","needs":["gpu"],"parameters":{}}`},
		"get_run":               {`{"run_id": "7?x=1"}`, `GET /runs/7%3Fx=1`},
		"list_runs":             {`{"status": "failed", "limit": 5.0}`, `GET /runs?limit=5&status=failed`},
		"stop_run":              {`{"run_id": ".."}`, `POST /runs/%2E%2E/stop`},
	}
	tools, err := s.ListTools(t.Context(), nil)
	if err != nil || len(tools.Tools) != len(calls) {
		t.Fatalf("%d tools, want %d: %v", len(tools.Tools), len(calls), err)
	}
	for _, tool := range tools.Tools {
		*requests = nil
		c := calls[tool.Name]
		answer, isError := call(t, s, tool.Name, c.arguments)
		if isError || answer != `{"status":"running"}` || !slices.Equal(*requests, []string{c.request}) {
			t.Errorf("%s: %s after %q, want %s", tool.Name, answer, *requests, c.request)
		}
	}
	for _, c := range []struct{ tool, arguments, request string }{
		{"get_run", `{"run_id": ".."}`, `GET /runs/%2E%2E`},
		{"validate_parameters", `{"agent_name": ".", "parameters": {}}`, `POST /agents/%2E/validate {}`},
	} {
		*requests = nil
		if call(t, s, c.tool, c.arguments); !slices.Equal(*requests, []string{c.request}) {
			t.Errorf("%s: %q, want %s", c.tool, *requests, c.request)
		}
	}
}

// TestGetRunWaits asserts that get_run waits in short requests, and adds the result and the end of
// the log to a run that is completed.
func TestGetRunWaits(t *testing.T) {
	waits := 0
	s, requests := coordinator(t, func(request string) (int, string, error) {
		switch {
		case strings.HasSuffix(request, "/result"):
			return http.StatusOK, `{"n":1}`, nil
		case strings.HasSuffix(request, "/log"):
			return http.StatusOK, strings.Repeat("x", 64<<10) + "é end", nil
		}
		if waits++; waits < 3 {
			return http.StatusOK, `{"status":"running"}`, nil
		}
		return http.StatusOK, `{"status":"completed","ended_at":"2026-01-01T00:00:00Z"}`, nil
	})
	answer, isError := call(t, s, "get_run", `{"run_id":"7","wait_seconds":5e1,"log":true}`)
	want := []string{"GET /runs/7/wait?timeout=20", "GET /runs/7/wait?timeout=20", "GET /runs/7/wait?timeout=10", "GET /runs/7/result", "GET /runs/7/log"}
	if isError || !slices.Equal(*requests, want) {
		t.Errorf("%q, want %q", *requests, want)
	}
	var run struct {
		Result struct{ N int }
		Log    string
	}
	if err := json.Unmarshal([]byte(answer), &run); err != nil || run.Result.N != 1 || !strings.HasPrefix(run.Log, "…x") || !strings.HasSuffix(run.Log, "é end") || len(run.Log) > 64<<10+len("…") {
		t.Errorf("%v: result %+v, log of %d bytes", err, run.Result, len(run.Log))
	}
}

// TestErrorsOfTheAPI asserts that a tool's error has the API's body, and that a failure of the API
// is an error of the call and does not end the session. Invalid arguments are refused without a
// request.
func TestErrorsOfTheAPI(t *testing.T) {
	var status int
	var body string
	var failure error
	s, requests := coordinator(t, func(string) (int, string, error) {
		if body == "panic" {
			panic("secret")
		}
		return status, body, failure
	})
	for _, c := range []struct {
		name, arguments string
		status          int
		body            string
		failure         error
		want            string
	}{
		{"refused", `{"run_id":"7"}`, 404, `{"error":"run_not_found"}`, nil, `{"error":"run_not_found"}`},
		{"unreachable", `{"run_id":"7"}`, 0, "", errors.New("connection refused"), `"error":"unavailable"`},
		{"not JSON", `{"run_id":"7"}`, 200, "<html>", nil, "something that is not JSON"},
		{"defect", `{"run_id":"7"}`, 0, "panic", nil, `"error":"unavailable"`},
	} {
		status, body, failure = c.status, c.body, c.failure
		answer, isError := call(t, s, "stop_run", c.arguments)
		if !isError || !strings.Contains(answer, c.want) || strings.Contains(answer, "secret") {
			t.Errorf("%s: %s, want %s", c.name, answer, c.want)
		}
	}
	*requests = nil
	for _, c := range []struct{ tool, arguments, want string }{
		{"stop_run", `{"run_id":"7","force":true}`, `$.force: Additional properties are not allowed`},
		{"stop_run", `{"run_id":7}`, `the arguments of stop_run are not valid: $.run_id: 7 is not of type 'string'`},
		{"stop_run", `{"run_id":"7","run_id":"8"}`, `$.run_id: the member is there twice`},
		{"stop_run", `{}`, `'run_id' is a required property`},
		{"stop_run", `{"run_id":""}`, `$.run_id: '' must not be empty`},
		{"get_run", `{"run_id":""}`, `$.run_id: '' must not be empty`},
		{"validate_parameters", `{"agent_name":"","parameters":{}}`, `$.agent_name: '' must not be empty`},
		{"start_run", `{"parameters":[],"needs":"gpu"}`, `"path":"$.needs"`},
	} {
		answer, isError := call(t, s, c.tool, c.arguments)
		if !isError || !strings.Contains(answer, `"error":"invalid_request"`) || !strings.Contains(answer, c.want) || len(*requests) != 0 {
			t.Errorf("%s(%s): %s, %d requests; want %s", c.tool, c.arguments, answer, len(*requests), c.want)
		}
	}
	status, body, failure = 404, `{}`, nil
	if _, err := s.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "airlock://runs/7"}); err == nil || (*requests)[0] != "GET /runs/7" {
		t.Errorf("a run that does not exist: %v, %q", err, *requests)
	}
	status, body, failure = 429, `{"error":"rate_limited"}`, nil
	if _, err := s.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "airlock://runs/7"}); err == nil || !strings.Contains(err.Error(), "rate_limited") {
		t.Errorf("a run that cannot be shown now: %v", err)
	}
}

// TestGetRunLeavesNothingOut asserts that get_run fails if the API does not answer with a run's
// result or log, and does not show a run without them. A run whose result is gone is shown.
func TestGetRunLeavesNothingOut(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		path   string
		status int
		want   string
	}{{"/result", 503, "why"}, {"/log", 401, "why"}, {"/result", 410, `"status":"completed"`}} {
		s, _ := coordinator(t, func(request string) (int, string, error) {
			switch {
			case strings.HasSuffix(request, c.path):
				return c.status, `{"error":"why"}`, nil
			case strings.HasSuffix(request, "/log"):
				return http.StatusOK, "", nil
			}
			return http.StatusOK, `{"status":"completed"}`, nil
		})
		if answer, isError := call(t, s, "get_run", `{"run_id":"7","log":true}`); isError != (c.want == "why") || !strings.Contains(answer, c.want) {
			t.Errorf("%s with %d: %s", c.path, c.status, answer)
		}
	}
}
