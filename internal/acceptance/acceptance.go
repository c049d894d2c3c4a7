// Package acceptance verifies acceptance criteria (spec 001): it reads a validation
// request, evaluates each criterion, collects evidence and answers with a verdict.
//
// It starts no process, opens no connection and reads no clock by itself: everything from
// outside is in Deps. What a criterion's evaluation finds is data; an error means that the
// verification itself could not go on.
package acceptance

import "slices"

// Status is how one criterion, claim or gate ended.
type Status string

// The statuses. Blocked means that it could not be verified, Skip that there was nothing
// to verify.
const (
	Pass    Status = "PASS"
	Fail    Status = "FAIL"
	Skip    Status = "SKIP"
	Blocked Status = "BLOCKED"
)

// Verdict is how a verification ended.
type Verdict string

// The verdicts.
const (
	VerdictPass    Verdict = "PASS"
	VerdictFail    Verdict = "FAIL"
	VerdictPartial Verdict = "PARTIAL"
	VerdictBlocked Verdict = "BLOCKED"
)

// VerdictOf returns the verdict that follows from the statuses of all criteria: PARTIAL
// if some pass and some fail, FAIL if some fail and none passes; without a failure,
// BLOCKED if one is blocked or none passes, otherwise PASS.
func VerdictOf(statuses []Status) Verdict {
	has := func(s Status) bool { return slices.Contains(statuses, s) }
	switch {
	case has(Fail) && has(Pass):
		return VerdictPartial
	case has(Fail):
		return VerdictFail
	case has(Blocked) || !has(Pass):
		return VerdictBlocked
	}
	return VerdictPass
}

// allOf combines the statuses of parts: FAIL if one fails; otherwise BLOCKED if one is blocked,
// SKIP if all are skipped, else PASS.
func allOf(statuses []Status) Status {
	for _, s := range []Status{Fail, Blocked, Pass} {
		if slices.Contains(statuses, s) {
			return s
		}
	}
	return Skip
}

// Trust is how far the author of a text is trusted, which decides what the text may make
// happen (rule R11).
type Trust int

const (
	// Stranger is anybody who can write an issue or a pull request, or send a request to a server.
	// Their criteria may look at paths and name checks. A command must equal one that the owner
	// configured, and a URL must lead to a host that the owner allows. Neither the validator nor
	// the browser command judges them unless the owner wants that.
	Stranger Trust = iota
	// Owner is the user of the command line, or the author of the workflow.
	Owner
)
