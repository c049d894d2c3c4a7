package action_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-airlock/airlock/internal/action"
	"github.com/agent-airlock/airlock/internal/event"
)

// environment returns a getenv over a map.
func environment(m map[string]string) func(string) string {
	return func(name string) string { return m[name] }
}

func TestSnapshot(t *testing.T) {
	env := action.Snapshot(environment(map[string]string{
		"GITHUB_ACTIONS": "true", "RUNNER_DEBUG": "1", "GITHUB_WORKSPACE": "/github/workspace", "GITHUB_EVENT_PATH": "/github/workflow/event.json",
		"GITHUB_OUTPUT": "/o", "GITHUB_STEP_SUMMARY": "/s", "RUNNER_TEMP": "/t", "GITHUB_API_URL": "https://ghe.example/api/v3",
		"GITHUB_EVENT_NAME": "push", "GITHUB_REPOSITORY": "o/r", "GITHUB_REPOSITORY_ID": "5", "GITHUB_SHA": "ab", "GITHUB_REF": "refs/heads/main",
		"GITHUB_ACTOR": "octocat", "GITHUB_RUN_ID": "7", "GITHUB_RUN_NUMBER": "8", "GITHUB_RUN_ATTEMPT": "9",
		"GITHUB_WORKFLOW_REF": "o/r/.github/workflows/x.yml@refs/heads/main", "GITHUB_WORKFLOW": "x", "GITHUB_JOB": "gate", "GITHUB_ACTION": "airlock",
		"INPUT_MATRIX-INDEX": "3",
	}))
	want := event.Env{
		EventName: "push", Repository: "o/r", RepositoryID: "5", SHA: "ab", Ref: "refs/heads/main", Actor: "octocat", RunID: "7",
		RunNumber: "8", RunAttempt: "9", WorkflowRef: "o/r/.github/workflows/x.yml@refs/heads/main", Workflow: "x", Job: "gate", Step: "airlock",
		MatrixIndex: "3", ServerURL: "https://ghe.example",
	}
	if diff := cmp.Diff(want, env.Event); diff != "" {
		t.Error(diff)
	}
	if !env.OnRunner || !env.Debug || env.Workspace != "/github/workspace" || env.OutputPath != "/o" || env.SummaryPath != "/s" || env.Temp != "/t" ||
		env.APIURL != "https://ghe.example/api/v3" || env.GraphQLURL != "" || env.ServerURL != "https://ghe.example" {
		t.Errorf("%+v", env)
	}
}

// TestSnapshotOfAnOddEnvironment asserts that a Snapshot keeps numbers as text, even
// invalid ones, and accepts an event's file that cannot be read.
func TestSnapshotOfAnOddEnvironment(t *testing.T) {
	env := action.Snapshot(environment(map[string]string{
		"GITHUB_ACTIONS": "1", "GITHUB_RUN_ID": "x", "GITHUB_RUN_ATTEMPT": "-", "GITHUB_REF_PROTECTED": "perhaps", "GITHUB_WORKSPACE": "/w",
		"GITHUB_SERVER_URL": "https://ghe.example", "GITHUB_EVENT_PATH": t.TempDir(), "GITHUB_JOB": "gate",
	}))
	if env.OnRunner || env.Event.RunID != "x" || env.Event.RunAttempt != "-" || env.Workspace != "/w" || env.ServerURL != "https://ghe.example" ||
		env.GraphQLURL != "" || env.EventPath == "" || env.Event.Job != "gate" {
		t.Errorf("%+v", env)
	}
	if env := action.Snapshot(environment(nil)); env.OnRunner || env.APIURL != "https://api.github.com" || env.ServerURL != "https://github.com" || env.Event.RunID != "" {
		t.Errorf("%+v", env)
	}
}

func TestServerURL(t *testing.T) {
	for _, tt := range []struct{ server, api, want string }{
		{"", "", "https://github.com"},
		{"", "https://api.github.com", "https://github.com"},
		{"", "https://api.github.com/", "https://github.com"},
		{"", "https://api.octo.ghe.com", "https://octo.ghe.com"},
		{"", "https://ghe.example:8443/api/v3/", "https://ghe.example:8443"},
		{"", "https://api.example/api/v3", "https://api.example"},
		{"", "http://127.0.0.1:80", "http://127.0.0.1:80"},
		{"", "ghe.example", "https://github.com"},
		{"https://ghe.example/", "https://api.github.com", "https://ghe.example/"},
	} {
		if got := action.ServerURL(environment(map[string]string{"GITHUB_SERVER_URL": tt.server, "GITHUB_API_URL": tt.api})); got != tt.want {
			t.Errorf("of %q and %q: %q, want %q", tt.server, tt.api, got, tt.want)
		}
	}
}

func TestInputs(t *testing.T) {
	in := action.Snapshot(environment(map[string]string{
		"INPUT_FAIL-ON": " never \n", "INPUT_MY_INPUT": "x",
	})).Inputs
	if in.Get("fail-on") != "never" || in.Get("my input") != "x" || in.Get("none") != "" {
		t.Errorf("Get: %q, %q and %q", in.Get("fail-on"), in.Get("my input"), in.Get("none"))
	}
	if got := in.Text("fail-on"); got != " never \n" || in.Text("none") != "" {
		t.Errorf("Text: %q", got)
	}
	if (action.Inputs{}).Get("x")+(action.Inputs{}).Text("x") != "" {
		t.Error("the zero Inputs has an input")
	}
}

func TestInputNames(t *testing.T) {
	got := action.InputNames([]string{"INPUT_FAIL-ON=never", "INPUT_TOKEN=", "input_odd=1", "INPUT_FAIL-ON=error", "PATH=/bin", "GITHUB_INPUT_X=1", "INPUT_A B", "INPUT_"})
	if diff := cmp.Diff([]string{"", "a b", "fail-on", "odd", "token"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestLoadEvent(t *testing.T) {
	file := filepath.Join(t.TempDir(), "event.json")
	written := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	if err := os.WriteFile(file, []byte(`{"schedule":"0 0 * * *"}`), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(file, written, written); err != nil {
		t.Fatal(err)
	}
	env := action.Env{EventPath: file, Event: event.Env{EventName: "schedule", Repository: "o/r", RunID: "7"}}
	ev, run, err := action.LoadEvent(env)
	if err != nil || ev.Name != "schedule" || ev.Repo.FullName() != "o/r" || run.ID != 7 || !run.StartedAt.Equal(written) {
		t.Errorf("%+v, %+v, %v", ev, run, err)
	}
	for want, path := range map[string]string{
		"GITHUB_EVENT_PATH is not set": "", "does not exist": file + "x", "is a directory": filepath.Dir(file),
	} {
		env.EventPath = path
		if _, _, err := action.LoadEvent(env); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("err = %v, want one with %q", err, want)
		}
	}
}
