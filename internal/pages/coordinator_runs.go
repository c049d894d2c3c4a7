package pages

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/agent-airlock/airlock/internal/text"
)

// runRecord is a run as the API answers it.
type runRecord struct {
	ID           string          `json:"run_id"`
	AgentName    string          `json:"agent_name"`
	AgentVersion int64           `json:"agent_version"`
	Status       string          `json:"status"`
	Parameters   json.RawMessage `json:"parameters"`
	Attempt      int             `json:"attempt"`
	CreatedAt    time.Time       `json:"created_at"`
	StartedAt    *time.Time      `json:"started_at"`
	EndedAt      *time.Time      `json:"ended_at"`
	Error        *struct {
		Code    string `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
}

// runStatuses are the statuses of runs, in the order of their lives.
var runStatuses = []string{"pending", "running", "stopping", "completed", "failed", "stopped"}

// Ended reports whether nothing comes after the run's status.
func (r runRecord) Ended() bool {
	return r.Status == "completed" || r.Status == "failed" || r.Status == "stopped"
}

// Stoppable reports whether the run can be asked to stop.
func (r runRecord) Stoppable() bool { return r.Status == "pending" || r.Status == "running" }

// About returns what the run was asked for, on one line.
func (r runRecord) About() string {
	var prompt struct {
		Prompt string `json:"prompt"`
	}
	if json.Unmarshal(r.Parameters, &prompt) == nil && prompt.Prompt != "" {
		return text.Truncate(text.OneLine(prompt.Prompt), 100)
	}
	return text.Truncate(compact(r.Parameters), 100)
}

// Took returns how long the run has taken, until now if it has not ended; "" before its start.
func (r runRecord) Took(now time.Time) string {
	if r.StartedAt == nil {
		return ""
	}
	end := now
	if r.EndedAt != nil {
		end = *r.EndedAt
	}
	d := max(end.Sub(*r.StartedAt), 0)
	if d < 10*time.Second {
		return d.Round(100 * time.Millisecond).String()
	}
	return d.Round(time.Second).String()
}

// runList is one page of the list of runs, the newest first.
type runList struct {
	Runs       []runRecord `json:"runs"`
	NextCursor string      `json:"next_cursor"`
}

// runList returns the runs that a query of the API selects.
func (x *visit) runList(q url.Values) (list runList, err error) {
	err = x.get(withQuery("/runs", q), &list)
	return list, err
}

type runsView struct {
	runList
	Agents, Statuses []string
	Agent, Status    string
	First            bool   // nothing newer was left out
	Older            string // the address of the runs before these
}

var runsPage = coordinatorPage("runs.html")

func (x *visit) runs() error {
	given := x.r.URL.Query()
	v := runsView{Statuses: runStatuses, Agent: given.Get("agent_name"), Status: given.Get("status"), First: given.Get("cursor") == ""}
	q := url.Values{}
	for _, name := range []string{"agent_name", "status", "cursor"} {
		if value := given.Get(name); value != "" {
			q.Set(name, value)
		}
	}
	var err error
	if v.runList, err = x.runList(q); err != nil {
		return err
	}
	if v.NextCursor != "" {
		q.Set("cursor", v.NextCursor)
		v.Older = "/ui/runs?" + q.Encode()
	}
	agents, err := x.agentList()
	if err != nil {
		return err
	}
	known := v.Agent == ""
	for _, a := range agents {
		v.Agents = append(v.Agents, a.Name)
		known = known || a.Name == v.Agent
	}
	if !known { // it was removed; its runs stay
		v.Agents = append(v.Agents, v.Agent)
	}
	x.show(http.StatusOK, runsPage, "Runs", v)
	return nil
}

type runView struct {
	Run        runRecord
	Parameters string // as people read them
	Result     string // "" if there is none
	Prose      bool   // the result is text rather than JSON
	Log        string
	LogCut     bool // it has more
	ResultCut  bool
	MayRun     bool
	AgentGone  bool
}

// maxShown is how much of a long text a page shows, in bytes. The API has all of it.
const maxShown = 64 << 10

var runPage = coordinatorPage("run.html")

func (x *visit) run() error {
	base := "/runs/" + url.PathEscape(x.r.PathValue("id"))
	v := runView{MayRun: x.Allows("run")}
	if err := x.get(base, &v.Run); err != nil {
		return err
	}
	v.Parameters = text.TruncateBytes(indented(v.Run.Parameters), maxShown)
	if err := x.get("/agents/"+url.PathEscape(v.Run.AgentName), nil); err != nil {
		if p, ok := errors.AsType[*problem](err); !ok || p.Status != http.StatusNotFound {
			return err
		}
		v.AgentGone = true
	}
	if v.Run.Status == "completed" {
		var result json.RawMessage
		if err := x.get(base+"/result", &result); err != nil {
			return err
		}
		v.Result, v.Prose = readable(result)
		v.ResultCut = len(v.Result) > maxShown
		v.Result = text.TruncateBytes(v.Result, maxShown)
	}
	status, log, err := x.Ask(http.MethodGet, base+"/log", "", nil)
	if err != nil {
		return err
	}
	if status == http.StatusOK {
		v.Log, v.LogCut = logEnd(log)
	}
	x.show(http.StatusOK, runPage, "Run of "+v.Run.AgentName, v)
	return nil
}

// readable returns a result as people read it: {"text": ...} as its text, other JSON indented.
func readable(result json.RawMessage) (shownText string, prose bool) {
	var members map[string]json.RawMessage
	if json.Unmarshal(result, &members) == nil && len(members) == 1 {
		var s string
		if raw, ok := members["text"]; ok && json.Unmarshal(raw, &s) == nil {
			return shown(s), true
		}
	}
	return indented(result), false
}

// logEnd returns the last lines of a log as a page shows them. cut reports whether there are more.
func logEnd(log []byte) (end string, cut bool) {
	if len(log) > maxShown {
		log, cut = log[len(log)-maxShown:], true
		if _, rest, ok := strings.Cut(string(log), "\n"); ok {
			return shown(rest), true
		}
	}
	return shown(string(log)), cut
}

func (x *visit) stopRun() error {
	id := x.r.PathValue("id")
	if _, err := x.form(); err != nil {
		return err
	}
	if err := x.ask(http.MethodPost, "/runs/"+url.PathEscape(id)+"/stop", "", nil, nil); err != nil {
		return err
	}
	return x.goTo("/ui/runs/" + url.PathEscape(id))
}
