package main_test

import (
	"encoding/pem"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/githubtest"
)

// TestActionWithoutOutputs asserts that a step whose outputs cannot be set stops
// before it writes anything, in every mode, and says so where people look.
func TestActionWithoutOutputs(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"all", "collect", "apply"} {
		for variable, says := range map[string]string{"GITHUB_OUTPUT=": "GITHUB_OUTPUT is not set", "GITHUB_OUTPUT=/nowhere/output": "does not exist"} {
			s := server(t, pullRequestFixture(), githubtest.Options{})
			ws := newWorkspace(t, map[string]string{"lines.ndjson": twoLines})
			env := append(ws.env(workflowEnv(s, "pull_request", "pull_request.opened.json"), map[string]string{
				"mode": mode, "output-file": "lines.ndjson", "config": "add-issue-comment:\n",
			}), variable)
			res := run(t, ws.dir, env, "", "action")
			summary := ws.read(t, ws.summary)
			if res.code != 3 || len(s.Writes()) != 0 || strings.Count(res.stdout, says) != 1 || !strings.Contains(summary, "Nothing was applied.") || !strings.Contains(summary, says) {
				t.Errorf("mode %s, %s: exit code %d, %d writes\n%s\n%s", mode, variable, res.code, len(s.Writes()), res.stdout, summary)
			}
		}
	}
}

// TestActionTellsWhatWasDone asserts that a failure behind the last write does not
// claim that nothing was applied.
func TestActionTellsWhatWasDone(t *testing.T) {
	t.Parallel()
	s := server(t, pullRequestFixture(), githubtest.Options{})
	ws := newWorkspace(t, map[string]string{"lines.ndjson": twoLines, ".airlock/results.json/x": ""})
	res := run(t, ws.dir, ws.env(workflowEnv(s, "pull_request", "pull_request.opened.json"), map[string]string{
		"output-file": "lines.ndjson", "config": "add-issue-comment:\n",
	}), "", "action")
	summary := ws.read(t, ws.summary)
	if res.code != 3 || !strings.Contains(res.stdout, "the outputs cannot be set, this log says what was done") {
		t.Errorf("exit code %d\n%s", res.code, res.stdout)
	}
	if len(s.Writes()) != 1 || strings.Contains(summary, "Nothing was applied") || !strings.Contains(summary, "### Done") {
		t.Errorf("%d writes, and the summary is:\n%s", len(s.Writes()), summary)
	}
}

// TestActionNotConfigured asserts that a first try shows what to paste.
func TestActionNotConfigured(t *testing.T) {
	t.Parallel()
	s := server(t, pullRequestFixture(), githubtest.Options{})
	ws := newWorkspace(t, map[string]string{"lines.ndjson": twoLines})
	res := run(t, ws.dir, ws.env(workflowEnv(s, "pull_request", "pull_request.opened.json"), map[string]string{"output-file": "lines.ndjson", "fail-on": "error"}), "", "action")
	if res.code != 0 || len(s.Writes()) != 0 {
		t.Errorf("exit code %d, %d writes\n%s", res.code, len(s.Writes()), res.stdout)
	}
	summary := ws.read(t, ws.summary)
	for _, want := range []string{
		"nothing was written", "There is no configuration", "```yaml\nadd-issue-comment:\nadd-issue-label:\n```",
		"```yaml\npermissions:\n  contents: read\n  pull-requests: write\n```", "POST /repos/Codertocat/Hello-World/issues/2/comments",
	} {
		if !strings.Contains(summary, want) {
			t.Errorf("the summary lacks %q:\n%s", want, summary)
		}
	}
}

// TestActionLacksAPermission asserts that the missing permission is named, and that
// the block to paste is shown.
func TestActionLacksAPermission(t *testing.T) {
	t.Parallel()
	f := pullRequestFixture()
	f.Tokens[0].Permissions = map[string]string{"contents": "read", "issues": "read", "pull_requests": "read", "metadata": "read"}
	s := server(t, f, githubtest.Options{})
	ws := newWorkspace(t, map[string]string{"lines.ndjson": `{"type":"create-issue","title":"T","body":"B"}` + "\n" + `{"type":"missing_tool","tool":"docker","reason":"no daemon"}` + "\n"})
	res := run(t, ws.dir, ws.env(workflowEnv(s, "pull_request", "pull_request.opened.json"), map[string]string{"output-file": "lines.ndjson", "config": "create-issue:\n"}), "", "action")
	summary := ws.read(t, ws.summary)
	if res.code != 1 || !strings.Contains(res.stdout, "the token lacks the permission issues: write") || !strings.Contains(summary, "```yaml\npermissions:\n  contents: read\n  issues: write\n```") {
		t.Errorf("exit code %d\n%s\n%s", res.code, res.stdout, summary)
	}
	if !strings.Contains(summary, `the agent lacked the tool "docker": no daemon`) {
		t.Errorf("the summary does not name the tool that the agent lacked:\n%s", summary)
	}
}

// TestActionEnterprise reaches both of an Enterprise server's addresses with only
// the first one known.
func TestActionEnterprise(t *testing.T) {
	t.Parallel()
	s := server(t, pullRequestFixture(), githubtest.Options{Enterprise: true})
	ws := newWorkspace(t, map[string]string{"lines.ndjson": twoLines})
	env := append(ws.env(workflowEnv(s, "pull_request", "pull_request.opened.json"), map[string]string{"output-file": "lines.ndjson", "config": "add-issue-comment:\n"}),
		"GITHUB_GRAPHQL_URL=", "GITHUB_SERVER_URL=https://ghe.example")
	res := run(t, ws.dir, env, "", "action")
	if res.code != 0 || len(s.Writes()) != 1 {
		t.Errorf("exit code %d, %d writes\n%s", res.code, len(s.Writes()), res.stdout)
	}
}

// TestCertificates is a private authority, in a file that is larger than a
// configuration may be.
func TestCertificates(t *testing.T) {
	t.Parallel()
	s := githubtest.New(t, pullRequestFixture(), githubtest.Options{})
	ts := httptest.NewTLSServer(s)
	t.Cleanup(ts.Close)
	s.SetBaseURL(ts.URL)
	authority := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: ts.Certificate().Raw})
	dir := t.TempDir()
	for name, text := range map[string]string{
		"ca.pem":       strings.Repeat("# the bundle of an operating system\n", 40_000) + string(authority),
		"lines.ndjson": `{"type":"add-issue-comment","body":"Hello"}` + "\n",
		"policy.yml":   "add-issue-comment:\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	env := append(workflowEnv(nil, "pull_request", "pull_request.opened.json"), "GITHUB_API_URL="+s.APIURL())
	args := []string{"apply", "--pace=0s", "--input", "lines.ndjson", "--config", "policy.yml"}
	if res := run(t, dir, append(env, "SSL_CERT_FILE=ca.pem"), "", args...); res.code != 3 || len(s.Writes()) != 0 {
		t.Errorf("the certificates of the environment were trusted without --trust-env: exit code %d\n%s", res.code, res.stderr)
	}
	for _, c := range []struct {
		env  []string
		args []string
	}{
		{env, append(args, "--ca-file", "ca.pem")},
		{append(env, "SSL_CERT_FILE=ca.pem", "GITHUB_RUN_ID=2"), append(args, "--trust-env")},
	} {
		s.ResetRequests()
		if res := run(t, dir, c.env, "", c.args...); res.code != 0 || len(s.Writes()) != 1 {
			t.Errorf("airlock %v: exit code %d, %d writes\n%s", c.args, res.code, len(s.Writes()), res.stderr)
		}
	}
	if res := run(t, dir, env, "", append(args, "--ca-file", ".")...); res.code != 2 || !strings.Contains(res.stderr, "--ca-file: . is a directory") {
		t.Errorf("a directory: exit code %d\n%s", res.code, res.stderr)
	}
}
