package fixloop

import (
	"fmt"
	"slices"

	"github.com/agent-airlock/airlock/internal/text"
)

// failureReport returns the message to the fixer about what one check found.
func (t *turn) failureReport(c *check) Message {
	priority := PriorityHigh
	if c.Critical {
		priority = PriorityCritical
	}
	return Message{
		Type: FailureReport, ID: t.id("VFR", string(c.Name), t.iteration()), From: Orchestrator, To: Fixer, Priority: priority, Check: c.Name,
		Failures: c.Failures, Omitted: len(c.Prints) - len(c.Failures), Suggestions: suggestions(c.Failures, c.Name),
		Actions: []string{"Wait for the fix request of this iteration, and mend what it lists."},
		Summary: string(c.Name) + ": " + text.Count(len(c.Prints), "failure"),
	}
}

// suggestions returns the advice for each check, and what a replacement is if a failure has one.
func suggestions(failures []Failure, checks ...Check) []string {
	var out []string
	for _, c := range checks {
		out = append(out, string(c)+": "+wording[c].advice)
	}
	if slices.ContainsFunc(failures, func(f Failure) bool { return f.Suggestion != "" }) {
		out = append(out, "A block marked \"replacement\" below a failure is the text that should replace its lines.")
	}
	return out
}

// fixRequest asks for a fix of everything that fails in this iteration.
func (t *turn) fixRequest() Message {
	m := Message{Type: FixRequest, ID: t.id("FIXREQ", t.iteration()), From: Orchestrator, To: Fixer, Priority: PriorityHigh}
	total := 0
	for i := range t.Checks {
		c := &t.Checks[i]
		if len(c.Prints) == 0 {
			continue
		}
		if c.Critical {
			m.Priority = PriorityCritical
		}
		m.Checks = append(m.Checks, c.Name)
		m.Failures = append(m.Failures, c.Failures...)
		total += len(c.Prints)
	}
	m.Omitted = total - len(m.Failures)
	for _, why := range t.Refused {
		m.Suggestions = append(m.Suggestions, "Your last change was refused: "+why)
	}
	m.Suggestions = append(m.Suggestions, suggestions(m.Failures, m.Checks...)...)
	m.Expected = []string{"After fixes: all checks pass"}
	if t.Coverage {
		m.Expected = []string{"After fixes: All tests pass, coverage ≥80%"}
	}
	m.Summary = fmt.Sprintf("fix %s of %s", text.Count(total, "failure"), names(m.Checks))
	return m
}

// fixCompletion returns the fixer's message that it is done, or that its fix was refused.
func (t *turn) fixCompletion(e Event) Message {
	m := Message{
		Type: FixCompletion, ID: t.id("FIXDONE", t.iteration()), From: Fixer, To: Orchestrator, Priority: PriorityHigh,
		Fixes: bounded(e.Fixes, maxFixes), Files: bounded(e.Files, maxFiles), Checks: t.Request.Checks,
	}
	switch {
	case len(t.Refused) > 0:
		m.Files, m.Fixes = nil, nil
		for _, why := range t.Refused {
			m.Fixes = append(m.Fixes, "The fix was refused: "+why)
		}
		m.Summary = "the fix was refused: " + t.Refused[0]
	case len(m.Fixes) > 0:
		m.Summary = m.Fixes[0]
	case len(m.Files) > 0:
		m.Summary = "changed " + text.Count(len(bounded(e.Files, len(e.Files))), "file")
	default:
		m.Summary = "done; it is not known what was changed"
	}
	return m
}

// revalidationTrigger asks a check to run again.
func (t *turn) revalidationTrigger(c *check) Message {
	m := Message{
		Type: RevalidationTrigger, ID: t.id("REVAL", string(c.Name), t.iteration()), From: Orchestrator, To: c.Name.Mention(), Priority: PriorityHigh,
		Check: c.Name, Failures: c.Failures, Omitted: len(c.Prints) - len(c.Failures), Fixes: t.Fixes, Summary: "run " + string(c.Name) + " again",
	}
	if len(c.Prints) == 0 {
		m.Why = orElse(c.Error, "it had not reported")
	}
	return m
}

// revalidationResult returns what a check found when it ran again. c has the new failures. If the
// step escalates the loop, escalate replaces what follows a failure.
func (t *turn) revalidationResult(c *check, result Status) Message {
	m := Message{
		Type: RevalidationResult, ID: t.id("REVALRES", string(c.Name), t.iteration()), From: c.Name.Mention(), To: Orchestrator, Priority: PriorityHigh,
		Check: c.Name, Result: result, Failures: c.Failures, Omitted: len(c.Prints) - len(c.Failures), Summary: string(c.Name) + ": " + string(result),
	}
	m.Next = "Proceed to next phase"
	if result == Fail {
		m.Next = fmt.Sprintf("Continue recursive loop (iteration %d/%d)", t.Iteration+1, t.Max)
		m.Summary += ", " + text.Count(len(c.Prints), "failure")
	}
	return m
}

// successNotification returns the message that a check has passed for good, after it had failed.
func (t *turn) successNotification(c *check) Message {
	return Message{
		Type: Success, ID: t.id("SUCCESS", string(c.Name), t.iteration()), From: Orchestrator, To: Fixer, Priority: PriorityMedium, Check: c.Name,
		Elapsed: seconds(t.now.Sub(t.Started)), Next: "completion",
		Summary: fmt.Sprintf("%s passed after %s", c.Name, text.Count(t.Iteration, "iteration")),
	}
}

// escalation asks for a decision of the main orchestrator if a check does not work or a message was
// not delivered, otherwise of a person. cause is the check that is the reason, and open selects the
// checks that have not passed.
func (t *turn) escalation(cause Check, open func(*check) bool) Message {
	m := Message{
		Type: Escalation, ID: t.id("ESC", string(cause), t.stamp()), From: Orchestrator, To: User, Priority: PriorityCritical, Check: cause,
		Reason: t.Reason, Elapsed: seconds(t.now.Sub(t.Started)), History: t.History,
	}
	if t.Reason == ReasonSpecialist || t.Reason == ReasonUndelivered {
		m.To = MainOrchestrator
	}
	total := 0
	for i := range t.Checks {
		c := &t.Checks[i]
		if !open(c) {
			continue
		}
		m.Failures = append(m.Failures, c.Failures...)
		total += len(c.Prints)
		if c.Error != "" {
			m.Failures = append(m.Failures, Failure{Check: c.Name, Message: "did not work: " + c.Error})
			total++
		}
	}
	m.Omitted = total - len(m.Failures)
	m.Summary = fmt.Sprintf("%s after %s: a person has to decide", t.Reason, text.Count(t.Iteration, "iteration"))
	return m
}
