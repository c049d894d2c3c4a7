package fixloop

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/agent-airlock/airlock/internal/text"
)

// result records the results of checks. The operation ends when all its checks have one, or when one
// reports a critical vulnerability.
func (t *turn) result(e Event) error {
	if err := t.fits(e); err != nil {
		return err
	}
	var erred []Result
	critical := false
	for _, r := range e.Results {
		if r.Status == ResultError {
			erred = append(erred, r)
			continue
		}
		t.Op.Checks = slices.DeleteFunc(slices.Clone(t.Op.Checks), func(c Check) bool { return c == r.Check })
		t.Op.Results = append(slices.Clip(t.Op.Results), r)
		critical = critical || r.Critical && r.Status == ResultFail
		t.Coverage = t.Coverage || r.Coverage > 0
	}
	if critical { // whatever the other checks find, a person has to decide
		return t.endRound()
	}
	if escalated, err := t.specialistErrors(erred); escalated || err != nil {
		return err
	}
	if len(t.Op.Checks) == 0 {
		return t.endRound()
	}
	return nil
}

// fits refuses results that nobody waits for, and invalid ones.
func (t *turn) fits(e Event) error {
	if e.Op > t.Ops || e.Op < 1 {
		return refused(e, CodeInvalid, fmt.Sprintf("there is no operation %d; name the one that the loop's work gives", e.Op))
	}
	if t.Op == nil || t.Op.N != e.Op {
		return refused(e, CodeLate, fmt.Sprintf("operation %d is over", e.Op))
	}
	if t.Op.Kind == WorkFix {
		return refused(e, CodeLate, fmt.Sprintf("operation %d is a fix, which has no results of checks", e.Op))
	}
	if e.Head != "" && t.Head != "" && e.Head != t.Head {
		return refused(e, CodeLate, fmt.Sprintf("it is about commit %s, but the loop is at %s", text.Truncate(text.OneLine(e.Head), 40), t.Head))
	}
	if len(e.Results) == 0 {
		return refused(e, CodeInvalid, "it has no results")
	}
	seen := make([]Check, 0, len(specialists))
	for _, r := range e.Results {
		switch {
		case !r.Check.known():
			return refused(e, CodeInvalid, fmt.Sprintf("there is no check %q; the checks are %s", text.Truncate(string(r.Check), 40), names(specialists)))
		case slices.Contains(seen, r.Check):
			return refused(e, CodeInvalid, fmt.Sprintf("it has two results of %s", r.Check))
		case slices.ContainsFunc(t.Op.Results, func(had Result) bool { return had.Check == r.Check }):
			return refused(e, CodeDuplicate, fmt.Sprintf("%s has reported before", r.Check))
		case !slices.Contains(t.Op.Checks, r.Check):
			return refused(e, CodeUnexpected, fmt.Sprintf("%s was not asked to run", r.Check))
		case r.Status != ResultPass && r.Status != ResultFail && r.Status != ResultError:
			return refused(e, CodeInvalid, fmt.Sprintf("%s has the status %q; use pass, fail or error", r.Check, text.Truncate(string(r.Status), 40)))
		case r.Status == ResultPass && len(r.Failures) > 0:
			return refused(e, CodeInvalid, fmt.Sprintf("%s passes with failures; use fail", r.Check))
		}
		seen = append(seen, r.Check)
	}
	return nil
}

// specialistErrors reports checks that did not work: one notification for those with the same
// error. Each is tried again; the second time, a person decides.
func (t *turn) specialistErrors(erred []Result) (escalated bool, err error) {
	var faults []Message
	again := Check("")
	for _, r := range erred {
		why, stack := orElse(text.Truncate(text.OneLine(r.Error), maxMessage), "it gave no reason"), excerpt(r.Stack)
		t.checkNamed(r.Check).Error = why
		if slices.Contains(t.Op.Erred, r.Check) {
			again = cmp.Or(again, r.Check)
		}
		i := slices.IndexFunc(faults, func(m Message) bool { return m.ErrorText == why && m.Stack == stack })
		if i < 0 {
			i = len(faults)
			faults = append(faults, Message{ErrorText: why, Stack: stack})
		}
		faults[i].Checks = append(faults[i].Checks, r.Check)
	}
	for _, m := range faults {
		t.specialistError(m, again)
	}
	if again != "" {
		return true, t.escalate(ReasonSpecialist, again)
	}
	if len(erred) > 0 {
		for _, r := range erred {
			t.Op.Erred = append(slices.Clip(t.Op.Erred), r.Check)
		}
		t.Op.Attempt = 2
		t.restart()
	}
	return false, nil
}

// specialistError completes and records the notification m, which contains an error and the checks
// that have it. again is the check whose second error escalates, "" for none.
func (t *turn) specialistError(m Message, again Check) {
	checks := names(m.Checks)
	m.Type, m.Error, m.To, m.Context = ErrorNotification, ErrSpecialistFailure, MainOrchestrator, "Running "+checks
	m.Recovery, m.Recovered, m.Next = []string{"Run " + checks + " once more"}, again == "", "continue"
	m.Summary = checks + " did not work: " + m.ErrorText
	if len(m.Checks) == 1 {
		m.Check, m.Checks = m.Checks[0], nil
	}
	if again != "" {
		m.Next = "escalate"
	}
	t.fault(m)
}

// restart gives the operation its full time again.
func (t *turn) restart() {
	t.Op.Started, t.Op.Reminded = t.now, time.Time{}
}

// report gives the checks the results of the operation, with the messages about them.
func (t *turn) report() error {
	results := t.Op.Results
	t.Op.Results = nil
	for i := range t.Checks {
		c := &t.Checks[i]
		k := slices.IndexFunc(results, func(r Result) bool { return r.Check == c.Name })
		if k < 0 {
			continue
		}
		r := results[k]
		status, why := Pass, "no failures"
		c.Failures, c.Prints, c.Error, c.Critical = nil, nil, "", false
		if r.Status == ResultFail {
			if len(r.Failures) == 0 {
				r.Failures = []Failure{{Message: orElse(r.Summary, string(r.Check)+" failed")}}
			}
			status = Fail
			c.Failures, c.Prints = keptFailures(r.Check, r.Failures)
			c.Critical = r.Critical
			why = text.Count(len(c.Prints), "failure")
		}
		record := t.move
		if t.Op.Kind == WorkRevalidate {
			record = t.revalidated
		}
		if err := record(c, status, why); err != nil {
			return err
		}
	}
	if err := t.update("the results are there"); err != nil {
		return err
	}
	for i := range t.Checks {
		if c := &t.Checks[i]; c.Status == Fail && c.Name != Acceptance {
			c.Reported = true
			t.emit(t.failureReport(c))
		}
	}
	return nil
}

// revalidated records what a check found when it ran again.
func (t *turn) revalidated(c *check, status Status, why string) error {
	return t.send(t.revalidationResult(c, status), func() error {
		return t.moveAll(status, why, func(other *check) bool { return other == c })
	})
}

// orElse returns s, or fallback if s is blank.
func orElse(s, fallback string) string {
	if text.IsBlank(s) {
		return fallback
	}
	return s
}

// endRound decides what follows the results of an operation.
func (t *turn) endRound() error {
	kind, complete := t.Op.Kind, len(t.Op.Checks) == 0
	if err := t.report(); err != nil {
		return err
	}
	failed, critical := t.firstFailed()
	if failed != "" {
		if !complete { // only a critical vulnerability ends a round early
			return t.escalate(ReasonCritical, critical)
		}
		return t.failedRound(failed, critical)
	}
	t.end()
	switch {
	case kind == WorkRevalidate:
		return t.finalPass()
	case kind != WorkAcceptance && t.Loop.Acceptance:
		return t.acceptance()
	}
	return t.succeed()
}

// firstFailed returns the first check that failed, and the first one with a critical vulnerability,
// "" for none.
func (t *turn) firstFailed() (failed, critical Check) {
	for i := range t.Checks {
		if c := &t.Checks[i]; c.Status == Fail {
			failed = cmp.Or(failed, c.Name)
			if c.Critical {
				critical = cmp.Or(critical, c.Name)
			}
		}
	}
	return failed, critical
}

// failedRound requests a fix, or escalates. failed and critical are what firstFailed returns.
func (t *turn) failedRound(failed, critical Check) error {
	// Criteria that failed before were not evaluated again, and count as failed.
	if err := t.moveAll(Fail, "not evaluated again: a check failed before", isUnmetAcceptance); err != nil {
		return err
	}
	t.end()
	t.remember()
	limits := t.Loop.Limits
	switch {
	case critical != "":
		return t.escalate(ReasonCritical, critical)
	case t.Retry:
		return t.escalate(ReasonRetry, failed)
	case t.Iteration >= t.Max:
		return t.escalate(ReasonIterations, failed)
	case t.Stuck >= limits.Stuck:
		return t.escalate(ReasonDeadlock, failed)
	case t.Validating > limits.Round:
		return t.escalate(ReasonTimeout, failed)
	}
	return t.requestFix(hasStatus(Fail))
}

// isUnmetAcceptance selects criteria that were not met and are to be evaluated again.
func isUnmetAcceptance(c *check) bool { return c.Name == Acceptance && c.Status == ReChecking }

// remember adds the iteration to the history. It counts the iterations since the last one that
// resolved anything, including that one.
func (t *turn) remember() {
	var prints []string
	round := Round{Iteration: t.Iteration}
	for i := range t.Checks {
		if c := &t.Checks[i]; c.Status == Fail {
			prints = append(prints, c.Prints...)
			round.Failing = append(round.Failing, CheckCount{c.Name, len(c.Prints)})
		}
	}
	slices.Sort(prints)
	round.Resolved = missing(t.Failing, prints)
	if round.Resolved > 0 {
		t.Stuck = 0
	}
	t.Stuck++
	t.Failing = prints
	t.History = append(slices.Clip(t.History), round)
}

// missing counts the elements of a that are not in b; both are sorted.
func missing(a, b []string) (n int) {
	i := 0
	for _, s := range a {
		for i < len(b) && b[i] < s {
			i++
		}
		if i < len(b) && b[i] == s {
			i++
		} else {
			n++
		}
	}
	return n
}

// revalidate begins the next iteration: the failing checks run again.
func (t *turn) revalidate() error {
	var checks []Check
	for _, c := range t.nextIteration() {
		checks = append(checks, c.Name)
	}
	if len(checks) == 0 { // only criteria failed
		return t.finalPass()
	}
	t.begin(WorkRevalidate, checks)
	return nil
}

// nextIteration begins another iteration, and asks the checks that failed to run again. It returns
// them.
func (t *turn) nextIteration() []*check {
	t.Iteration++
	t.Max = max(t.Max, t.Iteration)
	t.Validating = 0
	var again []*check
	for i := range t.Checks {
		if c := &t.Checks[i]; c.Status == ReChecking && c.Name != Acceptance {
			again = append(again, c)
			t.emit(t.revalidationTrigger(c))
		}
	}
	return again
}

// finalPass runs all checks again: what mended one may have broken another.
func (t *turn) finalPass() error {
	t.begin(WorkFinal, specialists)
	return t.moveAll(ReChecking, "the final pass", func(c *check) bool { return c.Name != Acceptance })
}

// acceptance requests an evaluation of the criteria.
func (t *turn) acceptance() error {
	t.begin(WorkAcceptance, []Check{Acceptance})
	c := t.checkNamed(Acceptance)
	if c.Status == Pending {
		if err := t.move(c, InProgress, "the checks have passed"); err != nil {
			return err
		}
	}
	return t.update("the acceptance criteria are evaluated")
}

// succeed ends the loop with a notification for each check that had failed.
func (t *turn) succeed() error {
	for i := range t.Checks {
		if c := &t.Checks[i]; c.Reported {
			t.emit(t.successNotification(c))
		}
	}
	last := len(t.messages) - 1 // the last notification ends the loop
	if err := t.finish(Succeeded, "everything has passed"); err != nil {
		return err
	}
	if last >= 0 && t.messages[last].Type == Success {
		t.messages[last].After = t.Status
	}
	return nil
}
