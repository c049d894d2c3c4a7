//go:build unix

package main_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// bearer sends a token with each request.
type bearer struct{ token string }

// RoundTrip implements http.RoundTripper.
func (b bearer) RoundTrip(req *http.Request) (*http.Response, error) {
	req = req.Clone(req.Context())
	if b.token != "" {
		req.Header.Set("Authorization", "Bearer "+b.token)
	}
	return http.DefaultTransport.RoundTrip(req)
}

// overHTTP connects the SDK's own client to a coordinator's /mcp.
func overHTTP(t *testing.T, address, token string) (*mcp.ClientSession, error) {
	t.Helper()
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	session, err := client.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: address + "/mcp", HTTPClient: &http.Client{Transport: bearer{token}}, DisableStandaloneSSE: true}, nil)
	if err == nil {
		t.Cleanup(func() { _ = session.Close() })
	}
	return session, err
}

// asked calls a tool and decodes its structured content.
func asked[T any](t *testing.T, s *mcp.ClientSession, tool, arguments string) (answer T, isError bool) {
	t.Helper()
	res, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: json.RawMessage(arguments)})
	if err != nil {
		t.Fatalf("%s: %v", tool, err)
	}
	return parse[T](t, jsonText(t, res.StructuredContent)), res.IsError
}

// TestOrchestratorCorrectsItself tests the sixth criterion of spec 004, over each transport. The
// agents are listed with type and schema. The refusal of a run with wrong parameters says what has
// to change, and the corrected run goes on to its end.
func TestOrchestratorCorrectsItself(t *testing.T) {
	t.Parallel()
	for name, connect := range map[string]func(t *testing.T) *mcp.ClientSession{
		"standard input and output": func(t *testing.T) *mcp.ClientSession {
			cmd := exec.Command(binary, "mcp", "--store", filepath.Join(t.TempDir(), "airlock.db"))
			cmd.Dir, cmd.Env = t.TempDir(), []string{"PATH=" + os.Getenv("PATH"), "TMPDIR=" + t.TempDir()}
			return connectTo(t, &mcp.CommandTransport{Command: cmd})
		},
		"streamable HTTP": func(t *testing.T) *mcp.ClientSession {
			s, err := overHTTP(t, serve(t, t.TempDir()).url, "")
			if err != nil {
				t.Fatal(err)
			}
			return s
		},
		"a coordinator elsewhere": func(t *testing.T) *mcp.ClientSession {
			address := serve(t, t.TempDir()).url
			cmd := exec.Command(binary, "mcp", "--server", address)
			cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "TMPDIR=" + t.TempDir()}
			return connectTo(t, &mcp.CommandTransport{Command: cmd})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := connect(t)
			list, _ := asked[struct {
				Agents []struct {
					Name, Type       string
					ParametersSchema json.RawMessage `json:"parameters_schema"`
				}
			}](t, s, "list_agent_blueprints", `{}`)
			found := false
			for _, a := range list.Agents {
				found = found || a.Name == "collect-output" && a.Type == "deterministic" && strings.Contains(string(a.ParametersSchema), `"lines"`)
			}
			if !found {
				t.Fatalf("the agents are %+v", list)
			}

			type violations struct {
				Error            string
				ValidationErrors []struct{ Path, Message string } `json:"validation_errors"`
				ParametersSchema json.RawMessage                  `json:"parameters_schema"`
			}
			wrong, isError := asked[violations](t, s, "start_run", `{"agent_name":"collect-output","parameters":{"line":"x"}}`)
			if !isError || wrong.Error != "parameter_validation_failed" || len(wrong.ValidationErrors) != 2 || len(wrong.ParametersSchema) < 20 {
				t.Fatalf("wrong parameters: %+v", wrong)
			}
			if checked, isError := asked[violations](t, s, "validate_parameters", `{"agent_name":"collect-output","parameters":{"line":"x"}}`); !isError || checked.Error != wrong.Error {
				t.Errorf("validated: %+v", checked)
			}
			if _, isError := asked[map[string]any](t, s, "validate_parameters", `{"agent_name":"collect-output","parameters":{"lines":"{}"}}`); isError {
				t.Error("good parameters are not valid")
			}

			started, isError := asked[struct {
				RunID string `json:"run_id"`
			}](t, s, "start_run", `{"agent_name":"collect-output","parameters":{"lines":"{\"type\":\"noop\",\"message\":\"done\"}"}}`)
			if isError || started.RunID == "" {
				t.Fatalf("corrected parameters: %+v", started)
			}
			run, isError := asked[struct {
				Status string
				Result json.RawMessage
			}](t, s, "get_run", `{"run_id":"`+started.RunID+`","wait_seconds":60,"log":true}`)
			if isError || run.Status != "completed" || !strings.Contains(string(run.Result), `"done"`) {
				t.Errorf("the run is %s: %s", run.Status, run.Result)
			}
			listed, _ := asked[struct {
				Runs []struct {
					RunID string `json:"run_id"`
				}
			}](t, s, "list_runs", `{"status":"completed"}`)
			if len(listed.Runs) != 1 || listed.Runs[0].RunID != started.RunID {
				t.Errorf("the runs are %+v", listed)
			}
			if ended, isError := asked[struct{ Error string }](t, s, "stop_run", `{"run_id":"`+started.RunID+`"}`); !isError || ended.Error != "run_ended" {
				t.Errorf("stopping an ended run: %+v", ended)
			}
			if unknown, isError := asked[struct{ Error, Message string }](t, s, "get_run", `{"id":"x"}`); !isError || !strings.Contains(unknown.Message, "$.id: ") {
				t.Errorf("an unknown argument: %+v", unknown)
			}
			resource, err := s.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "airlock://runs/" + started.RunID})
			if err != nil || !strings.Contains(resource.Contents[0].Text, `"completed"`) {
				t.Errorf("the resource of the run: %v %+v", err, resource)
			}
			if _, err := s.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "airlock://agents/../metrics"}); err == nil {
				t.Error("a resource outside of agents and runs was read")
			}
			prompt, err := s.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: "explain_the_gate"})
			if err != nil || len(prompt.Messages) != 1 {
				t.Errorf("the prompt: %v %+v", err, prompt)
			}
		})
	}
}

// TestToolsOverHTTPKeepToTheTokensScopes asserts that /mcp admits the same callers as the API: a
// token that may read starts nothing, and a page of another site reaches nothing.
func TestToolsOverHTTPKeepToTheTokensScopes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	store := filepath.Join(dir, "store.db")
	tokens := map[string]string{}
	for _, scope := range []string{"read", "run"} {
		r := run(t, t.TempDir(), nil, "", "token", "add", scope+"er", "--scope", scope, "--store", store)
		if r.code != 0 {
			t.Fatalf("token add: %s", r.stderr)
		}
		tokens[scope] = strings.TrimSpace(r.stdout)
	}
	address := serve(t, dir).url
	if _, err := overHTTP(t, address, ""); err == nil {
		t.Error("a client without a token was answered")
	}
	const start = `{"agent_name":"collect-output","parameters":{"lines":"{}"}}`
	reader, err := overHTTP(t, address, tokens["read"])
	if err != nil {
		t.Fatal(err)
	}
	if refused, isError := asked[struct{ Error string }](t, reader, "start_run", start); !isError || refused.Error != "forbidden" {
		t.Errorf("a token that may read started a run: %+v", refused)
	}
	if _, isError := asked[map[string]any](t, reader, "list_agent_blueprints", `{}`); isError {
		t.Error("a token that may read cannot list the agents")
	}
	runner, err := overHTTP(t, address, tokens["run"])
	if err != nil {
		t.Fatal(err)
	}
	if _, isError := asked[map[string]any](t, runner, "start_run", start); isError {
		t.Error("a token that may start runs cannot")
	}
	for header, value := range map[string]string{"Origin": "https://evil.example", "Host": "evil.example"} {
		req, err := http.NewRequestWithContext(context.Background(), http.MethodPost, address+"/mcp", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept", "application/json, text/event-stream")
		req.Header.Set("Authorization", "Bearer "+tokens["run"])
		if header == "Host" {
			req.Host = value // which the client sends instead of the header
		} else {
			req.Header.Set(header, value)
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		if res.StatusCode != http.StatusForbidden {
			t.Errorf("with %s %s: %s", header, value, res.Status)
		}
	}
}

// TestBrokenMessagesOverHTTP asserts that each bad request to /mcp gets an answer that fits it, and
// that the next request is served.
func TestBrokenMessagesOverHTTP(t *testing.T) {
	t.Parallel()
	address := serve(t, t.TempDir()).url
	const list = `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`
	call := func(tool, arguments string) string {
		return `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + tool + `","arguments":` + arguments + `}}`
	}
	deep := strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000)
	for name, tt := range map[string]struct {
		method, contentType, accept, session, body string
		status                                     int
		want                                       string
	}{
		"not JSON":                         {body: "{", status: 400, want: "malformed payload"},
		"not an object":                    {body: "7", status: 400, want: "malformed payload"},
		"an empty batch":                   {body: "[]", status: 400, want: "empty batch"},
		"another version":                  {body: `{"jsonrpc":"1.0","id":1,"method":"tools/list"}`, status: 400, want: "version"},
		"an unknown method":                {body: `{"jsonrpc":"2.0","id":1,"method":"nope"}`, status: 400, want: "nope"},
		"another content type":             {contentType: "text/plain", body: list, status: 415, want: "application/json"},
		"another answer wanted":            {accept: "text/html", body: list, status: 400, want: "text/event-stream"},
		"another method":                   {method: http.MethodPut, body: list, status: 405, want: "send POST"},
		"too deep":                         {body: call("start_run", `{"agent_name":"collect-output","parameters":`+deep+`}`), status: 400, want: "depth"},
		"too large":                        {body: call("start_run", `{"agent_name":"`+strings.Repeat("a", 2<<20)+`"}`), status: 413, want: "1048576 bytes"},
		"an unknown tool":                  {body: call("get_runs", "{}"), status: 200, want: `did you mean \"get_run\"?; the tools are: list_agent_blueprints, `},
		"an unknown tool of a long name":   {body: call(strings.Repeat("get_run", 50_000), "{}"), status: 200, want: `; the tools are: list_agent_blueprints, `},
		"an unknown method of a long name": {body: `{"jsonrpc":"2.0","id":1,"method":"` + strings.Repeat("nope", 50_000) + `"}`, status: 400, want: "nope"},
		"a tool's name that is a list":     {body: `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":["` + strings.Repeat("get_run", 50_000) + `"]}}`, status: 200, want: `"code":-32602`},
		"an unknown prompt":                {body: `{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":"` + strings.Repeat("x", 50_000) + `"}}`, status: 200, want: `"code":-32602`},
		"a wrong type":                     {body: call("start_run", `{"agent_name":7}`), status: 200, want: `$.agent_name: 7 is not of type 'string'`},
		"a member twice":                   {body: call("start_run", `{"agent_name":"a","agent_name":"collect-output"}`), status: 200, want: `$.agent_name: the member is there twice`},
		"not UTF-8":                        {body: call("start_run", "{\"agent_name\":\"\xff\"}"), status: 200, want: "agent_not_found"},
		"an id that is an object":          {body: `{"jsonrpc":"2.0","id":{},"method":"tools/list"}`, status: 400, want: "invalid ID"},
		"an id that is null":               {body: `{"jsonrpc":"2.0","id":null,"method":"tools/list"}`, status: 400, want: "missing id"},
		"an id with a fraction":            {body: `{"jsonrpc":"2.0","id":1.5,"method":"tools/list"}`, status: 400, want: "invalid ID 1.5"},
		"an id with an exponent":           {body: `{"jsonrpc":"2.0","id":1e400,"method":"tools/list"}`, status: 400, want: "invalid ID 1e400"},
		"an id that is too large":          {body: `{"jsonrpc":"2.0","id":9007199254740993,"method":"tools/list"}`, status: 400, want: "invalid ID"},
		"two ids":                          {body: `{"jsonrpc":"2.0","id":1,"\u0069d":2,"method":"tools/list"}`, status: 400, want: `\"id\" twice`},
		"two methods":                      {body: `{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/call","params":{"name":"start_run","arguments":{"agent_name":"collect-output","parameters":{"lines":""}}}}`, status: 400, want: `\"method\" twice`},
		"two arguments":                    {body: `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"start_run","arguments":{},"arguments":{"agent_name":"collect-output","parameters":{"lines":""}}}}`, status: 400, want: `\"arguments\" twice`},
		"an id with a fraction in a batch": {body: `[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":-1.9,"method":"ping"}]`, status: 400, want: "invalid ID -1.9"},
		"one id twice in a batch":          {body: "[" + call("start_run", `{"agent_name":"collect-output","parameters":{"lines":""}}`) + "," + call("start_run", `{"agent_name":"collect-output","parameters":{"lines":""}}`) + "]", status: 400, want: "two requests of the batch have one id"},
		"names in capitals":                {body: `{"jsonrpc":"2.0","ID":1,"METHOD":"tools/list"}`, status: 400, want: "invalid request"},
		"what never began ends":            {body: `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}`, status: 202},
		"an answer to nothing":             {body: `{"jsonrpc":"2.0","id":7,"result":{}}`, status: 202},
		"a batch":                          {body: "[" + list + `,{"jsonrpc":"2.0","id":2,"method":"ping"}]`, status: 200, want: `"id":2`},
		"somebody's session":               {session: "of-somebody", body: list, status: 200, want: "start_run"}, // no sessions exist
		"the end of a session":             {method: http.MethodDelete, session: "of-somebody", status: 405, want: "send POST"},
		"a good one":                       {body: list, status: 200, want: "start_run"},
	} {
		req, err := http.NewRequestWithContext(t.Context(), cmp.Or(tt.method, http.MethodPost), address+"/mcp", strings.NewReader(tt.body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", cmp.Or(tt.contentType, "application/json"))
		req.Header.Set("Accept", cmp.Or(tt.accept, "application/json, text/event-stream"))
		if tt.session != "" {
			req.Header.Set("Mcp-Session-Id", tt.session)
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		answer, err := io.ReadAll(res.Body)
		_ = res.Body.Close()
		if res.StatusCode != tt.status || !strings.Contains(string(answer), tt.want) || !json.Valid(answer) && tt.status >= 400 || res.Header.Get("Mcp-Session-Id") != "" || err != nil {
			t.Errorf("%s: %s %.300s (%v), want %d with %s", name, res.Status, answer, err, tt.status, tt.want)
		}
		if len(answer) > 2000 && !strings.Contains(string(answer), `"result":`) {
			t.Errorf("%s: the error has %d bytes: %.300s", name, len(answer), answer)
		}
	}
	if got := get(t, address+"/runs"); strings.Contains(got, "run_id") {
		t.Errorf("a run was started: %s", got)
	}
}

// TestToolsOverHTTPEndWithTheirToken asserts that a tool that waits for a run answers when the
// caller's token is revoked, although the token was valid when the request began.
func TestToolsOverHTTPEndWithTheirToken(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "agents", "slow.json"), `{"name":"slow","type":"agent","command":["sh","-c","echo begun >&2; exec sleep 600"]}`)
	store := filepath.Join(dir, "store.db")
	tokens := map[string]string{}
	for _, name := range []string{"leaver", "stayer"} {
		r := run(t, dir, nil, "", "token", "add", name, "--scope", "run", "--store", store)
		if r.code != 0 {
			t.Fatal(r.stderr)
		}
		tokens[name] = strings.TrimSpace(r.stdout)
	}
	address := serve(t, dir).url
	leaver, err := overHTTP(t, address, tokens["leaver"])
	if err != nil {
		t.Fatal(err)
	}
	stayer, err := overHTTP(t, address, tokens["stayer"])
	if err != nil {
		t.Fatal(err)
	}
	started, _ := asked[struct {
		RunID string `json:"run_id"`
	}](t, leaver, "start_run", `{"agent_name":"slow","parameters":{"prompt":"x"}}`)
	answered := make(chan string, 1)
	go func() {
		res, err := leaver.CallTool(t.Context(), &mcp.CallToolParams{Name: "get_run", Arguments: json.RawMessage(`{"run_id":"` + started.RunID + `","wait_seconds":600}`)})
		if err != nil || len(res.Content) != 1 {
			answered <- fmt.Sprint(res, err)
			return
		}
		text, _ := res.Content[0].(*mcp.TextContent)
		answered <- text.Text
	}()
	eventually(t, func() bool {
		run, _ := asked[struct{ Log string }](t, stayer, "get_run", `{"run_id":"`+started.RunID+`","log":true}`)
		return run.Log == "begun\n"
	}, "the run does not begin")
	if r := run(t, dir, nil, "", "token", "revoke", "leaver", "--store", store); r.code != 0 {
		t.Fatal(r.stderr)
	}
	select {
	case got := <-answered:
		// Where the call comes after the revocation, the transport refuses it.
		if !strings.Contains(got, `"error":"invalid_token"`) && !strings.Contains(got, "Unauthorized") {
			t.Errorf("the tool answered %s", got)
		}
	case <-time.After(10 * time.Second):
		t.Error("the tool goes on waiting")
	}
	if stopped, isError := asked[struct{ Status string }](t, stayer, "stop_run", `{"run_id":"`+started.RunID+`"}`); isError {
		t.Errorf("%+v", stopped)
	}
}
