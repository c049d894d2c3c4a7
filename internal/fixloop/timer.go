package fixloop

import (
	"fmt"
	"strings"

	"github.com/agent-airlock/airlock/internal/text"
)

// overdue does what is due by now: a reminder, or once its time of grace has passed, an
// escalation. The grace counts from the reminder, however late that was sent.
func (t *turn) overdue() error {
	if t.Op == nil || t.now.Before(t.deadline()) {
		return nil
	}
	if t.Op.Reminded.IsZero() {
		t.remind()
		return nil
	}
	return t.timeOut()
}

// operation names what the loop waits for.
func (t *turn) operation() Operation {
	switch t.Op.Kind {
	case WorkFix:
		return OpFix
	case WorkValidate:
		return OpValidation
	}
	return OpRevalidation
}

func (t *turn) remind() {
	operation, to := t.operation(), Fixer
	if operation != OpFix {
		var list []string
		for _, c := range t.Op.Checks {
			list = append(list, c.Mention())
		}
		to = strings.Join(list, ", ")
	}
	elapsed := t.now.Sub(t.Op.Started)
	t.emit(Message{
		Type: TimeoutReminder, ID: t.id("TIMEOUT", string(operation), t.stamp()), From: Orchestrator, To: to, Priority: PriorityHigh,
		Operation: operation, Elapsed: seconds(elapsed), Limit: seconds(t.limit()), Grace: seconds(t.Loop.Limits.Grace),
		Result: t.Status, Summary: fmt.Sprintf("%s has been running for %s", operation, seconds(elapsed).clock()),
	})
	t.Op.Reminded = t.now
}

// timeOut escalates because an operation takes too long. The escalation has the results of the
// checks that have reported.
func (t *turn) timeOut() error {
	if t.Op.Kind == WorkFix {
		t.noteFix("the fixer did not answer in time")
	}
	late := Check("")
	if len(t.Op.Checks) > 0 {
		late = t.Op.Checks[0]
	}
	return t.escalate(ReasonTimeout, late)
}

// fault records an error notification and returns it.
func (t *turn) fault(m Message) *Message {
	m.ID = t.id("ERR", string(m.Error), t.stamp())
	m.From, m.Priority = Orchestrator, PriorityHigh
	i := t.emit(m)
	recorded := t.messages[i]
	return &recorded
}

// DeliveryAttempts is how often a driver tries to deliver a message before it sends
// EventUndelivered.
const DeliveryAttempts = 3

// undelivered escalates the loop because its driver could not deliver a message.
func (t *turn) undelivered(e Event) error {
	if t.Op == nil {
		return refused(e, CodeUnexpected, "the loop waits for a person already")
	}
	if e.Attempts < DeliveryAttempts {
		return refused(e, CodeInvalid, fmt.Sprintf("a message is tried %d times before it counts as undelivered", DeliveryAttempts))
	}
	id := text.Truncate(text.OneLine(e.Message), maxName)
	why := orElse(text.Truncate(text.OneLine(e.Text), maxMessage), "no reason is known")
	t.fault(Message{
		Type: ErrorNotification, Error: ErrCommunication, To: MainOrchestrator, ErrorText: why, Context: "Delivering " + id,
		Recovery: []string{fmt.Sprintf("Tried %d times", e.Attempts)}, Next: "escalate", Summary: id + " was not delivered: " + why,
	})
	return t.escalate(ReasonUndelivered, "")
}
