package checkreport

import (
	"fmt"
	"slices"

	"github.com/agent-airlock/airlock/internal/finding"
	"github.com/agent-airlock/airlock/internal/pages"
	"github.com/agent-airlock/airlock/internal/phase"
)

// maxPageFindings is how many findings a page lists. The document contains all of them.
const maxPageFindings = 500

// PlanChecks returns what the page of a plan shows of the checks: how each ended, the new
// suppressions, and the findings, the blocking ones first.
func (d *Document) PlanChecks(show SafeText) *pages.PlanChecks {
	p := &pages.PlanChecks{Headline: d.Headline(), Level: pages.OK}
	if d.Failed() {
		p.Level = pages.Bad
	}
	line := func(s string) string { return show.cutLine(s, 1000) }
	for _, r := range d.rows() {
		c := pages.PlanCheck{Name: checkName(r.check), Result: r.result(), Level: r.level()}
		if r.status == phase.Fail {
			first, left := head(r.problems, maxFirst)
			c.First = textsOf(first, line)
			if more := left + r.unlisted; more > 0 {
				c.First = append(c.First, fmt.Sprintf("… and %d more", more))
			}
		}
		p.Checks = append(p.Checks, c)
	}
	findings := slices.Clone(d.Findings)
	slices.SortStableFunc(findings, func(a, b Finding) int {
		switch {
		case a.Blocking == b.Blocking:
			return b.Severity.Rank() - a.Severity.Rank()
		case a.Blocking:
			return -1
		}
		return 1
	})
	findings, p.More = head(findings, maxPageFindings)
	for _, f := range findings {
		shown := pages.PlanFinding{Place: line(f.place()), Check: checkName(f.Check), Severity: string(f.Severity), Rule: line(f.Rule), Message: line(f.Message), Level: pages.Idle}
		switch {
		case !f.Blocking:
			shown.Message += " (not counted: its line did not change, or its check passed)"
		case f.Severity.Rank() >= finding.High.Rank():
			shown.Level = pages.Bad
		default:
			shown.Level = pages.Warn
		}
		p.Findings = append(p.Findings, shown)
	}
	silenced, left := head(d.NewSuppressions, maxRows)
	p.Silenced = textsOf(silenced, func(s NewSuppression) string {
		if s.TakesOut {
			return "taken out: " + line(s.line())
		}
		return line(s.line())
	})
	if left > 0 {
		p.Silenced = append(p.Silenced, fmt.Sprintf("… and %d more, in the findings document", left))
	}
	return p
}
