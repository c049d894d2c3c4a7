// Package exitcode has the exit codes of the program, and the errors that lead to them.
package exitcode

import (
	"errors"
	"strings"
	"syscall"
)

// The exit codes of every command, which docs/action.md documents. They follow from what
// happened to the items, never from what was logged.
const (
	// Clean: everything that was asked for was done, staged or planned.
	Clean = 0
	// Findings: there are findings, or rejected, denied, dropped, skipped or failed
	// items. Staged items, noop and dry runs are not skips.
	Findings = 1
	// Usage: wrong usage or configuration, or input that is missing.
	Usage = 2
	// Failed: Airlock itself failed (the results that are known by then are reported), or
	// the API did before any item could be judged, or the results could not be written.
	Failed = 3
)

// Error is an error with the exit code that it leads to. Err is nil where everything
// has been reported already.
type Error struct {
	Code int
	Err  error
}

// Error implements error.
func (e *Error) Error() string {
	if e.Err == nil {
		return "the reason has been reported already"
	}
	return e.Err.Error()
}

// Unwrap returns the underlying error.
func (e *Error) Unwrap() error { return e.Err }

// UsageError returns err with the exit code Usage.
func UsageError(err error) error { return &Error{Usage, err} }

// FailedError returns err with the exit code Failed.
func FailedError(err error) error { return &Error{Failed, err} }

// FailedUnless adds the exit code Failed to an error that has none, unless isRefusal reports that the
// error is about what the user asked for.
func FailedUnless(isRefusal func(error) bool, err error) error {
	if _, known := errors.AsType[*Error](err); err == nil || known || isRefusal(err) {
		return err
	}
	return FailedError(err)
}

// IsFull reports whether an error says that a disk, or a user's share of it, is full.
func IsFull(err error) bool { return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) }

// Explain returns the text of an error for people. Where a disk is full, it adds what to do, unless
// the text says it.
func Explain(err error) string {
	text := err.Error()
	if IsFull(err) && !strings.Contains(text, "make room") {
		text += "; make room there, and try again"
	}
	return text
}

// ErrFindings ends a command that has already reported what it found.
var ErrFindings error = &Error{Code: Findings}
