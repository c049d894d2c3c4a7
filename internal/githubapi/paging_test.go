package githubapi_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/agent-airlock/airlock/internal/githubapi"
	"github.com/agent-airlock/airlock/internal/githubtest"
)

// crowded returns a repository with n comments on #1; n reviews, files and review comments on #2;
// and n more issues.
func crowded(n int) githubtest.Fixture {
	f := fixture()
	f.Issues[0].Comments, f.Issues[1].Pull.Files = nil, nil
	for k := range n {
		f.Issues[0].Comments = append(f.Issues[0].Comments, &githubtest.Comment{Body: fmt.Sprint(k)})
		f.Issues[1].Pull.Reviews = append(f.Issues[1].Pull.Reviews, &githubtest.Review{Body: fmt.Sprint(k)})
		f.Issues[1].Pull.Files = append(f.Issues[1].Pull.Files, githubtest.File{Path: fmt.Sprintf("f%05d", k), Patch: "@@ -1 +1 @@\n-a\n+b"})
		f.Issues[1].Pull.Comments = append(f.Issues[1].Pull.Comments, &githubtest.DiffComment{Path: "f00000", Line: 1, Body: fmt.Sprint(k)})
	}
	for k := range n {
		f.Issues = append(f.Issues, &githubtest.Issue{Title: fmt.Sprint(k)})
	}
	return f
}

// counts reads every list and returns how many entries each has, without the issues #1 and #2.
func counts(t *testing.T, env testEnv) map[string]int {
	return map[string]int{
		"comments":        len(collect(t, env.ListIssueComments(env.ctx, repo, 1, time.Time{}))),
		"reviews":         len(collect(t, env.ListReviews(env.ctx, repo, 2))),
		"review comments": len(collect(t, env.ListReviewComments(env.ctx, repo, 2, time.Time{}))),
		"files":           len(collect(t, env.ListPullFiles(env.ctx, repo, 2))),
		"issues":          len(collect(t, env.ListIssues(env.ctx, repo, githubapi.IssueFilter{}))) - 2,
	}
}

func TestPaging(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 100, 101, 201} {
		env := newTestEnv(t, crowded(n))
		for name, got := range counts(t, env) {
			if got != n {
				t.Errorf("%s: %d, want %d", name, got, n)
			}
		}
	}
}

func TestOnePageIsOneRequest(t *testing.T) {
	t.Parallel()
	env := newTestEnv(t, crowded(50))
	counts(t, env)
	if n := len(env.Requests()); n != 5 {
		t.Errorf("%d requests for five lists", n)
	}
}

func TestPagesThatShift(t *testing.T) {
	t.Parallel()
	for _, shift := range []int{3, -3} {
		t.Run(fmt.Sprint(shift), func(t *testing.T) {
			t.Parallel()
			env := newTestEnv(t, crowded(250))
			// Each list but that of the files shifts once, on its first reading.
			shifted := map[string]bool{}
			env.SetFault(func(r githubtest.Request) githubtest.Fault {
				if r.Query.Get("page") == "2" && !shifted[r.Operation] && r.Operation != "pulls/list-files" {
					shifted[r.Operation] = true
					return githubtest.Fault{Shift: shift}
				}
				return githubtest.Fault{}
			})
			for name, got := range counts(t, env) {
				if got != 250 {
					t.Errorf("%s: %d, want 250", name, got)
				}
			}
		})
	}
}

func TestFilesStopAt3000(t *testing.T) {
	t.Parallel()
	env := newTestEnv(t, crowded(3050))
	if n := len(collect(t, env.ListPullFiles(env.ctx, repo, 2))); n != 3000 {
		t.Errorf("%d files", n)
	}
	if n := len(env.Requests()); n != 30 {
		t.Errorf("%d requests", n)
	}
	if p, err := env.GetPull(env.ctx, repo, 2); err != nil || p.ChangedFiles != 3050 {
		t.Errorf("ChangedFiles = %d, %v", p.ChangedFiles, err)
	}
}

func TestStoppingEarly(t *testing.T) {
	t.Parallel()
	env := newTestEnv(t, crowded(250))
	for range env.ListIssues(env.ctx, repo, githubapi.IssueFilter{}) {
		break
	}
	if n := len(env.Requests()); n != 1 {
		t.Errorf("%d requests", n)
	}
}

func TestPagingEndsWithTheError(t *testing.T) {
	t.Parallel()
	env := newTestEnv(t, crowded(250))
	env.SetFault(func(r githubtest.Request) githubtest.Fault {
		if r.Query.Get("page") == "2" {
			return githubtest.Fault{Status: 404, Body: `{"message":"Not Found"}`}
		}
		return githubtest.Fault{}
	})
	items, errs := 0, 0
	for _, err := range env.ListIssueComments(env.ctx, repo, 1, time.Time{}) {
		if err != nil {
			errs++
			if !errors.Is(err, githubapi.NotFound) {
				t.Error(err)
			}
			continue
		}
		items++
	}
	if items != 100 || errs != 1 {
		t.Errorf("%d items, %d errors", items, errs)
	}
}

// TestLag asserts that a new object can be read at once and appears in lists later.
func TestLag(t *testing.T) {
	t.Parallel()
	env := newTestEnv(t, fixture(), func(s *settings) { s.server.Lag = 30 * time.Second })
	start := env.clock.Now()
	made, err := env.CreateIssue(env.ctx, repo, githubapi.NewIssue{Title: "x"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := env.GetIssue(env.ctx, repo, made.Number); err != nil {
		t.Error(err)
	}
	if _, err := env.CreateIssueComment(env.ctx, repo, 1, "x"); err != nil {
		t.Fatal(err)
	}
	listed := func() int {
		return len(collect(t, env.ListIssues(env.ctx, repo, githubapi.IssueFilter{Since: start}))) + len(collect(t, env.ListIssueComments(env.ctx, repo, 1, start)))
	}
	// #1 was updated by the comment, so it is listed.
	if n := listed(); n != 1 {
		t.Errorf("at once: %d", n)
	}
	env.clock.Advance(30 * time.Second)
	if n := listed(); n != 3 {
		t.Errorf("later: %d", n)
	}
}
