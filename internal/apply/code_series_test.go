package apply

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/agentchanges"
	"github.com/agent-airlock/airlock/internal/gitrepo"
	"github.com/agent-airlock/airlock/internal/policy"
	"github.com/agent-airlock/airlock/internal/policy/tree"
	"github.com/agent-airlock/airlock/internal/shorttest"
)

// seriesForms are the ways in which an agent can hand over several commits.
var seriesForms = []string{"workspace", "mailbox", "bundle"}

// handOver makes the commits of the workspace come as one of the seriesForms.
func (b *codeBench) handOver(form string) {
	b.t.Helper()
	var data string
	switch form {
	case "workspace":
		return
	case "mailbox":
		data = sh(b.t, b.dir, "format-patch", "--stdout", "--binary", "--full-index", b.base+"..HEAD") + "\n"
	case "bundle":
		file := filepath.Join(b.t.TempDir(), "agent.bundle")
		sh(b.t, b.dir, "bundle", "create", "-q", file, b.base+"..HEAD")
		raw, err := os.ReadFile(file)
		if err != nil {
			b.t.Fatal(err)
		}
		data = string(raw)
	}
	base := b.base
	b.checkout(base)
	repo := b.deps.Code.Repo
	b.deps.Code.File = "agent.changes"
	b.deps.Code.Series = func(ctx context.Context, bases []string) (gitrepo.Series, error) {
		return agentchanges.FromFile(ctx, agentchanges.FileConfig{Repo: repo, Name: "agent.changes", Data: []byte(data), Bases: append([]string{base}, bases...)})
	}
}

// earlierSin makes two commits of which the first breaks a rule, or both together do, although
// their result does not.
type earlierSin struct {
	name   string
	make   func(b *codeBench)
	policy func(*policy.ChangeSettings) // may be nil
	rule   string
	bad    string // the path that must not be pushed, "" for none
}

func earlierSins() []earlierSin {
	undo := func(path string) func(b *codeBench) {
		return func(b *codeBench) {
			b.sh(b.dir, "rm", "-q", "--cached", path)
			_ = os.RemoveAll(filepath.Join(b.dir, filepath.FromSlash(path)))
			b.write(map[string]string{"docs/good.md": "good\n"}).commit("Take it back")
		}
	}
	added := func(path, content string) func(b *codeBench) {
		return func(b *codeBench) {
			b.write(map[string]string{path: content}).commit("Add something")
			undo(path)(b)
		}
	}
	docs := func(s *policy.ChangeSettings) { s.Files.Allowed = []string{"docs/**"} }
	return []earlierSin{
		{"workflow", added(".github/workflows/x.yml", "on: push\n"), nil, tree.RuleProtected, ".github"},
		{"size", added("large.bin", strings.Repeat("0123456789abcde\n", 1<<16+1)), nil, tree.RuleMaxSize, "large.bin"},
		{"link", func(b *codeBench) {
			if err := os.Symlink("/etc/passwd", filepath.Join(b.dir, "docs", "link")); err != nil {
				b.t.Fatal(err)
			}
			b.commit("Add something")
			undo("docs/link")(b)
		}, nil, tree.RuleLink, "docs/link"},
		{"not allowed", added("src/evil.go", "package src\n"), docs, tree.RuleAllowedFiles, "src/evil.go"},
		{"owners", added("CODEOWNERS", "* @mallory\n"), nil, tree.RuleProtected, "CODEOWNERS"},
		{"protected and put back", func(b *codeBench) {
			b.write(map[string]string{"docs/a.md": "evil\n"}).commit("Add something")
			b.write(map[string]string{"docs/a.md": "one\ntwo\nthree\n", "docs/good.md": "good\n"}).commit("Take it back")
		}, func(s *policy.ChangeSettings) { s.Files.AlsoProtected = []string{"docs/a.md"} }, tree.RuleProtected, ""},
		{"name", added("aux.c", "int x;\n"), nil, tree.RulePath, "aux.c"},
		{"submodule", func(b *codeBench) {
			b.sh(b.dir, "update-index", "--add", "--cacheinfo", "160000,"+b.base+",sub")
			b.sh(b.dir, "commit", "-qm", "Add something")
			undo("sub")(b)
		}, nil, tree.RuleSubmodule, "sub"},
		{"case twin", func(b *codeBench) {
			blob := b.sh(b.dir, "hash-object", "-w", "docs/a.md")
			b.sh(b.dir, "update-index", "--add", "--cacheinfo", "100644,"+blob+",docs/A.md")
			b.sh(b.dir, "commit", "-qm", "Add something")
			undo("docs/A.md")(b)
		}, nil, tree.RuleCollision, "docs/A.md"},
		{"files together", func(b *codeBench) {
			b.write(map[string]string{"docs/1": "1", "docs/2": "2"}).commit("Add something")
			b.sh(b.dir, "rm", "-q", "docs/1", "docs/2")
			b.write(map[string]string{"docs/good.md": "good\n"}).commit("Take it back")
		}, func(s *policy.ChangeSettings) { s.Files.MaxFiles = 2 }, tree.RuleMaxFiles, "docs/1"},
		{"file becomes a link", func(b *codeBench) {
			_ = os.Remove(filepath.Join(b.dir, "docs", "a.md"))
			if err := os.Symlink("../README.md", filepath.Join(b.dir, "docs", "a.md")); err != nil {
				b.t.Fatal(err)
			}
			b.commit("Add something")
			_ = os.Remove(filepath.Join(b.dir, "docs", "a.md"))
			b.write(map[string]string{"docs/a.md": "one\ntwo\nthree\n", "docs/good.md": "good\n"}).commit("Take it back")
		}, nil, tree.RuleMode, ""},
	}
}

// TestEveryCommitIsJudged asserts what happens if only an earlier commit breaks a rule: the commits
// are squashed or, if the owner wants them as they are, denied.
func TestEveryCommitIsJudged(t *testing.T) {
	t.Parallel()
	for i, sin := range shorttest.First(3, earlierSins()) {
		for _, form := range seriesForms {
			if sin.name == "submodule" && form == "mailbox" {
				continue // git apply refuses a patch that removes a submodule
			}
			if form != "workspace" && form != seriesForms[i%len(seriesForms)] && !everyCombination() {
				continue
			}
			t.Run(sin.name+" "+form, func(t *testing.T) {
				t.Parallel()
				prepare := func(commits policy.Commits) *codeBench {
					b := newCodeBench(t)
					b.pull(func(s *policy.ChangeSettings) {
						s.Commits = commits
						if sin.policy != nil {
							sin.policy(s)
						}
					})
					sin.make(b)
					b.handOver(form)
					return b
				}
				b := prepare(policy.CommitsKeepSound)
				r := b.run(aPull)
				want(t, r, "applied")
				checkOneCommit(t, b, b.pulls()[0].Pull.Head.Ref, sin.bad)
				notes := strings.Join(r[0].Notes, "; ")
				if !strings.Contains(notes, "the 2 commits were squashed into one, because ") || !strings.Contains(notes, sin.rule+": ") {
					t.Errorf("notes: %q", r[0].Notes)
				}
				want(t, b.run(aPull), "adopted")
				if form != "workspace" {
					return
				}
				b = prepare(policy.CommitsKeep)
				r = b.run(aPull)
				want(t, r, "denied("+sin.rule+")")
				if w := b.srv.Writes(); len(w) != 0 || r[0].File == "" || !strings.Contains(r[0].Message, "although the result does not") {
					t.Errorf("%s; %q, the patch in %q", operations(w), r[0].Message, r[0].File)
				}
				b = prepare(policy.CommitsSquash)
				want(t, b.run(aPull), "applied")
				checkOneCommit(t, b, b.pulls()[0].Pull.Head.Ref, sin.bad)
			})
		}
	}
}

// TestCommitsThatTakeEverythingBack asserts that commits that cancel each other out count as no
// changes, also where one of them breaks a rule.
func TestCommitsThatTakeEverythingBack(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"docs/new.md", ".github/workflows/x.yml"} {
		for _, form := range seriesForms {
			for _, commits := range []policy.Commits{policy.CommitsKeepSound, policy.CommitsKeep, policy.CommitsSquash} {
				b := newCodeBench(t)
				b.pull(func(s *policy.ChangeSettings) { s.Commits = commits })
				b.write(map[string]string{path: "x\n"}).commit("Add something")
				b.sh(b.dir, "rm", "-q", path)
				b.commit("Take it back")
				b.handOver(form)
				r := b.run(aPull)
				want(t, r, "skipped(no-changes)")
				if w := b.srv.Writes(); len(w) != 0 || !strings.Contains(r[0].Message, "the 2 commits take back all that they change") {
					t.Errorf("%s in a %s, %q: %s; %q", path, form, commits, operations(w), r[0].Message)
				}
			}
		}
	}
}

// TestBrokenObjectsOfCommits asserts that the reason names an invalid or incomplete tree that only an
// earlier commit has.
func TestBrokenObjectsOfCommits(t *testing.T) {
	t.Parallel()
	id := strings.Repeat("\x11", 20) // of no object
	for name, broken := range map[string]struct{ entry, says string }{
		"a path":         {"100644 ../x\x00", "is invalid"},
		"the parent":     {"100644 ..\x00", "is invalid"},
		"no name":        {"100644 \x00", "is invalid"},
		"an absent tree": {"40000 z\x00", "is not in the clone"},
		"an absent blob": {"100644 z\x00", "missing"},
	} {
		b := newCodeBench(t)
		b.write(map[string]string{"docs/good.md": "good\n"}).commit("Good")
		good := b.sh(b.dir, "rev-parse", "HEAD^{tree}")
		first := feed(t, b.dir, broken.entry+id, "hash-object", "-t", "tree", "--literally", "-w", "--stdin")
		for _, tree := range []string{first, good} {
			b.sh(b.dir, "update-ref", "HEAD", b.sh(b.dir, "commit-tree", "-p", "HEAD", "-m", "Step", tree))
		}
		r := b.run(aPull)
		want(t, r, "failed(unreadable-changes)")
		if w := b.srv.Writes(); len(w) != 0 || !strings.Contains(r[0].Message, broken.says) {
			t.Errorf("%s: %s; %q", name, operations(w), r[0].Message)
		}
	}
}

// feed runs git with an input.
func feed(t *testing.T, dir, input string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Stdin = dir, strings.NewReader(input)
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("git %s: %v", args, err)
	}
	return strings.TrimSpace(string(out))
}

// TestLargeFileThatIsGoneAgain adds a file in one commit and removes it in the next. It asserts
// that the file does not get past the limit of 1 MiB, even if git does not read it into memory
// because of its size: core.bigFileThreshold is 16 MiB.
func TestLargeFileThatIsGoneAgain(t *testing.T) {
	t.Parallel()
	b := newCodeBench(t)
	b.write(map[string]string{"large.bin": strings.Repeat("0123456789abcde\n", 17<<16)}).commit("Add something")
	b.sh(b.dir, "rm", "-q", "large.bin")
	b.write(map[string]string{"docs/good.md": "good\n"}).commit("Take it back")
	want(t, b.run(aPull), "applied")
	checkOneCommit(t, b, b.pulls()[0].Pull.Head.Ref, "large.bin")
}

// checkOneCommit asserts that a branch has one commit after main, with docs/good.md and a message
// that lists the two commits, and that no object that was pushed has the bad path.
func checkOneCommit(t *testing.T, b *codeBench, branch, bad string) {
	t.Helper()
	if n := b.git.Run("rev-list", "--count", "main.."+branch); n != "1" {
		t.Errorf("%s commits were pushed", n)
	}
	if got := b.file(branch, "docs/good.md"); got != "good" {
		t.Errorf("good.md is %q", got)
	}
	for object := range strings.Lines(b.git.Run("rev-list", "--objects", "main.."+branch)) {
		if _, path, _ := strings.Cut(strings.TrimSpace(object), " "); bad != "" && (path == bad || strings.HasPrefix(path, bad+"/")) {
			t.Errorf("%s was pushed", path)
		}
	}
	if log := b.messages(branch); !strings.Contains(log, "Mend the demo\n\n- Add something\n- Take it back\n") || !strings.Contains(log, "Ada Lovelace <ada@example.com>") {
		t.Errorf("the message is %s", log)
	}
}

// TestEveryCommitIsJudgedOnPush asserts what TestEveryCommitIsJudged does for push-to-branch, and
// for commits through the API.
func TestEveryCommitIsJudgedOnPush(t *testing.T) {
	t.Parallel()
	for _, signed := range []bool{false, true} {
		for _, keep := range []bool{false, true} {
			b := newPullBench(t)
			before := b.git.SHA("topic")
			b.push(func(s *policy.ChangeSettings) {
				s.SignedCommits = signed
				if keep {
					s.Commits = policy.CommitsKeep
				}
			})
			b.write(map[string]string{".github/workflows/x.yml": "on: push\n"}).commit("Add something")
			b.sh(b.dir, "rm", "-q", ".github/workflows/x.yml")
			b.write(map[string]string{"docs/good.md": "good\n"}).commit("Take it back")
			r := b.run(aPush)
			if keep {
				want(t, r, "denied(protected-files)")
				if got := b.git.SHA("topic"); got != before {
					t.Errorf("the branch is at %s", got)
				}
				continue
			}
			want(t, r, "applied")
			if n := b.git.Run("rev-list", "--count", before+"..topic"); n != "1" {
				t.Errorf("signed %v: %s commits were pushed", signed, n)
			}
			if got := b.git.Run("log", "--format=%s", "--name-only", before+"..topic"); strings.Contains(got, ".github") || !strings.HasPrefix(got, "Apply the review") {
				t.Errorf("signed %v: the log is %s", signed, got)
			}
		}
	}
}

// TestUnsignableCommitBeforeTheLast asserts that commits to be signed become one if an earlier one
// adds an executable file, which GitHub's API cannot create, and the last one removes it.
func TestUnsignableCommitBeforeTheLast(t *testing.T) {
	t.Parallel()
	b := newCodeBench(t)
	b.pull(func(s *policy.ChangeSettings) { s.SignedCommits = true })
	b.write(map[string]string{"tool.sh": "#!/bin/sh\n"})
	if err := os.Chmod(filepath.Join(b.dir, "tool.sh"), 0o755); err != nil {
		t.Fatal(err)
	}
	b.commit("Add something")
	b.sh(b.dir, "rm", "-q", "tool.sh")
	b.write(map[string]string{"docs/good.md": "good\n"}).commit("Take it back")
	want(t, b.run(aPull), "applied")
	if n := b.git.Run("rev-list", "--count", "main.."+b.pulls()[0].Pull.Head.Ref); n != "1" {
		t.Errorf("%s commits were made", n)
	}
}

// TestSoundCommitsStayApart asserts that commits that keep all rules are not squashed.
func TestSoundCommitsStayApart(t *testing.T) {
	t.Parallel()
	b := newCodeBench(t)
	for i := range 3 {
		b.write(map[string]string{"docs/b.md": strconv.Itoa(i) + "\n"}).commit("Step " + strconv.Itoa(i))
	}
	b.sh(b.dir, "mv", "docs/b.md", "docs/c.md")
	b.commit("Move it")
	want(t, b.run(aPull), "applied")
	if n := b.git.Run("rev-list", "--count", "main.."+b.pulls()[0].Pull.Head.Ref); n != "4" {
		t.Errorf("%s commits were pushed", n)
	}
}

// commits makes n commits in the workspace, each of which changes docs/b.md.
func (b *codeBench) commits(n int) {
	b.t.Helper()
	var in strings.Builder
	for i := range n {
		fmt.Fprintf(&in, "commit refs/heads/many\ncommitter A <a@example.com> %d +0000\ndata <<E\nStep %d\nE\n", 1700000000+i, i)
		if i == 0 {
			in.WriteString("from " + b.sh(b.dir, "rev-parse", "HEAD") + "\n")
		}
		fmt.Fprintf(&in, "M 644 inline docs/b.md\ndata <<E\n%d\nE\n\n", i)
	}
	cmd := exec.Command("git", "fast-import", "--quiet")
	cmd.Dir, cmd.Stdin = b.dir, strings.NewReader(in.String())
	if out, err := cmd.CombinedOutput(); err != nil {
		b.t.Fatalf("%v: %s", err, out)
	}
	b.sh(b.dir, "reset", "-q", "--hard", "refs/heads/many")
}

// TestMoreCommitsThanOnePage asserts that the branch of an earlier run is recognised although
// GitHub's comparison does not fit into one answer.
func TestMoreCommitsThanOnePage(t *testing.T) {
	t.Parallel()
	b := newCodeBench(t)
	const n = 260
	b.commits(n)
	want(t, b.run(aPull), "applied")
	branch := b.pulls()[0].Pull.Head.Ref
	if got := b.git.Run("rev-list", "--count", "main.."+branch); got != strconv.Itoa(n) {
		t.Errorf("%s commits were pushed", got)
	}
	b.nextRun()
	b.write(map[string]string{"docs/b.md": "other\n"})
	want(t, b.run(aPull), "applied")
	if p := b.pulls(); len(p) != 1 || b.file(branch, "docs/b.md") != "other" {
		t.Errorf("%d pull requests", len(p))
	}
}

// TestPatchWhereTheHistoryIsCutOff asserts that the patch is written although an earlier attempt's
// commit was fetched without its parents.
func TestPatchWhereTheHistoryIsCutOff(t *testing.T) {
	t.Parallel()
	b := newCodeBench(t)
	work := func() { b.write(map[string]string{"docs/a.md": "1\n"}) } // without a commit
	work()
	want(t, b.run(aPull), "applied")
	for _, path := range []string{"", ".github/x.yml"} {
		b.cfg.Run.Attempt++
		b.checkout(b.base)
		work()
		state := "adopted"
		if path != "" {
			b.write(map[string]string{path: "x\n"})
			state = "denied(protected-files)"
		}
		r := b.run(aPull)
		want(t, r, state)
		if notes := strings.Join(r[0].Notes, "; "); strings.Contains(notes, "could not be kept") || path != "" && r[0].File == "" {
			t.Errorf("notes: %q, the patch in %q", notes, r[0].File)
		}
	}
}

// TestExcludedFilesAreLeftOut asserts that excluded files are left out of each commit before it is
// checked against the rules, and that no file can replace a directory with an excluded file.
func TestExcludedFilesAreLeftOut(t *testing.T) {
	t.Parallel()
	for _, form := range seriesForms {
		b := newCodeBench(t)
		b.pull(func(s *policy.ChangeSettings) { s.Excluded = []string{"*.lock", "dist/", ".github/"} })
		b.write(map[string]string{"web/yarn.LOCK": "1\n", ".github/x.yml": "x\n"}).commit("Only what is excluded")
		b.write(map[string]string{"docs/good.md": "good\n", "dist/a/b.js": "b\n", "web/yarn.LOCK": "2\n"}).commit("Some of both")
		b.sh(b.dir, "mv", "dist/a/b.js", "docs/b.js")
		b.commit("Move it here")
		b.handOver(form)
		r := b.run(aPull)
		want(t, r, "applied")
		branch := b.pulls()[0].Pull.Head.Ref
		if got := b.git.Run("log", "--reverse", "--name-status", "--format=%s", "main.."+branch); got != "Some of both\n\nA\tdocs/good.md\nMove it here\n\nA\tdocs/b.js" {
			t.Errorf("%s: %q", form, got)
		}
		if notes := strings.Join(r[0].Notes, "; "); !strings.Contains(notes, `left out, as excluded-files says: ".github/x.yml", "web/yarn.LOCK", "dist/a/b.js"`) {
			t.Errorf("%s: notes: %q", form, notes)
		}
	}
	b := newCodeBench(t)
	b.pull(func(s *policy.ChangeSettings) { s.Excluded = []string{"src/"} })
	b.sh(b.dir, "rm", "-q", "src/main.go")
	b.write(map[string]string{"src": "a file where the directory was\n"})
	r := b.run(aPull)
	want(t, r, "skipped(no-changes)")
	if notes := strings.Join(r[0].Notes, "; "); !strings.Contains(notes, "excluded-files") {
		t.Errorf("notes: %q", notes)
	}
	b = newCodeBench(t)
	b.pull(func(s *policy.ChangeSettings) { s.Excluded = []string{"src/main.go"} })
	b.sh(b.dir, "rm", "-q", "src/main.go")
	b.write(map[string]string{"src": "a file where the directory stays\n"})
	r = b.run(aPull)
	want(t, r, "failed(unreadable-changes)")
	if !strings.Contains(r[0].Message, `needs the place of "src/main.go"`) {
		t.Errorf("%q", r[0].Message)
	}
}
