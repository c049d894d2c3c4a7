package fixloop

import "slices"

// Status is a status code of spec 003, of a check or of a loop.
type Status string

// The status codes.
const (
	Pending     Status = "PENDING"
	InProgress  Status = "IN_PROGRESS"
	AwaitingFix Status = "AWAITING_FIX"
	Fixing      Status = "FIXING"
	ReChecking  Status = "RE_CHECKING"
	Pass        Status = "PASS"
	Fail        Status = "FAIL"
	Escalated   Status = "ESCALATED"
	Completed   Status = "COMPLETED"
)

// statuses are the codes from best to worst. A loop has the worst status of its checks: see
// document.worst.
var statuses = []Status{Completed, Pass, Pending, InProgress, ReChecking, Fixing, AwaitingFix, Fail, Escalated}

// transitions are the steps that the protocol allows. PASS → RE_CHECKING begins the last
// round, which shows whether a fix for one check has broken another.
var transitions = map[Status][]Status{
	Pending:     {InProgress, Escalated},
	InProgress:  {Pass, Fail, Escalated},
	Pass:        {Completed, ReChecking, Escalated},
	Fail:        {AwaitingFix, Escalated},
	AwaitingFix: {Fixing, Escalated},
	Fixing:      {ReChecking, Escalated},
	ReChecking:  {Pass, Fail, Escalated},
	Escalated:   {ReChecking, AwaitingFix, Completed},
	Completed:   nil,
}

// CanBecome reports whether the protocol allows the step from s to next.
func (s Status) CanBecome(next Status) bool { return slices.Contains(transitions[s], next) }

// Final reports whether nothing can follow.
func (s Status) Final() bool { return s == Completed }

// worse returns the worse of two status codes.
func worse(a, b Status) Status {
	if slices.Index(statuses, a) > slices.Index(statuses, b) {
		return a
	}
	return b
}
