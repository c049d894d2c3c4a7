package fixloop

import (
	"cmp"
	"time"
)

// Type is the type of a message.
type Type string

// The seven message types of spec 003, its reminder and error notification, and the change of
// a status.
const (
	FailureReport       Type = "failure_report"
	FixRequest          Type = "fix_request"
	FixCompletion       Type = "fix_completion"
	RevalidationTrigger Type = "revalidation_trigger"
	RevalidationResult  Type = "revalidation_result"
	Success             Type = "success"
	Escalation          Type = "escalation"
	TimeoutReminder     Type = "timeout_reminder"
	ErrorNotification   Type = "error"
	StatusChange        Type = "status_change"
)

// spelling is how each type of message is written.
var spelling = map[Type]struct {
	title  string // its heading
	kind   string // what the chronological log calls it
	prefix string // how its identifiers begin
}{
	FailureReport:       {"Validation Failure Report", "Failure report", "VFR"},
	FixRequest:          {"Fix Request", "Fix request", "FIXREQ"},
	FixCompletion:       {"Fix Completion", "Fix completion", "FIXDONE"},
	RevalidationTrigger: {"Re-validation Trigger", "Re-validation trigger", "REVAL"},
	RevalidationResult:  {"Re-validation Result", "Re-validation result", "REVALRES"},
	Success:             {"Validation Success", "Success notification", "SUCCESS"},
	Escalation:          {"Escalation: Unresolvable Issue", "Escalation", "ESC"},
	TimeoutReminder:     {"Timeout Reminder", "Timeout reminder", "TIMEOUT"},
	ErrorNotification:   {"Error Notification", "Error notification", "ERR"},
	StatusChange:        {"Status Change", "Status change", ""},
}

// Priority is how urgent a message is.
type Priority string

// The priorities.
const (
	PriorityCritical Priority = "Critical"
	PriorityHigh     Priority = "High"
	PriorityMedium   Priority = "Medium"
	PriorityLow      Priority = "Low"
)

// Operation is what a time limit is for.
type Operation string

// The operations.
const (
	OpValidation   Operation = "specialist-validation"
	OpFix          Operation = "main-agent-fix"
	OpRevalidation Operation = "re-validation"
)

// ErrorType is the type of an error notification.
type ErrorType string

// The types of errors.
const (
	ErrCommunication     ErrorType = "communication"
	ErrInvalidResponse   ErrorType = "invalid-response"
	ErrSpecialistFailure ErrorType = "specialist-failure"
	ErrUnresponsive      ErrorType = "unresponsive"
)

// errorTitles are the types of errors as a notification spells them.
var errorTitles = map[ErrorType]string{
	ErrCommunication: "Communication", ErrInvalidResponse: "Invalid Response", ErrSpecialistFailure: "Specialist Failure", ErrUnresponsive: "Unresponsive",
}

func (e ErrorType) title() string { return cmp.Or(errorTitles[e], string(e)) }

// Reason is why a loop was escalated.
type Reason string

// The reasons.
const (
	ReasonIterations      Reason = "Max Iterations Exceeded"
	ReasonTimeout         Reason = "Timeout"
	ReasonDeadlock        Reason = "Deadlock"
	ReasonSpecialist      Reason = "Specialist Error"
	ReasonCritical        Reason = "Critical Vulnerability"
	ReasonInvalidResponse Reason = "Invalid Response"
	ReasonFixer           Reason = "Fixer Failed"
	ReasonUndelivered     Reason = "Message Not Delivered"
	ReasonRetry           Reason = "Retry Failed"
	ReasonRefused         Reason = "Changes Refused"
)

// sentence explains a reason to people.
func (r Reason) sentence() string {
	return map[Reason]string{
		ReasonIterations:      "What failed still fails after the last iteration.",
		ReasonTimeout:         "Time was up: nothing came even after a reminder, or validating took too long in one iteration.",
		ReasonDeadlock:        "Nothing that failed was resolved in the last iterations.",
		ReasonSpecialist:      "A check does not work: mend the check itself, or what it needs.",
		ReasonCritical:        "The security review found a critical vulnerability, which a person has to look at.",
		ReasonInvalidResponse: "The fixer's answers could not be understood.",
		ReasonFixer:           "The fixer itself failed.",
		ReasonUndelivered:     "A message could not be delivered.",
		ReasonRetry:           "The unchanged code failed again.",
		ReasonRefused:         "The push changes what an agent may not change.",
	}[r]
}

// clause gives a reason for which a loop is escalated after a check has failed again.
func (r Reason) clause() string {
	return cmp.Or(map[Reason]string{
		ReasonIterations:  "no iteration is left",
		ReasonTimeout:     "time is up",
		ReasonDeadlock:    "nothing that failed was resolved in the last iterations",
		ReasonSpecialist:  "a check does not work",
		ReasonCritical:    "the security review found a critical vulnerability",
		ReasonUndelivered: "a message could not be delivered",
		ReasonRetry:       "the unchanged code failed again",
		ReasonRefused:     "a push changes what an agent may not change",
	}[r], string(r))
}

// Message is a message of the protocol, or a change of status, with its entry in the communication
// log. Which of the members after Summary are set depends on its type.
type Message struct {
	// Entry is the identifier of the log entry. It is unique within the loop.
	Entry string `json:"entry"`
	Type  Type   `json:"type"`
	// ID is the message's identifier; a change of status has none.
	ID        string    `json:"id,omitempty"`
	Time      time.Time `json:"time"`
	From      string    `json:"from,omitempty"`
	To        string    `json:"to,omitempty"`
	Priority  Priority  `json:"priority,omitempty"`
	Issue     int       `json:"issue"`
	Check     Check     `json:"check,omitempty"`
	Iteration int       `json:"iteration"`
	Max       int       `json:"max_iterations"`
	// Before and After are the loop's status.
	Before  Status `json:"status_before,omitempty"`
	After   Status `json:"status_after,omitempty"`
	Summary string `json:"summary"`

	Failures []Failure `json:"failures,omitempty"`
	// Omitted is how many failures there are in addition to Failures.
	Omitted     int      `json:"omitted_failures,omitempty"`
	Suggestions []string `json:"suggestions,omitempty"`
	Actions     []string `json:"actions,omitempty"`
	Expected    []string `json:"expected,omitempty"`
	Fixes       []string `json:"fixes,omitempty"`
	Files       []string `json:"files,omitempty"`
	// Checks are the checks that a fix is for, or several checks that did not work for one reason.
	Checks []Check `json:"checks,omitempty"`
	// Result is PASS or FAIL; in a reminder, the loop's status.
	Result Status `json:"result,omitempty"`
	Next   string `json:"next,omitempty"`
	Reason Reason `json:"reason,omitempty"`
	// Elapsed is how long the loop, or the operation, has taken.
	Elapsed   Duration  `json:"elapsed_seconds,omitempty"`
	History   []Round   `json:"history,omitempty"`
	Operation Operation `json:"operation,omitempty"`
	Limit     Duration  `json:"limit_seconds,omitempty"`
	Grace     Duration  `json:"grace_seconds,omitempty"`
	Error     ErrorType `json:"error_type,omitempty"`
	// ErrorText is the error's message, Stack its stack trace.
	ErrorText string   `json:"error_message,omitempty"`
	Stack     string   `json:"stack_trace,omitempty"`
	Context   string   `json:"context,omitempty"`
	Recovery  []string `json:"recovery,omitempty"`
	Recovered bool     `json:"recovered,omitempty"`
	// Entity is the thing whose status changed, from Previous to New, and Why is the reason. In a
	// re-validation trigger, Why explains why no previous failures are known.
	Entity   string `json:"entity,omitempty"`
	Previous Status `json:"previous,omitempty"`
	New      Status `json:"new,omitempty"`
	Why      string `json:"why,omitempty"`
}

// Round is what happened in one iteration.
type Round struct {
	Iteration int          `json:"iteration"`
	Failing   []CheckCount `json:"failing"`
	// Resolved is how many failures of the iteration before were gone.
	Resolved int `json:"resolved"`
	// Fix is what the fixer said, or why there was no fix.
	Fix string `json:"fix,omitempty"`
}

// CheckCount is how many failures a check had.
type CheckCount struct {
	Check    Check `json:"check"`
	Failures int   `json:"failures"`
}

// Notifies reports whether people should be notified: only fix requests and escalations are
// for them to act on.
func (m Message) Notifies() bool { return m.Type == FixRequest || m.Type == Escalation }

// Counts reports whether the message is one of the protocol's messages. A change of status
// is only logged.
func (m Message) Counts() bool { return m.Type != StatusChange }
