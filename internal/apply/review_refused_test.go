package apply

import (
	"fmt"
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/githubapi"
	"github.com/agent-airlock/airlock/internal/githubtest"
	"github.com/agent-airlock/airlock/internal/policy"
	"github.com/agent-airlock/airlock/internal/safeoutput"
	"github.com/google/go-cmp/cmp"
)

func TestARefusedReviewIsBisected(t *testing.T) {
	// Without a diff nothing is pre-checked; GitHub knows better.
	b := reviewBench(t, githubtest.Options{Fault: func(r githubtest.Request) githubtest.Fault {
		if r.Operation == "pulls/list-files" {
			return githubtest.Fault{Status: 404, Body: `{"message":"Not Found"}`}
		}
		return githubtest.Fault{}
	}})
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
	last := pull.Reviews[len(pull.Reviews)-1].Body
	for _, part := range []string{"Bad anchor.", "Bad file.", "`gone.go`, line 1"} {
		if !strings.Contains(last, part) {
			t.Errorf("the body lacks %q:\n%s", part, last)
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
	t.Run("said", func(t *testing.T) {
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
		if text := b.everywhere(); strings.Count(text, "Outside then.") != 1 {
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

// What the owner wants done with comments outside the diff holds also where only
// GitHub's refusal tells that they are.
func TestRefusedLinesFollowThePolicy(t *testing.T) {
	lines := []string{reviewLine("main.go", 1, "Good."), reviewLine("main.go", 99, "Outside."), reviewLine("gone.go", 1, "Elsewhere.")}
	start := func(o policy.OutsideDiff) *bench {
		b := reviewBench(t, githubtest.Options{Fault: func(r githubtest.Request) githubtest.Fault {
			if r.Operation == "pulls/list-files" {
				return githubtest.Fault{Status: 404, Body: `{"message":"Not Found"}`}
			}
			return githubtest.Fault{}
		}})
		return b.kind(safeoutput.KindCreateReviewComment, func(k *policy.KindConfig) { k.Review.OutsideDiff = o })
	}
	t.Run("drop", func(t *testing.T) {
		b := start(policy.OutsideDrop)
		results := b.run(lines...)
		want(t, results, "applied skipped(outside-diff) skipped(outside-diff)")
		if text := b.everywhere(); strings.Contains(text, "Outside.") || strings.Contains(text, "Elsewhere.") {
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
		if text := b.everywhere(); strings.Count(text, "Elsewhere.") != 1 {
			t.Errorf("text is lost or doubled:\n%s", text)
		}
		b.cfg.Run.Attempt = 2
		want(t, b.run(lines...), "adopted adopted adopted")
	})
}

// A review that is not taken once may be taken by the next attempt, which must
// not post again what the first put into the conversation.
func TestAnEarlierAttemptPutEverythingIntoTheConversation(t *testing.T) {
	b := reviewBench(t, githubtest.Options{Fault: func(r githubtest.Request) githubtest.Fault {
		if r.Operation == "pulls/create-review" {
			return githubtest.Fault{Status: 422, Body: `{"message":"Unprocessable Entity","errors":["User can only have one pending review per pull request"]}`}
		}
		return githubtest.Fault{}
	}})
	want(t, b.run(reviewLine("main.go", 1, "One.")), "applied")
	b.srv.SetFault(nil)
	b.cfg.Run.Attempt = 2
	want(t, b.run(reviewLine("main.go", 1, "One.")), "adopted")
	if n := strings.Count(b.everywhere(), "One."); n != 1 {
		t.Errorf("it stands there %d times", n)
	}
}

func TestAReviewThatGitHubDoesNotTakeAtAll(t *testing.T) {
	b := reviewBench(t, githubtest.Options{Fault: func(r githubtest.Request) githubtest.Fault {
		if r.Operation == "pulls/create-review" {
			return githubtest.Fault{Status: 422, Body: `{"message":"Unprocessable Entity","errors":["User can only have one pending review per pull request"]}`}
		}
		return githubtest.Fault{}
	}})
	results := b.run(reviewLine("main.go", 1, "One."), reviewLine("main.go", 2, "Two."))
	want(t, results, "applied applied")
	if got := operations(b.srv.Writes()); !cmp.Equal(got, []string{"pulls/create-review", "issues/create-comment"}) {
		t.Errorf("writes %v", got)
	}
	if text := b.everywhere(); !strings.Contains(text, "One.") || !strings.Contains(text, "Two.") {
		t.Errorf("text is lost: %s", text)
	}
}

// GitHub words alike refusals differently, by endpoint and by age.
func TestRefusalsOfTheWholeReview(t *testing.T) {
	for text, whole := range map[string]bool{
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
			if aboutTheWhole(err) != whole {
				t.Errorf("%v: %v", err, !whole)
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
		if text := b.everywhere(); !strings.Contains(text, "One.") || !strings.Contains(text, "Two.") {
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
