package fixloop

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/agent-airlock/airlock/internal/text"
)

// escalate pauses the loop until a person decides. cause is the check that is the reason; ""
// means the first that has not passed, other than a pending acceptance check.
func (t *turn) escalate(r Reason, cause Check) error {
	if t.Op != nil && len(t.Op.Results) > 0 {
		if err := t.report(); err != nil {
			return err
		}
	}
	for i := range t.messages {
		if m := &t.messages[i]; m.Type == RevalidationResult && m.Result == Fail {
			m.Next = "Escalate: " + r.clause()
		}
	}
	failed := slices.ContainsFunc(t.Checks, func(c check) bool { return c.Status == Fail })
	remembered := len(t.History) > 0 && t.History[len(t.History)-1].Iteration == t.Iteration
	if failed && !remembered {
		t.remember()
	}
	t.end()
	open := func(c *check) bool { return c.Status != Pass && (c.Name != Acceptance || c.Status != Pending) }
	for i := range t.Checks {
		if c := &t.Checks[i]; cause == "" && open(c) {
			cause = c.Name
		}
	}
	t.Reason, t.Decided, t.Retry = r, "", false
	why := "escalated: " + string(r)
	i := t.emit(t.escalation(cause, open))
	err := t.moveAll(Escalated, why, open)
	t.messages[i].After, t.messages[i].Actions = t.Status, State{t.document}.actions() // those that the new status allows
	return err
}

// Decisions returns the decisions that Step accepts in this state, in the order of the function
// Decisions. Messages, pages and commands offer exactly these.
func (s State) Decisions() []Decision {
	var out []Decision
	for _, d := range Decisions() {
		if _, _, _, err := Step(s, Event{Type: EventDecision, Decision: d}, s.doc.Updated); err == nil {
			out = append(out, d)
		}
	}
	return out
}

// Extension returns the number of iterations that the decision extend adds if it names no number:
// that of the loop's limits, or fewer where the loop would otherwise have more than maxIterations.
func (s State) Extension() int { return s.doc.extension() }

func (d *document) extension() int { return min(d.Loop.Limits.Extend, maxIterations-d.Max) }

// actions describes the decisions that can be made now, for an escalation.
func (s State) actions() []string {
	var out []string
	for _, d := range s.Decisions() {
		word, does := string(d), ""
		switch d {
		case DecideFixed:
			does = "mend the code by hand and push it; the checks run again"
		case DecideExtend:
			word += " " + strconv.Itoa(s.Extension())
			does = "allow " + text.Count(s.Extension(), "more iteration")
		case DecideSkip:
			does = "end the loop with known issues; in a workflow, an issue about them is opened"
		case DecideAbort:
			does = "end the loop"
		case DecideRetry:
			does = "check the unchanged code again"
		}
		out = append(out, word+": "+does)
	}
	return out
}

// decide applies a person's decision.
func (t *turn) decide(e Event) error {
	if !slices.Contains(Decisions(), e.Decision) {
		return refused(e, CodeInvalid, fmt.Sprintf("there is no decision %.40q; use fixed, extend, skip, abort or retry", string(e.Decision)))
	}
	if e.Decision == DecideAbort {
		t.Decided = "abort" + causedBy(e)
		return t.finish(Aborted, t.Decided)
	}
	if t.Status != Escalated {
		switch {
		case e.Decision == DecideFixed && t.Op != nil && t.Op.Kind == WorkFix:
			if len(e.Fixes) == 0 {
				e.Fixes = []string{"Mended by hand" + causedBy(e)}
			}
			t.Accepted = t.Head
			return t.fixed(e)
		case t.Decided != "":
			return refused(e, CodeConflict, "it was decided before: "+t.Decided)
		}
		return refused(e, CodeConflict, fmt.Sprintf("there is nothing to decide: the loop is not escalated, its status is %s", t.Status))
	}
	switch e.Decision {
	case DecideFixed:
		return t.manualFix(e, "fixed"+causedBy(e))
	case DecideExtend:
		return t.extend(e)
	case DecideRetry:
		return t.retry(e)
	}
	t.Decided = "skip" + causedBy(e)
	return t.finish(KnownIssues, t.Decided)
}

// tooMany is why a loop with maxIterations has no further one.
var tooMany = fmt.Sprintf("a loop has at most %d iterations; abort it and start another one", maxIterations)

// manualFix requests another run of the checks after a person has fixed the code.
func (t *turn) manualFix(e Event, decided string) error {
	if t.Iteration == maxIterations {
		return refused(e, CodeInvalid, tooMany)
	}
	t.Decided, t.Stuck, t.Retry = decided, 0, false
	t.newHead(e)
	t.Accepted, t.Refused = t.Head, nil // a person is responsible for all commits up to this one
	t.Fixes = bounded(e.Fixes, maxFixes)
	if len(t.Fixes) == 0 {
		t.Fixes = []string{"Mended by hand" + causedBy(e)}
	}
	t.noteFix(t.Fixes[0])
	if err := t.moveAll(ReChecking, decided, hasStatus(Escalated)); err != nil {
		return err
	}
	return t.revalidate()
}

// retry requests another run of the checks on the unchanged code. The limit grows by the iteration
// that this takes.
func (t *turn) retry(e Event) error {
	if t.Max == maxIterations {
		return refused(e, CodeInvalid, tooMany)
	}
	t.Decided, t.Stuck, t.Retry = "retry"+causedBy(e), 0, true
	t.Accepted, t.Refused = t.Head, nil
	t.Fixes = []string{"None: the same code is checked again"}
	t.noteFix(t.Decided)
	t.Max++
	if err := t.moveAll(ReChecking, t.Decided, hasStatus(Escalated)); err != nil {
		return err
	}
	return t.revalidate()
}

// extend allows more iterations and requests another fix.
func (t *turn) extend(e Event) error {
	if t.Max == maxIterations {
		return refused(e, CodeInvalid, tooMany)
	}
	n := e.N
	if n == 0 {
		n = t.extension()
	}
	if n < 1 || n > maxIterations-t.Max {
		return refused(e, CodeInvalid, fmt.Sprintf("the loop cannot be extended by %d; use a number from 1 to %d", n, maxIterations-t.Max))
	}
	if !slices.ContainsFunc(t.Checks, func(c check) bool { return c.Status == Escalated && len(c.Prints) > 0 }) {
		return refused(e, CodeConflict, "no failure is known that a fixer could mend; use retry once the check works, or skip or abort")
	}
	t.Decided, t.Stuck, t.Retry = fmt.Sprintf("extend by %d", n)+causedBy(e), 0, false
	t.Max += n
	return t.requestFix(hasStatus(Escalated))
}

// bounded returns those of the first n texts that are not blank, each on one line and truncated.
func bounded(list []string, n int) []string {
	var out []string
	for _, s := range list[:min(len(list), n)] {
		if s = text.Truncate(text.OneLine(s), maxName); s != "" {
			out = append(out, s)
		}
	}
	return out
}
