package server

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/agent-airlock/airlock/internal/crash"
	"github.com/agent-airlock/airlock/internal/schema"
	"github.com/agent-airlock/airlock/internal/text"
)

// API answers requests to the coordinator's HTTP API: httpapi.Server.Call, or one over the
// network.
type API func(ctx context.Context, method, target string, body []byte) (status int, answer []byte, err error)

// Coordinator is a server of the Model Context Protocol through which an orchestrator
// discovers agents, starts runs and follows them. Each tool sends a request to the API,
// and its structured content is the API's answer, an error's body included. Only get_run sends
// several, and combines their answers.
type Coordinator struct {
	version string
	log     *slog.Logger
	tools   []coordinatorTool
}

// NewCoordinator returns a Coordinator. version is Airlock's own; a nil log drops what is
// written to it.
func NewCoordinator(version string, log *slog.Logger) *Coordinator {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	tools := coordinatorTools()
	for i := range tools {
		tools[i].form = schema.New(func() (document any, err error) {
			err = json.Unmarshal([]byte(tools[i].input), &document)
			return document, err
		})
	}
	return &Coordinator{version, log, tools}
}

// Serve answers one client, a message on each line, until it goes away or the context
// ends. The error is one of reading or writing, and carries its exit code.
func (c *Coordinator) Serve(ctx context.Context, api API, in io.Reader, out io.Writer) error {
	return serveStdio(ctx, c.server(api), in, out)
}

// Handler returns a handler for requests by the streamable HTTP transport. The API has to know the
// caller of each request, and somebody has to check the request's Host and Origin before. The handler
// keeps no session: each request is answered by itself.
func (c *Coordinator) Handler(api API) http.Handler {
	return withSoundIDs(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s := c.server(untilGone(r.Context(), api))
		mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, &mcp.StreamableHTTPOptions{Stateless: true, Logger: c.log,
			DisableLocalhostProtection: true}).ServeHTTP(w, r) // it knows no other name than localhost
	}))
}

// untilGone returns an API whose requests also end with the context of the client's request. The SDK
// lets a call go on when its client has closed the connection.
func untilGone(client context.Context, api API) API {
	return func(ctx context.Context, method, target string, body []byte) (int, []byte, error) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		defer context.AfterFunc(client, cancel)()
		return api(ctx, method, target, body)
	}
}

// coordinatorInstructions tell a model what the tools are for.
const coordinatorInstructions = `Discover agents with list_agent_blueprints: each has a type and, if it takes more than a prompt, the JSON Schema of its parameters. Start one with start_run and follow it with get_run. An error lists every violation and has the schema: correct the parameters and call again.`

// explanation is the prompt that explains the gate to a model.
const explanation = `Airlock is the gate between AI agents and a GitHub repository. An agent has no write token: it asks for safe outputs (issues, comments, labels, reviews, pull requests), and each request passes two doors. The first accepts only what is well formed and cleans its texts; the second lets out only what the repository's owner allows.

Through these tools you start agents and read what became of them. Call list_agent_blueprints first. An agent without parameters_schema takes {"prompt": "..."}; any other takes what its schema says. validate_parameters checks parameters without starting anything. start_run returns a run_id at once; get_run with wait_seconds waits for the end and returns the result. A run that is pending or running can be stopped with stop_run.`

func (c *Coordinator) server(api API) *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "airlock-coordinator", Title: "Airlock: agents and runs", Version: c.version}, &mcp.ServerOptions{
		Instructions: coordinatorInstructions, Logger: c.log,
		// The lists never change, and no capability announces changes. The SDK then answers a client
		// that subscribes to them at once, and does not keep the request open.
		Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}, Resources: &mcp.ResourceCapabilities{}, Prompts: &mcp.PromptCapabilities{}},
	})
	var names []string
	for _, t := range c.tools {
		names = append(names, t.name)
		s.AddTool(&mcp.Tool{Name: t.name, Description: t.description, InputSchema: json.RawMessage(t.input), Annotations: &mcp.ToolAnnotations{
			Title: t.title, ReadOnlyHint: t.readOnly, DestructiveHint: new(t.name == "stop_run"), OpenWorldHint: new(!t.readOnly),
		}}, t.handler(api))
	}
	s.AddReceivingMiddleware(listTools(names))
	s.AddResourceTemplate(&mcp.ResourceTemplate{Name: "agent", Title: "An agent with the schema of its parameters", MIMEType: "application/json", URITemplate: "airlock://agents/{name}"}, resource(api))
	s.AddResourceTemplate(&mcp.ResourceTemplate{Name: "run", Title: "A run", MIMEType: "application/json", URITemplate: "airlock://runs/{run_id}"}, resource(api))
	s.AddPrompt(&mcp.Prompt{Name: "explain_the_gate", Title: "What Airlock is, and how to use these tools"}, func(context.Context, *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		return &mcp.GetPromptResult{Messages: []*mcp.PromptMessage{{Role: "user", Content: &mcp.TextContent{Text: explanation}}}}, nil
	})
	return s
}

// coordinatorTool is one tool of a Coordinator.
type coordinatorTool struct {
	name, title, description string
	input                    string         // its JSON Schema
	form                     *schema.Schema // the same
	readOnly                 bool
	call                     func(ctx context.Context, api API, a toolArguments, req *mcp.CallToolRequest) (status int, answer []byte, err error)
}

// toolArguments are the arguments of all tools.
type toolArguments struct {
	AgentName   string          `json:"agent_name"`
	Parameters  json.RawMessage `json:"parameters"`
	Needs       []string        `json:"needs"`
	RunID       string          `json:"run_id"`
	WaitSeconds schema.Int      `json:"wait_seconds"`
	Log         bool            `json:"log"`
	Status      string          `json:"status"`
	Limit       schema.Int      `json:"limit"`
	Cursor      string          `json:"cursor"`
}

// maxWait is how long get_run waits at most, in seconds.
const maxWait = 600

func coordinatorTools() []coordinatorTool {
	const agent = `"agent_name": {"type": "string", "minLength": 1, "description": "The agent's name, as list_agent_blueprints has it."}`
	const parameters = `"parameters": {"type": "object", "description": "What the agent's parameters_schema asks for; {\"prompt\": \"...\"} for an agent without one."}`
	const run = `"run_id": {"type": "string", "minLength": 1, "description": "The run's id, as start_run returned it."}`
	object := func(required, properties string) string {
		return `{"type": "object", "properties": {` + properties + `}, "required": [` + required + `], "additionalProperties": false}`
	}
	return []coordinatorTool{
		{name: "list_agent_blueprints", title: "List the agents of which runs can be started", readOnly: true, input: object("", ""),
			description: "List the agents. Each has a name, a type and a description. Where it has a parameters_schema, the parameters of start_run must conform to that JSON Schema; an agent of type \"agent\" without one takes {\"prompt\": \"...\"}. A \"deterministic\" agent is a program: give it exactly what its schema says.",
			call: func(ctx context.Context, api API, _ toolArguments, _ *mcp.CallToolRequest) (int, []byte, error) {
				return api(ctx, http.MethodGet, "/agents", nil)
			}},
		{name: "validate_parameters", title: "Check parameters without starting a run", readOnly: true, input: object(`"agent_name", "parameters"`, agent+", "+parameters),
			description: "Check parameters against an agent's schema without starting anything. An error lists every violation and has the schema.",
			call: func(ctx context.Context, api API, a toolArguments, _ *mcp.CallToolRequest) (int, []byte, error) {
				return api(ctx, http.MethodPost, "/agents/"+pathSegment(a.AgentName)+"/validate", a.parameters())
			}},
		{name: "start_run", title: "Start a run of an agent", input: object(`"agent_name"`, agent+", "+parameters+`, "needs": {"type": "array", "maxItems": 16, "items": {"type": "string"}, "description": "Tags that the worker must have, in addition to those that the agent needs."}`),
			description: "Start a run. The answer has its run_id at once; follow it with get_run. An error about parameters lists every violation and has the schema: nothing was started, correct the parameters and call again.",
			call: func(ctx context.Context, api API, a toolArguments, _ *mcp.CallToolRequest) (int, []byte, error) {
				request := map[string]any{"agent_name": a.AgentName, "parameters": json.RawMessage(a.parameters())}
				if len(a.Needs) > 0 {
					request["needs"] = a.Needs
				}
				body, err := json.Marshal(request)
				if err != nil {
					return 0, nil, err
				}
				return api(ctx, http.MethodPost, "/runs", body)
			}},
		{name: "get_run", title: "Show a run, and wait for its end", readOnly: true,
			input:       object(`"run_id"`, run+fmt.Sprintf(`, "wait_seconds": {"type": "integer", "minimum": 0, "maximum": %d, "description": "Wait so long for the run's end; 0, the default, answers at once."}, "log": {"type": "boolean", "description": "Add what the run has written so far."}`, maxWait)),
			description: "Show a run: its status, and once it is completed its result. With wait_seconds it answers when the run has ended or the time is over.",
			call:        getRun},
		{name: "list_runs", title: "List runs, the newest first", readOnly: true,
			input: object("", `"agent_name": {"type": "string", "description": "Only runs of this agent."}, "status": {"type": "string", "enum": ["pending", "running", "stopping", "completed", "failed", "stopped"], "description": "Only runs with this status."}, `+
				`"limit": {"type": "integer", "minimum": 1, "maximum": 200, "description": "At most so many runs; 50 unless given."}, "cursor": {"type": "string", "description": "The next_cursor of the answer before."}`),
			description: "List runs, the newest first.",
			call: func(ctx context.Context, api API, a toolArguments, _ *mcp.CallToolRequest) (int, []byte, error) {
				q := url.Values{}
				for name, value := range map[string]string{"agent_name": a.AgentName, "status": a.Status, "cursor": a.Cursor} {
					if value != "" {
						q.Set(name, value)
					}
				}
				if a.Limit != 0 {
					q.Set("limit", fmt.Sprint(a.Limit))
				}
				return api(ctx, http.MethodGet, "/runs?"+q.Encode(), nil)
			}},
		{name: "stop_run", title: "Stop a run", input: object(`"run_id"`, run),
			description: "Stop a run: its process is asked to end, and killed after 5 seconds.",
			call: func(ctx context.Context, api API, a toolArguments, _ *mcp.CallToolRequest) (int, []byte, error) {
				return api(ctx, http.MethodPost, "/runs/"+pathSegment(a.RunID)+"/stop", nil)
			}},
	}
}

// pathSegment escapes a name that is not empty, so that the API reads it as one segment of a path.
func pathSegment(name string) string {
	if name == "." || name == ".." { // which stand for other directories
		return strings.ReplaceAll(name, ".", "%2E")
	}
	return url.PathEscape(name)
}

func (a toolArguments) parameters() []byte {
	if len(a.Parameters) == 0 {
		return []byte("{}")
	}
	return a.Parameters
}

// getRun waits for a run's end, as long as it is asked to, and returns the run, with its result if it
// has one and with its log if it is asked for.
func getRun(ctx context.Context, api API, a toolArguments, req *mcp.CallToolRequest) (int, []byte, error) {
	path := "/runs/" + pathSegment(a.RunID)
	status, answer, err := waitForRun(ctx, api, path, a, req)
	if err != nil || status != http.StatusOK {
		return status, answer, err
	}
	var run map[string]json.RawMessage
	if err := json.Unmarshal(answer, &run); err != nil {
		return 0, nil, err
	}
	if string(run["status"]) == `"completed"` {
		status, answer, err := api(ctx, http.MethodGet, path+"/result", nil)
		switch {
		case err != nil || status != http.StatusOK && status != http.StatusGone: // the result of an old run is gone
			return status, answer, err
		case status == http.StatusOK:
			run["result"] = answer
		}
	}
	if a.Log {
		status, answer, err := api(ctx, http.MethodGet, path+"/log", nil)
		if err != nil || status != http.StatusOK {
			return status, answer, err
		}
		if run["log"], err = json.Marshal(lastBytes(string(answer), maxLog)); err != nil {
			return 0, nil, err
		}
	}
	encoded, err := json.Marshal(run)
	return http.StatusOK, encoded, err
}

// waitForRun waits for a run's end, as long as it is asked to, and notifies the client of the
// progress. It returns the API's last answer.
func waitForRun(ctx context.Context, api API, path string, a toolArguments, req *mcp.CallToolRequest) (status int, answer []byte, err error) {
	const each = 20 // seconds between two notifications
	left := min(int(a.WaitSeconds), maxWait)
	for waited := 0; ; waited += each {
		target := path
		if left > 0 {
			target = fmt.Sprintf("%s/wait?timeout=%d", path, min(left, each))
		}
		status, answer, err = api(ctx, http.MethodGet, target, nil)
		if err != nil || status != http.StatusOK {
			return status, answer, err
		}
		var run struct {
			Status json.RawMessage `json:"status"`
			Ended  json.RawMessage `json:"ended_at"`
		}
		if err := json.Unmarshal(answer, &run); err != nil {
			return 0, nil, err
		}
		left -= each
		if left <= 0 || run.Ended != nil {
			return status, answer, nil
		}
		if token := req.Params.GetProgressToken(); token != nil && req.Session != nil {
			// If the client is gone, the call's context ends.
			_ = req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: token, Progress: float64(waited + each), Total: float64(a.WaitSeconds), Message: "the run is " + strings.Trim(string(run.Status), `"`)})
		}
	}
}

// maxLog is how much of a run's log a tool shows, in bytes: its end.
const maxLog = 64 << 10

func lastBytes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return "…" + strings.ToValidUTF8(s[len(s)-n:], "")
}

// handler returns the SDK's handler of a tool.
func (t coordinatorTool) handler(api API) mcp.ToolHandler {
	return func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		a, violations, err := t.arguments(req.Params.Arguments)
		if err != nil {
			return nil, err
		}
		if len(violations) > 0 {
			return apiResult(http.StatusBadRequest, argumentsBody(t, violations))
		}
		var status int
		var answer []byte
		err = crash.Try(func() (err error) {
			status, answer, err = t.call(ctx, api, a, req)
			return err
		})
		if err != nil {
			return apiResult(http.StatusServiceUnavailable, errorBody("unavailable", err.Error()))
		}
		return apiResult(status, answer)
	}
}

// arguments decodes the arguments of a call, or returns what is wrong with them. A call
// without arguments counts as a call with an empty object.
func (t coordinatorTool) arguments(raw json.RawMessage) (a toolArguments, violations []schema.Violation, err error) {
	if len(raw) == 0 || string(raw) == "null" {
		raw = json.RawMessage("{}")
	}
	if violations, err = t.form.Validate(raw); len(violations) > 0 || err != nil {
		return a, violations, err
	}
	if path, twice := schema.Duplicate(raw); twice {
		return a, []schema.Violation{{Path: path, Message: "the member is there twice"}}, nil
	}
	return a, nil, json.Unmarshal(raw, &a)
}

// maxArgumentErrors is the largest number of violations that the answer to a call lists. A call can
// have any number of arguments that the tool does not know.
const maxArgumentErrors = 10

// argumentsBody returns the answer to a call whose arguments are not valid, in the form of the
// API's errors.
func argumentsBody(t coordinatorTool, violations []schema.Violation) []byte {
	if more := len(violations) - maxArgumentErrors; more > 0 {
		violations = append(violations[:maxArgumentErrors], schema.Violation{Path: "$", Message: text.ThereAre(more, "more violation")})
	}
	for i, v := range violations {
		violations[i].Path = text.Truncate(v.Path, 100)
	}
	body, _ := json.Marshal(struct { // strings can be written
		Error      string             `json:"error"`
		Message    string             `json:"message"`
		Violations []schema.Violation `json:"validation_errors"`
	}{"invalid_request", fmt.Sprintf("the arguments of %s are not valid: %s: %s", t.name, violations[0].Path, violations[0].Message), violations})
	return body
}

func errorBody(code, message string) []byte {
	body, _ := json.Marshal(map[string]string{"error": code, "message": message}) // strings can be written
	return body
}

// apiResult returns the API's answer as a tool's result: as data, and the same as text. An answer
// that is not JSON becomes an error.
func apiResult(status int, answer []byte) (*mcp.CallToolResult, error) {
	answer = []byte(strings.TrimSpace(string(answer)))
	if !json.Valid(answer) {
		answer = errorBody("unavailable", fmt.Sprintf("the API answered with status %d and something that is not JSON", status))
		status = http.StatusBadGateway
	}
	return &mcp.CallToolResult{IsError: status >= http.StatusBadRequest, StructuredContent: json.RawMessage(answer), Content: []mcp.Content{&mcp.TextContent{Text: string(answer)}}}, nil
}

// resource returns a handler that reads from the API what a URI names, such as airlock://runs/ID.
func resource(api API) mcp.ResourceHandler {
	return func(ctx context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		status, answer, err := api(ctx, http.MethodGet, strings.TrimPrefix(req.Params.URI, "airlock:/"), nil)
		if err != nil {
			return nil, err
		}
		switch {
		case status == http.StatusNotFound:
			return nil, mcp.ResourceNotFoundError(req.Params.URI)
		case status != http.StatusOK:
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: fmt.Sprintf("the API answered with status %d: %s", status, bytes.TrimSpace(answer))}
		}
		return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: req.Params.URI, MIMEType: "application/json", Text: strings.TrimSpace(string(answer))}}}, nil
	}
}
