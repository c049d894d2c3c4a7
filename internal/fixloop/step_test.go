package fixloop

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestOneFailureThenSuccessIsSixMessages(t *testing.T) {
	p := begun(t, Loop{})
	p.want(InProgress, WorkValidate)
	p.wait(time.Minute).results(failing(Tests, "TestTotal failed"))
	p.want(AwaitingFix, WorkFix)
	p.wait(time.Minute).send(Event{Type: EventFixStarted, Iteration: 1})
	p.want(Fixing, WorkFix)
	p.wait(time.Minute).fix("count the last item")
	p.want(ReChecking, WorkRevalidate)
	p.wait(time.Minute).results(nil)
	p.want(ReChecking, WorkFinal)
	if got := p.state.Work().Checks; len(got) != 6 {
		t.Errorf("the final pass runs %v", got)
	}
	p.wait(time.Minute).results(nil)
	p.want(Completed, WorkNone)
	wantIDs(t, p.log, "VFR-7-tests-1", "FIXREQ-7-1", "FIXDONE-7-1", "REVAL-7-tests-2", "REVALRES-7-tests-2", "SUCCESS-7-tests-2")
	if p.state.Outcome() != Succeeded || p.state.Iteration() != 2 || !p.state.doc.Ended.Equal(p.now) {
		t.Errorf("%s after %d iterations at %s", p.state.Outcome(), p.state.Iteration(), p.state.doc.Ended)
	}
}

func TestNoFailureIsNoMessage(t *testing.T) {
	p := begun(t, Loop{})
	p.results(nil)
	p.want(Completed, WorkNone)
	if got := ids(p.log); got != nil {
		t.Errorf("messages %v", got)
	}
}

func TestARoundHasOneFixRequest(t *testing.T) {
	p := begun(t, Loop{})
	wantIDs(t, p.results(map[Check][]Failure{Linter: fails("unused"), Tests: fails("a", "b"), CodeReview: fails("c")}), "VFR-7-linter-1", "VFR-7-tests-1", "VFR-7-code-review-1", "FIXREQ-7-1")
	if r := p.state.Work().Request; len(r.Failures) != 4 || len(r.Checks) != 3 {
		t.Errorf("the request lists %d failures of %v", len(r.Failures), r.Checks)
	}
	wantIDs(t, p.fix("all"), "FIXDONE-7-1", "REVAL-7-linter-2", "REVAL-7-tests-2", "REVAL-7-code-review-2")
	oneResolved := p.results(failing(Tests, "b")) // the other checks pass
	wantIDs(t, oneResolved, "REVALRES-7-linter-2", "REVALRES-7-tests-2", "REVALRES-7-code-review-2", "VFR-7-tests-2", "FIXREQ-7-2")
	wantIDs(t, p.fix("b"), "FIXDONE-7-2", "REVAL-7-tests-3")
	p.results(nil)
	wantIDs(t, p.results(nil), "SUCCESS-7-linter-3", "SUCCESS-7-tests-3", "SUCCESS-7-code-review-3")
}

func TestAFixThatBreaksAnotherCheckIsFoundByTheFinalPass(t *testing.T) {
	p := begun(t, Loop{})
	p.results(failing(Tests, "a"))
	p.fix("a")
	p.results(nil)
	p.want(ReChecking, WorkFinal)
	wantIDs(t, p.results(failing(Build, "syntax error")), "VFR-7-build-2", "FIXREQ-7-2")
	p.fix("b")
	p.results(nil)
	wantIDs(t, p.results(nil), "SUCCESS-7-build-3", "SUCCESS-7-tests-3")
}

func TestTheLastIterationEscalates(t *testing.T) {
	p := begun(t, Loop{})
	for i := 1; i <= 5; i++ {
		if i == 1 {
			p.want(InProgress, WorkValidate)
		} else {
			p.want(ReChecking, WorkRevalidate)
		}
		p.results(failing(Tests, fmt.Sprintf("failure %c", 'a'+i))) // always another one
		if i < 5 {
			p.fix("tried")
		}
	}
	p.wantEscalated(ReasonIterations)
	if !p.state.Deadline().IsZero() {
		t.Errorf("deadline %s", p.state.Deadline())
	}
	last := p.log[len(p.log)-3:]
	if want := "ESC-7-tests-20260304T050607Z"; last[0].ID != want || last[0].To != User || last[0].Before != Fail || last[0].After != Escalated {
		t.Errorf("escalation %+v", last[0])
	}
	if slices.Contains(ids(p.log), "FIXREQ-7-5") {
		t.Error("the last iteration requests a fix")
	}
}

func TestNoProgressEscalates(t *testing.T) {
	play := func(rounds ...[]string) *play {
		p := begun(t, Loop{})
		for i, r := range rounds {
			p.results(failing(Tests, r...))
			if i+1 < len(rounds) {
				p.fix("tried")
			}
		}
		return p
	}
	same := play([]string{"line 3 is wrong"}, []string{"line 9 is wrong"}, []string{"line 12 is wrong"})
	same.wantEscalated(ReasonDeadlock)
	// Worse does not count as progress either.
	play([]string{"a"}, []string{"a", "b"}, []string{"a", "b", "c"}).want(Escalated, WorkDecide)
	// One of two resolved, another one new: something was resolved.
	play([]string{"a", "b"}, []string{"a", "c"}, []string{"a", "d"}).want(AwaitingFix, WorkFix)
	play([]string{"a"}, []string{"a"}).want(AwaitingFix, WorkFix)
}

func TestTimers(t *testing.T) {
	for _, c := range []struct {
		name      string
		to        func(p *play)
		operation string
		check     string // the one that the escalation is named after
	}{
		{"validation", func(*play) {}, "specialist-validation", "formatter"},
		{"fix", func(p *play) { p.results(failing(Tests, "a")) }, "main-agent-fix", "tests"},
		{"re-validation", func(p *play) { p.results(failing(Tests, "a")); p.fix("a") }, "re-validation", "tests"},
		{"final pass", func(p *play) { p.results(failing(Tests, "a")); p.fix("a"); p.results(nil) }, "re-validation", "formatter"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := begun(t, Loop{})
			c.to(p)
			p.wantDue(30 * time.Minute)
			if got := p.wait(30*time.Minute - time.Second).send(Event{Type: EventTimer}); len(got) != 0 {
				t.Fatalf("too early: %v", ids(got))
			}
			wantIDs(t, p.wait(time.Second).send(Event{Type: EventTimer}), "TIMEOUT-7-"+c.operation+"-20260304T053607Z")
			p.wait(5*time.Minute - time.Second).send(Event{Type: EventTimer})
			wantIDs(t, p.wait(time.Second).send(Event{Type: EventTimer}), "ESC-7-"+c.check+"-20260304T054107Z")
			p.wantEscalated(ReasonTimeout)
		})
	}
}

// Where the clock goes back, as between two machines, the log stays in its order.
func TestAClockThatGoesBack(t *testing.T) {
	p := begun(t, Loop{})
	p.wait(time.Minute).results(failing(Tests, "a"))
	last, due := p.now, p.state.Deadline()
	p.now = p.now.Add(-3 * time.Hour)
	if at := p.state.Deadline(); !at.Equal(due) {
		t.Errorf("the deadline moves to %s", at)
	}
	p.fix("mended")
	p.results(nil)
	p.results(nil)
	if p.state.Outcome() != Succeeded {
		t.Fatalf("%s", p.state.Status())
	}
	for i, m := range p.log {
		if i > 0 && m.Time.Before(p.log[i-1].Time) || m.Elapsed < 0 || m.Time.After(last) {
			t.Errorf("%s at %s follows %s", m.ID, m.Time, p.log[max(i, 1)-1].Time)
		}
	}
}

func TestALateReminderStillGivesItsGrace(t *testing.T) {
	p := begun(t, Loop{})
	p.wait(2 * time.Hour).send(Event{Type: EventTimer})
	p.want(InProgress, WorkValidate)
	p.wantDue(5 * time.Minute)
	p.results(nil) // an answer counts until the time-out has been noticed
	p.want(Completed, WorkNone)
}

func TestTooMuchValidatingEscalatesWhenItEnds(t *testing.T) {
	p := begun(t, Loop{Limits: Limits{Validation: time.Hour, Revalidation: time.Hour}})
	p.wait(29 * time.Minute).results(failing(Tests, "a"))
	p.wait(25 * time.Minute).fix("a") // waiting for a fix does not count
	p.wait(20 * time.Minute).results(nil)
	p.want(ReChecking, WorkFinal)
	p.wait(11 * time.Minute).results(failing(Build, "b"))
	p.wantEscalated(ReasonTimeout)
}

func TestASpecialistThatErrsTwiceEscalates(t *testing.T) {
	p := begun(t, Loop{})
	errs := func(c Check) []Message {
		return p.send(Event{Type: EventResult, Op: p.state.Work().Op, Results: []Result{{Check: c, Status: ResultError, Error: "no such tool", Stack: "goroutine 1\nmain.go:3"}}})
	}
	first := errs(Linter)
	if len(first) != 1 || first[0].ID != "ERR-7-specialist-failure-20260304T050607Z" || !first[0].Recovered || first[0].To != MainOrchestrator {
		t.Fatalf("%+v", first)
	}
	if w := p.state.Work(); w.Attempt != 2 || len(w.Checks) != 6 {
		t.Fatalf("work %+v", w)
	}
	errs(Tests) // another one has its own second try
	p.want(InProgress, WorkValidate)
	wantIDs(t, errs(Linter), "ERR-7-specialist-failure-20260304T050609Z", "ESC-7-linter-20260304T050610Z")
	p.want(Escalated, WorkDecide)
	p.wantRefused(Event{Type: EventDecision, Decision: DecideExtend}, CodeConflict) // there is nothing to fix
}

func TestACriticalVulnerabilityEscalatesAtOnce(t *testing.T) {
	p := begun(t, Loop{})
	got := p.send(Event{Type: EventResult, Op: 1, Results: []Result{
		{Check: Formatter, Status: ResultFail},
		{Check: SecurityReview, Status: ResultFail, Critical: true, Failures: fails("a key is in the code")},
	}})
	wantIDs(t, got, "VFR-7-formatter-1", "VFR-7-security-review-1", "ESC-7-security-review-20260304T050607Z")
	p.wantEscalated(ReasonCritical)
	p.wantRefused(Event{Type: EventResult, Op: 1, Results: []Result{{Check: Tests, Status: ResultPass}}}, CodeLate)
}

func TestAFixerThatFails(t *testing.T) {
	start := func() *play {
		p := begun(t, Loop{})
		p.results(failing(Tests, "a"))
		p.send(Event{Type: EventFixStarted, Iteration: 1})
		p.wait(10 * time.Minute)
		return p
	}
	t.Run("crashes twice", func(t *testing.T) {
		p := start()
		wantIDs(t, p.send(Event{Type: EventFixFailed, Iteration: 1, Text: "exit status 2"}), "ERR-7-unresponsive-20260304T051607Z", "TIMEOUT-7-main-agent-fix-20260304T051608Z")
		if w := p.state.Work(); w.Kind != WorkFix || w.Attempt != 2 || w.Request.ID != "FIXREQ-7-1" || w.Notice == nil {
			t.Errorf("work %+v", w)
		}
		p.wantDue(5 * time.Minute)
		p.send(Event{Type: EventFixStarted, Iteration: 1}) // a response: it has its full time again
		p.wantDue(30 * time.Minute)
		p.send(Event{Type: EventFixFailed, Iteration: 1})
		p.wantEscalated(ReasonFixer)
	})
	t.Run("crashes and stays away", func(t *testing.T) {
		p := start()
		p.send(Event{Type: EventFixFailed, Iteration: 1})
		p.wait(5 * time.Minute).send(Event{Type: EventTimer})
		p.wantEscalated(ReasonTimeout)
	})
	t.Run("answers nonsense twice", func(t *testing.T) {
		p := start()
		wantIDs(t, p.send(Event{Type: EventNonsense, Iteration: 1, Text: "I would rather write a poem"}), "ERR-7-invalid-response-20260304T051607Z")
		if n := p.state.Work().Notice; n == nil || !strings.Contains(n.Markdown(), "FIXDONE-7-1") {
			t.Errorf("the fixer is not told what to answer: %+v", n)
		}
		p.send(Event{Type: EventNonsense, Iteration: 1, Text: "another poem"})
		p.wantEscalated(ReasonInvalidResponse)
		if h := p.state.doc.History; len(h) != 1 || !strings.HasSuffix(h[0].Fix, "a fix completion signal: another poem") {
			t.Errorf("the escalation does not say what the fixer answered: %+v", h)
		}
	})
	t.Run("answers nonsense and then well", func(t *testing.T) {
		p := start()
		p.send(Event{Type: EventNonsense, Iteration: 1})
		p.fix("a")
		p.want(ReChecking, WorkRevalidate)
	})
	t.Run("makes it worse", func(t *testing.T) {
		p := start()
		p.fix("a")
		p.results(failing(Tests, "a", "b"))
		p.want(AwaitingFix, WorkFix)
		if h := p.state.doc.History; len(h) != 2 || h[1].Resolved != 0 || h[1].Failing[0].Failures != 2 || h[0].Fix != "a" {
			t.Errorf("history %+v", h)
		}
	})
	t.Run("changes nothing", func(t *testing.T) {
		p := start()
		p.send(Event{Type: EventFixDone, Iteration: 1})
		p.want(ReChecking, WorkRevalidate)
	})
}

func TestUndelivered(t *testing.T) {
	p := begun(t, Loop{})
	p.results(failing(Tests, "a"))
	e := Event{Type: EventUndelivered, Message: "FIXREQ-7-1", Attempts: 2, Text: "connection refused"}
	p.wantRefused(e, CodeInvalid)
	e.Attempts = 3
	got := p.send(e)
	wantIDs(t, got, "ERR-7-communication-20260304T050607Z", "ESC-7-tests-20260304T050608Z")
	if got[1].To != MainOrchestrator {
		t.Errorf("escalated to %s", got[1].To)
	}
	e.Message = "ESC-7-tests-20260304T050608Z"
	p.wantRefused(e, CodeUnexpected) // no escalation about an escalation
}

// escalate brings a loop to its limit of two iterations.
func escalate(t *testing.T) *play {
	p := begun(t, Loop{Limits: Limits{Iterations: 2}})
	p.results(failing(Tests, "a"))
	p.fix("tried")
	p.results(failing(Tests, "b"))
	p.want(Escalated, WorkDecide)
	return p
}

func TestDecisions(t *testing.T) {
	decide := func(p *play, d Decision, n int) []Message {
		return p.send(Event{Type: EventDecision, Decision: d, N: n, By: "alice"})
	}
	t.Run("fixed", func(t *testing.T) {
		p := escalate(t)
		wantIDs(t, decide(p, DecideFixed, 0), "REVAL-7-tests-3")
		p.want(ReChecking, WorkRevalidate)
		if p.state.MaxIterations() != 3 {
			t.Errorf("limit %d", p.state.MaxIterations())
		}
		p.results(failing(Tests, "c"))
		p.want(Escalated, WorkDecide)
	})
	t.Run("a push", func(t *testing.T) {
		p := escalate(t)
		p.send(Event{Type: EventPush, Head: "c0ffee", By: "alice"})
		p.want(ReChecking, WorkRevalidate)
	})
	t.Run("extend", func(t *testing.T) {
		p := escalate(t)
		wantIDs(t, decide(p, DecideExtend, 0), "FIXREQ-7-2")
		p.want(AwaitingFix, WorkFix)
		if p.state.MaxIterations() != 5 {
			t.Errorf("limit %d", p.state.MaxIterations())
		}
	})
	t.Run("extend a time-out of the fixer", func(t *testing.T) {
		p := begun(t, Loop{})
		p.results(failing(Tests, "a"))
		p.wait(time.Hour).send(Event{Type: EventTimer})
		p.wait(time.Hour).send(Event{Type: EventTimer})
		got := ids(decide(p, DecideExtend, 1))
		if len(got) != 0 || p.state.Work().Request.ID != "FIXREQ-7-1" {
			t.Errorf("the request is sent twice: %v", got)
		}
		p.fix("a")
		p.want(ReChecking, WorkRevalidate)
	})
	t.Run("skip", func(t *testing.T) {
		p := escalate(t)
		wantIDs(t, decide(p, DecideSkip, 0))
		p.want(Completed, WorkNone)
		if p.state.Outcome() != KnownIssues {
			t.Errorf("outcome %q", p.state.Outcome())
		}
	})
	t.Run("abort", func(t *testing.T) {
		p := escalate(t)
		wantIDs(t, decide(p, DecideAbort, 0))
		p.want(Completed, WorkNone)
		if p.state.Outcome() != Aborted {
			t.Errorf("outcome %q", p.state.Outcome())
		}
		p.wantRefused(Event{Type: EventDecision, Decision: DecideAbort}, CodeConflict)
	})
	t.Run("retry", func(t *testing.T) {
		p := escalate(t)
		wantIDs(t, decide(p, DecideRetry, 0), "REVAL-7-tests-3")
		if p.state.MaxIterations() != 3 {
			t.Errorf("limit %d", p.state.MaxIterations())
		}
		p.results(nil)
		p.results(failing(Build, "b"))
		p.wantEscalated(ReasonRetry)
	})
	t.Run("twice", func(t *testing.T) {
		for _, d := range Decisions() {
			p := escalate(t)
			decide(p, d, 0)
			p.wantRefused(Event{Type: EventDecision, Decision: DecideSkip}, CodeConflict)
		}
	})
	t.Run("abort at any time", func(t *testing.T) {
		p := begun(t, Loop{})
		decide(p, DecideAbort, 0)
		p.want(Completed, WorkNone)
	})
	t.Run("a person is the fixer", func(t *testing.T) {
		p := begun(t, Loop{})
		p.results(failing(Tests, "a"))
		wantIDs(t, decide(p, DecideFixed, 0), "FIXDONE-7-1", "REVAL-7-tests-2")
	})
}

func TestAcceptanceGatesSuccess(t *testing.T) {
	p := begun(t, Loop{Acceptance: true})
	p.results(nil)
	p.want(ReChecking, WorkAcceptance)
	wantIDs(t, p.results(failing(Acceptance, "ac-1: no such file")), "FIXREQ-7-1")
	p.want(AwaitingFix, WorkFix)
	wantIDs(t, p.fix("wrote it"), "FIXDONE-7-1")
	p.want(ReChecking, WorkFinal)
	wantIDs(t, p.results(failing(Linter, "unused")), "VFR-7-linter-2", "FIXREQ-7-2") // the criterion still counts as failed
	if checks := p.state.Work().Request.Checks; !cmp.Equal(checks, []Check{Linter, Acceptance}) {
		t.Errorf("the request is about %v", checks)
	}
	p.fix("both")
	p.want(ReChecking, WorkRevalidate)
	p.results(nil)
	p.want(ReChecking, WorkFinal)
	p.results(nil)
	p.want(ReChecking, WorkAcceptance)
	wantIDs(t, p.results(nil), "SUCCESS-7-linter-3")
	p.want(Completed, WorkNone)
}

func TestAPushDuringValidation(t *testing.T) {
	p := begun(t, Loop{Acceptance: true})
	p.send(Event{Type: EventResult, Op: 1, Results: []Result{{Check: Tests, Status: ResultFail}}})
	if got := p.send(Event{Type: EventPush, Head: "b2"}); len(got) != 0 {
		t.Errorf("%v", ids(got))
	}
	if w := p.state.Work(); w.Op != 2 || len(w.Checks) != 6 || w.Head != "b2" {
		t.Errorf("work %+v", w)
	}
	p.wantRefused(Event{Type: EventResult, Op: 1, Results: []Result{{Check: Tests, Status: ResultPass}}}, CodeLate)
	p.wantRefused(Event{Type: EventPush, Head: "b2"}, CodeDuplicate)
	p.results(nil)
	p.want(ReChecking, WorkAcceptance)
	p.send(Event{Type: EventPush, Head: "c3"})
	p.want(ReChecking, WorkFinal)
	p.results(nil)
	p.results(nil)
	p.want(Completed, WorkNone)
}

func TestClosingEndsALoopInEachStatus(t *testing.T) {
	for name, to := range map[string]func(p *play){
		"pending":     func(*play) {},
		"in progress": func(p *play) { p.send(Event{Type: EventStart}) },
		"awaiting":    func(p *play) { p.send(Event{Type: EventStart}); p.results(failing(Tests, "a")) },
		"fixing": func(p *play) {
			p.send(Event{Type: EventStart})
			p.results(failing(Tests, "a"))
			p.send(Event{Type: EventFixStarted, Iteration: 1})
			p.want(Fixing, WorkFix)
		},
		"re-checking": func(p *play) { p.send(Event{Type: EventStart}); p.results(failing(Tests, "a")); p.fix() },
		"escalated": func(p *play) {
			p.send(Event{Type: EventStart})
			p.send(firstResults(Result{Check: SecurityReview, Status: ResultFail, Critical: true}))
			p.want(Escalated, WorkDecide)
		},
	} {
		for _, merged := range []bool{false, true} {
			p := newPlay(t, Loop{Acceptance: true})
			to(p)
			if got := ids(p.send(Event{Type: EventClosed, Merged: merged, By: "bob"})); got != nil {
				t.Errorf("%s: %v", name, got)
			}
			p.want(Completed, WorkNone)
			if (p.state.Outcome() == MergedByPull) != merged {
				t.Errorf("%s: outcome %q", name, p.state.Outcome())
			}
		}
	}
}

// codeOf returns why an event was refused; "" for another error.
func codeOf(err error) Code {
	if r, ok := errors.AsType[*Refused](err); ok {
		return r.Code
	}
	return ""
}

// TestWhatDoesNotFitIsRefused sends events where they must not have an effect.
func TestWhatDoesNotFitIsRefused(t *testing.T) {
	pending := func(t *testing.T) *play { return newPlay(t, Loop{}) }
	validating := func(t *testing.T) *play { return begun(t, Loop{}) }
	awaiting := func(t *testing.T) *play {
		p := validating(t)
		p.results(failing(Tests, "a"))
		return p
	}
	rechecking := func(t *testing.T) *play {
		p := awaiting(t)
		p.fix("a")
		return p
	}
	completed := func(t *testing.T) *play {
		p := validating(t)
		p.results(nil)
		return p
	}
	pass := []Result{{Check: Tests, Status: ResultPass}}
	for name, c := range map[string]struct {
		in    func(*testing.T) *play
		event Event
		want  Code
	}{
		"unknown type":               {validating, Event{Type: "party"}, CodeInvalid},
		"result before the start":    {pending, Event{Type: EventResult, Op: 1, Results: pass}, CodeUnexpected},
		"push before the start":      {pending, Event{Type: EventPush, Head: "a1"}, CodeUnexpected},
		"second start":               {validating, Event{Type: EventStart}, CodeDuplicate},
		"result without operation":   {validating, Event{Type: EventResult, Results: pass}, CodeInvalid},
		"result of the future":       {validating, Event{Type: EventResult, Op: 2, Results: pass}, CodeInvalid},
		"result of another commit":   {validating, Event{Type: EventResult, Op: 1, Head: "b2", Results: pass}, CodeLate},
		"no results":                 {validating, Event{Type: EventResult, Op: 1}, CodeInvalid},
		"unknown check":              {validating, Event{Type: EventResult, Op: 1, Results: []Result{{Check: "taste", Status: ResultPass}}}, CodeInvalid},
		"unknown status":             {validating, Event{Type: EventResult, Op: 1, Results: []Result{{Check: Tests, Status: "maybe"}}}, CodeInvalid},
		"a check twice":              {validating, Event{Type: EventResult, Op: 1, Results: append(pass[:1:1], pass...)}, CodeInvalid},
		"pass with failures":         {validating, Event{Type: EventResult, Op: 1, Results: []Result{{Check: Tests, Status: ResultPass, Failures: fails("a")}}}, CodeInvalid},
		"a check that did not run":   {rechecking, Event{Type: EventResult, Op: 3, Results: []Result{{Check: Linter, Status: ResultPass}}}, CodeUnexpected},
		"acceptance without any":     {validating, Event{Type: EventResult, Op: 1, Results: []Result{{Check: Acceptance, Status: ResultPass}}}, CodeUnexpected},
		"result of the round before": {rechecking, Event{Type: EventResult, Op: 1, Results: pass}, CodeLate},
		"result instead of a fix":    {awaiting, Event{Type: EventResult, Op: 2, Results: pass}, CodeLate},
		"fix before a request":       {validating, Event{Type: EventFixDone, Iteration: 1}, CodeInvalid},
		"fix of no iteration":        {awaiting, Event{Type: EventFixDone}, CodeInvalid},
		"fix of the future":          {awaiting, Event{Type: EventFixDone, Iteration: 2}, CodeInvalid},
		"fix that nobody asked for":  {rechecking, Event{Type: EventFixDone, Iteration: 2}, CodeInvalid},
		"start that nobody asked":    {rechecking, Event{Type: EventFixStarted, Iteration: 2}, CodeInvalid},
		"second fix":                 {rechecking, Event{Type: EventFixDone, Iteration: 1}, CodeLate},
		"late start of the fixer":    {rechecking, Event{Type: EventFixStarted, Iteration: 1}, CodeLate},
		"late crash of the fixer":    {rechecking, Event{Type: EventFixFailed, Iteration: 1}, CodeLate},
		"late nonsense":              {rechecking, Event{Type: EventNonsense, Iteration: 1}, CodeLate},
		"push without a commit":      {awaiting, Event{Type: EventPush}, CodeInvalid},
		"push of the same commit":    {awaiting, Event{Type: EventPush, Head: "a1"}, CodeDuplicate},
		"unknown decision":           {escalate, Event{Type: EventDecision, Decision: "dance"}, CodeInvalid},
		"extend by less than none":   {escalate, Event{Type: EventDecision, Decision: DecideExtend, N: -1}, CodeInvalid},
		"extend for ever":            {escalate, Event{Type: EventDecision, Decision: DecideExtend, N: 1 << 30}, CodeInvalid},
		"nothing to extend":          {awaiting, Event{Type: EventDecision, Decision: DecideExtend}, CodeConflict},
		"nothing to skip":            {validating, Event{Type: EventDecision, Decision: DecideSkip}, CodeConflict},
		"nothing to retry":           {rechecking, Event{Type: EventDecision, Decision: DecideRetry}, CodeConflict},
		"fixed while checks run":     {rechecking, Event{Type: EventDecision, Decision: DecideFixed}, CodeConflict},
		"fix after an escalation":    {escalate, Event{Type: EventFixDone, Iteration: 2}, CodeLate},
		"result after the end":       {completed, Event{Type: EventResult, Op: 1, Results: pass}, CodeFinal},
		"timer after the end":        {completed, Event{Type: EventTimer}, CodeFinal},
		"close after the end":        {completed, Event{Type: EventClosed}, CodeFinal},
		"decision after success":     {completed, Event{Type: EventDecision, Decision: DecideAbort}, CodeFinal},
	} {
		t.Run(name, func(t *testing.T) {
			c.in(t).wantRefused(c.event, c.want)
		})
	}
}

func TestTransitions(t *testing.T) {
	allowed := map[[2]Status]bool{}
	for pair := range strings.FieldsSeq(`PENDING>IN_PROGRESS IN_PROGRESS>PASS IN_PROGRESS>FAIL PASS>COMPLETED FAIL>AWAITING_FIX AWAITING_FIX>FIXING
		FIXING>RE_CHECKING RE_CHECKING>PASS RE_CHECKING>FAIL PASS>RE_CHECKING ESCALATED>RE_CHECKING ESCALATED>AWAITING_FIX ESCALATED>COMPLETED`) {
		from, to, _ := strings.Cut(pair, ">")
		allowed[[2]Status{Status(from), Status(to)}] = true
	}
	for _, from := range statuses {
		for _, to := range statuses {
			want := allowed[[2]Status{from, to}] || to == Escalated && from != Completed && from != Escalated
			if from.CanBecome(to) != want {
				t.Errorf("%s → %s is %v, want %v", from, to, from.CanBecome(to), want)
			}
			tn := &turn{document: document{Checks: []check{{Name: Tests, Status: from}}}}
			if err := tn.move(&tn.Checks[0], to, "a test"); (err == nil) != (want || from == to) {
				t.Errorf("move from %s to %s: %v", from, to, err)
			}
			tn = &turn{document: document{Status: from, Checks: []check{{Name: Tests, Status: to}}}}
			if err := tn.update("a test"); (err == nil) != (want || from == to) {
				t.Errorf("update from %s to %s: %v", from, to, err)
			}
		}
	}
}

func TestParseLimits(t *testing.T) {
	got, err := ParseLimits(" iterations=3, fix=45m\ngrace=30s ")
	if want := (Limits{Iterations: 3, Fix: 45 * time.Minute, Grace: 30 * time.Second}); err != nil || got != want {
		t.Errorf("%+v, %v", got, err)
	}
	for _, bad := range []string{"speed=9", "iterations", "iterations=x", "fix=9", "fix=0.1s", "iterations=-1", "stuck=1", "iterations=0", "fix=0", "iterations=2 iterations=3"} {
		if _, err := ParseLimits(bad); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}
