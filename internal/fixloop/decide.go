package fixloop

import (
	"fmt"
	"slices"
)

// escalate pauses the loop until a person decides. cause is the check that is the reason; ""
// means the first that has not passed.
func (t *turn) escalate(r Reason, cause Check) error {
	if t.Op != nil && len(t.Op.Results) > 0 {
		if err := t.report(); err != nil {
			return err
		}
	}
	if slices.ContainsFunc(t.Checks, func(c check) bool { return c.Status == Fail }) && (len(t.History) == 0 || t.History[len(t.History)-1].Iteration != t.Iteration) {
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
	return t.send(t.escalation(cause, open), func() error { return t.moveAll(Escalated, why, open) })
}

// decide takes in what a person decided.
func (t *turn) decide(e Event) error {
	if !slices.Contains(Decisions(), e.Decision) {
		return refused(e, CodeInvalid, fmt.Sprintf("there is no decision %.40q; use fixed, extend, skip, abort or retry", string(e.Decision)))
	}
	if t.Status != Escalated {
		switch {
		case e.Decision == DecideAbort:
			t.Decided = "abort" + by(e)
			return t.finish(Aborted, t.Decided)
		case e.Decision == DecideFixed && t.Op != nil && t.Op.Kind == WorkFix:
			if len(e.Fixes) == 0 {
				e.Fixes = []string{"Mended by hand" + by(e)}
			}
			return t.fixed(e)
		case t.Decided != "":
			return refused(e, CodeConflict, "it was decided before: "+t.Decided)
		}
		return refused(e, CodeConflict, fmt.Sprintf("there is nothing to decide: the loop is not escalated, its status is %s", t.Status))
	}
	switch e.Decision {
	case DecideFixed:
		return t.manualFix(e, "fixed"+by(e))
	case DecideExtend:
		return t.extend(e)
	case DecideRetry:
		return t.retry(e)
	case DecideSkip:
		t.Decided = "skip" + by(e)
		return t.finish(KnownIssues, t.Decided)
	}
	t.Decided = "abort" + by(e)
	return t.finish(Aborted, t.Decided)
}

// tooMany is why no further iteration is possible.
var tooMany = fmt.Sprintf("a loop has at most %d iterations; abort it and start another one", maxIterations)

// manualFix checks again what a person has mended.
func (t *turn) manualFix(e Event, decided string) error {
	if t.Iteration == maxIterations {
		return refused(e, CodeInvalid, tooMany)
	}
	t.Decided, t.Stuck, t.Retry = decided, 0, false
	if e.Head != "" {
		t.Head = e.Head
	}
	t.Fixes = bounded(e.Fixes, maxFixes)
	if len(t.Fixes) == 0 {
		t.Fixes = []string{"Mended by hand" + by(e)}
	}
	t.noteFix(t.Fixes[0])
	if err := t.moveAll(ReChecking, decided, in(Escalated)); err != nil {
		return err
	}
	return t.revalidate()
}

// retry checks the unchanged code again, which uses up no iteration.
func (t *turn) retry(e Event) error {
	if t.Max == maxIterations {
		return refused(e, CodeInvalid, tooMany)
	}
	t.Decided, t.Stuck, t.Retry = "retry"+by(e), 0, true
	t.Fixes = []string{"None: the same code is checked again"}
	t.noteFix(t.Decided)
	t.Max++
	if err := t.moveAll(ReChecking, t.Decided, in(Escalated)); err != nil {
		return err
	}
	return t.revalidate()
}

// extend allows more iterations and requests another fix.
func (t *turn) extend(e Event) error {
	n := e.N
	if n == 0 {
		n = t.Loop.Limits.Extend
	}
	if n < 1 || n > maxIterations-t.Max {
		return refused(e, CodeInvalid, fmt.Sprintf("the loop cannot be extended by %d; use a number from 1 to %d", n, maxIterations-t.Max))
	}
	if !slices.ContainsFunc(t.Checks, func(c check) bool { return c.Status == Escalated && len(c.Prints) > 0 }) {
		return refused(e, CodeConflict, "no failure is known that a fixer could mend; use retry once the check works, or skip or abort")
	}
	t.Decided, t.Stuck, t.Retry = fmt.Sprintf("extend by %d", n)+by(e), 0, false
	t.Max += n
	return t.requestFix(in(Escalated))
}

// bounded returns at most n texts, each on one line.
func bounded(list []string, n int) []string {
	var out []string
	for _, s := range list[:min(len(list), n)] {
		if s = person(s); s != "" {
			out = append(out, s)
		}
	}
	return out
}
