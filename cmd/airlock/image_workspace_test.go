//go:build image

package main_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/githubtest"
)

const reviewLines = `{"type": "create-pull-request-review-comment", "path": "README.md", "line": 2, "body": "A remark."}
{"type": "create-security-report", "file": "README.md", "line": 2, "severity": "error", "message": "A weakness."}
`

// cloned returns a job whose workspace is a clone with the pull request's commits, and the server
// that also has them. The event names these commits.
func cloned(t *testing.T) (*job, *githubtest.Server) {
	t.Helper()
	dir := t.TempDir()
	git := func(args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "git", args...)
		cmd.Dir = dir
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=A", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=A", "GIT_COMMITTER_EMAIL=a@example.com"}
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	commit := func(text string) string {
		t.Helper()
		writeFile(t, filepath.Join(dir, "README.md"), text)
		git("add", "README.md")
		git("commit", "--quiet", "--message", "Change")
		return git("rev-parse", "HEAD")
	}
	git("init", "--quiet", "--initial-branch", "master")
	base := commit("# Hello\n")
	git("checkout", "--quiet", "-b", "changes")
	head := commit("# Hello, World\nMore.\n")

	f := pullRequestFixture()
	f.Issues[1].Pull.Head.SHA, f.Issues[1].Pull.Base.SHA = head, base
	s := server(t, f, githubtest.Options{})
	j := newJob(t, s, "pull_request", "pull_request.opened.json", nil)
	if err := os.Remove(j.workspace); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(dir, j.workspace); err != nil {
		t.Fatal(err)
	}
	writeFile(j.t, filepath.Join(j.workspace, "lines.ndjson"), reviewLines)
	event := strings.NewReplacer("ec26c3e57ca3a959ca5aad62de7213c562f8c821", head, "f95f852bd8fca8fcc58a9a2d6c842781e32a215e", base).Replace(j.read(j.workflow, "event.json"))
	if !json.Valid([]byte(event)) || !strings.Contains(event, head) || !strings.Contains(event, base) {
		t.Fatal("the payload does not name the commits")
	}
	writeFile(j.t, filepath.Join(j.workflow, "event.json"), event)
	j.env["GITHUB_SHA"] = head
	j.input("config", "create-pull-request-review-comment:\ncreate-security-report:\n")
	return j, s
}

// arm names an evil program in the clone, the home directory and the environment,
// wherever git would take a program from there.
func arm(j *job) {
	const evil = "/github/workspace/.git/evil"
	writeFile(j.t, filepath.Join(j.workspace, ".git", "evil"), "#!/bin/sh\necho \"$0 $*\" >>/github/workspace/canary\ncat\n")
	config := strings.ReplaceAll(`[core]
	fsmonitor = EVIL
	hooksPath = /github/workspace/.git/hooks
	sshCommand = EVIL
	pager = EVIL
	askPass = EVIL
	alternateRefsCommand = EVIL
	attributesFile = /github/workspace/.gitattributes
[diff]
	external = EVIL
[diff "evil"]
	command = EVIL
	textconv = EVIL
[filter "evil"]
	clean = EVIL
	smudge = EVIL
	process = EVIL
[credential]
	helper = !EVIL
[alias]
	diff-tree = !EVIL
	cat-file = !EVIL
[remote "origin"]
	url = ext::EVIL
	promisor = true
	partialclonefilter = blob:none
[protocol "ext"]
	allow = always
[safe]
	directory = *
`, "EVIL", evil)
	writeFile(j.t, filepath.Join(j.workspace, ".git", "evil.inc"), config)
	writeFile(j.t, filepath.Join(j.workspace, ".git", "config"), "[core]\n\trepositoryformatversion = 0\n[include]\n\tpath = evil.inc\n[includeIf \"gitdir:/\"]\n\tpath = evil.inc\n")
	writeFile(j.t, filepath.Join(j.home, ".gitconfig"), config)
	for _, path := range []string{".gitattributes", ".git/info/attributes"} {
		writeFile(j.t, filepath.Join(j.workspace, path), "* diff=evil filter=evil\n")
	}
	for _, hook := range []string{"post-checkout", "pre-commit", "post-index-change", "reference-transaction"} {
		writeFile(j.t, filepath.Join(j.workspace, ".git", "hooks", hook), "#!/bin/sh\nexec "+evil+"\n")
		j.executable(".git/hooks/" + hook)
	}
	j.executable(".git/evil")
	j.env["GIT_EXTERNAL_DIFF"], j.env["GIT_SSH_COMMAND"], j.env["GIT_PAGER"], j.env["GIT_ASKPASS"] = evil, evil, evil, evil
	j.env["GIT_CONFIG_COUNT"], j.env["GIT_CONFIG_KEY_0"], j.env["GIT_CONFIG_VALUE_0"] = "1", "diff.external", evil
	j.env["GIT_CONFIG_GLOBAL"] = "/github/home/.gitconfig"
}

func (j *job) executable(path string) {
	j.t.Helper()
	if err := os.Chmod(filepath.Join(j.workspace, path), 0o755); err != nil {
		j.t.Fatal(err)
	}
}

// TestImageGitRunsNothing checks rule R6 of docs/security.md: git runs no program that is named by
// the clone in the workspace, by the home directory or by the environment. The clone can still be
// read.
func TestImageGitRunsNothing(t *testing.T) {
	j, s := cloned(t)
	arm(j)

	// The attack works: git itself, run in the workspace, runs the program.
	canary := filepath.Join(j.workspace, "canary")
	j.flags = []string{"--entrypoint", "git"}
	j.start("--no-pager", "diff", "HEAD~1", "HEAD").wait()
	if _, err := os.Stat(canary); err != nil {
		t.Fatalf("git did not run the program: %v", err)
	}
	if err := os.Remove(canary); err != nil {
		t.Fatal(err)
	}

	j.flags = nil
	res := j.run()
	if text, err := os.ReadFile(canary); err == nil {
		t.Errorf("the workspace ran:\n%s", text)
	}
	if res.code != 0 || len(s.Writes()) != 2 {
		t.Errorf("exit code %d, %d writes:\n%s%s", res.code, len(s.Writes()), res.stdout, res.stderr)
	}
	for _, r := range s.Requests() {
		if r.Operation == "pulls/list-files" || r.Operation == "repos/get-content" {
			t.Errorf("%s was asked, although the clone could tell", r.Operation)
		}
	}
	j.assertOwned()
}

// TestImagePolicyOfTheWorkspaceDoesNotRule checks rule R10 of docs/security.md: the policy is
// that of the base commit, read from GitHub, or from git's objects where there is no token.
func TestImagePolicyOfTheWorkspaceDoesNotRule(t *testing.T) {
	const path, strict, edited = ".github/airlock.yml", "add-issue-label:\n", "create-pull-request-review-comment:\ncreate-security-report:\n"
	t.Run("from GitHub", func(t *testing.T) {
		j, s := cloned(t)
		s.Change(func(f *githubtest.Fixture) {
			f.Files = append(f.Files,
				githubtest.StoredFile{Path: path, Ref: f.Issues[1].Pull.Base.SHA, Content: strict},
				githubtest.StoredFile{Path: path, Ref: f.Issues[1].Pull.Head.SHA, Content: edited})
		})
		writeFile(j.t, filepath.Join(j.workspace, path), edited)
		j.input("config", "", "config-file", path, "fail-on", "rejected")
		res := j.run()
		if res.code != 1 || len(s.Writes()) != 0 || !strings.Contains(res.stdout, "kind-not-enabled") {
			t.Errorf("exit code %d, %d writes:\n%s%s", res.code, len(s.Writes()), res.stdout, res.stderr)
		}
	})
	t.Run("from git, which lacks it", func(t *testing.T) {
		j, s := cloned(t)
		writeFile(j.t, filepath.Join(j.workspace, path), edited)
		j.input("config", "", "config-file", path, "token", "")
		res := j.run()
		if res.code != 2 || len(s.Requests()) != 0 || !strings.Contains(res.stdout, path) {
			t.Errorf("exit code %d, %d requests:\n%s%s", res.code, len(s.Requests()), res.stdout, res.stderr)
		}
	})
}
