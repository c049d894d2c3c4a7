package apply

import (
	"fmt"
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/changes"
	"github.com/agent-airlock/airlock/internal/githubtest"
	"github.com/agent-airlock/airlock/internal/markdown"
	"github.com/agent-airlock/airlock/internal/policy"
	"github.com/agent-airlock/airlock/internal/safeoutput"
	"github.com/google/go-cmp/cmp"
)

// reviewBench is a run on the pull request.
func reviewBench(t *testing.T, o githubtest.Options) *bench {
	t.Helper()
	return newBench(t, fixture(), o).on("pull_request", pullNumber)
}

// everywhere is all text that stands on the pull request.
func (b *bench) everywhere() string {
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
	text := b.everywhere()
	for i := range 40 {
		if n := strings.Count(text, fmt.Sprintf("Comment number %d.", i)); n != 1 {
			t.Errorf("comment %d stands there %d times", i, n)
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
	text := b.everywhere()
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

// Half a code span is no code, and what was quoted in it is made inert, which
// takes room.
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
	text := b.everywhere()
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
	b.world.Diff = localDiff()
	want(t, b.run(reviewLine("main.go", 3, "Here.")), "applied")
	if n := count(operations(b.srv.Requests()), "pulls/list-files"); n != 0 {
		t.Errorf("the files were asked for %d times", n)
	}
}

func localDiff() []changes.ChangedFile {
	return []changes.ChangedFile{{Path: "main.go", Status: changes.Modified, Patch: patch}}
}

// A list of permissions is read as one sentence.
func TestPermissionWords(t *testing.T) {
	p := []Permission{{"a", "read"}, {"b", "write"}, {"c", "write"}}
	for n, want := range []string{"", "a: read", "a: read and b: write", "a: read, b: write and c: write"} {
		if got := permissionWords(p[:n]); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
