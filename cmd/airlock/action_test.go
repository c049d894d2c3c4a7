package main_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/githubtest"
	"github.com/agent-airlock/airlock/internal/shorttest"
)

// workspace is a step's surroundings as the runner makes them.
type workspace struct{ dir, output, summary string }

func newWorkspace(t testing.TB, files map[string]string) workspace {
	t.Helper()
	base := t.TempDir()
	ws := workspace{filepath.Join(base, "workspace"), filepath.Join(base, "output"), filepath.Join(base, "summary")}
	write(t, ws.dir, files)
	if err := os.MkdirAll(ws.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{ws.output, ws.summary} {
		writeFile(t, path, "")
	}
	return ws
}

// env adds the step's files and inputs to the environment of a workflow run.
func (ws workspace) env(workflow []string, inputs map[string]string) []string {
	env := append(workflow, "GITHUB_WORKSPACE="+ws.dir, "GITHUB_OUTPUT="+ws.output, "GITHUB_STEP_SUMMARY="+ws.summary,
		"INPUT_TOKEN="+secret, "ACTIONS_RUNTIME_TOKEN=runtime-secret")
	for name, value := range inputs {
		env = append(env, "INPUT_"+strings.ToUpper(name)+"="+value)
	}
	return env
}

// outputs parses GITHUB_OUTPUT as the runner does.
func (ws workspace) outputs(t testing.TB) map[string]string {
	t.Helper()
	out := map[string]string{}
	lines := strings.Split(readFile(t, ws.output), "\n")
	for i := 0; i < len(lines)-1; i++ {
		name, delimiter, ok := strings.Cut(lines[i], "<<")
		if !ok {
			t.Fatalf("line %d of GITHUB_OUTPUT does not begin an output: %q", i+1, lines[i])
		}
		var value []string
		for i++; lines[i] != delimiter; i++ {
			value = append(value, lines[i])
		}
		out[name] = strings.Join(value, "\n")
	}
	return out
}

const threeLines = `{"type": "add_comment", "body": "Looks good, @octocat. This fixes #1."}
{"type": "add-issue-label", "labels": ["automation"], "issue_number": 99}
{"type": "create-issue", "title": "No body"}
`

func TestActionAll(t *testing.T) {
	t.Parallel()
	s := server(t, pullRequestFixture(), githubtest.Options{})
	ws := newWorkspace(t, map[string]string{"out/lines.ndjson": threeLines})
	res := run(t, ws.dir, ws.env(workflowEnv(s, "pull_request", "pull_request.opened.json"), map[string]string{
		"output-file": "out/lines.ndjson", "config": "add-issue-comment:\nadd-issue-label:\ncreate-issue:\n",
	}), "", "action")

	if res.code != 0 {
		t.Errorf("exit code %d, want 0: nothing failed, and fail-on is error\n%s%s", res.code, res.stdout, res.stderr)
	}
	comments := s.State().Issues[1].Comments
	if len(comments) != 1 || strings.Contains(comments[0].Body, "@octocat") || !strings.Contains(comments[0].Body, "octocat. This fixes") {
		t.Errorf("comments: %+v", comments)
	}
	out := ws.outputs(t)
	for name, want := range map[string]string{"asked": "3", "applied": "1", "denied": "1", "rejected": "1", "failed": "0"} {
		if out[name] != want {
			t.Errorf("output %s is %q, want %q", name, out[name], want)
		}
	}
	if !strings.HasPrefix(out["comment-url"], "https://") && !strings.HasPrefix(out["comment-url"], "http://") {
		t.Errorf("output comment-url is %q", out["comment-url"])
	}
	for _, name := range []string{"agent-output", "report", "results-file", "plan-file"} {
		if readFile(t, filepath.Join(ws.dir, out[name])) == "" {
			t.Errorf("the file of output %s (%q) is empty", name, out[name])
		}
	}
	summary := readFile(t, ws.summary)
	for _, want := range []string{"## Airlock: 1 of 3 requests done", "### Done", "### Not done", "**target**", "'body' is a required property", "mentions: octocat"} {
		if !strings.Contains(summary, want) {
			t.Errorf("the summary lacks %q:\n%s", want, summary)
		}
	}
	for _, text := range []string{summary, res.stdout, res.stderr} {
		if strings.Contains(text, "@octocat") {
			t.Errorf("a live mention is shown:\n%s", text)
		}
	}
	if !strings.Contains(res.stdout, "::warning title=Airlock denied add-issue-label (line 2)::") {
		t.Errorf("no annotation for the denied item:\n%s", res.stdout)
	}
}

func TestActionFailOn(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		failOn string
		code   int
	}{{"error", 0}, {"rejected", 1}, {"never", 0}} {
		s := server(t, pullRequestFixture(), githubtest.Options{})
		ws := newWorkspace(t, map[string]string{"lines.ndjson": threeLines})
		res := run(t, ws.dir, ws.env(workflowEnv(s, "pull_request", "pull_request.opened.json"), map[string]string{
			"output-file": "lines.ndjson", "config": "add-issue-label:\n", "fail-on": c.failOn,
		}), "", "action")
		if res.code != c.code {
			t.Errorf("fail-on %s: exit code %d, want %d\n%s", c.failOn, res.code, c.code, res.stdout)
		}
	}
}

// TestActionTwoJobs collects in one job, without a token, and applies in another.
func TestActionTwoJobs(t *testing.T) {
	t.Parallel()
	ws := newWorkspace(t, map[string]string{"lines.ndjson": threeLines})
	env := append(ws.env(workflowEnv(nil, "pull_request", "pull_request.opened.json"), map[string]string{
		"mode": "collect", "output-file": "lines.ndjson", "token": "",
	}), "GITHUB_TOKEN=")
	collect := run(t, ws.dir, env, "", "action")
	if collect.code != 0 {
		t.Fatalf("collect: exit code %d\n%s", collect.code, collect.stdout)
	}
	if summary := readFile(t, ws.summary); !strings.Contains(summary, "## Airlock: 2 of 3 lines accepted") {
		t.Errorf("the summary of collect:\n%s", summary)
	}
	path := ws.outputs(t)["agent-output"]

	s := server(t, pullRequestFixture(), githubtest.Options{})
	apply := newWorkspace(t, map[string]string{"agent-output.json": readFile(t, filepath.Join(ws.dir, path))})
	res := run(t, apply.dir, apply.env(workflowEnv(s, "pull_request", "pull_request.opened.json"), map[string]string{
		"mode": "apply", "agent-output": "agent-output.json", "config": "add-issue-comment:\n",
	}), "", "action")
	if res.code != 0 || len(s.State().Issues[1].Comments) != 1 {
		t.Errorf("apply: exit code %d\n%s", res.code, res.stdout)
	}
	if summary := readFile(t, apply.summary); !strings.Contains(summary, "Refused when the lines were collected (1)") {
		t.Errorf("the summary does not pass on what collect refused:\n%s", summary)
	}
}

// TestActionCollectRefusesDeniedKinds asserts that a step that collects refuses an item at once
// if the step that applies would deny its kind.
func TestActionCollectRefusesDeniedKinds(t *testing.T) {
	t.Parallel()
	ws := newWorkspace(t, map[string]string{"lines.ndjson": threeLines})
	res := run(t, ws.dir, ws.env(workflowEnv(nil, "pull_request", "pull_request.opened.json"), map[string]string{
		"mode": "collect", "output-file": "lines.ndjson", "config": "add-issue-label:\n", "fail-on": "rejected",
	}), "", "action")
	if summary := readFile(t, ws.summary); res.code != 1 || !strings.Contains(summary, "## Airlock: 1 of 3 lines accepted") || !strings.Contains(summary, "add-issue-comment") {
		t.Errorf("exit code %d:\n%s", res.code, summary)
	}
}

// TestActionPolicyFromBase checks rule R10 of docs/security.md: the policy of the base
// commit applies, not one in the pull request's tree.
func TestActionPolicyFromBase(t *testing.T) {
	t.Parallel()
	f := pullRequestFixture()
	f.Files = append(f.Files, githubtest.StoredFile{Path: ".github/airlock.yml", Ref: "f95f852bd8fca8fcc58a9a2d6c842781e32a215e", Content: "add-issue-label:\n"})
	s := server(t, f, githubtest.Options{})
	ws := newWorkspace(t, map[string]string{"lines.ndjson": threeLines, ".github/airlock.yml": "add-issue-comment:\n"})
	res := run(t, ws.dir, ws.env(workflowEnv(s, "pull_request", "pull_request.opened.json"), map[string]string{
		"output-file": "lines.ndjson", "config-file": ".github/airlock.yml",
	}), "", "action")
	if len(s.Writes()) != 0 || !strings.Contains(res.stdout, "kind-not-enabled") {
		t.Errorf("the policy of the workspace ruled: %d writes\n%s", len(s.Writes()), res.stdout)
	}
}

// TestActionStops asserts that a problem that stops a step before its first item is reported once
// and clearly, with the documented exit code, and that nothing is half done.
func TestActionStops(t *testing.T) {
	t.Parallel()
	for _, c := range shorttest.First(2, []struct {
		name   string
		inputs map[string]string
		env    []string
		code   int
		says   string
	}{
		{"no output file", map[string]string{"config": "create-issue:"}, nil, 2, "set the input output-file"},
		{"missing file", map[string]string{"output-file": "nowhere.ndjson"}, nil, 2, "nowhere.ndjson does not exist"},
		{"outside", map[string]string{"output-file": "../lines.ndjson"}, nil, 2, "outside"},
		{"directory", map[string]string{"output-file": "dir"}, nil, 2, "is a directory"},
		{"bad configuration", map[string]string{"output-file": "lines.ndjson", "config": "create-isue:"}, nil, 2, "config:1:1: "},
		{"bad mode", map[string]string{"output-file": "lines.ndjson", "mode": "aply"}, nil, 2, `did you mean "apply"?`},
		{"no token", map[string]string{"output-file": "lines.ndjson", "config": "create-issue:", "token": ""}, []string{"GITHUB_TOKEN="}, 2, "no token"},
		{"unreachable", map[string]string{"output-file": "lines.ndjson", "config": "add-issue-comment:"}, []string{"GITHUB_API_URL=http://127.0.0.1:1", "GITHUB_GRAPHQL_URL=http://127.0.0.1:1/graphql"}, 3, "127.0.0.1:1"},
	}) {
		t.Run(c.name, func(t *testing.T) {
			s := server(t, pullRequestFixture(), githubtest.Options{})
			ws := newWorkspace(t, map[string]string{"lines.ndjson": threeLines, "dir/x": ""})
			env := append(ws.env(workflowEnv(s, "pull_request", "pull_request.opened.json"), c.inputs), c.env...)
			res := run(t, ws.dir, env, "", "action")
			if res.code != c.code {
				t.Errorf("exit code %d, want %d", res.code, c.code)
			}
			if strings.Count(res.stdout, "::error ") != 1 || !strings.Contains(res.stdout, c.says) {
				t.Errorf("the log does not say %q, or does not have exactly one error:\n%s%s", c.says, res.stdout, res.stderr)
			}
			if summary := readFile(t, ws.summary); !strings.Contains(summary, "## Airlock stopped") {
				t.Errorf("the summary does not say that it stopped:\n%s", summary)
			}
			if len(s.Writes()) != 0 {
				t.Errorf("%d writes", len(s.Writes()))
			}
		})
	}
}

// TestActionShortSecrets asserts that the owner learns of values that are too short to be looked
// for, unless they have neither letters nor digits.
func TestActionShortSecrets(t *testing.T) {
	t.Parallel()
	ws := newWorkspace(t, map[string]string{"lines.ndjson": threeLines})
	env := ws.env(workflowEnv(nil, "pull_request", "pull_request.opened.json"), map[string]string{
		"mode": "collect", "output-file": "lines.ndjson", "secrets": "12345\n{\nlong enough\nabc\n",
	})
	res := run(t, ws.dir, env, "", "action")
	want := "::warning title=Airlock::value 1 of the input secrets, value 4 of the input secrets: a value of less than 6 bytes is not looked for"
	if res.code != 0 || !strings.Contains(res.stdout, want) {
		t.Errorf("exit code %d; the log lacks %q:\n%s", res.code, want, res.stdout)
	}
}

// TestActionAppliesTheLinesOfAVariable asserts that mode apply reads the lines that a variable names,
// where there is no agent output of another job.
func TestActionAppliesTheLinesOfAVariable(t *testing.T) {
	t.Parallel()
	s := server(t, pullRequestFixture(), githubtest.Options{})
	ws := newWorkspace(t, map[string]string{"lines.ndjson": threeLines})
	env := append(ws.env(workflowEnv(s, "pull_request", "pull_request.opened.json"), map[string]string{
		"mode": "apply", "config": "add-issue-comment:\n",
	}), "GH_AW_SAFE_OUTPUTS="+filepath.Join(ws.dir, "lines.ndjson"))
	if res := run(t, ws.dir, env, "", "action"); len(s.Writes()) != 1 {
		t.Errorf("exit code %d, %d writes\n%s", res.code, len(s.Writes()), res.stdout)
	}
}

// TestActionWithoutOutputs asserts that a step whose outputs cannot be set stops before it writes
// anything, in the modes all, collect and apply, and reports why where people look.
func TestActionWithoutOutputs(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"all", "collect", "apply"} {
		for variable, says := range map[string]string{"GITHUB_OUTPUT=": "GITHUB_OUTPUT is not set", "GITHUB_OUTPUT=/nowhere/output": "does not exist"} {
			s := server(t, pullRequestFixture(), githubtest.Options{})
			ws := newWorkspace(t, map[string]string{"lines.ndjson": threeLines})
			env := append(ws.env(workflowEnv(s, "pull_request", "pull_request.opened.json"), map[string]string{
				"mode": mode, "output-file": "lines.ndjson", "config": "add-issue-comment:\n",
			}), variable)
			res := run(t, ws.dir, env, "", "action")
			summary := readFile(t, ws.summary)
			if res.code != 3 || len(s.Writes()) != 0 || strings.Count(res.stdout, says) != 1 || !strings.Contains(summary, "Nothing was applied.") || !strings.Contains(summary, says) {
				t.Errorf("mode %s, %s: exit code %d, %d writes\n%s\n%s", mode, variable, res.code, len(s.Writes()), res.stdout, summary)
			}
		}
	}
}

// TestActionReportsWhatWasDone asserts that the report of a failure after the last write
// does not claim that nothing was applied.
func TestActionReportsWhatWasDone(t *testing.T) {
	t.Parallel()
	s := server(t, pullRequestFixture(), githubtest.Options{})
	ws := newWorkspace(t, map[string]string{"lines.ndjson": threeLines, ".airlock/results.json/x": ""})
	res := run(t, ws.dir, ws.env(workflowEnv(s, "pull_request", "pull_request.opened.json"), map[string]string{
		"output-file": "lines.ndjson", "config": "add-issue-comment:\n",
	}), "", "action")
	summary := readFile(t, ws.summary)
	if res.code != 3 || !strings.Contains(res.stdout, "the outputs cannot be set, this log says what was done") {
		t.Errorf("exit code %d\n%s", res.code, res.stdout)
	}
	if len(s.Writes()) != 1 || strings.Contains(summary, "Nothing was applied") || !strings.Contains(summary, "### Done") {
		t.Errorf("%d writes, and the summary is:\n%s", len(s.Writes()), summary)
	}
}

// TestActionNotConfigured asserts that a first try without a configuration shows a configuration
// and permissions to paste.
func TestActionNotConfigured(t *testing.T) {
	t.Parallel()
	s := server(t, pullRequestFixture(), githubtest.Options{})
	ws := newWorkspace(t, map[string]string{"lines.ndjson": threeLines})
	res := run(t, ws.dir, ws.env(workflowEnv(s, "pull_request", "pull_request.opened.json"), map[string]string{"output-file": "lines.ndjson", "fail-on": "error"}), "", "action")
	if res.code != 0 || len(s.Writes()) != 0 {
		t.Errorf("exit code %d, %d writes\n%s", res.code, len(s.Writes()), res.stdout)
	}
	summary := readFile(t, ws.summary)
	for _, want := range []string{
		"nothing was written", "There is no configuration", "```yaml\nadd-issue-comment:\nadd-issue-label:\n```",
		"```yaml\npermissions:\n  contents: read\n  pull-requests: write\n```", "POST /repos/Codertocat/Hello-World/issues/2/comments",
	} {
		if !strings.Contains(summary, want) {
			t.Errorf("the summary lacks %q:\n%s", want, summary)
		}
	}
}

// TestActionLacksAPermission asserts that the missing permission is named, that the block to
// paste is shown, and that the summary names the tool that the agent lacked.
func TestActionLacksAPermission(t *testing.T) {
	t.Parallel()
	f := pullRequestFixture()
	f.Tokens[0].Permissions = map[string]string{"contents": "read", "issues": "read", "pull_requests": "read", "metadata": "read"}
	s := server(t, f, githubtest.Options{})
	ws := newWorkspace(t, map[string]string{"lines.ndjson": `{"type":"create-issue","title":"T","body":"B"}` + "\n" + `{"type":"missing_tool","tool":"docker","reason":"no daemon"}` + "\n"})
	res := run(t, ws.dir, ws.env(workflowEnv(s, "pull_request", "pull_request.opened.json"), map[string]string{"output-file": "lines.ndjson", "config": "create-issue:\n"}), "", "action")
	summary := readFile(t, ws.summary)
	if res.code != 1 || !strings.Contains(res.stdout, "the token lacks the permission issues: write") || !strings.Contains(summary, "```yaml\npermissions:\n  contents: read\n  issues: write\n```") {
		t.Errorf("exit code %d\n%s\n%s", res.code, res.stdout, summary)
	}
	if !strings.Contains(summary, `the agent lacked the tool "docker": no daemon`) {
		t.Errorf("the summary does not name the tool that the agent lacked:\n%s", summary)
	}
}

// TestActionEnterprise asserts that a step of an Enterprise server needs no GITHUB_GRAPHQL_URL: the
// address follows from GITHUB_API_URL.
func TestActionEnterprise(t *testing.T) {
	t.Parallel()
	s := server(t, pullRequestFixture(), githubtest.Options{Enterprise: true})
	ws := newWorkspace(t, map[string]string{"lines.ndjson": threeLines})
	env := append(ws.env(workflowEnv(s, "pull_request", "pull_request.opened.json"), map[string]string{"output-file": "lines.ndjson", "config": "add-issue-comment:\n"}),
		"GITHUB_GRAPHQL_URL=", "GITHUB_SERVER_URL=https://ghe.example")
	res := run(t, ws.dir, env, "", "action")
	if res.code != 0 || len(s.Writes()) != 1 {
		t.Errorf("exit code %d, %d writes\n%s", res.code, len(s.Writes()), res.stdout)
	}
}
