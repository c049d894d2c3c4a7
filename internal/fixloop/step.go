package fixloop

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/agent-airlock/airlock/internal/text"
)

// Step returns the state after an event, with the messages that it caused, oldest first, and
// the time at which a timer event is due, zero for none. The messages are recorded together
// with the state; their identifiers ensure that each is delivered once.
//
// For an event that is not possible in the state, the error is a *Refused, and the state is
// unchanged. An event from before the last one counts as simultaneous with it.
func Step(s State, e Event, now time.Time) (State, []Message, time.Time, error) {
	t := &turn{document: s.doc, now: now.UTC()}
	if t.now.Before(t.Updated) {
		t.now = t.Updated
	}
	t.Checks = slices.Clone(t.Checks)
	if t.Op != nil {
		copied := *t.Op
		t.Op = &copied
	}
	if err := t.apply(e); err != nil {
		return s, nil, s.Deadline(), err
	}
	t.Updated = t.now
	return State{t.document}, t.messages, t.deadline(), nil
}

// turn is one step under way.
type turn struct {
	document
	now      time.Time
	messages []Message
}

func (t *turn) apply(e Event) error {
	if t.Status.Final() {
		if e.Type == EventDecision && t.Decided != "" {
			return refused(e, CodeConflict, "it was decided before: "+t.Decided)
		}
		return refused(e, CodeFinal, "the loop has ended ("+string(t.Outcome)+"); start another one")
	}
	if t.Status == Pending && !e.fitsPending() {
		return refused(e, CodeUnexpected, "the loop has not started")
	}
	switch e.Type {
	case EventFixStarted, EventFixDone, EventFixFailed, EventNonsense:
		if err := t.awaitsFix(e); err != nil {
			return err
		}
	}
	switch e.Type {
	case EventStart:
		return t.start(e)
	case EventResult:
		return t.result(e)
	case EventFixStarted:
		return t.fixStarted(e)
	case EventFixDone:
		return t.fixed(e)
	case EventFixFailed:
		return t.fixFailed(e)
	case EventNonsense:
		return t.nonsense(e)
	case EventTimer:
		return t.overdue()
	case EventPush:
		return t.push(e)
	case EventDecision:
		return t.decide(e)
	case EventClosed:
		return t.closed(e)
	case EventUndelivered:
		return t.undelivered(e)
	}
	return refused(e, CodeInvalid, fmt.Sprintf("there is no event of type %q", text.Truncate(string(e.Type), 40)))
}

// fitsPending reports whether the event can happen before the loop has started.
func (e Event) fitsPending() bool {
	switch e.Type {
	case EventStart, EventClosed, EventTimer:
		return true
	case EventDecision:
		return e.Decision == DecideAbort
	}
	return false
}

func refused(e Event, code Code, why string) error {
	return &Refused{Code: code, Event: e.Type, Why: why}
}

// emit records a message, completed by its log entry, time, iteration and statuses, and returns its
// index.
func (t *turn) emit(m Message) int {
	t.Entries++
	m.Entry = t.id("LOG", t.iteration(), strconv.Itoa(t.Entries))
	m.Time, m.Issue, m.Iteration, m.Max = t.now.Truncate(time.Second), t.Loop.Issue, t.Iteration, t.Max
	m.Before, m.After = t.Status, t.Status
	t.messages = append(t.messages, m)
	return len(t.messages) - 1
}

// send records a message, calls effect, and gives the message the status after that.
func (t *turn) send(m Message, effect func() error) error {
	i := t.emit(m)
	err := effect()
	t.messages[i].After = t.Status
	return err
}

// move changes the status of one check. The caller updates the loop's.
func (t *turn) move(c *check, to Status, why string) error {
	if c.Status == to {
		return nil
	}
	if !c.Status.CanBecome(to) {
		return fmt.Errorf("fixloop: %s cannot become %s from %s", c.Name, to, c.Status)
	}
	from := c.Status
	c.Status = to
	t.changed(string(c.Name), c.Name, from, to, why)
	return nil
}

// update makes the loop's status the worst of its checks'.
func (t *turn) update(why string) error {
	to := t.worst()
	if to == t.Status {
		return nil
	}
	if !t.Status.CanBecome(to) {
		return fmt.Errorf("fixloop: the loop cannot become %s from %s", to, t.Status)
	}
	from := t.Status
	i := t.changed(loopEntity, "", from, to, why)
	t.Status = to
	t.messages[i].After = to
	return nil
}

// loopEntity is the Entity of a change of the loop's own status.
const loopEntity = "Orchestrator"

// changed records a change of status and returns the index of its message.
func (t *turn) changed(entity string, c Check, from, to Status, why string) int {
	return t.emit(Message{
		Type: StatusChange, From: Orchestrator, To: "all", Check: c, Entity: entity, Previous: from, New: to, Why: why,
		Summary: entity + ": " + string(from) + " → " + string(to),
	})
}

// moveAll changes the status of each check for which isSelected is true, then the loop's.
func (t *turn) moveAll(to Status, why string, isSelected func(*check) bool) error {
	for i := range t.Checks {
		if c := &t.Checks[i]; isSelected(c) {
			if err := t.move(c, to, why); err != nil {
				return err
			}
		}
	}
	return t.update(why)
}

// hasStatus selects the checks with a status.
func hasStatus(s Status) func(*check) bool { return func(c *check) bool { return c.Status == s } }

// stamp returns the time for an identifier. No two of a loop are the same.
func (t *turn) stamp() string {
	at := t.now.Truncate(time.Second)
	if !at.After(t.Stamp) {
		at = t.Stamp.Add(time.Second)
	}
	t.Stamp = at
	return at.Format(stampLayout)
}

// stampLayout is the format of the time in an identifier.
const stampLayout = "20060102T150405Z"

// id joins the parts of an identifier.
func (t *turn) id(kind string, parts ...string) string {
	id := kind + "-" + strconv.Itoa(t.Loop.Issue)
	for _, p := range parts {
		id += "-" + p
	}
	return id
}

func (t *turn) iteration() string { return strconv.Itoa(t.Iteration) }

// begin makes an operation the one that the loop waits for.
func (t *turn) begin(kind WorkKind, checks []Check) {
	t.Ops++
	t.Op = &op{N: t.Ops, Kind: kind, Checks: checks, Attempt: 1, Begun: t.now, Started: t.now}
	t.Notice = nil
}

// end ends the operation. Time spent validating adds up within an iteration.
func (t *turn) end() {
	if t.Op != nil && t.Op.Kind != WorkFix {
		t.Validating += t.now.Sub(t.Op.Begun)
	}
	t.Op = nil
}

func (t *turn) start(e Event) error {
	if t.Status != Pending {
		return refused(e, CodeDuplicate, "the loop has started")
	}
	t.Iteration, t.Started, t.Head, t.Accepted = 1, t.now, e.Head, e.Head
	t.begin(WorkValidate, specialists)
	return t.moveAll(InProgress, "the validation begins", func(c *check) bool { return c.Name != Acceptance })
}

// finish ends the loop. Checks that have not passed become escalated first, because the status
// machine of the spec requires it; people get no message about that.
func (t *turn) finish(o Outcome, why string) error {
	t.end()
	if err := t.moveAll(Escalated, why, func(c *check) bool { return c.Status != Pass && c.Status != Escalated }); err != nil {
		return err
	}
	t.Outcome, t.Ended = o, t.now
	return t.moveAll(Completed, why, func(*check) bool { return true })
}

func (t *turn) closed(e Event) error {
	if e.Merged {
		return t.finish(MergedByPull, "the pull request was merged"+causedBy(e))
	}
	return t.finish(ClosedByPull, "the pull request was closed"+causedBy(e))
}

// causedBy names who caused an event.
func causedBy(e Event) string {
	if e.By == "" {
		return ""
	}
	return " by " + text.Truncate(text.OneLine(e.By), maxName)
}
