package main_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/agent-airlock/airlock/internal/githubtest"
)

// hosted is the repository of the sample event with real branches: master, and
// changes, of which pull request #2 is made.
type hosted struct {
	git    *githubtest.Git
	server *githubtest.Server
	start  string // the head of the pull request when the event happened
}

func newHosted(t *testing.T) hosted {
	t.Helper()
	git := githubtest.NewGit(t)
	base := git.Commit("master", map[string]string{"README.md": "# Hello\n", "docs/old.md": "Old.\n"}, "Begin")
	git.SetBranch("changes", base)
	git.Commit("changes", map[string]string{"README.md": "# Hello, World\nMore.\n"}, "Update the README")
	return hosted{git, server(t, pullRequestFixture(), githubtest.Options{Git: git}), git.SHA("changes")}
}

// checkout makes a workspace at a branch, as actions/checkout does.
func (h hosted) checkout(t *testing.T, branch string) string {
	t.Helper()
	dir := t.TempDir()
	h.fill(t, dir, branch)
	return dir
}

// fill makes a directory that is there a workspace at a branch.
func (h hosted) fill(t *testing.T, dir, branch string) {
	t.Helper()
	for _, args := range [][]string{{"init", "--quiet"}, {"fetch", "--quiet", h.git.Dir(), "+refs/heads/*:refs/remotes/origin/*"}, {"checkout", "--quiet", "--detach", h.git.SHA(branch)}} {
		cmd := exec.Command("git", args...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %s: %v: %s", args, err, out)
		}
	}
}

// write is what an agent does in its workspace.
func (h hosted) write(t *testing.T, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// event is the sample event's payload with the real commits.
func (h hosted) event(t *testing.T) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(root, "testdata", "events", "pull_request.opened.json"))
	if err != nil {
		t.Fatal(err)
	}
	f := pullRequestFixture().Issues[1].Pull
	data = bytes.ReplaceAll(data, []byte(f.Head.SHA), []byte(h.start))
	return bytes.ReplaceAll(data, []byte(f.Base.SHA), []byte(h.git.SHA("master")))
}

// env is that of a step on the sample event; what is given counts.
func (h hosted) env(t *testing.T, given ...string) []string {
	t.Helper()
	payload := filepath.Join(t.TempDir(), "event.json")
	if err := os.WriteFile(payload, h.event(t), 0o644); err != nil {
		t.Fatal(err)
	}
	env := workflowEnv(h.server, "pull_request", "pull_request.opened.json")
	return append(append(env, "GITHUB_EVENT_PATH="+payload, "GITHUB_SHA="+h.start), given...)
}
