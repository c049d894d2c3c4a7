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

	"github.com/agent-airlock/airlock/internal/githubtest"
)

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
	for _, path := range append(glob(".github/workflows/*.yml"), glob("examples/*.yml")...) {
		if text := (workspace{}).read(t, path); strings.Contains(text, "jobs:") {
			out[filepath.Base(path)] = text
		}
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

// TestWorkflowsKeepTheDoorsApart is rule R1 for what people copy: see apart.
func TestWorkflowsKeepTheDoorsApart(t *testing.T) {
	t.Parallel()
	gates, others := 0, 0
	for name, text := range workflows(t) {
		if !strings.Contains(text, "uses: ./\n") && !strings.Contains(text, "agent-airlock/") {
			continue
		}
		problems, g, o := apart(t, text)
		gates, others = gates+g, others+o
		for _, p := range problems {
			t.Errorf("%s: %s", name, p)
		}
	}
	if gates == 0 || others == 0 {
		t.Errorf("%d gates and %d other jobs: this looks in the wrong place", gates, others)
	}
}

// TestWorkflowsLeaveNoCredentials holds every checkout to leave no credential
// behind, and every workflow to say what its token may do.
func TestWorkflowsLeaveNoCredentials(t *testing.T) {
	t.Parallel()
	for name, text := range workflows(t) {
		for _, p := range credentials(t, text) {
			t.Errorf("%s: %s", name, p)
		}
	}
}

// TestOutputsAreTheActions asserts that a step sets the outputs that action.yml
// promises, and no other.
func TestOutputsAreTheActions(t *testing.T) {
	t.Parallel()
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
