package main_test

import (
	"strings"
	"testing"
)

// TestActionLoop takes turns of a fix loop, all with the same findings of an earlier job: the
// first, one without news, one with another secret than the log was signed with, and some with
// invalid inputs.
func TestActionLoop(t *testing.T) {
	t.Parallel()
	j := newLoopJobs(t)
	h := j.hosted
	runs := 0
	turn := func(more map[string]string) (result, workspace) {
		runs++
		event, payload := j.pushedBy("Codertocat")
		job := j.job(runs, event, payload, j.findings("README.md is not code"), more)
		return run(t, job.dir, job.environ, "", "action"), job.workspace
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
	if len(comments) != 2 || !strings.HasPrefix(comments[0].Body, "### Fix loop: AWAITING_FIX (build)") || !strings.Contains(comments[1].Body, "\n## Fix Request\n") {
		t.Fatalf("%d comments", len(comments))
	}
	if summary := readFile(t, ws.summary); !strings.Contains(summary, "```mermaid\nsequenceDiagram\n") {
		t.Errorf("the summary has no diagram:\n%s", summary)
	}
	writes := len(h.server.Writes())
	if res, ws = turn(nil); res.code != 0 || len(h.server.Writes()) != writes || ws.outputs(t)["fix-request"] != "" {
		t.Errorf("a turn without news: exit code %d, %d writes\n%s", res.code, len(h.server.Writes())-writes, res.stdout)
	}
	for says, inputs := range map[string]map[string]string{
		"was not written by Airlock": {"loop-secret": "correct horse battery"},
		"loop-dispatch needs loop-s": {"loop-dispatch": "airlock-fix"},
		"has 5 characters; give at":  {"loop-secret": "horse"},
		"there is no limit":          {"loop-limits": "speed=9"},
		"cannot be staged":           {"staged": "true"},
	} {
		if res, _ := turn(inputs); res.code < 2 || !strings.Contains(res.stdout, says) {
			t.Errorf("%v: exit code %d\n%s", inputs, res.code, res.stdout)
		}
	}
}
