package main_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestActionChecksWhatTheEventIsAbout runs the action where the workspace holds the
// base, not the pull request: nothing is told of the pull request, least of all that
// it is good.
func TestActionChecksWhatTheEventIsAbout(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		event, payload, mode string // payload: "" is that of a pull request
		code                 int
		says                 string
	}{
		"a comment":           {"issue_comment", "issue_comment.created-pull-request.json", "all", 0, `the event "issue_comment" does not name the commits of pull request #2`},
		"a push":              {"push", "push.json", "all", 0, `the event "push" is not about a pull request`},
		"pull_request_target": {"pull_request_target", "", "all", 2, "contains nothing of pull request #2"},
		"target, only checks": {"pull_request_target", "", "check", 2, "contains nothing of pull request #2"},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHosted(t)
			ws := newWorkspace(t, nil)
			h.fill(t, ws.dir, "master")
			env := h.env(t, "GITHUB_EVENT_NAME="+c.event)
			if c.payload != "" {
				env = append(env, "GITHUB_EVENT_PATH="+filepath.Join(root, "testdata", "events", c.payload))
			}
			res := run(t, ws.dir, ws.env(env, map[string]string{"mode": c.mode, "config": checksConfig}), "", "action")
			if res.code != c.code || !strings.Contains(res.stdout, c.says) || len(h.server.Writes()) != 0 {
				t.Errorf("exit code %d, %d writes\n%s%s", res.code, len(h.server.Writes()), res.stdout, res.stderr)
			}
		})
	}
}

// TestActionRefusesFindingsOfAnotherRepository that another job or a stranger left.
func TestActionRefusesFindingsOfAnotherRepository(t *testing.T) {
	t.Parallel()
	h := newHosted(t)
	ws := newWorkspace(t, nil)
	for repository, code := range map[string]int{"codertocat/hello-world": 0, "mallory/hello-world": 2} {
		h.server.ResetRequests()
		text := strings.Replace(wellDocument, "{", `{"repository": "`+repository+`", `, 1)
		if err := os.WriteFile(filepath.Join(ws.dir, "findings.json"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		res := run(t, ws.dir, ws.env(h.env(t), map[string]string{"mode": "apply", "config": checksConfig, "findings": "findings.json"}), "", "action")
		if res.code != code || (len(h.server.Writes()) == 0) != (code == 2) {
			t.Errorf("%s: exit code %d, %d writes\n%s%s", repository, res.code, len(h.server.Writes()), res.stdout, res.stderr)
		}
	}
}

// wellDocument says that every check passed, as anybody can write it.
const wellDocument = `{"version": 1, "output": {"status": "pass", "execution_time_ms": 1, "total_retries": 0, "checks": {
  "formatter": {"status": "pass", "issues": [], "retry_count": 0, "command": "", "execution_time_ms": 1},
  "linter": {"status": "pass", "issues": [], "retry_count": 0, "command": "", "execution_time_ms": 1},
  "build": {"status": "pass", "errors": [], "retry_count": 0, "command": "", "execution_time_ms": 1},
  "tests": {"status": "pass", "failing_count": 0, "retry_count": 0, "command": "", "execution_time_ms": 1},
  "code_review": {"status": "pass", "findings": [], "severity": "none", "execution_time_ms": 1},
  "security_review": {"status": "pass", "vulnerabilities": [], "severity": "none", "execution_time_ms": 1}}},
  "checks": [], "findings": []}`
