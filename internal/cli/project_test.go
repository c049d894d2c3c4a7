package cli_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// project is a real clone for the checks.
type project struct{ dir string }

func newProject(t *testing.T) project {
	t.Helper()
	p := project{t.TempDir()}
	p.git(t, "init", "--quiet", "--initial-branch=main")
	return p
}

func (p project) git(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=x", "-c", "user.email=x@example.org"}, args...)...)
	cmd.Dir = p.dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %s: %v: %s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// commit writes files and returns the commit that holds them.
func (p project) commit(t *testing.T, files map[string]string) string {
	t.Helper()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(p.dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	p.git(t, "add", "-A")
	p.git(t, "commit", "--quiet", "-m", "x")
	return p.git(t, "rev-parse", "HEAD")
}

// pullEvent is the payload of a pull request between two commits.
func pullEvent(t *testing.T, base, head string) string {
	t.Helper()
	raw, err := os.ReadFile("../../testdata/events/pull_request.opened.json")
	if err != nil {
		t.Fatal(err)
	}
	var payload map[string]any
	if err := json.Unmarshal(raw, &payload); err != nil {
		t.Fatal(err)
	}
	pull := payload["pull_request"].(map[string]any)
	pull["base"].(map[string]any)["sha"], pull["head"].(map[string]any)["sha"] = base, head
	if raw, err = json.Marshal(payload); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(files(t, map[string]string{"event.json": string(raw)}), "event.json")
}

// found is what the tests read of a findings document.
type found struct {
	Head     string `json:"head_sha"`
	Findings []struct {
		Message   string
		Path      string
		StartLine int `json:"start_line"`
		Gating    bool
		Code      string
	}
	Notes []string

	file string
}

// check runs the checks of a pull request with a linter that prints what is in the
// file lint.json, and returns what it found.
func (p project) check(t *testing.T, event string, args ...string) (found, int, string) {
	t.Helper()
	dir := files(t, map[string]string{"checks.yml": "checks:\n  format-command: 'true'\n  lint-command: '! cat lint.json'\n  build-command: 'true'\n  test-command: 'true'\n  code-review: false\n  security-review: false\n"})
	out := filepath.Join(dir, "findings.json")
	code, stdout, stderr := world{env: map[string]string{"PATH": os.Getenv("PATH")}}.run(t,
		append([]string{"check", "--dir", p.dir, "--config", filepath.Join(dir, "checks.yml"), "--event", event, "--event-name", "pull_request", "--findings", out}, args...)...)
	doc := found{file: out}
	raw, err := os.ReadFile(out)
	if err == nil {
		err = json.Unmarshal(raw, &doc)
	}
	if err != nil {
		t.Fatalf("%v\n%s%s", err, stdout, stderr)
	}
	return doc, code, stderr
}
