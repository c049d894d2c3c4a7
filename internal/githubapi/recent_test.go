package githubapi_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/agent-airlock/airlock/internal/githubapi"
	"github.com/agent-airlock/airlock/internal/githubtest"
)

// TestRecent reads the newest entries of several lists in one request.
func TestRecent(t *testing.T) {
	t.Parallel()
	env := newTestEnv(t, fixture())
	var pull, discussion int
	env.Change(func(f *githubtest.Fixture) {
		for _, i := range f.Issues {
			if i.Pull != nil {
				pull = i.Number
				for n := range 120 {
					i.Pull.Reviews = append(i.Pull.Reviews, &githubtest.Review{ID: int64(5_000_000_000 + n), State: "COMMENTED", Body: fmt.Sprint("Review ", n), Author: f.Viewer})
				}
				i.Pull.Comments = append(i.Pull.Comments, &githubtest.DiffComment{ID: 6_000_000_001, ReviewID: 5_000_000_119, Body: "On a line", Author: f.Viewer},
					&githubtest.DiffComment{ID: 6_000_000_002, ReviewID: 5_000_000_118, InReplyTo: 6_000_000_001, Body: "An answer"})
			}
		}
		d := f.Discussions[0]
		discussion = d.Number
		d.Comments = append(d.Comments, &githubtest.Comment{ID: 77, Body: "There", Author: f.Viewer})
	})
	before := len(env.Requests())
	got, err := env.Recent(env.ctx, repo, githubapi.RecentQuery{Pulls: []int{pull}, Discussions: true, InDiscussions: []int{discussion}})
	if err != nil {
		t.Fatal(err)
	}
	if n := len(env.Requests()) - before; n != 1 {
		t.Errorf("%d requests", n)
	}
	reviews := got.Reviews[pull]
	if len(reviews) != 100 || reviews[99].ID != 5_000_000_119 || reviews[99].Body != "Review 119" || reviews[99].NodeID == "" || reviews[99].URL == "" || reviews[99].Author.DatabaseID == 0 {
		t.Errorf("%d reviews, the last %+v", len(reviews), reviews[len(reviews)-1])
	}
	var comments []string // in the order of their reviews
	for _, c := range got.Comments[pull] {
		comments = append(comments, fmt.Sprint(c.ID, c.ReviewID, c.InReplyTo, c.Body))
	}
	if fmt.Sprint(comments) != "[6000000002 5000000118 6000000001An answer 6000000001 5000000119 0On a line]" {
		t.Errorf("the comments are %q", comments)
	}
	if len(got.Discussions) == 0 || len(got.InDiscussions[discussion]) == 0 || got.InDiscussions[discussion][len(got.InDiscussions[discussion])-1].DatabaseID != 77 {
		t.Errorf("%d discussions, comments %+v", len(got.Discussions), got.InDiscussions)
	}
	if _, err := env.Recent(env.ctx, repo, githubapi.RecentQuery{}); !errors.Is(err, githubapi.Usage) {
		t.Errorf("nothing to look at: %v", err)
	}
	if _, err := env.Recent(env.ctx, repo, githubapi.RecentQuery{Pulls: []int{4711}}); err == nil {
		t.Error("an unknown pull request has reviews")
	}
}

func TestRecentOddAnswers(t *testing.T) {
	t.Parallel()
	for _, answer := range []string{`{"data":{"repository":null}}`, `{"data":{"repository":{}}}`, `{"data":{"repository":{"p2":null}}}`, `{"data":{"repository":{"p2":{"reviews":{"nodes":[{"fullDatabaseId":"x"}]}}}}}`} {
		env := newTestEnv(t, fixture())
		env.SetFault(func(githubtest.Request) githubtest.Fault { return githubtest.Fault{Status: 200, Body: answer} })
		if got, err := env.Recent(env.ctx, repo, githubapi.RecentQuery{Pulls: []int{2}}); err == nil {
			t.Errorf("%s: %+v", answer, got)
		}
	}
}

// TestRecentWithoutNumbers asserts that reviews and comments are read even if GitHub answers null for
// their ids in REST.
func TestRecentWithoutNumbers(t *testing.T) {
	t.Parallel()
	env := newTestEnv(t, fixture())
	env.SetFault(func(githubtest.Request) githubtest.Fault {
		return githubtest.Fault{Status: 200, Body: `{"data":{"repository":{"p2":{"reviews":{"nodes":[{"id":"PRR_1","fullDatabaseId":null,"body":"a",
			"comments":{"nodes":[{"id":"PRRC_1","fullDatabaseId":null,"body":"b","replyTo":{"fullDatabaseId":null}}]}}]}}}}}`}
	})
	got, err := env.Recent(env.ctx, repo, githubapi.RecentQuery{Pulls: []int{2}})
	if err != nil || len(got.Reviews[2]) != 1 || len(got.Comments[2]) != 1 || got.Comments[2][0].NodeID != "PRRC_1" {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestListComments asserts that only new comments are listed, the newest first: that of the last
// issue.
func TestListComments(t *testing.T) {
	t.Parallel()
	env := newTestEnv(t, fixture())
	var numbers []int
	env.Change(func(f *githubtest.Fixture) {
		for _, i := range f.Issues {
			i.Comments = append(i.Comments, &githubtest.Comment{Body: "New", CreatedAt: env.clock.Now(), UpdatedAt: env.clock.Now()},
				&githubtest.Comment{Body: "Old", CreatedAt: env.clock.Now().Add(-time.Hour), UpdatedAt: env.clock.Now().Add(-time.Hour)})
			numbers = append([]int{i.Number}, numbers...)
		}
	})
	var got []int
	for _, c := range collect(t, env.ListComments(env.ctx, repo, env.clock.Now().Add(-time.Minute))) {
		if c.Body != "New" {
			t.Errorf("%+v", c)
		}
		got = append(got, c.Number)
	}
	if fmt.Sprint(got) != fmt.Sprint(numbers) {
		t.Errorf("comments on %v, not %v", got, numbers)
	}
}
