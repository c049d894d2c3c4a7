package main_test

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"github.com/agent-airlock/airlock/internal/githubapi/githubtest"
)

// flow is the part of a workflow that the rules look at.
type flow struct {
	Permissions yaml.Node
	Jobs        map[string]struct {
		Permissions map[string]string
		Steps       []struct {
			Uses, Run string
			With      map[string]string
		}
	}
}

// workflows returns every workflow that this repository has or shows, by where it
// stands.
func workflows(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	glob := func(pattern string) []string {
		t.Helper()
		paths, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(pattern)))
		if err != nil || len(paths) == 0 {
			t.Fatalf("%s: %v, %v", pattern, paths, err)
		}
		return paths
	}
	for _, path := range glob(".github/workflows/*.yml") {
		out[filepath.Base(path)] = workspace{}.read(t, path)
	}
	block := regexp.MustCompile("(?ms)^```ya?ml\n(.*?)^```")
	for _, path := range append(glob("docs/*.md"), glob("*.md")...) {
		for _, m := range block.FindAllStringSubmatch(strings.ReplaceAll(workspace{}.read(t, path), "\r\n", "\n"), -1) {
			if strings.Contains(m[1], "jobs:") {
				out[filepath.Base(path)+": "+m[1]] = m[1]
			}
		}
	}
	return out
}

// isGate reports whether a step's action holds the token.
func isGate(uses string) bool {
	return uses == "./" || strings.HasPrefix(uses, "agent-airlock/airlock@") || strings.HasPrefix(uses, "docker://ghcr.io/agent-airlock/")
}

// TestWorkflowsKeepTheDoorsApart is rule R1 for what people copy: a job that holds
// a token executes nothing but the gate; a job beside it, in which an agent or a
// check works, has no secret and no permission to write.
func TestWorkflowsKeepTheDoorsApart(t *testing.T) {
	harmless := []string{"actions/checkout", "actions/download-artifact", "actions/upload-artifact"}
	gates, others := 0, 0
	for name, text := range workflows(t) {
		if !strings.Contains(text, "uses: ./\n") && !strings.Contains(text, "agent-airlock/") {
			continue
		}
		var w flow
		if err := yaml.Unmarshal([]byte(text), &w); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var jobs yaml.Node
		if err := yaml.Unmarshal([]byte(text), &jobs); err != nil {
			t.Fatal(err)
		}
		for id, job := range w.Jobs {
			if job.Permissions == nil {
				t.Errorf("%s: job %s does not state its permissions", name, id)
			}
			isGateJob := slices.ContainsFunc(job.Steps, func(s struct {
				Uses, Run string
				With      map[string]string
			}) bool {
				return isGate(s.Uses)
			})
			if !isGateJob {
				others++
				if diff := cmp.Diff(map[string]string{"contents": "read"}, job.Permissions); diff != "" {
					t.Errorf("%s: job %s is no gate; its permissions (-want +got):\n%s", name, id, diff)
				}
				if own := jobText(t, &jobs, id); strings.Contains(own, "secrets.") || strings.Contains(own, "github.token") {
					t.Errorf("%s: job %s is no gate, and names a secret", name, id)
				}
				continue
			}
			gates++
			for _, s := range job.Steps {
				action, _, _ := strings.Cut(s.Uses, "@")
				if s.Run != "" || !isGate(s.Uses) && !slices.Contains(harmless, action) {
					t.Errorf("%s: job %s holds the token and executes %q%q", name, id, s.Run, s.Uses)
				}
			}
		}
	}
	if gates == 0 || others == 0 {
		t.Errorf("%d gates and %d other jobs: this looks in the wrong place", gates, others)
	}
}

// jobText returns a job as it is written.
func jobText(t *testing.T, document *yaml.Node, id string) string {
	t.Helper()
	var w struct{ Jobs map[string]yaml.Node }
	if err := document.Decode(&w); err != nil {
		t.Fatal(err)
	}
	job := w.Jobs[id]
	raw, err := yaml.Marshal(&job)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// TestWorkflowsLeaveNoCredentials holds every checkout to leave no credential
// behind, and every workflow to say what its token may do.
func TestWorkflowsLeaveNoCredentials(t *testing.T) {
	for name, text := range workflows(t) {
		var w flow
		if err := yaml.Unmarshal([]byte(text), &w); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for id, job := range w.Jobs {
			if w.Permissions.IsZero() && job.Permissions == nil {
				t.Errorf("%s: job %s has the permissions that the repository happens to give", name, id)
			}
			for _, s := range job.Steps {
				if strings.HasPrefix(s.Uses, "actions/checkout@") && s.With["persist-credentials"] != "false" {
					t.Errorf("%s: job %s checks out and leaves its credentials in the workspace: set persist-credentials: false", name, id)
				}
			}
		}
	}
}

// TestOutputsAreTheActions asserts that a step sets the outputs that action.yml
// promises, and no other.
func TestOutputsAreTheActions(t *testing.T) {
	raw, err := os.ReadFile(filepath.Join(root, "action.yml"))
	if err != nil {
		t.Fatal(err)
	}
	var action struct {
		Outputs map[string]struct{ Description string }
	}
	if err := yaml.Unmarshal(raw, &action); err != nil {
		t.Fatal(err)
	}
	promised := slices.Sorted(maps.Keys(action.Outputs))
	for _, staged := range []string{"false", "true"} {
		s := server(t, pullRequestFixture(), githubtest.Options{})
		ws := newWorkspace(t, map[string]string{"lines.ndjson": twoLines})
		run(t, ws.dir, ws.env(workflowEnv(s, "pull_request", "pull_request.opened.json"), map[string]string{
			"output-file": "lines.ndjson", "config": "add-issue-comment:\n", "staged": staged,
		}), "", "action")
		if diff := cmp.Diff(promised, slices.Sorted(maps.Keys(ws.outputs(t)))); diff != "" {
			t.Errorf("staged: %s: outputs (-promised +set):\n%s", staged, diff)
		}
	}
}
