package main_test

import (
	"encoding/pem"
	"io/fs"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/githubtest"
)

// chatty are variables that make a program print what it sends, or write it to a file.
// FILE stands for the path of a file.
var chatty = []string{
	"GODEBUG=http2debug=2,netdns=2,tlsmaxrsasize=16384", "GOTRACEBACK=crash", "DEBUG=*", "SSLKEYLOGFILE=FILE",
	"GIT_TRACE=FILE", "GIT_TRACE_CURL=FILE", "GIT_TRACE_CURL_NO_DATA=0", "GIT_CURL_VERBOSE=1", "GIT_TRACE_REDACT=0", "GIT_REDACT_COOKIES=", "GIT_TRACE_PACKET=FILE",
	"GIT_TRACE_PACKFILE=FILE", "GIT_TRACE_SETUP=FILE", "GIT_TRACE_REFS=FILE", "GIT_TRACE_PERFORMANCE=FILE", "GIT_TRACE2=FILE", "GIT_TRACE2_EVENT=FILE",
	"GIT_TRACE2_PERF=FILE", "GIT_TRACE2_ENV_VARS=GITHUB_TOKEN,INPUT_TOKEN,GIT_CONFIG_VALUE_0", "GIT_TRACE2_CONFIG_PARAMS=*", "GH_DEBUG=api", "CURL_VERBOSE=1", "LD_DEBUG=libs", "LD_DEBUG_OUTPUT=FILE",
}

// TestNoVariablePrintsTheToken asserts rules R8 and R14 of docs/security.md after an earlier step
// has set every variable that makes programs print what they send. It uses the API and a push by
// git, over TLS to a server that also offers HTTP/2.
func TestNoVariablePrintsTheToken(t *testing.T) {
	t.Parallel()
	git := newOrigin(map[string]string{"README.md": "# Hello\n"}, map[string]string{"README.md": "# Hello, World\nMore.\n"})(t)
	s := githubtest.New(t, pullRequestFixture(), githubtest.Options{Git: git})
	tls := httptest.NewUnstartedServer(s)
	tls.EnableHTTP2 = true
	tls.StartTLS()
	t.Cleanup(tls.Close)
	s.SetBaseURL(tls.URL)
	h := hosted{git, s, git.SHA("changes")}

	dir := t.TempDir()
	env := make([]string, len(chatty))
	for i, variable := range chatty {
		name, _, _ := strings.Cut(variable, "=")
		env[i] = strings.Replace(variable, "FILE", filepath.Join(dir, name), 1)
	}
	ws := newCodeWorkspace(t, h, askedPull+`{"type":"add-issue-comment","body":"Hello"}`+"\n", map[string]string{"docs/new.md": "New.\n"})
	authority := string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: tls.Certificate().Raw}))
	writeFile(t, filepath.Join(ws.dir, "ca.pem"), authority)
	res := run(t, ws.dir, ws.env(h.env(t, env...), map[string]string{
		"output-file": "lines.ndjson", "config": bothCodeKinds + "add-issue-comment:\n", "ca-file": "ca.pem", "log-level": "debug",
	}), "", "action")
	if out := ws.outputs(t); res.code != 0 || out["applied"] != "2" || out["branch"] == "" {
		t.Errorf("exit code %d, outputs %v\n%s%s", res.code, out, res.stdout, res.stderr)
	}
	for _, dir := range []string{dir, ws.dir, filepath.Dir(ws.output)} {
		err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			data, err := os.ReadFile(path)
			for _, form := range secretForms(secret) {
				if strings.Contains(string(data), form) {
					t.Errorf("%s contains the token as %s", path, form)
				}
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
}

// TestUndeclaredInputs asserts that an input that action.yml does not declare stops the step, apart
// from the runner's own entrypoint and args. An earlier step may have set it, because the runner
// does not overwrite it, or the name of a restriction may be misspelt. An image refuses to run
// without its action.yml, and refuses modes for which it was not built.
func TestUndeclaredInputs(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		inputs map[string]string
		args   []string
		code   int
		want   string
	}{
		{inputs: map[string]string{"entrypoint": "/bin/sh", "args": "x"}},
		{inputs: map[string]string{"stagd": "true"}, code: 2, want: `input stagd: Airlock has no such input; did you mean "staged"?`},
		{inputs: map[string]string{"github-token": secret}, code: 2, want: "input github-token: Airlock has no such input"},
		{inputs: map[string]string{"zz": ""}, code: 2, want: "input zz: Airlock has no such input. If a variable of the workflow"},
		{args: []string{"--image=gate"}, code: 2, want: "this image was started without its action.yml, so that an earlier step could set"},
		{args: []string{"--image=checks"}, inputs: map[string]string{"proxy": "http://127.0.0.1:1"}, code: 2, want: "use the action"},
		{args: []string{"--image=gate"}, inputs: everyInput(t, "mode", "check"), code: 2, want: "use agent-airlock/airlock instead of agent-airlock/airlock/actions/gate"},
		{args: []string{"--image=gate"}, inputs: everyInput(t, "config", checksConfig+"add-issue-comment:\n"), code: 2, want: "the image of the gate has no toolchains"},
		{args: []string{"--image=gate"}, inputs: everyInput(t, "config", "add-issue-comment:\n")},
		{args: []string{"--image=checks"}, inputs: everyInput(t, "config", "add-issue-comment:\n")},
	} {
		s := server(t, pullRequestFixture(), githubtest.Options{})
		ws := newWorkspace(t, map[string]string{"lines.ndjson": `{"type":"add-issue-comment","body":"Hello"}` + "\n"})
		inputs := map[string]string{"output-file": "lines.ndjson", "config": "add-issue-comment:\n"}
		for name, value := range c.inputs {
			if name != "output-file" {
				inputs[name] = value
			}
		}
		res := run(t, ws.dir, ws.env(workflowEnv(s, "pull_request", "pull_request.opened.json"), inputs), "", append([]string{"action"}, c.args...)...)
		if writes := len(s.Writes()); res.code != c.code || (writes == 0) != (c.code != 0) || !strings.Contains(res.stdout, c.want) {
			t.Errorf("%q %q: exit code %d, %d writes; want %d and %q\n%s%s", c.args, c.inputs, res.code, writes, c.code, c.want, res.stdout, res.stderr)
		}
	}
}

// everyInput returns all inputs that action.yml declares, with their defaults, as the runner sets
// them. The given input has the given value.
func everyInput(t *testing.T, name, value string) map[string]string {
	t.Helper()
	inputs := declaredInputs(t)
	inputs[name] = value
	return inputs
}
