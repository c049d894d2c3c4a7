// Package action speaks the protocol of GitHub's runner: environment, inputs,
// outputs, job summary, workflow commands and masks, and the files around a
// step, without trusting them.
package action

import (
	"errors"
	"fmt"

	"github.com/sethvargo/go-githubactions"

	"github.com/agent-airlock/airlock/internal/event"
)

// Defaults of the URLs that a runner exports.
const (
	defaultAPIURL    = "https://api.github.com"
	defaultServerURL = "https://github.com"
)

// Env is a snapshot of the variables by which the runner describes itself and
// the workflow run, and of the action's inputs. Nothing here reads the process's
// environment but Snapshot, through the function it is given.
type Env struct {
	OnRunner bool // GITHUB_ACTIONS is "true"
	Debug    bool // RUNNER_DEBUG is "1"

	Workspace   string // GITHUB_WORKSPACE
	EventPath   string // GITHUB_EVENT_PATH
	OutputPath  string // GITHUB_OUTPUT
	SummaryPath string // GITHUB_STEP_SUMMARY
	Temp        string // RUNNER_TEMP

	APIURL     string // GITHUB_API_URL, else GitHub.com's
	GraphQLURL string // GITHUB_GRAPHQL_URL; "" for the one that goes with APIURL
	ServerURL  string // GITHUB_SERVER_URL, else GitHub.com's

	Event  event.Env
	Inputs Inputs
}

// Snapshot reads the environment once.
func Snapshot(getenv func(string) string) Env {
	or := func(name, unset string) string {
		if v := getenv(name); v != "" {
			return v
		}
		return unset
	}
	env := Env{
		OnRunner: getenv("GITHUB_ACTIONS") == "true", Debug: getenv("RUNNER_DEBUG") == "1",
		Workspace: getenv("GITHUB_WORKSPACE"), EventPath: getenv("GITHUB_EVENT_PATH"),
		OutputPath: getenv("GITHUB_OUTPUT"), SummaryPath: getenv("GITHUB_STEP_SUMMARY"), Temp: getenv("RUNNER_TEMP"),
		APIURL: or("GITHUB_API_URL", defaultAPIURL), GraphQLURL: getenv("GITHUB_GRAPHQL_URL"),
		ServerURL: or("GITHUB_SERVER_URL", defaultServerURL),
		Inputs:    Inputs{getenv},
	}
	env.Event = event.Env{
		EventName: getenv("GITHUB_EVENT_NAME"), Repository: getenv("GITHUB_REPOSITORY"), RepositoryID: getenv("GITHUB_REPOSITORY_ID"),
		SHA: getenv("GITHUB_SHA"), Ref: getenv("GITHUB_REF"), Actor: getenv("GITHUB_ACTOR"), TriggeringActor: getenv("GITHUB_TRIGGERING_ACTOR"),
		RunID: getenv("GITHUB_RUN_ID"), RunNumber: getenv("GITHUB_RUN_NUMBER"), RunAttempt: getenv("GITHUB_RUN_ATTEMPT"),
		WorkflowRef: getenv("GITHUB_WORKFLOW_REF"), Workflow: getenv("GITHUB_WORKFLOW"), Job: getenv("GITHUB_JOB"), Step: getenv("GITHUB_ACTION"),
		MatrixIndex: env.Inputs.Get(MatrixIndexInput), ServerURL: env.ServerURL,
	}
	return env
}

// MatrixIndexInput is the input that carries the job's place in its matrix: the
// runner exports no variable for it, but action.yml may give the input the
// default ${{ strategy.job-index }}.
const MatrixIndexInput = "matrix-index"

// Inputs are the action's inputs, as the runner passes them: INPUT_ and the
// name in upper case, blanks as underscores.
type Inputs struct{ getenv func(string) string }

// Get returns an input without white space around it; "" when it is not set.
func (in Inputs) Get(name string) string {
	if in.getenv == nil {
		return ""
	}
	return githubactions.New(githubactions.WithGetenv(in.getenv)).GetInput(name)
}

// maxEvent is how large an event's payload may be. GitHub caps webhooks at 25 MB.
const maxEvent = 32 << 20

// LoadEvent reads the event that started the workflow run and the run's
// identity. The time of the payload's file stands for the job's start, where
// the event has no time of its own.
func LoadEvent(env Env) (event.Event, event.Run, error) {
	if env.EventPath == "" {
		return event.Event{}, event.Run{}, errors.New("GITHUB_EVENT_PATH is not set: run in a workflow, or name the event's payload with --event FILE")
	}
	f, err := OpenUser(env.EventPath, nil, maxEvent)
	if err != nil {
		return event.Event{}, event.Run{}, fmt.Errorf("the event's payload: %w", err)
	}
	defer f.Close()
	data, err := f.ReadAll()
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
	run, err := event.ParseRun(env.Event, ev)
	return ev, run, err
}
