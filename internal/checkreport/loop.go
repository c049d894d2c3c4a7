package checkreport

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/agent-airlock/airlock/internal/fixloop"
	"github.com/agent-airlock/airlock/internal/phase"
)

// LoopResults returns how the six checks ended, in the form of the fix loop. A check whose
// tool is missing, or whose review did not take place, has not worked: nobody can fix that in
// the code. A check that only informs passes.
func (d *Document) LoopResults() []fixloop.Result {
	var results []fixloop.Result
	for _, r := range d.rows() {
		out := fixloop.Result{Check: loopCheck(r.check), Status: fixloop.ResultPass}
		if r.status == phase.Fail && !r.informational {
			out.Status = fixloop.ResultFail
			if why := d.notWorking(r); why != "" {
				out.Status, out.Error = fixloop.ResultError, why
			} else {
				out.Failures = d.loopFailures(r)
				out.Critical = r.check == phase.SecurityReview && d.Output.Critical
			}
		}
		results = append(results, out)
	}
	return results
}

// loopCheck returns a check as the fix loop spells it.
func loopCheck(c phase.Check) fixloop.Check {
	return fixloop.Check(strings.ReplaceAll(string(c), "_", "-"))
}

// notWorking returns why a failed check did not work, "" if it did.
func (d *Document) notWorking(r row) string {
	for _, m := range d.Missing {
		if m.Check == r.check {
			return fmt.Sprintf("%s is not installed, which %q needs; install it, or name another command with %s", m.Tool, m.Command, m.Override)
		}
	}
	for _, p := range r.problems {
		if why, ok := phase.NotReviewed(p); ok {
			return why
		}
	}
	return ""
}

// loopFailures returns what made a check fail: the failed tests by name, and the check's other
// blocking findings. If there are neither, it returns the check's problems, or only that the check or
// its command failed, with the output of its first failed tool.
func (d *Document) loopFailures(r row) []fixloop.Failure {
	var failures []fixloop.Failure
	excerpt := ""
	for _, c := range d.Checks {
		if c.Check != r.check || c.Status != phase.Fail {
			continue
		}
		excerpt = cmp.Or(excerpt, c.Excerpt)
		prints := testPrints(c.Failures)
		for i, f := range c.Failures {
			failures = append(failures, fixloop.Failure{Message: cmp.Or(f.Name, f.Unit, "a test") + " failed", Path: f.Path, Line: f.Line, Details: f.Message, Fingerprint: prints[i]})
		}
	}
	byName := len(failures) > 0
	for _, f := range d.Findings {
		isListed := byName && f.Tool == string(phase.Tests)
		if f.Check != r.check || !f.Blocking || isListed {
			continue
		}
		failures = append(failures, fixloop.Failure{
			Severity: f.Severity, Tool: f.Tool, Rule: f.Rule, Path: f.Path, Line: f.StartLine,
			Message: f.Message, Suggestion: f.Suggestion, Fingerprint: f.Fingerprint,
		})
	}
	if len(failures) == 0 {
		for _, p := range r.problems {
			failures = append(failures, fixloop.Failure{Message: p})
		}
		if len(failures) == 0 {
			message := "the check failed without saying why"
			if r.command != "" {
				message = "the command failed: " + r.command
			}
			failures = append(failures, fixloop.Failure{Message: message})
		}
		failures[0].Details = excerpt
	}
	return failures
}
