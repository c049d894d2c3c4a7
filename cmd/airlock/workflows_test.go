package main_test

import (
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rhysd/actionlint"
	"go.yaml.in/yaml/v3"

	"github.com/agent-airlock/airlock/internal/action"
	"github.com/agent-airlock/airlock/internal/doctor"
	"github.com/agent-airlock/airlock/internal/githubtest"
)

// workflows returns every workflow of this repository: files by their paths, and blocks of
// documents by the document's name followed by the block's text.
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
	for _, path := range slices.Concat(glob(".github/workflows/*.yml"), glob("examples/*.yml"), glob("examples/*/.github/workflows/*.yml")) {
		if text := readFile(t, path); strings.Contains(text, "jobs:") {
			name, err := filepath.Rel(root, path)
			if err != nil {
				t.Fatal(err)
			}
			out[filepath.ToSlash(name)] = text
		}
	}
	block := regexp.MustCompile("(?ms)^```ya?ml\n(.*?)^```")
	for _, path := range append(glob("docs/*.md"), glob("*.md")...) {
		for _, m := range block.FindAllStringSubmatch(strings.ReplaceAll(readFile(t, path), "\r\n", "\n"), -1) {
			if strings.Contains(m[1], "jobs:") {
				out[filepath.Base(path)+": "+m[1]] = m[1]
			}
		}
	}
	return out
}

// TestWorkflowsKeepTheDoorsApart tests rule R1 for every workflow that uses Airlock: see
// checkSeparation.
func TestWorkflowsKeepTheDoorsApart(t *testing.T) {
	t.Parallel()
	gates, others := 0, 0
	for name, text := range workflows(t) {
		if !strings.Contains(text, "uses: ./\n") && !strings.Contains(text, "agent-airlock/") {
			continue
		}
		problems, g, o := checkSeparation(t, text)
		gates, others = gates+g, others+o
		for _, p := range problems {
			t.Errorf("%s: %s", name, p)
		}
	}
	if gates == 0 || others == 0 {
		t.Errorf("%d gates and %d other jobs: this looks in the wrong place", gates, others)
	}
}

// TestWorkflowsLeaveNoCredentials asserts that no checkout leaves credentials behind, and
// that every workflow declares the permissions of its token.
func TestWorkflowsLeaveNoCredentials(t *testing.T) {
	t.Parallel()
	for name, text := range workflows(t) {
		for _, p := range credentials(t, text) {
			t.Errorf("%s: %s", name, p)
		}
	}
}

// TestWorkflowsOfDocumentsAreComplete lints each workflow that people copy from a document.
func TestWorkflowsOfDocumentsAreComplete(t *testing.T) {
	t.Parallel()
	linted := 0
	for name, text := range workflows(t) {
		document, _, isDocument := strings.Cut(name, ": ")
		if !isDocument || !strings.HasSuffix(document, ".md") {
			continue
		}
		linted++
		linter, err := actionlint.NewLinter(io.Discard, &actionlint.LinterOptions{})
		if err != nil {
			t.Fatal(err)
		}
		problems, err := linter.Lint(document, []byte(text), nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range problems {
			t.Errorf("%v\n%s", p, text)
		}
	}
	if linted < 5 {
		t.Errorf("only %d workflows of documents were found", linted)
	}
}

// TestWorkflowsOfDocumentsAreSound runs 'airlock doctor' on the workflows of documents and of files
// that name our action. It asserts that doctor finds nothing except that our own action is not
// pinned, because there is no release yet to pin it to.
func TestWorkflowsOfDocumentsAreSound(t *testing.T) {
	t.Parallel()
	policies := map[string]string{
		"airlock.yml":         readFile(t, filepath.Join(root, "examples/fix-loop/airlock.yml")),
		".airlock/policy.yml": "create-issue:\nadd-issue-comment:\nacceptance:\n  tick: true\n",
	}
	looked := 0
	for name, text := range workflows(t) {
		if !strings.Contains(text, "agent-airlock/airlock") {
			continue
		}
		looked++
		dir := t.TempDir()
		write(t, dir, policies)
		write(t, dir, map[string]string{".github/workflows/w.yml": text})
		files, err := action.OpenDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		examination, err := doctor.Examine(files)
		if err != nil {
			t.Fatal(err)
		}
		examination.Close()
		for _, f := range examination.Report().Findings {
			if f.Rule != "not-pinned" || !strings.HasPrefix(f.What, "agent-airlock/airlock") {
				t.Errorf("%s:%d: %s: %s; %s; %s", name, f.Line, f.Rule, f.What, f.Why, f.Mend)
			}
		}
	}
	if looked < 10 {
		t.Errorf("only %d workflows were looked at", looked)
	}
}

// declaredInputs returns the inputs of action.yml with their defaults, as the runner sets
// them where a workflow gives none; "" for a default that is an expression.
func declaredInputs(t *testing.T) map[string]string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(root, "action.yml"))
	if err != nil {
		t.Fatal(err)
	}
	var action struct {
		Inputs map[string]struct{ Default string }
	}
	if err := yaml.Unmarshal(raw, &action); err != nil {
		t.Fatal(err)
	}
	inputs := map[string]string{}
	for name, in := range action.Inputs {
		inputs[name] = in.Default
		if strings.Contains(in.Default, "${{") {
			inputs[name] = ""
		}
	}
	return inputs
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
		ws := newWorkspace(t, map[string]string{"lines.ndjson": threeLines})
		run(t, ws.dir, ws.env(workflowEnv(s, "pull_request", "pull_request.opened.json"), map[string]string{
			"output-file": "lines.ndjson", "config": "add-issue-comment:\n", "staged": staged,
		}), "", "action")
		if diff := cmp.Diff(promised, slices.Sorted(maps.Keys(ws.outputs(t)))); diff != "" {
			t.Errorf("staged: %s: outputs (-promised +set):\n%s", staged, diff)
		}
	}
}

// flow is the part of a workflow that the rules look at.
type flow struct {
	Permissions yaml.Node
	Env         map[string]string
	Jobs        map[string]flowJob
}

type flowJob struct {
	Permissions map[string]string
	Steps       []flowStep
}

type flowStep struct {
	Uses, Run string
	With      map[string]string
}

// isAirlock reports whether a step is one of the two actions.
func (s flowStep) isAirlock() bool {
	action, _, _ := strings.Cut(s.Uses, "@")
	return slices.Contains([]string{"./", "./actions/gate", "agent-airlock/airlock", "agent-airlock/airlock/actions/gate"}, action)
}

// isGate reports whether a step has the token. Each of the two actions has it, except in mode
// check, which runs a pull request's code.
func (s flowStep) isGate() bool { return s.isAirlock() && s.With["mode"] != "check" }

// checkSeparation checks rule R1 of docs/security.md. A job with a token executes nothing but the
// gate and a few harmless actions. Every other job, in which an agent or a check works, has no
// secret and no permission to write. It returns the violations, and the numbers of gates and of
// other jobs.
func checkSeparation(t *testing.T, text string) (problems []string, gates, others int) {
	t.Helper()
	harmless := []string{"actions/create-github-app-token", "actions/checkout", "actions/download-artifact", "actions/upload-artifact"}
	var w flow
	var document yaml.Node
	if err := yaml.Unmarshal([]byte(text), &w); err != nil {
		return []string{err.Error()}, 0, 0
	}
	if err := yaml.Unmarshal([]byte(text), &document); err != nil {
		t.Fatal(err)
	}
	problem := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	for name, value := range w.Env {
		if namesSecret(value) {
			problem("%s gives a secret to every job", name)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(w.Jobs)) {
		job := w.Jobs[id]
		if job.Permissions == nil {
			problem("job %s does not state its permissions", id)
		}
		if !slices.ContainsFunc(job.Steps, flowStep.isGate) {
			others++
			if diff := cmp.Diff(map[string]string{"contents": "read"}, job.Permissions); diff != "" {
				problem("job %s is not the gate; its permissions (-want +got):\n%s", id, diff)
			}
			if namesSecret(jobText(t, &document, id)) {
				problem("job %s is not the gate, and names a secret", id)
			}
			continue
		}
		gates++
		for _, s := range job.Steps {
			action, _, _ := strings.Cut(s.Uses, "@")
			if s.Run != "" || !s.isGate() && !slices.Contains(harmless, action) {
				problem("job %s holds the token and executes %q%q", id, s.Run, s.Uses)
			}
		}
	}
	return problems, gates, others
}

// namesSecret reports whether a text of a workflow refers to a secret.
func namesSecret(text string) bool {
	return strings.Contains(text, "secrets.") || strings.Contains(text, "secrets[") || strings.Contains(text, "github.token") || strings.Contains(text, "secrets: inherit")
}

// credentials returns the checkouts that leave credentials behind, and the jobs whose
// token has no declared permissions.
func credentials(t *testing.T, text string) (problems []string) {
	t.Helper()
	var w flow
	if err := yaml.Unmarshal([]byte(text), &w); err != nil {
		return []string{err.Error()}
	}
	for _, id := range slices.Sorted(maps.Keys(w.Jobs)) {
		job := w.Jobs[id]
		if w.Permissions.IsZero() && job.Permissions == nil {
			problems = append(problems, "job "+id+" has the permissions that the repository happens to give")
		}
		for _, s := range job.Steps {
			if strings.HasPrefix(s.Uses, "actions/checkout@") && s.With["persist-credentials"] != "false" {
				problems = append(problems, "job "+id+" checks out and leaves its credentials in the workspace: set persist-credentials: false")
			}
		}
	}
	return problems
}

// jobText returns the YAML of a job.
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

const soundWorkflow = `on: pull_request
permissions: {}
jobs:
  check:
    permissions: {contents: read}
    steps:
      - uses: actions/checkout@v4
        with: {persist-credentials: false}
      - uses: agent-airlock/airlock@v1
        with: {mode: check}
  gate:
    permissions: {contents: read, pull-requests: write}
    steps:
      - uses: actions/download-artifact@v4
      - uses: agent-airlock/airlock@v1
        with: {mode: apply}
`

// TestWorkflowRulesSeeWhatBreaksThem applies the rules to soundWorkflow, and to workflows that
// break them, each in one place.
func TestWorkflowRulesSeeWhatBreaksThem(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ old, new, want string }{
		{"", "", ""},
		{"check:\n    permissions: {contents: read}", "check:\n    permissions: {contents: write}", "job check is not the gate; its permissions"},
		{"check:\n    permissions: {contents: read}", "check:\n    permissions: {contents: read, checks: write}", "job check is not the gate; its permissions"},
		{"check:\n    permissions: {contents: read}\n", "check:\n", "job check does not state its permissions"},
		{"{mode: check}", "{mode: check, github-token: '${{ github.token }}'}", "job check is not the gate, and names a secret"},
		{"{mode: check}", "{mode: check}\n        env: {KEY: \"${{ secrets.KEY }}\"}", "job check is not the gate, and names a secret"},
		{"permissions: {}", "permissions: {}\nenv: {KEY: \"${{ secrets['KEY'] }}\"}", "KEY gives a secret to every job"},
		{"{mode: apply}", "{mode: apply}\n      - run: npm test", `job gate holds the token and executes "npm test"`},
		{"{mode: apply}", "{mode: apply}\n      - uses: agent-airlock/airlock@v1\n        with: {mode: check}", `job gate holds the token and executes ""`},
		{"actions/download-artifact@v4", "some/action@v1", `executes """some/action@v1"`},
		{"with: {persist-credentials: false}", "with: {fetch-depth: 0}", "leaves its credentials in the workspace"},
	} {
		text := strings.Replace(soundWorkflow, c.old, c.new, 1)
		problems, gates, others := checkSeparation(t, text)
		problems = append(problems, credentials(t, text)...)
		if gates+others != 2 {
			t.Errorf("%q: %d gates, %d others", c.new, gates, others)
		}
		if all := strings.Join(problems, "\n"); (all == "") != (c.want == "") || !strings.Contains(all, c.want) {
			t.Errorf("%q: %q, want %q", c.new, all, c.want)
		}
	}
}
