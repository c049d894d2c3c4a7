package fixloop

import (
	"slices"
	"time"
)

// WorkKind is what somebody has to do next.
type WorkKind string

// The kinds of work.
const (
	WorkStart      WorkKind = "start"      // send EventStart
	WorkValidate   WorkKind = "validate"   // run Checks for the first time
	WorkRevalidate WorkKind = "revalidate" // run Checks, which failed, again
	WorkFinal      WorkKind = "final"      // run Checks, all of them, again
	WorkAcceptance WorkKind = "acceptance" // evaluate the acceptance criteria
	WorkFix        WorkKind = "fix"        // give the fixer the fix request
	WorkDecide     WorkKind = "decide"     // a person decides
	WorkNone       WorkKind = "none"       // the loop has ended
)

// isOperation reports whether the work has a time limit.
func (k WorkKind) isOperation() bool {
	switch k {
	case WorkValidate, WorkRevalidate, WorkFinal, WorkAcceptance, WorkFix:
		return true
	}
	return false
}

// Work is what the loop waits for. A driver that finds a loop, for example after a crash, can do its
// work again: only the first answer counts.
type Work struct {
	Kind WorkKind
	// Op is the number that a result has to name.
	Op int
	// Attempt counts from 1. It grows when a check, or the fixer, is to try again.
	Attempt int
	Checks  []Check
	// Iteration is the one that a fixer's events have to name.
	Iteration int
	Head      string
	Since     time.Time
	// Request is the fix request; Notice is what was wrong with the fixer's last answer, nil
	// if nothing was.
	Request, Notice *Message
}

// Work returns what the loop waits for.
func (s State) Work() Work {
	d := &s.doc
	w := Work{Iteration: d.Iteration, Head: d.Head}
	switch {
	case d.Op != nil:
		w.Kind, w.Op, w.Attempt, w.Checks, w.Since = d.Op.Kind, d.Op.N, d.Op.Attempt, slices.Clone(d.Op.Checks), d.Op.Started
		if w.Kind == WorkFix {
			w.Request, w.Notice = d.Request, d.Notice
		}
	case d.Status == Pending:
		w.Kind = WorkStart
	case d.Status == Escalated:
		w.Kind = WorkDecide
	default:
		w.Kind = WorkNone
	}
	return w
}
