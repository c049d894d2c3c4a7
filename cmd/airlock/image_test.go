//go:build image

package main_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-airlock/airlock/internal/githubtest"
)

// TestImageAll runs the action on the real output of a real agentic workflow.
func TestImageAll(t *testing.T) {
	h := newHosted(t)
	s := h.server
	lines, err := os.ReadFile(filepath.Join(root, "testdata", "outputs", "ok", "custom-engine.ndjson"))
	if err != nil {
		t.Fatal(err)
	}
	j := newJob(t, s, "pull_request", "pull_request.opened.json", map[string]string{"out/lines.ndjson": string(lines)})
	j.write(filepath.Join(j.workflow, "event.json"), string(h.event(t)))
	j.env["GITHUB_SHA"] = h.start
	h.fill(t, j.workspace, "changes")
	h.write(t, j.workspace, "docs/new.md", "New.\n")
	j.input("output-file", "out/lines.ndjson", "config", everyKind)
	res := j.run()

	if res.code != 0 {
		t.Errorf("exit code %d, want 0: nothing failed\n%s%s", res.code, res.stdout, res.stderr)
	}
	assertWrites(t, s)
	assertState(t, s.State())
	if got := h.git.Run("diff", "--name-only", "changes~1", "changes"); got != "docs/new.md" {
		t.Errorf("the push changed %q", got)
	}
	assertOwnCommands(t, res.stdout, j.env["INPUT_TOKEN"])
	if res.stderr != "" {
		t.Errorf("standard error: %s", res.stderr)
	}
	out := j.outputs()
	want := map[string]string{
		"asked": "10", "applied": "10", "adopted": "0", "staged": "0", "denied": "0", "skipped": "0", "failed": "0", "rejected": "0", "dropped": "0",
		"agent-output": ".airlock/agent-output.json", "report": ".airlock/report.json", "results-file": ".airlock/results.json", "issue-number": "4",
		"discussion-number": "5", "pull-request-number": "3", "patch-file": "", "sarif-file": "",
	}
	for name, value := range want {
		if got, ok := out[name]; !ok || got != value {
			t.Errorf("output %s is %q (%t), want %q", name, got, ok, value)
		}
	}
	for _, name := range []string{"issue-url", "comment-url", "comment-id", "review-url", "review-id", "discussion-url", "sarif-id", "results", "pull-request-url"} {
		if out[name] == "" {
			t.Errorf("output %s is empty", name)
		}
	}
	if sha := h.git.SHA(out["branch"]); sha == "" || out["commit-sha"] != sha {
		t.Errorf("the branch %q is at %q, and commit-sha is %q", out["branch"], sha, out["commit-sha"])
	}
	for _, name := range []string{"agent-output", "report", "results-file", "plan-file"} {
		if path := out[name]; filepath.IsAbs(path) || j.read(j.workspace, path) == "" {
			t.Errorf("output %s is %q", name, path)
		}
	}
	if summary := j.read(j.commands, "step_summary_1"); !strings.Contains(summary, "## Airlock: all 10 requests done") {
		t.Errorf("the summary:\n%s", summary)
	}
	for _, name := range []string{"set_env_1", "add_path_1", "save_state_1"} {
		if text := j.read(j.commands, name); text != "" {
			t.Errorf("%s: %q", name, text)
		}
	}
	j.assertOwned()
}

// TestImageInputs asserts where the step finds its input, and its exit codes.
func TestImageInputs(t *testing.T) {
	const config = "add-issue-comment:\nadd-issue-label:\n"
	for _, c := range []struct {
		name   string
		inputs []string
		env    map[string]string
		code   int
		says   string
		writes []string
	}{
		{name: "a path of the workspace, as the runner translates it", inputs: []string{"output-file", "/github/workspace/lines.ndjson"}, writes: []string{"issues/create-comment"}},
		{name: "a path of the runner's folder", inputs: []string{"output-file", "/github/runner_temp/agent/lines.ndjson"}, writes: []string{"issues/create-comment"}},
		{name: "the variable of agentic workflows", inputs: []string{"output-file", ""}, env: map[string]string{"GH_AW_SAFE_OUTPUTS": "/github/runner_temp/agent/lines.ndjson"}, writes: []string{"issues/create-comment"}},
		{name: "collect without a token", inputs: []string{"mode", "collect", "token", ""}},
		{name: "fail-on rejected", inputs: []string{"fail-on", "rejected"}, code: 1, writes: []string{"issues/create-comment"}},
		{name: "staged", inputs: []string{"staged", "true"}, says: "Airlock: "},
		{name: "no configuration", inputs: []string{"config", ""}, says: "Airlock: "},
		{name: "no token", inputs: []string{"token", ""}, code: 2, says: "no token"},
		{name: "wrong token", inputs: []string{"token", "ghs_WrongToken0123456789"}, code: 3, says: "Airlock stopped"},
		{name: "missing file", inputs: []string{"output-file", "none.ndjson"}, code: 2, says: "none.ndjson does not exist"},
		{name: "unreachable", env: map[string]string{"GITHUB_API_URL": "http://127.0.0.1:1", "GITHUB_GRAPHQL_URL": "http://127.0.0.1:1/graphql"}, code: 3, says: "127.0.0.1:1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := server(t, pullRequestFixture(), githubtest.Options{})
			j := newJob(t, s, "pull_request", "pull_request.opened.json", map[string]string{"lines.ndjson": twoLines})
			j.write(filepath.Join(j.temp, "agent", "lines.ndjson"), twoLines)
			j.input("config", config)
			j.input(c.inputs...)
			for name, value := range c.env {
				j.env[name] = value
			}
			res := j.run()
			if res.code != c.code || !strings.Contains(res.stdout, c.says) {
				t.Errorf("exit code %d, want %d with %q:\n%s%s", res.code, c.code, c.says, res.stdout, res.stderr)
			}
			var writes []string
			for _, w := range s.Writes() {
				writes = append(writes, w.Operation)
			}
			if diff := cmp.Diff(c.writes, writes); diff != "" {
				t.Errorf("writes (-want +got):\n%s", diff)
			}
			assertOwnCommands(t, res.stdout, j.env["INPUT_TOKEN"])
			j.assertOwned()
		})
	}
}
