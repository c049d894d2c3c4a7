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
	env := newTestEnv(t, fixture())
	cats, err := env.DiscussionCategories(env.ctx, repo)
	if err != nil || len(cats) != 2 || cats[1].Slug != "q-a" || cats[0].RepositoryID != "R_1" {
		t.Fatalf("categories = %+v, %v", cats, err)
	}
	made, err := env.CreateDiscussion(env.ctx, githubapi.NewDiscussion{RepositoryID: cats[0].RepositoryID, CategoryID: cats[0].ID, Title: "New", Body: "Body & <b>"})
	if err != nil {
		t.Fatal(err)
	}
	if made.Number != 4 || made.Author.Login != "github-actions" || made.Category != cats[0] || made.Body != "Body & <b>" {
		t.Errorf("made = %+v", made)
	}
	read, err := env.GetDiscussion(env.ctx, repo, 4)
	if err != nil || read != made {
		t.Errorf("read = %+v, %v", read, err)
	}
	if list := collect(t, env.ListDiscussions(env.ctx, repo, env.clock.Now())); len(list) != 1 || list[0] != made {
		t.Errorf("since now: %+v", list)
	}
	if list := collect(t, env.ListDiscussions(env.ctx, repo, time.Time{})); len(list) != 2 || list[0] != made {
		t.Errorf("all: %+v", list)
	}
	comment, err := env.AddDiscussionComment(env.ctx, made.ID, "A reply")
	if err != nil {
		t.Fatal(err)
	}
	if list := collect(t, env.ListDiscussionComments(env.ctx, repo, 4, env.clock.Now())); len(list) != 1 || list[0] != comment {
		t.Errorf("comments: %+v", list)
	}
	if err := env.DeleteDiscussionComment(env.ctx, comment.ID); err != nil {
		t.Error(err)
	}
	if err := env.DeleteDiscussion(env.ctx, made.ID); err != nil {
		t.Error(err)
	}
	if _, err := env.GetDiscussion(env.ctx, repo, 4); !errors.Is(err, githubapi.NotFound) {
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
	env := newTestEnv(t, f)
	if n := len(collect(t, env.ListDiscussions(env.ctx, repo, time.Time{}))); n != 251 {
		t.Errorf("%d discussions", n)
	}
	if n := len(collect(t, env.ListDiscussionComments(env.ctx, repo, 3, time.Time{}))); n != 151 {
		t.Errorf("%d comments", n)
	}
	env.ResetRequests()
	if n := len(collect(t, env.ListDiscussions(env.ctx, repo, env.clock.Now()))); n != 0 || len(env.Requests()) != 1 {
		t.Errorf("%d discussions with %d requests", n, len(env.Requests()))
	}
}
