//go:build unix

package main_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// correctingStep is the step of docs/correcting.md in which an agent corrects itself.
const correctingStep = "Ask, and ask again for what would be refused"

// correctingScript returns the step's script.
func correctingScript(t *testing.T) string {
	t.Helper()
	for name, text := range workflows(t) {
		if !strings.HasPrefix(name, "correcting.md: ") {
			continue
		}
		var workflow struct {
			Jobs map[string]struct{ Steps []struct{ Name, Run string } }
		}
		if err := yaml.Unmarshal([]byte(text), &workflow); err != nil {
			t.Fatal(err)
		}
		for _, step := range workflow.Jobs["agent"].Steps {
			if step.Name == correctingStep {
				return step.Run
			}
		}
	}
	t.Fatal("docs/correcting.md has no such step")
	return ""
}

// TestAnAgentCorrectsItself runs the documented step. The agents are right at once, or once an
// answer has named their errors, or never, or ask for nothing. If the policy is not valid, no agent
// is asked.
func TestAnAgentCorrectsItself(t *testing.T) {
	t.Parallel()
	script := correctingScript(t)
	const bad = `{"type":"add-labels","labels":["wontfix"]}` + "\n" + `{"type":"create-issue","title":"Clean up"}`
	const good = `{"type":"add-labels","labels":["bug"]}` + "\n" + `{"type":"create-issue","title":"Clean up","body":"Later."}`
	for name, c := range map[string]struct {
		agent, policy string
		code, asked   int
		lines         string
	}{
		"corrects itself":  {"echo >>asked\nif grep -q 'rule allowed-labels' \"$1\" && grep -q \"'body' is a required property\" \"$1\"; then echo '" + good + "'; else echo '" + bad + "'; fi >\"$GH_AW_SAFE_OUTPUTS\"\n", "", 0, 2, good},
		"right at once":    {"echo >>asked\necho '" + good + "' >\"$GH_AW_SAFE_OUTPUTS\"\n", "", 0, 1, good},
		"never right":      {"echo >>asked\necho '" + bad + "' >\"$GH_AW_SAFE_OUTPUTS\"\n", "", 0, 3, bad},
		"asks for nothing": {"echo >>asked\n", "", 0, 1, ""},
		"bad policy":       {"echo >>asked\n", "nonsense:\n", 2, 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, temp := t.TempDir(), t.TempDir()
			policy := "add-issue-label: {allowed: [bug]}\ncreate-issue:\n"
			if c.policy != "" {
				policy = c.policy
			}
			writeFile(t, filepath.Join(dir, ".airlock", "policy.yml"), policy)
			writeFile(t, filepath.Join(dir, "my-agent"), "#!/bin/sh\n"+c.agent)
			if err := os.Chmod(filepath.Join(dir, "my-agent"), 0o755); err != nil {
				t.Fatal(err)
			}
			lines := filepath.Join(temp, "lines.ndjson")
			cmd := exec.CommandContext(t.Context(), "bash", "-e", "-c", script) // as the runner runs it
			cmd.Dir = dir
			cmd.Env = []string{searchPath(), "RUNNER_TEMP=" + temp, "GITHUB_WORKSPACE=" + dir, "GH_AW_SAFE_OUTPUTS=" + lines, "POLICY=.airlock/policy.yml",
				"GITHUB_EVENT_NAME=issues", "GITHUB_EVENT_PATH=" + filepath.Join(root, "testdata", "events", "issues.opened.json")}
			out, err := cmd.CombinedOutput()
			if _, isExit := err.(*exec.ExitError); err != nil && !isExit {
				t.Fatal(err)
			}
			if code := cmd.ProcessState.ExitCode(); code != c.code {
				t.Errorf("exit code %d, want %d:\n%s", code, c.code, out)
			}
			asked, _ := os.ReadFile(filepath.Join(dir, "asked"))
			if len(asked) != c.asked {
				t.Errorf("the agent was asked %d times, want %d:\n%s", len(asked), c.asked, out)
			}
			written, _ := os.ReadFile(lines)
			if strings.TrimSpace(string(written)) != c.lines {
				t.Errorf("the gate gets\n%s", written)
			}
		})
	}
}
