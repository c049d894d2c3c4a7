package fixloop

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agent-airlock/airlock/internal/shorttest"
)

var (
	walkSteps = flag.Int("walk.steps", 25_000, "steps of the random walk")
	walkSeed  = flag.Uint64("walk.seed", 1, "seed of the first loop of the random walk")
)

// TestRandomWalk plays loops of random events: results that pass, fail, err, come in parts,
// late, twice or to the wrong operation; fixers that answer well, crash or talk nonsense;
// pushes, decisions, timers, closings, and crashes of the driver, which lose everything but
// the state's JSON. A model of its own decides what each round has to lead to.
func TestRandomWalk(t *testing.T) {
	most := int(shorttest.Count(uint64(*walkSteps), 20))
	steps, ends := 0, map[Outcome]int{}
	reasons := map[Reason]int{}
	for seed := *walkSeed; steps < most; seed++ {
		w := newWalk(t, seed)
		for range 80 {
			w.step()
			steps++
			if w.state.Status().Final() && w.r.IntN(4) == 0 {
				break
			}
		}
		ends[w.state.Outcome()]++
		for _, m := range w.log {
			if m.Type == Escalation {
				reasons[m.Reason]++
			}
		}
		if t.Failed() {
			t.Fatalf("play it again with -walk.seed=%d -walk.steps=1", seed)
		}
	}
	if most < 10_000 {
		return
	}
	for _, o := range []Outcome{Succeeded, KnownIssues, Aborted, ClosedByPull, MergedByPull} {
		if ends[o] < 10 {
			t.Errorf("only %d loops ended with %q: the walk does not get there", ends[o], o)
		}
	}
	for _, r := range []Reason{ReasonIterations, ReasonTimeout, ReasonDeadlock, ReasonSpecialist, ReasonCritical, ReasonInvalidResponse, ReasonFixer, ReasonUndelivered, ReasonRetry, ReasonRefused} {
		if reasons[r] < 10 {
			t.Errorf("only %d loops were escalated for %q: the walk does not get there", reasons[r], r)
		}
	}
}

// walk is one loop of the random walk, with a model of what it has to do.
type walk struct {
	t       *testing.T
	r       *rand.Rand
	state   State
	now     time.Time
	log     []Message
	ids     map[string]bool
	entries map[string]bool
	heads   int

	// The model.
	statuses map[string]Status  // by entity, from the log
	rounds   []map[string]bool  // what failed in each failing round since a person last decided or pushed while escalated
	broken   map[Check][]string // what failed in each check, by its newest result
	aborted  bool
	reminded time.Time
}

func newWalk(t *testing.T, seed uint64) *walk {
	r := rand.New(rand.NewPCG(seed, 0))
	s, err := New(Loop{Issue: r.IntN(3), Ordinal: 1, Acceptance: r.IntN(2) == 0, Limits: Limits{Iterations: 1 + r.IntN(6)}})
	if err != nil {
		t.Fatal(err)
	}
	w := &walk{t: t, r: r, state: s, now: began, ids: map[string]bool{}, entries: map[string]bool{}, statuses: map[string]Status{}, broken: map[Check][]string{}}
	for _, c := range s.Checks() {
		w.statuses[string(c.Check)] = Pending
	}
	w.statuses["Orchestrator"] = Pending
	return w
}

func (w *walk) step() {
	w.t.Helper()
	if w.r.IntN(20) == 0 {
		w.crash()
	}
	w.now = w.now.Add(time.Duration(w.r.IntN(180)) * time.Second)
	e := w.event()
	if w.r.IntN(12) == 0 {
		w.wrong(&e)
	}
	w.send(e)
	if w.r.IntN(8) == 0 {
		w.send(e) // delivered twice
	}
}

// crash loses everything but the state's JSON.
func (w *walk) crash() {
	w.t.Helper()
	raw, err := json.Marshal(w.state)
	if err != nil {
		w.t.Fatal(err)
	}
	var again State
	if err := json.Unmarshal(raw, &again); err != nil {
		w.t.Fatalf("%v\n%s", err, raw)
	}
	w.state = again
}

// event draws something that fits, most of the time.
func (w *walk) event() Event {
	work := w.state.Work()
	switch k := w.r.IntN(60); {
	case k == 0:
		return Event{Type: EventClosed, Merged: w.r.IntN(2) == 0, By: "bob"}
	case k < 3:
		w.heads++
		return w.perhapsRefused(Event{Type: EventPush, Head: fmt.Sprintf("head%d", w.heads), By: "carol"})
	case k == 3:
		attempts := DeliveryAttempts
		if w.r.IntN(4) == 3 {
			attempts-- // too few, so that the event is refused
		}
		return Event{Type: EventUndelivered, Message: "VFR-1-tests-1", Attempts: attempts, Text: "refused"}
	case k < 6:
		return w.decision()
	case k < 13:
		if d := w.state.Deadline(); !d.IsZero() && w.r.IntN(3) == 0 {
			w.now = d.Add(time.Duration(w.r.IntN(3)-1) * time.Second)
		}
		return Event{Type: EventTimer}
	}
	switch work.Kind {
	case WorkStart:
		return Event{Type: EventStart}
	case WorkDecide:
		return w.decision()
	case WorkFix:
		switch w.r.IntN(8) {
		case 0:
			return Event{Type: EventFixFailed, Iteration: work.Iteration, Text: "exit status 1"}
		case 1:
			return Event{Type: EventNonsense, Iteration: work.Iteration, Text: "la la"}
		case 2, 3:
			return Event{Type: EventFixStarted, Iteration: work.Iteration}
		}
		return w.perhapsRefused(Event{Type: EventFixDone, Iteration: work.Iteration, Fixes: []string{"mended"}})
	}
	e := Event{Type: EventResult, Op: work.Op}
	complete := w.r.IntN(3) > 0
	hard := w.r.IntN(3) // the higher, the more checks fail
	for _, c := range work.Checks {
		if !complete && w.r.IntN(2) == 0 {
			continue
		}
		e.Results = append(e.Results, w.outcome(c, hard))
	}
	return e
}

// perhapsRefused returns an event whose changes are refused, one time of five.
func (w *walk) perhapsRefused(e Event) Event {
	if w.r.IntN(5) == 0 {
		e.Refused = []string{"protected-files: \"CODEOWNERS\" is protected"}
	}
	return e
}

func (w *walk) outcome(c Check, hard int) Result {
	switch k := w.r.IntN(24); {
	case k == 0:
		return Result{Check: c, Status: ResultError, Error: "no such tool"}
	case k < 4+4*hard:
		var f []Failure
		for i := range w.r.IntN(3) {
			f = append(f, Failure{Message: fmt.Sprintf("%c is wrong", 'a'+i+w.r.IntN(2)), Line: w.r.IntN(50)})
		}
		return Result{Check: c, Status: ResultFail, Failures: f, Critical: c == SecurityReview && w.r.IntN(2) == 0}
	}
	return Result{Check: c, Status: ResultPass}
}

func (w *walk) decision() Event {
	all := Decisions()
	return Event{Type: EventDecision, Decision: all[w.r.IntN(len(all))], N: w.r.IntN(4), By: "alice"}
}

// wrong spoils an event.
func (w *walk) wrong(e *Event) {
	switch w.r.IntN(6) {
	case 0:
		e.Op += w.r.IntN(5) - 2
	case 1:
		e.Iteration += w.r.IntN(5) - 2
	case 2:
		e.Type = EventType([]EventType{EventStart, EventResult, EventFixDone, EventFixStarted, "odd", EventNonsense}[w.r.IntN(6)])
	case 3:
		e.Head = "other"
	case 4:
		for i := range e.Results {
			e.Results[i].Check = Check([]Check{Tests, Build, Acceptance, "odd"}[w.r.IntN(4)])
		}
	case 5:
		w.now = w.now.Add(-time.Hour)
	}
}

// send makes a step and compares what came of it with the model.
func (w *walk) send(e Event) {
	w.t.Helper()
	before := w.state
	next, messages, deadline, err := Step(before, e, w.now)
	if err != nil {
		if codeOf(err) == "" {
			w.t.Fatalf("in status %s, the error about %+v is not a refusal: %v", before.Status(), e, err)
		}
		if len(messages) > 0 || next.Status() != before.Status() || next.doc.Entries != before.doc.Entries {
			w.t.Fatalf("a refused event has changed something: %+v", e)
		}
		return
	}
	w.state = next
	w.log = append(w.log, messages...)
	w.recorded(messages)
	if (next.doc.Op == nil) != deadline.IsZero() {
		w.t.Fatalf("deadline %s with work %+v", deadline, next.Work())
	}
	if err := next.doc.check(); err != nil {
		w.t.Fatalf("after %+v: %v", e, err)
	}
	if next.Iteration() > next.MaxIterations() {
		w.t.Fatalf("iteration %d of %d", next.Iteration(), next.MaxIterations())
	}
	if before.Status().Final() {
		w.t.Fatalf("a loop that has ended goes on after %+v", e)
	}
	if next.Status().Final() != (next.Outcome() != Running) || next.Status().Final() != (next.Work().Kind == WorkNone) {
		w.t.Fatalf("status %s, outcome %q, work %s", next.Status(), next.Outcome(), next.Work().Kind)
	}
	w.fits(before.Work(), e, messages)
	w.judge(before, e, messages)
}

// fits checks that an accepted event answers what the loop was waiting for, that a critical
// vulnerability escalates at once, and that a time-out follows its reminder after five minutes at
// the earliest.
func (w *walk) fits(work Work, e Event, messages []Message) {
	w.t.Helper()
	switch e.Type {
	case EventFixStarted, EventFixDone, EventFixFailed, EventNonsense:
		if work.Kind != WorkFix || e.Iteration != work.Iteration {
			w.t.Fatalf("%+v is accepted for %+v", e, work)
		}
	case EventResult:
		if e.Op != work.Op || slices.ContainsFunc(e.Results, func(r Result) bool { return !slices.Contains(work.Checks, r.Check) }) {
			w.t.Fatalf("%+v is accepted for %+v", e, work)
		}
		if slices.ContainsFunc(e.Results, func(r Result) bool { return r.Critical && r.Status == ResultFail }) && w.state.Status() != Escalated {
			w.t.Fatalf("status %s after a critical vulnerability", w.state.Status())
		}
	}
	for _, m := range messages {
		switch {
		case m.Type == TimeoutReminder:
			w.reminded = w.state.doc.Updated
		case m.Type == Escalation && m.Reason == ReasonTimeout && e.Type != EventResult:
			// A result escalates without a reminder, if validating took too long in its iteration.
			if w.state.doc.Updated.Sub(w.reminded) < 5*time.Minute {
				w.t.Fatalf("a time-out at %s, but the reminder was at %s", w.state.doc.Updated, w.reminded)
			}
		}
	}
}

// recorded checks new messages: their identifiers are new, their changes of status are allowed and
// lead to the statuses of the state, and none follows an abort.
func (w *walk) recorded(messages []Message) {
	w.t.Helper()
	for _, m := range messages {
		if w.aborted {
			w.t.Fatalf("message %s after the abort", m.Entry)
		}
		if w.entries[m.Entry] || m.ID != "" && w.ids[m.ID] {
			w.t.Fatalf("identifier %s or %s twice", m.Entry, m.ID)
		}
		w.entries[m.Entry], w.ids[m.ID] = true, true
		if (m.ID == "") != (m.Type == StatusChange) {
			w.t.Fatalf("%s has the identifier %q", m.Type, m.ID)
		}
		if m.Before != w.statuses["Orchestrator"] {
			w.t.Fatalf("%s: status before is %s, but the log says %s", m.Entry, m.Before, w.statuses["Orchestrator"])
		}
		if m.Type == StatusChange {
			if w.statuses[m.Entity] != m.Previous || !m.Previous.CanBecome(m.New) {
				w.t.Fatalf("%s from %s to %s, but it was %s", m.Entity, m.Previous, m.New, w.statuses[m.Entity])
			}
			w.statuses[m.Entity] = m.New
		}
		w.answers(m)
		if w.r.IntN(200) == 0 {
			if _, err := Parse(m.Markdown()); err != nil {
				w.t.Fatalf("%v\n%s", err, m.Markdown())
			}
		}
	}
	want := map[string]Status{"Orchestrator": w.state.Status()}
	for _, c := range w.state.Checks() {
		want[string(c.Check)] = c.Status
	}
	if !maps.Equal(want, w.statuses) {
		w.t.Fatalf("the log says %v, the state %v", w.statuses, want)
	}
	w.aborted = w.state.Outcome() == Aborted
}

// answers checks that what a message refers to precedes it: the fix request of a completion, the
// trigger of a result, and a failure report of the check that a success is about.
func (w *walk) answers(m Message) {
	w.t.Helper()
	prior := map[Type][2]string{FixCompletion: {"FIXDONE", "FIXREQ"}, RevalidationResult: {"REVALRES", "REVAL"}}[m.Type]
	if prior[0] != "" && !w.ids[strings.Replace(m.ID, prior[0], prior[1], 1)] {
		w.t.Fatalf("%s answers nothing", m.ID)
	}
	if m.Type == Success && !slices.ContainsFunc(w.log, func(l Message) bool { return l.Type == FailureReport && l.Check == m.Check }) {
		w.t.Fatalf("%s without a failure", m.ID)
	}
}

// judge asserts that a complete round of results, or a refused fix, has the outcome that the model
// demands, that refused changes do not become the accepted commit, and that there is an escalation
// message if and only if the loop becomes escalated. What a check that failed again says about what
// follows has to agree.
func (w *walk) judge(before State, e Event, messages []Message) {
	w.t.Helper()
	if before.Status() == Escalated && (e.Type == EventDecision || e.Type == EventPush && len(e.Refused) == 0) {
		w.rounds = nil
	}
	if len(e.Refused) > 0 && e.Type != EventStart && w.state.Accepted() != before.Accepted() {
		w.t.Fatalf("%+v makes %q the newest commit that was taken", e, w.state.Accepted())
	}
	for _, r := range e.Results {
		if e.Type != EventResult || r.Status == ResultError {
			continue
		}
		var broken []string
		for _, f := range r.Failures {
			broken = append(broken, f.Message)
		}
		if r.Status == ResultFail && broken == nil {
			broken = []string{"it failed, without a failure"}
		}
		w.broken[r.Check] = broken
	}
	escalation := slices.IndexFunc(messages, func(m Message) bool { return m.Type == Escalation })
	if (escalation >= 0) != (w.state.Status() == Escalated && before.Status() != Escalated) {
		w.t.Fatalf("status %s with messages %v", w.state.Status(), ids(messages))
	}
	for _, m := range messages {
		if m.Type == RevalidationResult && m.Result == Fail && strings.HasPrefix(m.Next, "Escalate: ") != (escalation >= 0) {
			w.t.Fatalf("%s says %q with messages %v", m.ID, m.Next, ids(messages))
		}
	}
	reported := slices.ContainsFunc(messages, func(m Message) bool { return m.Type == StatusChange && m.New == Fail })
	if !reported {
		return
	}
	round := map[string]bool{}
	for c, list := range w.broken {
		if w.statuses[string(c)] == AwaitingFix || w.statuses[string(c)] == Escalated {
			seen := map[string]int{}
			for _, text := range list {
				seen[text]++
				round[fmt.Sprintf("%s %s %d", c, text, seen[text])] = true
			}
		}
	}
	w.rounds = append(w.rounds, round)
	refused := len(e.Refused) > 0 && before.Work().Kind == WorkFix
	if e.Type != EventResult && !refused {
		return // a time-out, or a message that was not delivered
	}
	want := w.verdict(before.doc.Retry && !refused)
	got := Reason("")
	if escalation >= 0 {
		got = messages[escalation].Reason
	}
	if got != want && got != ReasonSpecialist && got != ReasonTimeout {
		w.t.Fatalf("iteration %d of %d, rounds %v: escalated for %q, want %q", w.state.Iteration(), w.state.MaxIterations(), w.rounds, got, want)
	}
}

// verdict returns the reason for which the newest round has to be escalated, "" for none.
func (w *walk) verdict(retry bool) Reason {
	for _, m := range w.log[len(w.log)-min(len(w.log), 60):] {
		if m.Iteration == w.state.Iteration() && m.Type == FailureReport && m.Priority == PriorityCritical {
			return ReasonCritical
		}
	}
	switch n := len(w.rounds); {
	case retry:
		return ReasonRetry
	case w.state.Iteration() == w.state.MaxIterations():
		return ReasonIterations
	case n >= 3 && isSubset(w.rounds[n-3], w.rounds[n-2]) && isSubset(w.rounds[n-2], w.rounds[n-1]):
		return ReasonDeadlock
	}
	return ""
}

// isSubset reports whether everything that failed before still fails.
func isSubset(old, now map[string]bool) bool {
	for k := range old {
		if !now[k] {
			return false
		}
	}
	return true
}
