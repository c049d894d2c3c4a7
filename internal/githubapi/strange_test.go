package githubapi_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/agent-airlock/airlock/internal/githubapi"
)

// strangeAnswers have the status of a success, and a body that shows neither what was done nor what
// is there.
var strangeAnswers = []struct {
	status int
	body   string
}{
	{200, ``}, {200, `null`}, {200, `true`}, {200, `7`}, {200, `"ok"`}, {200, `{}`}, {200, `{"message":"Accepted"}`}, {200, `{"id":"seven","number":"five"}`},
	{200, `{"id":null,"number":null,"node_id":null}`}, {200, `{"id":0,"number":0}`}, {200, `{"id":-1,"number":-1}`}, {200, `{"id":1.5,"number":2.5}`}, {200, `[null]`}, {200, `[{}]`}, {200, `[7]`}, {200, `[[]]`},
	{200, `{"data":null}`}, {200, `{"data":{}}`}, {200, `{"data":[]}`}, {200, `<html>Unicorn!</html>`}, {200, `{"id":1,"number":5`}, {200, `{"id":1}{"id":2}`},
	{201, `{}`}, {201, `null`}, {201, ``}, {202, `{}`}, {202, `null`}, {202, `{"message":"queued"}`}, {202, `[]`}, {204, ``}, {205, ``}, {206, `{}`},
	{200, `{"check_runs":null}`}, {200, `{"check_runs":[null]}`}, {200, `{"total_count":1,"check_runs":[{}]}`},
	{200, `{"data":{"repository":null,"node":null,"viewer":null,"createDiscussion":null,"addDiscussionComment":null,"createCommitOnBranch":{"commit":null}}}`},
	{200, `{"data":{"repository":{"id":"R","hasDiscussionsEnabled":true,"discussions":{"nodes":[null]},"discussionCategories":{"nodes":null},"discussion":{"comments":{"nodes":[null]}}}}}`},
	{200, `{"data":{"createDiscussion":{"discussion":{}},"addDiscussionComment":{"comment":{}},"minimizeComment":{"minimizedComment":{"isMinimized":null}},"deleteDiscussion":{"discussion":null}}}`},
	{200, `{"data":{"repository":{"id":"R","hasDiscussionsEnabled":true,"discussions":{"nodes":[{"id":"D","number":1}],"pageInfo":null},"discussionCategories":{"nodes":[{"id":"C"}]},"discussion":{"comments":{"nodes":[{"id":"D"}]}}}}}`},
	{200, `{"data":{"repository":{"id":"R","url":"u","p5":{"reviews":null},"discussions":{"nodes":null},"d6":{"comments":null},"issue":{"number":5,"body":"x","userContentEdits":{"nodes":null}},
		"pullRequest":{"headRefOid":"` + strings.Repeat("a", 40) + `","comments":null,"closingIssuesReferences":{"nodes":null,"totalCount":3}},"refs":{"nodes":[],"pageInfo":{}}}}}`},
	{200, `{"data":{"repository":{"p5":{"reviews":{"nodes":[null]}},"discussions":{"nodes":[{}]},"d6":{"comments":{"nodes":[null]}}}}}`},
	{200, `{"data":{"repository":{"p5":{"reviews":{"nodes":[{"id":"R","comments":null}]}},"discussions":{"nodes":[]},"d6":{"comments":{"nodes":[]}}}}}`},
	{200, `{"data":{"submitPullRequestReview":{"pullRequestReview":{"state":"PENDING"}},"t0":{}}}`},
}

// TestStrangeAnswersAreNoAnswers gives strange answers to the requests whose answers matter. It
// leaves out requests that delete by REST or dispatch an event; Viewer and Login, whose callers
// look for the account; and CodeScanningEnabled, which takes any list. Except where isAnswer says
// so, no strange answer may count as done or as an empty list, and nothing may panic.
func TestStrangeAnswersAreNoAnswers(t *testing.T) {
	t.Parallel()
	sha := strings.Repeat("a", 40)
	since := time.Time{}
	reads := map[string]func(*githubapi.Client) error{
		"GetIssue": func(c *githubapi.Client) error { return second(c.GetIssue(t.Context(), repo, 5)) },
		"ListIssues": func(c *githubapi.Client) error {
			return firstError(c.ListIssues(t.Context(), repo, githubapi.IssueFilter{}))
		},
		"ListIssueComments": func(c *githubapi.Client) error { return firstError(c.ListIssueComments(t.Context(), repo, 5, since)) },
		"IssueEdits":        func(c *githubapi.Client) error { return second(c.IssueEdits(t.Context(), repo, 5, since)) },
		"ListLabels":        func(c *githubapi.Client) error { return firstError(c.ListLabels(t.Context(), repo)) },
		"ListLabelsOfIssue": func(c *githubapi.Client) error { return second(c.ListLabelsOfIssue(t.Context(), repo, 5)) },
		"GetPull":           func(c *githubapi.Client) error { return second(c.GetPull(t.Context(), repo, 5)) },
		"ListPulls": func(c *githubapi.Client) error {
			return firstError(c.ListPulls(t.Context(), repo, githubapi.PullFilter{}))
		},
		"ListPullFiles":      func(c *githubapi.Client) error { return firstError(c.ListPullFiles(t.Context(), repo, 5)) },
		"ListReviews":        func(c *githubapi.Client) error { return firstError(c.ListReviews(t.Context(), repo, 5)) },
		"ListReviewComments": func(c *githubapi.Client) error { return firstError(c.ListReviewComments(t.Context(), repo, 5, since)) },
		"Recent": func(c *githubapi.Client) error {
			return second(c.Recent(t.Context(), repo, githubapi.RecentQuery{Pulls: []int{5}, Discussions: true, InDiscussions: []int{6}}))
		},
		"FilesOnRefs": func(c *githubapi.Client) error {
			return second(c.FilesOnRefs(t.Context(), repo, githubapi.RefQuery{Prefix: "refs/airlock/", Pull: 5}))
		},
		"IssueText": func(c *githubapi.Client) error { return second(c.IssueText(t.Context(), repo, 5)) },
		"ClosingIssues": func(c *githubapi.Client) error {
			_, _, err := c.ClosingIssues(t.Context(), repo, 5)
			return err
		},
		"ListComments":         func(c *githubapi.Client) error { return firstError(c.ListComments(t.Context(), repo, since)) },
		"GetPermission":        func(c *githubapi.Client) error { return second(c.GetPermission(t.Context(), repo, "mona")) },
		"JobName":              func(c *githubapi.Client) error { return second(c.JobName(t.Context(), repo, 5)) },
		"BranchProtected":      func(c *githubapi.Client) error { return second(c.BranchProtected(t.Context(), repo, "main")) },
		"BranchRules":          func(c *githubapi.Client) error { return second(c.BranchRules(t.Context(), repo, "main")) },
		"HasTag":               func(c *githubapi.Client) error { return second(c.HasTag(t.Context(), repo, "v1")) },
		"ProtectedPatterns":    func(c *githubapi.Client) error { return second(c.ProtectedPatterns(t.Context(), repo)) },
		"ActionsSecrets":       func(c *githubapi.Client) error { return second(c.ActionsSecrets(t.Context(), repo)) },
		"WorkflowPermissions":  func(c *githubapi.Client) error { return second(c.WorkflowPermissions(t.Context(), repo)) },
		"LatestCheckRuns":      func(c *githubapi.Client) error { return firstError(c.LatestCheckRuns(t.Context(), repo, sha)) },
		"ReadDraft":            func(c *githubapi.Client) error { return second(c.ReadDraft(t.Context(), repo, "PRR_1")) },
		"GetRepo":              func(c *githubapi.Client) error { return second(c.GetRepo(t.Context(), repo)) },
		"GetFile":              func(c *githubapi.Client) error { return second(c.GetFile(t.Context(), repo, "a.go", "")) },
		"GetBranch":            func(c *githubapi.Client) error { return second(c.GetBranch(t.Context(), repo, "main")) },
		"ListBranches":         func(c *githubapi.Client) error { return second(c.ListBranches(t.Context(), repo, "")) },
		"GetCommit":            func(c *githubapi.Client) error { return second(c.GetCommit(t.Context(), repo, sha)) },
		"ListCommits":          func(c *githubapi.Client) error { return second(c.ListCommits(t.Context(), repo, "", 10)) },
		"Compare":              func(c *githubapi.Client) error { return second(c.Compare(t.Context(), repo, "main", "topic")) },
		"GetCheckRun":          func(c *githubapi.Client) error { return second(c.GetCheckRun(t.Context(), repo, 5)) },
		"ListCheckRuns":        func(c *githubapi.Client) error { return firstError(c.ListCheckRuns(t.Context(), repo, sha, "x")) },
		"SARIFStatus":          func(c *githubapi.Client) error { return second(c.SARIFStatus(t.Context(), repo, "5")) },
		"DiscussionCategories": func(c *githubapi.Client) error { return second(c.DiscussionCategories(t.Context(), repo)) },
		"ListDiscussions":      func(c *githubapi.Client) error { return firstError(c.ListDiscussions(t.Context(), repo, since)) },
		"GetDiscussion":        func(c *githubapi.Client) error { return second(c.GetDiscussion(t.Context(), repo, 5)) },
		"ListDiscussionComments": func(c *githubapi.Client) error {
			return firstError(c.ListDiscussionComments(t.Context(), repo, 5, since))
		},
	}
	for _, a := range strangeAnswers {
		for name, call := range reads {
			err := call(strangeClient(t, a.status, a.body))
			if !errors.Is(err, githubapi.Malformed) && !errors.Is(err, githubapi.Unreachable) && !isAnswer(name, a.body, err) {
				t.Errorf("%s, answered %d %s: %v", name, a.status, a.body, err)
			}
		}
		for name, call := range writeCalls(t) {
			if err := call(strangeClient(t, a.status, a.body)); !errors.Is(err, githubapi.Ambiguous) && !isAnswer(name, a.body, err) {
				t.Errorf("%s, answered %d %s: %v", name, a.status, a.body, err)
			}
		}
	}
}

// writeCalls returns calls of the methods that write and whose answers matter, by the methods' names.
func writeCalls(t *testing.T) map[string]func(*githubapi.Client) error {
	sha := strings.Repeat("a", 40)
	title := "x"
	return map[string]func(*githubapi.Client) error{
		"CreateIssue": func(c *githubapi.Client) error {
			return second(c.CreateIssue(t.Context(), repo, githubapi.NewIssue{Title: "x"}))
		},
		"EditIssue": func(c *githubapi.Client) error {
			return second(c.EditIssue(t.Context(), repo, 5, githubapi.IssueEdit{Title: &title}))
		},
		"CreateIssueComment": func(c *githubapi.Client) error { return second(c.CreateIssueComment(t.Context(), repo, 5, "x")) },
		"EditIssueComment":   func(c *githubapi.Client) error { return second(c.EditIssueComment(t.Context(), repo, 5, "x")) },
		"ReactToIssueComment": func(c *githubapi.Client) error {
			return c.ReactToIssueComment(t.Context(), repo, 5, githubapi.ThumbsUp)
		},
		"AddLabels": func(c *githubapi.Client) error { return second(c.AddLabels(t.Context(), repo, 5, []string{"x"})) },
		"CreatePull": func(c *githubapi.Client) error {
			return second(c.CreatePull(t.Context(), repo, githubapi.NewPull{Title: "x", Head: "topic", Base: "main"}))
		},
		"EditPull": func(c *githubapi.Client) error {
			return second(c.EditPull(t.Context(), repo, 5, githubapi.PullEdit{Title: &title}))
		},
		"RequestReviewers": func(c *githubapi.Client) error { return c.RequestReviewers(t.Context(), repo, 5, []string{"mona"}) },
		"CreateReview": func(c *githubapi.Client) error {
			return second(c.CreateReview(t.Context(), repo, 5, githubapi.NewReview{Event: "COMMENT", Body: "x"}))
		},
		"EditReview":          func(c *githubapi.Client) error { return second(c.EditReview(t.Context(), repo, 5, 7, "x")) },
		"EditReviewComment":   func(c *githubapi.Client) error { return second(c.EditReviewComment(t.Context(), repo, 5, "x")) },
		"StartReview":         func(c *githubapi.Client) error { return second(c.StartReview(t.Context(), repo, 5, sha, "x")) },
		"SubmitReview":        func(c *githubapi.Client) error { return c.SubmitReview(t.Context(), repo, "PRR_1", "COMMENT", "x") },
		"MoveRef":             func(c *githubapi.Client) error { return c.MoveRef(t.Context(), repo, "R", "refs/airlock/x", sha, sha) },
		"DeletePendingReview": func(c *githubapi.Client) error { return c.DeletePendingReview(t.Context(), repo, "PRR_1") },
		"MinimizeComment":     func(c *githubapi.Client) error { return c.MinimizeComment(t.Context(), "PRRC_1", githubapi.Resolved) },
		"UnminimizeComment":   func(c *githubapi.Client) error { return c.UnminimizeComment(t.Context(), "PRRC_1") },
		"CreateBranch":        func(c *githubapi.Client) error { return c.CreateBranch(t.Context(), repo, "topic", sha) },
		"CreateCommit": func(c *githubapi.Client) error {
			_, _, err := c.CreateCommit(t.Context(), repo, githubapi.NewCommit{Branch: "topic", ExpectedHead: sha, Headline: "x", Deletions: []string{"a"}})
			return err
		},
		"AddReviewThreads": func(c *githubapi.Client) error {
			return second(c.AddReviewThreads(t.Context(), repo, "PR_1", "PRR_1", []githubapi.NewThread{onLines("a", 1, 0, "", "x")}))
		},
		"CommitFiles": func(c *githubapi.Client) error {
			return second(c.CommitFiles(t.Context(), repo, []githubapi.Addition{{Path: "a"}}, "x", ""))
		},
		"CreateCheckRun": func(c *githubapi.Client) error {
			return second(c.CreateCheckRun(t.Context(), repo, githubapi.NewCheckRun{Name: "x", HeadSHA: sha}))
		},
		"AddAnnotations": func(c *githubapi.Client) error {
			return second(c.AddAnnotations(t.Context(), repo, 5, "x", githubapi.CheckOutput{}))
		},
		"UploadSARIF": func(c *githubapi.Client) error {
			return second(c.UploadSARIF(t.Context(), repo, githubapi.SARIFUpload{CommitSHA: sha, Ref: "refs/heads/main", SARIF: "x"}))
		},
		"CreateDiscussion": func(c *githubapi.Client) error {
			return second(c.CreateDiscussion(t.Context(), githubapi.NewDiscussion{RepositoryID: "R", CategoryID: "C", Title: "x"}))
		},
		"AddDiscussionComment":    func(c *githubapi.Client) error { return second(c.AddDiscussionComment(t.Context(), "D_1", "x")) },
		"DeleteDiscussion":        func(c *githubapi.Client) error { return c.DeleteDiscussion(t.Context(), "D_1") },
		"DeleteDiscussionComment": func(c *githubapi.Client) error { return c.DeleteDiscussionComment(t.Context(), "DC_1") },
	}
}

// isAnswer reports whether a body is a valid answer for the named method and err is the right
// result for it. In GraphQL, null means that the thing asked for does not exist, and a new comment
// without a thread is outside the diff. In REST, GetFile gets a list for a directory, and AddLabels
// an empty list if there are no labels.
func isAnswer(name, body string, err error) bool {
	switch name {
	case "GetFile":
		return strings.HasPrefix(body, "[") && errors.Is(err, githubapi.Usage)
	case "AddLabels":
		return body == "[]" && err == nil
	case "AddReviewThreads":
		return strings.Contains(body, `"t0":{}`) && err == nil
	case "ReadDraft", "GetDiscussion", "ListDiscussionComments", "IssueEdits", "IssueText", "ClosingIssues":
		return strings.Contains(body, `"data":{`) && errors.Is(err, githubapi.NotFound)
	}
	return false
}

// strangeClient returns a client that sends each request once and always gets the same answer.
func strangeClient(t *testing.T, status int, body string) *githubapi.Client {
	t.Helper()
	c, err := githubapi.New(githubapi.Options{Attempts: 1, Pace: githubapi.Unpaced(), Transport: roundTripper(func(req *http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: status, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(body)), Request: req}, nil
	})})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

// An answer about another object, or one that shows another state than the request leads to, does
// not answer what was asked.
func TestAnswersAboutSomethingElse(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{
		"EditIssue":          `{"id":1,"number":6}`,
		"CreateIssueComment": `{"id":1,"issue_url":"https://api.github.com/repos/octo/repo/issues/15"}`,
		"EditIssueComment":   `{"id":1}`,
		"CreateReview":       `{"id":1,"pull_request_url":"https://api.github.com/repos/octo/repo/pulls/55"}`,
		"StartReview":        `{"id":1,"node_id":"PRR_1","state":"COMMENTED"}`,
		"EditReview":         `{"id":1}`,
		"EditReviewComment":  `{"id":1}`,
		"EditPull":           `{"id":1,"number":6}`,
		"RequestReviewers":   `{"id":1,"number":6}`,
		"AddAnnotations":     `{"id":1}`,
		"CreateCheckRun":     fmt.Sprintf(`{"id":1,"head_sha":%q}`, strings.Repeat("b", 40)),
		"CreateBranch":       fmt.Sprintf(`{"ref":"refs/heads/other","object":{"sha":%q}}`, strings.Repeat("a", 40)),
		"MinimizeComment":    `{"data":{"minimizeComment":{"minimizedComment":{"isMinimized":false}}}}`,
	} {
		if err := writeCalls(t)[name](strangeClient(t, 200, body)); !errors.Is(err, githubapi.Ambiguous) {
			t.Errorf("%s, answered %s: %v", name, body, err)
		}
	}
}
