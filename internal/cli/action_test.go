package cli_test

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/shorttest"
)

// step runs the action in a workspace with the files, and returns the exit code,
// the log, the outputs' file and the summary.
func step(t *testing.T, env map[string]string, inputs, texts map[string]string) (code int, log, outputs, summary string) {
	t.Helper()
	base := files(t, map[string]string{"output": "", "summary": ""})
	all := map[string]string{
		"GITHUB_ACTIONS": "true", "GITHUB_WORKSPACE": files(t, texts), "GITHUB_OUTPUT": filepath.Join(base, "output"), "GITHUB_STEP_SUMMARY": filepath.Join(base, "summary"),
		"GITHUB_EVENT_NAME": "pull_request", "GITHUB_EVENT_PATH": event(t), "GITHUB_REPOSITORY": "Codertocat/Hello-World", "GITHUB_RUN_ID": "7",
	}
	maps.Copy(all, env)
	for name, value := range inputs {
		all["INPUT_"+strings.ToUpper(name)] = value
	}
	code, log, _ = process{env: all}.run(t, "action")
	read := func(name string) string {
		raw, err := os.ReadFile(filepath.Join(base, name))
		if err != nil {
			t.Fatal(err)
		}
		return string(raw)
	}
	return code, log, read("output"), read("summary")
}

const line = `{"type":"add-issue-comment","body":"Hello","surprise":1}` + "\n"

// These tests have no token, because only Enter, which they do not call, reads it from the
// environment. What a token does is tested through the binary.

func TestActionStaged(t *testing.T) {
	code, log, outputs, summary := step(t, nil, map[string]string{"output-file": "lines.ndjson", "config": "add-issue-comment:", "staged": "true", "log-level": "debug"}, map[string]string{"lines.ndjson": line})
	if code != 0 || !strings.Contains(log, "::group::Airlock: 1 of 1 request would be done, nothing was written") {
		t.Errorf("exit code %d\n%s", code, log)
	}
	for _, want := range []string{"agent-output<<", "report<<", "plan-file<<", "results<<", ".airlock/results.json", "staged<<"} {
		if !strings.Contains(outputs, want) {
			t.Errorf("the outputs lack %q:\n%s", want, outputs)
		}
	}
	if !strings.Contains(summary, `left out: "surprise"`) {
		t.Errorf("the summary does not say what was left out:\n%s", summary)
	}
}

func TestActionCollects(t *testing.T) {
	for failOn, want := range map[string]int{"error": 0, "rejected": 1, "never": 0} {
		code, log, _, _ := step(t, nil, map[string]string{"mode": "collect", "fail-on": failOn}, map[string]string{"lines.ndjson": line + "no JSON\n"})
		if code != 2 || !strings.Contains(log, "set the input output-file") {
			t.Errorf("without a file: exit code %d\n%s", code, log)
		}
		code, _, _, summary := step(t, map[string]string{"GITHUB_AW_SAFE_OUTPUTS": "lines.ndjson"}, map[string]string{"mode": "collect", "fail-on": failOn}, map[string]string{"lines.ndjson": line + "no JSON\n"})
		if code != want || !strings.Contains(summary, "1 of 2 lines accepted") || !strings.Contains(summary, "left out the unknown field: surprise") {
			t.Errorf("fail-on %s: exit code %d\n%s", failOn, code, summary)
		}
	}
}

// TestActionFindsItsInput runs mode apply with input from a file, a text or the
// environment, and with lines below the runner's temporary directory.
func TestActionFindsItsInput(t *testing.T) {
	temp := files(t, map[string]string{"lines.ndjson": line})
	const text = `{"items":[{"type":"add-issue-comment","body":"Hello"}],"errors":["Line 2: no"]}`
	for name, c := range shorttest.Some(3, map[string]struct {
		env, inputs map[string]string
		code        int
		want        string
	}{
		"file":      {nil, map[string]string{"agent-output": "out.json"}, 0, "1 of 1 request"},
		"text":      {nil, map[string]string{"agent-output": text}, 0, "1 of 1 request"},
		"variable":  {map[string]string{"GH_AW_AGENT_OUTPUT": text}, nil, 0, "1 of 1 request"},
		"lines":     {nil, map[string]string{"output-file": "lines.ndjson"}, 0, "1 of 1 request"},
		"nothing":   {nil, nil, 2, "set the input agent-output"},
		"temp":      {map[string]string{"RUNNER_TEMP": temp}, map[string]string{"agent-output": filepath.Join(temp, "lines.ndjson")}, 0, "1 of 1 request"},
		"no temp":   {map[string]string{"RUNNER_TEMP": "/nowhere"}, map[string]string{"agent-output": "/nowhere/lines.ndjson"}, 2, "the runner's temporary directory"},
		"elsewhere": {map[string]string{"RUNNER_TEMP": temp}, map[string]string{"agent-output": temp + "/../x"}, 2, "outside"},
	}) {
		inputs := map[string]string{"mode": "apply", "staged": "true"}
		maps.Copy(inputs, c.inputs)
		code, log, _, _ := step(t, c.env, inputs, map[string]string{"out.json": text, "lines.ndjson": line})
		if code != c.code || !strings.Contains(log, c.want) {
			t.Errorf("%s: exit code %d, want %d and %q\n%s", name, code, c.code, c.want, log)
		}
	}
}

func TestActionRefuses(t *testing.T) {
	for name, c := range shorttest.Some(5, map[string]struct {
		env, inputs map[string]string
		want        string
	}{
		"workspace":     {map[string]string{"GITHUB_WORKSPACE": ""}, nil, "GITHUB_WORKSPACE is not set"},
		"event":         {map[string]string{"GITHUB_EVENT_PATH": ""}, nil, "GITHUB_EVENT_PATH is not set"},
		"token":         {nil, map[string]string{"config": "add-issue-comment:"}, "there is no token to write with"},
		"certificates":  {nil, map[string]string{"ca-file": "none.pem"}, "input ca-file: none.pem does not exist"},
		"environment":   {map[string]string{"SSL_CERT_FILE": "/nowhere"}, map[string]string{"trust-env": "true"}, "SSL_CERT_FILE: "},
		"configuration": {nil, map[string]string{"config": "add-issue-coment:"}, `did you mean "add-issue-comment"?`},
		"domain":        {nil, map[string]string{"config": "allowed-domains: ['a b']"}, "a b"},
		"file outside":  {nil, map[string]string{"config-file": "../x.yml"}, "relative to the repository's root"},
		"file unread":   {nil, map[string]string{"config-file": "x.yml"}, "give the configuration inline"},
		"findings":      {nil, map[string]string{"mode": "collect", "findings": "f.json"}, "use it with mode apply"},
		"own findings":  {nil, map[string]string{"mode": "check", "findings": "f.json"}, "use it with mode apply"},
		"mode":          {nil, map[string]string{"mode": "both"}, "mode"},
	}) {
		inputs := map[string]string{"output-file": "lines.ndjson"}
		maps.Copy(inputs, c.inputs)
		code, log, _, summary := step(t, c.env, inputs, map[string]string{"lines.ndjson": line})
		if code != 2 || !strings.Contains(log, "::error title=Airlock stopped::") || !strings.Contains(log, c.want) || !strings.Contains(summary, "## Airlock stopped") {
			t.Errorf("%s: exit code %d, want 2 and %q\n%s\n%s", name, code, c.want, log, summary)
		}
	}
}

// TestActionTrustsTheEnvironmentOnlyWhenTold has a configuration in the environment, where an
// earlier step could have set it. It enables only noop. Without it, nothing is configured, and the
// summary shows how to enable the kind of the line.
func TestActionTrustsTheEnvironmentOnlyWhenTold(t *testing.T) {
	env := map[string]string{"GH_AW_SAFE_OUTPUTS_CONFIG": "{\"noop\": {}, \"staged\": true}"}
	for trust, want := range map[string]string{"false": "How to enable it", "true": "kind-not-enabled"} {
		_, _, _, summary := step(t, env, map[string]string{"output-file": "lines.ndjson", "trust-env": trust}, map[string]string{"lines.ndjson": line})
		if !strings.Contains(summary, want) {
			t.Errorf("trust-env %s: the summary lacks %q:\n%s", trust, want, summary)
		}
	}
}

// TestActionAnnotatesWhatGitHubShows asserts that ten of many rejected lines are annotated, and the
// others counted.
func TestActionAnnotatesWhatGitHubShows(t *testing.T) {
	_, log, _, _ := step(t, nil, map[string]string{"mode": "collect", "output-file": "lines.ndjson"}, map[string]string{"lines.ndjson": strings.Repeat("no JSON\n\n", 40)})
	if n := strings.Count(log, "::warning "); n != 10 || !strings.Contains(log, "30 more in the file of the results") {
		t.Errorf("%d annotations\n%s", n, log)
	}
}

// TestActionReadsThePolicyOfTheBaseCommit asserts rule R10 without a token: the policy
// comes from the base commit in git's objects, not from the pull request's tree. The diff
// and the lines of findings come from the clone too.
func TestActionReadsThePolicyOfTheBaseCommit(t *testing.T) {
	const policy = ".github/airlock.yml"
	p := newProject(t)
	base := p.commit(t, map[string]string{policy: "create-pull-request-review-comment:\ncreate-security-report:\n", "main.go": "package main\n"})
	head := p.commit(t, map[string]string{policy: "add-issue-comment:\n", "main.go": "package main\n\nfunc main() {}\n",
		"lines.ndjson": line + `{"type":"create-pull-request-review-comment","path":"main.go","line":3,"body":"Empty"}` + "\n" +
			`{"type":"create-pull-request-review-comment","path":"main.go","line":90,"body":"Outside"}` + "\n" +
			`{"type":"create-security-report","file":"main.go","line":3,"severity":"error","message":"Bad"}` + "\n"})
	env := map[string]string{"GITHUB_WORKSPACE": p.dir, "GITHUB_EVENT_PATH": pullEvent(t, base, head), "GITHUB_SHA": "0000000000000000000000000000000000000001", "GITHUB_REF": "refs/pull/2/merge"}
	inputs := map[string]string{"output-file": "lines.ndjson", "config-file": "./" + policy, "staged": "true", "log-level": "debug"}
	code, log, _, summary := step(t, env, inputs, nil)
	if code != 0 || !strings.Contains(summary, "**kind-not-enabled**") || !strings.Contains(log, "(3 planned, 1 denied)") {
		t.Errorf("exit code %d\n%s\n%s", code, log, summary)
	}
	// The anchors were checked, so one comment goes into the review's body.
	plan, err := os.ReadFile(filepath.Join(p.dir, ".airlock", "plan.json"))
	if err != nil || strings.Contains(string(plan), "anchors are unchecked") || !strings.Contains(string(plan), "\"**`main.go`, line 90**") {
		t.Errorf("%v\n%s", err, plan)
	}

	inputs["config-file"] = ".github/none.yml"
	if code, log, _, _ := step(t, env, inputs, nil); code != 2 || !strings.Contains(log, "there is no such file") {
		t.Errorf("a policy that is not there: exit code %d\n%s", code, log)
	}
}

// Secrets of Actions are not given to the workflow runs that Dependabot starts: a token that is
// one of them is empty there, and that is not a mistake in the configuration.
func TestActionWithoutATokenInARunOfDependabot(t *testing.T) {
	env := map[string]string{"GITHUB_EVENT_PATH": changedEvent(t, func(payload map[string]any) {
		payload["sender"].(map[string]any)["login"] = "dependabot[bot]"
	})}
	code, log, outputs, summary := step(t, env, map[string]string{"output-file": "lines.ndjson", "config": "add-issue-comment:"}, map[string]string{"lines.ndjson": line})
	if code != 0 || !strings.Contains(log, "dependabot-read-only") || !strings.Contains(outputs, "results<<") || !strings.Contains(summary, "Hello") ||
		!strings.Contains(summary, "Settings, Secrets and variables, Dependabot") {
		t.Errorf("exit code %d\n%s\n%s\n%s", code, log, outputs, summary)
	}
}
