package cli_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/githubtest"
	"github.com/google/go-cmp/cmp"
)

// TestApplyRefusesFindings asserts that --findings refuses a file that is not a findings document,
// and one that does not exist.
func TestApplyRefusesFindings(t *testing.T) {
	dir := files(t, map[string]string{"none.json": `{"version": 1}`, "policy.yml": "checks:\n"})
	code, _, stderr := process{env: map[string]string{}}.run(t, "apply", "--dry-run", "--event", event(t), "--config", filepath.Join(dir, "policy.yml"), "--findings", filepath.Join(dir, "none.json"))
	if code != 2 || !strings.Contains(stderr, "it is not a findings document") || !strings.Contains(stderr, "$.output") {
		t.Errorf("exit code %d\n%s", code, stderr)
	}
	code, _, stderr = process{env: map[string]string{}}.run(t, "apply", "--dry-run", "--event", event(t), "--findings", filepath.Join(dir, "gone.json"))
	if code != 2 || !strings.Contains(stderr, "--findings: ") {
		t.Errorf("exit code %d\n%s", code, stderr)
	}
}

// TestApplyShowsNoPartOfASecret asserts that secrets in a document are masked before any of
// its texts is cut or reformatted.
func TestApplyShowsNoPartOfASecret(t *testing.T) {
	p := newProject(t)
	base := p.commit(t, map[string]string{"package.json": "{}", "a.js": "one\n", "lint.json": "[]"})
	p.git(t, "checkout", "--quiet", "-b", "topic")
	payload := pullEvent(t, base, p.commit(t, map[string]string{"a.js": "one\ntwo\n"}))
	doc, _, _ := p.check(t, payload)
	const secret = "correct_horse_battery_staple"
	raw, err := os.ReadFile(doc.file)
	if err != nil {
		t.Fatal(err)
	}
	// The report cuts a note after 500 characters, which is within the secret.
	text := strings.Replace(string(raw), `"notes": [`, `"notes": ["`+strings.Repeat("x", 485)+" "+secret+`", `, 1)
	text = strings.Replace(text, `"missing_tools": []`, `"missing_tools": [{"tool": "x", "check": "linter", "command": "x", "override": "`+secret+`"}]`, 1)
	if strings.Count(text, secret) < 2 {
		t.Fatalf("the document has no notes, or lists missing tools, so the secret is not in both places:\n%s", raw)
	}
	dir := files(t, map[string]string{"policy.yml": "checks:\n", "findings.json": text})
	_, stdout, stderr := process{env: map[string]string{"AIRLOCK_SECRETS": secret}}.run(t, "apply", "--dry-run", "--event", payload, "--event-name", "pull_request",
		"--config", filepath.Join(dir, "policy.yml"), "--findings", filepath.Join(dir, "findings.json"))
	if !strings.Contains(stdout, "xxx") || strings.Contains(stdout+stderr, "correct_") || strings.Contains(stdout+stderr, "correct-") {
		t.Errorf("%s%s", stdout, stderr)
	}
}

// TestApplyPlansFindings asserts what would be reported on the pull request.
func TestApplyPlansFindings(t *testing.T) {
	p := newProject(t)
	base := p.commit(t, map[string]string{"package.json": "{}", "a.js": "one\n", "lint.json": strings.ReplaceAll(linted, `"line":7`, `"line":2`)})
	p.git(t, "checkout", "--quiet", "-b", "topic")
	head := p.commit(t, map[string]string{"a.js": "one\ntwo\n"})
	payload := pullEvent(t, base, head)
	doc, _, _ := p.check(t, payload)
	policy := filepath.Join(files(t, map[string]string{"policy.yml": "checks:\n  report: {security-report: false}\n"}), "policy.yml")
	code, stdout, stderr := process{env: map[string]string{}}.run(t, "apply", "--dry-run", "--event", payload, "--event-name", "pull_request", "--config", policy, "--findings", doc.file)
	if code != 0 {
		t.Errorf("exit code %d: nothing was refused", code)
	}
	if !strings.HasPrefix(stderr, "Airlock checks: 1 of 6 checks failed: linter\n") {
		t.Errorf("it does not begin with what failed:\n%s", stderr)
	}
	var report struct {
		Own  []struct{ Kind, State string } `json:"own_results"`
		Plan struct {
			Operations []struct {
				Requests []struct{ Method, Path string }
			}
		}
	}
	if err := json.Unmarshal([]byte(stdout), &report); err != nil {
		t.Fatalf("%v\n%s%s", err, stdout, stderr)
	}
	var kinds []string
	for _, r := range report.Own {
		kinds = append(kinds, r.Kind+" "+r.State)
	}
	if diff := cmp.Diff([]string{"create-pull-request-review-comment staged", "minimise-comments staged", "check-run staged", "sticky-comment staged"}, kinds); diff != "" {
		t.Errorf("%s\n%s", diff, stderr)
	}
	if !strings.Contains(stderr, "checks: write") {
		t.Errorf("the plan does not name the permission:\n%s", stderr)
	}
}

// TestApplyStoresWhatGitHubDoesNotTake asserts that --plan writes the plan, and that a SARIF log
// which the token may not upload is written to the output directory.
func TestApplyStoresWhatGitHubDoesNotTake(t *testing.T) {
	t.Parallel()
	s, env := github(t)
	dir := files(t, map[string]string{
		"lines.ndjson": `{"type":"create-security-report","file":"README.md","line":1,"severity":"error","message":"Bad"}` + "\n", "policy.yml": "create-security-report:\n",
	})
	env["GITHUB_EVENT_PATH"], env["GITHUB_EVENT_NAME"] = event(t), "pull_request"
	env["GITHUB_SHA"], env["GITHUB_REF"] = "ec26c3e57ca3a959ca5aad62de7213c562f8c821", "refs/pull/2/merge"
	code, out, errs := process{env: env}.run(t, "apply", "--pace=0s", "--input", filepath.Join(dir, "lines.ndjson"), "--config", filepath.Join(dir, "policy.yml"), "--plan", filepath.Join(dir, "plan.json"))
	if code != 0 || len(s.Writes()) != 1 || !strings.Contains(out, `"applied": 1`) {
		t.Errorf("exit code %d, %d writes: %s%s", code, len(s.Writes()), out, errs)
	}
	plan, err := os.ReadFile(filepath.Join(dir, "plan.json"))
	if err != nil || !strings.Contains(string(plan), "/code-scanning/sarifs") {
		t.Errorf("%v, %s", err, plan)
	}

	fork, err := filepath.Abs("../../testdata/events/pull_request.opened-fork.json")
	if err != nil {
		t.Fatal(err)
	}
	env["GITHUB_EVENT_PATH"] = fork
	s.Change(func(f *githubtest.Fixture) {
		f.Tokens[0].Permissions = map[string]string{"contents": "read", "metadata": "read"}
	})
	sarif := filepath.Join(dir, "sub", "out")
	code, out, errs = process{env: env}.run(t, "apply", "--pace=0s", "--input", filepath.Join(dir, "lines.ndjson"), "--config", filepath.Join(dir, "policy.yml"), "--output-dir", sarif)
	if code != 1 || !strings.Contains(out, `"fork-read-only"`) {
		t.Errorf("exit code %d: %s%s", code, out, errs)
	}
	if list, err := os.ReadDir(sarif); err != nil || len(list) != 1 {
		t.Errorf("%v, %v", list, err)
	}
}
