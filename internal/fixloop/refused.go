package fixloop

import "fmt"

// Code is why an event was refused.
type Code string

// The codes of refused events.
const (
	CodeFinal      Code = "final"      // the loop has ended
	CodeLate       Code = "late"       // it answers something that no longer counts
	CodeDuplicate  Code = "duplicate"  // it happened before
	CodeUnexpected Code = "unexpected" // nobody asked for it in this status
	CodeConflict   Code = "conflict"   // the decision is not possible now, or it was decided before
	CodeInvalid    Code = "invalid"    // its content is wrong, or a limit does not allow it
)

// Refused is the error about an event that changes nothing. The loop goes on as before.
type Refused struct {
	Code  Code
	Event EventType
	Why   string // the reason, for people; often with the next step
}

func (e *Refused) Error() string {
	return fmt.Sprintf("event %s refused (%s): %s", e.Event, e.Code, e.Why)
}
