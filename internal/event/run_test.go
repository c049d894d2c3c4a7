package event_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-airlock/airlock/internal/event"
)

func TestParseRun(t *testing.T) {
	started := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	env := event.Env{
		RunID: "16000000001", RunNumber: "12", RunAttempt: "2", Job: "gate", Step: "__run_3", MatrixIndex: "4", Workflow: "CI",
		WorkflowRef: "octo/repo/.github/workflows/a@b.yml@refs/heads/main", ServerURL: "https://github.com/", StartedAt: started,
	}
	ev := event.Event{Repo: event.Repo{Owner: "octo", Name: "repo"}}
	want := event.Run{ID: 16000000001, Number: 12, Attempt: 2, WorkflowPath: ".github/workflows/a@b.yml", Job: "gate", Step: "__run_3",
		MatrixIndex: 4, StartedAt: started, URL: "https://github.com/octo/repo/actions/runs/16000000001"}
	got, err := event.ParseRun(env, ev)
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got)\n%s", err, diff)
	}

	ev.Time = started.Add(-time.Minute)
	if got, _ := event.ParseRun(env, ev); !got.StartedAt.Equal(ev.Time) {
		t.Errorf("StartedAt = %v, want the event's time", got.StartedAt)
	}
	env.WorkflowRef = ""
	if got, _ := event.ParseRun(env, ev); got.WorkflowPath != "CI" {
		t.Errorf("WorkflowPath = %q, want the workflow's name", got.WorkflowPath)
	}
}

func TestParseRunOutsideAWorkflow(t *testing.T) {
	got, err := event.ParseRun(event.Env{}, event.Event{})
	if diff := cmp.Diff(event.Run{Attempt: 1}, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got)\n%s", err, diff)
	}
}

func TestParseRunErrors(t *testing.T) {
	for want, env := range map[string]event.Env{
		"GITHUB_RUN_ID":      {RunID: "x"},
		"GITHUB_RUN_ATTEMPT": {RunAttempt: "-1"},
		"strategy.job-index": {MatrixIndex: "1.5"},
	} {
		if _, err := event.ParseRun(env, event.Event{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("err = %v, want one with %s", err, want)
		}
	}
}
