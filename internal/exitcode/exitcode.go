// Package exitcode has the exit codes of the program, and the errors that lead to them.
package exitcode

// The exit codes of every command, which the README documents. They follow from what
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
		return "finished with findings"
	}
	return e.Err.Error()
}

// Unwrap returns the underlying error.
func (e *Error) Unwrap() error { return e.Err }

// UsageError returns err with the exit code Usage.
func UsageError(err error) error { return &Error{Usage, err} }

// FailedError returns err with the exit code Failed.
func FailedError(err error) error { return &Error{Failed, err} }

// ErrFindings ends a command that has already reported what it found.
var ErrFindings error = &Error{Code: Findings}
