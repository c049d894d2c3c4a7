package checkreport

import (
	"fmt"
	"maps"
	"slices"

	"github.com/agent-airlock/airlock/internal/finding"
	"github.com/agent-airlock/airlock/internal/phase"
	"github.com/agent-airlock/airlock/internal/text"
)

// contradiction returns an error that names the first two parts of the document that
// cannot both be true, or nil. In Airlock's own documents all parts agree. Another job's code may
// have changed one part of a document; if that part is the more favourable one, it must not count.
func (d *Document) contradiction() error {
	if err := d.Output.Consistent(); err != nil {
		return fmt.Errorf("$.output: %w", err)
	}
	rows := map[phase.Check]row{}
	for _, r := range d.outputRows() {
		rows[r.check] = r
	}
	informational := map[phase.Check]bool{} // of each check in Checks
	failing, retries := map[phase.Check]int{}, map[phase.Check]int{}
	for i, c := range d.Checks {
		place := fmt.Sprintf("$.checks[%d]", i)
		if informs, seen := informational[c.Check]; seen && informs != c.Informational {
			return fmt.Errorf("%s: the check %s only informs in one place and fails the result in another", place, c.Check)
		}
		informational[c.Check] = c.Informational
		if c.Status != phase.Fail && (c.Failing > 0 || len(c.Failures) > 0) {
			return fmt.Errorf("%s: %s did not fail, and failures are listed", place, c.Check)
		}
		if c.NotRun != "" && (c.Status != phase.Pass || c.Command != "") {
			return fmt.Errorf("%s: %s is %q, and has a result", place, c.Check, c.NotRun)
		}
		failing[c.Check] += c.Failing
		retries[c.Check] += c.Retries
		if r := rows[c.Check]; c.Status == phase.Fail && r.status != phase.Fail {
			return fmt.Errorf("%s: %s failed in %s, and $.output says %q of it", place, c.Check, c.Root, r.status)
		}
	}
	for _, check := range slices.Sorted(maps.Keys(informational)) {
		r := rows[check]
		if n := retries[check]; n != r.retries {
			return fmt.Errorf("$.output: %s has %d retries, and those in $.checks are %d", check, r.retries, n)
		}
		if n := failing[check]; check == phase.Tests && n != r.failing {
			return fmt.Errorf("$.output: failing_count is %d, and the tests in $.checks have %s", r.failing, text.Count(n, "failure"))
		}
	}
	for i, f := range d.Findings {
		if !f.Blocking {
			continue
		}
		r := rows[f.Check]
		if r.status != phase.Fail {
			return fmt.Errorf("$.findings[%d]: the finding made %s fail, and $.output says %q of it", i, f.Check, r.status)
		}
		if r.severity != "" && severityOf(f).Rank() > r.severity.Rank() {
			return fmt.Errorf("$.findings[%d]: the finding is %s, and $.output says that the worst of %s is %s", i, f.Severity, f.Check, r.severity)
		}
	}
	for _, r := range d.outputRows() {
		if r.status == phase.Fail && !informational[r.check] && !d.Failed() {
			return fmt.Errorf("$.output: the status is %q, and the check %s failed", d.Output.Status, r.check)
		}
	}
	return nil
}

// severityOf returns a finding's severity as its check counts it.
func severityOf(f Finding) finding.Severity {
	if f.Check == phase.CodeReview && f.Severity == finding.Critical {
		return finding.High // the highest in a code review's schema
	}
	return f.Severity
}
