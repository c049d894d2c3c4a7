package apply

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-airlock/airlock/internal/event"
	"github.com/agent-airlock/airlock/internal/githubtest"
	"github.com/agent-airlock/airlock/internal/policy"
	"github.com/agent-airlock/airlock/internal/safeoutput"
	"github.com/agent-airlock/airlock/internal/shorttest"
)

// TestPush adds commits to the head of the event's pull request.
func TestPush(t *testing.T) {
	t.Parallel()
	b := newPullBench(t)
	head := b.git.SHA("topic")
	b.write(map[string]string{"src/run.go": "package main\n"}).commit("Add run")
	b.write(map[string]string{"topic.txt": "better\n"})
	r := b.run(aPush)
	want(t, r, "applied")
	if got := b.git.Run("log", "--format=%s", head+"..topic"); got != "Apply the review\nAdd run" {
		t.Errorf("the commits are %q", got)
	}
	if o := r[0].Object; o == nil || o.SHA != b.git.SHA("topic") || o.Branch != "topic" || o.Number != pullNumber || !strings.HasSuffix(o.URL, "/octo/repo/commit/"+o.SHA) {
		t.Errorf("the object is %+v", r[0].Object)
	}
	if got := strings.Join(operations(b.srv.Writes()), " "); got != "git-http/receive-pack" {
		t.Errorf("writes: %s", got)
	}
	if !strings.Contains(strings.Join(r[0].Notes, ";"), "starts no workflow runs") {
		t.Errorf("notes: %q", r[0].Notes)
	}

	// A later attempt finds the commits, even below somebody else's.
	b.git.Commit("topic", map[string]string{"x": "x\n"}, "On top")
	b.srv.ResetRequests()
	b.cfg.Run.Attempt = 2
	want(t, b.run(aPush), "adopted")
	if w := b.srv.Writes(); len(w) != 0 {
		t.Errorf("again: %s", operations(w))
	}
}

// TestPushSaysThatAMessageIsNotUsed asserts that an item's message is not lost silently.
func TestPushSaysThatAMessageIsNotUsed(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name    string
		line    string
		squash  bool
		isDirty bool
		isNoted bool
	}{
		{name: "committed", line: aPush, isNoted: true},
		{name: "committed, without a message", line: `{"type":"push-to-branch"}`},
		{name: "not all committed", line: aPush, isDirty: true},
		{name: "squashed", line: aPush, squash: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := newPullBench(t)
			b.write(map[string]string{"src/run.go": "package main\n"}).commit("Add run")
			b.write(map[string]string{"src/b.go": "package main\n"}).commit("Add b")
			if tt.isDirty {
				b.write(map[string]string{"topic.txt": "better\n"})
			}
			if tt.squash {
				b.push(func(s *policy.ChangeSettings) { s.Commits = policy.CommitsSquash })
			}
			r := b.run(tt.line)
			want(t, r, "applied")
			if got := strings.Contains(strings.Join(r[0].Notes, ";"), "the item's message is used nowhere"); got != tt.isNoted {
				t.Errorf("notes: %q; commits: %q", r[0].Notes, b.git.Run("log", "--format=%s", "topic"))
			}
		})
	}
}

// TestPushToAMovedBranch asserts that the commits are put on top of the moved branch, and that
// no push is forced.
func TestPushToAMovedBranch(t *testing.T) {
	t.Parallel()
	b := newPullBench(t)
	b.write(map[string]string{"docs/a.md": "one\ntwo\n3\n"})
	b.git.Commit("topic", map[string]string{"docs/a.md": "1\ntwo\nthree\n"}, "Meanwhile")
	want(t, b.run(aPush), "applied")
	if got := b.file("topic", "docs/a.md"); got != "1\ntwo\n3" {
		t.Errorf("a.md is %q", got)
	}

	// The branch moves between looking and pushing. If it moves once, the push is repeated; if it
	// moves twice, the push fails.
	for _, moves := range []int{1, 2} {
		b := newPullBench(t)
		b.write(map[string]string{"docs/a.md": "one\ntwo\n3\n"})
		plan := b.plan(aPush)
		b.srv.SetFault(func(r githubtest.Request) githubtest.Fault {
			if r.Operation == "git-http/receive-pack" && moves > 0 {
				moves--
				b.git.Commit("topic", map[string]string{"moved.txt": strings.Repeat("x", moves+1)}, "Meanwhile")
			}
			return githubtest.Fault{}
		})
		state := "applied"
		if moves == 2 {
			state = "failed(moved)"
		}
		r := execute(t.Context(), b.deps, plan)
		want(t, r, state)
		if got := b.git.Run("show", "topic:moved.txt"); got == "" {
			t.Error("somebody else's commit is gone")
		}
		if state != "applied" && r[0].File == "" {
			t.Error("the patch is not kept")
		}
	}

	// GitHub cannot say where the branch is after it has moved.
	b = newPullBench(t)
	b.write(map[string]string{"docs/a.md": "one\ntwo\n3\n"})
	plan := b.plan(aPush)
	moved := false
	b.srv.SetFault(func(r githubtest.Request) githubtest.Fault {
		switch {
		case r.Operation == "git-http/receive-pack" && !moved:
			moved = true
			b.git.Commit("topic", map[string]string{"moved.txt": "x"}, "Meanwhile")
		case r.Operation == "repos/get-branch" && moved, r.Operation == "git/get-ref" && moved:
			return githubtest.ServerError(502, false)
		}
		return githubtest.Fault{}
	})
	r := execute(t.Context(), b.deps, plan)
	want(t, r, "failed(unreachable)")
	if strings.Contains(r[0].Message, "gone") || r[0].File == "" {
		t.Errorf("the branch is there, and the patch has to be kept: %+v", r[0])
	}
}

// TestAPlanWithoutATokenReadsTheEvent asserts that a plan which can read nothing of GitHub does not
// promise a push that the event shows to be impossible.
func TestAPlanWithoutATokenReadsTheEvent(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		change func(*event.Event)
		line   string
		state  string
	}{
		{"a branch of this repository", func(ev *event.Event) {}, aPush, "staged"},
		{"an event without the branch", func(ev *event.Event) { ev.Head, ev.Fork = event.Ref{}, true }, aPush, "staged"},
		{"a fork", func(ev *event.Event) { ev.Fork, ev.Head.Ref = true, "main" }, aPush, "skipped(fork-head)"},
		{"the default branch", func(ev *event.Event) { ev.Head.Ref = "main" }, aPush, "denied(default-branch)"},
		{"the pull request's base", func(ev *event.Event) { ev.Base.Ref = "topic" }, aPush, "denied(base-branch)"},
		{"another branch's name", func(ev *event.Event) {}, `{"type":"push-to-branch","branch":"other"}`, "denied(branch)"},
		{"its own branch's name", func(ev *event.Event) {}, `{"type":"push-to-branch","branch":"topic"}`, "staged"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := newPullBench(t)
			b.cfg.DryRun, b.token, b.deps.GitHub = true, "", nil
			b.ev.Repo.DefaultBranch = "main"
			tt.change(&b.ev)
			b.write(map[string]string{"docs/a.md": "1\n"})
			want(t, b.run(tt.line), tt.state)
		})
	}
}

// TestPushIsCheckedAgainstTheRules asserts which pushes are denied, skipped or refused because of
// the owner's rules, the pull request or the branch.
func TestPushIsCheckedAgainstTheRules(t *testing.T) {
	t.Parallel()
	for _, tt := range shorttest.First(2, []struct {
		name   string
		policy func(*policy.ChangeSettings)
		change func(*githubtest.Issue)
		state  string
	}{
		{"title", func(s *policy.ChangeSettings) { s.RequiredTitlePrefix = "[bot]" }, nil, "denied(required-title-prefix)"},
		{"title there", func(s *policy.ChangeSettings) { s.RequiredTitlePrefix = "Mend" }, nil, "applied"},
		{"title with a mention, as Airlock posts it", func(s *policy.ChangeSettings) { s.RequiredTitlePrefix = "@octocat: " },
			func(i *githubtest.Issue) { i.Title = "@\u200boctocat: Mend it" }, "applied"},
		{"labels", func(s *policy.ChangeSettings) { s.RequiredLabels = []string{"bug"} }, nil, "denied(required-labels)"},
		{"labels there", func(s *policy.ChangeSettings) { s.RequiredLabels = []string{"BUG"} }, func(i *githubtest.Issue) { i.Labels = []string{"bug"} }, "applied"},
		{"closed", nil, func(i *githubtest.Issue) { i.State = "closed" }, "skipped(closed)"},
		{"fork", nil, func(i *githubtest.Issue) { i.Pull.Head.Fork = "someone/repo" }, "skipped(fork-head)"},
		{"a fork's branch with the name of the default branch", nil, func(i *githubtest.Issue) { i.Pull.Head.Fork, i.Pull.Head.Ref = "someone/repo", "main" }, "skipped(fork-head)"},
		{"fork of a repository without an id", nil, func(i *githubtest.Issue) { i.Pull.Head.Fork = "someone/repo" }, "skipped(fork-head)"},
		{"default branch", nil, func(i *githubtest.Issue) { i.Pull.Head.Ref = "main" }, "denied(default-branch)"},
		{"protected", nil, nil, "denied(protected-branch)"},
		{"ruled", nil, nil, "denied(protected-branch)"},
		{"protected and configured", func(s *policy.ChangeSettings) { s.Branch = "topic" }, nil, "failed(push-refused)"},
		{"base", nil, func(i *githubtest.Issue) { i.Pull.Head.Ref = "next" }, "denied(base-branch)"},
		{"files", func(s *policy.ChangeSettings) { s.Files.Allowed = []string{"src/**"} }, nil, "denied(allowed-files)"},
		{"configured branch", func(s *policy.ChangeSettings) { s.Branch = "main" }, nil, "applied"},
		{"configured branch that is not there", func(s *policy.ChangeSettings) { s.Branch = "nowhere" }, nil, "failed(no-base)"},
	}) {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := newPullBench(t, func(f *githubtest.Fixture) {
				switch tt.name {
				case "protected", "protected and configured":
					f.Repo.Protected = []string{"top*"}
				case "ruled":
					f.Repo.Ruled = []string{"topic"}
				}
			})
			if tt.name == "fork of a repository without an id" { // in a hand-written event
				b.ev.Repo.ID = 0
			}
			if tt.name == "base" {
				b.git.SetBranch("next", b.git.SHA("topic"))
				b.ev.Base.Ref = "next"
			}
			if tt.policy != nil {
				b.push(tt.policy)
			}
			if tt.change != nil {
				b.srv.Change(func(f *githubtest.Fixture) {
					for _, i := range f.Issues {
						if i.Number == pullNumber {
							tt.change(i)
						}
					}
				})
			}
			b.write(map[string]string{"docs/a.md": "1\n"})
			want(t, b.run(aPush), tt.state)
			if w := b.srv.Writes(); (len(w) == 0) == (tt.state == "applied" || tt.state == "failed(push-refused)") {
				t.Errorf("writes: %s", operations(w))
			}
		})
	}
}

// TestBranchesThatItemsName asserts that an item is denied if it names another branch than the one
// that would be written to, whether the event or the owner determines that one.
func TestBranchesThatItemsName(t *testing.T) {
	t.Parallel()
	for _, tt := range shorttest.First(2, []struct{ line, configured, state string }{
		{`{"type":"push_to_pull_request_branch","message":"m","branch":"release"}`, "", "denied(branch)"},
		{`{"type":"push_to_pull_request_branch","message":"m","branch":"topic"}`, "", "applied"},
		{`{"type":"push_to_pull_request_branch","message":"m","branch":"refs/heads/topic"}`, "", "applied"},
		{`{"type":"push_to_pull_request_branch","message":"m","branch":"topic"}`, "main", "denied(branch)"},
		{`{"type":"push_to_pull_request_branch","message":"m","branch":"main"}`, "main", "applied"},
		{`{"type":"create_pull_request","title":"t","body":"b","base":"topic"}`, "", "denied(base)"},
		{`{"type":"create_pull_request","title":"t","body":"b","base":"main"}`, "", "applied"},
	}) {
		b := newPullBench(t)
		b.push(func(s *policy.ChangeSettings) { s.Branch = tt.configured })
		b.write(map[string]string{"docs/a.md": "1\n"})
		want(t, b.run(tt.line), tt.state)
		if w := b.srv.Writes(); (len(w) == 0) == (tt.state == "applied") {
			t.Errorf("%s: writes %s", tt.line, operations(w))
		}
	}
}

// TestPushToWhatIsNoPullRequest names an issue's number.
func TestPushToWhatIsNoPullRequest(t *testing.T) {
	t.Parallel()
	b := newPullBench(t)
	b.anyTarget(safeoutput.KindPushToBranch)
	b.srv.Change(func(f *githubtest.Fixture) {
		f.Issues = append(f.Issues, &githubtest.Issue{Number: 77, Title: "An issue"})
	})
	b.write(map[string]string{"docs/a.md": "1\n"})
	want(t, b.run(`{"type":"push_to_pull_request_branch","message":"m","pr":77}`), "denied(target-kind)")
	if w := b.srv.Writes(); len(w) != 0 {
		t.Errorf("writes: %s", operations(w))
	}
}

// TestPushFaults loses the answer of a push or the push itself, or delays or refuses the push.
func TestPushFaults(t *testing.T) {
	t.Parallel()
	for name, tt := range shorttest.Some(2, map[string]struct {
		fault githubtest.Fault
		times int
		state string
	}{
		"cut before":      {githubtest.Fault{Cut: true}, 1, "applied"},
		"cut after":       {githubtest.Fault{Cut: true, After: true}, 1, "applied"},
		"500":             {githubtest.ServerError(500, false), 2, "applied"},
		"502 after":       {githubtest.ServerError(502, true), 1, "applied"},
		"answer cut":      {githubtest.Fault{CutBody: true}, 1, "applied"},
		"always cut":      {githubtest.Fault{Cut: true}, 99, "failed(ambiguous)"},
		"no permission":   {githubtest.Fault{Status: 403}, 99, "failed(permission)"},
		"late":            {githubtest.Fault{Late: 3e9}, 1, "applied"},
		"secondary limit": {githubtest.SecondaryLimit(429, 1), 1, "applied"},
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newPullBench(t)
			head := b.git.SHA("topic")
			b.write(map[string]string{"docs/a.md": "1\n"})
			plan := b.plan(aPush)
			b.srv.SetFault(times(tt.times, "git-http/receive-pack", tt.fault))
			r := execute(t.Context(), b.deps, plan)
			want(t, r, tt.state)
			commits := b.git.Run("rev-list", "--count", head+"..topic")
			if done := tt.state == "applied"; done != (commits == "1") {
				t.Errorf("%s commits were pushed", commits)
			}
			if tt.state != "applied" && r[0].File == "" {
				t.Error("the patch is not kept")
			}
		})
	}
}

// TestPushRefusedByARule asserts that the message quotes the server, where the rule was added
// after we looked.
func TestPushRefusedByARule(t *testing.T) {
	t.Parallel()
	b := newPullBench(t)
	b.write(map[string]string{"docs/a.md": "1\n"})
	plan := b.plan(aPush)
	b.srv.Change(func(f *githubtest.Fixture) { f.Repo.Protected = []string{"topic"} })
	r := execute(t.Context(), b.deps, plan)
	want(t, r, "failed(push-refused)")
	if !strings.Contains(r[0].Message, "GH006") || r[0].File == "" {
		t.Errorf("%s, kept as %q", r[0].Message, r[0].File)
	}
}

// TestSignedCommits commits through the API, one commit after the other. An executable file, which
// the API cannot make, is denied.
func TestSignedCommits(t *testing.T) {
	t.Parallel()
	b := newCodeBench(t)
	b.pull(func(s *policy.ChangeSettings) { s.SignedCommits = true })
	b.write(map[string]string{"docs/a.md": "1\n"}).commit("One")
	b.write(map[string]string{"docs/b.md": "2\n"}).commit("Two")
	want(t, b.run(aPull), "applied")
	branch := b.pulls()[0].Pull.Head.Ref
	if got := b.git.Run("log", "--format=%s", "main.."+branch); got != "Two\nOne" {
		t.Errorf("the commits are %q", got)
	}
	if got := strings.Join(operations(b.srv.Writes()), " "); got != "git/create-ref graphql/CreateCommit graphql/CreateCommit pulls/create issues/add-labels" {
		t.Errorf("writes: %s", got)
	}
	b.nextRun()
	b.write(map[string]string{"docs/a.md": "3\n"})
	want(t, b.run(aPull), "applied")
	if got := b.file(branch, "docs/a.md"); got != "3" {
		t.Errorf("a.md is %q", got)
	}
	if b.git.Run("ls-tree", "--name-only", branch, "docs/b.md") != "" {
		t.Error("b.md is still there")
	}

	b = newCodeBench(t)
	b.pull(func(s *policy.ChangeSettings) { s.SignedCommits = true })
	b.write(map[string]string{"run.sh": "#!/bin/sh\n"})
	b.sh(b.dir, "add", "run.sh")
	b.sh(b.dir, "update-index", "--chmod=+x", "run.sh")
	b.sh(b.dir, "commit", "-qm", "Run")
	b.sh(b.dir, "checkout", "-q", "--", ".")
	want(t, b.run(aPull), "denied(signed-commits)")
	if w := b.srv.Writes(); len(w) != 0 {
		t.Errorf("writes: %s", operations(w))
	}
}

// codeRequests returns, for each kind that carries code, how many requests of each operation
// one item takes. Before it pushes, git asks for the branches, once without the token and once
// with it.
func codeRequests() map[string]map[string]int {
	return map[string]map[string]int{
		"create-pull-request": {"graphql/Viewer": 1, "repos/get": 1, "git/get-ref": 2, "git/list-matching-refs": 1, "repos/get-branch-rules": 1, "graphql/ProtectedBranches": 1, "git-http/refs-of-receive-pack": 2, "git-http/receive-pack": 1,
			"pulls/create": 1, "issues/add-labels": 1, "pulls/request-reviewers": 1},
		"push-to-branch": {"graphql/Viewer": 1, "repos/get": 1, "pulls/get": 1, "repos/get-branch": 1, "repos/get-branch-rules": 1, "git-http/refs-of-receive-pack": 2, "git-http/receive-pack": 1},
	}
}

// TestRequestsOfCode checks the table in the package's documentation for the kinds that carry
// code.
func TestRequestsOfCode(t *testing.T) {
	t.Parallel()
	for kind, item := range map[string]string{"create-pull-request": aPull, "push-to-branch": aPush} {
		b := newPullBench(t)
		b.pull(func(s *policy.ChangeSettings) { s.Reviewers = []string{"octocat"} })
		b.write(map[string]string{"docs/a.md": "1\n"})
		want(t, b.run(item), "applied")
		got := map[string]int{}
		for _, r := range b.srv.Requests() {
			got[r.Operation]++
		}
		if diff := cmp.Diff(codeRequests()[kind], got); diff != "" {
			t.Errorf("%s: requests (-documented +sent):\n%s", kind, diff)
		}
	}
}

// TestFailureReportsWhatIsThere asserts that the result of a failed item names the part of it
// that was done.
func TestFailureReportsWhatIsThere(t *testing.T) {
	t.Parallel()
	b := newCodeBench(t)
	b.ev.Name, b.ev.Number = "issues", issueNumber
	b.write(map[string]string{"docs/a.md": "1\n"})
	want(t, b.run(aPull), "applied")
	b.nextRun()
	b.write(map[string]string{"docs/a.md": "2\n"})
	b.srv.SetFault(always("pulls/update", githubtest.Fault{Status: 403}))
	r := b.run(strings.ReplaceAll(aPull, "Mend the demo", "Mend it better"))
	want(t, r, "failed(permission)")
	if o := r[0].Object; o == nil || b.file(o.Branch, "docs/a.md") != "2" || !strings.Contains(strings.Join(r[0].Notes, ";"), "was pushed; title and text") {
		t.Errorf("%+v, %q", r[0].Object, r[0].Notes)
	}

	b = newCodeBench(t)
	b.pull(func(s *policy.ChangeSettings) { s.SignedCommits = true })
	b.write(map[string]string{"docs/a.md": "1\n"}).commit("One")
	b.write(map[string]string{"docs/b.md": "2\n"}).commit("Two")
	b.srv.SetFault(githubtest.Faults([]githubtest.FaultRule{{Operation: "graphql/CreateCommit", Skip: 1, Fault: githubtest.Fault{Status: 403}}}))
	r = b.run(aPull)
	want(t, r, "failed(permission)")
	if !strings.Contains(strings.Join(r[0].Notes, ";"), "some of the commits are on the branch") {
		t.Errorf("notes: %q", r[0].Notes)
	}
	b.srv.SetFault(nil)
	b.cfg.Run.Attempt = 2
	want(t, b.run(aPull), "applied")
	if got := b.git.Run("log", "--format=%s", "main.."+b.pulls()[0].Pull.Head.Ref); got != "Two\nOne" {
		t.Errorf("the commits are %q", got)
	}
}
