package apply

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agent-airlock/airlock/internal/agentchanges"
	"github.com/agent-airlock/airlock/internal/githubtest"
	"github.com/agent-airlock/airlock/internal/gitrepo"
	"github.com/agent-airlock/airlock/internal/policy"
	"github.com/agent-airlock/airlock/internal/shorttest"
)

// TestPullRequestIsMergedMeanwhile lets somebody merge the pull request after the plan was made. It
// asserts that the update fails, with the same body as before and with another one.
func TestPullRequestIsMergedMeanwhile(t *testing.T) {
	t.Parallel()
	for _, body := range []string{"It was broken.", "It was broken again."} {
		b := newCodeBench(t)
		b.write(map[string]string{"docs/a.md": "1\n"})
		want(t, b.run(aPull), "applied")
		b.nextRun()
		b.write(map[string]string{"docs/a.md": "2\n"})
		plan := b.plan(strings.ReplaceAll(aPull, "It was broken.", body))
		b.srv.Change(func(f *githubtest.Fixture) {
			i := f.Issues[len(f.Issues)-1]
			i.State, i.Pull.Merged = "closed", true
		})
		results := execute(t.Context(), b.deps, plan)
		want(t, results, "failed(closed)")
		if !strings.Contains(results[0].Message, "/compare/main...") || results[0].Object.Number == 0 {
			t.Errorf("%q, %+v", results[0].Message, results[0].Object)
		}
	}
}

// TestPullRequestIsUpdated runs the same workflow again for the same issue, with other changes.
func TestPullRequestIsUpdated(t *testing.T) {
	t.Parallel()
	b := newCodeBench(t)
	b.ev.Name, b.ev.Number = "issues", issueNumber
	b.write(map[string]string{"docs/a.md": "one\n2\nthree\n"})
	want(t, b.run(aPull), "applied")
	first := b.pulls()[0]
	branch := first.Pull.Head.Ref

	b.git.Commit("main", map[string]string{"other.txt": "other\n"}, "Move on")
	b.nextRun()
	b.write(map[string]string{"docs/a.md": "one\ntwo\n3\n"})
	other := strings.ReplaceAll(aPull, "Mend the demo", "Mend it better")
	r := b.run(other)
	want(t, r, "applied")
	pulls := b.pulls()
	if len(pulls) != 1 || pulls[0].Pull.Head.Ref != branch || pulls[0].Title != "Mend it better" {
		t.Fatalf("%d pull requests, the first %q from %q", len(pulls), pulls[0].Title, pulls[0].Pull.Head.Ref)
	}
	if got := b.file(branch, "docs/a.md"); got != "one\ntwo\n3" {
		t.Errorf("a.md is %q", got)
	}
	if got := b.git.Run("rev-list", "--count", "main.."+branch); got != "1" {
		t.Errorf("%s commits beyond main", got)
	}

	// The same again: nobody is bothered.
	b.nextRun()
	b.write(map[string]string{"docs/a.md": "one\ntwo\n3\n"})
	b.srv.ResetRequests()
	want(t, b.run(other), "adopted")
	if w := b.srv.Writes(); len(w) != 0 {
		t.Errorf("the same changes again: %s", operations(w))
	}

	// Somebody edits the title: it stays.
	b.srv.Change(func(f *githubtest.Fixture) { issueIn(*f, first.Number).Title = "A person's title" })
	b.nextRun()
	b.write(map[string]string{"docs/a.md": "1\ntwo\n3\n"})
	r = b.run(other)
	want(t, r, "applied")
	if got := b.pulls()[0].Title; got != "A person's title" || !strings.Contains(strings.Join(r[0].Notes, ";"), "left alone") {
		t.Errorf("the title is %q, the notes %q", got, r[0].Notes)
	}

	// Somebody pushes to the branch: the next changes go on top.
	theirs := b.git.Commit(branch, map[string]string{"theirs.txt": "theirs\n"}, "Help out")
	b.nextRun()
	b.write(map[string]string{"docs/a.md": "one\nzwei\nthree\n"})
	want(t, b.run(other), "applied")
	if b.git.SHA(branch+"^") != theirs || b.file(branch, "docs/a.md") != "one\nzwei\nthree" {
		t.Errorf("the branch is at\n%s", b.git.Run("log", "--oneline", "-3", "--stat", branch))
	}
	if pulls := b.pulls(); len(pulls) != 1 {
		t.Errorf("%d pull requests", len(pulls))
	}
}

// TestPullRequestAfterAClosedOne asserts that a pull request that somebody has closed is left
// alone, and that another one is opened.
func TestPullRequestAfterAClosedOne(t *testing.T) {
	t.Parallel()
	b := newCodeBench(t)
	b.write(map[string]string{"docs/a.md": "1\n"})
	want(t, b.run(aPull), "applied")
	first := b.pulls()[0]
	b.srv.Change(func(f *githubtest.Fixture) { issueIn(*f, first.Number).State = "closed" })
	tip := b.git.SHA(first.Pull.Head.Ref)
	b.nextRun()
	b.write(map[string]string{"docs/a.md": "2\n"})
	want(t, b.run(aPull), "applied")
	if pulls := b.pulls(); len(pulls) != 2 || pulls[1].Pull.Head.Ref != first.Pull.Head.Ref+"-2" || b.git.SHA(first.Pull.Head.Ref) != tip {
		t.Errorf("%d pull requests", len(pulls))
	}
}

// TestPullRequestThatPeopleChangedBetweenAttempts asserts that a repeated run finds the pull request
// that it opened, whatever people have done with it since, and opens no other one.
func TestPullRequestThatPeopleChangedBetweenAttempts(t *testing.T) {
	t.Parallel()
	remove := func(b *codeBench, branch string) { b.git.Run("update-ref", "-d", "refs/heads/"+branch) }
	for name, change := range map[string]struct {
		people func(b *codeBench, pull *githubtest.Issue)
		said   string
	}{
		"closed":         {func(_ *codeBench, p *githubtest.Issue) { p.State = "closed" }, "which is closed now"},
		"branch removed": {func(b *codeBench, p *githubtest.Issue) { p.State = "closed"; remove(b, p.Pull.Head.Ref) }, "which is closed now"},
		"squashed": {func(b *codeBench, p *githubtest.Issue) {
			p.State, p.Pull.Merged = "closed", true
			remove(b, p.Pull.Head.Ref)
		}, "which is merged now"},
		"other base": {func(_ *codeBench, p *githubtest.Issue) { p.Pull.Base.Ref = "topic" }, `to "topic" now`},
		"branch renamed": {func(b *codeBench, p *githubtest.Issue) {
			b.git.SetBranch("mine", b.git.SHA(p.Pull.Head.Ref))
			remove(b, p.Pull.Head.Ref)
			p.Pull.Head.Ref = "mine"
		}, `from "mine"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newCodeBench(t)
			b.write(map[string]string{"docs/a.md": "1\n"})
			want(t, b.run(aPull), "applied")
			number := b.pulls()[0].Number
			b.srv.Change(func(f *githubtest.Fixture) { change.people(b, issueIn(*f, number)) })
			b.srv.ResetRequests()
			b.cfg.Run.Attempt = 2
			r := b.run(aPull)
			want(t, r, "adopted")
			if n := len(b.srv.Writes()); n != 0 {
				t.Errorf("%d writes: %q", n, operations(b.srv.Writes()))
			}
			if o := r[0].Object; o == nil || o.Type != "pull-request" || o.Number != number || !strings.Contains(r[0].Message, change.said) {
				t.Errorf("%s; the object is %+v", r[0].Message, o)
			}
		})
	}
}

// TestBranchNames asserts that names are treated as text, and that a branch of somebody else's
// is not used.
func TestBranchNames(t *testing.T) {
	t.Parallel()
	for _, tt := range shorttest.First(2, []struct {
		name, title, branch string
		want                string // the end of the branch's name
		state               string
	}{
		{"named", "T", "feature/x", "airlock/feature/x", "applied"},
		{"taken", "T", "taken", "airlock/taken-2", "applied"},
		{"base", "T", "main", "airlock/main", "applied"},
		{"semicolon", "T", "a;b", "airlock/a-b-5719af18", "applied"},
		{"shell", "$(touch x)", "$(touch${IFS}x)", "airlock/touch-IFS-x-a1a60a1d", "applied"},
		{"option", "T", "-x", "airlock/x-a4209624", "applied"},
		{"dots", "T", "a..b", "airlock/a.b-f62b4241", "applied"},
		{"lock", "T", "a.lock", "airlock/a-lock-e018dd87", "applied"},
		{"ref", "T", "refs/heads/x", "airlock/x-a7cd9860", "applied"},
		{"at", "T", "@", "airlock/changes-c3641f85", "applied"},
		{"scope", "T", "user/@scope/x", "airlock/user/scope/x-8e934893", "applied"},
		{"script", "Ünïcode & <b>", "", "-unicode-b", "applied"},
		{"nothing", "!!!", "", "-changes", "applied"},
	}) {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := newCodeBench(t)
			b.git.SetBranch("airlock/taken", b.git.SHA("topic"))
			b.write(map[string]string{"docs/a.md": "1\n"})
			r := b.run(line(map[string]any{"type": "create-pull-request", "title": tt.title, "body": "B", "branch": tt.branch}))
			want(t, r, tt.state)
			notes := strings.Join(r[0].Notes, "; ")
			if named := strings.Contains(notes, "was asked for; its name is"); named != (tt.branch != "") {
				t.Errorf("notes: %s", notes)
			}
			pulls := b.pulls()
			if len(pulls) != 1 || !strings.HasSuffix(pulls[0].Pull.Head.Ref, tt.want) {
				t.Fatalf("%d pull requests, from %q", len(pulls), pulls[0].Pull.Head.Ref)
			}
			if b.git.SHA(pulls[0].Pull.Head.Ref) == "" {
				t.Error("there is no such branch")
			}
		})
	}
}

// recommit replaces the last commit of a branch of the server by one with the same parent and
// message, and another committer and tree.
func (b *codeBench) recommit(branch, email, tree string) string {
	b.t.Helper()
	sha := b.commitTree(email, tree, b.git.Run("log", "-1", "--format=%B", branch), b.git.SHA(branch+"^"))
	b.git.SetBranch(branch, sha)
	return sha
}

// treeWith returns the tree of a branch of the server with one more file.
func (b *codeBench) treeWith(branch, name string) string {
	b.git.SetBranch("scratch", b.git.SHA(branch))
	b.git.Commit("scratch", map[string]string{name: "theirs\n"}, "Scratch")
	tree := b.git.Run("rev-parse", "scratch^{tree}")
	b.git.Run("update-ref", "-d", "refs/heads/scratch")
	return tree
}

// TestAmendedCommitStays asserts that a commit of ours that somebody has amended is not replaced,
// although it keeps our message. Changes that apply to it are added; the others are reported.
func TestAmendedCommitStays(t *testing.T) {
	t.Parallel()
	for change, state := range map[string]string{"docs/a.md": "failed(merge-conflict)", "docs/b.md": "applied"} {
		b := newCodeBench(t)
		b.write(map[string]string{"docs/a.md": "1\n"})
		want(t, b.run(aPull), "applied")
		branch := b.pulls()[0].Pull.Head.Ref
		theirs := b.recommit(branch, "person@example.com", b.treeWith(branch, "theirs.txt"))
		b.nextRun()
		b.write(map[string]string{change: "2\n"})
		r := b.run(aPull)
		want(t, r, state)
		if got := b.git.SHA(branch); got != theirs && b.git.SHA(branch+"^") != theirs {
			t.Error("somebody's amended commit is gone")
		}
		if state != "applied" && r[0].File == "" {
			t.Error("the patch is not kept")
		}
		if pulls := b.pulls(); len(pulls) != 1 {
			t.Errorf("%d pull requests", len(pulls))
		}
	}
}

// TestConflictWithABranchThatBeganEarlier is about changes that conflict after others have
// committed to our branch and the base branch has moved. It asserts that the reason names the
// commit that the changes do not fit, not the base branch's.
func TestConflictWithABranchThatBeganEarlier(t *testing.T) {
	t.Parallel()
	b := newCodeBench(t)
	began := b.git.SHA("main")
	b.write(map[string]string{"docs/a.md": "1\n"})
	want(t, b.run(aPull), "applied")
	branch := b.pulls()[0].Pull.Head.Ref
	b.recommit(branch, "person@example.com", b.treeWith(branch, "theirs.txt"))
	b.git.Commit("main", map[string]string{"docs/moved.md": "one\n"}, "Move on")
	b.nextRun()
	b.write(map[string]string{"docs/moved.md": "two\n"})
	r := b.run(aPull)
	want(t, r, "failed(merge-conflict)")
	for _, part := range []string{fmt.Sprintf("no longer apply to the commit %.7s, at which the branch %q began", began, branch), `merge the branch "main" into that one`} {
		if !strings.Contains(r[0].Message, part) {
			t.Errorf("%q lacks %q", r[0].Message, part)
		}
	}
	b.updateBranch(branch)
	want(t, b.run(aPull), "applied")
}

// TestForgedTrailerPassesNoRule asserts that a commit whose trailer claims to be from an earlier
// attempt is compared with what this attempt would push.
func TestForgedTrailerPassesNoRule(t *testing.T) {
	t.Parallel()
	b := newCodeBench(t)
	b.write(map[string]string{"docs/a.md": "1\n"})
	b.srv.SetFault(always("pulls/create", githubtest.Fault{Status: 404, Body: `{"message":"Not Found"}`}))
	want(t, b.run(aPull), "failed(not-found)")
	b.srv.SetFault(nil)
	branch := b.branches("refs/heads/airlock")[0]
	good := b.git.SHA(branch)
	b.recommit(branch, committerOf(b.viewer(), "github.com").Email, b.treeWith(branch, ".github/workflows/evil.yml"))
	b.cfg.Run.Attempt = 2
	want(t, b.run(aPull), "applied")
	if got := b.git.SHA(branch); got != good {
		t.Errorf("the branch contains %s", b.git.Run("ls-tree", "-r", "--name-only", branch))
	}
}

// TestRetargetedPullRequestIsLeftAlone asserts that a pull request whose base somebody has changed
// is not updated: relative to the new base, its branch would contain changes of the old one.
func TestRetargetedPullRequestIsLeftAlone(t *testing.T) {
	t.Parallel()
	b := newCodeBench(t)
	b.git.SetBranch("next", b.base)
	b.write(map[string]string{"docs/a.md": "1\n"})
	want(t, b.run(aPull), "applied")
	first := b.pulls()[0]
	b.srv.Change(func(f *githubtest.Fixture) { issueIn(*f, first.Number).Pull.Base.Ref = "next" })
	tip := b.git.SHA(first.Pull.Head.Ref)
	b.nextRun()
	b.write(map[string]string{"docs/a.md": "2\n"})
	want(t, b.run(aPull), "applied")
	if pulls := b.pulls(); len(pulls) != 2 || b.git.SHA(first.Pull.Head.Ref) != tip {
		t.Errorf("%d pull requests, the first from %s, which was at %s", len(pulls), b.git.SHA(first.Pull.Head.Ref), tip)
	}
}

// TestEachItemHasABranchOfItsOwn asserts that jobs of a matrix, steps of a job and
// items of a run do not replace each other's branches.
func TestEachItemHasABranchOfItsOwn(t *testing.T) {
	t.Parallel()
	b := newCodeBench(t)
	b.write(map[string]string{"docs/a.md": "1\n"})
	want(t, b.run(aPull), "applied")
	b.cfg.Run.MatrixIndex = 1
	want(t, b.run(aPull), "applied")
	b.cfg.Run.Step = "another"
	want(t, b.run(aPull), "applied")
	if pulls := b.pulls(); len(pulls) != 3 {
		t.Errorf("%d pull requests for three steps", len(pulls))
	}

	b = newCodeBench(t)
	b.write(map[string]string{"docs/a.md": "1\n"})
	named := strings.ReplaceAll(aPull, `"title"`, `"branch":"feature","title"`)
	for b.cfg.Run.Attempt = 1; b.cfg.Run.Attempt <= 2; b.cfg.Run.Attempt++ {
		r := b.run(named, strings.ReplaceAll(named, "Mend the demo", "And again"))
		if n := Count(r); n[Applied]+n[Adopted] != 2 {
			t.Errorf("attempt %d: %s", b.cfg.Run.Attempt, states(r))
		}
	}
	if got := b.branches("refs/heads/airlock"); !slices.Equal(got, []string{"airlock/feature", "airlock/feature-2"}) {
		t.Errorf("the branches are %q", got)
	}

	// An item that is withheld does not pass its branch on to the next.
	b = newCodeBench(t)
	b.write(map[string]string{"docs/a.md": "1\n"})
	second := strings.ReplaceAll(aPull, "Mend the demo", "And again")
	want(t, b.run(aPull, second), "applied applied")
	b.nextRun()
	b.write(map[string]string{"docs/a.md": "2\n"})
	want(t, b.run(strings.ReplaceAll(aPull, "broken", "correct-horse-battery"), second), "denied(secret) applied")
	if p := b.pulls(); len(p) != 2 || b.file(p[0].Pull.Head.Ref, "docs/a.md") != "1" || b.file(p[1].Pull.Head.Ref, "docs/a.md") != "2" {
		t.Errorf("%d pull requests, of which the wrong one was updated", len(p))
	}
}

// TestDefaultBranchIsNeverTakenOver asserts that the default branch stays, even if all commits that
// it has beyond the base look like ours, as after a squash of our own commits.
func TestDefaultBranchIsNeverTakenOver(t *testing.T) {
	t.Parallel()
	b := newCodeBench(t)
	b.git.SetBranch("next", b.base)
	b.pull(func(s *policy.ChangeSettings) { s.Base, s.Branch = "next", "main" })
	st := branchKey(b.cfg.Run, b.ev.Repo.ID, "create-pull-request", "branch main", 0)
	b.git.Commit("main", map[string]string{"x": "1"}, "Squashed\n\n"+trailer(st, st))
	head := b.recommit("main", committerOf(b.viewer(), "github.com").Email, b.git.Run("rev-parse", "main^{tree}"))
	b.write(map[string]string{"docs/a.md": "1\n"})
	want(t, b.run(aPull), "applied")
	if got := b.git.SHA("main"); got != head {
		t.Error("the default branch was replaced")
	}
}

// TestChangesStayOnTheirBase asserts that the changes stay on the commit that they were made from
// only if the base branch contains it. Otherwise commits that nobody has checked would be pushed
// with the changes.
func TestChangesStayOnTheirBase(t *testing.T) {
	t.Parallel()
	for _, published := range []bool{true, false} {
		b := newCodeBench(t)
		b.pull(func(s *policy.ChangeSettings) { s.StayOnBase = true })
		b.git.Commit("main", map[string]string{"other.txt": "other\n"}, "Move on")
		base := b.base
		if !published {
			b.write(map[string]string{".github/workflows/evil.yml": "on: push\n"}).commit("Prepare")
			base = b.sh(b.dir, "rev-parse", "HEAD")
		}
		b.write(map[string]string{"docs/a.md": "1\n"})
		repo := b.deps.Code.Repo
		b.deps.Code.Series = func(ctx context.Context, _ []string) (gitrepo.Series, error) {
			return agentchanges.FromWorkspace(ctx, agentchanges.WorkspaceConfig{Repo: repo, Dir: b.dir, Bases: []string{base}})
		}
		r := b.run(aPull)
		want(t, r, "applied")
		branch := b.pulls()[0].Pull.Head.Ref
		if got := b.git.SHA(branch + "^"); (got == base) != published {
			t.Errorf("published %t: it begins at %s", published, got)
		}
		if files := b.git.Run("ls-tree", "-r", "--name-only", branch); strings.Contains(files, "evil") {
			t.Errorf("what nobody has checked was pushed:\n%s", files)
		}
		if noted := strings.Contains(strings.Join(r[0].Notes, "; "), "is not on the branch"); noted == published {
			t.Errorf("published %t: notes %q", published, r[0].Notes)
		}
	}
}

// TestSignedCommitsThatMovedTheBranch lets GitHub answer that the branch has moved, because an earlier
// try took effect late or the request arrived twice. It asserts that Airlock finds its commit on the
// branch, and that it does not mistake somebody else's commit for its own.
func TestSignedCommitsThatMovedTheBranch(t *testing.T) {
	t.Parallel()
	const moved = `{"data":{"createCommitOnBranch":null},"errors":[{"type":"STALE_DATA","path":["createCommitOnBranch"],"message":"Expected branch to point to another commit"}]}`
	answer := http.Header{"Content-Type": {"application/json"}}
	for name, c := range map[string]struct {
		fault func(b *codeBench, try int) githubtest.Fault
		state string
	}{
		"an earlier try took effect after it was looked for": {func(b *codeBench, try int) githubtest.Fault {
			if try == 1 {
				return githubtest.Fault{Late: 4 * time.Second}
			}
			b.clock.Advance(5 * time.Second)
			return githubtest.Fault{}
		}, "applied"},
		"the request arrived twice": {func(_ *codeBench, try int) githubtest.Fault {
			if try == 1 {
				return githubtest.Fault{After: true, Status: 200, Header: answer, Body: moved}
			}
			return githubtest.Fault{}
		}, "applied"},
		"somebody else pushed": {func(b *codeBench, _ int) githubtest.Fault {
			b.git.Commit(b.branches("refs/heads/airlock")[0], map[string]string{"docs/c.md": "x\n"}, "Somebody else's")
			return githubtest.Fault{}
		}, "failed(moved)"},
	} {
		b := newCodeBench(t)
		b.pull(func(s *policy.ChangeSettings) { s.SignedCommits = true })
		b.write(map[string]string{"docs/a.md": "1\n"}).commit("One").write(map[string]string{"docs/b.md": "2\n"}).commit("Two")
		tries := 0
		b.srv.SetFault(func(r githubtest.Request) githubtest.Fault {
			if r.Operation != "graphql/CreateCommit" {
				return githubtest.Fault{}
			}
			tries++
			return c.fault(b, tries)
		})
		r := b.run(aPull)
		want(t, r, c.state)
		branch := b.branches("refs/heads/airlock")[0]
		log := b.git.Run("log", "--format=%s", "main.."+branch)
		if c.state == "applied" && log != "Two\nOne" || strings.Count(log, "One") > 1 {
			t.Errorf("%s: the commits are %q", name, log)
		}
	}
}

// TestSignedCommitsGoOnAfterAFailure lets GitHub refuse the token at the first commit of the first
// attempt, and at the second commit of the second attempt. The branch is left without a commit of
// ours, and then with the first one. It asserts that the third attempt opens one pull request with
// both changes.
func TestSignedCommitsGoOnAfterAFailure(t *testing.T) {
	t.Parallel()
	b := newCodeBench(t)
	b.pull(func(s *policy.ChangeSettings) { s.SignedCommits = true })
	b.write(map[string]string{"docs/a.md": "1\n"}).commit("One").write(map[string]string{"docs/b.md": "2\n"}).commit("Two")
	for commits := range 2 {
		b.srv.SetFault(githubtest.Faults([]githubtest.FaultRule{{Operation: "graphql/CreateCommit", Skip: commits, Fault: githubtest.Fault{Status: 401, Body: `{"message":"Bad credentials"}`}}}))
		want(t, b.run(aPull), "failed(unauthorized)")
		b.cfg.Run.Attempt++
	}
	b.srv.SetFault(nil)
	want(t, b.run(aPull), "applied")
	pulls := b.pulls()
	got := b.branches("refs/heads/airlock")
	if len(pulls) != 1 || len(got) != 1 || got[0] != pulls[0].Pull.Head.Ref || b.file(got[0], "docs/b.md") != "2" || b.file(got[0], "docs/a.md") != "1" {
		t.Errorf("%d pull requests; the branches are %q", len(pulls), got)
	}
}
