package cli_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// clone makes a workspace with a base commit and a pull request's commit, and the
// event's payload that names both.
func clone(t *testing.T, base, head map[string]string) (dir, payload string) {
	t.Helper()
	dir = t.TempDir()
	git := func(args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "git", args...)
		cmd.Dir = dir
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "GIT_CONFIG_NOSYSTEM=1",
			"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com"}
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	commit := func(texts map[string]string) string {
		for name, text := range texts {
			path := filepath.Join(dir, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		git("add", ".")
		git("commit", "-q", "-m", "c")
		return git("rev-parse", "HEAD")
	}
	git("init", "-q")
	before := commit(base)
	after := commit(head)
	raw, err := os.ReadFile(event(t))
	if err != nil {
		t.Fatal(err)
	}
	text := strings.NewReplacer("f95f852bd8fca8fcc58a9a2d6c842781e32a215e", before, "ec26c3e57ca3a959ca5aad62de7213c562f8c821", after).Replace(string(raw))
	return dir, filepath.Join(files(t, map[string]string{"event.json": text}), "event.json")
}

// TestActionReadsThePolicyOfTheBaseCommit is rule R10 where there is no token: the
// policy of git's objects rules, not the one that the pull request's tree holds.
// The diff and the lines of findings come from the clone too.
func TestActionReadsThePolicyOfTheBaseCommit(t *testing.T) {
	const policy = ".github/airlock.yml"
	dir, payload := clone(t,
		map[string]string{policy: "create-pull-request-review-comment:\ncreate-security-report:\n", "main.go": "package main\n"},
		map[string]string{policy: "add-issue-comment:\n", "main.go": "package main\n\nfunc main() {}\n",
			"lines.ndjson": line + `{"type":"create-pull-request-review-comment","path":"main.go","line":3,"body":"Empty"}` + "\n" +
				`{"type":"create-pull-request-review-comment","path":"main.go","line":90,"body":"Outside"}` + "\n" +
				`{"type":"create-security-report","file":"main.go","line":3,"severity":"error","message":"Bad"}` + "\n"})
	env := map[string]string{"GITHUB_WORKSPACE": dir, "GITHUB_EVENT_PATH": payload, "GITHUB_SHA": "0000000000000000000000000000000000000001", "GITHUB_REF": "refs/pull/2/merge"}
	inputs := map[string]string{"output-file": "lines.ndjson", "config-file": "./" + policy, "staged": "true", "log-level": "debug"}
	code, log, _, summary := step(t, env, inputs, nil)
	if code != 0 || !strings.Contains(summary, "**kind-not-enabled**") || !strings.Contains(log, "(3 planned, 1 denied)") {
		t.Errorf("exit code %d\n%s\n%s", code, log, summary)
	}
	// The anchors were checked, so one comment goes into the review's body.
	plan, err := os.ReadFile(filepath.Join(dir, ".airlock", "plan.json"))
	if err != nil || strings.Contains(string(plan), "anchors are unchecked") || !strings.Contains(string(plan), "\"**`main.go`, line 90**") {
		t.Errorf("%v\n%s", err, plan)
	}

	inputs["config-file"] = ".github/none.yml"
	if code, log, _, _ := step(t, env, inputs, nil); code != 2 || !strings.Contains(log, "there is no such file") {
		t.Errorf("a policy that is not there: exit code %d\n%s", code, log)
	}
}
