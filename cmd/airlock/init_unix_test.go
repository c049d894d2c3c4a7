//go:build unix

package main_test

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/agent-airlock/airlock/internal/githubtest"
)

// writtenWorkflow is the workflow of init as far as a runner executes it here.
type writtenWorkflow struct {
	Jobs map[string]struct {
		Steps []struct {
			Name, Uses, Run string
			Env, With       map[string]string
		}
	}
}

// TestWhatInitWritesWorks sets a repository up, runs the scripts of the agent's job as a runner
// does, passes the artifact on, and runs the gate with the inputs that the workflow names.
func TestWhatInitWritesWorks(t *testing.T) {
	t.Parallel()
	agent := filepath.Join(t.TempDir(), "scripted-agent")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", agent, "./testdata/scripted-agent").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	for _, c := range []struct {
		name, allow, agent string
		check              func(t *testing.T, h hosted, log string)
	}{
		{"as it is written", "triage", "", func(t *testing.T, h hosted, log string) {
			if n := len(h.server.Writes()); n != 0 || !strings.Contains(log, "There is no agent in .airlock/agent yet.") {
				t.Errorf("%d writes\n%s", n, log)
			}
		}},
		{"an agent with tools", "triage,create-issue", agent + " airlock mcp --safe-outputs --config .airlock/policy.yml --output \"$AIRLOCK_LINES\"\n", func(t *testing.T, h hosted, log string) {
			s := h.server.State()
			if i := s.Issues[0]; len(i.Comments) != 1 || !strings.HasPrefix(i.Comments[0].Body, "The tests pass.") || len(i.Labels) != 1 || len(s.Issues) != 3 || !strings.HasPrefix(s.Issues[2].Title, "[agent] ") {
				t.Errorf("%+v\n%s", s.Issues, log)
			}
		}},
		{"an agent that changes code", "code", `grep -q 'create-pull-request' "$AIRLOCK_PROMPT"
echo New. >docs/new.md
printf '%s\n' '{"type": "create-pull-request", "title": "Add a document", "body": "It was missing."}' >>"$AIRLOCK_LINES"
`, func(t *testing.T, h hosted, log string) {
			s := h.server.State()
			if len(s.Issues) != 3 || s.Issues[2].Pull == nil || !s.Issues[2].Pull.Draft {
				t.Fatalf("%d issues and pull requests\n%s", len(s.Issues), log)
			}
			if got := h.git.Run("diff", "--name-status", "master", s.Issues[2].Pull.Head.Ref); got != "A\tdocs/new.md" {
				t.Errorf("the pull request changes\n%s", got)
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := newHosted(t)
			work := h.checkout(t, "master")
			if res := run(t, work, nil, "", "init", "--allow", c.allow, "--agent", "other", "--check-pull-requests=false"); res.code != 0 {
				t.Fatalf("init: exit code %d\n%s", res.code, res.stderr)
			}
			if c.agent != "" {
				writeFile(t, filepath.Join(work, ".airlock/agent"), "set -euo pipefail\n"+c.agent)
			}
			policy := commitAll(t, h, work)
			h.server.Change(func(f *githubtest.Fixture) {
				f.Files = append(f.Files, githubtest.StoredFile{Path: ".airlock/policy.yml", Content: policy})
			})
			log := runWorkflow(t, h, work)
			c.check(t, h, log)
		})
	}
}

// commitAll commits the changed files of work to the default branch, as if a person had merged
// them, checks that commit out, and returns the policy.
func commitAll(t *testing.T, h hosted, work string) string {
	t.Helper()
	git(t, work, "add", "--all")
	files := map[string]string{}
	for name := range strings.SplitSeq(strings.TrimSpace(git(t, work, "diff", "--cached", "--name-only")), "\n") {
		files[name] = readFile(t, filepath.Join(work, name))
	}
	h.git.Commit("master", files, "Set Airlock up")
	git(t, work, "fetch", "--quiet", h.git.Dir(), "+refs/heads/*:refs/remotes/origin/*")
	git(t, work, "checkout", "--quiet", "--force", "--detach", h.git.SHA("master"))
	return files[".airlock/policy.yml"]
}

// runWorkflow runs the workflow in a checkout, for the event of an issue that was opened, and
// returns the output of the gate.
func runWorkflow(t *testing.T, h hosted, work string) string {
	t.Helper()
	var w writtenWorkflow
	if err := yaml.Unmarshal([]byte(readFile(t, filepath.Join(work, ".github", "workflows", "airlock.yml"))), &w); err != nil {
		t.Fatal(err)
	}
	event := filepath.Join(root, "testdata", "events", "issues.opened.json")
	ran := 0
	for _, step := range w.Jobs["agent"].Steps {
		if step.Run == "" || strings.HasPrefix(step.Run, "go install ") {
			continue
		}
		ran++
		cmd := exec.CommandContext(t.Context(), "bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step.Run)
		cmd.Dir = work
		cmd.Env = []string{searchPath(), "HOME=" + t.TempDir(), "GITHUB_EVENT_PATH=" + event, "GITHUB_SHA=" + h.git.SHA("master")}
		for name, value := range step.Env {
			cmd.Env = append(cmd.Env, name+"="+value)
		}
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", step.Name, err, out)
		}
	}
	if ran < 3 {
		t.Fatalf("only %d scripts ran", ran)
	}

	gate := newWorkspace(t, nil)
	for _, step := range w.Jobs["agent"].Steps {
		if !strings.HasPrefix(step.Uses, "actions/upload-artifact@") {
			continue
		}
		for name := range strings.FieldsSeq(step.With["path"]) { // their common directory is the artifact's root
			writeFile(t, filepath.Join(gate.dir, "agent/"+filepath.Base(name)), readFile(t, filepath.Join(work, name)))
		}
	}
	for _, step := range w.Jobs["gate"].Steps {
		if !strings.Contains(step.Uses, "/actions/gate@") {
			continue
		}
		env := append(workflowEnv(h.server, "issues", "issues.opened.json"), "GITHUB_SHA="+h.git.SHA("master"), "GITHUB_REF=refs/heads/master")
		res := run(t, gate.dir, gate.env(env, step.With), "", "action")
		if res.code != 0 {
			t.Errorf("the gate: exit code %d\n%s%s", res.code, res.stdout, res.stderr)
		}
		return res.stdout + res.stderr
	}
	t.Fatal("the workflow has no gate")
	return ""
}
