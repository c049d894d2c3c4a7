package fixloop

import (
	"slices"
	"strings"
	"testing"
	"time"
)

const protected = `protected-files: "CODEOWNERS" is protected`

// TestARefusedFix asserts that after a refused fix the checks fail as before, without running, that
// the next request says why, and that refused fixes do not count as progress.
func TestARefusedFix(t *testing.T) {
	p := newPlay(t, Loop{})
	p.send(Event{Type: EventStart, Head: "a"})
	p.results(failing(Tests, "TestTotal failed"))
	got := p.wait(time.Minute).send(Event{Type: EventFixDone, Iteration: 1, Fixes: []string{"all"}, Files: []string{"CODEOWNERS"}, Refused: []string{protected}})
	wantIDs(t, got, "FIXDONE-7-1", "REVAL-7-tests-2", "REVALRES-7-tests-2", "VFR-7-tests-2", "FIXREQ-7-2")
	p.want(AwaitingFix, WorkFix)
	for _, m := range got {
		if m.Type == FixCompletion && (len(m.Files) > 0 || !strings.Contains(m.Summary, protected)) {
			t.Errorf("%+v", m)
		}
	}
	request := p.state.Work().Request
	parsed, err := Parse(request.Markdown())
	if err != nil || !slices.ContainsFunc(parsed.Suggestions, func(s string) bool { return strings.Contains(s, "was refused: "+protected) }) {
		t.Errorf("the next request does not say why: %q, %v", parsed.Suggestions, err)
	}
	p.fix("less")
	p.results(nil)
	p.results(nil)
	p.want(Completed, WorkNone)
	p = begun(t, Loop{})
	p.results(failing(Tests, "TestTotal failed"))
	for range 2 {
		p.send(Event{Type: EventFixDone, Iteration: p.state.Iteration(), Refused: []string{protected}})
	}
	p.wantEscalated(ReasonDeadlock)
}

// TestARefusedPush refuses pushes while a fix is awaited, while checks run and after an escalation,
// and asserts which commit is the accepted one.
func TestARefusedPush(t *testing.T) {
	p := newPlay(t, Loop{})
	p.send(Event{Type: EventStart, Head: "a"})
	p.results(failing(Tests, "x"))
	p.send(Event{Type: EventPush, Head: "b", By: "fixer[bot]", Refused: []string{protected}})
	p.want(AwaitingFix, WorkFix)
	if p.state.Head() != "b" || p.state.Accepted() != "a" {
		t.Errorf("at %s, taken %s", p.state.Head(), p.state.Accepted())
	}
	p.send(Event{Type: EventPush, Head: "c", By: "fixer[bot]"})
	p.want(ReChecking, WorkRevalidate)
	if p.state.Accepted() != "c" {
		t.Errorf("taken %s", p.state.Accepted())
	}
	// While the checks run, nobody has asked for a push, so a refused one escalates the loop.
	p.send(Event{Type: EventPush, Head: "d", By: "fixer[bot]", Refused: []string{protected}})
	if p.want(Escalated, WorkDecide); p.state.Reason() != ReasonRefused || p.state.Accepted() != "c" {
		t.Errorf("escalated for %s, taken %s", p.state.Reason(), p.state.Accepted())
	}
	p.send(Event{Type: EventPush, Head: "e", By: "fixer[bot]", Refused: []string{protected}}) // it does not count as a manual fix
	p.want(Escalated, WorkDecide)
	p.send(Event{Type: EventDecision, Decision: DecideRetry, By: "alice"}) // she accepts what is there
	p.want(ReChecking, WorkRevalidate)
	if p.state.Accepted() != "e" {
		t.Errorf("taken %s", p.state.Accepted())
	}
}
