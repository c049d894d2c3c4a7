package main_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/agent-airlock/airlock/internal/githubtest"
)

// hosted is the repository of the sample event with two real branches: "master", and "changes",
// which is the head of pull request #2.
type hosted struct {
	git    *githubtest.Git
	server *githubtest.Server
	start  string // the head of the pull request when the event happened
}

// workspaces are directories that tests copy. The key names the branches that were fetched and the
// branch that is checked out. A directory is made when the first test asks for it.
var workspaces = struct {
	sync.Mutex
	dirs map[string]string
}{dirs: map[string]string{}}

// sharedDir is for what outlives one test; TestMain sets it.
var sharedDir string

// newOrigin returns a function that makes repositories with two branches: "master" with the files
// of master, and "changes", which adds one commit with the files of changes.
func newOrigin(master, changes map[string]string) func(githubtest.TB) *githubtest.Git {
	return githubtest.Prepared(func(git *githubtest.Git) {
		git.Run("symbolic-ref", "HEAD", "refs/heads/master")
		git.SetBranch("changes", git.Commit("master", master, "Begin"))
		git.Commit("changes", changes, "Update the README")
	})
}

var hostedOrigin = newOrigin(map[string]string{"README.md": "# Hello\n", "docs/old.md": "Old.\n"}, map[string]string{"README.md": "# Hello, World\nMore.\n"})

func newHosted(t testing.TB) hosted {
	t.Helper()
	git := hostedOrigin(t)
	return hosted{git, server(t, pullRequestFixture(), githubtest.Options{Git: git}), git.SHA("changes")}
}

// checkout makes a workspace at a branch, as actions/checkout does.
func (h hosted) checkout(t *testing.T, branch string) string {
	t.Helper()
	dir := t.TempDir()
	h.fill(t, dir, branch)
	return dir
}

// fill makes an existing directory a workspace at a branch.
func (h hosted) fill(t *testing.T, dir, branch string) {
	t.Helper()
	if err := os.CopyFS(dir, os.DirFS(h.workspace(t, branch))); err != nil {
		t.Fatal(err)
	}
	machineGit(t, dir, "update-index", "-q", "--refresh")
}

// workspace returns a workspace at a branch, for copies.
func (h hosted) workspace(t *testing.T, branch string) string {
	t.Helper()
	workspaces.Lock()
	defer workspaces.Unlock()
	key := fmt.Sprint(h.git.Branches(), branch)
	if dir, ok := workspaces.dirs[key]; ok {
		return dir
	}
	dir, err := os.MkdirTemp(sharedDir, "")
	if err != nil {
		t.Fatal(err)
	}
	machineGit(t, dir, "init", "--quiet")
	machineGit(t, dir, "fetch", "--quiet", h.git.Dir(), "+refs/heads/*:refs/remotes/origin/*")
	machineGit(t, dir, "checkout", "--quiet", "--detach", h.git.SHA(branch))
	workspaces.dirs[key] = dir
	return dir
}

// machineGit runs git with the settings of this machine.
func machineGit(t testing.TB, dir string, args ...string) {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "maintenance.auto=false"}, args...)...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %s: %v: %s", args, err, out)
	}
}

// event returns the sample event's payload with the real commits.
func (h hosted) event(t testing.TB) string {
	t.Helper()
	f := pullRequestFixture().Issues[1].Pull
	return strings.NewReplacer(f.Head.SHA, h.start, f.Base.SHA, h.git.SHA("master")).Replace(readFile(t, filepath.Join(root, "testdata", "events", "pull_request.opened.json")))
}

// env returns the environment of a step on the sample event. The given variables override it.
func (h hosted) env(t *testing.T, given ...string) []string {
	t.Helper()
	payload := writeFile(t, filepath.Join(t.TempDir(), "event.json"), h.event(t))
	env := workflowEnv(h.server, "pull_request", "pull_request.opened.json")
	return append(append(env, "GITHUB_EVENT_PATH="+payload, "GITHUB_SHA="+h.start), given...)
}
