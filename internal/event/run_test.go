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
		MatrixIndex: 4, Shared: true, StartedAt: started, URL: "https://github.com/octo/repo/actions/runs/16000000001"}
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
		"job.check_run_id":   {CheckRunID: "x"},
		"invalid name":       {JobName: "a\nb"},
		"at most 100 bytes":  {JobName: strings.Repeat("a", 101)},
	} {
		if _, err := event.ParseRun(env, event.Event{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("err = %v, want one with %s", err, want)
		}
	}
}

// TestIdentity asserts the identity of jobs of one workflow run with the same GITHUB_JOB, and
// whether another job may have the same identity. The orchestration id, the job's name or the name
// that the owner gave it (Env.Name) distinguishes the jobs.
func TestIdentity(t *testing.T) {
	for name, c := range map[string]struct {
		env     event.Env
		jobName string // what GitHub would answer
		want    string
		shared  bool
	}{
		"a job":                                  {event.Env{Orchestration: "1-2.gate.__default"}, "", "gate", false},
		"a leg, with the index":                  {event.Env{Orchestration: "1-2.gate.linux", MatrixIndex: "1"}, "", "gate", false},
		"a leg with dots":                        {event.Env{Orchestration: "1-2.gate.go_1.26", MatrixIndex: "1"}, "", "gate", false},
		"a leg, without the index":               {event.Env{Orchestration: "1-2.gate.linux"}, "", "gate / linux", false},
		"one call":                               {event.Env{Orchestration: "1-2.api.gate.__default"}, "", "api / gate", false},
		"another call":                           {event.Env{Orchestration: "1-2.web.gate.__default"}, "", "web / gate", false},
		"a call in a matrix":                     {event.Env{Orchestration: "1-2.call.linux.gate.__default"}, "", "call / linux / gate", false},
		"a caller with the same key":             {event.Env{Orchestration: "1-2.gate.gate.__default"}, "", "gate / gate", false},
		"the owner's name comes first":           {event.Env{Orchestration: "1-2.api.gate.__default", JobName: "api"}, "other / gate", "api", true},
		"an id of another job":                   {event.Env{Orchestration: "1-2.check.__default"}, "", "gate", true},
		"an id with a line break":                {event.Env{Orchestration: "1-2.api\n.gate.__default"}, "", "gate", true},
		"an id that is not one":                  {event.Env{Orchestration: "gate"}, "", "gate", true},
		"an endless id":                          {event.Env{Orchestration: "1." + strings.Repeat("a.", 600) + "gate.__default"}, "", "gate", true},
		"the job's name":                         {event.Env{CheckRunID: "5"}, "api / gate", "api / gate", false},
		"the name of a job that is not a callee": {event.Env{CheckRunID: "5"}, "Report", "gate", false},
		"a name that cannot be read":             {event.Env{CheckRunID: "5"}, "", "gate", true},
		"neither":                                {event.Env{}, "api / gate", "gate", true},
	} {
		c.env.RunID, c.env.Job = "7", "gate"
		run, err := event.ParseRun(c.env, event.Event{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if asks := run.AwaitsJobName(); asks != (c.env.CheckRunID != "") {
			t.Errorf("%s: AwaitsJobName = %v", name, asks)
		} else if asks {
			run.SetJobName(c.jobName)
		}
		if run.Identity() != c.want || run.Shared != c.shared {
			t.Errorf("%s: %q, shared: %v, want %q, %v", name, run.Identity(), run.Shared, c.want, c.shared)
		}
	}
}

// TestClaims asserts that two jobs with one identity are distinguished by their Claim, and that
// another attempt is not taken for another job.
func TestClaims(t *testing.T) {
	parse := func(env event.Env, jobName string) event.Run {
		env.RunID, env.Job = "7", "gate"
		run, err := event.ParseRun(env, event.Event{})
		if err != nil {
			t.Fatal(err)
		}
		if run.AwaitsJobName() {
			run.SetJobName(jobName)
		}
		return run
	}
	for name, c := range map[string]struct {
		one, two event.Run
		other    bool
	}{
		"one name, two paths": {parse(event.Env{JobName: "n", Orchestration: "1.a.gate.__default"}, ""), parse(event.Env{JobName: "n", Orchestration: "1.b.gate.__default"}, ""), true},
		"one name, two attempts of a path": {parse(event.Env{JobName: "n", Orchestration: "1.a.gate.__default"}, ""),
			parse(event.Env{JobName: "n", Orchestration: "2.a.gate.__default", RunAttempt: "2", CheckRunID: "6"}, ""), false},
		"one name, two jobs' names":          {parse(event.Env{JobName: "n", CheckRunID: "5"}, "a / gate"), parse(event.Env{JobName: "n", CheckRunID: "6"}, "b / gate"), true},
		"one name, two attempts of a job":    {parse(event.Env{JobName: "n", CheckRunID: "5"}, "a / gate"), parse(event.Env{JobName: "n", CheckRunID: "6", RunAttempt: "2"}, "a / gate"), false},
		"no name, two ids":                   {parse(event.Env{CheckRunID: "5"}, ""), parse(event.Env{CheckRunID: "6"}, ""), true},
		"no name, two ids of other attempts": {parse(event.Env{CheckRunID: "5"}, ""), parse(event.Env{CheckRunID: "6", RunAttempt: "2"}, ""), false},
		"an attempt beyond what fits":        {parse(event.Env{CheckRunID: "5", RunAttempt: "70000"}, ""), parse(event.Env{CheckRunID: "5", RunAttempt: "70000"}, ""), false},
		"nothing":                            {parse(event.Env{}, ""), parse(event.Env{}, ""), false},
		"distinguished already":              {parse(event.Env{Orchestration: "1.a.gate.__default"}, ""), parse(event.Env{Orchestration: "1.b.gate.__default"}, ""), false},
	} {
		if got := c.one.ClaimedByOther(c.two.Claim); got != c.other || c.two.ClaimedByOther(c.one.Claim) != c.other {
			t.Errorf("%s: another job: %v, want %v both ways (%q, %q)", name, got, c.other, c.one.Claim, c.two.Claim)
		}
	}
}

func TestOutsideOfActionsEachRunIsItsOwn(t *testing.T) {
	run, err := event.ParseRun(event.Env{Nonce: "a", JobName: "nightly", Orchestration: "1.x.y", Job: "x"}, event.Event{})
	if err != nil || run.Own != "a" || run.Identity() != "nightly" || run.Shared || run.AwaitsJobName() {
		t.Errorf("%+v, %v", run, err)
	}
	if run, _ = event.ParseRun(event.Env{Nonce: "a", RunID: "1"}, event.Event{}); run.Own != "" {
		t.Error("attempts of one workflow run do not share their objects")
	}
}
