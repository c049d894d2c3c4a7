package loopturn_test

import (
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/acceptance"
	"github.com/agent-airlock/airlock/internal/fixloop"
	"github.com/agent-airlock/airlock/internal/verdictreport"
)

// verified returns a verdict about the head: a criterion for each status.
func (b *bench) verified(statuses ...acceptance.Status) *verdictreport.Document {
	d := &verdictreport.Document{Version: 1, Number: 7, Head: b.head, Source: verdictreport.FromIssue}
	r := &acceptance.Response{TaskID: "issue-1", Verdict: acceptance.VerdictOf(statuses)}
	for i, s := range statuses {
		id := "ac-" + string(rune('1'+i))
		d.Criteria = append(d.Criteria, verdictreport.Criterion{ID: id, Description: "docs/" + id + ".md exists"})
		r.Results = append(r.Results, acceptance.CriterionResult{ID: id, Status: s, Evidence: "It was looked for."})
	}
	d.Response = r
	return d
}

// A loop succeeds only when its acceptance criteria are met. The fix request lists unmet criteria,
// without a failure report.
func TestLoopWithAcceptance(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.verdict = b.verified(acceptance.Pass, acceptance.Fail)
	r := b.must(pull(), b.found())[0]
	wantStatus(t, r, fixloop.AwaitingFix)
	request := r.Request(b.clock.Now())
	if !strings.Contains(request, "ac-2: docs/ac-2.md exists") || strings.Contains(request, "ac-1:") || len(r.Log.Messages) == 0 {
		t.Error(request)
	}
	for _, m := range r.Log.Messages {
		if m.Type == fixloop.FailureReport {
			t.Errorf("a failure report: %s", m.ID)
		}
	}
	b.push() // breaks a check
	b.verdict = b.verified(acceptance.Pass, acceptance.Pass)
	r = b.must(pull(), b.found("wrong"))[0]
	wantStatus(t, r, fixloop.AwaitingFix)
	// While a check fails, a criterion that was unmet counts as unmet, whatever the verdict.
	if request := r.Request(b.clock.Now()); !strings.Contains(request, "wrong") || !strings.Contains(request, "ac-2:") {
		t.Error(request)
	}
	b.push() // the verdict is about the commit before
	r = b.must(pull(), b.found())[0]
	if notes := strings.Join(r.Notes, "\n"); r.Log.State.Work().Kind != fixloop.WorkAcceptance || !strings.Contains(notes, "it is not used") || !strings.Contains(notes, "waits for the acceptance verdict") {
		t.Fatalf("%s: %s", r.Headline(b.clock.Now()), notes)
	}
	b.verdict = b.verified(acceptance.Pass, acceptance.Pass)
	wantOutcome(t, b.must(pull(), b.found())[0], fixloop.Succeeded)
}

// What cannot be verified is for a person, not for the fixer, and begins no loop by itself.
func TestLoopWithBlockedCriteria(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.verdict = b.verified(acceptance.Pass, acceptance.Blocked)
	if r := b.must(pull(), b.found()); len(r) > 0 && r[0].Log != nil {
		t.Fatalf("a loop has begun: %s", r[0].Headline(b.clock.Now()))
	}
	b.must(pull(), b.found("wrong"))
	b.push()
	b.verdict = b.verified(acceptance.Pass, acceptance.Blocked)
	r := b.must(pull(), b.found())[0]
	if r.Log.State.Work().Kind != fixloop.WorkDecide || !strings.Contains(r.Log.State.Comment(r.Log.Messages, ""), "ac-2: It was looked for.") {
		t.Fatalf("%s\n%s", r.Headline(b.clock.Now()), r.Log.State.Comment(r.Log.Messages, ""))
	}
}

// Criteria that were removed from the issue no longer hold a loop back.
func TestLoopWhoseCriteriaAreGone(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.verdict = b.verified(acceptance.Fail)
	b.must(pull(), b.found())
	b.push()
	b.verdict = &verdictreport.Document{Version: 1, Source: verdictreport.FromNowhere}
	wantOutcome(t, b.must(pull(), b.found())[0], fixloop.Succeeded)
}
