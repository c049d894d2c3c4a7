package fixloop

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// Each test of this file tests a rule of spec 003 that a change of the code could break without
// any other test failing.

// statusOf returns how one check stands.
func (p *play) statusOf(c Check) Status {
	for _, s := range p.state.Checks() {
		if s.Check == c {
			return s.Status
		}
	}
	return ""
}

// Deadlock: the count begins again with an iteration that resolves a failure.
func TestProgressBeginsTheCountAnew(t *testing.T) {
	p := begun(t, Loop{Limits: Limits{Iterations: 9}})
	for i, failures := range [][]string{{"a", "b"}, {"a", "b"}, {"a"}, {"a"}} {
		p.results(failing(Tests, failures...))
		p.want(AwaitingFix, WorkFix)
		if p.state.Iteration() != i+1 {
			t.Fatalf("iteration %d", p.state.Iteration())
		}
		p.fix("tried")
	}
	p.results(failing(Tests, "a"))
	p.wantEscalated(ReasonDeadlock)
	if p.state.Iteration() != 5 {
		t.Errorf("iteration %d", p.state.Iteration())
	}
}

// firstResults returns the first results of all checks. All of them pass, except the result other.
func firstResults(other Result) Event {
	e := Event{Type: EventResult, Op: 1}
	for _, c := range Specialists() {
		r := Result{Check: c, Status: ResultPass}
		if c == other.Check {
			r = other
		}
		e.Results = append(e.Results, r)
	}
	return e
}

// differentMessages returns n messages of failures.
func differentMessages(n int) (out []string) {
	for i := range n {
		out = append(out, "failure "+string(rune('a'+i%26))+string(rune('a'+i/26)))
	}
	return out
}

// A critical vulnerability escalates even if the results of all other checks arrive with it.
func TestACriticalVulnerabilityAmongAllResults(t *testing.T) {
	p := begun(t, Loop{})
	p.send(firstResults(Result{Check: SecurityReview, Status: ResultFail, Critical: true, Failures: fails("a key is in the code")}))
	p.wantEscalated(ReasonCritical)
}

// Specialist failure: the notification has the stack trace, and the second run its full time.
func TestASpecialistThatRunsOnceMore(t *testing.T) {
	p := begun(t, Loop{})
	got := p.wait(20 * time.Minute).send(Event{Type: EventResult, Op: 1, Results: []Result{{Check: Tests, Status: ResultError, Error: "it crashed", Stack: "at main.go:3\nat run.go:9"}}})
	if len(got) != 1 || got[0].Stack != "at main.go:3\nat run.go:9" || got[0].ErrorText != "it crashed" {
		t.Errorf("%+v", got)
	}
	p.wantDue(30 * time.Minute)
}

func TestASecondResultOfACheckIsADuplicate(t *testing.T) {
	p := begun(t, Loop{})
	e := Event{Type: EventResult, Op: 1, Results: []Result{{Check: Linter, Status: ResultPass}}}
	p.send(e)
	p.wantRefused(e, CodeDuplicate)
}

// A criterion that nobody evaluated again waits for the fix like the checks that fail.
func TestACriterionThatFailedStaysFailed(t *testing.T) {
	p := begun(t, Loop{Acceptance: true})
	p.results(nil)
	p.results(failing(Acceptance, "ac-1"))
	p.fix("tried")
	p.results(failing(Linter, "unused"))
	if s := p.statusOf(Acceptance); s != AwaitingFix {
		t.Errorf("status %s", s)
	}
}

// Total iteration: 30 minutes of validating in one iteration, whatever the fixes take, and
// counted across a push.
func TestOnlyValidatingCountsForAnIteration(t *testing.T) {
	limits := Limits{Iterations: 9, Fix: 5 * time.Hour, Revalidation: time.Hour}
	p := begun(t, Loop{Limits: limits})
	for _, failures := range [][]string{{"a", "b", "c"}, {"a", "b"}, {"a"}} {
		p.wait(20 * time.Minute).results(failing(Tests, failures...))
		p.want(AwaitingFix, WorkFix)
		p.wait(2 * time.Hour).fix("tried")
	}
	p.wait(20 * time.Minute).send(Event{Type: EventPush, Head: "b2"})
	p.wait(20 * time.Minute).results(failing(Tests, "d"))
	p.wantEscalated(ReasonTimeout)
}

// Each operation has a time limit of its own.
func TestEachOperationHasItsLimit(t *testing.T) {
	p := begun(t, Loop{Limits: Limits{Validation: time.Minute, Fix: 2 * time.Minute, Revalidation: 3 * time.Minute}})
	p.wantDue(time.Minute)
	p.results(failing(Tests, "a"))
	p.wantDue(2 * time.Minute)
	p.fix("tried")
	p.wantDue(3 * time.Minute)
	p.results(nil)
	p.wantDue(3 * time.Minute)
}

// A reminder goes to the checks that have not reported; what the others found is reported before
// the escalation.
func TestATimeOutOfSomeChecks(t *testing.T) {
	p := begun(t, Loop{})
	p.send(Event{Type: EventResult, Op: 1, Results: []Result{{Check: Formatter, Status: ResultPass}, {Check: Linter, Status: ResultFail, Failures: fails("unused")}}})
	got := p.wait(30 * time.Minute).send(Event{Type: EventTimer})
	if len(got) != 1 || got[0].To != "@build, @tests, @code-review, @security-review" {
		t.Errorf("%+v", got)
	}
	wantIDs(t, p.wait(5*time.Minute).send(Event{Type: EventTimer}), "VFR-7-linter-1", "ESC-7-build-20260304T054107Z")
}

// Invalid response: the second answer has the full time, too.
func TestNonsenseGivesTimeForAnotherAnswer(t *testing.T) {
	p := begun(t, Loop{})
	p.results(failing(Tests, "a"))
	p.wait(20 * time.Minute).send(Event{Type: EventNonsense, Iteration: 1, Text: "hm"})
	p.wantDue(30 * time.Minute)
}

// An answer to a request that is over is late, one to a request that was never made is invalid, and
// a second start is a duplicate. While the loop is escalated, an answer of its iteration is late, too:
// it waits for a person, whether it has asked for a fix in this iteration or not.
func TestAnswersOfAFixerThatAreLate(t *testing.T) {
	p := begun(t, Loop{})
	p.results(failing(Tests, "a", "b"))
	p.send(Event{Type: EventFixStarted, Iteration: 1})
	p.wantRefused(Event{Type: EventFixStarted, Iteration: 1}, CodeDuplicate)
	p.fix("tried")
	for iteration, want := range map[int]Code{0: CodeInvalid, 1: CodeLate, 2: CodeInvalid, 3: CodeInvalid} {
		p.wantRefused(Event{Type: EventFixDone, Iteration: iteration}, want) // the checks run
	}
	p.results(failing(Tests, "a"))
	for iteration, want := range map[int]Code{0: CodeInvalid, 1: CodeLate, 3: CodeInvalid, -1: CodeInvalid} {
		p.wantRefused(Event{Type: EventFixDone, Iteration: iteration}, want)
	}
	for range 2 {
		p.send(Event{Type: EventFixFailed, Iteration: 2, Text: "crash"})
	}
	p.want(Escalated, WorkDecide)
	p.wantRefused(Event{Type: EventFixDone, Iteration: 2}, CodeLate)
	if !slices.ContainsFunc(p.log, func(m Message) bool { return m.Type == Escalation && m.Reason == ReasonFixer }) {
		t.Errorf("%v", ids(p.log))
	}
}

// stuck returns a loop that was escalated because nothing was resolved in three iterations.
func stuck(t *testing.T) *play {
	p := begun(t, Loop{Limits: Limits{Iterations: 20}})
	for range 2 {
		p.results(failing(Tests, "a"))
		p.fix("tried")
	}
	p.results(failing(Tests, "a"))
	p.want(Escalated, WorkDecide)
	return p
}

// Decisions: extend begins the count of iterations without progress again; retry has an iteration
// of its own.
func TestADecisionBeginsTheCountAnew(t *testing.T) {
	p := stuck(t)
	p.send(Event{Type: EventDecision, Decision: DecideExtend, N: 5})
	for i := range 2 {
		p.fix("tried")
		p.results(failing(Tests, "a"))
		if p.want(AwaitingFix, WorkFix); p.state.Iteration() != 4+i {
			t.Errorf("iteration %d", p.state.Iteration())
		}
	}
	p.fix("tried")
	p.results(failing(Tests, "a"))
	p.want(Escalated, WorkDecide)

	p = stuck(t)
	most, iteration := p.state.MaxIterations(), p.state.Iteration()
	p.send(Event{Type: EventDecision, Decision: DecideRetry})
	if left := p.state.MaxIterations() - p.state.Iteration(); left != most-iteration {
		t.Errorf("%d iterations are left, and %d were before", left, most-iteration)
	}
	p.results(nil)
	p.results(failing(Linter, "unused")) // the final pass; the retry has failed
	p.wantEscalated(ReasonRetry)
}

// A second decision is a conflict that names the first one, also where the loop has gone on.
func TestASecondDecisionNamesTheFirst(t *testing.T) {
	p := stuck(t)
	p.send(Event{Type: EventDecision, Decision: DecideExtend, N: 5, By: "ada"})
	_, err := p.try(Event{Type: EventDecision, Decision: DecideSkip, By: "bob"})
	if want := "it was decided before: extend by 5 by ada"; codeOf(err) != CodeConflict || err.(*Refused).Why != want {
		t.Errorf("%v, want %q", err, want)
	}
}

// A manual fix begins the count of iterations without progress again, and makes the commit that is
// there the accepted one.
func TestAManualFixBeginsAnew(t *testing.T) {
	p := stuck(t)
	p.send(Event{Type: EventPush, Head: "b2", By: "fixer[bot]", Refused: []string{"protected-files: x"}})
	if p.state.Accepted() != "a1" {
		t.Errorf("a refused push is accepted: %s", p.state.Accepted())
	}
	p.send(Event{Type: EventDecision, Decision: DecideFixed, By: "ada"})
	if p.state.Accepted() != "b2" {
		t.Errorf("accepted is %s", p.state.Accepted())
	}
	p.results(failing(Tests, "a"))
	p.want(AwaitingFix, WorkFix)
}

// The messages of a round: their priority, what they leave out, what they expect, and what follows.
func TestWhatMessagesSay(t *testing.T) {
	p := begun(t, Loop{})
	p.send(firstResults(Result{Check: Tests, Status: ResultFail, Failures: fails(differentMessages(150)...), Coverage: 85}))
	r := p.state.Work().Request
	if r.Priority != PriorityHigh || r.Omitted != 50 || len(r.Failures) != 100 || !slices.Equal(r.Expected, []string{"After fixes: All tests pass, coverage ≥80%"}) {
		t.Errorf("priority %s, %d left out of %d, expected %q", r.Priority, r.Omitted, len(r.Failures), r.Expected)
	}
	p.fix("tried")
	got := p.results(failing(Tests, "other"))
	if ofType(got, RevalidationResult).Next != "Continue recursive loop (iteration 3/5)" {
		t.Errorf("%+v", got)
	}

	p = begun(t, Loop{})
	p.results(failing(Tests, "a"))
	got = p.send(Event{Type: EventFixDone, Iteration: 1, Files: differentMessages(150)})
	if m := ofType(got, FixCompletion); m.Summary != "changed 150 files" || len(m.Files) != 100 {
		t.Errorf("%+v", m)
	}

	p = stuck(t) // with iterations left
	p.send(Event{Type: EventDecision, Decision: DecideRetry})
	got = p.results(failing(Tests, "a"))
	if ofType(got, RevalidationResult).Next != "Escalate: the unchanged code failed again" {
		t.Errorf("%+v", got)
	}

	p = begun(t, Loop{})
	got = p.send(Event{Type: EventResult, Op: 1, Results: []Result{{Check: SecurityReview, Status: ResultFail, Critical: true, Failures: fails("a key is in the code")}}})
	if ofType(got, FailureReport).Priority != PriorityCritical {
		t.Errorf("%+v", got)
	}
	p.send(Event{Type: EventDecision, Decision: DecideExtend})
	if r := p.state.Work().Request; r.Priority != PriorityCritical || !slices.Equal(r.Expected, []string{"After fixes: all checks pass"}) {
		t.Errorf("priority %s, expected %q", r.Priority, r.Expected)
	}

	p = begun(t, Loop{})
	for range 2 {
		got = p.send(Event{Type: EventResult, Op: 1, Results: []Result{{Check: Linter, Status: ResultError, Error: "no such tool"}}})
	}
	m := ofType(got, Escalation)
	if len(m.Actions) != 4 || !slices.ContainsFunc(m.Failures, func(f Failure) bool { return f.Check == Linter && f.Message == "did not work: no such tool" }) {
		t.Errorf("%+v", got)
	}
}

// What a check that failed again says about what follows is what follows.
func TestWhatFollowsAFailure(t *testing.T) {
	again := func(limits Limits, iterations int, last Result) []Message {
		t.Helper()
		p := begun(t, Loop{Limits: limits})
		for range iterations - 1 {
			p.results(failing(Tests, "a"))
			p.fix("tried")
		}
		p.wait(time.Minute)
		return p.send(Event{Type: EventResult, Op: p.state.Work().Op, Results: []Result{last}})
	}
	failed := Result{Check: Tests, Status: ResultFail, Failures: fails("a")}
	critical := failed
	critical.Critical = true
	for want, got := range map[string][]Message{
		"Continue recursive loop (iteration 3/20)":                          again(Limits{Iterations: 20}, 2, failed),
		"Escalate: nothing that failed was resolved in the last iterations": again(Limits{Iterations: 20}, 3, failed),
		"Escalate: no iteration is left":                                    again(Limits{Iterations: 2}, 2, failed),
		"Escalate: time is up":                                              again(Limits{Round: time.Second}, 2, failed),
		"Escalate: the security review found a critical vulnerability":      again(Limits{}, 2, critical),
	} {
		if m := ofType(got, RevalidationResult); m.Next != want {
			t.Errorf("next is %q, want %q", m.Next, want)
		}
	}
}

// Only what people have to act on notifies them.
func TestWhatNotifies(t *testing.T) {
	for _, typ := range []Type{FailureReport, FixRequest, FixCompletion, RevalidationTrigger, RevalidationResult, Success, Escalation, TimeoutReminder, ErrorNotification, StatusChange} {
		if got, want := (Message{Type: typ}).Notifies(), typ == FixRequest || typ == Escalation; got != want {
			t.Errorf("%s notifies: %t", typ, got)
		}
	}
}

// Failure report: it counts what it leaves out. Re-validation trigger: it has the iteration and the
// maximum.
func TestWhatMessagesCount(t *testing.T) {
	p := begun(t, Loop{})
	got := p.results(failing(Tests, differentMessages(120)...))
	if m := ofType(got, FailureReport); m.Omitted != 20 || len(m.Failures) != 100 {
		t.Errorf("%+v", got)
	}
	got = p.fix("tried")
	if m := ofType(got, RevalidationTrigger); !strings.Contains(m.Markdown(), "\nCurrent: 2 / Max: 5\n") {
		t.Errorf("%+v", got)
	}
}

// Escalation report: it goes to the main orchestrator where a check does not work. The check's
// error stays text in the trigger that follows a retry.
func TestWhoIsAskedToDecide(t *testing.T) {
	p := begun(t, Loop{})
	var got []Message
	for range 2 {
		got = p.send(Event{Type: EventResult, Op: 1, Results: []Result{{Check: Linter, Status: ResultError, Error: "see <b>the</b> [log](https://example.com)"}}})
	}
	if ofType(got, Escalation).To != MainOrchestrator {
		t.Errorf("%+v", got)
	}
	got = p.send(Event{Type: EventDecision, Decision: DecideRetry})
	trigger := got[slices.IndexFunc(got, func(m Message) bool { return m.Type == RevalidationTrigger && m.Check == Linter })].Markdown()
	if !strings.Contains(trigger, `\<b`) {
		t.Fatal(trigger)
	}
	if again, err := Parse(trigger); err != nil || again.Why != "see <b>the</b> [log](https://example.com)" {
		t.Errorf("%q, %v", again.Why, err)
	}
}

// Error notification: Parse rejects a type of error that is not one of the four.
func TestAnErrorTypeThatThereIsNot(t *testing.T) {
	p := begun(t, Loop{})
	got := p.send(Event{Type: EventResult, Op: 1, Results: []Result{{Check: Linter, Status: ResultError, Error: "gone"}}})
	good := got[0].Markdown()
	if _, err := Parse(good); err != nil {
		t.Fatal(err)
	}
	if _, err := Parse(strings.Replace(good, "Specialist Failure", "Bad Mood", 1)); err == nil || !strings.Contains(err.Error(), `there is no error type "Bad Mood"`) {
		t.Errorf("%v", err)
	}
}
