//go:build act

package main_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/action"
	"github.com/agent-airlock/airlock/internal/githubtest"
	"github.com/agent-airlock/airlock/internal/scaffold"
)

// initAgent is the agent in the repository that init has set up. Like a model, it misspells a field
// at first, reads the errors, and corrects its line.
const initAgent = `#!/usr/bin/env bash
set -euo pipefail
grep -q 'create-pull-request' "$AIRLOCK_PROMPT"
grep -qF "$AIRLOCK_LINES" "$AIRLOCK_PROMPT"
grep -q '"name": *"agent"' .airlock/out/event.json
sed -i 's/a - b/a + b/' sum.go
echo '{"type": "create-pull-request", "titel": "Add instead of subtracting", "body": "As #1 asks."}' >"$AIRLOCK_LINES"
errors=$(airlock validate --config .airlock/policy.yml "$AIRLOCK_LINES" 2>&1 >/dev/null) && exit 1
grep -q "'title' is a required property" <<<"$errors"
sed -i 's/titel/title/' "$AIRLOCK_LINES"
echo '{"type": "add-issue-comment", "body": "There is a pull request."}' >>"$AIRLOCK_LINES"
airlock validate --config .airlock/policy.yml "$AIRLOCK_LINES" >/dev/null
`

// initialised is a repository with the files that 'airlock init' of a release writes.
type initialised struct {
	hosted
	files     map[string]string
	checks    string // the image of the checks
	artifacts string
}

// newInitialised sets up a Go module with a defect, an agent in its own file, and an issue.
func newInitialised(t *testing.T) *initialised {
	t.Helper()
	dir := t.TempDir()
	files := map[string]string{
		"go.mod": "module example.com/sum\n\ngo 1.24\n", "sum.go": "// Package sum adds.\npackage sum\n\n// Of adds two numbers.\nfunc Of(a, b int) int { return a - b }\n",
		".airlock/agent": initAgent,
	}
	write(t, dir, files)
	tree, err := action.OpenDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer tree.Close()
	report, err := scaffold.Write(tree, scaffold.Config{Answers: scaffold.Answers{Allow: []string{"triage", "code"}, Agent: "other", CheckPulls: true}, Projects: []string{"."},
		Release: scaffold.Release{Version: "v1.2.3", Commit: strings.Repeat("5a", 20)}})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range report.Files {
		files[f.Path] = readFile(t, filepath.Join(dir, filepath.FromSlash(f.Path)))
	}

	git := githubtest.NewGit(t)
	start := git.Commit("master", files, "Begin")
	fixture := pullRequestFixture()
	fixture.Issues = fixture.Issues[:1]
	return &initialised{hosted{git, server(t, fixture, githubtest.Options{Git: git}), start}, files, imageWithGo(t), t.TempDir()}
}

// imageWithGo returns the image of the gate with Go added, as in the complete image.
func imageWithGo(t *testing.T) string {
	t.Helper()
	const name = "airlock-go:test"
	cmd := exec.CommandContext(t.Context(), docker(), "build", "--quiet", "--tag", name, "-")
	cmd.Stdin = strings.NewReader("FROM golang:1.26-bookworm AS go\nFROM " + os.Getenv("AIRLOCK_IMAGE") + "\nCOPY --from=go /usr/local/go /usr/local/go\nENV PATH=/usr/local/go/bin:$PATH\n")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("docker build: %v\n%s", err, out)
	}
	return name
}

// happen runs the workflows that an event starts. It returns whether all jobs passed, and the log.
func (x *initialised) happen(t *testing.T, event string, payload map[string]any) (ok bool, log string) {
	t.Helper()
	path := writeFile(t, filepath.Join(t.TempDir(), "event.json"), jsonText(t, payload))
	_, log, ok = actRun{event: event, payload: path, git: x.git, runner: os.Getenv("AIRLOCK_IMAGE"), actions: standIns(t, x.server, x.checks, x.files),
		// act's runner has its temporary files in /tmp, and the checks keep the code out of /tmp.
		arguments: []string{"--env", "TMPDIR=/var/tmp", "--no-skip-checkout", "--container-options", "-v " + x.artifacts + ":/artifacts"}}.run(t, x.server)
	return ok, log
}

// TestActExampleInit runs the workflows that 'airlock init' writes: an issue gets the label that
// starts the agent, which opens a pull request through the gate; its checks pass. The checks of a
// commit that is not formatted fail, and say so where people look.
func TestActExampleInit(t *testing.T) {
	x := newInitialised(t)
	labeled := sampleEvent(t, "issues.opened.json")
	labeled["action"], labeled["label"] = "labeled", map[string]any{"name": "agent"}
	if ok, log := x.happen(t, "issues", labeled); !ok {
		t.Fatalf("the agent's workflow failed:\n%s", log)
	}
	issues := x.server.State().Issues
	if len(issues) != 2 || issues[1].Pull == nil || issues[1].Title != "[agent] Add instead of subtracting" {
		t.Fatalf("%d issues and pull requests: %+v", len(issues), issues[len(issues)-1])
	}
	if comments := issues[0].Comments; len(comments) != 1 || !strings.HasPrefix(comments[0].Body, "There is a pull request.") {
		t.Errorf("comments on the issue: %+v", comments)
	}
	pull := issues[1]
	branch := pull.Pull.Head.Ref
	if got := x.git.Run("diff", "--stat", "master", branch); !regexp.MustCompile(`^ sum\.go \| 2 \+-`).MatchString(got) || !strings.Contains(got, "1 file changed") {
		t.Errorf("the pull request changes\n%s", got)
	}

	opened := sampleEvent(t, "pull_request.opened.json")
	set := func(sha string) {
		about := opened["pull_request"].(map[string]any)
		opened["number"], about["number"] = pull.Number, pull.Number
		about["head"].(map[string]any)["ref"], about["head"].(map[string]any)["sha"] = branch, sha
		about["base"].(map[string]any)["sha"] = x.start
	}
	set(x.git.SHA(branch))
	if ok, log := x.happen(t, "pull_request", opened); !ok {
		t.Fatalf("the checks failed:\n%s", log)
	}
	opened["action"] = "synchronize"
	set(x.git.Commit(branch, map[string]string{"sum.go": "// Package sum adds.\npackage sum\n\n// Of adds two numbers.\nfunc Of(a,b int) int { return a + b }\n"}, "Write it shorter"))
	ok, log := x.happen(t, "pull_request", opened)
	if ok || !strings.Contains(log, "1 of 6 checks failed: formatter") {
		t.Errorf("the checks passed, or did not say what failed:\n%s", log)
	}
	var last *githubtest.Issue
	for _, issue := range x.server.State().Issues {
		if issue.Number == pull.Number {
			last = issue
		}
	}
	if len(last.Comments) != 1 || !strings.Contains(last.Comments[0].Body, "1 of 6 checks failed: formatter") {
		t.Errorf("comments on the pull request: %+v", last.Comments)
	}
	if n := len(x.server.State().Checks); n != 2 {
		t.Errorf("%d check runs, want one for each commit", n)
	}
}
