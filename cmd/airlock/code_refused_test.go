package main_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/githubtest"
)

// asked is an agent's line.
const (
	askedPull = `{"type": "create-pull-request", "title": "Mend the README", "body": "It was wrong."}` + "\n"
	askedPush = `{"type": "push-to-branch", "message": "Apply the review"}` + "\n"
)

// bothCodeKinds enables both kinds that carry code.
const bothCodeKinds = "create-pull-request:\n  max: 2\npush-to-branch:\n"

// git runs git for the agent or for a person.
func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "GIT_CONFIG_NOSYSTEM=1", "LC_ALL=C",
		"GIT_AUTHOR_NAME=Ada Lovelace", "GIT_AUTHOR_EMAIL=ada@example.com", "GIT_COMMITTER_NAME=Agent", "GIT_COMMITTER_EMAIL=agent@example.com"}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %s: %v: %s", args, err, out)
	}
	return string(out)
}

// codeStep is a run of the binary in which an agent asks for something with code.
type codeStep struct {
	hosted
	t     *testing.T
	dir   string // where the binary runs
	work  string // the agent's workspace
	lines string
	args  []string
	env   []string
}

// newCodeStep has a workspace at the head of the event's pull request.
func newCodeStep(t *testing.T, lines string) *codeStep {
	t.Helper()
	s := &codeStep{hosted: newHosted(t), t: t, dir: t.TempDir(), lines: lines}
	s.work = s.checkout(t, "changes")
	s.args = []string{"apply", "--pace=0s", "--config", "policy.yml", "--input", "lines.ndjson", "--dir", s.work}
	return s
}

// run runs the binary on what was set up.
func (s *codeStep) run(args ...string) result {
	s.t.Helper()
	s.write(s.t, s.dir, "policy.yml", bothCodeKinds)
	s.write(s.t, s.dir, "lines.ndjson", s.lines)
	return run(s.t, s.dir, s.hosted.env(s.t, s.env...), "", append(s.args, args...)...)
}

// assertSays asserts how a run ended and what it said to a person.
func assertSays(t *testing.T, res result, code int, says ...string) {
	t.Helper()
	if res.code != code {
		t.Errorf("exit code %d, want %d:\n%s", res.code, code, res.stderr)
	}
	for _, want := range says {
		if !strings.Contains(res.stderr, want) {
			t.Errorf("it does not say %q:\n%s", want, res.stderr)
		}
	}
}

// TestCodeRefused asserts that whatever keeps an item that carries code from being
// done is said in one message with what to do, with the documented exit code, and
// that nothing is written.
func TestCodeRefused(t *testing.T) {
	t.Parallel()
	file := func(name, text string) func(*codeStep) {
		return func(s *codeStep) {
			s.write(s.t, s.dir, name, text)
			s.args = append(s.args, "--changes", name)
		}
	}
	both := func(fs ...func(*codeStep)) func(*codeStep) {
		return func(s *codeStep) {
			for _, f := range fs {
				f(s)
			}
		}
	}
	dirty := func(s *codeStep) { s.write(s.t, s.work, "docs/new.md", "New.\n") }
	pushes := func(s *codeStep) { s.lines = askedPush }
	pull := func(f func(*githubtest.Issue)) func(*codeStep) {
		return both(dirty, pushes, func(s *codeStep) { s.server.Change(func(fx *githubtest.Fixture) { f(fx.Issues[1]) }) })
	}
	may := func(p map[string]string) func(*codeStep) {
		return both(dirty, func(s *codeStep) {
			s.server.Change(func(fx *githubtest.Fixture) { fx.Tokens[0].Permissions = p })
		})
	}
	for _, tt := range []struct {
		name  string
		setup func(*codeStep)
		code  int
		says  []string
	}{
		{"missing patch", func(s *codeStep) { s.args = append(s.args, "--changes", "none.patch") }, 2, []string{"none.patch does not exist: check the path"}},
		{"directory", func(s *codeStep) { s.args = append(s.args, "--changes", ".") }, 2, []string{". is a directory: name a file in it"}},
		{"fifo", func(s *codeStep) { mkfifo(filepath.Join(s.dir, "pipe")); s.args = append(s.args, "--changes", "pipe") }, 2, []string{"pipe is a FIFO: write its text into a file first"}},
		{"empty", file("empty.patch", ""), 1, []string{`skipped (no-changes): there are no changes: the file "empty.patch" contains none`}},
		{"no patch", file("notes.txt", "Dear reader,\nthis is no patch.\n"), 1, []string{`"notes.txt" contains no patch: 'git format-patch --stdout BASE..'`}},
		{"a binary", file("notes.bin", "\x7fELF\x00\x01\x02"), 1, []string{`"notes.bin" contains no patch`}},
		{"does not apply", file("old.patch", "diff --git a/README.md b/README.md\n--- a/README.md\n+++ b/README.md\n@@ -1,2 +1,2 @@\n-# Something else\n+# Else\n entirely\n"), 1, []string{"failed (merge-conflict)", `"README.md"`, "name the right one (changes-base)"}},
		{"cut off", file("cut.patch", "diff --git a/README.md b/README.md\n--- a/README.md\n+++ b/README.md\n@@ -1,20 +1,2 @@\n-# Hello\n"), 1, []string{`"cut.patch", line 6`, "the file is cut off, or was edited; write it again"}},
		{"no bundle", file("x.bundle", "# v2 git bundle\n"), 1, []string{`"x.bundle"`, "the file is cut off, write it again"}},
		{"bundle without its base", func(s *codeStep) {
			other := githubtest.NewGit(s.t)
			other.Commit("x", map[string]string{"a": "a\n"}, "One")
			base := other.SHA("x")
			other.Commit("x", map[string]string{"a": "b\n"}, "Two")
			git(s.t, s.dir, "-C", other.Dir(), "bundle", "create", filepath.Join(s.dir, "x.bundle"), base+"..x")
			s.args = append(s.args, "--changes", "x.bundle")
		}, 1, []string{"failed (no-base)", `"x.bundle" builds on `, "bundle from a commit that GitHub has"}},
		{"conflict", func(s *codeStep) { s.write(s.t, s.work, "README.md", "# Hello, World\nMore, and more.\n") }, 1, []string{"failed (merge-conflict)", `"README.md": both sides changed the same lines`, "let the agent work on the current commit", ".airlock/airlock-"}},
		{"no clone", func(s *codeStep) { s.args = append(s.args, "--dir", s.dir) }, 1, []string{"failed (no-clone)", "check the repository out in this job (actions/checkout), or name the patch or bundle"}},
		{"unborn", func(s *codeStep) {
			empty := filepath.Join(s.t.TempDir(), "empty")
			git(s.t, s.dir, "init", "--quiet", empty)
			s.write(s.t, empty, "a", "a\n")
			s.args = append(s.args, "--dir", empty)
		}, 1, []string{"failed (no-base)", "has no commit yet: check out the one"}},
		{"no such folder", func(s *codeStep) { s.args = append(s.args, "--dir", "nowhere") }, 2, []string{"--dir: nowhere is not a directory"}},
		{"unknown base", both(dirty, func(s *codeStep) { s.args = append(s.args, "--changes-base", "trunk") }), 2, []string{`the base "trunk"`, "correct changes-base"}},
		{"base elsewhere", both(dirty, func(s *codeStep) { s.args = append(s.args, "--changes-base", strings.Repeat("ab", 20)) }), 1, []string{"failed (no-base)", "abababa could not be fetched"}},
		{"nothing changed", func(*codeStep) {}, 1, []string{"skipped (no-changes)", "the agent has to leave them in the workspace"}},
		{"no token", both(dirty, func(s *codeStep) { s.env = append(s.env, "GITHUB_TOKEN=") }), 2, []string{"set GITHUB_TOKEN, or add --dry-run"}},
		{"wrong token", both(dirty, func(s *codeStep) { s.env = append(s.env, "GITHUB_TOKEN=ghs_Wrong0123456789") }), 3, []string{"give a token that is valid for this host"}},
		{"read-only token", may(map[string]string{"contents": "read", "pull_requests": "read", "metadata": "read"}), 1, []string{"failed (permission): could not push: the token lacks the permission contents: write", ".airlock/airlock-"}},
		{"closed", pull(func(i *githubtest.Issue) { i.State = "closed" }), 1, []string{"skipped (closed): pull request #2 is closed", "reopen it", ".airlock/airlock-"}},
		{"fork", pull(func(i *githubtest.Issue) { i.Pull.Head.Fork = "someone/Hello-World" }), 1, []string{"skipped (fork-head)", "create-pull-request", ".airlock/airlock-"}},
		{"protected file", func(s *codeStep) { s.write(s.t, s.work, ".github/workflows/x.yml", "on: push\n") }, 1, []string{"denied (protected-files): nothing was pushed", `".github/workflows/x.yml"`, "to allow it", ".airlock/airlock-"}},
		{"branch name", both(dirty, func(s *codeStep) {
			s.lines = strings.Replace(askedPull, `"body"`, `"branch": "a..b", "body"`, 1)
		}), 1, []string{"failed (invalid)", `"a..b"`, "git allows no"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newCodeStep(t, askedPull)
			tt.setup(s)
			assertSays(t, s.run(), tt.code, tt.says...)
			for _, w := range s.server.Writes() {
				if w.Operation == "git-http/receive-pack" && tt.name == "read-only token" {
					continue // asked, and refused
				}
				t.Errorf("wrote %s %s", w.Method, w.Path)
			}
		})
	}
}

// TestCodeHalfDone asserts what is said where GitHub refuses a part: the branch
// stays and is linked to, or the changes are kept.
func TestCodeHalfDone(t *testing.T) {
	t.Parallel()
	t.Run("no pull request", func(t *testing.T) {
		s := newCodeStep(t, askedPull)
		s.write(t, s.work, "docs/new.md", "New.\n")
		s.server.Change(func(fx *githubtest.Fixture) {
			fx.Tokens[0].Permissions = map[string]string{"contents": "write", "pull_requests": "read", "metadata": "read"}
		})
		res := s.run()
		assertSays(t, res, 1, "failed (permission)", "pull-requests: write", "was pushed; open the pull request by hand: https://github.com/Codertocat/Hello-World/compare/master...airlock/")
		if strings.Contains(res.stderr, "kept as a patch") {
			t.Errorf("a patch is kept of what a branch holds:\n%s", res.stderr)
		}
	})
	t.Run("protected branch", func(t *testing.T) {
		s := newCodeStep(t, askedPush)
		s.write(t, s.work, "docs/new.md", "New.\n")
		s.server.Change(func(fx *githubtest.Fixture) { fx.Repo.Protected = []string{"changes"} })
		assertSays(t, s.run(), 1, "failed (push-refused)", "GH006", "let the agent ask for a pull request (create-pull-request)", ".airlock/airlock-")
		if s.git.SHA("changes") != s.start {
			t.Error("the branch has moved")
		}
	})
}
