package apply

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/githubtest"
	"github.com/agent-airlock/airlock/internal/intake"
	"github.com/agent-airlock/airlock/internal/safeoutput"
)

// The claims of two jobs with one identity: those that are the same in all attempts, and those of
// the first attempt alone.
const (
	claimOne      = "0000111111111111"
	claimTwo      = "0000222222222222"
	claimOneFirst = "0001111111111111"
	claimTwoFirst = "0001222222222222"
)

// refused calls Observe and returns the *ClaimedError with which it fails, nil if it succeeds.
func (b *bench) refused(own []intake.OwnItem, lines ...string) error {
	b.t.Helper()
	_, err := Observe(context.Background(), b.deps, b.cfg, b.ev, b.approve(own, lines...))
	if _, refused := errors.AsType[*ClaimedError](err); err != nil && !refused {
		b.t.Fatal(err)
	}
	return err
}

// TestOneIdentityOfTwoJobsIsRefused lets a second job with the same identity run after the first.
// It is refused if it would treat the first job's objects as its own.
func TestOneIdentityOfTwoJobsIsRefused(t *testing.T) {
	check := func(conclusion string) intake.OwnItem {
		return intake.OwnItem{Item: &safeoutput.CheckRun{Name: "Airlock checks (gate)", HeadSHA: headSHA, Conclusion: conclusion, Title: conclusion, Summary: "S"}, Stable: "checks"}
	}
	sticky := func(text string) intake.OwnItem {
		return intake.OwnItem{Item: &safeoutput.StickyComment{Name: "checks", Body: text}, Stable: "checks"}
	}
	resolving := intake.OwnItem{Item: &safeoutput.MinimiseComments{Scopes: []string{"finding"}}}
	review := reviewLine("main.go", 3, "Hm.")
	comment := `{"type":"add-issue-comment","body":"Hello."}`
	for name, c := range map[string]struct {
		one, two []intake.OwnItem
		lines    [2]string
		refused  bool
	}{
		"equal comments":      {lines: [2]string{comment, comment}, refused: true},
		"equal reviews":       {lines: [2]string{review, review}, refused: true},
		"other words":         {lines: [2]string{comment, strings.Replace(comment, "Hello", "Goodbye", 1)}},
		"another conclusion":  {one: []intake.OwnItem{check("failure")}, two: []intake.OwnItem{check("success")}, refused: true},
		"another report":      {one: []intake.OwnItem{sticky("1 of 6 checks failed.")}, two: []intake.OwnItem{sticky("All 6 checks passed.")}, refused: true},
		"hiding all findings": {one: []intake.OwnItem{found("new", 2)}, two: []intake.OwnItem{resolving}, refused: true},
	} {
		t.Run(name, func(t *testing.T) {
			b := ownBench(t, githubtest.Options{})
			b.cfg.Run.Shared, b.cfg.Run.Claim, b.cfg.Run.Name = true, claimOne, "checks"
			run := func(own []intake.OwnItem, line string) []Result {
				if line == "" {
					return b.runOwn(own)
				}
				return b.runOwn(own, line)
			}
			look := func(own []intake.OwnItem, line string) error {
				if line == "" {
					return b.refused(own)
				}
				return b.refused(own, line)
			}
			want(t, run(c.one, c.lines[0]), "applied")
			b.cfg.Run.Claim = claimTwo
			err := look(c.two, c.lines[1])
			if (err != nil) != c.refused {
				t.Fatalf("the second job: %v", err)
			}
			if err != nil && (!strings.Contains(err.Error(), `the same name "checks"`) || !strings.Contains(err.Error(), `its own value of the input "name"`) || !strings.Contains(err.Error(), "https://")) {
				t.Errorf("it says: %v", err)
			}
			b.cfg.Run.Attempt = 2
			if err := look(c.two, c.lines[1]); (err != nil) != c.refused {
				t.Errorf("the second job again: %v", err)
			}
			b.cfg.Run.Claim = claimOne
			if err := look(c.one, c.lines[0]); err != nil {
				t.Errorf("the first job again: %v", err)
			}
			b.cfg.Run.ID, b.cfg.Run.Claim = b.cfg.Run.ID+1, claimTwo
			if err := look(c.two, c.lines[1]); err != nil {
				t.Errorf("the owner has moved the name to the other job, and it is refused: %v", err)
			}
		})
	}
}

// TestAClaimOfOneAttempt asserts that where only the attempt's own id is known, another attempt
// is not taken for another job.
func TestAClaimOfOneAttempt(t *testing.T) {
	b := newBench(t, fixture(), githubtest.Options{})
	b.cfg.Run.Shared, b.cfg.Run.Claim = true, claimOneFirst
	want(t, b.run(anIssue), "applied")
	b.cfg.Run.Claim = claimTwoFirst
	if err := b.refused(nil, anIssue); err == nil || !strings.Contains(err.Error(), `the same key "apply"`) {
		t.Errorf("another job of the attempt: %v", err)
	}
	b.cfg.Run.Attempt, b.cfg.Run.Claim = 2, "0002"+claimTwoFirst[4:]
	want(t, b.run(anIssue), "adopted")
}

// TestTwoJobsWithOneIdentityAtOnce lets both plan before either has written: the later one
// removes what it wrote and says why.
func TestTwoJobsWithOneIdentityAtOnce(t *testing.T) {
	b := newBench(t, fixture(), githubtest.Options{Lag: listLag})
	b.cfg.Run.Shared, b.cfg.Run.Claim = true, claimOne
	one := b.plan(anIssue, aComment)
	b.cfg.Run.Claim = claimTwo
	two := b.plan(anIssue, aComment)
	want(t, execute(context.Background(), b.deps, one), "applied applied")
	results := execute(context.Background(), b.deps, two)
	want(t, results, "failed(same-identity) failed(same-identity)")
	if !strings.Contains(results[0].Message, `its own value of the input "name"`) || len(results[0].Notes) != 1 {
		t.Errorf("%s, %q", results[0].Message, results[0].Notes)
	}
	if n := len(b.issue(issueNumber).Comments); n != 1 {
		t.Errorf("%d comments", n)
	}
}
