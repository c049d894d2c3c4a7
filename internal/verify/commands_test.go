package verify

import (
	"slices"
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/acceptance"
	"github.com/agent-airlock/airlock/internal/command"
	"github.com/agent-airlock/airlock/internal/phase"
	"github.com/agent-airlock/airlock/internal/toolreport"
)

// TestCheckedOf asserts which status the results of checks add up to: skip where nothing has run,
// blocked where a check could not run.
func TestCheckedOf(t *testing.T) {
	pass := phase.CheckResult{Check: phase.Linter, Status: phase.Pass, Command: "lint"}
	fail := phase.CheckResult{Check: phase.Linter, Status: phase.Fail, Command: "lint", ExitCode: 1}
	for name, c := range map[string]struct {
		results []phase.CheckResult
		want    acceptance.Status
	}{
		"none":            {nil, acceptance.Skip},
		"pass":            {[]phase.CheckResult{pass}, acceptance.Pass},
		"fail":            {[]phase.CheckResult{pass, fail}, acceptance.Fail},
		"skipped":         {[]phase.CheckResult{{Check: phase.Build, Status: phase.Skipped}}, acceptance.Skip},
		"one skipped":     {[]phase.CheckResult{{Check: phase.Build, Status: phase.Skipped}, {Check: phase.Build, Status: phase.Pass, Command: "b"}}, acceptance.Pass},
		"not configured":  {[]phase.CheckResult{{Check: phase.Linter, Status: phase.Pass, NotRun: phase.NotConfigured}}, acceptance.Skip},
		"could not run":   {[]phase.CheckResult{{Check: phase.Tests, Status: phase.Fail}}, acceptance.Blocked},
		"fail outweighs":  {[]phase.CheckResult{fail, {Check: phase.Linter, Status: phase.Fail}}, acceptance.Fail},
		"a review":        {[]phase.CheckResult{{Check: phase.CodeReview, Status: phase.Fail}}, acceptance.Fail},
		"a review passes": {[]phase.CheckResult{{Check: phase.CodeReview, Status: phase.Pass}}, acceptance.Pass},
	} {
		if got := checkedOf(c.results).Status; got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// TestReasonsOfSkipped asserts that a check that did not run is reported with the reason.
func TestReasonsOfSkipped(t *testing.T) {
	for _, c := range []phase.CheckResult{
		{Check: phase.Linter, Status: phase.Pass, NotRun: phase.NotAsked, Notes: []string{"no changed file is in a project"}},
		{Check: phase.Tests, Status: phase.Skipped, Notes: []string{"no changed file is in a project"}},
	} {
		if got := checkedOf([]phase.CheckResult{c}).Reasons; !slices.Equal(got, c.Notes) {
			t.Errorf("%s: %q, want %q", c.Check, got, c.Notes)
		}
	}
}

// TestReasonsOfFailedTests asserts that a failure without a name is reported by its message, if any.
func TestReasonsOfFailedTests(t *testing.T) {
	failures := []toolreport.Failure{{Message: "fewer tests ran\nthan were planned"}, {}, {Unit: "a.t", Name: "b"}}
	if got := checkedOf([]phase.CheckResult{{Check: phase.Tests, Status: phase.Fail, Command: "t", Failures: failures}}).Reasons; !slices.Equal(got, []string{"a test failed: fewer tests ran than were planned", "a test failed", "a.t b failed"}) {
		t.Errorf("%q", got)
	}
}

// TestSecretsAcrossACut asserts that a check's output is left uncut for acceptance to mask, and that
// what another program printed is masked before it is cut.
func TestSecretsAcrossACut(t *testing.T) {
	long := strings.Repeat("x", 64<<10) + "hunter2" + strings.Repeat("y", 1<<10)
	if got := checkedOf([]phase.CheckResult{{Check: phase.Tests, Status: phase.Fail, Command: "t", Excerpt: long}}).Output; got != long {
		t.Errorf("%d bytes of a check's output are left for acceptance to mask, want %d", len(got), len(long))
	}
	for before := 290; before <= 300; before++ {
		printed := "first\n" + strings.Repeat("x", before) + "hunter2" + strings.Repeat("y", 100)
		r := command.Result{ExitCode: 3, Stderr: command.Output{Head: []byte(printed)}}
		if got := describeEnd(r, maskHunter); strings.Contains(got, "hu") || !strings.HasPrefix(got, "it ended with exit code 3: xxx") {
			t.Errorf("%d before the cut: %s", before, got)
		}
	}
	r := command.Result{ExitCode: 3, Stderr: command.Output{Head: []byte("-----BEGIN KEY-----\nabc\n-----END KEY-----\n")}}
	if got := describeEnd(r, func(s string) string { return strings.ReplaceAll(s, string(r.Stderr.Head), "***") }); got != "it ended with exit code 3: ***" {
		t.Error(got)
	}
}

// maskHunter masks one secret.
func maskHunter(s string) string { return strings.ReplaceAll(s, "hunter2", "***") }
