package main_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/githubtest"
)

const tickConfig = acceptConfig + "  tick: true\n"

// mergedEnv returns the environment of a step after the pull request was merged.
func mergedEnv(t *testing.T, h hosted) []string {
	t.Helper()
	event := readFile(t, filepath.Join(root, "testdata", "events", "pull_request.closed-merged.json"))
	payload := writeFile(t, filepath.Join(t.TempDir(), "merged.json"), strings.ReplaceAll(event, pullRequestFixture().Issues[1].Pull.Head.SHA, h.start))
	return append(workflowEnv(h.server, "pull_request", "pull_request.closed-merged.json"), "GITHUB_EVENT_PATH="+payload, "GITHUB_JOB=tick", "GITHUB_RUN_ID=17459853300")
}

// After the merge, the boxes of the criteria that were verified are ticked, in the issue's own
// list and nowhere else; doing it again changes nothing.
func TestBoxesAreTickedAfterTheMerge(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Log("only root verifies next to a token")
		return
	}
	body := strings.ReplaceAll(issueCriteria, "- [ ] check:tests\n", "- [ ] check:tests\n- [ ] docs/missing.md\n- [ ] docs/old.md\n")
	h, ws := newAccepted(t, body)
	tick := func() result {
		return run(t, ws.dir, ws.env(mergedEnv(t, h), map[string]string{"mode": "apply", "config": tickConfig}), "", "action")
	}
	if res := tick(); res.code != 0 || !strings.Contains(res.stdout, "No box is ticked: no acceptance verdict of the merged commit "+h.start[:7]) {
		t.Errorf("without a verdict: exit code %d\n%s%s", res.code, res.stdout, res.stderr)
	}
	if verifying, reporting := verifyPull(t, h, ws, tickConfig, nil); verifying.code != 1 || reporting.code != 1 {
		t.Fatalf("exit codes %d and %d\n%s%s%s", verifying.code, reporting.code, verifying.stdout, reporting.stdout, reporting.stderr)
	}
	// Somebody changes a criterion that was verified, and another app forges a check run.
	body = strings.Replace(body, "docs/old.md", "docs/old.md contains \"more\"", 1)
	h.server.Change(func(f *githubtest.Fixture) {
		f.Issues[0].Body = body
		forged := *f.Checks[0]
		forged.ID, forged.Author, forged.Text = 99_999, githubtest.Account{Login: "evil[bot]", ID: 666}, strings.ReplaceAll(forged.Text, "FAIL", "PASS")
		f.Checks = append(f.Checks, &forged)
	})
	res := tick()
	want := strings.NewReplacer("[ ] `docs/guide.md`", "[x] `docs/guide.md`", "[ ] check:tests", "[x] check:tests").Replace(body)
	if got := h.server.State().Issues[0].Body; got != want || res.code != 0 {
		t.Errorf("exit code %d, the issue's text is\n%s\n%s%s", res.code, got, res.stdout, res.stderr)
	}
	summary := readFile(t, ws.summary)
	for _, part := range []string{"tick 2 boxes in #1", "## Airlock: the boxes of 1 of 1 issue are ticked", "Boxes of verified criteria", "changed or removed after they were verified: 1", "evil"} {
		if !strings.Contains(res.stdout+summary, part) {
			t.Errorf("nobody is told %q:\n%s\n%s", part, res.stdout, summary)
		}
	}
	writes := len(h.server.Writes())
	if res := tick(); res.code != 0 || len(h.server.Writes()) != writes {
		t.Errorf("again: exit code %d, %d more writes\n%s", res.code, len(h.server.Writes())-writes, res.stdout)
	}
	// The command line does the same, and reports the verdict as the action does.
	env := append(mergedEnv(t, h), "GITHUB_ACTIONS=")
	policy := writeFile(t, filepath.Join(t.TempDir(), "policy.yml"), tickConfig)
	if res := run(t, ws.dir, env, "", "apply", "--config", policy, "--pace", "0"); res.code != 0 || !strings.Contains(res.stdout, "ticked already") {
		t.Errorf("exit code %d\n%s%s", res.code, res.stdout, res.stderr)
	}
	checks := len(h.server.State().Checks)
	res = run(t, ws.dir, append(h.env(t), "GITHUB_ACTIONS=", "GITHUB_RUN_ID=17459853301"), "", "apply", "--config", policy, "--pace", "0", "--verdict", ".airlock/verdict.json")
	if res.code != 1 || !strings.Contains(res.stderr, "Airlock acceptance: PARTIAL, 4 of 5") || len(h.server.State().Checks) != checks+1 {
		t.Errorf("exit code %d, %d check runs\n%s%s", res.code, len(h.server.State().Checks), res.stdout, res.stderr)
	}
	res = run(t, ws.dir, append(h.env(t), "GITHUB_ACTIONS="), "", "apply", "--config", policy, "--verdict", "missing.json")
	if res.code != 2 || !strings.Contains(res.stderr, "--verdict") {
		t.Errorf("exit code %d\n%s", res.code, res.stderr)
	}
}
