package fixloop

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// began is when the loops of tests start.
var began = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)

// play drives a loop in a test.
type play struct {
	t     *testing.T
	state State
	now   time.Time
	log   []Message
}

func newPlay(t *testing.T, l Loop) *play {
	t.Helper()
	if l.Issue == 0 {
		l.Issue = 7
	}
	l.Ordinal = 1
	s, err := New(l)
	if err != nil {
		t.Fatal(err)
	}
	return &play{t: t, state: s, now: began}
}

// begun returns a loop whose checks run for the first time.
func begun(t *testing.T, l Loop) *play {
	t.Helper()
	p := newPlay(t, l)
	p.send(Event{Type: EventStart, Head: "a1"})
	return p
}

// try makes a step and returns its messages, or the refusal. It asserts that the step does not
// change its argument and returns the new state's deadline, and goes on with the state as it comes
// back from JSON.
func (p *play) try(e Event) ([]Message, error) {
	p.t.Helper()
	before, err := json.Marshal(p.state)
	if err != nil {
		p.t.Fatal(err)
	}
	next, messages, deadline, err := Step(p.state, e, p.now)
	if !deadline.Equal(next.Deadline()) {
		p.t.Fatalf("deadline %s, but the state's is %s", deadline, next.Deadline())
	}
	after, marshalErr := json.Marshal(p.state)
	if marshalErr != nil || string(after) != string(before) {
		p.t.Fatalf("the step changed its argument (%v)\n%s\n%s", marshalErr, before, after)
	}
	if err != nil {
		if codeOf(err) == "" {
			p.t.Fatal(err)
		}
		return nil, err
	}
	raw, err := json.Marshal(next)
	if err != nil {
		p.t.Fatal(err)
	}
	var again State
	if err := json.Unmarshal(raw, &again); err != nil {
		p.t.Fatalf("%v\n%s", err, raw)
	}
	p.state = again
	p.log = append(p.log, messages...)
	return messages, nil
}

func (p *play) send(e Event) []Message {
	p.t.Helper()
	messages, err := p.try(e)
	if err != nil {
		p.t.Fatal(err)
	}
	return messages
}

func (p *play) wait(d time.Duration) *play { p.now = p.now.Add(d); return p }

// results reports the checks that the loop waits for: those in failing fail, the others pass.
func (p *play) results(failing map[Check][]Failure) []Message {
	p.t.Helper()
	w := p.state.Work()
	e := Event{Type: EventResult, Op: w.Op}
	for _, c := range w.Checks {
		r := Result{Check: c, Status: ResultPass}
		if f, ok := failing[c]; ok {
			r.Status, r.Failures = ResultFail, f
		}
		e.Results = append(e.Results, r)
	}
	return p.send(e)
}

func (p *play) fix(fixes ...string) []Message {
	p.t.Helper()
	return p.send(Event{Type: EventFixDone, Iteration: p.state.Iteration(), Fixes: fixes, Files: []string{"shop.go"}})
}

func (p *play) want(s Status, work WorkKind) {
	p.t.Helper()
	if p.state.Status() != s || p.state.Work().Kind != work {
		p.t.Fatalf("status %s, work %s; want %s, %s", p.state.Status(), p.state.Work().Kind, s, work)
	}
}

// wantEscalated asserts that a person has to decide, and why.
func (p *play) wantEscalated(reason Reason) {
	p.t.Helper()
	p.want(Escalated, WorkDecide)
	if p.state.Reason() != reason {
		p.t.Errorf("escalated for %q, want %q", p.state.Reason(), reason)
	}
}

// wantDue asserts how long from now the deadline is.
func (p *play) wantDue(want time.Duration) {
	p.t.Helper()
	if got := p.state.Deadline().Sub(p.now); got != want {
		p.t.Errorf("%s: due after %s, want %s", p.state.Work().Kind, got, want)
	}
}

// wantRefused asserts that an event is refused, and why.
func (p *play) wantRefused(e Event, why Code) {
	p.t.Helper()
	if messages, err := p.try(e); codeOf(err) != why || messages != nil {
		p.t.Errorf("%+v in the status %s: %v, want the code %s", e, p.state.Status(), err, why)
	}
}

// wantIDs asserts the identifiers of messages. It leaves out the messages about changes of status.
func wantIDs(t *testing.T, messages []Message, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, ids(messages)); diff != "" {
		t.Errorf("identifiers (-want +got):\n%s", diff)
	}
}

// ofType returns the first message of a type; the zero Message if there is none.
func ofType(messages []Message, typ Type) Message {
	for _, m := range messages {
		if m.Type == typ {
			return m
		}
	}
	return Message{}
}

// ids returns the identifiers of messages, except for those about changes of status.
func ids(messages []Message) []string {
	var out []string
	for _, m := range messages {
		if m.Counts() {
			out = append(out, m.ID)
		}
	}
	return out
}

// fails makes failures with these messages.
func fails(messages ...string) []Failure {
	var out []Failure
	for _, m := range messages {
		out = append(out, Failure{Message: m, Path: "shop.go", Line: len(out) + 3})
	}
	return out
}

func failing(c Check, messages ...string) map[Check][]Failure {
	return map[Check][]Failure{c: fails(messages...)}
}
