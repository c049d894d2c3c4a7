package fixloop

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/agent-airlock/airlock/internal/text"
)

// Version is the version of a state's JSON. A state of a newer version is not read.
const Version = 1

// Loop identifies a loop.
type Loop struct {
	Repository string `json:"repository,omitempty"` // owner/name
	// Issue is the number of the pull request, 0 where there is none.
	Issue int `json:"issue"`
	// Ordinal counts the loops of one pull request from 1.
	Ordinal int `json:"ordinal"`
	// Title is the pull request's, for the log.
	Title string `json:"title,omitempty"`
	// Acceptance reports that there are acceptance criteria. The loop succeeds only if they are met.
	Acceptance bool   `json:"acceptance,omitempty"`
	Limits     Limits `json:"limits"`
}

// Outcome is how a loop ended.
type Outcome string

// The outcomes.
const (
	Running      Outcome = ""
	Succeeded    Outcome = "success"
	KnownIssues  Outcome = "known_issues" // a person skipped what still failed
	Aborted      Outcome = "aborted"
	ClosedByPull Outcome = "closed" // the pull request was closed
	MergedByPull Outcome = "merged"
)

// State is the state of one loop. Only New, Step and UnmarshalJSON make one, so that it always
// obeys the protocol. Its JSON has a version.
type State struct{ doc document }

// document is a state's JSON. Its slices are never written to after a step.
type document struct {
	Version int       `json:"version"`
	Loop    Loop      `json:"loop"`
	Status  Status    `json:"status"`
	Outcome Outcome   `json:"outcome,omitempty"`
	Started time.Time `json:"started,omitzero"`
	Updated time.Time `json:"updated,omitzero"`
	Ended   time.Time `json:"ended,omitzero"`
	Head    string    `json:"head,omitempty"`
	// Iteration is 0 before the start.
	Iteration int     `json:"iteration"`
	Max       int     `json:"max_iterations"`
	Checks    []check `json:"checks"`
	Op        *op     `json:"operation,omitempty"`
	Ops       int     `json:"operations"` // how many there were
	Entries   int     `json:"entries"`    // how many log entries there are
	// Stamp is the newest time that an identifier contains. The next one has to be later.
	Stamp time.Time `json:"stamp,omitzero"`
	// Request is the newest fix request, Notice the error notification that followed it.
	Request *Message `json:"request,omitempty"`
	Notice  *Message `json:"notice,omitempty"`
	// Failing are the fingerprints of the newest failed iteration, sorted. Stuck counts the failed
	// iterations up to this one. The count begins again with an iteration that resolved something
	// or followed a decision.
	Failing []string `json:"failing,omitempty"`
	Stuck   int      `json:"stuck,omitempty"`
	// Validating is how long this iteration's validations took so far.
	Validating time.Duration `json:"validating,omitempty"`
	// Retry reports that a person asked to check the unchanged code again: a failure then escalates.
	Retry   bool     `json:"retry,omitempty"`
	Reason  Reason   `json:"reason,omitempty"`  // of the newest escalation
	Decided string   `json:"decided,omitempty"` // the newest decision, in words
	History []Round  `json:"history,omitempty"`
	Fixes   []string `json:"fixes,omitempty"` // what the newest fix did, in words
	// Refused are the reasons why the newest fix or push was not taken. Accepted is the newest commit
	// that was not refused, or that a person accepted by a decision; the first one is that of the
	// start.
	Refused  []string `json:"refused,omitempty"`
	Accepted string   `json:"accepted,omitempty"`
	// Coverage reports that the tests' coverage was measured.
	Coverage bool `json:"coverage,omitempty"`
}

// check is the machine of one check.
type check struct {
	Name     Check     `json:"name"`
	Status   Status    `json:"status"`
	Failures []Failure `json:"failures,omitempty"`
	// Prints are the fingerprints of all failures, sorted.
	Prints []string `json:"fingerprints,omitempty"`
	Error  string   `json:"error,omitempty"` // why it did not work the last time
	// Reported is set after its first failure report.
	Reported bool `json:"reported,omitempty"`
	Critical bool `json:"critical,omitempty"`
}

// op is what the loop waits for, other than a decision.
type op struct {
	N    int      `json:"n"` // counts the loop's operations from 1
	Kind WorkKind `json:"kind"`
	// Checks are those that have not reported yet; Results are the results of the others.
	Checks  []Check  `json:"checks,omitempty"`
	Results []Result `json:"results,omitempty"`
	Attempt int      `json:"attempt"`
	Erred   []Check  `json:"erred,omitempty"`        // the checks that did not work at their first try
	Acked   int      `json:"acknowledged,omitempty"` // the attempt that the fixer has begun
	// Begun is when it began for the first time, Started when its time limit began.
	Begun    time.Time `json:"begun"`
	Started  time.Time `json:"started"`
	Reminded time.Time `json:"reminded,omitzero"`
}

// New returns the state of a loop that has not started.
func New(l Loop) (State, error) {
	l.Limits = l.Limits.withDefaults()
	l.Title = text.Truncate(text.OneLine(l.Title), maxName)
	if err := l.check(); err != nil {
		return State{}, err
	}
	d := document{Version: Version, Loop: l, Status: Pending, Max: l.Limits.Iterations}
	for _, name := range l.checks() {
		d.Checks = append(d.Checks, check{Name: name, Status: Pending})
	}
	return State{d}, nil
}

// checks returns the checks that take part.
func (l *Loop) checks() []Check {
	if l.Acceptance {
		return allChecks()
	}
	return specialists
}

func (l *Loop) check() error {
	switch {
	case l.Issue < 0:
		return fmt.Errorf("issue %d is negative; use the pull request's number, or 0 for none", l.Issue)
	case l.Ordinal < 1:
		return fmt.Errorf("ordinal %d is not positive; the loops of a pull request count from 1", l.Ordinal)
	}
	return l.Limits.check()
}

// Loop returns which loop it is.
func (s State) Loop() Loop { return s.doc.Loop }

// Status returns the loop's status, the worst of its checks'.
func (s State) Status() Status { return s.doc.Status }

// Outcome returns how the loop ended, Running if it has not.
func (s State) Outcome() Outcome { return s.doc.Outcome }

// Iteration returns the current iteration, 0 before the start.
func (s State) Iteration() int { return s.doc.Iteration }

// MaxIterations returns how many iterations are allowed by now.
func (s State) MaxIterations() int { return s.doc.Max }

// Reason returns why the loop was escalated the last time, "" if it never was.
func (s State) Reason() Reason { return s.doc.Reason }

// Head returns the commit that the loop is about, "" if it is not known.
func (s State) Head() string { return s.doc.Head }

// Accepted returns the newest commit whose changes were taken, "" if none is known: changes that an
// agent pushes count from there.
func (s State) Accepted() string { return s.doc.Accepted }

// CheckState is how one check stands.
type CheckState struct {
	Check    Check
	Status   Status
	Failures []Failure // at most 100
	Count    int       // of all its failures
	Error    string    // why the check itself did not work, "" if it did
	// Like is the first check that did not work for the same reason, "" for that check itself.
	Like Check
}

// Checks returns how each check stands.
func (s State) Checks() []CheckState {
	out := make([]CheckState, len(s.doc.Checks))
	first := map[string]Check{}
	for i, c := range s.doc.Checks {
		out[i] = CheckState{c.Name, c.Status, slices.Clone(c.Failures), len(c.Prints), c.Error, first[c.Error]}
		if c.Error != "" && first[c.Error] == "" {
			first[c.Error] = c.Name
		}
	}
	return out
}

// Deadline returns when a timer event is due, zero if none is.
func (s State) Deadline() time.Time { return s.doc.deadline() }

// MarshalJSON writes the state as JSON that UnmarshalJSON reads.
func (s State) MarshalJSON() ([]byte, error) { return json.Marshal(s.doc) }

// UnmarshalJSON reads a state. A damaged or newer one is an error.
func (s *State) UnmarshalJSON(raw []byte) error {
	var head struct {
		Version int `json:"version"`
	}
	if err := json.Unmarshal(raw, &head); err != nil {
		return fmt.Errorf("state of a loop: %w", err)
	}
	if head.Version > Version {
		return fmt.Errorf("state of a loop: version %d is newer than %d, which this Airlock knows; use the Airlock that wrote it, or a later one", head.Version, Version)
	}
	var d document
	if err := json.Unmarshal(raw, &d); err != nil {
		return fmt.Errorf("state of a loop: %w", err)
	}
	if err := d.check(); err != nil {
		return fmt.Errorf("state of a loop: it is damaged: %w", err)
	}
	s.doc = d
	return nil
}

// check returns an error if the parts of a document do not agree with each other.
func (d *document) check() error {
	if d.Version != Version {
		return fmt.Errorf("version %d", d.Version)
	}
	if err := d.Loop.check(); err != nil {
		return err
	}
	want := d.Loop.checks()
	if len(d.Checks) != len(want) {
		return fmt.Errorf("%s instead of %d", text.Count(len(d.Checks), "check"), len(want))
	}
	for i, c := range d.Checks {
		if c.Name != want[i] {
			return fmt.Errorf("check %q instead of %q", c.Name, want[i])
		}
		if _, ok := transitions[c.Status]; !ok {
			return fmt.Errorf("check %s has the unknown status %q", c.Name, c.Status)
		}
	}
	if d.Status != d.worst() {
		return fmt.Errorf("status %q, but the worst check's is %q", d.Status, d.worst())
	}
	idle := d.Status == Pending || d.Status == Escalated || d.Status == Completed
	switch {
	case d.Max < 1 || d.Max > maxIterations || d.Iteration < 0 || d.Iteration > d.Max:
		return fmt.Errorf("iteration %d of %d", d.Iteration, d.Max)
	case (d.Iteration == 0) != (d.Status == Pending) && !d.Status.Final():
		return fmt.Errorf("iteration %d in status %s", d.Iteration, d.Status)
	case d.Status.Final() != (d.Outcome != Running):
		return fmt.Errorf("status %s with outcome %q", d.Status, d.Outcome)
	case idle != (d.Op == nil):
		return fmt.Errorf("status %s does not fit the operation", d.Status)
	case d.Op != nil && d.Op.Kind == WorkFix && (d.Request == nil || d.Request.Iteration != d.Iteration):
		return errors.New("the fix request is missing")
	case d.Entries < 0 || d.Ops < 0 || d.Op != nil && (d.Op.N != d.Ops || !d.Op.Kind.isOperation()):
		return errors.New("counters do not fit")
	}
	return nil
}

// worst returns the worst status of the checks. Acceptance does not count while it is pending. Its
// first evaluation counts as re-checking, because the loop cannot become IN_PROGRESS again.
func (d *document) worst() Status {
	status := Completed
	for i := range d.Checks {
		s := d.Checks[i].Status
		if d.Checks[i].Name == Acceptance {
			switch s {
			case Pending:
				continue
			case InProgress:
				s = ReChecking
			}
		}
		status = worse(status, s)
	}
	return status
}

func (d *document) checkNamed(name Check) *check {
	for i := range d.Checks {
		if d.Checks[i].Name == name {
			return &d.Checks[i]
		}
	}
	return nil
}

// deadline returns when the operation needs a reminder, or times out.
func (d *document) deadline() time.Time {
	switch {
	case d.Op == nil:
		return time.Time{}
	case !d.Op.Reminded.IsZero():
		return d.Op.Reminded.Add(d.Loop.Limits.Grace)
	}
	return d.Op.Started.Add(d.limit())
}

// limit returns the time limit of the operation.
func (d *document) limit() time.Duration {
	switch d.Op.Kind {
	case WorkFix:
		return d.Loop.Limits.Fix
	case WorkValidate:
		return d.Loop.Limits.Validation
	}
	return d.Loop.Limits.Revalidation
}

// names returns a list of checks for a sentence.
func names(checks []Check) string {
	list := make([]string, len(checks))
	for i, c := range checks {
		list[i] = string(c)
	}
	return strings.Join(list, ", ")
}
