package fixloop

import "slices"

// EventType is what happened.
type EventType string

// The types of events.
const (
	EventStart       EventType = "start"       // the loop begins: Head
	EventResult      EventType = "result"      // checks have ended: Op, Results, Head
	EventFixStarted  EventType = "fix_started" // the fixer has the request: Iteration
	EventFixDone     EventType = "fix_done"    // the fixer says that it is done: Iteration, Fixes, Files, Head, Refused
	EventFixFailed   EventType = "fix_failed"  // the fixer crashed or gave up: Iteration, Text
	EventNonsense    EventType = "nonsense"    // the fixer's answer has the wrong form: Iteration, Text
	EventTimer       EventType = "timer"       // time has passed
	EventPush        EventType = "push"        // there is a new commit: Head, By, Fixes, Files, Refused
	EventDecision    EventType = "decision"    // a person decides: Decision, N, By; for the decision fixed, also what counts for a push
	EventClosed      EventType = "closed"      // the pull request was closed or merged: Merged, By
	EventUndelivered EventType = "undelivered" // a message could not be delivered: Message, Attempts, Text
)

// Event is something that happened outside of the loop. The comment of each type lists the members
// that count. Texts are strangers' and may contain anything.
type Event struct {
	Type EventType `json:"type"`
	// Op is the operation that a result answers, Work's Op at the time it began.
	Op      int      `json:"op,omitempty"`
	Results []Result `json:"results,omitempty"`
	// Iteration is that of the fix request that a fixer answers.
	Iteration int      `json:"iteration,omitempty"`
	Fixes     []string `json:"fixes,omitempty"`
	Files     []string `json:"files,omitempty"` // that changed, relative to the repository's root
	// Refused are the reasons why the changes of fix_done or of a push are not taken. If there are
	// any, the event counts as one without changes.
	Refused []string `json:"refused,omitempty"`
	// Head is the commit that there is now, "" if it is not known.
	Head string `json:"head,omitempty"`
	// By is who pushed, decided or closed.
	By       string   `json:"by,omitempty"`
	Decision Decision `json:"decision,omitempty"`
	N        int      `json:"n,omitempty"` // by how many iterations to extend, 0 for the default
	Merged   bool     `json:"merged,omitempty"`
	// Message is the identifier of a message whose delivery was tried Attempts times.
	Message  string `json:"message,omitempty"`
	Attempts int    `json:"attempts,omitempty"`
	// Text is an error's text, or an answer that makes no sense.
	Text string `json:"text,omitempty"`
}

// ResultStatus is how a check ended.
type ResultStatus string

// How a check ends.
const (
	ResultPass  ResultStatus = "pass"
	ResultFail  ResultStatus = "fail"
	ResultError ResultStatus = "error" // the check itself did not work, as when a tool is missing
)

// Result is how one check ended.
type Result struct {
	Check    Check        `json:"check"`
	Status   ResultStatus `json:"status"`
	Failures []Failure    `json:"failures,omitempty"`
	// Summary describes a failure in one line where Failures is empty.
	Summary string `json:"summary,omitempty"`
	// Error and Stack belong to ResultError.
	Error string `json:"error,omitempty"`
	Stack string `json:"stack,omitempty"`
	// Critical reports a critical vulnerability, which escalates at once.
	Critical bool `json:"critical,omitempty"`
	// Coverage is the tests' coverage in percent, 0 if it was not measured.
	Coverage float64 `json:"coverage,omitempty"`
}

// Decision is what a person decides about an escalated loop.
type Decision string

// The decisions.
const (
	DecideFixed  Decision = "fixed"  // the code was mended by hand: check it again
	DecideExtend Decision = "extend" // allow N more iterations
	DecideSkip   Decision = "skip"   // end with known issues
	DecideAbort  Decision = "abort"  // end
	DecideRetry  Decision = "retry"  // check the unchanged code again; another failure escalates
)

// Decisions returns all decisions, in the order in which they are offered.
func Decisions() []Decision {
	return []Decision{DecideFixed, DecideExtend, DecideSkip, DecideAbort, DecideRetry}
}

// Recorded returns the event as a log keeps it. Each text is passed through mask, which removes
// secrets; a suggestion that mask would change is left out. An error's text and stack, and the
// texts of failures, are cut. Failures beyond those that a loop keeps are reduced to their
// fingerprints. If mask changes nothing, Step treats the recorded event as it would treat e.
func (e Event) Recorded(mask func(string) string) Event {
	e.By, e.Text, e.Head, e.Message = mask(e.By), excerpt(mask(e.Text)), mask(e.Head), mask(e.Message)
	e.Fixes, e.Files, e.Refused = masked(e.Fixes, mask), masked(e.Files, mask), masked(e.Refused, mask)
	e.Results = slices.Clone(e.Results)
	for i := range e.Results {
		r := &e.Results[i]
		r.Summary, r.Error, r.Stack = mask(r.Summary), mask(r.Error), excerpt(mask(r.Stack))
		failures := slices.Clone(r.Failures)
		for k := range failures {
			f := &failures[k]
			if mask(f.Suggestion) != f.Suggestion {
				f.Suggestion = "" // masked, it would put something else into the code
			}
			f.Message, f.Details = mask(f.Message), mask(f.Details)
			f.Path, f.Tool, f.Rule = mask(f.Path), mask(f.Tool), mask(f.Rule)
		}
		prints := printsOf(failures)
		kept, _ := keptFailures(r.Check, failures)
		for _, p := range prints[len(kept):] {
			kept = append(kept, Failure{Fingerprint: p})
		}
		r.Failures = kept
	}
	return e
}

func masked(list []string, mask func(string) string) []string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = mask(s)
	}
	return out
}
