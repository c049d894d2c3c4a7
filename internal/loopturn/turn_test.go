package loopturn_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-airlock/airlock/internal/apply"
	"github.com/agent-airlock/airlock/internal/checkreport"
	"github.com/agent-airlock/airlock/internal/config"
	"github.com/agent-airlock/airlock/internal/doors"
	"github.com/agent-airlock/airlock/internal/event"
	"github.com/agent-airlock/airlock/internal/finding"
	"github.com/agent-airlock/airlock/internal/fixloop"
	"github.com/agent-airlock/airlock/internal/githubapi"
	"github.com/agent-airlock/airlock/internal/githubtest"
	"github.com/agent-airlock/airlock/internal/intake"
	"github.com/agent-airlock/airlock/internal/loopref"
	"github.com/agent-airlock/airlock/internal/loopturn"
	"github.com/agent-airlock/airlock/internal/phase"
	"github.com/agent-airlock/airlock/internal/token"
	"github.com/agent-airlock/airlock/internal/verdictreport"
)

var (
	repo    = githubapi.Repo{Owner: "octo", Name: "shop"}
	airlock = githubtest.Account{Login: "airlock[bot]", ID: 99}
	alice   = githubtest.Account{Login: "alice", ID: 11}
	mallory = githubtest.Account{Login: "mallory", ID: 66}
)

const key = "ghp_0123456789abcdefghijklmnopqrstuvwxyz" // what no text may contain

// bench is a repository on a server with pull request #7, and jobs that take turns in it.
type bench struct {
	t      *testing.T
	git    *githubtest.Git
	server *githubtest.Server
	client *githubapi.Client
	clock  *githubtest.VirtualClock
	gate   *doors.Gate
	secret string
	// ask sends the event that asks an agent for a fix; nil: no agent is asked.
	ask func(ctx context.Context, payload map[string]any) error
	// judge judges what agents push; nil: all of it is accepted.
	judge func(ctx context.Context, cloneURL, from, to string) ([]string, error)
	// verdict is about the acceptance criteria; nil if they were not verified.
	verdict *verdictreport.Document
	limits  fixloop.Limits
	head    string
	runs    int64
	pushes  int
}

// newShop makes the repository.
var newShop = githubtest.Prepared(func(git *githubtest.Git) {
	git.SetBranch("fix", git.Commit("main", map[string]string{"README.md": "hello\n"}, "Begin"))
	git.Commit("fix", map[string]string{"shop.go": "package shop\n"}, "Shop")
})

func newBench(t *testing.T) *bench {
	t.Helper()
	b := &bench{t: t, git: newShop(t), clock: githubtest.NewVirtualClock(time.Time{})}
	base := b.git.SHA("main")
	b.head = b.git.SHA("fix")
	f := githubtest.Fixture{
		Repo:   githubtest.Repo{ID: 5, Owner: "octo", Name: "shop", DefaultBranch: "main", Permissions: map[string]string{"alice": "write", "mallory": "read"}, Collaborators: []githubtest.Account{alice, mallory}},
		Viewer: airlock,
		Issues: []*githubtest.Issue{{ID: 70, Number: 7, Title: "Count the last item", State: "open", Author: alice, Pull: &githubtest.Pull{
			Head: githubtest.Branch{Ref: "fix", SHA: b.head}, Base: githubtest.Branch{Ref: "main", SHA: base}}}},
	}
	b.server = githubtest.New(t, f, githubtest.Options{Clock: b.clock, Git: b.git})
	var err error
	b.client, err = githubapi.New(githubapi.Options{Clock: b.clock, Pace: githubapi.Unpaced(), Transport: b.server.Transport(), APIURL: b.server.APIURL(), Token: token.New("ghs_x", b.server.APIURL())})
	if err != nil {
		t.Fatal(err)
	}
	b.gate, err = doors.New(doors.Config{Secrets: doors.NewScanner(token.Token{}, "a test", []string{key}), SafeOutputs: config.SafeOutputs{}, Repository: "octo/shop"})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// turn takes a turn for an event in a new workflow run, with the findings in doc. Each kind of event
// has a workflow of its own.
func (b *bench) turn(ev event.Event, doc *checkreport.Document) ([]loopturn.Result, error) {
	b.t.Helper()
	b.runs++
	ev.Repo = event.Repo{ID: 5, Owner: "octo", Name: "shop", DefaultBranch: "main"}
	ev.Time = b.clock.Now()
	t := &loopturn.Turn{
		Store: &loopref.Store{GitHub: b.client, Repo: repo, Secret: b.secret},
		Permission: func(ctx context.Context, login string) (githubapi.Permission, error) {
			return b.client.GetPermission(ctx, repo, login)
		},
		React: func(ctx context.Context, comment int64, content string) error {
			return b.client.ReactToIssueComment(ctx, repo, comment, content)
		},
		Event: ev, Document: doc, Verdict: b.verdict, Limits: b.limits, Mask: b.gate.Scanner().Mask, Now: b.clock.Now, Say: func(string) {}, Dispatch: b.ask, Judge: b.judge,
		Deliver: func(ctx context.Context, ev event.Event, items []intake.OwnItem) ([]bool, error) {
			run := event.Run{ID: b.runs, Attempt: 1, Job: "loop", WorkflowPath: ".github/workflows/" + ev.Name + ".yml"}
			shown, _, err := b.gate.ApplyLoop(ctx, doors.Request{Event: ev, Own: items, Config: apply.Config{Run: run}, Deps: apply.Deps{GitHub: b.client, Clock: b.clock}})
			return shown, err
		},
	}
	return t.Run(b.t.Context())
}

// must takes a turn that must succeed.
func (b *bench) must(ev event.Event, doc *checkreport.Document) []loopturn.Result {
	b.t.Helper()
	r, err := b.turn(ev, doc)
	if err != nil {
		b.t.Fatal(err)
	}
	return r
}

// wantStatus asserts the status of a turn's loop.
func wantStatus(t *testing.T, r loopturn.Result, want fixloop.Status) {
	t.Helper()
	if got := r.Log.State.Status(); got != want {
		t.Fatalf("the loop is %s, want %s; the notes are %q", got, want, r.Notes)
	}
}

// wantOutcome asserts that a turn's loop has ended, and how.
func wantOutcome(t *testing.T, r loopturn.Result, want fixloop.Outcome) {
	t.Helper()
	wantStatus(t, r, fixloop.Completed)
	if got := r.Log.State.Outcome(); got != want {
		t.Fatalf("the loop ended as %q, want %q; the notes are %q", got, want, r.Notes)
	}
}

func pull() event.Event {
	return event.Event{Name: "pull_request", Action: "synchronize", Number: 7, IsPull: true, Actor: "alice"}
}

// push puts another commit on the pull request.
func (b *bench) push() {
	b.pushes++
	b.head = b.git.Commit("fix", map[string]string{"shop.go": fmt.Sprintf("package shop // %d\n", b.pushes)}, "Mend")
	b.server.Change(func(f *githubtest.Fixture) { f.Issues[0].Pull.Head.SHA = b.head })
}

// found returns the checks' document about the head: one failure of the linter for each message.
func (b *bench) found(messages ...string) *checkreport.Document {
	status := phase.Pass
	var failing []finding.Finding
	for _, m := range messages {
		status = phase.Fail
		failing = append(failing, finding.Finding{Check: "linter", Tool: "vet", Rule: "r", Severity: finding.Medium, Message: m, Path: "shop.go", Range: finding.Range{StartLine: 1}})
	}
	ok := phase.StyleCheck{Status: phase.Pass}
	out := phase.Output{Status: status, Checks: phase.Checks{Formatter: ok, Linter: phase.StyleCheck{Status: status, Issues: messages}, Build: phase.BuildCheck{Status: phase.Pass},
		Tests: phase.TestsCheck{Status: phase.Pass}, CodeReview: phase.CodeReviewCheck{Status: phase.Pass, Severity: finding.None}, SecurityReview: phase.SecurityReviewCheck{Status: phase.Pass, Severity: finding.None}}}
	return checkreport.New(checkreport.Input{Repository: "octo/shop", Number: 7, Head: b.head, Result: phase.Result{Output: out,
		Roots: []phase.RootResult{{Dir: ".", Checks: []phase.CheckResult{{Check: phase.Linter, Status: status, Problems: messages, Blocking: failing}}}}}})
}

// escalate brings the loop to an escalation: after each push, the failures with these messages are
// still there.
func (b *bench) escalate(messages ...string) {
	b.t.Helper()
	b.must(pull(), b.found(messages...))
	for range 2 {
		b.push()
		b.must(pull(), b.found(messages...))
	}
}

// say has somebody comment on the pull request and returns the event.
func (b *bench) say(who githubtest.Account, text string) event.Event {
	var id int64
	b.server.Change(func(f *githubtest.Fixture) {
		id = int64(9000 + len(f.Issues[0].Comments))
		f.Issues[0].Comments = append(f.Issues[0].Comments, &githubtest.Comment{ID: id, Body: text, Author: who, CreatedAt: b.clock.Now(), UpdatedAt: b.clock.Now()})
	})
	return event.Event{Name: "issue_comment", Action: "created", Number: 7, IsPull: true, CommentID: id, Actor: who.Login}
}

// shown returns Airlock's comments, each as its message's ID or, if it has none, its first line.
// Those that are hidden are in brackets.
func (b *bench) shown() []string {
	var out []string
	for _, c := range b.server.State().Issues[0].Comments {
		if c.Author.ID != airlock.ID {
			continue
		}
		line, _, _ := strings.Cut(c.Body, "\n")
		if id, found := cutBetween(c.Body, "**Message ID**: ", "\n"); found {
			line = id
		}
		if c.Minimized != "" {
			line = "[" + line + "]"
		}
		out = append(out, line)
	}
	return out
}

func cutBetween(s, before, after string) (string, bool) {
	_, rest, found := strings.Cut(s, before)
	part, _, ended := strings.Cut(rest, after)
	return part, found && ended
}

func TestALoopFromFailureToPass(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	if r := b.must(pull(), b.found()); len(r) != 0 {
		t.Fatalf("a loop begins although nothing fails: %+v", r)
	}
	b.must(pull(), b.found("unused variable x, "+key))
	want := []string{"### Fix loop: AWAITING_FIX (linter), iteration 1 of 5, it is the fixer's turn", "FIXREQ-7-1"}
	got := b.shown()
	if len(got) != 2 || !strings.HasPrefix(got[0], want[0]) || got[1] != want[1] {
		t.Fatalf("comments %q", got)
	}
	b.clock.Advance(10 * time.Minute)
	b.push()
	wantOutcome(t, b.must(pull(), b.found())[0], fixloop.Succeeded)
	if diff := cmp.Diff([]string{"### Fix loop: all checks passed (after 2 iterations)", "[FIXREQ-7-1]"}, b.shown()); diff != "" {
		t.Error(diff)
	}
	log := b.git.Run("show", "refs/airlock/loops/7-1:log.jsonl") + b.git.Run("show", "refs/airlock/loops/7-1:log.md")
	if strings.Contains(log, key) || !strings.Contains(log, "unused variable x") {
		t.Error("the log contains a secret, or not the failure")
	}
	for _, c := range b.server.State().Issues[0].Comments {
		if strings.Contains(c.Body, key) || strings.Contains(c.Body, "@feature-implementer-main") {
			t.Errorf("a comment contains a secret, or mentions somebody:\n%s", c.Body)
		}
	}
	before := len(b.server.Writes())
	if b.must(pull(), b.found()); len(b.server.Writes()) != before {
		t.Error("a turn without news writes")
	}
	b.push()
	b.must(pull(), b.found("another"))
	b.git.Run("rev-parse", "--verify", "refs/airlock/loops/7-2") // fails unless another loop has begun
}

func TestATurnNeedsFewRequests(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.must(pull(), b.found("a"))
	ev := b.say(alice, "/airlock abort")
	b.server.ResetRequests()
	b.must(ev, nil)
	var own []string
	for _, r := range b.server.Requests() {
		if r.Operation == "graphql/Viewer" { // from here on package doors delivers
			break
		}
		own = append(own, r.Operation)
	}
	want := []string{"graphql/FilesOnRefs", "repos/get-collaborator-permission-level", "git/create-tree", "git/create-commit", "graphql/UpdateRefs", "reactions/create-for-issue-comment"}
	if diff := cmp.Diff(want, own); diff != "" {
		t.Error(diff)
	}
}

func TestAnEscalationIsDecidedByAComment(t *testing.T) {
	t.Parallel()
	escalated := func(t *testing.T) *bench {
		b := newBench(t)
		b.escalate("a")
		if got := b.shown(); !strings.Contains(got[0], "ESCALATED (linter), Deadlock") || got[1] != "[FIXREQ-7-1]" || got[2] != "[FIXREQ-7-2]" || !strings.HasPrefix(got[3], "ESC-7-linter-") {
			t.Fatalf("comments %q", got)
		}
		return b
	}
	t.Run("extend", func(t *testing.T) {
		b := escalated(t)
		r := b.must(b.say(alice, "/airlock extend 2\nplease"), nil)
		if s := r[0].Log.State; s.Status() != fixloop.AwaitingFix || s.MaxIterations() != 7 {
			t.Fatalf("%s of %d, %v", s.Status(), s.MaxIterations(), r[0].Notes)
		}
		if got := b.shown(); !strings.HasPrefix(got[3], "[ESC-7-linter-") || got[4] != "FIXREQ-7-3" {
			t.Errorf("comments %q", got)
		}
	})
	t.Run("a command counts once", func(t *testing.T) {
		b := escalated(t)
		ev := b.say(alice, "/airlock retry")
		b.must(ev, b.found("a"))
		n := b.git.Run("rev-list", "--count", "refs/airlock/loops/7-1")
		b.must(ev, nil) // the workflow is run again
		if again := b.git.Run("rev-list", "--count", "refs/airlock/loops/7-1"); again != n {
			t.Errorf("%s commits, then %s", n, again)
		}
	})
	t.Run("retry", func(t *testing.T) {
		b := escalated(t)
		wantOutcome(t, b.must(b.say(alice, "/airlock retry"), b.found())[0], fixloop.Succeeded)
	})
	t.Run("a push is the manual fix", func(t *testing.T) {
		b := escalated(t)
		b.push()
		wantOutcome(t, b.must(pull(), b.found())[0], fixloop.Succeeded)
	})
	t.Run("skip opens an issue", func(t *testing.T) {
		b := escalated(t)
		b.must(b.say(alice, "/airlock skip"), nil)
		b.must(pull(), b.found("a")) // the commit was skipped: no new loop
		issues := b.server.State().Issues
		if len(issues) != 2 || issues[1].Title != "Known issues of #7 that its fix loop left" || !strings.Contains(issues[1].Body, "shop.go:1") {
			t.Fatalf("%d issues", len(issues))
		}
	})
	t.Run("who may not, decides nothing", func(t *testing.T) {
		b := escalated(t)
		n := b.git.Run("rev-parse", "refs/airlock/loops/7-1")
		for name, ev := range map[string]event.Event{
			"no permission": b.say(mallory, "/airlock abort"),
			"a bot":         b.say(githubtest.Account{Login: "other[bot]", ID: 77}, "/airlock abort"),
			"itself":        b.say(airlock, "/airlock abort"),
			"prose":         b.say(alice, "please /airlock abort"),
			"no command":    b.say(alice, "/airlock dance"),
		} {
			b.must(ev, nil)
			if got := b.git.Run("rev-parse", "refs/airlock/loops/7-1"); got != n {
				t.Errorf("%s: it was decided", name)
			}
		}
		ev := b.say(alice, "/airlock abort")
		ev.Actor = "mallory" // somebody else sent what looks like hers
		b.must(ev, nil)
		edited := b.say(alice, "/airlock abort")
		b.server.Change(func(f *githubtest.Fixture) {
			c := f.Issues[0].Comments[len(f.Issues[0].Comments)-1]
			c.UpdatedAt = c.CreatedAt.Add(time.Minute)
		})
		if r := b.must(edited, nil); len(r) != 1 || !strings.Contains(strings.Join(r[0].Notes, "\n"), "was edited") {
			t.Errorf("%+v", r)
		}
		ev = b.say(alice, "/airlock abort")
		ev.Action = "edited"
		b.must(ev, nil)
		if got := b.git.Run("rev-parse", "refs/airlock/loops/7-1"); got != n {
			t.Error("it was decided")
		}
	})
}

// A user's command gets a reaction, which shows whether the loop has taken it: a mistyped one would
// otherwise be answered only in a job's log. A reaction that GitHub refuses does not hold up the loop.
func TestCommandsGetAReaction(t *testing.T) {
	t.Parallel()
	reactions := func(b *bench, ev event.Event) (all []string) {
		for _, c := range b.server.State().Issues[0].Comments {
			for _, r := range c.Reactions {
				if c.ID != ev.CommentID || r.User != airlock {
					b.t.Errorf("%+v has the reaction %+v", c, r)
				}
				all = append(all, r.Content)
			}
		}
		return all
	}
	const taken, refused = githubapi.ThumbsUp, githubapi.Confused
	for name, c := range map[string]struct {
		who  githubtest.Account
		text string
		want []string
	}{
		"a decision":      {alice, "/airlock extend 2\nplease", []string{taken}},
		"another":         {alice, "/airlock abort", []string{taken}},
		"misspelt":        {alice, "/airlock abbort", []string{refused}},
		"incomplete":      {alice, "/airlock", []string{refused}},
		"a bad number":    {alice, "/airlock extend many", []string{refused}},
		"no permission":   {mallory, "/airlock abort", []string{refused}},
		"prose":           {alice, "please /airlock abort", nil},
		"a bot's comment": {githubtest.Account{Login: "other[bot]", ID: 77}, "/airlock abort", nil},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.escalate("a")
			ev := b.say(c.who, c.text)
			for range 2 { // the workflow is run again
				b.must(ev, nil)
				if got := reactions(b, ev); !slices.Equal(got, c.want) {
					t.Errorf("reactions %q, want %q", got, c.want)
				}
			}
		})
	}
	t.Run("no loop", func(t *testing.T) {
		b := newBench(t)
		ev := b.say(alice, "/airlock retry")
		b.must(ev, nil)
		if got := reactions(b, ev); !slices.Equal(got, []string{refused}) {
			t.Errorf("reactions %q", got)
		}
	})
	t.Run("a refused reaction", func(t *testing.T) {
		b := newBench(t)
		b.escalate("a")
		ev := b.say(alice, "/airlock abort")
		b.server.SetFault(githubtest.Faults([]githubtest.FaultRule{{Operation: "reactions/create-for-issue-comment", Fault: githubtest.Fault{Status: 403, Body: `{"message":"Resource not accessible by integration"}`}}}))
		r := b.must(ev, nil)
		wantOutcome(t, r[0], fixloop.Aborted)
		if len(r[0].Notes) != 1 || !strings.HasPrefix(r[0].Notes[0], "no reaction could be added to the comment with the command: ") {
			t.Errorf("notes %q", r[0].Notes)
		}
	})
}

func TestTheScheduleLooksAtDeadlines(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.must(pull(), b.found("a"))
	tick := event.Event{Name: "schedule"}
	if r := b.must(tick, nil); len(r) != 1 || r[0].Log.State.Status() != fixloop.AwaitingFix {
		t.Fatalf("%+v", r)
	}
	b.clock.Advance(31 * time.Minute)
	b.must(tick, nil)
	b.clock.Advance(5 * time.Minute)
	r := b.must(tick, nil)
	if s := r[0].Log.State; s.Status() != fixloop.Escalated || s.Reason() != fixloop.ReasonTimeout {
		t.Errorf("%s, %s", s.Status(), s.Reason())
	}
	if got := b.shown(); got[1] != "[FIXREQ-7-1]" || !strings.HasPrefix(got[2], "ESC-7-linter-") {
		t.Errorf("comments %q", got)
	}
}

func TestClosingEndsTheLoop(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.must(pull(), b.found("a"))
	b.server.Change(func(f *githubtest.Fixture) { f.Issues[0].State, f.Issues[0].Pull.Merged = "closed", true })
	ev := pull()
	ev.Action = "closed"
	wantOutcome(t, b.must(ev, nil)[0], fixloop.MergedByPull)
	if r := b.must(event.Event{Name: "schedule"}, nil); len(r) != 0 {
		t.Errorf("an ended loop has a turn: %+v", r)
	}
}

// TestAnotherLoopOfTheSameCommit asserts that a failure at a commit whose loop has ended begins
// another loop, unless a person has decided to leave the failure.
func TestAnotherLoopOfTheSameCommit(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		end    func(b *bench)
		begins bool
	}{
		"reopened": {func(b *bench) {
			setState := func(state string) {
				b.server.Change(func(f *githubtest.Fixture) { f.Issues[0].State = state })
			}
			setState("closed")
			wantOutcome(b.t, b.must(pull(), nil)[0], fixloop.ClosedByPull)
			setState("open")
		}, true},
		"passed": {func(b *bench) {
			b.push()
			wantOutcome(b.t, b.must(pull(), b.found())[0], fixloop.Succeeded)
		}, true},
		"aborted": {func(b *bench) { wantOutcome(b.t, b.must(b.say(alice, "/airlock abort"), nil)[0], fixloop.Aborted) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.must(pull(), b.found("a"))
			c.end(b)
			b.must(pull(), b.found("a"))
			if begun := strings.Contains(b.git.Run("for-each-ref"), "refs/airlock/loops/7-2"); begun != c.begins {
				t.Errorf("another loop has begun: %t", begun)
			}
		})
	}
}

func TestAMissingToolEscalatesAtOnce(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	doc := b.found("a")
	doc.Missing = []checkreport.MissingTool{{Tool: "golangci-lint", Check: phase.Linter, Command: "golangci-lint run", Override: "lint_command"}}
	r := b.must(pull(), doc)
	if s := r[0].Log.State; s.Reason() != fixloop.ReasonSpecialist {
		t.Errorf("%s, %s", s.Status(), s.Reason())
	}
}

func TestFindingsOfAnotherCommitAreNotUsed(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	doc := b.found("a")
	b.push()
	if r := b.must(pull(), doc); len(r) != 1 || r[0].Log != nil || !strings.Contains(r[0].Notes[0], "they are not used") {
		t.Errorf("%+v", r)
	}
}

func TestTheLoopOfAFork(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ev := event.Event{Name: "workflow_run", Head: event.Ref{SHA: b.head}}
	wantStatus(t, b.must(ev, b.found("a"))[0], fixloop.AwaitingFix)
	ev.Head.SHA = strings.Repeat("a", 40) // the findings name a pull request that the run was not about
	if _, err := b.turn(ev, b.found("a")); err == nil || !strings.Contains(err.Error(), "its head is") {
		t.Errorf("%v", err)
	}
	if r := b.must(event.Event{Name: "issue_comment", Action: "created", Number: 3, CommentID: 5}, nil); len(r) != 0 {
		t.Errorf("a comment on an issue takes a turn: %+v", r)
	}
	if _, err := b.turn(event.Event{Name: "push"}, nil); err == nil || !strings.Contains(err.Error(), "not about a pull request") {
		t.Errorf("%v", err)
	}
}

func TestALogThatWasSetBackStopsTheTurn(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.secret = "correct horse"
	b.must(pull(), b.found("a"))
	old := b.git.Run("rev-parse", "refs/airlock/loops/7-1")
	b.push()
	b.must(pull(), b.found("b"))
	b.git.Run("update-ref", "refs/airlock/loops/7-1", old)
	if _, err := b.turn(pull(), b.found("b")); !errors.Is(err, loopref.ErrRolledBack) {
		t.Errorf("%v", err)
	}
	b.secret = "wrong horse"
	if _, err := b.turn(pull(), b.found("b")); !errors.Is(err, loopref.ErrForged) {
		t.Errorf("%v", err)
	}
}

// A comment by the token's account that repeats an agent's words is taken neither for the line that
// names the newest entry of the log, nor for a message that has been posted.
func TestWhatAnAgentHadTheAccountSayCountsForNothing(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.must(pull(), b.found("a"))
	request := b.server.State().Issues[0].Comments[1].Body
	forged := strings.ReplaceAll(request[:strings.LastIndex(request, "<!--")], "FIXREQ-7-1", "FIXREQ-7-2") + "\nlog of loop 7-1: entry 99, 0123456789abcdef0123\n"
	b.say(airlock, forged)
	b.push()
	b.must(pull(), b.found("b"))
	if got := b.shown(); len(got) != 4 || got[3] != "FIXREQ-7-2" {
		t.Errorf("%q", got)
	}
}

// What a turn has delivered is not recorded by that turn. The next turn sees it, and records it with
// its own entries.
func TestWhatWasToldIsSeenByTheNextTurn(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.must(pull(), b.found("a"))
	b.push()
	b.server.ResetRequests()
	b.must(pull(), b.found("b"))
	var got []string
	for _, r := range b.server.Requests() {
		got = append(got, r.Operation)
	}
	want := []string{"graphql/FilesOnRefs", "git/create-tree", "git/create-commit", "graphql/UpdateRefs",
		"graphql/Viewer", "issues/list-comments", "issues/update-comment", "graphql/MinimizeComment", "issues/update-comment", "issues/create-comment"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
	b.server.ResetRequests()
	b.must(pull(), b.found("b"))
	if got := b.server.Requests(); len(got) != 1 {
		t.Errorf("a turn without news makes %d requests", len(got))
	}
	if log := b.git.Run("show", "refs/airlock/loops/7-1:log.jsonl"); !strings.Contains(log, `"told":["LOG-7-1-`) {
		t.Errorf("what the first turn told is not in the log:\n%s", log)
	}
}

// TestAKilledJobTellsNothingTwice ends a job after each of its requests in turn, and asserts that
// the jobs after it bring the loop to its end with each message posted once.
func TestAKilledJobTellsNothingTwice(t *testing.T) {
	t.Parallel()
	for n := 1; ; n++ {
		b := newBench(t)
		left := n
		var killed bool
		b.server.SetFault(func(githubtest.Request) githubtest.Fault {
			if left--; left < 0 {
				killed = true
				return githubtest.Fault{Status: 401, Body: `{"message":"Bad credentials"}`}
			}
			return githubtest.Fault{}
		})
		_, _ = b.turn(pull(), b.found("a"))
		b.server.SetFault(nil)
		b.clock.Advance(time.Minute)
		b.must(pull(), b.found("a"))
		b.clock.Advance(time.Minute)
		b.push()
		b.must(pull(), b.found())
		got := b.shown()
		slices.Sort(got)
		if diff := cmp.Diff([]string{"### Fix loop: all checks passed (after 2 iterations)", "[FIXREQ-7-1]"}, got); diff != "" {
			t.Fatalf("killed after %d requests:\n%s", n, diff)
		}
		if !killed {
			break
		}
	}
}

// Somebody who labels or reopens a pull request did not push its commits. The push is judged like one
// by somebody unknown.
func TestWhoDidNotPushDoesNotAnswerForAPush(t *testing.T) {
	b := newBench(t)
	b.must(pull(), b.found("a"))
	judged := 0
	b.judge = func(context.Context, string, string, string) ([]string, error) {
		judged++
		return []string{"protected-files: x"}, nil
	}
	b.push()
	labeled := pull()
	labeled.Action = "labeled"
	if r := b.must(labeled, b.found()); judged != 1 || r[0].Log.State.Status() != fixloop.AwaitingFix {
		t.Errorf("judged %d times: %s, %q", judged, r[0].Log.State.Status(), r[0].Notes)
	}
	if r := b.must(pull(), b.found()); judged != 1 || r[0].Log.State.Outcome() != fixloop.Succeeded {
		t.Errorf("judged %d times: %s, %q", judged, r[0].Log.State.Status(), r[0].Notes)
	}
}

// A log that was removed, or replaced by a tag, stops the turn. Turns go on when somebody who may
// write restores the log, or removes the loop's comment as well.
func TestALogThatWasRemovedStopsTheTurn(t *testing.T) {
	const ref = "refs/airlock/loops/7-1"
	b := newBench(t)
	b.must(pull(), b.found("a"))
	b.push()
	b.must(pull(), b.found("b"))
	newest := b.git.Run("rev-parse", ref)
	b.git.Run("update-ref", "-d", ref)
	writes := len(b.server.Writes())
	if _, err := b.turn(pull(), b.found("b")); !errors.Is(err, loopref.ErrRolledBack) || !strings.Contains(err.Error(), "or delete the comment") {
		t.Errorf("removed: %v", err)
	}
	b.git.Run("tag", "-a", "-m", "x", "trap", newest)
	b.git.Run("update-ref", ref, b.git.Run("rev-parse", "refs/tags/trap"))
	if _, err := b.turn(pull(), b.found("b")); err == nil || !strings.Contains(err.Error(), "7-1") {
		t.Errorf("a tag: %v", err)
	}
	if n := len(b.server.Writes()); n != writes {
		t.Errorf("%d writes", n-writes)
	}
	b.git.Run("update-ref", ref, newest)
	b.push()
	wantOutcome(t, b.must(pull(), b.found())[0], fixloop.Succeeded)
	b.git.Run("update-ref", "-d", ref)
	b.server.Change(func(f *githubtest.Fixture) { f.Issues[0].Comments = nil })
	b.push()
	if r := b.must(pull(), b.found("c")); r[0].Log.State.Iteration() != 1 {
		t.Errorf("without a comment, the loop begins in iteration %d", r[0].Log.State.Iteration())
	}
}

// A comment decides nothing unless it begins with a command: quoted, fenced, invisible or after
// other text, a command does not count.
func TestWhatLooksLikeADecision(t *testing.T) {
	b := newBench(t)
	b.must(pull(), b.found("a"))
	for _, text := range []string{"> /airlock abort", "```\n/airlock abort\n```", "    /airlock-abort", "On Monday alice wrote:\n> /airlock abort", "@airlock /airlock abort",
		"<!-- /airlock abort -->", "/AIRLOCK abort", "\u200b/airlock abort", "LGTM\n\n/airlock abort"} {
		if r := b.must(b.say(alice, text), nil); r[0].Log.State.Outcome() != fixloop.Running {
			t.Fatalf("%q decides", text)
		}
	}
}
