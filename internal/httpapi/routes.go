package httpapi

import (
	_ "embed"
	"net/http"

	"github.com/agent-airlock/airlock/internal/access"
	"github.com/agent-airlock/airlock/internal/agents"
	"github.com/agent-airlock/airlock/internal/loops"
	"github.com/agent-airlock/airlock/internal/runs"
)

// route is one method of one path. A test makes openapi.json, the description of the API, from the
// routes.
type route struct {
	method, path string
	summary      string
	scope        access.Scope // "" if callers need no token
	query        []parameter
	header       []parameter
	body         any         // a value of its type; nil for none
	answers      map[int]any // values of their types, by status
	large        bool        // an answer may have megabytes; see Server.enter
	handle       func(s *Server, w http.ResponseWriter, r *http.Request, g access.Grant) (status int, err error)
}

// parameter is a parameter in the query, or a header.
type parameter struct {
	name, about string
	kind        string   // string or integer
	oneOf       []string // the possible values; nil for any
}

// These stand for answers and bodies that have no type of their own.
type (
	plainText   struct{}
	eventStream struct{}
	anyJSON     struct{}
)

// changes reports whether the route changes anything.
func (rt *route) changes() bool { return rt.method != http.MethodGet && rt.scope != access.Read }

// refused is the body of an answer that reports an error.
var refused = ErrorBody{}

//go:embed openapi.json
var openAPI []byte

func routes() []route {
	var statuses []string
	for _, status := range runs.Statuses() {
		statuses = append(statuses, string(status))
	}
	blueprint := agents.Blueprint{}
	return []route{
		{method: "GET", path: "/agents", summary: "List the agents with the schemas of their parameters", scope: access.Read,
			answers: map[int]any{200: agentList{}}, large: true, handle: (*Server).listAgents},
		{method: "POST", path: "/agents", summary: "Add an agent", scope: access.Admin, body: newAgent{},
			answers: map[int]any{201: blueprint, 400: refused, 409: refused, 413: refused}, handle: (*Server).addAgent},
		{method: "GET", path: "/agents/{name}", summary: "Show one agent", scope: access.Read,
			answers: map[int]any{200: blueprint, 404: refused}, handle: (*Server).showAgent},
		{method: "PATCH", path: "/agents/{name}", summary: "Change an agent by a JSON merge patch", scope: access.Admin, body: anyJSON{},
			answers: map[int]any{200: blueprint, 400: refused, 404: refused, 409: refused, 413: refused}, handle: (*Server).patchAgent},
		{method: "DELETE", path: "/agents/{name}", summary: "Remove an agent; its runs stay", scope: access.Admin,
			answers: map[int]any{204: nil, 404: refused, 409: refused}, handle: (*Server).removeAgent},

		{method: "POST", path: "/agents/{name}/validate", summary: "Validate parameters without starting a run; the body is the parameters", scope: access.Read, body: anyJSON{},
			answers: map[int]any{200: valid{}, 400: parameterErrorOrOther{}, 404: refused, 413: refused}, handle: (*Server).validateParameters},

		{method: "POST", path: "/runs", summary: "Start a run", scope: access.Run, body: newRun{},
			header:  []parameter{{name: "Idempotency-Key", about: "The same key with the same agent and parameters is the same run", kind: "string"}},
			answers: map[int]any{201: created{}, 400: parameterErrorOrOther{}, 404: refused, 409: refused, 413: refused}, handle: (*Server).createRun},
		{method: "GET", path: "/runs", summary: "List runs, the newest first", scope: access.Read,
			query: []parameter{{name: "agent_name", about: "Only runs of this agent", kind: "string"}, {name: "status", about: "Only runs with this status", kind: "string", oneOf: statuses},
				{name: "limit", about: "The largest number of runs, 1 to 200; 50 unless given", kind: "integer"}, {name: "cursor", about: "The next_cursor of the previous answer", kind: "string"}},
			answers: map[int]any{200: runList{}, 400: refused}, large: true, handle: (*Server).listRuns},
		{method: "GET", path: "/runs/{id}", summary: "Show one run", scope: access.Read,
			answers: map[int]any{200: runs.Run{}, 404: refused}, handle: (*Server).showRun},
		{method: "POST", path: "/runs/{id}/stop", summary: "Stop a run: its process is asked to end, and killed after 5 seconds", scope: access.Run,
			answers: map[int]any{202: created{}, 404: refused, 409: refused}, handle: (*Server).stopRun},
		{method: "GET", path: "/runs/{id}/wait", summary: "Wait until a run has ended, or the time is over", scope: access.Read,
			query:   []parameter{{name: "timeout", about: "Seconds to wait, 0 to 60; 30 unless given", kind: "integer"}},
			answers: map[int]any{200: runs.Run{}, 400: refused, 404: refused}, handle: (*Server).waitRun},
		{method: "GET", path: "/runs/{id}/result", summary: "Show what a run that completed has answered", scope: access.Read,
			answers: map[int]any{200: anyJSON{}, 404: refused, 409: refused, 410: refused}, large: true, handle: (*Server).showResult},
		{method: "GET", path: "/runs/{id}/log", summary: "Show what a run has written so far, without secrets", scope: access.Read,
			query:   []parameter{{name: "from", about: "Only what follows this position: the Airlock-Log-Next of the previous answer", kind: "integer"}},
			answers: map[int]any{200: plainText{}, 400: refused, 404: refused}, large: true, handle: (*Server).showLog},
		{method: "GET", path: "/runs/{id}/events", summary: "Follow a run's changes as server-sent events, until it has ended", scope: access.Read,
			header:  []parameter{{name: "Last-Event-ID", about: "Only events after this one", kind: "string"}},
			answers: map[int]any{200: eventStream{}, 204: nil, 400: refused, 404: refused}, handle: (*Server).followRun},

		{method: "GET", path: "/workers", summary: "List the workers with their tags", scope: access.Read,
			answers: map[int]any{200: workerList{}}, handle: (*Server).listWorkers},

		{method: "GET", path: "/loops", summary: "List fix loops", scope: access.Read,
			query: []parameter{{name: "repository", about: "Only loops of this repository, owner/name", kind: "string"},
				{name: "open", about: "true: only loops that have not ended; false, the default: all", kind: "string", oneOf: []string{"true", "false"}},
				{name: "waits_for", about: "Only loops that wait for a person's decision", kind: "string", oneOf: []string{"decide"}},
				{name: "limit", about: "The largest number of loops, 1 to 200; 50 unless given", kind: "integer"}, {name: "cursor", about: "The next_cursor of the previous answer", kind: "string"}},
			answers: map[int]any{200: loopList{}, 400: refused}, large: true, handle: (*Server).listLoops},
		{method: "GET", path: "/loops/{id}", summary: "Show where a loop is; '/' and '#' of its id are written as %2F and %23", scope: access.Read,
			answers: map[int]any{200: loops.Document{}, 404: refused}, handle: (*Server).showLoop},
		{method: "GET", path: "/loops/{id}/log", summary: "Show a loop's communication log", scope: access.Read,
			answers: map[int]any{200: anyJSON{}, 404: refused}, large: true, handle: (*Server).showLoopLog},
		{method: "POST", path: "/loops/{id}/fixed", summary: "Report that a loop's fix request has been carried out", scope: access.Run, body: loopFixed{},
			header:  []parameter{{name: "Idempotency-Key", about: "The same key with the same report counts once", kind: "string"}},
			answers: map[int]any{202: loops.Document{}, 400: refused, 404: refused, 409: refused, 413: refused}, handle: (*Server).fixedLoop},
		{method: "POST", path: "/loops/{id}/decision", summary: "Decide about a loop that was escalated", scope: access.Decide, body: loopDecision{},
			header:  []parameter{{name: "Idempotency-Key", about: "The same key with the same decision counts once", kind: "string"}},
			answers: map[int]any{202: loops.Document{}, 400: refused, 404: refused, 409: refused, 413: refused}, handle: (*Server).decideLoop},

		{method: "GET", path: "/healthz", summary: "Report that the process is alive", answers: map[int]any{200: health{}}, handle: (*Server).live},
		{method: "GET", path: "/readyz", summary: "Report whether the store answers", answers: map[int]any{200: health{}, 503: refused}, handle: (*Server).ready},
		{method: "GET", path: "/metrics", summary: "Figures for Prometheus", scope: access.Read, answers: map[int]any{200: plainText{}}, handle: (*Server).showMetrics},
		{method: "GET", path: "/openapi.json", summary: "This description", answers: map[int]any{200: anyJSON{}}, handle: (*Server).showOpenAPI},
	}
}

// agentList is the answer of GET /agents.
type agentList struct {
	Agents []listedAgent `json:"agents"`
}

// newAgent documents the body of POST /agents; agents.Parse reads it.
type newAgent struct {
	Name             string      `json:"name"`
	Type             agents.Type `json:"type"`
	Description      string      `json:"description,omitempty"`
	ParametersSchema any         `json:"parameters_schema,omitempty"`
	OutputSchema     any         `json:"output_schema,omitempty"`
	Command          []string    `json:"command"`
	Tags             []string    `json:"tags,omitempty"`
	Needs            []string    `json:"needs,omitempty"`
	TimeLimitSeconds int         `json:"time_limit_seconds,omitempty"`
	MaxAttempts      int         `json:"max_attempts,omitempty"`
}

// valid is the answer where parameters conform.
type valid struct {
	Valid     bool   `json:"valid"`
	AgentName string `json:"agent_name"`
}

// created is the answer of POST /runs and of POST /runs/{id}/stop.
type created struct {
	RunID  string      `json:"run_id"`
	Status runs.Status `json:"status"`
}

// parameterErrorOrOther stands for either body of a 400.
type parameterErrorOrOther struct{}

// runList is the answer of GET /runs.
type runList struct {
	Runs       []runs.Run `json:"runs"`
	NextCursor string     `json:"next_cursor,omitempty"`
}

// health is the answer of /healthz and /readyz.
type health struct {
	Status string `json:"status"`
}
