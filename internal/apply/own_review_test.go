package apply

import (
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/changes"
	"github.com/agent-airlock/airlock/internal/githubtest"
	"github.com/agent-airlock/airlock/internal/intake"
	"github.com/agent-airlock/airlock/internal/safeoutput"
	"github.com/google/go-cmp/cmp"
)

// An agent's comments and ours never share a review, nor a limit.
func TestOwnCommentsAreAReviewOfTheirOwn(t *testing.T) {
	b := ownBench(t, githubtest.Options{})
	b.cfg.HoldText, b.cfg.LostCode = true, "the push failed" // which is not about ours
	b.pol.Own.ReviewComments = 2
	same := found("one", 3).Item.(*safeoutput.CreateReviewComment)
	results := b.runOwn([]intake.OwnItem{found("one", 3), found("two", 4), found("three", 5)}, reviewLine(same.Path, same.Line, same.Body))
	want(t, results, "skipped(held) applied applied skipped(own-limit)")
	if results[0].Own || !results[1].Own || results[1].Line != 0 || results[0].Key == results[1].Key {
		t.Errorf("whose is whose: %+v", results[:2])
	}
	b = ownBench(t, githubtest.Options{})
	b.cfg.Workflow = "quality"
	results = b.runOwn([]intake.OwnItem{found("one", 3), found("two", 99)}, reviewLine(same.Path, same.Line, same.Body), reviewLine("main.go", 99, "Elsewhere."))
	want(t, results, "applied applied applied skipped(outside-diff)")
	if f := results[3].Fallback; f == nil || f.To != ToAnnotation || f.Line != 99 {
		t.Errorf("what could not stand on a line is shown at %+v", f)
	}
	if diff := cmp.Diff([]string{"pulls/create-review", "pulls/create-review"}, operations(b.srv.Writes())); diff != "" {
		t.Fatalf("writes (-want +got):\n%s", diff)
	}
	reviews := b.issue(pullNumber).Pull.Reviews
	if agent, ours := reviews[0].Body, reviews[1].Body; !strings.Contains(agent, "Asked for by an agent") || !strings.Contains(agent, "Elsewhere.") ||
		!strings.Contains(ours, "Found by the checks of the job `apply` in the workflow [quality]") || strings.Contains(ours, "Found two") {
		t.Errorf("the agent's review says\n%s\nours\n%s", agent, ours)
	}
}

// A review of ours that GitHub refuses is divided like any other, but nothing of it
// goes elsewhere: what it says is in the summary already.
func TestOwnCommentsStandOnLinesOrNowhere(t *testing.T) {
	b := ownBench(t, githubtest.Options{})
	b.world.Diff = []changes.ChangedFile{changes.FromAPI("main.go", "", "modified", patch, 4)} // git knows the lines, GitHub does not
	b.srv.Change(func(f *githubtest.Fixture) { f.Issues[1].Pull.Files = f.Issues[1].Pull.Files[:0] })
	results := b.runOwn([]intake.OwnItem{found("one", 3), found("two", 4)})
	want(t, results, "skipped(outside-diff) skipped(outside-diff)")
	if len(b.srv.Writes()) == 0 {
		t.Error("GitHub was not asked")
	}
	if n := len(b.issue(pullNumber).Comments); n != 0 {
		t.Errorf("%d comments were posted instead", n)
	}
	fork := ownBench(t, githubtest.Options{})
	fork.ev.Fork = true
	fork.srv.Change(func(f *githubtest.Fixture) {
		f.Tokens = []githubtest.Token{{Secret: "ghs_test", Permissions: map[string]string{"pull_requests": "read", "contents": "read"}}}
	})
	results = fork.runOwn([]intake.OwnItem{found("one", 3)})
	want(t, results, "skipped(fork-read-only)")
	if f := results[0].Fallback; f == nil || f.To != ToAnnotation {
		t.Errorf("a fork's finding is shown at %+v", f)
	}
	if got := operations(fork.srv.Writes()); len(got) != 1 {
		t.Errorf("a fork's token was tried with %v", got)
	}
}

// A comment that is there says what is found now, is edited only where that differs, and
// never by a workflow run that knows less than the last one that wrote it.
func TestOwnCommentsSayWhatIsFoundNow(t *testing.T) {
	b := ownBench(t, githubtest.Options{})
	says := func(text string) []intake.OwnItem {
		one := found("one", 3)
		one.Item.(*safeoutput.CreateReviewComment).Body = text
		return []intake.OwnItem{one, found("two", 4)}
	}
	allFine(t, b.runOwn(says("120 lines are too many.")))
	for range 2 {
		b.push()
		results := b.runOwn(says("130 lines are too many."))
		allFine(t, results)
		if results[0].Object == nil || results[0].Object.ID != b.issue(pullNumber).Pull.Comments[0].ID {
			t.Errorf("the result points at %+v", results[0].Object)
		}
		b.wantOnLines("130 lines are too many.", "Found two.")
	}
	b.cfg.Run.ID -= 2 // the first run, whose checks took longest
	want(t, b.runOwn(says("120 lines are too many.")), "adopted adopted")
	b.wantOnLines("130 lines are too many.", "Found two.")
	if got := operations(b.srv.Writes()); count(got, "pulls/create-review") != 1 || count(got, "pulls/update-review-comment") != 1 {
		t.Errorf("writes: %v", got)
	}
}

// A comment that is hidden by a person is brought up to date, and stays hidden.
func TestOwnCommentsThatAreHiddenStaySo(t *testing.T) {
	b := ownBench(t, githubtest.Options{})
	allFine(t, b.runOwn([]intake.OwnItem{found("one", 3)}))
	b.srv.Change(func(f *githubtest.Fixture) { issueIn(*f, pullNumber).Pull.Comments[0].Minimized = "off-topic" })
	again := found("one", 3)
	again.Item.(*safeoutput.CreateReviewComment).Body = "Found one, still."
	allFine(t, b.push().runOwn([]intake.OwnItem{again}))
	b.wantOnLines("Found one, still. (off-topic)")
}
