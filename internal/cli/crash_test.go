package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A defect ends a command with exit code 3. The error has its place and no secret.
func TestACrashIsToldAndShowsNothing(t *testing.T) {
	_, env := github(t)
	dir := files(t, map[string]string{"lines.ndjson": line, "policy.yml": "add-issue-comment:\n", "summary": "", "output": ""})
	for name, value := range map[string]string{"GITHUB_ACTIONS": "true", "GITHUB_WORKSPACE": dir, "GITHUB_OUTPUT": filepath.Join(dir, "output"),
		"GITHUB_STEP_SUMMARY": filepath.Join(dir, "summary"), "GITHUB_EVENT_NAME": "pull_request", "GITHUB_EVENT_PATH": event(t),
		"GITHUB_REPOSITORY": "Codertocat/Hello-World", "GITHUB_RUN_ID": "7", "INPUT_OUTPUT-FILE": "lines.ndjson", "INPUT_CONFIG": "add-issue-comment:", "INPUT_STAGED": "true"} {
		env[name] = value
	}
	for broken, args := range map[string][]string{ // by the variable whose reading panics
		"GITHUB_WORKFLOW":    {"apply", "--dry-run", "--config", filepath.Join(dir, "policy.yml"), "--input", filepath.Join(dir, "lines.ndjson")},
		"GH_AW_SAFE_OUTPUTS": {"action"},
	} {
		code, stdout, stderr := process{env: env, broken: broken}.run(t, args...)
		if code != 3 {
			t.Errorf("%s: exit code %d\n%s%s", args[0], code, stdout, stderr)
		}
		summary, err := os.ReadFile(filepath.Join(dir, "summary"))
		if err != nil {
			t.Fatal(err)
		}
		if log := stdout + stderr; strings.Contains(log+string(summary), secret) || !strings.Contains(log, "Airlock itself failed: a panic with a value of the type *errors.errorString (at cli/") ||
			!strings.Contains(log, "report this as a defect") {
			t.Errorf("%s:\n%s\nthe summary:\n%s", args[0], log, summary)
		}
		if args[0] == "action" && !strings.Contains(string(summary), "Nothing was applied.") {
			t.Errorf("the summary is\n%s", summary)
		}
	}
}
