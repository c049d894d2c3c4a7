package cli

// Exit codes of every command, stated in the README. They are derived from what
// happened to the items, never from what was logged.
const (
	// ExitClean: everything asked for was done, staged or planned.
	ExitClean = 0
	// ExitFindings: there are findings, or rejected, denied, dropped, skipped or
	// failed items. Staged items, noop and dry runs are not skips.
	ExitFindings = 1
	// ExitUsage: wrong usage or configuration, or input that is not there.
	ExitUsage = 2
	// ExitFailed: Airlock itself or the API failed before any item could be judged,
	// or the results could not be written.
	ExitFailed = 3
)

// exitError carries an exit code through cobra. Its error may be nil when all
// that had to be said has been said.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string {
	if e.err == nil {
		return "finished with findings"
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

func usageError(err error) *exitError  { return &exitError{ExitUsage, err} }
func failedError(err error) *exitError { return &exitError{ExitFailed, err} }

// findings ends a command whose report already says what is not clean.
func findings() *exitError { return &exitError{code: ExitFindings} }
