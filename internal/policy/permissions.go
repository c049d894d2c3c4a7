package policy

import (
	"maps"
	"slices"

	"github.com/agent-airlock/airlock/internal/safeoutput"
)

// Permissions returns the sorted names of GitHub's write permissions that a configuration can need:
// for items of the allowed kinds, on any target that is not excluded, and for Airlock's own items. A
// plan needs some of them. Staged kinds count as if they were not staged.
func (c Config) Permissions() []string {
	need := map[string]bool{}
	add := func(names []string) {
		for _, n := range names {
			need[n] = true
		}
	}
	for _, spec := range safeoutput.Kinds() {
		kc, ok := c.Kind(spec.Kind)
		if !ok {
			continue
		}
		if kc.CreateIssue || kc.Changes.FallbackIssue || kc.Changes.OnViolation == ViolationIssue {
			add(safeoutput.SpecOf(safeoutput.KindCreateIssue).Permissions[safeoutput.NoTarget])
		}
		add(spec.Permissions[safeoutput.NoTarget])
		for _, t := range spec.ActsOn {
			if !slices.Contains(kc.Excludes, t) {
				add(spec.Permissions[t])
			}
		}
	}
	if c.Own.Comment || c.Own.Review || c.Own.Loop {
		add([]string{"pull-requests"})
	}
	if c.Own.CheckRun {
		add([]string{"checks"})
	}
	if c.Own.Tick || c.Own.Loop {
		add([]string{"issues"})
	}
	if c.Own.SecurityReport {
		add(safeoutput.SpecOf(safeoutput.KindCreateSecurityReport).Permissions[safeoutput.NoTarget])
	}
	return slices.Sorted(maps.Keys(need))
}
