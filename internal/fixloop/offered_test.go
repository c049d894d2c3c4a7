package fixloop

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-airlock/airlock/internal/text"
)

// commandsIn returns the commands that a comment offers.
func commandsIn(comment string) (out []string) {
	for _, m := range regexp.MustCompile("`"+CommandWord+" ([a-z0-9 ]+)`").FindAllStringSubmatch(comment, -1) {
		out = append(out, m[1])
	}
	return out
}

// checkOffer compares what a state offers with what Step takes.
func checkOffer(t *testing.T, s State, escalation *Message) {
	t.Helper()
	comments := map[string]string{"comment": s.Comment(nil, "")}
	if escalation != nil {
		comments["escalation"] = s.Posted(*escalation, true)
	}
	var actions []string
	for _, d := range Decisions() {
		_, _, _, err := Step(s, Event{Type: EventDecision, Decision: d}, s.doc.Updated)
		if err != nil {
			var r *Refused
			if !errors.As(err, &r) || text.IsBlank(r.Why) {
				t.Fatalf("%s, %s: %s is refused without a sentence: %v", s.Status(), s.Work().Kind, d, err)
			}
		}
		if slices.Contains(s.Decisions(), d) != (err == nil) {
			t.Fatalf("%s, %s: %s is among the decisions: %t, but Step returns: %v", s.Status(), s.Work().Kind, d, err != nil, err)
		}
		if err == nil {
			actions = append(actions, string(d))
		}
	}
	for where, comment := range comments {
		var offered []string
		for _, c := range commandsIn(comment) {
			e, found, err := ParseCommand(CommandWord + " " + c)
			if err == nil && found {
				_, _, _, err = Step(s, e, s.doc.Updated)
			}
			if err != nil || !found {
				t.Fatalf("%s, %s: the %s offers %q, which is refused: %v\n%s", s.Status(), s.Work().Kind, where, c, err, comment)
			}
			offered = append(offered, string(e.Decision))
		}
		if !cmp.Equal(offered, actions) {
			t.Fatalf("%s, %s: the %s offers %q, and %q would be taken", s.Status(), s.Work().Kind, where, offered, actions)
		}
	}
	if escalation != nil {
		var words []string
		for _, a := range escalation.Actions {
			word, _, _ := strings.Cut(a, ":")
			words = append(words, strings.Fields(word)[0])
		}
		if !cmp.Equal(words, actions) {
			t.Fatalf("the escalation recommends %q, and %q would be taken", words, actions)
		}
	}
}

// TestWhatIsOfferedIsTaken asserts in every state of 80 random walks that a decision is offered if
// and only if Step takes it.
func TestWhatIsOfferedIsTaken(t *testing.T) {
	seen := map[string]bool{}
	for seed := uint64(1); seed <= 80; seed++ {
		w := newWalk(t, seed)
		checkOffer(t, w.state, nil)
		for range 60 {
			logged := len(w.log)
			w.step()
			var escalation *Message
			for i := logged; i < len(w.log); i++ {
				if w.log[i].Type == Escalation && w.state.Status() == Escalated {
					escalation = &w.log[i]
				}
			}
			checkOffer(t, w.state, escalation)
			seen[fmt.Sprintf("%s %s %v", w.state.Status(), w.state.Work().Kind, w.state.Decisions())] = true
		}
	}
	for _, want := range []string{
		"PENDING start [abort]", "IN_PROGRESS validate [abort]", "AWAITING_FIX fix [fixed abort]", "FIXING fix [fixed abort]",
		"RE_CHECKING revalidate [abort]", "RE_CHECKING final [abort]", "RE_CHECKING acceptance [abort]",
		"ESCALATED decide [fixed extend skip abort retry]", "ESCALATED decide [fixed skip abort retry]", "COMPLETED none []",
	} {
		if !seen[want] {
			t.Errorf("the walk does not reach %q", want)
		}
	}
}

// TestWhatIsOfferedAtTheLimit asserts that a loop offers to raise its limit, by extend or retry,
// only up to maxIterations, and no decision that needs one more iteration where none is left.
func TestWhatIsOfferedAtTheLimit(t *testing.T) {
	for most, want := range map[int]string{
		maxIterations - 3: "fixed, extend 3, skip, abort, retry",
		maxIterations - 1: "fixed, extend 1, skip, abort, retry",
		maxIterations:     "fixed, skip, abort",
	} {
		p := begun(t, Loop{Limits: Limits{Iterations: most}})
		p.results(failing(Tests, "a"))
		p.wait(time.Hour).send(Event{Type: EventTimer})
		got := p.wait(time.Hour).send(Event{Type: EventTimer})
		p.want(Escalated, WorkDecide)
		checkOffer(t, p.state, new(ofType(got, Escalation)))
		if offered := strings.Join(commandsIn(p.state.Comment(nil, "")), ", "); offered != want {
			t.Errorf("at %d: %q, want %q", most, offered, want)
		}
		if slices.Contains(p.state.Decisions(), DecideExtend) {
			p.send(Event{Type: EventDecision, Decision: DecideExtend})
			if limit := min(most+3, maxIterations); p.state.MaxIterations() != limit {
				t.Errorf("extended to %d, want %d", p.state.MaxIterations(), limit)
			}
		}
	}
	p := begun(t, Loop{Limits: Limits{Iterations: maxIterations, Stuck: maxIterations}})
	p.state.doc.Iteration = maxIterations
	got := p.results(failing(Tests, "a"))
	p.want(Escalated, WorkDecide)
	checkOffer(t, p.state, new(ofType(got, Escalation)))
	if offered := strings.Join(commandsIn(p.state.Comment(nil, "")), ", "); offered != "skip, abort" || !strings.Contains(p.state.Comment(nil, ""), "**Next: decide**") {
		t.Errorf("in the last iteration: %q", offered)
	}
}

// TestChecksThatDoNotWorkForOneReason asserts that an error that all checks have in common stands
// once, with the names of the checks, in the notification, in the escalation and in the comment.
func TestChecksThatDoNotWorkForOneReason(t *testing.T) {
	const why, all = "the work tree is gone", "formatter, linter, build, tests, code-review, security-review"
	p := begun(t, Loop{})
	var got []Message
	for range 2 {
		e := Event{Type: EventResult, Op: p.state.Work().Op}
		for _, c := range Specialists() {
			e.Results = append(e.Results, Result{Check: c, Status: ResultError, Error: why})
		}
		got = p.send(e)
	}
	wantIDs(t, got, "ERR-7-specialist-failure-20260304T050608Z", "ESC-7-formatter-20260304T050609Z")
	if m := got[0]; m.Recovered || m.Next != "escalate" || m.Context != "Running "+all || m.Summary != all+" did not work: "+why {
		t.Errorf("%+v", m)
	}
	escalation := got[1]
	for name, text := range map[string]string{"escalation": escalation.Markdown(), "comment": p.state.Comment(nil, ""), "error": got[0].Markdown()} {
		if n := strings.Count(text, why); n != 1 {
			t.Errorf("the %s says it %d times:\n%s", name, n, text)
		}
	}
	if !strings.Contains(escalation.Markdown(), "1. **"+all+"**: did not work: "+why+"\n") {
		t.Error(escalation.Markdown())
	}
	parsed, err := Parse(escalation.Markdown())
	if diff := cmp.Diff(escalation.Failures, parsed.Failures); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
	p.send(Event{Type: EventDecision, Decision: DecideSkip})
	if _, body := p.state.FollowUp(); strings.Count(body, why) != 1 || !strings.Contains(body, "The check did not work, like formatter.") {
		t.Error(body)
	}
}

// TestChecksThatDoNotWorkForTheirOwnReasons asserts that checks with different errors get a
// notification each, and that the comment lists both errors although one of the checks could have
// run once more.
func TestChecksThatDoNotWorkForTheirOwnReasons(t *testing.T) {
	p := begun(t, Loop{})
	send := func(results ...Result) []Message {
		return p.send(Event{Type: EventResult, Op: p.state.Work().Op, Results: results})
	}
	first := send(Result{Check: Linter, Status: ResultError, Error: "no linter"})
	if len(first) != 1 || first[0].Check != Linter || first[0].Checks != nil || !first[0].Recovered {
		t.Errorf("%+v", first)
	}
	got := send(Result{Check: Build, Status: ResultError, Error: "no compiler"}, Result{Check: Linter, Status: ResultError, Error: "no linter"})
	wantIDs(t, got, "ERR-7-specialist-failure-20260304T050608Z", "ERR-7-specialist-failure-20260304T050609Z", "ESC-7-linter-20260304T050610Z")
	body := p.state.Comment(nil, "")
	for _, want := range []string{"| linter | `ESCALATED` | did not work: no linter |", "| build | `ESCALATED` | did not work: no compiler |", "get the check to work, then decide to retry"} {
		if !strings.Contains(body, want) {
			t.Errorf("no %q in\n%s", want, body)
		}
	}
}
