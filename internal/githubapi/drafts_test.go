package githubapi_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-airlock/airlock/internal/githubapi"
	"github.com/agent-airlock/airlock/internal/githubtest"
)

// pullNode returns the node id of the pull request #2.
func pullNode(env testEnv) string { return fmt.Sprintf("PR_%d", env.State().Issues[1].ID) }

func TestPendingReview(t *testing.T) {
	t.Parallel()
	env := newTestEnv(t, fixture())
	head := strings.Repeat("a", 40)
	env.Change(func(f *githubtest.Fixture) { f.Issues[1].Pull.Head.Fork = "somebody/repo" })
	r, err := env.StartReview(env.ctx, repo, 2, head, "not yet")
	if err != nil || r.State != githubapi.ReviewPending || r.NodeID == "" {
		t.Fatalf("StartReview = %+v, %v", r, err)
	}
	for name, err := range map[string]error{
		"a second one":                second(env.StartReview(env.ctx, repo, 2, head, "another")),
		"a review in one request":     second(env.CreateReview(env.ctx, repo, 2, githubapi.NewReview{Event: "COMMENT", Body: "x"})),
		"submitting with a long body": env.SubmitReview(env.ctx, repo, r.NodeID, "COMMENT", strings.Repeat("x", 65537)),
		"requesting changes as the author": func() error {
			env.Change(func(f *githubtest.Fixture) { f.Issues[1].Author = f.Viewer })
			return env.SubmitReview(env.ctx, repo, r.NodeID, "REQUEST_CHANGES", "x")
		}(),
	} {
		if !errors.Is(err, githubapi.Validation) {
			t.Errorf("%s: %v", name, err)
		}
	}
	taken, err := env.AddReviewThreads(env.ctx, repo, pullNode(env), r.NodeID, []githubapi.NewThread{
		onLines("main.go", 13, 12, "", "range"), onLines("main.go", 99, 0, "", "nowhere"), onLines("main.go", 2, 0, githubapi.SideLeft, "old"),
		onFile(onLines("logo.png", 5, 0, "", "file")), onFile(onLines("other.go", 0, 0, "", "no file")), onLines("main.go", 2, 0, "", " ")})
	if want := []bool{true, false, true, true, false, false}; err != nil || !cmp.Equal(taken, want) {
		t.Errorf("taken %v, want %v, %v", taken, want, err)
	}
	if n := len(collect(t, env.ListReviewComments(env.ctx, repo, 2, time.Time{}))); n != 0 {
		t.Errorf("%d comments of a pending review are listed", n)
	}
	d, err := env.ReadDraft(env.ctx, repo, r.NodeID)
	if want := (githubapi.Draft{State: githubapi.ReviewPending, Comments: []string{"range", "old", "file"}}); err != nil || !cmp.Equal(d, want) {
		t.Errorf("ReadDraft = %+v, %v", d, err)
	}
	if err := env.SubmitReview(env.ctx, repo, r.NodeID, githubapi.ReviewComment, "now"); err != nil {
		t.Error(err)
	}
	list := collect(t, env.ListReviews(env.ctx, repo, 2))
	if len(list) != 1 || list[0].State != "COMMENTED" || list[0].Body != "now" {
		t.Errorf("reviews %+v", list)
	}
	for name, err := range map[string]error{
		"submitting twice":    env.SubmitReview(env.ctx, repo, r.NodeID, githubapi.ReviewComment, "again"),
		"deleting afterwards": env.DeletePendingReview(env.ctx, repo, r.NodeID),
	} {
		if !errors.Is(err, githubapi.Validation) {
			t.Errorf("%s: %v", name, err)
		}
	}
	r, err = env.StartReview(env.ctx, repo, 2, head, "another")
	if err == nil {
		err = env.DeletePendingReview(env.ctx, repo, r.NodeID)
	}
	if err != nil || len(env.State().Issues[1].Pull.Reviews) != 1 {
		t.Errorf("deleting: %v", err)
	}
	_, err = env.ReadDraft(env.ctx, repo, r.NodeID)
	for name, err := range map[string]error{"reading": err, "deleting": env.DeletePendingReview(env.ctx, repo, r.NodeID),
		"submitting": env.SubmitReview(env.ctx, repo, r.NodeID, githubapi.ReviewComment, "x"),
		"adding":     second(env.AddReviewThreads(env.ctx, repo, pullNode(env), r.NodeID, []githubapi.NewThread{onLines("main.go", 2, 0, "", "x")}))} {
		if !errors.Is(err, githubapi.NotFound) {
			t.Errorf("%s what is gone: %v", name, err)
		}
	}
}

// onLines returns a thread on lines of a file.
func onLines(path string, line, startLine int, side, body string) githubapi.NewThread {
	return githubapi.NewThread{DraftComment: githubapi.DraftComment{Path: path, Body: body, Line: line, StartLine: startLine, Side: side}}
}

// onFile returns the thread on its file.
func onFile(thread githubapi.NewThread) githubapi.NewThread {
	thread.OnFile = true
	return thread
}

// TestSeveralMutationsInPart asserts what a request with several mutations returns. If one of them
// took effect, the error is Ambiguous, unless GitHub refused the content of the others: then there
// is none. If none took effect, the error says why.
func TestSeveralMutationsInPart(t *testing.T) {
	t.Parallel()
	two := []githubapi.NewThread{onLines("a", 1, 0, "", "x"), onLines("b", 1, 0, "", "x")}
	for name, tt := range map[string]struct {
		body string
		want error
	}{
		"one was refused":         {`{"data":{"t0":{"thread":{"id":"A"}},"t1":null},"errors":[{"type":"UNPROCESSABLE","path":["t1"],"message":"no"}]}`, nil},
		"a node is gone":          {`{"data":{"t0":null,"t1":null},"errors":[{"type":"NOT_FOUND","path":["t0"],"message":"gone"}]}`, githubapi.NotFound},
		"gone after the first":    {`{"data":{"t0":{"thread":{"id":"A"}},"t1":null},"errors":[{"type":"NOT_FOUND","path":["t1"],"message":"gone"}]}`, githubapi.Ambiguous},
		"failed after the first":  {`{"data":{"t0":{"thread":{"id":"A"}},"t1":null},"errors":[{"path":["t1"],"message":"Something went wrong"}]}`, githubapi.Ambiguous},
		"limited after the first": {`{"data":{"t0":{"thread":{"id":"A"}},"t1":null},"errors":[{"type":"RATE_LIMITED","path":["t1"],"message":"rate limit exceeded"}]}`, githubapi.Ambiguous},
		"archived":                {`{"data":{"t0":null,"t1":null},"errors":[{"type":"UNPROCESSABLE","path":["t0"],"message":"Repository was archived so is read-only."}]}`, githubapi.Forbidden},
		"forbidden":               {`{"data":{"t0":null,"t1":null},"errors":[{"type":"FORBIDDEN","path":["t0"],"message":"Resource not accessible by integration"}]}`, githubapi.Forbidden},
	} {
		c, _ := script(t, 200, tt.body)
		taken, err := c.AddReviewThreads(t.Context(), repo, "PR_1", "PRR_1", two)
		if tt.want == nil && (err != nil || !cmp.Equal(taken, []bool{true, false})) || tt.want != nil && !errors.Is(err, tt.want) {
			t.Errorf("%s: %v, %v", name, taken, err)
		}
	}
	c, s := script(t, 200, `{}`)
	if _, err := c.AddReviewThreads(t.Context(), repo, "PR_1", "PRR_1", make([]githubapi.NewThread, 11)); !errors.Is(err, githubapi.Usage) || len(s.sent) != 0 {
		t.Errorf("eleven: %v, sent %d", err, len(s.sent))
	}
}
