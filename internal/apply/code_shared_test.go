package apply

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/githubapi"
	"github.com/agent-airlock/airlock/internal/githubtest"
	"github.com/agent-airlock/airlock/internal/gitrepo"
	"github.com/agent-airlock/airlock/internal/policy"
)

// commitTree makes a commit on the server, as another program than Airlock.
func (b *codeBench) commitTree(email, tree, message string, parents ...string) string {
	b.t.Helper()
	args := []string{"commit-tree", "-m", message}
	for _, p := range parents {
		args = append(args, "-p", p)
	}
	cmd := exec.Command("git", append(args, tree)...)
	cmd.Dir = b.git.Dir()
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=A", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=C", "GIT_COMMITTER_EMAIL=" + email}
	out, err := cmd.CombinedOutput()
	if err != nil {
		b.t.Fatalf("%v: %s", err, out)
	}
	return strings.TrimSpace(string(out))
}

// updateBranch merges main into a branch, as the button of the pull request does.
func (b *codeBench) updateBranch(branch string) string {
	b.t.Helper()
	merged := b.commitTree("noreply@github.com", b.git.Run("merge-tree", "--write-tree", branch, "main"), "Merge branch 'main' into "+branch, b.git.SHA(branch), b.git.SHA("main"))
	b.git.SetBranch(branch, merged)
	return merged
}

// sharedRun is a workflow run after somebody else has committed to the branch.
type sharedRun struct {
	name   string
	others func(b *codeBench, branch string) // what others do before it; nil for nothing
	change map[string]string                 // the agent's changes, by path
	state  string                            // the result's
	files  map[string]string                 // contents on the branch after it; "" for a missing file
	says   string                            // a part of the result's message or notes
}

// TestOthersCommitToOurBranch plays runs of one workflow, between which people press "Update
// branch" and commit. There is one pull request, and no commit of theirs is lost.
func TestOthersCommitToOurBranch(t *testing.T) {
	t.Parallel()
	update := func(b *codeBench, branch string) { b.updateBranch(branch) }
	commits := func(files map[string]string) func(b *codeBench, branch string) {
		return func(b *codeBench, branch string) { b.git.Commit(branch, files, "Help out") }
	}
	move := func(b *codeBench, _ string) { b.git.Commit("main", map[string]string{"main.txt": "main\n"}, "Move on") }
	all := func(fs ...func(*codeBench, string)) func(*codeBench, string) {
		return func(b *codeBench, branch string) {
			for _, f := range fs {
				f(b, branch)
			}
		}
	}
	const onTop = "so the changes were put on top of that"
	first := map[string]string{"docs/a.md": "one\n2\nthree\n", "docs/b.md": "b\n"}
	runs := map[string][]sharedRun{
		"update branch": {
			{"other changes", all(move, update), map[string]string{"docs/a.md": "one\nzwei\nthree\n"}, "applied", map[string]string{"docs/a.md": "one\nzwei\nthree", "docs/b.md": "", "main.txt": "main"}, onTop},
			{"the same once more", nil, map[string]string{"docs/a.md": "one\nzwei\nthree\n"}, "adopted", map[string]string{"docs/a.md": "one\nzwei\nthree"}, "contains"},
			{"again", all(move, update), map[string]string{"docs/a.md": "1\nzwei\nthree\n"}, "applied", map[string]string{"docs/a.md": "1\nzwei\nthree", "main.txt": "main"}, onTop},
		},
		"update branch, the same changes": {{"same", all(move, update), first, "adopted", map[string]string{"docs/a.md": "one\n2\nthree", "docs/b.md": "b"}, "contains these changes already"}},
		"a person's commits": {
			{"elsewhere", commits(map[string]string{"theirs.txt": "theirs\n"}), map[string]string{"docs/a.md": "one\nzwei\nthree\n"}, "applied", map[string]string{"docs/a.md": "one\nzwei\nthree", "theirs.txt": "theirs", "docs/b.md": ""}, onTop},
			{"nothing of theirs in between", nil, map[string]string{"docs/a.md": "one\ndeux\nthree\n"}, "applied", map[string]string{"docs/a.md": "one\ndeux\nthree", "theirs.txt": "theirs"}, onTop},
			{"more of theirs", commits(map[string]string{"more.txt": "more\n"}), map[string]string{"docs/a.md": "one\ndeux\nthree\n", "docs/c.md": "c\n"}, "applied", map[string]string{"docs/a.md": "one\ndeux\nthree", "theirs.txt": "theirs", "more.txt": "more", "docs/c.md": "c"}, onTop},
			{"main moves on", move, map[string]string{"docs/a.md": "one\ntrois\nthree\n"}, "applied", map[string]string{"docs/a.md": "one\ntrois\nthree", "docs/c.md": "", "theirs.txt": "theirs", "more.txt": "more", "main.txt": ""}, onTop},
		},
		"they mend ours": {
			{"the agent repeats itself", commits(map[string]string{"docs/a.md": "one\n2 (two)\nthree\n"}), first, "adopted", map[string]string{"docs/a.md": "one\n2 (two)\nthree", "docs/b.md": "b"}, "others have changed or reverted"},
			{"and changes another file", nil, map[string]string{"docs/a.md": "one\n2\nthree\n", "docs/b.md": "better\n"}, "applied", map[string]string{"docs/a.md": "one\n2 (two)\nthree", "docs/b.md": "better"}, onTop},
			{"and the same lines", nil, map[string]string{"docs/a.md": "one\nzwei\nthree\n"}, "failed(merge-conflict)", map[string]string{"docs/a.md": "one\n2 (two)\nthree", "docs/b.md": "better"}, "as they left it"},
			{"and goes back", nil, map[string]string{"docs/a.md": "one\n2\nthree\n"}, "applied", map[string]string{"docs/a.md": "one\n2 (two)\nthree", "docs/b.md": ""}, onTop},
		},
		"they take ours back": {
			{"the same", commits(map[string]string{"docs/a.md": "one\ntwo\nthree\n", "docs/b.md": "not b\n"}), first, "adopted", map[string]string{"docs/a.md": "one\ntwo\nthree"}, "others have changed or reverted"},
			{"something else", nil, map[string]string{"docs/a.md": "one\n2\nthree\n", "docs/b.md": "b\n", "docs/c.md": "c\n"}, "applied", map[string]string{"docs/a.md": "one\ntwo\nthree", "docs/c.md": "c"}, onTop},
		},
		"they delete ours": {{"again", func(b *codeBench, branch string) {
			b.git.CommitFiles(branch, []githubtest.GitFile{{Path: "docs/b.md", Mode: "0"}}, "Not this")
		}, map[string]string{"docs/a.md": "one\nzwei\nthree\n", "docs/b.md": "b\n"}, "applied", map[string]string{"docs/a.md": "one\nzwei\nthree", "docs/b.md": ""}, onTop}},
		"they squash everything into a commit of theirs": {
			{"the same", func(b *codeBench, branch string) {
				b.git.SetBranch(branch, b.commitTree("person@example.com", b.treeWith(branch, "theirs.txt"), "All of it", b.base))
			}, first, "adopted", map[string]string{"docs/a.md": "one\n2\nthree", "theirs.txt": "theirs"}, "contains these changes already"},
			{"more", nil, map[string]string{"docs/a.md": "one\n2\nthree\n", "docs/b.md": "b\n", "docs/c.md": "c\n"}, "applied", map[string]string{"docs/c.md": "c", "theirs.txt": "theirs"}, onTop},
			{"something else", nil, map[string]string{"docs/a.md": "one\nzwei\nthree\n", "docs/b.md": "b\n"}, "failed(merge-conflict)", map[string]string{"docs/a.md": "one\n2\nthree", "theirs.txt": "theirs"}, "as they left it"},
		},
		"they touch a protected file": {{"again", commits(map[string]string{".github/workflows/x.yml": "on: push\n"}), map[string]string{"docs/a.md": "one\nzwei\nthree\n"}, "applied", map[string]string{".github/workflows/x.yml": "on: push"}, onTop}},
	}
	for i, name := range slices.Sorted(maps.Keys(runs)) {
		for _, signed := range []bool{false, true} {
			if signed != (i%2 == 0) && !everyCombination() {
				continue
			}
			t.Run(fmt.Sprintf("%s, signed %t", name, signed), func(t *testing.T) {
				t.Parallel()
				b := newCodeBench(t)
				b.ev.Name = "schedule"
				b.pull(func(s *policy.ChangeSettings) { s.SignedCommits = signed })
				b.write(first)
				want(t, b.run(aPull), "applied")
				branch := b.pulls()[0].Pull.Head.Ref
				for _, run := range runs[name] {
					if run.others != nil {
						run.others(b, branch)
					}
					before := b.git.SHA(branch)
					b.nextRun()
					b.write(run.change)
					for b.cfg.Run.Attempt = 1; b.cfg.Run.Attempt <= 2; b.cfg.Run.Attempt++ {
						state := run.state
						if b.cfg.Run.Attempt == 2 && state == "applied" {
							state = "adopted"
						}
						r := b.run(aPull)
						want(t, r, state)
						if said := r[0].Message + strings.Join(r[0].Notes, "; "); b.cfg.Run.Attempt == 1 && !strings.Contains(said, run.says) {
							t.Errorf("%s: it does not say %q: %s", run.name, run.says, said)
						}
						if strings.HasPrefix(state, "failed") && (r[0].File == "" || b.git.SHA(branch) != before) {
							t.Errorf("%s: the patch is kept as %q", run.name, r[0].File)
						}
					}
					b.git.Run("merge-base", "--is-ancestor", before, branch) // nothing was replaced
					for file, text := range run.files {
						if text == "" && b.git.Run("ls-tree", branch, file) != "" {
							t.Errorf("%s: %s is there: %s", run.name, file, b.file(branch, file))
						} else if text != "" && b.file(branch, file) != text {
							t.Errorf("%s: %s is %q, want %q", run.name, file, b.file(branch, file), text)
						}
					}
					if pulls := b.pulls(); len(pulls) != 1 {
						t.Fatalf("%s: %d pull requests", run.name, len(pulls))
					}
				}
			})
		}
	}
}

// TestOwnCommitThatTheServerLacks asserts that the error about a commit of ours that cannot be
// fetched gives the server's reason. A deeper clone would not help.
func TestOwnCommitThatTheServerLacks(t *testing.T) {
	t.Parallel()
	b := newCodeBench(t)
	c := &codePreparer{o: &observer{ctx: t.Context(), deps: b.deps, cfg: b.cfg, repo: githubapi.Repo{Owner: "octo", Name: "repo"}, s: &Snapshot{}}, code: b.deps.Code}
	c.o.deps.GitHub = b.client()
	if err := c.connect(); err != nil {
		t.Fatal(err)
	}
	own := []githubapi.Commit{{SHA: strings.Repeat("1", 40), Parents: []string{b.base}}}
	_, err := c.ownPart(nil, &codeState{onto: b.base, shared: &sharedBranch{own: own}})
	if !errors.Is(err, gitrepo.ErrMissing) || !strings.Contains(err.Error(), "does not have it either") || strings.Contains(err.Error(), "fetch-depth") {
		t.Errorf("%v", err)
	}
}

// TestWhatIsNotOurs asserts that a branch that others own, or whose pull request they closed or
// retargeted, is not changed, that another pull request is opened, and that a note gives the
// reason.
func TestWhatIsNotOurs(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		change func(b *codeBench, branch string, number int)
		says   string
	}{
		"rewritten by somebody, with a pull request of their own": {func(b *codeBench, branch string, number int) {
			b.git.SetBranch(branch, b.base)
			b.git.Commit(branch, map[string]string{"x": "x\n"}, "From scratch")
			b.srv.Change(func(f *githubtest.Fixture) {
				issueIn(*f, number).Author = githubtest.Account{Login: "octocat", ID: 583231}
			})
		}, "contains no commit that this workflow made for this subject"},
		"closed": {func(b *codeBench, _ string, number int) {
			b.srv.Change(func(f *githubtest.Fixture) { issueIn(*f, number).State = "closed" })
		}, "belongs to pull request #10, which is closed"},
		"closed, with commits of others": {func(b *codeBench, branch string, number int) {
			b.git.Commit(branch, map[string]string{"x": "x\n"}, "On top")
			b.srv.Change(func(f *githubtest.Fixture) { issueIn(*f, number).State = "closed" })
		}, "belongs to pull request #10, which is closed"},
		"another base": {func(b *codeBench, _ string, number int) {
			b.git.SetBranch("next", b.base)
			b.srv.Change(func(f *githubtest.Fixture) { issueIn(*f, number).Pull.Base.Ref = "next" })
		}, `belongs to pull request #10, which goes to "next" now`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newCodeBench(t)
			b.write(map[string]string{"docs/a.md": "1\n"})
			want(t, b.run(aPull), "applied")
			first := b.pulls()[0]
			tt.change(b, first.Pull.Head.Ref, first.Number)
			tip := b.git.SHA(first.Pull.Head.Ref)
			b.nextRun()
			b.write(map[string]string{"docs/a.md": "2\n"})
			r := b.run(aPull)
			want(t, r, "applied")
			if notes := strings.Join(r[0].Notes, "; "); !strings.Contains(notes, tt.says) || !strings.Contains(notes, first.Pull.Head.Ref+`-2"`) {
				t.Errorf("notes: %s", notes)
			}
			if pulls := b.pulls(); len(pulls) != 2 || b.git.SHA(first.Pull.Head.Ref) != tip {
				t.Errorf("%d pull requests; the first branch was changed: %t", len(pulls), b.git.SHA(first.Pull.Head.Ref) != tip)
			}
		})
	}
}

// TestABranchThatCannotBeComparedYet lets GitHub answer at first that it does not know a commit that
// was just pushed. It asserts that no second pull request is opened if GitHub knows the commit
// before apply stops waiting, and that one is opened otherwise.
func TestABranchThatCannotBeComparedYet(t *testing.T) {
	t.Parallel()
	for times, pulls := range map[int]int{1: 1, len(lookWaits): 1, len(lookWaits) + 1: 2} {
		b := newCodeBench(t)
		b.write(map[string]string{"docs/a.md": "1\n"})
		want(t, b.run(aPull), "applied")
		b.nextRun()
		b.write(map[string]string{"docs/a.md": "2\n"})
		b.srv.SetFault(githubtest.Faults([]githubtest.FaultRule{{Operation: "repos/compare-commits-with-basehead", Times: times, Fault: githubtest.NotThere()}}))
		want(t, b.run(aPull), "applied")
		if got := b.pulls(); len(got) != pulls {
			t.Errorf("after %d answers that there is no such commit: %d pull requests, want %d", times, len(got), pulls)
		}
	}
}
