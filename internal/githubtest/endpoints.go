package githubtest

import (
	"net/http"
	"strconv"
	"strings"
)

// handle answers a request as GitHub would. The caller holds the lock.
func (s *Server) handle(c *conversation) reply {
	if c.git != nil {
		return s.handleGit(c)
	}
	if c.violation != nil {
		return s.violation(c.rec, "the request breaks GitHub's description", c.violation)
	}
	if c.badToken {
		return fail(http.StatusUnauthorized, "Bad credentials")
	}
	if c.token == nil && (c.rec.Write || c.graphql != nil) {
		return fail(http.StatusUnauthorized, "Requires authentication")
	}
	if r, over := s.countHour(c); over {
		return r
	}
	if err := s.followBranches(); err != nil {
		return s.violation(c.rec, "git failed", err)
	}
	if c.graphql != nil {
		return s.handleGraphQL(c)
	}
	if c.rec.Operation == "users/get-by-id" {
		return s.getUser(c)
	}
	if !strings.EqualFold(c.params["owner"], s.state.Repo.Owner) || !strings.EqualFold(c.params["repo"], s.state.Repo.Name) ||
		s.state.Repo.Private && c.token == nil {
		return notFound()
	}
	if c.rec.Write && s.state.Repo.Archived {
		return fail(http.StatusForbidden, "Repository was archived so is read-only.")
	}
	e, ok := endpoints()[c.rec.Operation]
	if !ok {
		panic("githubtest: no endpoint for " + c.rec.Operation)
	}
	if e.permission != "" {
		if r, ok := s.need(c, e.permission); !ok {
			return r
		}
	}
	return e.handle(s, c)
}

// endpoint answers a REST operation.
type endpoint struct {
	permission string // the permission that the token needs; "" for none, or if the handler asks for it
	handle     handler
}

type (
	handler      = func(*Server, *conversation) reply
	issueHandler = func(*Server, *conversation, *Issue) reply
)

// The permissions of endpoints. Of those that a ";" separates, one is enough.
const (
	actionsRead   = "actions=read"
	checksRead    = "checks=read"
	checksWrite   = "checks=write"
	contentsRead  = "contents=read"
	contentsWrite = "contents=write"
	issuesRead    = "issues=read; pull_requests=read"
	issuesWrite   = "issues=write"
	issueOrPull   = "issues=write; pull_requests=write"
	metadataRead  = "metadata=read"
	pullsRead     = "pull_requests=read"
	pullsWrite    = "pull_requests=write"
)

// endpoints returns the REST operations on a repository by GitHub's operation id.
func endpoints() map[string]endpoint {
	return map[string]endpoint{
		"repos/get": {"", (*Server).getRepo},
		"repos/get-collaborator-permission-level": {metadataRead, (*Server).getPermission},
		"repos/get-content":                       {contentsRead, (*Server).getContent},
		"repos/list-commits":                      {contentsRead, withGit((*Server).listCommits)},
		"repos/compare-commits-with-basehead":     {contentsRead, withGit((*Server).compare)},
		"repos/get-branch":                        {contentsRead, withGit((*Server).getBranch)},
		"repos/get-branch-rules":                  {"", withGit((*Server).getBranchRules)},
		"repos/create-dispatch-event":             {contentsWrite, (*Server).createDispatch},
		"git/get-commit":                          {contentsRead, withGit((*Server).getCommit)},
		"git/create-tree":                         {contentsWrite, withGit((*Server).createTree)},
		"git/create-commit":                       {contentsWrite, withGit((*Server).createCommit)},
		"git/get-ref":                             {contentsRead, withGit((*Server).getRef)},
		"git/list-matching-refs":                  {contentsRead, withGit((*Server).listRefs)},
		"git/create-ref":                          {contentsWrite, withGit((*Server).createRef)},
		"issues/list-for-repo":                    {issuesRead, (*Server).listIssues},
		"issues/create":                           {issuesWrite, (*Server).createIssue},
		"issues/get":                              {issuesRead, onIssue((*Server).getIssue)},
		"issues/update":                           {"", onIssue(changing((*Server).updateIssue))},
		"issues/list-comments":                    {"", onIssue((*Server).listComments)},
		"issues/list-comments-for-repo":           {"", (*Server).listAllComments},
		"issues/create-comment":                   {"", onIssue(changing(unlocked("comment", (*Server).createComment)))},
		"issues/update-comment":                   {"", onComment((*Server).updateComment)},
		"issues/delete-comment":                   {"", onComment((*Server).deleteComment)},
		"reactions/create-for-issue-comment":      {"", onComment((*Server).createReaction)},
		"issues/list-labels-on-issue":             {"", onIssue((*Server).listIssueLabels)},
		"issues/add-labels":                       {"", onIssue((*Server).addLabels)},
		"issues/list-labels-for-repo":             {"", (*Server).listLabels},
		"pulls/list":                              {pullsRead, (*Server).listPulls},
		"pulls/create":                            {pullsWrite, (*Server).createPull},
		"pulls/get":                               {pullsRead, onIssue((*Server).getPull)},
		"pulls/update":                            {pullsWrite, onIssue((*Server).updatePull)},
		"pulls/request-reviewers":                 {pullsWrite, onIssue((*Server).requestReviewers)},
		"pulls/list-files":                        {pullsRead, onIssue((*Server).listFiles)},
		"pulls/list-reviews":                      {pullsRead, onIssue((*Server).listReviews)},
		"pulls/create-review":                     {pullsWrite, onIssue(unlocked("review", (*Server).createReview))},
		"pulls/update-review":                     {pullsWrite, onIssue((*Server).updateReview)},
		"pulls/list-review-comments":              {pullsRead, onIssue((*Server).listDiffComments)},
		"pulls/delete-review-comment":             {pullsWrite, onDiffComment((*Server).deleteDiffComment)},
		"pulls/update-review-comment":             {pullsWrite, onDiffComment((*Server).updateDiffComment)},
		"checks/create":                           {checksWrite, (*Server).createCheck},
		"checks/get":                              {checksRead, onCheck("check_run_id", (*Server).getCheck)},
		"checks/update":                           {checksWrite, onCheck("check_run_id", (*Server).updateCheck)},
		"checks/list-for-ref":                     {checksRead, (*Server).listChecks},
		"actions/get-job-for-workflow-run":        {actionsRead, onCheck("job_id", (*Server).getJob)},
		"actions/get-github-actions-default-workflow-permissions-repository": {"", (*Server).getWorkflowPermissions},
		"actions/list-repo-secrets":          {"", (*Server).listSecrets},
		"code-scanning/list-alerts-for-repo": {"", withCodeScanning("security_events=read", (*Server).listAlerts)},
		"code-scanning/upload-sarif":         {"", withCodeScanning("security_events=write", (*Server).uploadSARIF)},
		"code-scanning/get-sarif":            {"", withCodeScanning("security_events=read", (*Server).getSARIF)},
	}
}

// onIssue returns a handler that calls h with the pull request of the path's pull_number, or with the
// issue or pull request of its issue_number. If there is none, it answers 404. If it is an issue and
// the repository has its issues switched off, it answers 410.
func onIssue(h issueHandler) handler {
	return func(s *Server, c *conversation) reply {
		text, onlyPulls := c.params["pull_number"]
		if !onlyPulls {
			text = c.params["issue_number"]
		}
		n, _ := strconv.Atoi(text)
		i := find(s.state.Issues, func(i *Issue) bool { return i.Number == n })
		switch {
		case i == nil, i.Pull == nil && onlyPulls:
			return notFound()
		case i.Pull == nil && s.state.Repo.NoIssues:
			return issuesOff()
		}
		return h(s, c, i)
	}
}

// changing returns a handler that calls h if the token may write to the issue or pull request.
func changing(h issueHandler) issueHandler {
	return func(s *Server, c *conversation, i *Issue) reply {
		if r, ok := s.need(c, permissionFor(i)); !ok {
			return r
		}
		return h(s, c, i)
	}
}

// unlocked returns a handler that calls h unless the conversation is locked. what names the thing
// that h creates, for the message of the refusal.
func unlocked(what string, h issueHandler) issueHandler {
	return func(s *Server, c *conversation, i *Issue) reply {
		if i.Locked {
			return fail(http.StatusForbidden, "Unable to create "+what+" because issue is locked.")
		}
		return h(s, c, i)
	}
}

// reply is what a handler answers.
type reply struct {
	status int
	header http.Header
	body   any    // marshalled; nil for no body
	raw    []byte // sent as it is, instead of body
}

// fail returns GitHub's basic error.
func fail(status int, message string) reply {
	return reply{status: status, body: map[string]any{"message": message, "documentation_url": "https://docs.github.com/rest", "status": strconv.Itoa(status)}}
}

func notFound() reply { return fail(http.StatusNotFound, "Not Found") }

// fieldError is an entry of a validation error.
type fieldError struct {
	Resource string `json:"resource"`
	Field    string `json:"field,omitempty"`
	Code     string `json:"code"`
	Message  string `json:"message,omitempty"`
}

// invalid returns GitHub's validation error.
func invalid(errs ...fieldError) reply {
	return reply{status: http.StatusUnprocessableEntity, body: map[string]any{"message": "Validation Failed", "errors": errs,
		"documentation_url": "https://docs.github.com/rest", "status": "422"}}
}

// invalidSimple returns the validation error of the endpoints that give plain strings.
func invalidSimple(errs ...string) reply {
	return reply{status: http.StatusUnprocessableEntity, body: map[string]any{"message": "Unprocessable Entity", "errors": errs,
		"documentation_url": "https://docs.github.com/rest", "status": "422"}}
}

func okay(body any) reply { return reply{status: http.StatusOK, body: body} }

func created(body any) reply { return reply{status: http.StatusCreated, body: body} }
