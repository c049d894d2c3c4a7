//go:build image

package main_test

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestImageChecks is one job that checks a pull request and reports, in the
// container of an action: the tests' command shows what the code can see.
func TestImageChecks(t *testing.T) {
	h, _ := newChecked(t)
	j := newJob(t, h.server, "pull_request", "pull_request.opened.json", nil)
	j.write(filepath.Join(j.workflow, "event.json"), string(h.event(t)))
	j.env["GITHUB_SHA"] = h.start
	h.fill(t, j.workspace, "changes")
	h.write(t, j.workspace, "lines.ndjson", `{"type": "add_comment", "body": "Looks good."}`+"\n")
	j.input("output-file", "lines.ndjson", "config", checksConfig+"  format-command: test -f shop.go\nadd-issue-comment:\n")
	res := j.run()

	if res.code != 1 {
		t.Errorf("exit code %d, want 1: a check failed\n%s%s", res.code, res.stdout, res.stderr)
	}
	assertOwnCommands(t, res.stdout, j.env["INPUT_TOKEN"])
	out := j.outputs()
	if out["checks-status"] != "fail" || out["findings-file"] != ".airlock/findings.json" || out["applied"] != "1" {
		t.Errorf("outputs: %q", out)
	}
	if findings := j.read(j.workspace, out["findings-file"]); !strings.Contains(findings, `65532\n0"`) {
		t.Errorf("the tests saw more than they may:\n%s", findings)
	}
	var checks, agents int
	for _, c := range h.server.State().Issues[1].Comments {
		if strings.Contains(c.Body, "Airlock checks: ") {
			checks++
		} else if strings.HasPrefix(c.Body, "Looks good.") {
			agents++
		}
	}
	if checks != 1 || agents != 1 {
		t.Errorf("%d comments of the checks and %d of the agent", checks, agents)
	}
	if summary := j.read(j.commands, "step_summary_1"); !strings.Contains(summary, "## ❌ Airlock checks: ") || !strings.Contains(summary, "What the checks had to say") {
		t.Errorf("the summary:\n%s", summary)
	}
	j.assertOwned()
}
