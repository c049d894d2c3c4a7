package apply

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-airlock/airlock/internal/changes"
	"github.com/agent-airlock/airlock/internal/githubapi"
	"github.com/agent-airlock/airlock/internal/githubtest"
	"github.com/agent-airlock/airlock/internal/intake"
	"github.com/agent-airlock/airlock/internal/markdown"
	"github.com/agent-airlock/airlock/internal/policy"
	"github.com/agent-airlock/airlock/internal/safeoutput"
)

// reviewBench returns a run on the pull request.
func reviewBench(t *testing.T, o githubtest.Options) *bench {
	t.Helper()
	return newBench(t, fixture(), o).on("pull_request", pullNumber)
}

// allText returns all text on the pull request.
func (b *bench) allText() string {
	i := b.issue(pullNumber)
	var s strings.Builder
	for _, r := range i.Pull.Reviews {
		s.WriteString(r.Body + "\n")
	}
	for _, c := range i.Pull.Comments {
		s.WriteString(c.Body + "\n")
	}
	for _, c := range i.Comments {
		s.WriteString(c.Body + "\n")
	}
	return s.String()
}

func TestOneReviewForAllComments(t *testing.T) {
	b := reviewBench(t, githubtest.Options{})
	ranged := line(map[string]any{"type": "create-pull-request-review-comment", "path": "main.go", "line": 5, "start_line": 2, "body": "A range."})
	single := line(map[string]any{"type": "create-pull-request-review-comment", "path": "main.go", "line": 3, "start_line": 3, "body": "One line."})
	left := line(map[string]any{"type": "create-pull-request-review-comment", "path": "main.go", "line": 3, "side": "LEFT", "body": "Old line."})
	results := b.run(ranged, single, left, reviewLine("main.go", 99, "Outside."), reviewLine("nowhere.go", 1, "No such file."))
	want(t, results, "applied applied applied applied applied")
	writes := b.srv.Writes()
	if diff := cmp.Diff([]string{"pulls/create-review"}, operations(writes)); diff != "" {
		t.Fatalf("writes (-want +got):\n%s", diff)
	}
	if got := writes[0].JSON("event"); got != "COMMENT" {
		t.Errorf("event %v", got)
	}
	if got := writes[0].JSON("commit_id"); got != headSHA {
		t.Errorf("commit %v", got)
	}
	comments := writes[0].JSON("comments").([]any)
	if len(comments) != 3 {
		t.Fatalf("%d inline comments", len(comments))
	}
	if _, has := comments[1].(map[string]any)["start_line"]; has {
		t.Error("start_line was sent although it equals line")
	}
	pull := b.issue(pullNumber).Pull
	for i, c := range pull.Comments {
		if key, ok := markdown.LastLineMarker(c.Body); !ok || key != results[i].Key {
			t.Errorf("comment %d has no marker of its own: %q", i, c.Body)
		}
	}
	body := pull.Reviews[0].Body
	for _, part := range []string{"**`main.go`, line 99**\n\nOutside.", "**`nowhere.go`, line 1**\n\nNo such file.", "Asked for by an agent"} {
		if !strings.Contains(body, part) {
			t.Errorf("the review's body lacks %q:\n%s", part, body)
		}
	}
	if !strings.Contains(results[3].Message, "line 99 of main.go is not in the diff") {
		t.Errorf("message %q", results[3].Message)
	}
	if results[0].Object.Type != "review" || results[0].Object.URL == "" {
		t.Errorf("object %+v", results[0].Object)
	}
}

func TestCommentsOutsideTheDiffByPolicy(t *testing.T) {
	outside := reviewLine("main.go", 99, "Outside.")
	elsewhere := reviewLine("nowhere.go", 1, "No such file.")
	t.Run("file", func(t *testing.T) {
		b := reviewBench(t, githubtest.Options{})
		b.kind(safeoutput.KindCreateReviewComment, func(k *policy.KindConfig) { k.Review.OutsideDiff = policy.OutsideFile })
		results := b.run(outside, elsewhere)
		want(t, results, "applied applied")
		c := b.issue(pullNumber).Pull.Comments
		if len(c) != 1 || c[0].Subject != "file" || !strings.Contains(c[0].Body, "**Line 99**\n\nOutside.") {
			t.Errorf("comments %+v", c)
		}
		if !strings.Contains(b.issue(pullNumber).Pull.Reviews[len(b.issue(pullNumber).Pull.Reviews)-1].Body, "No such file.") {
			t.Error("a comment on a file that is not changed was lost")
		}
		b.cfg.Run.Attempt = 2
		want(t, b.run(outside, elsewhere), "adopted adopted")
	})
	t.Run("drop", func(t *testing.T) {
		b := reviewBench(t, githubtest.Options{})
		b.kind(safeoutput.KindCreateReviewComment, func(k *policy.KindConfig) { k.Review.OutsideDiff = policy.OutsideDrop })
		results := b.run(outside, reviewLine("main.go", 3, "Inside."))
		want(t, results, "skipped(outside-diff) applied")
		if results[0].Fallback == nil || results[0].Fallback.Text != "Outside." {
			t.Errorf("the text is lost: %+v", results[0])
		}
	})
}

func TestMoreCommentsThanOneReviewCarries(t *testing.T) {
	b := reviewBench(t, githubtest.Options{})
	var lines []string
	for i := range 40 {
		lines = append(lines, reviewLine("main.go", 1+i%6, fmt.Sprintf("Comment number %d.", i)))
	}
	results := b.run(lines...)
	pull := b.issue(pullNumber).Pull
	if len(pull.Comments) != 30 || len(pull.Reviews) != 1 {
		t.Errorf("%d inline in %d reviews", len(pull.Comments), len(pull.Reviews))
	}
	text := b.allText()
	for i := range 40 {
		if n := strings.Count(text, fmt.Sprintf("Comment number %d.", i)); n != 1 {
			t.Errorf("comment %d is there %d times", i, n)
		}
	}
	for _, r := range results {
		if r.State != Applied {
			t.Errorf("%+v", r)
		}
	}
	b.cfg.Run.Attempt = 2
	for _, r := range b.run(lines...) {
		if r.State != Adopted {
			t.Errorf("second attempt: %s: %s", r.State, r.Message)
		}
	}
	if got := b.plan(lines...).Operations[0].Summary; got != fmt.Sprintf("review pull request #%d", pullNumber) {
		t.Errorf("the plan of a third: %q", got)
	}
	if n := len(b.srv.Writes()); n != 1 {
		t.Errorf("%d writes in both attempts", n)
	}
}

func TestTextThatDoesNotFitContinuesInComments(t *testing.T) {
	b := reviewBench(t, githubtest.Options{})
	var lines []string
	for i := range 5 {
		var body strings.Builder
		for j := range 2500 {
			fmt.Fprintf(&body, "word%d.%d ", i, j)
			if j%50 == 49 {
				body.WriteString("\n\n")
			}
		}
		lines = append(lines, reviewLine("nowhere.go", i+1, body.String()))
	}
	long := strings.Repeat("A very long paragraph indeed.\n\n", 2000)
	lines = append(lines, reviewLine("nowhere.go", 9, long))
	results := b.run(lines...)
	want(t, results, strings.TrimSpace(strings.Repeat("applied ", 6)))
	text := b.allText()
	words := map[string]bool{}
	for w := range strings.FieldsSeq(text) {
		words[w] = true
	}
	for i := range 5 {
		for j := range 2500 {
			if !words[fmt.Sprintf("word%d.%d", i, j)] {
				t.Fatalf("word%d.%d is lost", i, j)
			}
		}
	}
	if n := strings.Count(text, "A very long paragraph indeed."); n != 2000 {
		t.Errorf("%d of 2000 paragraphs", n)
	}
	i := b.issue(pullNumber)
	if len(i.Pull.Reviews) != 1 || len(i.Comments) < 2 {
		t.Errorf("%d reviews, %d comments", len(i.Pull.Reviews), len(i.Comments))
	}
	for _, c := range i.Comments {
		if n := markdown.UTF16Len(c.Body); n > maxBody {
			t.Errorf("a comment of %d units", n)
		}
	}
	b.cfg.Run.Attempt = 2
	want(t, b.run(lines...), strings.TrimSpace(strings.Repeat("adopted ", 6)))
	if n := len(b.issue(pullNumber).Comments); n != len(i.Comments) {
		t.Errorf("the second attempt added comments: %d, had %d", n, len(i.Comments))
	}
}

// A code span that is cut is not code any more. What it quoted is made inert, which takes
// room.
func TestTextThatGrowsWhereItIsDivided(t *testing.T) {
	b := reviewBench(t, githubtest.Options{})
	var body strings.Builder
	body.WriteString("`")
	for i := range 9000 {
		fmt.Fprintf(&body, "@u%d ", i)
	}
	body.WriteString("`")
	long := strings.Repeat("d/", 1000) + "f.go"
	want(t, b.run(reviewLine(long, 1, body.String()), reviewLine("nowhere.go", 2, "After it.")), "applied applied")
	text := b.allText()
	if strings.Contains(text, cutNote) || !strings.Contains(text, "After it.") {
		t.Error("text is lost")
	}
	words := map[string]bool{}
	for _, w := range strings.FieldsFunc(text, func(r rune) bool { return r != 'u' && (r < '0' || r > '9') }) {
		words[w] = true
	}
	for i := range 9000 {
		if !words[fmt.Sprintf("u%d", i)] {
			t.Fatalf("word %d is lost", i)
		}
	}
}

func TestTheDiffFromGitSavesRequests(t *testing.T) {
	b := reviewBench(t, githubtest.Options{})
	b.deps.Diff = localDiff()
	want(t, b.run(reviewLine("main.go", 3, "Here.")), "applied")
	if n := count(operations(b.srv.Requests()), "pulls/list-files"); n != 0 {
		t.Errorf("the files were asked for %d times", n)
	}
}

func localDiff() []changes.ChangedFile {
	return []changes.ChangedFile{{Path: "main.go", Status: changes.Modified, Patch: patch}}
}

func TestARefusedCommentLeavesOneReview(t *testing.T) {
	// Without a diff no line is checked beforehand, but GitHub refuses some.
	b := reviewBench(t, githubtest.Options{Fault: always("pulls/list-files", githubtest.Fault{Status: 404, Body: `{"message":"Not Found"}`})})
	var lines []string
	for i := range 12 {
		lines = append(lines, reviewLine("main.go", 1+i%6, fmt.Sprintf("Good %d.", i)))
	}
	lines[4] = reviewLine("main.go", 99, "Bad anchor.")
	lines[9] = reviewLine("gone.go", 1, "Bad file.")
	results := b.run(lines...)
	for i, r := range results {
		if r.State != Applied {
			t.Errorf("item %d: %s(%s): %s", i, r.State, r.Code, r.Message)
		}
	}
	pull := b.issue(pullNumber).Pull
	if len(pull.Comments) != 10 {
		t.Errorf("%d of 10 good ones are inline", len(pull.Comments))
	}
	if len(pull.Reviews) != 1 {
		t.Fatalf("%d reviews", len(pull.Reviews))
	}
	body := pull.Reviews[0].Body
	for _, part := range []string{"Bad anchor.", "Bad file.", "`gone.go`, line 1"} {
		if !strings.Contains(body, part) {
			t.Errorf("the body lacks %q:\n%s", part, body)
		}
	}
	if !strings.Contains(results[4].Message, "GitHub did not accept its lines") {
		t.Errorf("message %q", results[4].Message)
	}
	b.cfg.Run.Attempt = 2
	writes := len(b.srv.Writes())
	for i, r := range b.run(lines...) {
		if r.State != Adopted {
			t.Errorf("second attempt, item %d: %s(%s): %s", i, r.State, r.Code, r.Message)
		}
	}
	if n := len(b.srv.Writes()); n != writes {
		t.Errorf("the second attempt wrote %v", operations(b.srv.Writes()[writes:]))
	}
}

// The lines of an item are those of the commit that the agent looked at. Where
// the pull request has moved on since, the same numbers name other lines.
func TestAHeadThatMovedSinceTheEvent(t *testing.T) {
	seen := strings.Repeat("0", 40)
	lines := []string{reviewLine("main.go", 3, "Inside then."), reviewLine("main.go", 21, "Outside then.")}
	moved := func(earlier ...githubtest.Revision) *bench {
		f := fixture()
		f.Issues[1].Pull.Earlier = earlier
		b := newBench(t, f, githubtest.Options{}).on("pull_request", pullNumber)
		b.ev.Head.SHA = seen
		return b
	}
	then := githubtest.Revision{SHA: seen, Files: []githubtest.File{{Path: "main.go", Patch: "@@ -1,2 +1,3 @@\n package main\n+\n+var x int\n"}}}
	t.Run("noted", func(t *testing.T) {
		p := moved(then).plan(lines...)
		if got := strings.Join(p.Operations[0].Notes, "\n"); !strings.Contains(got, "has moved on from 0000000 to aaaaaaa") {
			t.Errorf("notes %q", got)
		}
		if got := strings.Join(p.Unchecked, "\n"); !strings.Contains(got, "pull request #7 has moved on") {
			t.Errorf("unchecked %q", got)
		}
	})
	t.Run("placed on what the agent saw", func(t *testing.T) {
		b := moved(then)
		want(t, b.run(lines...), "applied applied")
		pull := b.issue(pullNumber).Pull
		if len(pull.Comments) != 1 || pull.Comments[0].CommitID != seen || !strings.HasPrefix(pull.Comments[0].Body, "Inside then.") {
			t.Errorf("comments %+v", pull.Comments)
		}
		if text := b.allText(); strings.Count(text, "Outside then.") != 1 {
			t.Errorf("text is lost or doubled:\n%s", text)
		}
		if n := count(operations(b.srv.Requests()), "pulls/list-files"); n != 0 {
			t.Error("the newer diff was asked for, which says nothing about these lines")
		}
	})
	t.Run("no part of the pull request any more", func(t *testing.T) {
		b := moved()
		results := b.run(lines...)
		want(t, results, "applied applied")
		if i := b.issue(pullNumber); len(i.Pull.Comments) != 0 || len(i.Comments) != 1 || !strings.Contains(i.Comments[0].Body, "`main.go`, line 3") {
			t.Errorf("not in the conversation with their places: %+v", i)
		}
	})
}

// The owner's setting for comments outside the diff applies even if only GitHub's refusal
// shows that they are outside.
func TestRefusedLinesFollowThePolicy(t *testing.T) {
	lines := []string{reviewLine("main.go", 1, "Good."), reviewLine("main.go", 99, "Outside."), reviewLine("gone.go", 1, "Elsewhere.")}
	start := func(o policy.OutsideDiff) *bench {
		b := reviewBench(t, githubtest.Options{Fault: always("pulls/list-files", githubtest.Fault{Status: 404, Body: `{"message":"Not Found"}`})})
		return b.kind(safeoutput.KindCreateReviewComment, func(k *policy.KindConfig) { k.Review.OutsideDiff = o })
	}
	t.Run("drop", func(t *testing.T) {
		b := start(policy.OutsideDrop)
		results := b.run(lines...)
		want(t, results, "applied skipped(outside-diff) skipped(outside-diff)")
		if text := b.allText(); strings.Contains(text, "Outside.") || strings.Contains(text, "Elsewhere.") {
			t.Errorf("it was posted nevertheless:\n%s", text)
		}
		if f := results[1].Fallback; f == nil || f.Text != "Outside." || f.Line != 99 {
			t.Errorf("fallback %+v", f)
		}
	})
	t.Run("file", func(t *testing.T) {
		b := start(policy.OutsideFile)
		want(t, b.run(lines...), "applied applied applied")
		var subjects []string
		for _, c := range b.issue(pullNumber).Pull.Comments {
			subjects = append(subjects, c.Subject)
		}
		if diff := cmp.Diff([]string{"line", "file"}, subjects); diff != "" {
			t.Errorf("comments (-want +got):\n%s", diff)
		}
		if text := b.allText(); strings.Count(text, "Elsewhere.") != 1 {
			t.Errorf("text is lost or doubled:\n%s", text)
		}
		b.cfg.Run.Attempt = 2
		want(t, b.run(lines...), "adopted adopted adopted")
	})
}

// GitHub may refuse a review and accept it from the next attempt. That attempt must not post again
// what the first one put into the conversation.
func TestAnEarlierAttemptPutEverythingIntoTheConversation(t *testing.T) {
	b := reviewBench(t, githubtest.Options{Fault: always("pulls/create-review", githubtest.Fault{Status: 422, Body: `{"message":"Unprocessable Entity","errors":["User can only have one pending review per pull request"]}`})})
	want(t, b.run(reviewLine("main.go", 1, "One.")), "applied")
	b.srv.SetFault(nil)
	b.cfg.Run.Attempt = 2
	want(t, b.run(reviewLine("main.go", 1, "One.")), "adopted")
	if n := strings.Count(b.allText(), "One."); n != 1 {
		t.Errorf("it is there %d times", n)
	}
}

// Where the conversation cannot be read, nothing shows that a comment is not there already: none is
// posted, wherever it belongs.
func TestNothingIsPostedWhereTheConversationCannotBeRead(t *testing.T) {
	lines := []string{reviewLine("main.go", 1, "One."), reviewLine("main.go", 333, "Two.")}
	b := reviewBench(t, githubtest.Options{Fault: always("pulls/create-review", githubtest.Fault{Status: 422, Body: `{"message":"Unprocessable Entity","errors":["User can only have one pending review per pull request"]}`})})
	want(t, b.run(lines...), "applied applied")
	b.srv.SetFault(always("issues/list-comments", githubtest.Fault{Status: 404, Body: `{"message":"Not Found"}`}))
	b.cfg.Run.Attempt = 2
	want(t, b.run(lines...), "failed(not-found) failed(not-found)")
	if text := b.allText(); strings.Count(text, "One.") != 1 || strings.Count(text, "Two.") != 1 {
		t.Errorf("text stands there twice:\n%s", text)
	}
}

func TestAReviewThatGitHubDoesNotTakeAtAll(t *testing.T) {
	b := reviewBench(t, githubtest.Options{Fault: always("pulls/create-review", githubtest.Fault{Status: 422, Body: `{"message":"Unprocessable Entity","errors":["User can only have one pending review per pull request"]}`})})
	results := b.run(reviewLine("main.go", 1, "One."), reviewLine("main.go", 2, "Two."))
	want(t, results, "applied applied")
	if got := slices.Compact(operations(b.srv.Writes())); !cmp.Equal(got, []string{"pulls/create-review", "issues/create-comment"}) {
		t.Errorf("writes %v", got)
	}
	if text := b.allText(); !strings.Contains(text, "One.") || !strings.Contains(text, "Two.") {
		t.Errorf("text is lost: %s", text)
	}
}

// GitHub words the same refusal differently, depending on the endpoint and on its age.
func TestRefusalsOfTheReviewItself(t *testing.T) {
	for text, about := range map[string]bool{
		"commit_id is not part of the pull request":                  true,
		"Start commit oid is not part of the pull request":           true,
		"The commit is not part of the pull request":                 true,
		"User can only have one pending review per pull request":     true,
		"Line could not be resolved":                                 false,
		"Path could not be resolved":                                 false,
		"pull_request_review_thread.line must be part of the diff":   false,
		"start_line must be part of the same hunk as the line.":      false,
		"pull_request_review_thread.start_line must precede the end": false,
	} {
		for _, err := range []error{
			&githubapi.Error{Kind: githubapi.Validation, Message: text},
			&githubapi.Error{Kind: githubapi.Validation, Message: "Unprocessable Entity", Fields: []githubapi.FieldError{{Message: text}}},
		} {
			if aboutReview(err) != about {
				t.Errorf("%v: %v", err, !about)
			}
		}
	}
}

func TestForksFallBackInSteps(t *testing.T) {
	fork := func(perms map[string]string) *bench {
		f := fixture()
		f.Tokens = []githubtest.Token{{Secret: "ghs_fork", Permissions: perms}}
		b := newBench(t, f, githubtest.Options{}).on("pull_request", pullNumber)
		b.token, b.ev.Fork = "ghs_fork", true
		return b
	}
	lines := []string{reviewLine("main.go", 1, "One."), reviewLine("nowhere.go", 2, "Two."), anIssue, anIssue}
	t.Run("comment", func(t *testing.T) {
		b := fork(map[string]string{"contents": "read", "pull_requests": "read", "issues": "write", "metadata": "read"})
		results := b.run(lines...)
		want(t, results, "applied applied applied applied")
		if !strings.Contains(results[0].Message, "forks have a read-only token") {
			t.Errorf("no reason: %q", results[0].Message)
		}
		if text := b.allText(); !strings.Contains(text, "One.") || !strings.Contains(text, "Two.") {
			t.Errorf("text is lost: %s", text)
		}
		b.cfg.Run.Attempt = 2
		want(t, b.run(lines...), "adopted adopted adopted adopted")
	})
	t.Run("annotations", func(t *testing.T) {
		b := fork(map[string]string{"contents": "read", "pull_requests": "read", "issues": "read", "metadata": "read"})
		results := b.run(lines...)
		want(t, results, "skipped(fork-read-only) skipped(fork-read-only) skipped(fork-read-only) skipped(fork-read-only)")
		if f := results[0].Fallback; f == nil || f.To != ToAnnotation || f.Path != "main.go" || f.Line != 1 || f.Text != "One." {
			t.Errorf("fallback %+v", f)
		}
		for _, r := range results[2:] { // the second is not even tried
			if f := r.Fallback; f == nil || f.To != ToSummary || f.Title != "Crash on start" {
				t.Errorf("fallback %+v", f)
			}
		}
		if n := len(b.srv.Writes()); n != 3 {
			t.Errorf("%d writes: each step once", n)
		}
	})
}

// An agent's comments and ours never share a review, nor a limit.
func TestOwnCommentsAreAReviewOfTheirOwn(t *testing.T) {
	b := ownBench(t, githubtest.Options{})
	b.cfg.HoldText, b.cfg.LostCode = true, "the push failed" // this does not concern our own comments
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

// If GitHub refuses a review of ours, it is divided like any other. But no comment is posted
// elsewhere, because the summary contains all comments already.
func TestOwnCommentsStandOnLinesOrNowhere(t *testing.T) {
	b := ownBench(t, githubtest.Options{})
	b.deps.Diff = []changes.ChangedFile{changes.FromAPI("main.go", "", "modified", patch, 4)} // git knows the lines, GitHub does not
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

// A comment of an earlier run is edited if its text differs from the finding's text now. A workflow
// run never edits a comment that a later run has written.
func TestOwnCommentsSayWhatIsFoundNow(t *testing.T) {
	b := ownBench(t, githubtest.Options{})
	withText := func(text string) []intake.OwnItem {
		one := found("one", 3)
		one.Item.(*safeoutput.CreateReviewComment).Body = text
		return []intake.OwnItem{one, found("two", 4)}
	}
	allFine(t, b.runOwn(withText("120 lines are too many.")))
	for range 2 {
		b.push()
		results := b.runOwn(withText("130 lines are too many."))
		allFine(t, results)
		if results[0].Object == nil || results[0].Object.ID != b.issue(pullNumber).Pull.Comments[0].ID {
			t.Errorf("the result points at %+v", results[0].Object)
		}
		b.wantOnLines("130 lines are too many.", "Found two.")
	}
	b.cfg.Run.ID -= 2 // the first run, whose checks took longest
	want(t, b.runOwn(withText("120 lines are too many.")), "adopted adopted")
	b.wantOnLines("130 lines are too many.", "Found two.")
	if got := operations(b.srv.Writes()); count(got, "pulls/create-review") != 1 || count(got, "pulls/update-review-comment") != 1 {
		t.Errorf("writes: %v", got)
	}
}

// A comment that a person has hidden is updated and stays hidden.
func TestOwnCommentsThatAreHiddenStaySo(t *testing.T) {
	b := ownBench(t, githubtest.Options{})
	allFine(t, b.runOwn([]intake.OwnItem{found("one", 3)}))
	b.srv.Change(func(f *githubtest.Fixture) { issueIn(*f, pullNumber).Pull.Comments[0].Minimized = "off-topic" })
	again := found("one", 3)
	again.Item.(*safeoutput.CreateReviewComment).Body = "Found one, still."
	allFine(t, b.push().runOwn([]intake.OwnItem{again}))
	b.wantOnLines("Found one, still. (off-topic)")
}

// If GitHub refuses the comments that continue a review's body, only a part is posted; the next
// attempt posts the rest and nothing twice.
func TestAReviewThatWasPostedInPart(t *testing.T) {
	b := reviewBench(t, githubtest.Options{})
	var lines []string
	for i := range 4 {
		lines = append(lines, reviewLine("nowhere.go", i+1, fmt.Sprintf("begin%d %s end%d", i, strings.Repeat("word ", 6000), i)))
	}
	b.srv.SetFault(always("issues/create-comment", githubtest.Fault{Status: 404, Body: `{"message":"Not Found"}`}))
	first := b.run(lines...)
	if c := Count(first); c[Applied] == 0 || c[Failed] == 0 {
		t.Fatalf("wanted a part: %s", states(first))
	}
	for _, r := range first {
		if r.State == Failed && (r.Fallback == nil || !strings.Contains(r.Fallback.Text, "word")) {
			t.Error("a comment that failed lost its text")
		}
	}
	b.srv.SetFault(nil)
	b.cfg.Run.Attempt = 2
	second := b.run(lines...)
	for i, r := range second {
		if wanted := map[State]State{Applied: Adopted, Failed: Applied}[first[i].State]; r.State != wanted {
			t.Errorf("item %d: %s after %s", i, r.State, first[i].State)
		}
	}
	text := b.allText()
	for i := range lines {
		for _, w := range []string{"begin", "end"} {
			if n := strings.Count(text, fmt.Sprintf("%s%d", w, i)); n != 1 {
				t.Errorf("%s%d is there %d times", w, i, n)
			}
		}
	}
}

// A run is killed before or after each request of a review with comments that GitHub refuses. The
// next attempt completes the review: every comment is there once, in one review.
func TestKilledWhileARefusedReviewIsPosted(t *testing.T) {
	lines := []string{reviewLine("main.go", 1, "Good one."), reviewLine("main.go", 99, "Bad one."), reviewLine("main.go", 3, "Good two."),
		reviewLine("gone.go", 1, "Bad two."), reviewLine("main.go", 5, "Good three.")}
	for n := 1; n < 60; n++ {
		for _, after := range []bool{false, true} {
			b := reviewBench(t, githubtest.Options{Lag: 5 * time.Second, Fault: always("pulls/list-files", githubtest.Fault{Status: 404, Body: `{"message":"Not Found"}`})})
			first := b.invoke(&killer{next: b.srv.Transport(), left: n, after: after}, lines)
			b.cfg.Run.Attempt = 2
			results := b.invoke(b.srv.Transport(), lines)
			for i, r := range results {
				if r.State != Applied && r.State != Adopted {
					t.Errorf("killed at %d (%v), item %d: %s(%s): %s", n, after, i, r.State, r.Code, r.Message)
				}
			}
			text := b.allText()
			for _, part := range []string{"Good one.", "Bad one.", "Good two.", "Bad two.", "Good three."} {
				if c := strings.Count(text, part); c != 1 {
					t.Errorf("killed at %d (%v): %q is there %d times", n, after, part, c)
				}
			}
			if i := b.issue(pullNumber); len(i.Pull.Reviews) != 1 || len(i.Comments) != 0 || i.Pull.Reviews[0].State != "COMMENTED" {
				t.Errorf("killed at %d (%v): %d reviews and %d comments notify people, not 1", n, after, len(i.Pull.Reviews), len(i.Comments))
			}
			if first != nil { // it ended before the kill
				return
			}
		}
	}
	t.Error("it never ended")
}
