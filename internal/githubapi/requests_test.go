package githubapi_test

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/agent-airlock/airlock/internal/githubapi"
	"github.com/agent-airlock/airlock/internal/githubtest"
)

// TestRequestsOfEachMethod is the table of what each method costs.
func TestRequestsOfEachMethod(t *testing.T) {
	head := strings.Repeat("a", 40)
	var zero time.Time
	for name, tt := range map[string]struct {
		do   func(w world) error
		want string
	}{
		"Viewer":             {func(w world) error { return second(w.Viewer(w.ctx)) }, "POST graphql/Viewer"},
		"GetRepo":            {func(w world) error { return second(w.GetRepo(w.ctx, repo)) }, "GET repos/get"},
		"GetFile":            {func(w world) error { return second(w.GetFile(w.ctx, repo, ".github/airlock.yml", "")) }, "GET repos/get-content"},
		"GetIssue":           {func(w world) error { return second(w.GetIssue(w.ctx, repo, 1)) }, "GET issues/get"},
		"CreateIssue":        {func(w world) error { return second(w.CreateIssue(w.ctx, repo, githubapi.NewIssue{Title: "x"})) }, "POST issues/create"},
		"EditIssue":          {func(w world) error { return second(w.EditIssue(w.ctx, repo, 1, githubapi.IssueEdit{Title: ptr("y")})) }, "PATCH issues/update"},
		"ListIssues":         {func(w world) error { return firstError(w.ListIssues(w.ctx, repo, githubapi.IssueFilter{})) }, "GET issues/list-for-repo"},
		"IssueEdits":         {func(w world) error { return second(w.IssueEdits(w.ctx, repo, 1, zero)) }, "POST graphql/Edits"},
		"ListIssueComments":  {func(w world) error { return firstError(w.ListIssueComments(w.ctx, repo, 1, zero)) }, "GET issues/list-comments"},
		"CreateIssueComment": {func(w world) error { return second(w.CreateIssueComment(w.ctx, repo, 1, "x")) }, "POST issues/create-comment"},
		"EditIssueComment": {func(w world) error {
			return second(w.EditIssueComment(w.ctx, repo, w.State().Issues[0].Comments[0].ID, "x"))
		}, "PATCH issues/update-comment"},
		"DeleteIssueComment": {func(w world) error { return w.DeleteIssueComment(w.ctx, repo, w.State().Issues[0].Comments[0].ID) }, "DELETE issues/delete-comment"},
		"ListLabels":         {func(w world) error { return firstError(w.ListLabels(w.ctx, repo)) }, "GET issues/list-labels-for-repo"},
		"ListLabelsOfIssue":  {func(w world) error { return firstError(w.ListLabelsOfIssue(w.ctx, repo, 1)) }, "GET issues/list-labels-on-issue"},
		"AddLabels":          {func(w world) error { return second(w.AddLabels(w.ctx, repo, 1, []string{"a"})) }, "POST issues/add-labels"},
		"GetPull":            {func(w world) error { return second(w.GetPull(w.ctx, repo, 2)) }, "GET pulls/get"},
		"ListPullFiles":      {func(w world) error { return firstError(w.ListPullFiles(w.ctx, repo, 2)) }, "GET pulls/list-files"},
		"ListReviews":        {func(w world) error { return firstError(w.ListReviews(w.ctx, repo, 2)) }, "GET pulls/list-reviews"},
		"CreateReview": {func(w world) error {
			return second(w.CreateReview(w.ctx, repo, 2, githubapi.NewReview{Event: "COMMENT", Body: "x"}))
		}, "POST pulls/create-review"},
		"ListReviewComments": {func(w world) error { return firstError(w.ListReviewComments(w.ctx, repo, 2, zero)) }, "GET pulls/list-review-comments"},
		"CreateReviewComment": {func(w world) error {
			return second(w.CreateReviewComment(w.ctx, repo, 2, githubapi.NewDiffComment{CommitID: head, Path: "main.go", Line: 2, Body: "x"}))
		}, "POST pulls/create-review-comment"},
		"EditReview and DeleteReviewComment": {func(w world) error {
			d, err := w.CreateReviewComment(w.ctx, repo, 2, githubapi.NewDiffComment{CommitID: head, Path: "main.go", Line: 2, Body: "x"})
			if err != nil {
				return err
			}
			w.ResetRequests()
			if _, err := w.EditReview(w.ctx, repo, 2, d.ReviewID, "x"); err != nil {
				return err
			}
			return w.DeleteReviewComment(w.ctx, repo, d.ID)
		}, "PUT pulls/update-review DELETE pulls/delete-review-comment"},
		"UploadSARIF and SARIFStatus": {func(w world) error {
			id, err := w.UploadSARIF(w.ctx, repo, githubapi.SARIFUpload{CommitSHA: head, Ref: "refs/heads/main", SARIF: packed(t, goodSARIF)})
			if err != nil {
				return err
			}
			return second(w.SARIFStatus(w.ctx, repo, id))
		}, "POST code-scanning/upload-sarif GET code-scanning/get-sarif"},
		"DiscussionCategories":   {func(w world) error { return second(w.DiscussionCategories(w.ctx, repo)) }, "POST graphql/Categories"},
		"ListDiscussions":        {func(w world) error { return firstError(w.ListDiscussions(w.ctx, repo, zero)) }, "POST graphql/Discussions"},
		"GetDiscussion":          {func(w world) error { return second(w.GetDiscussion(w.ctx, repo, 3)) }, "POST graphql/Discussion"},
		"ListDiscussionComments": {func(w world) error { return firstError(w.ListDiscussionComments(w.ctx, repo, 3, zero)) }, "POST graphql/DiscussionComments"},
		"CreateDiscussion": {func(w world) error {
			d := githubapi.NewDiscussion{RepositoryID: "R_1", CategoryID: "DIC_" + itoa(w.State().Categories[0].ID), Title: "x", Body: "y"}
			return second(w.CreateDiscussion(w.ctx, d))
		}, "POST graphql/CreateDiscussion"},
		"AddDiscussionComment": {func(w world) error {
			return second(w.AddDiscussionComment(w.ctx, "D_"+itoa(w.State().Discussions[0].ID), "x"))
		}, "POST graphql/AddDiscussionComment"},
		"DeleteDiscussionComment": {func(w world) error {
			return w.DeleteDiscussionComment(w.ctx, "DC_"+itoa(w.State().Discussions[0].Comments[0].ID))
		}, "POST graphql/DeleteDiscussionComment"},
		"DeleteDiscussion": {func(w world) error {
			return w.DeleteDiscussion(w.ctx, "D_"+itoa(w.State().Discussions[0].ID))
		}, "POST graphql/DeleteDiscussion"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, fixture())
			if err := tt.do(w); err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, r := range w.Requests() {
				got = append(got, r.Method+" "+r.Operation)
				if r.Header.Get("User-Agent") != "airlock" || r.Account == "" {
					t.Errorf("User-Agent %q, account %q", r.Header.Get("User-Agent"), r.Account)
				}
			}
			if s := strings.Join(got, " "); s != tt.want {
				t.Errorf("requests: %s, want %s", s, tt.want)
			}
		})
	}
}

// TestConcurrentUse paces many goroutines together.
func TestConcurrentUse(t *testing.T) {
	w := newWorld(t, fixture(), func(s *settings) { s.client.Pace = githubapi.PaceConfig{} })
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			if _, err := w.CreateIssueComment(w.ctx, repo, 1, "x"); err != nil {
				t.Error(err)
			}
			if _, err := w.Viewer(w.ctx); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if n := len(w.Writes()); n != 20 {
		t.Errorf("%d writes", n)
	}
	if got := githubtest.Peak(w.Requests(), time.Minute, githubtest.Contents); got > 80 {
		t.Errorf("%d in a minute", got)
	}
}
