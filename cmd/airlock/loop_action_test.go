package main_test

import (
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/githubtest"
)

// TestActionLoop takes the first turn of a fix loop with the findings of an earlier job, then
// one without news, and one with a secret that the log was not signed with.
func TestActionLoop(t *testing.T) {
	t.Parallel()
	h := newHosted(t)
	h.server.Change(func(f *githubtest.Fixture) { f.Issues[1].Pull.Head.SHA = h.start })
	findings := `{"version":1,"repository":"Codertocat/Hello-World","pull_request":2,"head_sha":"` + h.start + `","output":{"status":"fail","execution_time_ms":1,"total_retries":0,"checks":{` +
		`"formatter":{"status":"pass","issues":[],"retry_count":0,"command":"","execution_time_ms":0},"linter":{"status":"pass","issues":[],"retry_count":0,"command":"","execution_time_ms":0},` +
		`"build":{"status":"fail","errors":["README.md is not code"],"retry_count":0,"command":"make","execution_time_ms":0},"tests":{"status":"pass","failing_count":0,"retry_count":0,"command":"","execution_time_ms":0},` +
		`"code_review":{"status":"pass","findings":[],"severity":"none","execution_time_ms":0},"security_review":{"status":"pass","vulnerabilities":[],"severity":"none","execution_time_ms":0}}},` +
		`"checks":[],"findings":[],"rules":[],"suppressed":[],"skipped_files":[],"missing_tools":[],"notes":[]}`
	turn := func(more map[string]string) (result, workspace) {
		ws := newWorkspace(t, map[string]string{"findings.json": findings})
		inputs := map[string]string{"mode": "loop", "findings": "findings.json"}
		for name, value := range more {
			inputs[name] = value
		}
		return run(t, ws.dir, ws.env(h.env(t), inputs), "", "action"), ws
	}
	res, ws := turn(nil)
	if res.code != 0 {
		t.Fatalf("exit code %d\n%s%s", res.code, res.stdout, res.stderr)
	}
	out := ws.outputs(t)
	if out["loop-status"] != "AWAITING_FIX" || out["loop-outcome"] != "" || !strings.Contains(out["fix-request"], "FIXREQ-2-1") {
		t.Errorf("outputs %q", out)
	}
	comments := h.server.State().Issues[1].Comments
	if len(comments) != 2 || !strings.HasPrefix(comments[0].Body, "### Fix loop: AWAITING_FIX (build)") || !strings.HasPrefix(comments[1].Body, "## Fix Request\n") {
		t.Fatalf("%d comments", len(comments))
	}
	if summary := ws.read(t, ws.summary); !strings.Contains(summary, "```mermaid\nsequenceDiagram\n") {
		t.Errorf("the summary has no diagram:\n%s", summary)
	}
	writes := len(h.server.Writes())
	if res, ws = turn(nil); res.code != 0 || len(h.server.Writes()) != writes || ws.outputs(t)["fix-request"] != "" {
		t.Errorf("a turn without news: exit code %d, %d writes\n%s", res.code, len(h.server.Writes())-writes, res.stdout)
	}
	for says, inputs := range map[string]map[string]string{
		"was not written by Airlock": {"loop-secret": "correct horse battery"},
		"there is no limit":          {"loop-limits": "speed=9"},
		"cannot be staged":           {"staged": "true"},
	} {
		if res, _ := turn(inputs); res.code < 2 || !strings.Contains(res.stdout, says) {
			t.Errorf("%v: exit code %d\n%s", inputs, res.code, res.stdout)
		}
	}
}
