package main_test

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-airlock/airlock/internal/githubtest"
	"github.com/agent-airlock/airlock/internal/shorttest"
)

// The lines of an agent that asks for something with code.
const (
	askedPull = `{"type": "create-pull-request", "title": "Mend the README", "body": "It was wrong."}` + "\n"
	askedPush = `{"type": "push-to-branch", "message": "Apply the review"}` + "\n"
)

// bothCodeKinds enables both kinds that carry code.
const bothCodeKinds = "create-pull-request:\n  max: 2\npush-to-branch:\n"

// git runs git for the agent or for a person.
func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "maintenance.auto=false"}, args...)...)
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "GIT_CONFIG_NOSYSTEM=1", "LC_ALL=C",
		"GIT_AUTHOR_NAME=Ada Lovelace", "GIT_AUTHOR_EMAIL=ada@example.com", "GIT_COMMITTER_NAME=Agent", "GIT_COMMITTER_EMAIL=agent@example.com"}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %s: %v: %s", args, err, out)
	}
	return string(out)
}

// makeRepository makes a directory a repository, whose only commit has its files.
func makeRepository(t *testing.T, dir string) {
	t.Helper()
	git(t, dir, "init", "--quiet", "--initial-branch=main")
	git(t, dir, "add", ".")
	git(t, dir, "commit", "--quiet", "--allow-empty", "--message", "one")
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

// newCodeStep returns a step with a workspace at the head of the event's pull request.
func newCodeStep(t *testing.T, lines string) *codeStep {
	t.Helper()
	s := &codeStep{hosted: newHosted(t), t: t, dir: t.TempDir(), lines: lines}
	s.work = s.checkout(t, "changes")
	s.args = []string{"apply", "--pace=0s", "--config", "policy.yml", "--input", "lines.ndjson", "--dir", s.work}
	return s
}

// run writes the policy and the lines, and runs the binary.
func (s *codeStep) run(args ...string) result {
	s.t.Helper()
	writeFile(s.t, filepath.Join(s.dir, "policy.yml"), bothCodeKinds)
	writeFile(s.t, filepath.Join(s.dir, "lines.ndjson"), s.lines)
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

// TestCodeRefused asserts what happens when an item that carries code cannot be done: one message
// says why and what to do, the exit code is the documented one, and nothing is written.
func TestCodeRefused(t *testing.T) {
	t.Parallel()
	file := func(name, text string) func(*codeStep) {
		return func(s *codeStep) {
			writeFile(s.t, filepath.Join(s.dir, name), text)
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
	dirty := func(s *codeStep) { writeFile(s.t, filepath.Join(s.work, "docs/new.md"), "New.\n") }
	pushes := func(s *codeStep) { s.lines = askedPush }
	pull := func(f func(*githubtest.Issue)) func(*codeStep) {
		return both(dirty, pushes, func(s *codeStep) { s.server.Change(func(fx *githubtest.Fixture) { f(fx.Issues[1]) }) })
	}
	may := func(p map[string]string) func(*codeStep) {
		return both(dirty, func(s *codeStep) {
			s.server.Change(func(fx *githubtest.Fixture) { fx.Tokens[0].Permissions = p })
		})
	}
	answers := func(operation string, status int, message string) func(*codeStep) {
		return both(dirty, func(s *codeStep) {
			s.server.SetFault(githubtest.Faults([]githubtest.FaultRule{{Operation: operation, Fault: githubtest.Fault{Status: status, Body: message, Header: http.Header{"Content-Type": {"text/plain"}}}}}))
		})
	}
	for _, tt := range shorttest.First(3, []struct {
		name  string
		setup func(*codeStep)
		code  int
		says  []string
	}{
		{"missing patch", func(s *codeStep) { s.args = append(s.args, "--changes", "none.patch") }, 2, []string{"none.patch does not exist: check the path"}},
		{"directory", func(s *codeStep) { s.args = append(s.args, "--changes", ".") }, 2, []string{". is a directory: name a file in it"}},
		{"fifo", func(s *codeStep) { mkfifo(filepath.Join(s.dir, "pipe")); s.args = append(s.args, "--changes", "pipe") }, 2, []string{"pipe is a FIFO: write its text into a file first"}},
		{"empty", file("empty.patch", ""), 1, []string{`skipped (no-changes): there are no changes: the file "empty.patch" contains none`}},
		{"no patch", file("notes.txt", "Dear reader,\nthis is not a patch.\n"), 1, []string{`"notes.txt" contains no patch: 'git format-patch --stdout BASE..'`}},
		{"a binary", file("notes.bin", "\x7fELF\x00\x01\x02"), 1, []string{`"notes.bin" contains no patch`}},
		{"does not apply", file("old.patch", "diff --git a/README.md b/README.md\n--- a/README.md\n+++ b/README.md\n@@ -1,2 +1,2 @@\n-# Something else\n+# Else\n entirely\n"), 1, []string{"failed (merge-conflict)", `"README.md"`, "name the right one (changes-base)"}},
		{"cut off", file("cut.patch", "diff --git a/README.md b/README.md\n--- a/README.md\n+++ b/README.md\n@@ -1,20 +1,2 @@\n-# Hello\n"), 1, []string{`"cut.patch", line 6`, "the file is cut off, or was edited; write it again"}},
		{"cut-off bundle", file("x.bundle", "# v2 git bundle\n"), 1, []string{`"x.bundle"`, "the file is cut off, write it again"}},
		{"bundle without its base", func(s *codeStep) {
			other := githubtest.NewGit(s.t)
			other.Commit("x", map[string]string{"a": "a\n"}, "One")
			base := other.SHA("x")
			other.Commit("x", map[string]string{"a": "b\n"}, "Two")
			git(s.t, s.dir, "-C", other.Dir(), "bundle", "create", filepath.Join(s.dir, "x.bundle"), base+"..x")
			s.args = append(s.args, "--changes", "x.bundle")
		}, 1, []string{"failed (no-base)", `"x.bundle" builds on `, "bundle from a commit that GitHub has"}},
		{"conflict", func(s *codeStep) {
			writeFile(s.t, filepath.Join(s.work, "README.md"), "# Hello, World\nMore, and more.\n")
		}, 1, []string{"failed (merge-conflict)", `"README.md": both sides changed the same lines`, "let the agent work on the current commit", ".airlock/airlock-"}},
		{"fifo among the objects", func(s *codeStep) {
			dirty(s)
			mkfifo(filepath.Join(s.work, ".git", "objects", "pack", "pack-x.idx"))
		}, 1, []string{"failed (no-clone)", "pack-x.idx is not an ordinary file: remove it from the clone, or check the repository out again"}},
		{"no clone", func(s *codeStep) { s.args = append(s.args, "--dir", s.dir) }, 1, []string{"failed (no-clone)", "check the repository out in this job (actions/checkout), or name the patch or bundle"}},
		{"unborn", func(s *codeStep) {
			empty := filepath.Join(s.t.TempDir(), "empty")
			git(s.t, s.dir, "init", "--quiet", empty)
			writeFile(s.t, filepath.Join(empty, "a"), "a\n")
			s.args = append(s.args, "--dir", empty)
		}, 1, []string{"failed (no-base)", "has no commit yet: check out the one"}},
		{"no such directory", func(s *codeStep) { s.args = append(s.args, "--dir", "nowhere") }, 2, []string{"--dir: nowhere is not a directory"}},
		{"unknown base", both(dirty, func(s *codeStep) { s.args = append(s.args, "--changes-base", "trunk") }), 2, []string{`the base "trunk"`, "correct changes-base"}},
		{"base elsewhere", both(dirty, func(s *codeStep) { s.args = append(s.args, "--changes-base", strings.Repeat("ab", 20)) }), 1, []string{"failed (no-base)", "abababa could not be fetched"}},
		{"nothing changed", func(*codeStep) {}, 1, []string{"skipped (no-changes)", "the agent has to leave them in the workspace"}},
		{"no token", both(dirty, func(s *codeStep) { s.env = append(s.env, "GITHUB_TOKEN=") }), 2, []string{"set GITHUB_TOKEN, or add --dry-run"}},
		{"wrong token", both(dirty, func(s *codeStep) { s.env = append(s.env, "GITHUB_TOKEN=ghs_Wrong0123456789") }), 3, []string{"give a token that is valid for this host"}},
		{"read-only token", may(map[string]string{"contents": "read", "pull_requests": "read", "metadata": "read"}), 1, []string{"failed (permission): could not push: the token lacks the permission contents: write", ".airlock/airlock-"}},
		{"archived", both(dirty, func(s *codeStep) {
			s.server.Change(func(fx *githubtest.Fixture) { fx.Repo.Archived = true })
		}), 1, []string{"failed (archived): could not push: the repository is archived", "unarchive the repository", ".airlock/airlock-"}},
		{"expired token", answers("git-http/refs-of-receive-pack", 401, "Invalid username or token."), 1, []string{"failed (unauthorized): could not push: GitHub does not accept the token any more", "run the job again", ".airlock/airlock-"}},
		{"single sign-on", answers("git-http/refs-of-receive-pack", 403, "The 'acme' organization has enabled or enforced SAML SSO."), 1, []string{"the organization's rules about access do not let the token in", "permissions do not help", ".airlock/airlock-"}},
		{"taken down", answers("git-http/refs-of-receive-pack", 451, "Repository access blocked."), 1, []string{"GitHub has blocked access to the repository for legal reasons", ".airlock/airlock-"}},
		{"renamed", answers("git-http/refs-of-receive-pack", 301, ""), 1, []string{"failed (not-found): could not push: it has moved: the repository was renamed or transferred", "use its new name", ".airlock/airlock-"}},
		{"no base branch", both(dirty, func(s *codeStep) { s.git.DeleteBranch("master") }), 1, []string{`failed (no-base): the branch "master"`, "if the repository is empty, push a first commit to it; otherwise set base", "kept as a patch", ".airlock/airlock-"}},
		{"no repository", answers("repos/get", 404, `{"message":"Not Found"}`), 1, []string{"failed (not-found)", "kept as a patch", ".airlock/airlock-"}},
		{"closed", pull(func(i *githubtest.Issue) { i.State = "closed" }), 1, []string{"skipped (closed): pull request #2 is closed", "reopen it", ".airlock/airlock-"}},
		{"fork", pull(func(i *githubtest.Issue) { i.Pull.Head.Fork = "someone/Hello-World" }), 1, []string{"skipped (fork-head)", "create-pull-request", ".airlock/airlock-"}},
		{"protected file", func(s *codeStep) { writeFile(s.t, filepath.Join(s.work, ".github/workflows/x.yml"), "on: push\n") }, 1, []string{"denied (protected-files): nothing was pushed", `".github/workflows/x.yml"`, "to allow it", ".airlock/airlock-"}},
	}) {
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

// TestCodeHalfDone asserts that, if the pull request for a pushed branch is refused, the message
// links to the page that opens it by hand, and that, if the branch to push to is protected, the
// changes are kept as a patch.
func TestCodeHalfDone(t *testing.T) {
	t.Parallel()
	t.Run("no pull request", func(t *testing.T) {
		s := newCodeStep(t, askedPull)
		writeFile(t, filepath.Join(s.work, "docs/new.md"), "New.\n")
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
		for _, protect := range []func(*githubtest.Fixture){
			func(fx *githubtest.Fixture) { fx.Repo.Protected = []string{"changes"} },
			func(fx *githubtest.Fixture) { fx.Repo.Ruled = []string{"chang*"} },
		} {
			s := newCodeStep(t, askedPush)
			writeFile(t, filepath.Join(s.work, "docs/new.md"), "New.\n")
			s.server.Change(protect)
			assertSays(t, s.run(), 1, "denied (protected-branch)", "push-to-branch leaves such branches alone", "let the agent ask for a pull request of its own (create-pull-request)", ".airlock/airlock-")
			if w := s.server.Writes(); len(w) != 0 {
				t.Errorf("%d writes", len(w))
			}
		}
	})
	t.Run("protected branch, which the token may not read", func(t *testing.T) {
		s := newCodeStep(t, askedPush)
		writeFile(t, filepath.Join(s.work, "docs/new.md"), "New.\n")
		s.server.Change(func(fx *githubtest.Fixture) { fx.Repo.Protected = []string{"changes"} })
		s.server.SetFault(githubtest.Faults([]githubtest.FaultRule{{Operation: "repos/get-branch", Fault: githubtest.Fault{Status: 403, Body: `{"message":"Resource not accessible by integration"}`}}}))
		assertSays(t, s.run(), 1, "failed (push-refused)", "GH006", "let the agent ask for a pull request (create-pull-request)", ".airlock/airlock-")
		if s.git.SHA("changes") != s.start {
			t.Error("the branch has moved")
		}
	})
}

// TestCodeWithoutAConfirmation has GitHub answer the creation of a pull request in an unexpected
// form. It asserts that the report names the pull request that exists, and that no other pull
// request or issue is changed.
func TestCodeWithoutAConfirmation(t *testing.T) {
	t.Parallel()
	for name, rule := range map[string]githubtest.FaultRule{
		"about another":    {Times: 1, Fault: githubtest.Fault{Status: 201, Body: `{"id":7,"number":1}`}},
		"cut off":          {Times: 1, Fault: githubtest.Fault{Status: 206, Body: `{"id":7,"number":1,"head":{"ref":"changes"},"base":{"ref":"master"}}`}},
		"never understood": {Fault: githubtest.Fault{Garbage: "true"}},
		"not modified":     {Times: 1, Fault: githubtest.Fault{Status: 304, After: true}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newCodeStep(t, strings.Replace(askedPull, `"title"`, `"labels": ["automation"], "title"`, 1))
			writeFile(t, filepath.Join(s.work, "docs/new.md"), "New.\n")
			rule.Operation = "pulls/create"
			s.server.SetFault(githubtest.Faults([]githubtest.FaultRule{rule}))
			assertSays(t, s.run(), 0, "/Codertocat/Hello-World/pull/3")
			issues := s.server.State().Issues
			if len(issues) != 3 || len(issues[0].Labels) != 0 || !cmp.Equal(issues[2].Labels, []string{"automation"}) {
				t.Errorf("%d issues, labels %q", len(issues), issues[0].Labels)
			}
		})
	}
}

// TestCodeSwitchesNoWorkflowsOff asserts that no instruction to skip workflows remains in the
// commits, or in the title and text of a pull request, which become a merge commit's message.
func TestCodeSwitchesNoWorkflowsOff(t *testing.T) {
	t.Parallel()
	s := newCodeStep(t, `{"type": "create-pull-request", "title": "Mend it [no ci]", "body": "It was wrong. [skip ci]\n\nskip-checks: true"}`)
	writeFile(t, filepath.Join(s.work, "docs/new.md"), "New.\n")
	git(t, s.work, "add", "-A")
	git(t, s.work, "commit", "--quiet", "-m", "Add a file [ci skip]\n\n Skip-Checks : true")
	assertSays(t, s.run(), 0, "words that keep workflows from running were made inert")
	pull := s.server.State().Issues[2]
	message := s.git.Run("log", "-1", "--format=%B", pull.Pull.Head.Ref)
	for _, shown := range []string{"(no ci)", "(skip ci)", "\n(skip-checks: true)", "(ci skip)", "\n(Skip-Checks : true)"} {
		if !strings.Contains(pull.Title+"\n"+pull.Body+"\n"+message, shown) {
			t.Errorf("no %q in %q, %q, %q", shown, pull.Title, pull.Body, message)
		}
	}
}

// TestCodeSources brings the changes of the same two commits of an agent to GitHub in every way in
// which a job can have them. Only commits, a series of patches and a bundle stay two commits.
func TestCodeSources(t *testing.T) {
	t.Parallel()
	const diff = "diff --git a/docs/new.md b/docs/new.md\nnew file mode 100644\n--- /dev/null\n+++ b/docs/new.md\n@@ -0,0 +1 @@\n+Better.\n"
	elsewhere := func(s *codeStep) { s.args = append(s.args, "--dir", s.dir) } // no clone there
	for _, tt := range shorttest.First(2, []struct {
		name  string
		setup func(*codeStep)
		want  []string // the commits' authors and subjects, the newest first
	}{
		{"commits of a detached HEAD", func(*codeStep) {}, []string{"Ada Lovelace: Improve it", "Ada Lovelace: Add a file"}},
		{"commits of a branch", func(s *codeStep) { git(s.t, s.work, "checkout", "--quiet", "-b", "mine") }, []string{"Ada Lovelace: Improve it", "Ada Lovelace: Add a file"}},
		{"shallow clone", func(s *codeStep) {
			git(s.t, s.work, "fetch", "--quiet", "--depth=3", "file://"+s.work, "HEAD")
		}, []string{"Ada Lovelace: Improve it", "Ada Lovelace: Add a file"}},
		{"uncommitted", func(s *codeStep) { git(s.t, s.work, "reset", "--quiet", "--mixed", s.start) }, []string{"github-actions[bot]: Mend the README"}},
		{"series", func(s *codeStep) {
			s.changes("agent.patch", git(s.t, s.work, "format-patch", "--stdout", s.start+".."))
		}, []string{"Ada Lovelace: Improve it", "Ada Lovelace: Add a file"}},
		{"series without a clone", func(s *codeStep) {
			elsewhere(s)
			s.changes("agent.patch", git(s.t, s.work, "format-patch", "--stdout", s.start+".."))
		}, []string{"Ada Lovelace: Improve it", "Ada Lovelace: Add a file"}},
		{"diff", func(s *codeStep) { s.changes("agent.diff", diff) }, []string{"github-actions[bot]: Mend the README"}},
		{"diff without a clone", func(s *codeStep) { elsewhere(s); s.changes("agent.diff", diff) }, []string{"github-actions[bot]: Mend the README"}},
		{"diff without a clone, on a base", func(s *codeStep) {
			elsewhere(s)
			s.changes("agent.diff", diff)
			s.args = append(s.args, "--changes-base", s.git.SHA("master"))
		}, []string{"github-actions[bot]: Mend the README"}},
		{"bundle", func(s *codeStep) { s.bundle() }, []string{"Ada Lovelace: Improve it", "Ada Lovelace: Add a file"}},
		{"bundle without a clone", func(s *codeStep) { elsewhere(s); s.bundle() }, []string{"Ada Lovelace: Improve it", "Ada Lovelace: Add a file"}},
	}) {
		t.Run(tt.name, func(t *testing.T) {
			s := newCodeStep(t, askedPull)
			s.agentCommits()
			tt.setup(s)
			assertSays(t, s.run(), 0, "create-pull-request", "/Codertocat/Hello-World/pull/3")
			pull := s.server.State().Issues[2].Pull
			branch := pull.Head.Ref
			got := strings.Split(s.git.Run("log", "--format=%an: %s", "master.."+branch), "\n")
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("commits (-want +got):\n%s", diff)
			}
			if got := s.git.Run("diff", "--name-status", "master", branch); got != "A\tdocs/new.md" {
				t.Errorf("the pull request changes\n%s", got)
			}
			if got := s.git.Run("show", branch+":docs/new.md"); got != "Better." {
				t.Errorf("docs/new.md says %q", got)
			}
		})
	}
}

// TestCodeOfEarlierCommits makes a commit that adds a workflow and a file of 2 MiB, which is over
// the limit, and a last commit that deletes both. It asserts that they do not reach GitHub, whether
// the changes are a clone, a patch or a bundle.
func TestCodeOfEarlierCommits(t *testing.T) {
	t.Parallel()
	for name, setup := range map[string]func(s *codeStep){
		"workspace": func(*codeStep) {},
		"series": func(s *codeStep) {
			s.changes("agent.patch", git(s.t, s.work, "format-patch", "--binary", "--stdout", s.start+".."))
		},
		"bundle": func(s *codeStep) { s.bundle() },
	} {
		s := newCodeStep(t, askedPull)
		writeFile(t, filepath.Join(s.work, ".github/workflows/x.yml"), "on: push\n")
		writeFile(t, filepath.Join(s.work, "large.bin"), strings.Repeat("\x00123456789abcdef", 2<<16))
		s.agentCommits()
		git(t, s.work, "rm", "--quiet", "-r", ".github", "large.bin")
		git(t, s.work, "commit", "--quiet", "-m", "Clean up")
		setup(s)
		assertSays(t, s.run(), 0, "/Codertocat/Hello-World/pull/3", `the 3 commits were squashed into one, because commit 1 of 3 ("Add a file") breaks a rule`)
		branch := s.server.State().Issues[2].Pull.Head.Ref
		if got := s.git.Run("log", "--format=%s", "--name-only", "master.."+branch); got != "Mend the README\n\ndocs/new.md" {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// TestCodeOfDeniedItem asserts that the changes of an item that the policy denies, or whose text
// contains a secret, are kept as a patch.
func TestCodeOfDeniedItem(t *testing.T) {
	t.Parallel()
	for name, lines := range map[string]string{
		"branch": strings.Replace(askedPull, `"title"`, `"branch": "other", "title"`, 1),
		"secret": strings.NewReplacer("It was wrong.", "It was `correct-horse-battery`.", `"title"`, `"branch": "docs/x", "title"`).Replace(askedPull),
	} {
		s := newCodeStep(t, lines)
		s.agentCommits()
		s.env = []string{"AIRLOCK_SECRETS=correct-horse-battery"}
		writeFile(t, filepath.Join(s.dir, "policy2.yml"), "create-pull-request:\n  allowed-branches: [docs/*]\n")
		res := s.run("--config", "policy2.yml")
		assertSays(t, res, 1, "denied ("+map[string]string{"branch": "allowed-branches", "secret": "secret"}[name]+")", "the changes are kept as a patch")
		patches, err := filepath.Glob(filepath.Join(s.dir, ".airlock", "*.patch"))
		if err != nil || len(patches) != 1 {
			t.Fatalf("%s: %q, %v\n%s", name, patches, err, res.stderr)
		}
		if text, err := os.ReadFile(patches[0]); err != nil || !strings.Contains(string(text), "+Better.") {
			t.Errorf("%s: %s, %v", name, text, err)
		}
		if w := s.server.Writes(); len(w) != 0 {
			t.Errorf("%s: %d writes", name, len(w))
		}
	}
}

// agentCommits makes two commits in the workspace.
func (s *codeStep) agentCommits() {
	s.t.Helper()
	for _, c := range [][2]string{{"New.\n", "Add a file"}, {"Better.\n", "Improve it"}} {
		writeFile(s.t, filepath.Join(s.work, "docs/new.md"), c[0])
		git(s.t, s.work, "add", "-A")
		git(s.t, s.work, "commit", "--quiet", "-m", c[1])
	}
}

// changes writes the agent's changes to a file, and adds the argument that names it.
func (s *codeStep) changes(name, text string) {
	s.t.Helper()
	writeFile(s.t, filepath.Join(s.dir, name), text)
	s.args = append(s.args, "--changes", name)
}

// bundle writes the agent's commits to a bundle, and adds the argument that names it.
func (s *codeStep) bundle() {
	s.t.Helper()
	git(s.t, s.work, "bundle", "create", "--quiet", filepath.Join(s.dir, "agent.bundle"), s.start+"..HEAD")
	s.args = append(s.args, "--changes", "agent.bundle")
}

// TestCodeDryRun plans the commits of a workspace without a token: nothing is
// written anywhere, not even below the workspace's .git.
func TestCodeDryRun(t *testing.T) {
	t.Parallel()
	s := newCodeStep(t, askedPull+askedPush)
	s.agentCommits()
	s.env = []string{"GITHUB_TOKEN="}
	before := snapshot(t, s.work)
	res := s.run("--dry-run")
	assertSays(t, res, 0, "open the pull request \"Mend the README\"", "PUSH refs/heads/airlock/", "PUSH refs/heads/changes", "contents: write")
	if diff := cmp.Diff(before, snapshot(t, s.work)); diff != "" {
		t.Errorf("the workspace has changed (-before +after):\n%s", diff)
	}
	if n := len(s.server.Requests()); n != 0 {
		t.Errorf("%d requests without a token", n)
	}
	rep := parse[struct {
		Plan struct {
			Operations []struct {
				Requests []struct {
					Method, Path string
					Body         struct{ Commits []string }
				}
			}
		}
	}](t, res.stdout)
	for i, op := range rep.Plan.Operations {
		if push := op.Requests[0]; push.Method != "PUSH" || len(push.Body.Commits) != 2 {
			t.Errorf("operation %d: %+v", i+1, push)
		}
	}
}

// snapshot lists every file below a directory with its content and time.
func snapshot(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		files[path] = info.Mode().String() + " " + info.ModTime().String()
		if info.Mode().IsRegular() {
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			files[path] += " " + string(data)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// newCodeWorkspace returns the workspace of a step on a runner that has checked out the head of the
// event's pull request. It contains an agent's lines and files.
func newCodeWorkspace(t *testing.T, h hosted, lines string, files map[string]string) workspace {
	t.Helper()
	ws := newWorkspace(t, nil)
	ws.dir = h.checkout(t, "changes")
	for name, text := range files {
		writeFile(t, filepath.Join(ws.dir, name), text)
	}
	git(t, ws.dir, "add", "-A")
	git(t, ws.dir, "commit", "--quiet", "-m", "Do what was asked for")
	writeFile(t, filepath.Join(ws.dir, "lines.ndjson"), lines) // not committed: it is not one of the agent's changes
	return ws
}

// TestActionCode opens a pull request and pushes to the event's, and reports both to
// later steps and to people.
func TestActionCode(t *testing.T) {
	t.Parallel()
	h := newHosted(t)
	ws := newCodeWorkspace(t, h, askedPull+askedPush, map[string]string{"docs/new.md": "New.\n"})
	res := run(t, ws.dir, ws.env(h.env(t), map[string]string{"output-file": "lines.ndjson", "config": bothCodeKinds}), "", "action")
	if res.code != 0 {
		t.Fatalf("exit code %d\n%s%s", res.code, res.stdout, res.stderr)
	}
	assertOwnCommands(t, res.stdout, secret)
	pull := h.server.State().Issues[2]
	branch := pull.Pull.Head.Ref
	out := ws.outputs(t)
	for name, want := range map[string]string{
		"applied": "2", "failed": "0", "pull-request-number": "3", "pull-request-url": "https://github.com/Codertocat/Hello-World/pull/3",
		"branch": branch, "commit-sha": h.git.SHA(branch), "patch-file": "",
	} {
		if out[name] != want {
			t.Errorf("output %s is %q, want %q", name, out[name], want)
		}
	}
	for _, b := range []string{branch, "changes"} {
		if got := h.git.Run("diff", "--name-status", b+"~1", b); got != "A\tdocs/new.md" {
			t.Errorf("%s changes\n%s", b, got)
		}
	}
	summary := readFile(t, ws.summary)
	for _, want := range []string{
		"## Airlock: all 2 requests done", "[pull request #3](https://github.com/Codertocat/Hello-World/pull/3)",
		"on `changes`", "[commit " + h.git.SHA("changes")[:7] + "](https://github.com/Codertocat/Hello-World/commit/" + h.git.SHA("changes") + ")",
	} {
		if !strings.Contains(summary, want) {
			t.Errorf("the summary lacks %q:\n%s", want, summary)
		}
	}
}

// TestActionCodeRefused asserts that changes that the policy denies are kept as a patch that people
// find.
func TestActionCodeRefused(t *testing.T) {
	t.Parallel()
	h := newHosted(t)
	ws := newCodeWorkspace(t, h, askedPull, map[string]string{"docs/new.md": "New.\n", ".github/workflows/x.yml": "on: push\n"})
	res := run(t, ws.dir, ws.env(h.env(t), map[string]string{"output-file": "lines.ndjson", "config": bothCodeKinds}), "", "action")
	if res.code != 0 || len(h.server.Writes()) != 0 {
		t.Errorf("exit code %d, %d writes:\n%s%s", res.code, len(h.server.Writes()), res.stdout, res.stderr)
	}
	out := ws.outputs(t)
	if out["denied"] != "1" || out["branch"] != "" || !strings.HasPrefix(out["patch-file"], ".airlock/airlock-") {
		t.Errorf("outputs: %q", out)
	}
	patch := filepath.Join(ws.dir, out["patch-file"])
	if text := readFile(t, patch); !strings.Contains(text, "+++ b/.github/workflows/x.yml") || !strings.Contains(text, "+++ b/docs/new.md") {
		t.Errorf("the patch holds\n%s", text)
	}
	if summary := readFile(t, ws.summary); !strings.Contains(summary, "`"+out["patch-file"]+"`") || !strings.Contains(summary, "**protected-files**: nothing was pushed: \".github/workflows/x.yml\" is protected") {
		t.Errorf("the summary:\n%s", summary)
	}
	if !strings.Contains(res.stdout, "::warning title=Airlock denied create-pull-request (line 1)::") {
		t.Errorf("no annotation:\n%s", res.stdout)
	}
	git(t, ws.dir, "checkout", "--quiet", h.start) // a person can apply the patch
	git(t, ws.dir, "am", "--quiet", "--3way", patch)
}

// TestActionSecrets finds a value of the agent's job in its changes: nothing is
// pushed, and the value appears nowhere.
func TestActionSecrets(t *testing.T) {
	t.Parallel()
	const known, other = "correct horse battery staple", "tr0ub4dor&3-tr0ub4dor"
	for _, tt := range shorttest.First(1, []struct {
		name string
		file string
	}{
		{"as it is", "key = " + known + "\n"},
		{"in base64", "key = dHIwdWI0ZG9yJjMtdHIwdWI0ZG9y\n"},
		{"in an address", "https://example.com/?key=tr0ub4dor%263-tr0ub4dor\n"},
	}) {
		t.Run(tt.name, func(t *testing.T) {
			h := newHosted(t)
			ws := newCodeWorkspace(t, h, askedPull+`{"type": "create-issue", "title": "Key", "body": "It is `+known+`"}`+"\n", map[string]string{"docs/new.md": tt.file})
			res := run(t, ws.dir, ws.env(h.env(t), map[string]string{
				"output-file": "lines.ndjson", "config": bothCodeKinds + "create-issue:\n", "secrets": known + "\n" + other + "\n",
			}), "", "action")
			if len(h.server.Writes()) != 0 {
				t.Errorf("%d writes", len(h.server.Writes()))
			}
			for _, v := range []string{known, other} {
				if !strings.Contains(res.stdout, "::add-mask::"+v+"\n") {
					t.Errorf("the runner is not told to mask %q", v)
				}
			}
			out := ws.outputs(t)
			if out["denied"] != "2" || out["patch-file"] == "" {
				t.Errorf("outputs: %q", out)
			}
			if patch := readFile(t, filepath.Join(ws.dir, out["patch-file"])); !strings.Contains(patch, "+++ b/docs/new.md") || !strings.Contains(patch, "***") {
				t.Errorf("the patch is not kept with the secret masked:\n%s", patch)
			}
			if !strings.Contains(readFile(t, ws.summary), "**secret**") {
				t.Errorf("the summary:\n%s", readFile(t, ws.summary))
			}
			shown := []string{withoutMasks(res.stdout), res.stderr, readFile(t, ws.summary), readFile(t, ws.output)}
			left, err := os.ReadDir(filepath.Join(ws.dir, ".airlock"))
			if err != nil || len(left) == 0 {
				t.Fatalf("the step's files: %v, %v", left, err)
			}
			for _, f := range left {
				if f.Name() == "agent-output.json" {
					continue // the agent's own words, on their way to the gate that denies them
				}
				shown = append(shown, readFile(t, filepath.Join(ws.dir, ".airlock", f.Name())))
			}
			for i, text := range shown {
				for _, form := range secretForms(known, other) {
					if strings.Contains(text, form) {
						t.Errorf("text %d shows a secret as %q:\n%s", i, form, text)
					}
				}
			}
		})
	}
}

// TestSecretsOfTheCommandLine asserts that airlock apply knows the values of AIRLOCK_SECRETS.
func TestSecretsOfTheCommandLine(t *testing.T) {
	t.Parallel()
	const known = "correct horse battery staple"
	s := newCodeStep(t, askedPush)
	writeFile(t, filepath.Join(s.work, "docs/new.md"), "It is "+known+".\n")
	s.env = []string{"AIRLOCK_SECRETS=another value\n" + known}
	res := s.run()
	assertSays(t, res, 1, "denied (secret): nothing was pushed: the file \"docs/new.md\" contains a secret in line 1, column 7")
	if len(s.server.Writes()) != 0 || strings.Contains(res.stderr+res.stdout, known) {
		t.Errorf("%d writes\n%s", len(s.server.Writes()), res.stderr)
	}
}
