package githubapi_test

import (
	"errors"
	"testing"
	"time"

	"github.com/agent-airlock/airlock/internal/githubapi"
	"github.com/agent-airlock/airlock/internal/githubtest"
)

func TestDiscussions(t *testing.T) {
	t.Parallel()
	w := newWorld(t, fixture())
	cats, err := w.DiscussionCategories(w.ctx, repo)
	if err != nil || len(cats) != 2 || cats[1].Slug != "q-a" || !cats[1].Answerable || cats[0].RepositoryID != "R_1" {
		t.Fatalf("categories = %+v, %v", cats, err)
	}
	made, err := w.CreateDiscussion(w.ctx, githubapi.NewDiscussion{RepositoryID: cats[0].RepositoryID, CategoryID: cats[0].ID, Title: "New", Body: "Body & <b>"})
	if err != nil {
		t.Fatal(err)
	}
	if made.Number != 4 || made.Author.Login != "github-actions" || made.Category != cats[0] || made.Body != "Body & <b>" {
		t.Errorf("made = %+v", made)
	}
	read, err := w.GetDiscussion(w.ctx, repo, 4)
	if err != nil || read != made {
		t.Errorf("read = %+v, %v", read, err)
	}
	if list := collect(t, w.ListDiscussions(w.ctx, repo, w.clock.Now())); len(list) != 1 || list[0] != made {
		t.Errorf("since now: %+v", list)
	}
	if list := collect(t, w.ListDiscussions(w.ctx, repo, time.Time{})); len(list) != 2 || list[0] != made {
		t.Errorf("all: %+v", list)
	}
	comment, err := w.AddDiscussionComment(w.ctx, made.ID, "A reply")
	if err != nil {
		t.Fatal(err)
	}
	if list := collect(t, w.ListDiscussionComments(w.ctx, repo, 4, w.clock.Now())); len(list) != 1 || list[0] != comment {
		t.Errorf("comments: %+v", list)
	}
	if err := w.DeleteDiscussionComment(w.ctx, comment.ID); err != nil {
		t.Error(err)
	}
	if err := w.DeleteDiscussion(w.ctx, made.ID); err != nil {
		t.Error(err)
	}
	if _, err := w.GetDiscussion(w.ctx, repo, 4); !errors.Is(err, githubapi.NotFound) {
		t.Errorf("after deletion: %v", err)
	}
}

func TestDiscussionsOverManyPages(t *testing.T) {
	t.Parallel()
	f := fixture()
	for range 250 {
		f.Discussions = append(f.Discussions, &githubtest.Discussion{Title: "x", Body: "y"})
	}
	for range 150 {
		f.Discussions[0].Comments = append(f.Discussions[0].Comments, &githubtest.Comment{Body: "z"})
	}
	w := newWorld(t, f)
	if n := len(collect(t, w.ListDiscussions(w.ctx, repo, time.Time{}))); n != 251 {
		t.Errorf("%d discussions", n)
	}
	if n := len(collect(t, w.ListDiscussionComments(w.ctx, repo, 3, time.Time{}))); n != 151 {
		t.Errorf("%d comments", n)
	}
	w.ResetRequests()
	if n := len(collect(t, w.ListDiscussions(w.ctx, repo, w.clock.Now()))); n != 0 || len(w.Requests()) != 1 {
		t.Errorf("%d discussions with %d requests", n, len(w.Requests()))
	}
}
