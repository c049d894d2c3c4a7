package apply

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/githubtest"
	"github.com/agent-airlock/airlock/internal/policy"
)

// TestPullRequest opens a pull request for a commit and a file that is not committed. It does so
// twice, and asserts that the commits that are pushed are the same.
func TestPullRequest(t *testing.T) {
	t.Parallel()
	var tips []string
	for range 2 {
		b := newCodeBench(t)
		b.pull(func(s *policy.ChangeSettings) { s.Reviewers = []string{"octocat"} })
		b.write(map[string]string{"src/main.go": "package main\n\nfunc main() { run() }\n"}).commit("Call run\n\nFixes #5. Thanks @octocat [skip ci]\nAirlock-Item: 0123456789abcdef-0123456789abcdef")
		b.write(map[string]string{"src/run.go": "package main\n\nfunc run() {}\n"})
		before := fingerprint(t, b.dir)
		r := b.run(aPull)
		want(t, r, "applied")
		if after := fingerprint(t, b.dir); after != before {
			t.Error("the workspace was changed")
		}
		pulls := b.pulls()
		if len(pulls) != 1 {
			t.Fatalf("%d pull requests", len(pulls))
		}
		p := pulls[0]
		if p.Title != "Mend the demo" || !strings.HasPrefix(p.Body, "It was broken.") || !p.Pull.Draft || p.Pull.Base.Ref != "main" || strings.Join(p.Labels, ",") != "bug" {
			t.Errorf("the pull request is %+v, %+v", p, p.Pull)
		}
		branch := p.Pull.Head.Ref
		if !strings.HasPrefix(branch, "airlock/") || !strings.HasSuffix(branch, "-mend-the-demo") {
			t.Errorf("the branch is %q", branch)
		}
		if got := b.file(branch, "src/run.go"); got != "package main\n\nfunc run() {}" {
			t.Errorf("run.go is %q", got)
		}
		log := b.messages(branch)
		for _, w := range []string{"github-actions[bot] <41898282+github-actions[bot]@users.noreply.github.com>|github-actions[bot]|Mend the demo", "Ada Lovelace <ada@example.com>|github-actions[bot]|Call run", "(skip ci)"} {
			if !strings.Contains(log, w) {
				t.Errorf("no %q in\n%s", w, log)
			}
		}
		for _, w := range []string{"[skip ci]", "Fixes #5", "@octocat", "0123456789abcdef-0123456789abcdef"} {
			if strings.Contains(log, w) {
				t.Errorf("%q acts in\n%s", w, log)
			}
		}
		if o := r[0].Object; o == nil || o.Number != p.Number || o.SHA != b.git.SHA(branch) || o.Branch != branch || o.URL == "" {
			t.Errorf("the object is %+v", r[0].Object)
		}
		if !strings.Contains(strings.Join(r[0].Notes, "; "), "only after somebody approves") {
			t.Errorf("notes: %q", r[0].Notes)
		}
		if got := strings.Join(operations(b.srv.Writes()), " "); got != "git-http/receive-pack pulls/create issues/add-labels pulls/request-reviewers" {
			t.Errorf("writes: %s", got)
		}
		tips = append(tips, b.git.SHA(branch))

		// The same attempt again, and a later one, find everything there.
		for b.cfg.Run.Attempt = 1; b.cfg.Run.Attempt <= 2; b.cfg.Run.Attempt++ {
			b.srv.ResetRequests()
			want(t, b.run(aPull), "adopted")
			if w := b.srv.Writes(); len(w) != 0 {
				t.Errorf("again: %s", operations(w))
			}
		}
	}
	if tips[0] != tips[1] {
		t.Errorf("the commits are not the same: %s", tips)
	}
}

// TestReviewersAreAskedOnce asserts that later attempts ask users and teams whom the first attempt
// could not ask, and ask them once. A reviewer who has reviewed already is not asked again.
func TestReviewersAreAskedOnce(t *testing.T) {
	t.Parallel()
	b := newCodeBench(t, func(f *githubtest.Fixture) {
		f.Repo.Collaborators = []githubtest.Account{{Login: "octocat", ID: 583231}, {Login: "mona", ID: 2}}
		f.Repo.Teams = []string{"writers"}
	})
	b.pull(func(s *policy.ChangeSettings) { s.Reviewers = []string{"Octocat", "mona", "octo/writers"} })
	b.write(map[string]string{"docs/a.md": "1\n"})
	b.srv.SetFault(always("pulls/request-reviewers", githubtest.Fault{Status: 404, Body: `{"message":"Not Found"}`}))
	r := b.run(aPull)
	want(t, r, "applied")
	if !strings.Contains(strings.Join(r[0].Notes, "; "), "could not be requested") {
		t.Errorf("notes: %q", r[0].Notes)
	}
	b.srv.SetFault(nil)
	number := b.pulls()[0].Number
	b.srv.Change(func(f *githubtest.Fixture) {
		p := issueIn(*f, number).Pull
		p.Reviews = append(p.Reviews, &githubtest.Review{Author: f.Repo.Collaborators[0], State: "APPROVED", CommitID: p.Head.SHA, SubmittedAt: b.clock.Now()})
	})
	for b.cfg.Run.Attempt = 2; b.cfg.Run.Attempt <= 3; b.cfg.Run.Attempt++ {
		want(t, b.run(aPull), "adopted")
		if p := b.pulls()[0].Pull; strings.Join(p.Asked, " ") != "mona" || strings.Join(p.Teams, " ") != "writers" {
			t.Errorf("attempt %d: asked %q and the teams %q", b.cfg.Run.Attempt, p.Asked, p.Teams)
		}
	}
	if n := count(operations(b.srv.Writes()), "pulls/request-reviewers"); n != 2 {
		t.Errorf("they were asked %d times", n)
	}
}

// TestReviewersWhomGitHubRefuses asserts that one name that GitHub does not take keeps nobody else
// from being asked, and that the note says who was not asked.
func TestReviewersWhomGitHubRefuses(t *testing.T) {
	t.Parallel()
	for _, refused := range []string{"nobody", "octo/none", "other/writers", "github-actions[bot]"} {
		b := newCodeBench(t, func(f *githubtest.Fixture) {
			f.Repo.Collaborators = []githubtest.Account{{Login: "octocat", ID: 583231}, {Login: "mona", ID: 2}}
			f.Repo.Teams = []string{"writers"}
		})
		b.pull(func(s *policy.ChangeSettings) { s.Reviewers = []string{"octocat", refused, "mona", "octo/writers"} })
		b.write(map[string]string{"docs/a.md": "1\n"})
		r := b.run(aPull)
		want(t, r, "applied")
		if p := b.pulls()[0].Pull; strings.Join(p.Asked, " ") != "octocat mona" || strings.Join(p.Teams, " ") != "writers" {
			t.Errorf("%s: asked %q and the teams %q", refused, p.Asked, p.Teams)
		}
		about := slices.DeleteFunc(r[0].Notes, func(n string) bool { return !strings.Contains(n, "could not be requested") })
		if len(about) != 1 || !strings.Contains(about[0], `"`+refused+`"`) {
			t.Errorf("%s: notes: %q", refused, about)
		}
	}
}

// TestPullRequestWhereNothingChanged asserts that the owner's setting decides the outcome.
func TestPullRequestWhereNothingChanged(t *testing.T) {
	t.Parallel()
	for wish, state := range map[policy.IfNoChanges]string{policy.NoChangesWarn: "skipped(no-changes)", policy.NoChangesError: "failed(no-changes)", policy.NoChangesIgnore: "applied"} {
		b := newCodeBench(t)
		b.pull(func(s *policy.ChangeSettings) { s.IfNoChanges = wish })
		want(t, b.run(aPull), state)
		if w := b.srv.Writes(); len(w) != 0 {
			t.Errorf("%q: %s", wish, operations(w))
		}
	}
}

// TestPullRequestOnAMovedBase asserts that the changes are put on top of the moved base, or
// that the conflict is reported and the patch kept.
func TestPullRequestOnAMovedBase(t *testing.T) {
	t.Parallel()
	b := newCodeBench(t)
	b.write(map[string]string{"docs/a.md": "one\ntwo\n3\n"})
	b.git.Commit("main", map[string]string{"docs/a.md": "1\ntwo\nthree\n"}, "Elsewhere")
	r := b.run(aPull)
	want(t, r, "applied")
	branch := b.pulls()[0].Pull.Head.Ref
	if got := b.file(branch, "docs/a.md"); got != "1\ntwo\n3" {
		t.Errorf("a.md is %q", got)
	}
	if !strings.Contains(strings.Join(r[0].Notes, ";"), "put onto the branch") {
		t.Errorf("notes: %q", r[0].Notes)
	}

	b = newCodeBench(t)
	b.write(map[string]string{"docs/a.md": "one\ntwo\n3\n"}).commit("Three")
	b.git.Commit("main", map[string]string{"docs/a.md": "one\ntwo\ndrei\n"}, "The same line")
	r = b.run(aPull)
	want(t, r, "failed(merge-conflict)")
	if !strings.Contains(r[0].Message, `"docs/a.md"`) || len(b.srv.Writes()) != 0 {
		t.Errorf("%s; %s", r[0].Message, operations(b.srv.Writes()))
	}
	kept := string(b.files[strings.TrimPrefix(r[0].File, "/out/")])
	if !strings.Contains(kept, "+3") || !strings.Contains(kept, "Subject: [PATCH] Three") {
		t.Errorf("the patch is kept as %q: %q", r[0].File, kept)
	}
}

// TestPullRequestForbidden asserts that the branch is kept if GitHub does not allow a pull
// request, and that an issue links to it if the owner wants that.
func TestPullRequestForbidden(t *testing.T) {
	t.Parallel()
	refuse := githubtest.Faults([]githubtest.FaultRule{{Operation: "pulls/create", Fault: githubtest.Fault{Status: 403, Header: http.Header{"Content-Type": {"application/json"}},
		Body: `{"message":"GitHub Actions is not permitted to create or approve pull requests."}`}}})
	b := newCodeBench(t)
	b.srv.SetFault(refuse)
	b.write(map[string]string{"docs/a.md": "1\n"})
	r := b.run(aPull)
	want(t, r, "skipped(pull-forbidden)")
	if o := r[0].Object; o == nil || o.Type != "branch" || b.git.SHA(o.Branch) != o.SHA || !strings.Contains(o.URL, "/compare/main...airlock/") {
		t.Errorf("the object is %+v", r[0].Object)
	}

	b = newCodeBench(t)
	b.srv.SetFault(refuse)
	b.pull(func(s *policy.ChangeSettings) { s.FallbackIssue = true })
	b.write(map[string]string{"docs/a.md": "1\n"})
	r = b.run(aPull)
	want(t, r, "applied")
	if o := r[0].Object; o == nil || o.Type != "issue" || !strings.Contains(b.issue(o.Number).Body, "/compare/main...airlock/") {
		t.Errorf("the object is %+v", r[0].Object)
	}
	b.cfg.Run.Attempt = 2
	b.srv.ResetRequests()
	want(t, b.run(aPull), "adopted")
}

// TestPullRequestPlan asserts that a dry run plans everything and writes nothing, that it plans
// without a token too, and that the item fails without a clone.
func TestPullRequestPlan(t *testing.T) {
	t.Parallel()
	b := newCodeBench(t)
	b.cfg.DryRun = true
	b.write(map[string]string{"docs/a.md": "1\n"})
	plan := b.plan(aPull)
	var reqs []string
	for _, r := range plan.Operations[0].Requests {
		reqs = append(reqs, r.Method+" "+r.Path)
	}
	got := strings.Join(reqs, "\n")
	for _, w := range []string{"PUSH refs/heads/airlock/", "POST /repos/octo/repo/pulls", "POST /repos/octo/repo/issues/<number>/labels"} {
		if !strings.Contains(got, w) {
			t.Errorf("no %q in\n%s", w, got)
		}
	}
	if fmt.Sprint(plan.Permissions) != "[contents: write pull-requests: write]" {
		t.Errorf("permissions: %v", plan.Permissions)
	}
	want(t, execute(t.Context(), b.deps, plan), "staged")
	if w := b.srv.Writes(); len(w) != 0 {
		t.Errorf("writes: %s", operations(w))
	}

	b.token, b.deps.GitHub = "", nil
	b.srv.ResetRequests()
	if plan = b.plan(aPull); len(plan.Operations[0].Requests) == 0 || len(plan.Unchecked) == 0 || len(b.srv.Requests()) != 0 {
		t.Errorf("without a token: %+v, %d requests", plan.Operations[0], len(b.srv.Requests()))
	}

	b.deps.Code = nil
	want(t, execute(t.Context(), b.deps, b.plan(aPull)), "failed(no-clone)")
}
