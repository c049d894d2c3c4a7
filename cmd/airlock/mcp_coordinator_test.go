//go:build unix

package main_test

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

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
	raw, err := json.Marshal(res.StructuredContent)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, &answer); err != nil {
		t.Fatalf("%s: %v in %s", tool, err, raw)
	}
	return answer, res.IsError
}

// TestOrchestratorCorrectsItself is the sixth criterion of spec 004, over both transports:
// the agents are listed with type and schema, a run with wrong parameters is refused with
// what has to change, and the corrected one runs to its end.
func TestOrchestratorCorrectsItself(t *testing.T) {
	t.Parallel()
	for name, connect := range map[string]func(t *testing.T) *mcp.ClientSession{
		"standard input and output": func(t *testing.T) *mcp.ClientSession {
			cmd := exec.Command(binary, "mcp", "--store", filepath.Join(t.TempDir(), "airlock.db"))
			cmd.Dir, cmd.Env = t.TempDir(), []string{"PATH=" + os.Getenv("PATH"), "TMPDIR=" + t.TempDir()}
			s, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), &mcp.CommandTransport{Command: cmd}, nil)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = s.Close() })
			return s
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
			s, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), &mcp.CommandTransport{Command: cmd}, nil)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = s.Close() })
			return s
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
			if unknown, isError := asked[struct{ Error, Message string }](t, s, "get_run", `{"id":"x"}`); !isError || !strings.Contains(unknown.Message, `"id"`) {
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

// TestToolsOverHTTPHoldTheTokensScopes asserts that /mcp admits who the API admits: a token
// that may read starts nothing, and a page of another site reaches nothing.
func TestToolsOverHTTPHoldTheTokensScopes(t *testing.T) {
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
		if req.Header.Set(header, value); header == "Host" {
			req.Host = value
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
