package policy

import (
	"slices"
	"testing"

	"github.com/agent-airlock/airlock/internal/safeoutput"
)

func TestPermissions(t *testing.T) {
	for _, c := range []struct {
		name string
		cfg  Config
		want []string
	}{
		{"nothing but reports", Config{Kinds: map[Kind]KindConfig{}}, []string{}},
		{"issues", Config{Kinds: map[Kind]KindConfig{safeoutput.KindCreateIssue: {}}}, []string{"issues"}},
		{"disabled", Config{Kinds: map[Kind]KindConfig{safeoutput.KindCreateIssue: {Disabled: true}}}, []string{}},
		{"comments anywhere", Config{Kinds: map[Kind]KindConfig{safeoutput.KindAddIssueComment: {}}}, []string{"discussions", "issues", "pull-requests"}},
		{"comments on issues", Config{Kinds: map[Kind]KindConfig{safeoutput.KindAddIssueComment: {Excludes: []safeoutput.Target{safeoutput.PullRequest, safeoutput.Discussion}}}}, []string{"issues"}},
		{"code", Config{Kinds: map[Kind]KindConfig{safeoutput.KindCreatePullRequest: {}}}, []string{"contents", "pull-requests"}},
		{"code with an issue instead", Config{Kinds: map[Kind]KindConfig{safeoutput.KindPushToBranch: {Changes: ChangeSettings{OnViolation: ViolationIssue}}}}, []string{"contents", "issues"}},
		{"Airlock's own items", Config{Kinds: map[Kind]KindConfig{}, Own: OwnSettings{Comment: true, CheckRun: true, SecurityReport: true}}, []string{"checks", "pull-requests", "security-events"}},
		{"a fix loop", Config{Kinds: map[Kind]KindConfig{}, Own: OwnSettings{Loop: true}}, []string{"issues", "pull-requests"}},
	} {
		if got := c.cfg.Permissions(); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}
