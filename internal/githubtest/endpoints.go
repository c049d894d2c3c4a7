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
	if !strings.EqualFold(c.params["owner"], s.state.Repo.Owner) || !strings.EqualFold(c.params["repo"], s.state.Repo.Name) ||
		s.state.Repo.Private && c.token == nil {
		return fail(http.StatusNotFound, "Not Found")
	}
	if c.rec.Write && s.state.Repo.Archived {
		return fail(http.StatusForbidden, "Repository was archived so is read-only.")
	}
	h, ok := handlers()[c.rec.Operation]
	if !ok {
		panic("githubtest: no handler for " + c.rec.Operation)
	}
	return h(s, c)
}

// handlers are the REST operations by GitHub's operation id.
func handlers() map[string]func(*Server, *conversation) reply {
	return map[string]func(*Server, *conversation) reply{
		"repos/get":                           (*Server).getRepo,
		"repos/get-content":                   (*Server).getContent,
		"repos/list-commits":                  withGit("contents=read", (*Server).listCommits),
		"repos/compare-commits-with-basehead": withGit("contents=read", (*Server).compare),
		"git/get-commit":                      withGit("contents=read", (*Server).getCommit),
		"git/get-ref":                         withGit("contents=read", (*Server).getRef),
		"git/list-matching-refs":              withGit("contents=read", (*Server).listRefs),
		"git/create-ref":                      withGit("contents=write", (*Server).createRef),
		"git/update-ref":                      withGit("contents=write", (*Server).updateRef),
		"git/delete-ref":                      withGit("contents=write", (*Server).deleteRef),
		"issues/list-for-repo":                (*Server).listIssues,
		"issues/create":                       (*Server).createIssue,
		"issues/get":                          (*Server).getIssue,
		"issues/update":                       (*Server).updateIssue,
		"issues/list-comments":                (*Server).listComments,
		"issues/create-comment":               (*Server).createComment,
		"issues/update-comment":               (*Server).updateComment,
		"issues/delete-comment":               (*Server).deleteComment,
		"issues/list-labels-on-issue":         (*Server).listIssueLabels,
		"issues/add-labels":                   (*Server).addLabels,
		"issues/list-labels-for-repo":         (*Server).listLabels,
		"pulls/list":                          (*Server).listPulls,
		"pulls/create":                        (*Server).createPull,
		"pulls/get":                           (*Server).getPull,
		"pulls/update":                        (*Server).updatePull,
		"pulls/request-reviewers":             (*Server).requestReviewers,
		"pulls/list-files":                    (*Server).listFiles,
		"pulls/list-reviews":                  (*Server).listReviews,
		"pulls/create-review":                 (*Server).createReview,
		"pulls/update-review":                 (*Server).updateReview,
		"pulls/list-review-comments":          (*Server).listDiffComments,
		"pulls/create-review-comment":         (*Server).createDiffComment,
		"pulls/delete-review-comment":         (*Server).deleteDiffComment,
		"pulls/update-review-comment":         (*Server).updateDiffComment,
		"checks/create":                       (*Server).createCheck,
		"checks/get":                          (*Server).getCheck,
		"checks/update":                       (*Server).updateCheck,
		"checks/list-for-ref":                 (*Server).listChecks,
		"code-scanning/upload-sarif":          (*Server).uploadSARIF,
		"code-scanning/get-sarif":             (*Server).getSARIF,
	}
}

// reply is what a handler answers.
type reply struct {
	status int
	header http.Header
	body   any    // marshalled; nil for no body
	raw    []byte // sent as it is, instead of body
}

// fail is GitHub's basic error.
func fail(status int, message string) reply {
	return reply{status: status, body: map[string]any{"message": message, "documentation_url": "https://docs.github.com/rest", "status": strconv.Itoa(status)}}
}

// fieldError is an entry of a validation error.
type fieldError struct {
	Resource string `json:"resource"`
	Field    string `json:"field,omitempty"`
	Code     string `json:"code"`
	Message  string `json:"message,omitempty"`
}

// invalid is GitHub's validation error.
func invalid(errs ...fieldError) reply {
	return reply{status: http.StatusUnprocessableEntity, body: map[string]any{"message": "Validation Failed", "errors": errs,
		"documentation_url": "https://docs.github.com/rest", "status": "422"}}
}

// invalidSimple is the validation error of the endpoints that give plain strings.
func invalidSimple(errs ...string) reply {
	return reply{status: http.StatusUnprocessableEntity, body: map[string]any{"message": "Unprocessable Entity", "errors": errs,
		"documentation_url": "https://docs.github.com/rest", "status": "422"}}
}

func okay(body any) reply { return reply{status: http.StatusOK, body: body} }

func created(body any) reply { return reply{status: http.StatusCreated, body: body} }
