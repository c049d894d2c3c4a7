package apply

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agent-airlock/airlock/internal/githubtest"
	"github.com/agent-airlock/airlock/internal/policy"
	"github.com/agent-airlock/airlock/internal/safeoutput"
)

const (
	incomplete     = `{"type":"report-incomplete","reason":"No database.","details":"It did not start."}`
	incompleteLine = "> The agent reports that it did not complete its task: No database."
)

// TestReportIncomplete asserts that the item counts as failed, and that every other text
// mentions that the task was not completed.
func TestReportIncomplete(t *testing.T) {
	t.Parallel()
	b := newBench(t, fixture(), githubtest.Options{})
	lines := []string{anIssue, line(map[string]any{"type": "add-issue-comment", "body": "Hello.", "issue_number": issueNumber}),
		line(map[string]any{"type": "update-issue", "body": "New.", "issue_number": issueNumber}),
		`{"type":"create-discussion","title":"T","body":"B"}`, incomplete, `{"type":"report-incomplete","reason":"And another."}`}
	b.kind(safeoutput.KindUpdateIssue, func(k *policy.KindConfig) { k.Update.Body = true })
	results := b.run(lines...)
	want(t, results, "applied applied applied applied failed(incomplete) failed(incomplete)")
	if want := "the agent reports that it did not complete its task: No database."; results[4].Message != want {
		t.Errorf("%q, want %q", results[4].Message, want)
	}
	bodies := 0
	for _, w := range b.srv.Writes() {
		if strings.Contains(string(w.Body), incompleteLine) {
			bodies++
		}
		if n := strings.Count(string(w.Body), "did not complete its task"); n != 1 {
			t.Errorf("%s says %d times that the task was not completed", w.Operation, n)
		}
	}
	if bodies != 4 {
		t.Errorf("%d of 4 texts say that the task was not completed", bodies)
	}
	want(t, b.run(lines...), "adopted adopted adopted adopted failed(incomplete) failed(incomplete)")
}

func TestReportIncompleteAsAnIssue(t *testing.T) {
	t.Parallel()
	b := newBench(t, fixture(), githubtest.Options{})
	b.kind(safeoutput.KindReportIncomplete, func(k *policy.KindConfig) { k.CreateIssue, k.TitlePrefix = true, "[ai] " })
	for _, attempt := range []string{"first", "second"} {
		results := b.run(incomplete)
		want(t, results, "failed(incomplete)")
		if results[0].Object == nil {
			t.Fatalf("%s attempt: no issue: %+v", attempt, results[0])
		}
		made := b.issue(results[0].Object.Number)
		if made.Title != "[ai] Tasks that agents did not complete" || !strings.Contains(made.Body, "No database.\n\nIt did not start.") || strings.Contains(made.Body, "WARNING") {
			t.Errorf("%s attempt: %+v", attempt, made)
		}
	}
	if n := len(b.srv.Writes()); n != 1 {
		t.Errorf("%d writes, want one issue", n)
	}
}

// TestReportIncompleteOnALaterAttempt asserts that a later attempt waits until GitHub's lists show
// the issue of the attempt before, and does not open another one.
func TestReportIncompleteOnALaterAttempt(t *testing.T) {
	t.Parallel()
	b := newBench(t, fixture(), githubtest.Options{Lag: 20 * time.Second})
	b.kind(safeoutput.KindReportIncomplete, func(k *policy.KindConfig) { k.CreateIssue = true })
	want(t, b.run(incomplete), "failed(incomplete)")
	b.cfg.Run.Attempt = 2
	want(t, b.run(incomplete), "failed(incomplete)")
	if writes := operations(b.srv.Writes()); !slices.Equal(writes, []string{"issues/create"}) {
		t.Errorf("writes %v", writes)
	}
}

// TestStagedReportIncomplete asserts that a staged report changes no other text.
func TestStagedReportIncomplete(t *testing.T) {
	t.Parallel()
	b := newBench(t, fixture(), githubtest.Options{})
	b.kind(safeoutput.KindReportIncomplete, func(k *policy.KindConfig) { k.Staged = true })
	b.run(anIssue, incomplete)
	if n := len(b.srv.Writes()); n != 1 {
		t.Errorf("%d writes, want one issue", n)
	}
	for _, w := range b.srv.Writes() {
		if strings.Contains(string(w.Body), "did not complete") {
			t.Errorf("%s", w.Body)
		}
	}
}

// TestReportIncompleteAboveCode asserts that the text of a pull request mentions the incomplete
// task too, as does the text of an issue that replaces the pull request.
func TestReportIncompleteAboveCode(t *testing.T) {
	t.Parallel()
	for name, path := range map[string]string{"pull request": "docs/a.md", "violation": ".github/x.yml", "no pull request": "docs/a.md"} {
		b := newCodeBench(t, func(f *githubtest.Fixture) { f.Repo.NoPullsByActions = name == "no pull request" })
		b.pull(func(s *policy.ChangeSettings) { s.OnViolation, s.FallbackIssue = policy.ViolationIssue, true })
		b.write(map[string]string{path: "x\n"})
		b.run(aPull, incomplete)
		found := 0
		for _, i := range b.srv.State().Issues {
			if i.Title != "Mend the demo" {
				continue
			}
			found++
			if strings.Count(i.Body, incompleteLine) != 1 {
				t.Errorf("%s: the text is\n%s", name, i.Body)
			}
		}
		if found != 1 {
			t.Errorf("%s: %d texts, want one", name, found)
		}
	}
}
