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

// Mermaid returns the log as a sequence diagram, which GitHub draws in a fence marked
// "mermaid". It contains no text of a stranger.
func (l Log) Mermaid() string {
	var arrows []Message
	for _, m := range l.Messages {
		if m.Counts() {
			arrows = append(arrows, m)
		}
	}
	left := max(len(arrows)-maxArrows, 0)
	arrows = arrows[left:]

	var b strings.Builder
	b.WriteString("sequenceDiagram\n")
	b.WriteString("    participant orchestrator as Orchestrator\n    participant fixer as Fixer\n")
	for _, c := range append(slices.Clip(specialists), Acceptance) {
		if slices.ContainsFunc(arrows, func(m Message) bool { return m.From == c.Mention() || l.recipient(m) == lifeline(c) }) {
			fmt.Fprintf(&b, "    participant %s as %s\n", lifeline(c), c.title())
		}
	}
	if slices.ContainsFunc(arrows, func(m Message) bool { return l.recipient(m) == person1 }) {
		fmt.Fprintf(&b, "    actor %s as Person\n", person1)
	}
	if left > 0 {
		fmt.Fprintf(&b, "    Note over orchestrator: %s left out\n", text.Count(left, "earlier message"))
	}
	iteration := 0
	for _, m := range arrows {
		if m.Iteration != iteration {
			iteration = m.Iteration
			fmt.Fprintf(&b, "    Note over orchestrator,fixer: iteration %d of %d\n", m.Iteration, m.Max)
		}
		arrow := "->>"
		switch m.Type {
		case ErrorNotification, TimeoutReminder:
			arrow = "--)"
		case RevalidationResult, FixCompletion:
			arrow = "-->>"
		}
		label := m.ID
		switch n := len(m.Failures) + m.Omitted; {
		case m.Type == RevalidationResult:
			label += ": " + string(m.Result)
		case m.Type == Escalation:
			label += ": " + string(m.Reason)
		case m.Type == FailureReport || m.Type == FixRequest:
			label += ": " + text.Count(n, "failure")
		}
		fmt.Fprintf(&b, "    %s%s%s: %s\n", l.sender(m), arrow, l.recipient(m), label)
	}
	if l.Outcome != Running || l.Status == Escalated {
		fmt.Fprintf(&b, "    Note over orchestrator: %s\n", l.outcome())
	}
	return b.String()
}

// person1 is the lifeline of whoever decides.
const person1 = "person"

// lifeline names a check in a diagram, where a dash would be an arrow.
func lifeline(c Check) string { return strings.ReplaceAll(string(c), "-", "_") }

func (l Log) sender(m Message) string {
	switch {
	case m.From == Fixer:
		return "fixer"
	case m.Type == RevalidationResult:
		return lifeline(m.Check)
	}
	return "orchestrator"
}

func (l Log) recipient(m Message) string {
	switch {
	case m.To == Fixer:
		return "fixer"
	case m.To == User || m.To == MainOrchestrator:
		return person1
	case m.Type == RevalidationTrigger:
		return lifeline(m.Check)
	}
	return "orchestrator"
}
