package phase

import (
	"time"

	"github.com/agent-airlock/airlock/internal/finding"
	"github.com/agent-airlock/airlock/internal/toolreport"
)

// Result is the output, and what does not fit into it.
type Result struct {
	Output  Output
	Roots   []RootResult   // in the order of their folders
	Reviews []ReviewResult // code, then security
	Missing []MissingTool  // each tool once
}

// RootResult is what one root's checks found.
type RootResult struct {
	Dir      string // relative to the working directory, "." for itself
	Language Language
	Checks   []CheckResult // formatter, linter, build, tests; an overridden check is with the root "." only
}

// CheckResult is how one check of one root ended.
type CheckResult struct {
	Check    Check
	Status   Status
	Command  string // the check command that ran last, as people write it
	Retries  int
	Duration time.Duration
	ExitCode int  // of that run; -1 when a signal or the time limit ended it, or nothing ran
	TimedOut bool // the time limit ended it
	Flaky    bool // it failed, and passed when it was repeated unchanged
	// Problems is why it failed, one a line, for the output; none where it passed.
	Problems []string
	// Gating are the findings that made it fail. Old are the others: those on
	// lines that did not change, and those of a check that passed.
	Gating, Old []finding.Finding
	Failing     int // tests and units that failed; 1 at least where tests failed
	NoTests     bool
	Failures    []toolreport.Failure // the failing tests by name, as far as they are known
	Rewritten   []string             // files that a formatter changed, relative to the root's folder
	Notes       []string             // what people should know beside it
	Excerpt     string               // where failing began in the output, and its end
}

// ReviewResult is how a review ended.
type ReviewResult struct {
	Check       Check
	Status      Status
	Severity    finding.Severity
	Duration    time.Duration
	Gating, Old []finding.Finding
	Problems    []string
	Notes       []string
}

// MissingTool is a tool that a check needs and that is not there.
type MissingTool struct {
	Tool     string
	Check    Check
	Command  string
	Override string // the input's parameter that names another command
}

// overrideName returns the parameter with which the owner overrides a check.
func overrideName(c Check) string {
	return map[Check]string{Formatter: "format_command", Linter: "lint_command", Build: "build_command", Tests: "test_command"}[c]
}
