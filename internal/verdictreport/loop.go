package verdictreport

import (
	"slices"
	"strings"

	"github.com/agent-airlock/airlock/internal/acceptance"
	"github.com/agent-airlock/airlock/internal/fixloop"
	"github.com/agent-airlock/airlock/internal/text"
)

// LoopResult returns the verdict in the form of the fix loop: a pass if it passes or the owner
// accepts it. Otherwise what fails becomes a failure for the fixer. If nothing fails, for example
// because the criteria that do not pass are blocked, the result is an error, which uses up no
// iteration: nobody can mend it in the code. Without criteria the result is a pass or, if they are
// required, an error.
func (d *Document) LoopResult(required bool) fixloop.Result {
	out := fixloop.Result{Check: fixloop.Acceptance, Status: fixloop.ResultPass}
	r := d.Response
	switch {
	case r == nil && required:
		out.Status, out.Error = fixloop.ResultError, "there are no acceptance criteria, and they are required"
		return out
	case r == nil, d.Passed(), d.accepted():
		return out
	}
	descriptions := map[string]string{}
	for _, c := range d.Criteria {
		descriptions[c.ID] = c.Description
	}
	var blocked, remedies []string // why criteria are blocked, and what would unblock them
	fail := func(rule, message, details string) {
		out.Failures = append(out.Failures, fixloop.Failure{Rule: rule, Message: message, Details: details, Fingerprint: text.Digest(rule + "\n" + message)})
	}
	for _, one := range r.Results {
		what := text.OneLine(one.ID + ": " + descriptions[one.ID])
		switch one.Status {
		case acceptance.Fail:
			fail(one.ID, what, strings.TrimSpace(one.Evidence+"\n"+one.Remediation))
		case acceptance.Blocked:
			blocked = append(blocked, text.OneLine(one.ID+": "+one.Evidence))
			if remedy := text.OneLine(one.Remediation); remedy != "" && !slices.Contains(remedies, remedy) {
				remedies = append(remedies, remedy)
			}
		}
	}
	for _, c := range r.Claims {
		if c.Status == acceptance.Fail {
			fail("claim", text.OneLine("the claim does not hold: "+c.Claim), c.Evidence)
		}
	}
	for _, g := range r.Gates {
		switch {
		case g.Number != judgeGate:
		case g.Status == acceptance.Fail:
			fail("judge", "the judge does not let it pass", g.Evidence)
		case g.Status == acceptance.Blocked:
			blocked = append(blocked, text.OneLine(g.Evidence))
		}
	}
	out.Status = fixloop.ResultFail
	if len(out.Failures) == 0 {
		out.Status, out.Error = fixloop.ResultError, "the criteria cannot be verified"
		if len(blocked) > 0 {
			why := strings.TrimSuffix(strings.Join(blocked, "; "), ".") + "."
			out.Error += ": " + strings.Join(append([]string{why}, remedies...), " ")
		}
	}
	return out
}

// accepted reports whether the owner accepts that some criteria are not met: the verdict is
// PARTIAL, and its gates let it pass. At least the gates of the claim and of the verdict must
// be there: without them nobody has decided.
func (d *Document) accepted() bool {
	r := d.Response
	stops := func(g acceptance.Gate) bool { return g.Status == acceptance.Fail || g.Status == acceptance.Blocked }
	return r.Verdict == acceptance.VerdictPartial && len(r.Gates) >= 2 && !slices.ContainsFunc(r.Gates, stops)
}
