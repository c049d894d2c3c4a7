package verify

import (
	"testing"

	"github.com/agent-airlock/airlock/internal/acceptance"
	"github.com/agent-airlock/airlock/internal/phase"
)

// What has run nothing has verified nothing.
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
