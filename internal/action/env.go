// Package action speaks the protocol of GitHub's runner: environment, inputs,
// outputs, job summary, workflow commands and masks, and the files around a
// step, without trusting them.
package action

import (
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/sethvargo/go-githubactions"

	"github.com/agent-airlock/airlock/internal/event"
)

// Env is a snapshot of the variables by which the runner describes itself and
// the workflow run, and of the action's inputs.
type Env struct {
	OnRunner bool // GITHUB_ACTIONS is "true"
	Debug    bool // RUNNER_DEBUG is "1"

	Workspace   string // GITHUB_WORKSPACE
	EventPath   string // GITHUB_EVENT_PATH
	OutputPath  string // GITHUB_OUTPUT
	SummaryPath string // GITHUB_STEP_SUMMARY
	Temp        string // RUNNER_TEMP

	APIURL     string // GITHUB_API_URL, by default GitHub.com's
	GraphQLURL string // GITHUB_GRAPHQL_URL; "" for the one that goes with APIURL
	ServerURL  string // as the function ServerURL returns it

	Event  event.Env
	Inputs Inputs
}

// Snapshot reads the environment, through getenv alone.
func Snapshot(getenv func(string) string) Env {
	action := githubactions.New(githubactions.WithGetenv(func(name string) string {
		if name == "GITHUB_EVENT_PATH" {
			return "" // Context would read that file in full, whatever it is; see LoadEvent
		}
		return getenv(name)
	}))
	// The error is about numbers and booleans. event.ParseRun reads the numbers that are needed
	// from their text, and names the variable that is wrong.
	run, _ := action.Context()
	inputs := Inputs{action, getenv}
	return Env{
		OnRunner: getenv("GITHUB_ACTIONS") == "true", Debug: getenv("RUNNER_DEBUG") == "1",
		Workspace: run.Workspace, EventPath: getenv("GITHUB_EVENT_PATH"),
		OutputPath: getenv("GITHUB_OUTPUT"), SummaryPath: run.StepSummary, Temp: getenv("RUNNER_TEMP"),
		// Context has GitHub.com's GraphQL URL where there is none, even for another server.
		APIURL: run.APIURL, GraphQLURL: getenv("GITHUB_GRAPHQL_URL"), ServerURL: ServerURL(getenv),
		Inputs: inputs,
		Event: event.Env{
			EventName: run.EventName, Repository: run.Repository, RepositoryID: getenv("GITHUB_REPOSITORY_ID"),
			SHA: run.SHA, Ref: run.Ref, Actor: run.Actor,
			RunID: getenv("GITHUB_RUN_ID"), RunNumber: getenv("GITHUB_RUN_NUMBER"), RunAttempt: getenv("GITHUB_RUN_ATTEMPT"),
			Environment: getenv("RUNNER_ENVIRONMENT"),
			WorkflowRef: getenv("GITHUB_WORKFLOW_REF"), Workflow: run.Workflow, Job: run.Job, Step: run.Action,
			MatrixIndex: inputs.Get(MatrixIndexInput), Orchestration: getenv(orchestrationVariable), ServerURL: ServerURL(getenv),
		},
	}
}

// ServerURL returns the address of the pages of the environment's GitHub server: GITHUB_SERVER_URL
// or, without it, the address that goes with GITHUB_API_URL. If neither is set, it is that of
// GitHub.com.
func ServerURL(getenv func(string) string) string {
	if server := getenv("GITHUB_SERVER_URL"); server != "" {
		return server
	}
	u, err := url.Parse(getenv("GITHUB_API_URL"))
	if err != nil || u.Host == "" {
		return "https://github.com"
	}
	host := u.Host
	if strings.Trim(u.Path, "/") == "" { // otherwise it is below /api/v3 of the host itself
		host = strings.TrimPrefix(host, "api.")
	}
	return u.Scheme + "://" + host
}

// MatrixIndexInput is the input that carries the job's place in its matrix: the
// runner exports no variable for it, but action.yml may give the input the
// default ${{ strategy.job-index }}.
const MatrixIndexInput = "matrix-index"

// Inputs are the action's inputs. The zero value has none.
type Inputs struct {
	action *githubactions.Action
	getenv func(string) string
}

// Get returns an input without white space around it; "" when it is not set.
func (in Inputs) Get(name string) string {
	if in.action == nil {
		return ""
	}
	return in.action.GetInput(name)
}

// Text returns an input exactly as it is given, because white space in its lines has a meaning; ""
// when it is not set. The input's name contains no space.
func (in Inputs) Text(name string) string {
	if in.getenv == nil {
		return ""
	}
	return in.getenv(inputPrefix + strings.ToUpper(name))
}

// inputPrefix begins the variable of each input; the rest is the input's name in capitals.
const inputPrefix = "INPUT_"

// InputNames returns the names of the inputs that an environment gives to the step, empty ones too,
// in lower case and sorted. The runner sets each input that action.yml declares. It also passes on
// other variables INPUT_…, which an earlier step of the job wrote to GITHUB_ENV. If an image runs
// without its action.yml, such a step can set every input that the workflow leaves out.
func InputNames(environ []string) []string {
	var names []string
	for _, e := range environ {
		variable, _, _ := strings.Cut(e, "=")
		if name, ok := strings.CutPrefix(strings.ToUpper(variable), inputPrefix); ok {
			names = append(names, strings.ToLower(name))
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// maxEvent is how large an event's payload may be. GitHub caps webhooks at 25 MB.
const maxEvent = 32 << 20

// Named is what a user names of the workflow run and its event, instead of the environment. A field
// that is "" stays as the environment has it.
type Named struct {
	Payload    string // the file of the event's payload
	Event      string // the event's name
	Repository string // owner/name
	JobName    string // the user's name for the job; the environment contains only the job's key
}

// Env returns the environment with what the user names.
func (n Named) Env(getenv func(string) string) Env {
	env := Snapshot(getenv)
	env.EventPath = cmp.Or(n.Payload, env.EventPath)
	env.Event.EventName = cmp.Or(n.Event, env.Event.EventName)
	env.Event.Repository = cmp.Or(n.Repository, env.Event.Repository)
	env.Event.JobName = n.JobName
	return env
}

// LoadEvent reads the event that started the workflow run and the run's
// identity, which is a random one outside of a workflow run. Where the event has no
// time of its own, the time of the payload's file is taken as the job's start.
func LoadEvent(env Env) (event.Event, event.Run, error) {
	if env.EventPath == "" {
		return event.Event{}, event.Run{}, errors.New("GITHUB_EVENT_PATH is not set: run in a workflow, or name the event's payload with --event FILE")
	}
	var data []byte
	f, err := OpenUserFile(env.EventPath, nil, maxEvent)
	if err == nil {
		defer f.Close()
		data, err = f.ReadAll()
	}
	if err != nil {
		return event.Event{}, event.Run{}, fmt.Errorf("the event's payload: %w", err)
	}
	if env.Event.StartedAt.IsZero() {
		env.Event.StartedAt = f.ModTime
	}
	ev, err := event.Parse("", data, env.Event)
	if err != nil {
		return event.Event{}, event.Run{}, err
	}
	env.Event.Nonce = cmp.Or(env.Event.Nonce, rand.Text())
	run, err := event.ParseRun(env.Event, ev)
	return ev, run, err
}

// PathList returns the directories in which git is looked for. On a runner it returns "", which
// stands for the usual ones, because an earlier step can put a program of its own into PATH.
func PathList(getenv func(string) string) string {
	if getenv("GITHUB_ACTIONS") == "true" {
		return ""
	}
	return getenv("PATH")
}
