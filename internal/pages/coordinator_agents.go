package pages

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/agent-airlock/airlock/internal/schema"
	"github.com/agent-airlock/airlock/internal/text"
)

// agentRecord is an agent as the API answers it.
type agentRecord struct {
	Name             string          `json:"name"`
	Type             string          `json:"type"`
	Description      string          `json:"description"`
	ParametersSchema json.RawMessage `json:"parameters_schema"`
	OutputSchema     json.RawMessage `json:"output_schema"`
	Tags             []string        `json:"tags"`
	TimeLimitSeconds int             `json:"time_limit_seconds"`
	Source           string          `json:"source"`
	Version          int64           `json:"version"`
}

func (x *visit) agentList() ([]agentRecord, error) {
	var list struct {
		Agents []agentRecord `json:"agents"`
	}
	err := x.get("/agents", &list)
	return list.Agents, err
}

var agentsPage = coordinatorPage("agents.html")

func (x *visit) agents() error {
	list, err := x.agentList()
	if err != nil {
		return err
	}
	x.show(http.StatusOK, agentsPage, "Agents", list)
	return nil
}

// agentView is the page of one agent with the form that starts it.
type agentView struct {
	Agent  agentRecord
	Form   parameterForm
	MayRun bool
	Key    string // with it, a form that is sent twice starts one run
	// Failure is why nothing was started; Errors are the violations that belong to no
	// field.
	Failure      string
	Errors       []schema.Violation
	AsJSON       bool   // the parameters are shown as JSON instead of as a form
	JSON         string // the parameters as one text
	JSONErrors   []schema.Violation
	Schema       string // as people read it
	OutputSchema string
	Runs         []runRecord // the newest
}

var agentPage = coordinatorPage("agent.html")

// agentView returns the page of the agent that the address names, its form empty.
func (x *visit) agentView() (v agentView, err error) {
	v = agentView{MayRun: x.Allows("run"), Key: rand.Text()}
	if err := x.get("/agents/"+url.PathEscape(x.r.PathValue("name")), &v.Agent); err != nil {
		return v, err
	}
	raw := v.Agent.ParametersSchema
	if raw == nil { // what an AI agent without a schema takes
		raw = json.RawMessage(`{"type": "object", "required": ["prompt"], "properties": {"prompt": {"type": "string", "minLength": 1, "description": "What the agent is to do."}}, "additionalProperties": false}`)
	} else {
		v.Schema = text.TruncateBytes(indented(raw), maxShown)
	}
	if v.Agent.OutputSchema != nil {
		v.OutputSchema = text.TruncateBytes(indented(v.Agent.OutputSchema), maxShown)
	}
	v.Form = newParameterForm(raw)
	v.AsJSON = !v.Form.Usable()
	v.JSON = "{}"
	list, err := x.runList(url.Values{"agent_name": {v.Agent.Name}, "limit": {"5"}})
	v.Runs = list.Runs
	return v, err
}

func (x *visit) agent() error {
	v, err := x.agentView()
	if err != nil {
		return err
	}
	given := x.r.URL.Query()
	if id := given.Get("run"); id != "" { // with the parameters of an earlier run
		var r runRecord
		if err := x.get("/runs/"+url.PathEscape(id), &r); err != nil {
			return err
		}
		complete := v.Form.Fill(r.Parameters)
		v.AsJSON = v.AsJSON || !complete
		v.JSON = string(r.Parameters)
	}
	v.AsJSON = v.AsJSON || given.Get("as") == "json"
	x.show(http.StatusOK, agentPage, v.Agent.Name, v)
	return nil
}

// startRun starts a run with what was typed into the form, or shows what is wrong next to it.
func (x *visit) startRun() error {
	form, err := x.form()
	if err != nil {
		return err
	}
	v, err := x.agentView()
	if err != nil {
		return err
	}
	var parameters json.RawMessage
	var unreadable []schema.Violation // what is not even JSON
	if v.AsJSON = form.Has("json"); v.AsJSON {
		v.JSON = form.Get("json")
		parameters = json.RawMessage(strings.TrimSpace(v.JSON))
		if problem := notJSON(string(parameters)); problem != "" {
			unreadable = append(unreadable, schema.Violation{Path: "$", Message: problem})
			parameters = nil
		}
	} else {
		parameters, unreadable = v.Form.Parameters(form)
	}
	if len(unreadable) > 0 {
		err = x.unreadable(v.Agent.Name, parameters, unreadable)
	} else {
		var run struct {
			ID string `json:"run_id"`
		}
		body := plainJSON(map[string]any{"agent_name": v.Agent.Name, "parameters": parameters})
		if err = x.ask(http.MethodPost, "/runs", formKey(form.Get("key"), body), body, &run); err == nil {
			return x.goTo("/ui/runs/" + url.PathEscape(run.ID))
		}
	}
	p, ok := errors.AsType[*problem](err)
	if !ok {
		return err
	}
	v.Failure = sentence(p.Message)
	if p.Code == parametersRefused {
		v.Failure = "Nothing was started: the parameters are not what the agent takes."
	}
	if v.AsJSON {
		v.JSONErrors = p.ValidationErrors
	} else {
		v.Errors = v.Form.Explain(p.ValidationErrors)
	}
	x.show(p.Status, agentPage, "Not started: "+v.Agent.Name, v)
	return nil
}

// unreadable returns a *problem. It has the given violations, about parameters that are not JSON,
// and the violations that the API finds in the other parameters. parameters is nil if nothing can
// be read. Another error means that the API could not be asked.
func (x *visit) unreadable(agent string, parameters json.RawMessage, violations []schema.Violation) error {
	p := &problem{Status: http.StatusBadRequest, Code: parametersRefused, ValidationErrors: violations}
	if parameters == nil {
		return p
	}
	err := x.ask(http.MethodPost, "/agents/"+url.PathEscape(agent)+"/validate", "", parameters, nil)
	if err == nil {
		return p
	}
	refused, ok := errors.AsType[*problem](err)
	if !ok {
		return err
	}
	for _, other := range refused.ValidationErrors {
		// A field that is not JSON was sent to the API as text. Leave out what it finds in that
		// text.
		if !slices.ContainsFunc(violations, func(v schema.Violation) bool { return isBelow(other.Path, v.Path) }) {
			p.ValidationErrors = append(p.ValidationErrors, other)
		}
	}
	return p
}

// parametersRefused is the API's code where parameters do not conform.
const parametersRefused = "parameter_validation_failed"

// formKey returns the idempotency key of what a form asks for. The same form sent twice has the
// same key; a form with other contents has another key. It returns "" if key cannot be a part of an
// idempotency key.
func formKey(key string, body []byte) string {
	if key == "" || len(key) > 64 || strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return ""
	}
	sum := sha256.Sum256(body)
	return "page-" + key + "-" + hex.EncodeToString(sum[:16])
}
