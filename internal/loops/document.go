package loops

import (
	"slices"
	"time"

	"github.com/agent-airlock/airlock/internal/fixloop"
)

// Document is what programs read about a loop; docs/loop.md describes it.
type Document struct {
	Version    int              `json:"version"`
	Loop       string           `json:"loop"`
	Repository string           `json:"repository"`
	Issue      int              `json:"issue"`
	Ordinal    int              `json:"ordinal"`
	Status     fixloop.Status   `json:"status"`
	Outcome    fixloop.Outcome  `json:"outcome,omitempty"`
	Reason     fixloop.Reason   `json:"escalation_reason,omitempty"`
	Iteration  int              `json:"iteration"`
	Max        int              `json:"max_iterations"`
	WaitsFor   fixloop.WorkKind `json:"waits_for"`
	// Decisions are those that can be made now. Extension is the number of iterations that the
	// decision extend adds if it names none.
	Decisions []fixloop.Decision `json:"decisions"`
	Extension int                `json:"extension,omitempty"`
	Deadline  *time.Time         `json:"deadline,omitempty"`
	Driven    bool               `json:"driven"` // a process drives the loop
	Head      string             `json:"head_sha,omitempty"`
	Checks    []CheckSection     `json:"checks"`
}

// CheckSection is one of the six checks of a loop.
type CheckSection struct {
	Check    fixloop.Check     `json:"check"`
	Status   fixloop.Status    `json:"status"`
	Count    int               `json:"failing_count"`
	Failures []fixloop.Failure `json:"failures"`
	Error    string            `json:"error,omitempty"`
}

// Document returns what programs read about the loop.
func (l Status) Document() Document {
	s := l.State
	d := Document{
		Version: 1, Loop: l.ID, Repository: s.Loop().Repository, Issue: s.Loop().Issue, Ordinal: s.Loop().Ordinal,
		Status: s.Status(), Outcome: s.Outcome(), Reason: s.Reason(), Iteration: s.Iteration(), Max: s.MaxIterations(),
		WaitsFor: s.Work().Kind, Decisions: append([]fixloop.Decision{}, s.Decisions()...), // never null in JSON
		Driven: l.Driven, Head: s.Head(), Checks: []CheckSection{},
	}
	if slices.Contains(d.Decisions, fixloop.DecideExtend) {
		d.Extension = s.Extension()
	}
	if due := s.Deadline(); !due.IsZero() {
		d.Deadline = &due
	}
	for _, c := range s.Checks() {
		d.Checks = append(d.Checks, CheckSection{c.Check, c.Status, c.Count, append([]fixloop.Failure{}, c.Failures...), c.Error})
	}
	return d
}
