package githubapi_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-airlock/airlock/internal/githubapi"
	"github.com/agent-airlock/airlock/internal/githubtest"
)

// topic is a world with a branch topic that has a commit of its own.
func topic(t *testing.T) (world, *githubtest.Git) {
	t.Helper()
	w, g := gitWorld(t)
	g.SetBranch("topic", g.SHA("main"))
	g.Commit("topic", map[string]string{"README.md": "hello\nworld\n"}, "Topic")
	w.Change(func(f *githubtest.Fixture) {
		f.Issues = nil
		f.Repo.Collaborators = []githubtest.Account{{Login: "Mona", ID: 7}, {Login: "hubot", ID: 8}}
	})
	return w, g
}

func TestPullFollowsItsBranch(t *testing.T) {
	w, g := topic(t)
	first := g.SHA("topic")
	p, err := w.CreatePull(w.ctx, repo, githubapi.NewPull{Title: "T", Body: "B", Head: "octo:topic", Base: "main", Draft: true})
	if err != nil || p.Head.SHA != first || p.Head.Ref != "topic" || p.Base.SHA != g.SHA("main") || !p.Draft || p.ChangedFiles != 1 || g.Run("rev-parse", fmt.Sprintf("refs/pull/%d/head", p.Number)) != first {
		t.Fatalf("CreatePull = %+v, %v", p, err)
	}
	second := g.Commit("topic", map[string]string{"new": "1\n"}, "More")
	if p, err = w.GetPull(w.ctx, repo, p.Number); err != nil || p.Head.SHA != second || p.ChangedFiles != 2 {
		t.Fatalf("GetPull = %+v, %v", p, err)
	}
	var files []string
	for _, f := range collect(t, w.ListPullFiles(w.ctx, repo, p.Number)) {
		files = append(files, f.Status+" "+f.Path+" "+f.Patch)
	}
	if diff := cmp.Diff([]string{"modified README.md @@ -1 +1,2 @@\n hello\n+world", "added new @@ -0,0 +1 @@\n+1"}, files); diff != "" {
		t.Error(diff)
	}
	// The head before is a commit of the pull request still.
	if _, err := w.CreateReview(w.ctx, repo, p.Number, githubapi.NewReview{CommitID: first, Event: "COMMENT", Comments: []githubapi.DraftComment{{Path: "README.md", Line: 2, Body: "x"}}}); err != nil {
		t.Errorf("a review of the earlier head: %v", err)
	}
	// A commit by the API moves it as well.
	third, _, err := w.CreateCommit(w.ctx, repo, githubapi.NewCommit{Branch: "topic", ExpectedHead: second, Headline: "x", Additions: []githubapi.Addition{{Path: "x"}}})
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range collect(t, w.ListPulls(w.ctx, repo, githubapi.PullFilter{Head: "octo:topic", Base: "main", State: "open"})) {
		if l.Head.SHA != third || l.Number != p.Number {
			t.Errorf("ListPulls: %+v", l)
		}
	}
	g.SetBranch("main", third)
	if p, err = w.GetPull(w.ctx, repo, p.Number); err != nil || !p.Merged || p.State != "closed" || p.Head.SHA != third {
		t.Errorf("after the merge: %+v, %v", p, err)
	}
	if all := collect(t, w.ListPulls(w.ctx, repo, githubapi.PullFilter{State: "closed"})); len(all) != 1 || !all[0].Merged {
		t.Errorf("closed: %+v", all)
	}
}

func TestPullOfADeletedBranch(t *testing.T) {
	w, g := topic(t)
	p, err := w.CreatePull(w.ctx, repo, githubapi.NewPull{Title: "T", Head: "topic", Base: "main"})
	if err != nil {
		t.Fatal(err)
	}
	g.DeleteBranch("topic")
	if p, err = w.GetPull(w.ctx, repo, p.Number); err != nil || p.State != "closed" || p.Merged {
		t.Errorf("GetPull = %+v, %v", p, err)
	}
}

func TestCreatePullRefused(t *testing.T) {
	w, g := topic(t)
	g.SetBranch("same", g.SHA("main"))
	g.SetBranch("other", g.SHA("topic"))
	g.SetBranch("alone", g.Run("commit-tree", "-m", "x", "main^{tree}"))
	if _, err := w.CreatePull(w.ctx, repo, githubapi.NewPull{Title: "T", Head: "topic", Base: "main"}); err != nil {
		t.Fatal(err)
	}
	w.Change(func(f *githubtest.Fixture) { f.Repo.NoDrafts = true })
	for name, tt := range map[string]struct {
		n    githubapi.NewPull
		kind githubapi.Kind
		want string
	}{
		"twice":       {githubapi.NewPull{Head: "topic", Base: "main"}, githubapi.Conflict, "A pull request already exists for octo:topic."},
		"with owner":  {githubapi.NewPull{Head: "octo:topic", Base: "main"}, githubapi.Conflict, "A pull request already exists for octo:topic."},
		"no head":     {githubapi.NewPull{Head: "none", Base: "main"}, githubapi.Validation, "head invalid"},
		"no base":     {githubapi.NewPull{Head: "topic", Base: "none"}, githubapi.Validation, "base invalid"},
		"nothing":     {githubapi.NewPull{Head: "same", Base: "main"}, githubapi.Validation, "No commits between main and same"},
		"of a branch": {githubapi.NewPull{Head: "main", Base: "main"}, githubapi.Validation, "No commits between main and main"},
		"unrelated":   {githubapi.NewPull{Head: "alone", Base: "main"}, githubapi.Validation, "The alone branch has no history in common with main"},
		"draft":       {githubapi.NewPull{Head: "other", Base: "main", Draft: true}, githubapi.Forbidden, "no draft pull requests"},
	} {
		tt.n.Title = "T"
		if _, err := w.CreatePull(w.ctx, repo, tt.n); !errors.Is(err, tt.kind) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	w.Change(func(f *githubtest.Fixture) { f.Repo.NoPullsByActions = true })
	var e *githubapi.Error
	if _, err := w.CreatePull(w.ctx, repo, githubapi.NewPull{Title: "T", Head: "other", Base: "main"}); !errors.As(err, &e) || e.Feature != githubapi.FeaturePullCreation {
		t.Errorf("by Actions: %v", err)
	}
	w.Change(func(f *githubtest.Fixture) { f.Viewer = githubtest.Account{Login: "an-app[bot]", ID: 9} })
	if _, err := w.CreatePull(w.ctx, repo, githubapi.NewPull{Title: "T", Head: "other", Base: "main"}); err != nil {
		t.Errorf("by another app: %v", err)
	}
}

func TestEditPullAndItsReviewers(t *testing.T) {
	w, _ := topic(t)
	p, err := w.CreatePull(w.ctx, repo, githubapi.NewPull{Title: "T", Body: "B", Head: "topic", Base: "main"})
	if err != nil {
		t.Fatal(err)
	}
	if e, err := w.EditPull(w.ctx, repo, p.Number, githubapi.PullEdit{Title: ptr("New")}); err != nil || e.Title != "New" || e.Body != "B" || e.Head != p.Head {
		t.Errorf("EditPull = %+v, %v", e, err)
	}
	if _, err := w.EditPull(w.ctx, repo, p.Number, githubapi.PullEdit{Title: ptr(" ")}); !errors.Is(err, githubapi.Validation) {
		t.Errorf("a blank title: %v", err)
	}
	if _, err := w.EditPull(w.ctx, repo, 99, githubapi.PullEdit{Title: ptr("x")}); !errors.Is(err, githubapi.NotFound) {
		t.Errorf("no such pull request: %v", err)
	}
	for users, want := range map[string]string{"mona,nobody": "is not a collaborator of the octo/repo repository", "github-actions[bot]": "cannot be requested from pull request author"} {
		if err := w.RequestReviewers(w.ctx, repo, p.Number, strings.Split(users, ",")); !errors.Is(err, githubapi.Validation) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", users, err)
		}
	}
	for _, users := range [][]string{{"mona"}, {"hubot", "MONA"}} {
		if err := w.RequestReviewers(w.ctx, repo, p.Number, users); err != nil {
			t.Error(err)
		}
	}
	if p, err = w.GetPull(w.ctx, repo, p.Number); err != nil || !cmp.Equal(p.Reviewers, []string{"Mona", "hubot"}) {
		t.Errorf("reviewers: %v, %v", p.Reviewers, err)
	}
}
