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

func TestPulls(t *testing.T) {
	t.Parallel()
	f := fixture()
	f.Issues[1].Pull.Head.Fork = "someone/fork"
	env := newTestEnv(t, f)
	got, err := env.GetPull(env.ctx, repo, 2)
	if err != nil {
		t.Fatal(err)
	}
	if got.Title != "A change" || got.ChangedFiles != 3 || got.Head.Ref != "topic" || got.Head.SHA != strings.Repeat("a", 40) ||
		got.Head.Repo != (githubapi.Repo{Owner: "someone", Name: "fork"}) || got.Head.RepoID == got.Base.RepoID ||
		got.Base.Repo != repo || got.Base.RepoID != 1 || got.Base.Ref != "main" {
		t.Errorf("GetPull = %+v", got)
	}
	files := collect(t, env.ListPullFiles(env.ctx, repo, 2))
	want := []githubapi.PullFile{
		{Path: "main.go", Status: "modified", Patch: patch, Changes: 4},
		{Path: "new.go", PreviousPath: "old.go", Status: "renamed"},
		{Path: "logo.png", Status: "added"},
	}
	if diff := cmp.Diff(want, files); diff != "" {
		t.Error(diff)
	}
	if _, err := env.GetPull(env.ctx, repo, 1); !errors.Is(err, githubapi.NotFound) {
		t.Errorf("an issue as a pull request: %v", err)
	}
	env.Change(func(f *githubtest.Fixture) { f.Issues[1].Pull.Head.Fork = "deleted" })
	if gone, err := env.GetPull(env.ctx, repo, 2); err != nil || !gone.Head.Repo.IsZero() {
		t.Errorf("with a deleted fork: %+v, %v", gone.Head, err)
	}
}

func TestReviews(t *testing.T) {
	t.Parallel()
	env := newTestEnv(t, fixture())
	head := strings.Repeat("a", 40)
	made, err := env.CreateReview(env.ctx, repo, 2, githubapi.NewReview{CommitID: head, Event: githubapi.ReviewComment, Body: "Some notes", Comments: []githubapi.DraftComment{
		{Path: "main.go", Line: 3, StartLine: 2, Body: "range"},
		{Path: "main.go", Line: 12, StartLine: 12, Body: "single"},
		{Path: "main.go", Line: 2, Side: githubapi.SideLeft, Body: "old side"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	if made.State != "COMMENTED" || made.Body != "Some notes" || env.State().Issues[1].Pull.Reviews[0].CommitID != head {
		t.Errorf("made = %+v", made)
	}
	sent := string(env.Writes()[0].Body)
	if strings.Count(sent, "start_line") != 1 || strings.Count(sent, "start_side") != 1 {
		t.Errorf("sent: %s", sent)
	}
	if diff := cmp.Diff([]githubapi.Review{made}, collect(t, env.ListReviews(env.ctx, repo, 2))); diff != "" {
		t.Error(diff)
	}
	type place struct {
		Body, Side, StartSide string
		Line, StartLine       int
	}
	var places []place
	list := collect(t, env.ListReviewComments(env.ctx, repo, 2, env.clock.Now()))
	for _, d := range list {
		if d.ReviewID != made.ID || d.Author.DatabaseID != 41898282 {
			t.Errorf("comment = %+v", d)
		}
	}
	for _, d := range env.State().Issues[1].Pull.Comments {
		places = append(places, place{d.Body, d.Side, d.StartSide, d.Line, d.StartLine})
	}
	want := []place{{"range", "RIGHT", "RIGHT", 3, 2}, {"single", "RIGHT", "", 12, 0}, {"old side", "LEFT", "", 2, 0}}
	if diff := cmp.Diff(want, places); diff != "" {
		t.Error(diff)
	}
	if err := env.DeleteReviewComment(env.ctx, repo, list[0].ID); err != nil {
		t.Error(err)
	}
	edited, err := env.EditReview(env.ctx, repo, 2, made.ID, "Other notes")
	if err != nil || edited.Body != "Other notes" {
		t.Errorf("EditReview = %+v, %v", edited, err)
	}
	if _, err := env.CreateReview(env.ctx, repo, 2, githubapi.NewReview{Body: "x"}); !errors.Is(err, githubapi.Usage) {
		t.Errorf("without an event: %v", err)
	}
}

func TestReviewIsAllOrNothing(t *testing.T) {
	t.Parallel()
	good := githubapi.DraftComment{Path: "main.go", Line: 2, Body: "good"}
	for name, bad := range map[string]githubapi.DraftComment{
		"line outside the diff":   {Path: "main.go", Line: 7, Body: "x"},
		"line of the other side":  {Path: "main.go", Line: 13, Side: githubapi.SideLeft, Body: "x"},
		"file not in the diff":    {Path: "other.go", Line: 1, Body: "x"},
		"old name of the file":    {Path: "old.go", Line: 1, Body: "x"},
		"binary file":             {Path: "logo.png", Line: 1, Body: "x"},
		"range over two hunks":    {Path: "main.go", StartLine: 2, Line: 12, Body: "x"},
		"range upside down":       {Path: "main.go", StartLine: 3, Line: 2, Body: "x"},
		"blank comment":           {Path: "main.go", Line: 2, Body: " "},
		"comment that is too big": {Path: "main.go", Line: 2, Body: strings.Repeat("x", 65537)},
	} {
		t.Run(name, func(t *testing.T) {
			env := newTestEnv(t, fixture())
			_, err := env.CreateReview(env.ctx, repo, 2, githubapi.NewReview{CommitID: strings.Repeat("a", 40), Event: "COMMENT", Comments: []githubapi.DraftComment{good, bad}})
			var e *githubapi.Error
			if !errors.As(err, &e) || e.Kind != githubapi.Validation || len(e.Fields) != 1 || e.Fields[0].Message == "" {
				t.Fatalf("err = %v, want Validation with one field", err)
			}
			p := env.State().Issues[1].Pull
			if len(p.Comments) != 0 || len(p.Reviews) != 0 {
				t.Errorf("something was posted")
			}
		})
	}
}

// newTopicEnv returns a testEnv with two collaborators, without issues, and with a branch topic that
// has a commit of its own.
func newTopicEnv(t *testing.T) (testEnv, *githubtest.Git) {
	t.Helper()
	env, g := newGitEnv(t)
	g.SetBranch("topic", g.SHA("main"))
	g.Commit("topic", map[string]string{"README.md": "hello\nworld\n"}, "Topic")
	env.Change(func(f *githubtest.Fixture) {
		f.Issues = nil
		f.Repo.Collaborators = []githubtest.Account{{Login: "Mona", ID: 7}, {Login: "hubot", ID: 8}}
	})
	return env, g
}

func TestPullFollowsItsBranch(t *testing.T) {
	t.Parallel()
	env, g := newTopicEnv(t)
	first := g.SHA("topic")
	p, err := env.CreatePull(env.ctx, repo, githubapi.NewPull{Title: "T", Body: "B", Head: "octo:topic", Base: "main", Draft: true})
	if err != nil || p.Head.SHA != first || p.Head.Ref != "topic" || p.Base.SHA != g.SHA("main") || !p.Draft || p.ChangedFiles != 1 || g.Run("rev-parse", fmt.Sprintf("refs/pull/%d/head", p.Number)) != first {
		t.Fatalf("CreatePull = %+v, %v", p, err)
	}
	second := g.Commit("topic", map[string]string{"new": "1\n"}, "More")
	if p, err = env.GetPull(env.ctx, repo, p.Number); err != nil || p.Head.SHA != second || p.ChangedFiles != 2 {
		t.Fatalf("GetPull = %+v, %v", p, err)
	}
	var files []string
	for _, f := range collect(t, env.ListPullFiles(env.ctx, repo, p.Number)) {
		files = append(files, f.Status+" "+f.Path+" "+f.Patch)
	}
	if diff := cmp.Diff([]string{"modified README.md @@ -1 +1,2 @@\n hello\n+world", "added new @@ -0,0 +1 @@\n+1"}, files); diff != "" {
		t.Error(diff)
	}
	// The earlier head is still a commit of the pull request.
	if _, err := env.CreateReview(env.ctx, repo, p.Number, githubapi.NewReview{CommitID: first, Event: "COMMENT", Comments: []githubapi.DraftComment{{Path: "README.md", Line: 2, Body: "x"}}}); err != nil {
		t.Errorf("a review of the earlier head: %v", err)
	}
	// A commit that the API makes moves the head as well.
	third, _, err := env.CreateCommit(env.ctx, repo, githubapi.NewCommit{Branch: "topic", ExpectedHead: second, Headline: "x", Additions: []githubapi.Addition{{Path: "x"}}})
	if err != nil {
		t.Fatal(err)
	}
	if list := collect(t, env.ListPulls(env.ctx, repo, githubapi.PullFilter{Head: "octo:topic", Base: "main", State: "open"})); len(list) != 1 || list[0].Head.SHA != third || list[0].Number != p.Number {
		t.Errorf("ListPulls: %+v, want #%d at %s", list, p.Number, third)
	}
	g.SetBranch("main", third)
	if p, err = env.GetPull(env.ctx, repo, p.Number); err != nil || !p.Merged || p.State != "closed" || p.Head.SHA != third {
		t.Errorf("after the merge: %+v, %v", p, err)
	}
	if all := collect(t, env.ListPulls(env.ctx, repo, githubapi.PullFilter{State: "closed"})); len(all) != 1 || !all[0].Merged {
		t.Errorf("closed: %+v", all)
	}
}

func TestPullOfADeletedBranch(t *testing.T) {
	t.Parallel()
	env, g := newTopicEnv(t)
	p, err := env.CreatePull(env.ctx, repo, githubapi.NewPull{Title: "T", Head: "topic", Base: "main"})
	if err != nil {
		t.Fatal(err)
	}
	g.DeleteBranch("topic")
	if p, err = env.GetPull(env.ctx, repo, p.Number); err != nil || p.State != "closed" || p.Merged {
		t.Errorf("GetPull = %+v, %v", p, err)
	}
}

func TestCreatePullRefused(t *testing.T) {
	t.Parallel()
	env, g := newTopicEnv(t)
	g.SetBranch("same", g.SHA("main"))
	g.SetBranch("other", g.SHA("topic"))
	g.SetBranch("alone", g.Run("commit-tree", "-m", "x", "main^{tree}"))
	if _, err := env.CreatePull(env.ctx, repo, githubapi.NewPull{Title: "T", Head: "topic", Base: "main"}); err != nil {
		t.Fatal(err)
	}
	env.Change(func(f *githubtest.Fixture) { f.Repo.NoDrafts = true })
	for name, tt := range map[string]struct {
		n    githubapi.NewPull
		kind githubapi.Kind
		want string
	}{
		"exists":      {githubapi.NewPull{Head: "topic", Base: "main"}, githubapi.Conflict, "A pull request already exists for octo:topic."},
		"with owner":  {githubapi.NewPull{Head: "octo:topic", Base: "main"}, githubapi.Conflict, "A pull request already exists for octo:topic."},
		"no head":     {githubapi.NewPull{Head: "none", Base: "main"}, githubapi.Validation, "head invalid"},
		"no base":     {githubapi.NewPull{Head: "topic", Base: "none"}, githubapi.Validation, "base invalid"},
		"no commits":  {githubapi.NewPull{Head: "same", Base: "main"}, githubapi.Validation, "No commits between main and same"},
		"onto itself": {githubapi.NewPull{Head: "main", Base: "main"}, githubapi.Validation, "No commits between main and main"},
		"unrelated":   {githubapi.NewPull{Head: "alone", Base: "main"}, githubapi.Validation, "The alone branch has no history in common with main"},
		"draft":       {githubapi.NewPull{Head: "other", Base: "main", Draft: true}, githubapi.Forbidden, "no draft pull requests"},
	} {
		tt.n.Title = "T"
		if _, err := env.CreatePull(env.ctx, repo, tt.n); !errors.Is(err, tt.kind) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %s with %q", name, err, tt.kind, tt.want)
		}
	}
	env.Change(func(f *githubtest.Fixture) { f.Repo.NoPullsByActions = true })
	var e *githubapi.Error
	if _, err := env.CreatePull(env.ctx, repo, githubapi.NewPull{Title: "T", Head: "other", Base: "main"}); !errors.As(err, &e) || e.Feature != githubapi.FeaturePullCreation {
		t.Errorf("by Actions: %v", err)
	}
	env.Change(func(f *githubtest.Fixture) { f.Viewer = githubtest.Account{Login: "an-app[bot]", ID: 9} })
	if _, err := env.CreatePull(env.ctx, repo, githubapi.NewPull{Title: "T", Head: "other", Base: "main"}); err != nil {
		t.Errorf("by another app: %v", err)
	}
}

func TestEditPullAndItsReviewers(t *testing.T) {
	t.Parallel()
	env, _ := newTopicEnv(t)
	p, err := env.CreatePull(env.ctx, repo, githubapi.NewPull{Title: "T", Body: "B", Head: "topic", Base: "main"})
	if err != nil {
		t.Fatal(err)
	}
	if e, err := env.EditPull(env.ctx, repo, p.Number, githubapi.PullEdit{Title: ptr("New")}); err != nil || e.Title != "New" || e.Body != "B" || e.Head != p.Head {
		t.Errorf("EditPull = %+v, %v", e, err)
	}
	if _, err := env.EditPull(env.ctx, repo, p.Number, githubapi.PullEdit{Title: ptr(" ")}); !errors.Is(err, githubapi.Validation) {
		t.Errorf("a blank title: %v", err)
	}
	if _, err := env.EditPull(env.ctx, repo, 99, githubapi.PullEdit{Title: ptr("x")}); !errors.Is(err, githubapi.NotFound) {
		t.Errorf("no such pull request: %v", err)
	}
	for users, want := range map[string]string{"mona,nobody": "is not a collaborator of the octo/repo repository", "github-actions[bot]": "cannot be requested from pull request author"} {
		if err := env.RequestReviewers(env.ctx, repo, p.Number, strings.Split(users, ",")); !errors.Is(err, githubapi.Validation) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", users, err)
		}
	}
	for _, users := range [][]string{{"mona"}, {"hubot", "MONA"}} {
		if err := env.RequestReviewers(env.ctx, repo, p.Number, users); err != nil {
			t.Error(err)
		}
	}
	if p, err = env.GetPull(env.ctx, repo, p.Number); err != nil || !cmp.Equal(p.Reviewers, []string{"Mona", "hubot"}) {
		t.Errorf("reviewers: %v, %v", p.Reviewers, err)
	}
}
