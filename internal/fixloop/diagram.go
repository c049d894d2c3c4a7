package fixloop

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agent-airlock/airlock/internal/text"
)

// maxArrows is how many messages a diagram shows, the newest ones: GitHub refuses to draw
// long ones.
const maxArrows = 200

// Diagram is a log as a sequence diagram: who takes part, and what passes between them.
type Diagram struct {
	Lifelines []Lifeline
	// Omitted is how many messages came before the first arrow.
	Omitted int
	Arrows  []Arrow
	// Ending is how the loop ended, or that it waits for a decision; "" while it runs.
	Ending string
}

// Lifeline is one participant of a Diagram.
type Lifeline struct {
	ID, Title string
	// Person is set for the person who decides.
	Person bool
}

// Arrow is one message of a Diagram, between the lifelines with the IDs From and To.
type Arrow struct {
	Message  Message
	From, To string
	Style    ArrowStyle
	// Detail is the message in a few words, such as "2 failures"; it may be "".
	Detail string
}

// ArrowStyle is how a message is drawn.
type ArrowStyle int

// A request asks for something, an answer answers a request, and a notice asks for nothing.
const (
	ArrowRequest ArrowStyle = iota
	ArrowAnswer
	ArrowNotice
)

// Title returns the message's type as the log spells it, with its result.
func (a Arrow) Title() string { return a.Message.kind() }

// Diagram returns the log as a sequence diagram of its newest 200 messages that are not changes of
// status.
func (l Log) Diagram() Diagram {
	var counted []Message
	for _, m := range l.Messages {
		if m.Counts() {
			counted = append(counted, m)
		}
	}
	d := Diagram{Omitted: max(len(counted)-maxArrows, 0)}
	counted = counted[d.Omitted:]

	d.Lifelines = []Lifeline{{ID: orchestratorLine, Title: "Orchestrator"}, {ID: fixerLine, Title: "Fixer"}}
	for _, c := range allChecks() {
		if slices.ContainsFunc(counted, func(m Message) bool { return m.From == c.Mention() || m.recipient() == lifeline(c) }) {
			d.Lifelines = append(d.Lifelines, Lifeline{ID: lifeline(c), Title: c.title()})
		}
	}
	if slices.ContainsFunc(counted, func(m Message) bool { return m.recipient() == personLine }) {
		d.Lifelines = append(d.Lifelines, Lifeline{ID: personLine, Title: "Person", Person: true})
	}
	for _, m := range counted {
		a := Arrow{Message: m, From: m.sender(), To: m.recipient()}
		switch m.Type {
		case ErrorNotification, TimeoutReminder:
			a.Style = ArrowNotice
		case RevalidationResult, FixCompletion:
			a.Style = ArrowAnswer
		}
		switch m.Type {
		case RevalidationResult:
			a.Detail = string(m.Result)
		case Escalation:
			a.Detail = string(m.Reason)
		case FailureReport, FixRequest:
			a.Detail = text.Count(len(m.Failures)+m.Omitted, "failure")
		}
		d.Arrows = append(d.Arrows, a)
	}
	if l.Outcome != Running || l.Status == Escalated {
		d.Ending = l.outcome()
	}
	return d
}

// Mermaid returns the log as a sequence diagram, which GitHub draws in a fence marked
// "mermaid". It contains no text of a stranger.
func (l Log) Mermaid() string {
	d := l.Diagram()
	var b strings.Builder
	b.WriteString("sequenceDiagram\n")
	for _, p := range d.Lifelines {
		word := "participant"
		if p.Person {
			word = "actor"
		}
		fmt.Fprintf(&b, "    %s %s as %s\n", word, p.ID, p.Title)
	}
	if d.Omitted > 0 {
		fmt.Fprintf(&b, "    Note over orchestrator: %s left out\n", text.Count(d.Omitted, "earlier message"))
	}
	iteration := 0
	for _, a := range d.Arrows {
		m := a.Message
		if m.Iteration != iteration {
			iteration = m.Iteration
			fmt.Fprintf(&b, "    Note over orchestrator,fixer: iteration %d of %d\n", m.Iteration, m.Max)
		}
		label := m.ID
		if a.Detail != "" {
			label += ": " + a.Detail
		}
		fmt.Fprintf(&b, "    %s%s%s: %s\n", a.From, []string{"->>", "-->>", "--)"}[a.Style], a.To, label)
	}
	if d.Ending != "" {
		fmt.Fprintf(&b, "    Note over orchestrator: %s\n", d.Ending)
	}
	return b.String()
}

// The lifelines of those who are not checks. Every diagram has the first two.
const (
	orchestratorLine = "orchestrator"
	fixerLine        = "fixer"
	personLine       = "person" // whoever decides
)

// lifeline names a check in a diagram, where a dash would be an arrow.
func lifeline(c Check) string { return strings.ReplaceAll(string(c), "-", "_") }

// sender returns the lifeline that a message comes from.
func (m Message) sender() string {
	switch {
	case m.From == Fixer:
		return fixerLine
	case m.Type == RevalidationResult:
		return lifeline(m.Check)
	}
	return orchestratorLine
}

// recipient returns the lifeline that a message goes to.
func (m Message) recipient() string {
	switch {
	case m.To == Fixer:
		return fixerLine
	case m.To == User || m.To == MainOrchestrator:
		return personLine
	case m.Type == RevalidationTrigger:
		return lifeline(m.Check)
	}
	return orchestratorLine
}
