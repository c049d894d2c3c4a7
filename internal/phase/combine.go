package phase

import (
	"slices"
	"strings"
	"time"

	"github.com/agent-airlock/airlock/internal/finding"
)

// merged is one check over all roots.
type merged struct {
	status   Status
	problems []string
	commands []string
	retries  int
	failing  int
	time     time.Duration
}

// combine makes the one output of what the roots and the reviews found: of each
// check the worst status, everything that is wrong, and the sum of retries.
func combine(r Result, informational []Check) Output {
	format, lint, build, tests := merge(r.Roots, Formatter), merge(r.Roots, Linter), merge(r.Roots, Build), merge(r.Roots, Tests)
	code, security := r.Reviews[0], r.Reviews[1]
	codeSeverity := code.Severity
	if codeSeverity == finding.Critical {
		codeSeverity = finding.High // the most that a code review's schema knows
	}
	o := Output{Status: Pass, Critical: security.Severity == finding.Critical, Checks: Checks{
		Formatter:      StyleCheck{format.status, format.problems, format.retries, format.command(), millis(format.time)},
		Linter:         StyleCheck{lint.status, lint.problems, lint.retries, lint.command(), millis(lint.time)},
		Build:          BuildCheck{build.status, build.problems, build.retries, build.command(), millis(build.time)},
		Tests:          TestsCheck{tests.status, tests.failing, tests.retries, tests.command(), millis(tests.time)},
		CodeReview:     CodeReview{code.Status, code.Problems, codeSeverity, millis(code.Duration)},
		SecurityReview: SecurityCheck{security.Status, security.Problems, security.Severity, millis(security.Duration)},
	}}
	o.TotalRetries = format.retries + lint.retries + build.retries + tests.retries
	for _, c := range []struct {
		check  Check
		status Status
	}{{Formatter, format.status}, {Linter, lint.status}, {Build, build.status}, {Tests, tests.status}, {CodeReviewed, code.Status}, {SecurityReview, security.Status}} {
		if c.status == Fail && !slices.Contains(informational, c.check) {
			o.Status = Fail
		}
	}
	return o
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
				m.commands = append(m.commands, in(r.Dir, c.Command))
			}
		}
	}
	return m
}

// in writes a command so that it can be pasted from the working directory.
func in(dir, line string) string {
	if dir == "." {
		return line
	}
	return "(cd '" + strings.ReplaceAll(dir, "'", `'\''`) + "' && " + line + ")"
}

func (m merged) command() string { return strings.Join(m.commands, " && ") }

// millis never rounds to less than nothing.
func millis(d time.Duration) int64 { return max(d.Milliseconds(), 0) }
