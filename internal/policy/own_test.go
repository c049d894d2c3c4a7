package policy_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/event"
	"github.com/agent-airlock/airlock/internal/intake"
	"github.com/agent-airlock/airlock/internal/policy"
	"github.com/agent-airlock/airlock/internal/safeoutput"
	"github.com/google/go-cmp/cmp"
)

// acceptedOwn takes Airlock's own items through intake, which must accept all.
func acceptedOwn(t *testing.T, items ...safeoutput.Item) []intake.Accepted {
	t.Helper()
	var list []intake.OwnItem
	for _, it := range items {
		list = append(list, intake.OwnItem{Item: it})
	}
	accepted, rejected, err := intake.Own(list, intake.Config{})
	if err != nil || len(rejected) > 0 {
		t.Fatalf("%v, rejected %+v", err, rejected)
	}
	return accepted
}

func review(n int) safeoutput.Item {
	return &safeoutput.CreateReviewComment{Path: "a.go", Line: n, Body: "b"}
}

// everyOwnKind returns an item of each kind that Airlock makes of its own in a check and, last, one
// of a kind that it may not make.
func everyOwnKind() []safeoutput.Item {
	return []safeoutput.Item{
		review(3),
		&safeoutput.MinimiseComments{Scopes: []string{"finding"}},
		&safeoutput.StickyComment{Name: "checks", Body: "b"},
		&safeoutput.CheckRun{Name: "checks", HeadSHA: strings.Repeat("a", 40), Conclusion: "neutral", Title: "t", Summary: "s"},
		&safeoutput.CreateSecurityReport{File: "a.go", Line: 1, Severity: "note", Message: "m"},
		&safeoutput.MissingTool{Tool: "t", Reason: "r"},
		&safeoutput.AddIssueComment{Body: "b"},
	}
}

func outcomes(approved []policy.Approved, denied []policy.Denied) []string {
	var got []string
	for _, a := range approved {
		got = append(got, fmt.Sprintf("%s #%d staged=%t over=%t", a.Item().Kind(), a.Target().Number, a.Staged(), a.OverLimit()))
		if want := policy.OriginAirlock; a.Origin() != want {
			got = append(got, fmt.Sprintf("  of origin %d", a.Origin()))
		}
	}
	for _, d := range denied {
		got = append(got, fmt.Sprintf("%s denied %s own=%t", d.Item().Kind(), d.Rule, d.Own()))
	}
	return got
}

func TestJudgeOwn(t *testing.T) {
	on := event.Event{Name: "pull_request", Number: 7, IsPull: true}
	all := policy.OwnSettings{Comment: true, Review: true, CheckRun: true, SecurityReport: true}
	// What the owner says about an agent's items does not apply to Airlock's own of the same kind.
	silent := map[policy.Kind]policy.KindConfig{
		"create-pull-request-review-comment": {Disabled: true},
		"create-security-report":             {Staged: true, Report: policy.ReportSettings{Category: "c"}},
		"missing-tool":                       {Disabled: true},
	}
	tests := []struct {
		name string
		cfg  policy.Config
		ev   event.Event
		want []string
	}{
		{"all allowed", policy.Config{Kinds: silent, Own: all}, on, []string{
			"create-pull-request-review-comment #7 staged=false over=false", "minimise-comments #7 staged=false over=false",
			"sticky-comment #7 staged=false over=false", "check-run #0 staged=false over=false",
			"create-security-report #0 staged=false over=false", "missing-tool #0 staged=false over=false",
			"add-issue-comment denied own-kind own=true"}},
		{"nothing allowed", policy.Config{Kinds: silent}, on, []string{
			"missing-tool #0 staged=false over=false",
			"create-pull-request-review-comment denied own-kind own=true", "minimise-comments denied own-kind own=true",
			"sticky-comment denied own-kind own=true", "check-run denied own-kind own=true",
			"create-security-report denied own-kind own=true", "add-issue-comment denied own-kind own=true"}},
		{"no pull request", policy.Config{Kinds: silent, Own: all}, event.Event{Name: "push"}, []string{
			"check-run #0 staged=false over=false", "create-security-report #0 staged=false over=false", "missing-tool #0 staged=false over=false",
			"create-pull-request-review-comment denied no-context own=true", "minimise-comments denied no-context own=true",
			"sticky-comment denied no-context own=true", "add-issue-comment denied own-kind own=true"}},
	}
	for _, tt := range tests {
		if diff := cmp.Diff(tt.want, outcomes(policy.Judge(tt.cfg, tt.ev, acceptedOwn(t, everyOwnKind()...)))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
	for name, cfg := range map[string]policy.Config{
		"no configuration": {Own: all}, "all staged": {Kinds: silent, Own: all, Staged: true},
		"ours staged": {Kinds: silent, Own: policy.OwnSettings{CheckRun: true, Staged: true}},
	} {
		approved, _ := policy.Judge(cfg, on, acceptedOwn(t, everyOwnKind()[3])) // the check run
		if len(approved) != 1 || !approved[0].Staged() {
			t.Errorf("%s: %v is not staged", name, outcomes(approved, nil))
		}
	}
}

// TestOwnIssueOutsideOfLoop asserts that Airlock creates issues of its own only in a fix loop.
func TestOwnIssueOutsideOfLoop(t *testing.T) {
	issue := acceptedOwn(t, &safeoutput.CreateIssue{Title: "t", Body: "b"})
	_, denied := policy.Judge(policy.Config{}, event.Event{}, issue)
	if len(denied) != 1 || denied[0].Rule != policy.RuleOwnKind || !strings.Contains(denied[0].Message, "only in a fix loop") {
		t.Errorf("outside of a loop: %+v", denied)
	}
	if approved, denied := policy.Judge(policy.Config{Own: policy.OwnSettings{Loop: true}}, event.Event{}, issue); len(approved) != 1 {
		t.Errorf("in a loop: %+v", denied)
	}
}

// TestOwnLimit asserts that the limit of Airlock's own review comments does not count an agent's.
func TestOwnLimit(t *testing.T) {
	in := collect(t, strings.Repeat(`{"type": "create-pull-request-review-comment", "path": "a.go", "line": 3, "body": "b"}`+"\n", 30))
	for n := range 25 {
		in = append(in, acceptedOwn(t, review(n+1))...)
	}
	cfg := policy.Config{Kinds: map[policy.Kind]policy.KindConfig{"create-pull-request-review-comment": {}}, Own: policy.OwnSettings{Review: true}}
	for limit, want := range map[int]int{0: policy.DefaultOwnReviewComments, 3: 3, -1: policy.DefaultOwnReviewComments} {
		cfg.Own.ReviewComments = limit
		approved, denied := policy.Judge(cfg, event.Event{Name: "pull_request", Number: 7, IsPull: true}, in)
		if len(approved) != len(in) {
			t.Fatalf("denied %+v", denied)
		}
		within := 0
		for _, a := range approved {
			if a.Origin() == policy.OriginAgent && a.OverLimit() {
				t.Error("an agent's comment is over our limit")
			}
			if a.Origin() == policy.OriginAirlock && !a.OverLimit() {
				within++
			}
		}
		if within != want {
			t.Errorf("with the limit %d, %d of ours are within it, want %d", limit, within, want)
		}
	}
}

func TestAnnotationsAreBounded(t *testing.T) {
	run := everyOwnKind()[3].(*safeoutput.CheckRun)
	for range 1001 {
		run.Annotations = append(run.Annotations, safeoutput.CheckAnnotation{Path: "a.go", StartLine: 1, EndLine: 1, Level: "notice", Message: "m"})
	}
	approved, _ := policy.Judge(policy.Config{Own: policy.OwnSettings{CheckRun: true}}, event.Event{}, acceptedOwn(t, run))
	got := approved[0].Item().(*safeoutput.CheckRun)
	if len(got.Annotations) != 1000 || len(approved[0].Notes()) != 1 || approved[0].Notes()[0].Rule != policy.RuleAnnotations {
		t.Errorf("%d annotations, notes %+v", len(got.Annotations), approved[0].Notes())
	}
}
