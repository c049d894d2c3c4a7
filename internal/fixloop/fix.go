package fixloop

import (
	"fmt"
	"slices"

	"github.com/agent-airlock/airlock/internal/text"
)

// Limits of what is kept of a fix completion.
const (
	maxFixes = 20
	maxFiles = 100
)

// requestFix waits for a fix of the selected checks. It sends the fixer a request, unless it did so
// before in this iteration.
func (t *turn) requestFix(which func(*check) bool) error {
	move := func() error { return t.moveAll(AwaitingFix, "a fix is requested", which) }
	if requested := t.Request != nil && t.Request.Iteration == t.Iteration; requested {
		if err := move(); err != nil {
			return err
		}
	} else {
		i := len(t.messages)
		if err := t.send(t.fixRequest(), move); err != nil {
			return err
		}
		request := t.messages[i]
		t.Request = &request
	}
	t.begin(WorkFix, nil)
	return nil
}

// awaitsFix refuses a fixer's event that does not answer the current fix request. An event of a later
// iteration than that of the last request answers a request that was never made, and is invalid. In
// an escalated loop it is late if it is of the loop's iteration, which may have had no request.
func (t *turn) awaitsFix(e Event) error {
	isEscalated := t.Op == nil
	switch {
	case t.Request == nil, e.Iteration < 1, e.Iteration > t.Iteration, e.Iteration > t.Request.Iteration && !isEscalated:
		return refused(e, CodeInvalid, fmt.Sprintf("there is no fix request of iteration %d", e.Iteration))
	case isEscalated && e.Iteration == t.Iteration:
		return refused(e, CodeLate, "the loop is escalated and waits for a person; push the fix, or decide fixed")
	case e.Iteration < t.Request.Iteration, isEscalated, t.Op.Kind != WorkFix:
		return refused(e, CodeLate, fmt.Sprintf("the loop does not wait for a fix of iteration %d", e.Iteration))
	}
	return nil
}

func (t *turn) fixStarted(e Event) error {
	if t.Op.Acked == t.Op.Attempt {
		return refused(e, CodeDuplicate, "the fixer has started")
	}
	if err := t.overdue(); err != nil || t.Op == nil { // it may come too late
		return err
	}
	t.Op.Acked = t.Op.Attempt
	if t.Op.Attempt > 1 {
		t.restart()
	}
	return t.moveAll(Fixing, "the fixer has started", hasStatus(AwaitingFix))
}

// fixed records that the fixer, or a person instead of it, claims to be done, and requests another
// run of the checks, unless the changes are refused.
func (t *turn) fixed(e Event) error {
	if err := t.moveAll(Fixing, "the fixer answers", hasStatus(AwaitingFix)); err != nil {
		return err
	}
	t.Refused = reasons(e.Refused)
	m := t.fixCompletion(e)
	t.Fixes = m.Fixes
	t.noteFix(m.Summary)
	t.end()
	t.newHead(e)
	if err := t.send(m, func() error { return t.moveAll(ReChecking, "the fix is there", hasStatus(Fixing)) }); err != nil {
		return err
	}
	if len(t.Refused) > 0 {
		return t.unchanged()
	}
	return t.revalidate()
}

// newHead records the new head commit. A commit whose changes are refused does not count as
// accepted.
func (t *turn) newHead(e Event) {
	if e.Head == "" {
		return
	}
	t.Head = e.Head
	if len(e.Refused) == 0 {
		t.Accepted = e.Head
	}
}

// reasons returns the reasons why changes are not taken, within the limits of a message.
func reasons(list []string) []string {
	var out []string
	for _, s := range list {
		out = append(out, orElse(text.Truncate(text.OneLine(s), maxMessage), "no reason is known"))
	}
	if more := len(out) - maxFixes; more > 0 {
		out = append(out[:maxFixes], text.Count(more, "more reason"))
	}
	return out
}

// unchanged records an iteration whose fix was refused. The checks that failed do not run: they fail
// with the same failures.
func (t *turn) unchanged() error {
	const why = "the fix was refused"
	again := t.nextIteration()
	for _, c := range again {
		if err := t.revalidated(c, Fail, why); err != nil {
			return err
		}
	}
	if err := t.moveAll(Fail, why, isUnmetAcceptance); err != nil {
		return err
	}
	for _, c := range again {
		t.emit(t.failureReport(c))
	}
	return t.failedRound(t.firstFailed())
}

// noteFix adds the fix to the newest entry of the history.
func (t *turn) noteFix(fix string) {
	if len(t.History) == 0 {
		return
	}
	t.History = slices.Clone(t.History)
	t.History[len(t.History)-1].Fix = text.Truncate(fix, maxName)
}

// fixFailed records that the fixer crashed or gave up. The first time it is reminded and may start
// again; the second time, a person decides.
func (t *turn) fixFailed(e Event) error {
	why := orElse(text.Truncate(text.OneLine(e.Text), maxMessage), "it gave no reason")
	summary := "the fixer failed: " + why
	t.noteFix(summary)
	again, err := t.fixerError(e, ReasonFixer, Message{
		Error: ErrUnresponsive, ErrorText: why, Context: "Fixing for " + t.Request.ID,
		Recovery: []string{"Send a reminder", "Let the fixer start once more"}, Summary: summary,
	})
	if again {
		t.remind()
	}
	return err
}

// fixerError completes and records the notification m about an error of the fixer, and reports
// whether the fixer is asked again. The fixer's second error escalates the loop for the reason.
func (t *turn) fixerError(e Event, reason Reason, m Message) (again bool, err error) {
	m.Type, m.To = ErrorNotification, Fixer
	if stack := excerpt(e.Text); stack != m.ErrorText {
		m.Stack = stack
	}
	if t.Op.Attempt > 1 {
		m.Next = "escalate"
		t.fault(m)
		return false, t.escalate(reason, "")
	}
	m.Next, m.Recovered = "continue", true
	t.Notice = t.fault(m)
	t.Op.Attempt++
	return true, nil
}

// nonsense records an answer of the wrong form. The first time it asks the fixer again; the second
// time, a person decides.
func (t *turn) nonsense(e Event) error {
	why := orElse(text.Truncate(text.OneLine(e.Text), maxMessage), "the answer is empty")
	summary := "the fixer's answer does not have the form of a fix completion signal: " + why
	t.noteFix(summary)
	again, err := t.fixerError(e, ReasonInvalidResponse, Message{
		Error: ErrInvalidResponse, ErrorText: why,
		Context:  "Reading the answer to " + t.Request.ID,
		Recovery: []string{"Ask for a fix completion signal, " + t.id("FIXDONE", t.iteration()) + ", once more"},
		Summary:  summary,
	})
	if again {
		t.restart()
	}
	return err
}

// push handles a new commit. It is the fix that was requested, or a manual fix after an escalation;
// otherwise it replaces the commit that is being validated. If nobody asked for the commit and its
// changes are refused, a person decides.
func (t *turn) push(e Event) error {
	if e.Head == "" {
		return refused(e, CodeInvalid, "it names no commit")
	}
	if e.Head == t.Head {
		return refused(e, CodeDuplicate, "the loop is at this commit already")
	}
	if len(e.Fixes) == 0 {
		e.Fixes = []string{"Pushed commit " + text.Truncate(text.OneLine(e.Head), 40) + causedBy(e)}
	}
	if len(e.Refused) > 0 && (t.Op == nil || t.Op.Kind != WorkFix) {
		return t.refusedPush(e)
	}
	switch {
	case t.Status == Escalated:
		return t.manualFix(e, "a push"+causedBy(e))
	case t.Op.Kind == WorkFix:
		return t.fixed(e)
	}
	t.newHead(e)
	kind, checks := t.Op.Kind, slices.Clone(t.Op.Checks)
	for _, r := range t.Op.Results { // they are about another commit
		checks = append(checks, r.Check)
	}
	t.end()
	if kind == WorkAcceptance { // the checks have not seen this commit
		return t.finalPass()
	}
	t.begin(kind, inOrder(checks))
	return nil
}

// refusedPush handles a commit that nobody asked for and whose changes are refused. The results of
// its checks do not count: a person decides.
func (t *turn) refusedPush(e Event) error {
	t.newHead(e)
	t.Refused = reasons(e.Refused)
	t.fault(Message{
		Type: ErrorNotification, Error: ErrInvalidResponse, To: Fixer, ErrorText: t.Refused[0], Context: "Taking the pushed commit " + text.Truncate(text.OneLine(e.Head), 40) + causedBy(e),
		Recovery: []string{"Leave the changes that are refused out, and push again"}, Next: "escalate", Summary: "a push was refused: " + t.Refused[0],
	})
	if t.Status == Escalated {
		return nil
	}
	return t.escalate(ReasonRefused, "")
}

// inOrder returns checks in the order of allChecks.
func inOrder(checks []Check) []Check {
	return slices.DeleteFunc(allChecks(), func(c Check) bool { return !slices.Contains(checks, c) })
}
