package phase

import (
	"slices"
	"strings"
	"time"

	"github.com/agent-airlock/airlock/internal/finding"
	"github.com/agent-airlock/airlock/internal/toolreport"
)

// Result is the output, and what does not fit into it.
type Result struct {
	Output  Output
	Roots   []RootResult  // in the order of their directories
	Reviews []CheckResult // code, then security
	Missing []MissingTool // each tool once
	// Fixed are the changed files that a fix has changed in a copy of the working directory:
	// with Config.Scratch, and without Config.CheckOnly.
	Fixed []FixedFile
}

// FixedFile is a changed file before and after it was fixed.
type FixedFile struct {
	Path          string // relative to the repository's root
	Before, After []byte
}

// RootResult is what one root's checks found.
type RootResult struct {
	Dir      string // relative to the working directory, "." for itself
	Language Language
	Checks   []CheckResult // formatter, linter, build, tests; an overridden check is only in the root "."
}

// CheckResult is how one check of one root ended, or one review.
type CheckResult struct {
	Check    Check
	Status   Status
	NotRun   NotRun
	Command  string // the check command that ran last, as people write it
	Retries  int
	Duration time.Duration
	// ExitCode is that of the last run. It is -1 if a signal or the time limit ended the run, or if the
	// check failed although nothing ran. It is 0 for a review, if nothing had to run, and if NotRun is
	// set.
	ExitCode int
	TimedOut bool // the time limit ended it
	Flaky    bool // it failed, and passed when it was repeated unchanged
	// Problems are why it failed, one a line, for the output; none if it passed.
	Problems []string
	// Blocking are the findings that made it fail. Old are the others: those on lines that
	// did not change, and those of a check that passed.
	Blocking, Old []finding.Finding
	Severity      finding.Severity // of a review
	Failing       int              // tests and units that failed; at least 1 if tests failed
	NoTests       bool
	Failures      []toolreport.Failure // the failing tests by name, as far as they are known
	Rewritten     []string             // files that a formatter or linter changed, relative to RootResult.Dir
	Notes         []string             // for people
	Excerpt       string               // where failing began in the output, and its end
}

// NotRun is why a formatter or linter passes without a result of its own: it has not run, or its
// result does not count. Its status has no word for that. NotRun is "" for all others.
type NotRun string

// The reasons.
const (
	NotConfigured NotRun = "not configured" // no file of the project names a tool for it
	NotAsked      NotRun = "not run"        // only the reviews are asked for, or no changed file is in a project
)

// MissingTool is a tool that a check needs and that is not installed.
type MissingTool struct {
	Tool     string
	Check    Check
	Command  string
	Override string // the input's parameter that names another command
}

// overrideName returns the parameter with which the owner overrides a check, "" for a review.
func overrideName(c Check) string {
	return map[Check]string{Formatter: "format_command", Linter: "lint_command", Build: "build_command", Tests: "test_command"}[c]
}

// combine returns the one output of what the roots and the reviews found: of each check
// the worst status, all problems, and the sum of retries. An informational check that fails does
// not fail the output.
func combine(r Result, informational []Check) Output {
	format, lint, build, tests := merge(r.Roots, Formatter), merge(r.Roots, Linter), merge(r.Roots, Build), merge(r.Roots, Tests)
	code, security := r.Reviews[0], r.Reviews[1]
	codeSeverity := code.Severity
	if codeSeverity == finding.Critical {
		codeSeverity = finding.High // the highest in a code review's schema
	}
	output := Output{Status: Pass, Critical: security.Severity == finding.Critical, Checks: Checks{
		Formatter:      StyleCheck{format.status, format.problems, format.retries, format.command(), millis(format.time)},
		Linter:         StyleCheck{lint.status, lint.problems, lint.retries, lint.command(), millis(lint.time)},
		Build:          BuildCheck{build.status, build.problems, build.retries, build.command(), millis(build.time)},
		Tests:          TestsCheck{tests.status, tests.failing, tests.retries, tests.command(), millis(tests.time)},
		CodeReview:     CodeReviewCheck{code.Status, code.Problems, codeSeverity, millis(code.Duration)},
		SecurityReview: SecurityReviewCheck{security.Status, security.Problems, security.Severity, millis(security.Duration)},
	}}
	output.TotalRetries = format.retries + lint.retries + build.retries + tests.retries
	for check, status := range map[Check]Status{
		Formatter: format.status, Linter: lint.status, Build: build.status, Tests: tests.status, CodeReview: code.Status, SecurityReview: security.Status,
	} {
		if status == Fail && !slices.Contains(informational, check) {
			output.Status = Fail
		}
	}
	return output
}

// merged is one check over all roots.
type merged struct {
	status   Status
	problems []string
	commands []string
	retries  int
	failing  int
	time     time.Duration
}

func merge(roots []RootResult, check Check) merged {
	m := merged{status: Skipped}
	for _, r := range roots {
		for _, c := range r.Checks {
			if c.Check != check {
				continue
			}
			if c.Status == Fail || m.status == Skipped {
				m.status = c.Status
			}
			if c.Status == Fail {
				m.problems = append(m.problems, c.Problems...)
				m.failing += c.Failing
			}
			m.retries += c.Retries
			m.time += c.Duration
			if c.Command != "" {
				m.commands = append(m.commands, commandIn(r.Dir, c.Command))
			}
		}
	}
	return m
}

func (m merged) command() string { return strings.Join(m.commands, " && ") }

// commandIn writes a command so that it can be pasted in the working directory.
func commandIn(dir, line string) string {
	if dir == "." {
		return line
	}
	return "(cd '" + strings.ReplaceAll(dir, "'", `'\''`) + "' && " + line + ")"
}

// millis returns milliseconds, and 0 for a negative duration.
func millis(d time.Duration) int64 { return max(d.Milliseconds(), 0) }
