package githubtest

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// conversation is one request while it is handled.
type conversation struct {
	method    string
	query     url.Values
	body      []byte
	exchange  *exchange // nil for GraphQL and for unknown addresses
	graphql   *document // nil for REST
	git       *gitCall  // nil for the API
	params    map[string]string
	token     *Token // nil without authorization
	account   Account
	badToken  bool
	fault     Fault
	rec       *Request
	violation error
	refused   bool // GraphQL answered 200 with errors
}

// receive records a request and checks it against the contracts. The caller
// holds the lock.
func (s *Server) receive(req *http.Request, body []byte) *conversation {
	s.seq++
	rec := &Request{Seq: s.seq, At: s.o.Clock.Now(), Method: req.Method, Path: req.URL.Path, Query: req.URL.Query(), Header: req.Header.Clone(), Write: req.Method != http.MethodGet}
	rec.Header.Del("Authorization")
	if json.Valid(body) {
		rec.Body = body
	}
	s.record = append(s.record, rec)
	c := &conversation{method: req.Method, query: req.URL.Query(), body: body, rec: rec}
	if s.receiveGit(c, req) {
		return c
	}
	s.authenticate(c, req.Header.Get("Authorization"))

	restPrefix, graphQLPath := "", "/graphql"
	if s.o.Enterprise {
		restPrefix, graphQLPath = "/api/v3", "/api/graphql"
	}
	if req.URL.Path == graphQLPath {
		s.receiveGraphQL(c)
		return c
	}
	rest, ok := strings.CutPrefix(req.URL.EscapedPath(), restPrefix)
	if !ok {
		c.violation = errors.New("the address is not below the API's base " + restPrefix)
	} else {
		r2 := req.Clone(req.Context())
		r2.URL.Path, _ = url.PathUnescape(rest)
		r2.URL.RawPath = rest
		rec.Path = r2.URL.Path
		c.exchange, c.violation = s.rest.request(r2, body)
	}
	if c.exchange != nil {
		rec.Operation, c.params = c.exchange.operation(), map[string]string{}
		for k, v := range c.exchange.params() { // the router leaves them escaped
			if plain, err := url.PathUnescape(v); err == nil {
				v = plain
			}
			c.params[k] = v
		}
		rec.Content = rec.Method == http.MethodPost && !slices.Contains([]string{"issues/add-labels", "code-scanning/upload-sarif", "git/create-ref"}, rec.Operation)
	}
	if c.violation == nil && req.Header.Get("User-Agent") == "" {
		c.violation = errors.New("a request without User-Agent is refused by GitHub")
	}
	return c
}

// authenticate finds out whose token it is.
func (s *Server) authenticate(c *conversation, header string) {
	if header == "" {
		return
	}
	secret, ok := strings.CutPrefix(header, "Bearer ")
	if !ok {
		secret, ok = strings.CutPrefix(header, "token ")
	}
	s.recognise(c, secret, ok)
}

// recognise finds a token's entry; ok says whether there was a token to read.
func (s *Server) recognise(c *conversation, secret string, ok bool) {
	c.badToken = !ok || secret == ""
	if c.badToken {
		return
	}
	c.account = s.state.Viewer
	if len(s.state.Tokens) == 0 {
		c.token = &Token{Secret: secret}
	}
	for i, t := range s.state.Tokens {
		if t.Secret == secret {
			c.token = &s.state.Tokens[i]
			if t.Account.ID != 0 {
				c.account = t.Account
			}
		}
	}
	c.badToken = c.token == nil
	if c.token != nil {
		c.rec.Account = c.account.Login
	}
}

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

// need says 403 unless the token has one of the permissions, which are written
// as in X-Accepted-GitHub-Permissions: "issues=write; pull_requests=write".
// Reading a public repository needs none.
func (s *Server) need(c *conversation, accepted string) (reply, bool) {
	if s.may(c, accepted) {
		return reply{}, true
	}
	r := fail(http.StatusForbidden, "Resource not accessible by integration")
	r.header = http.Header{"X-Accepted-Github-Permissions": {accepted}}
	return r, false
}

func (s *Server) may(c *conversation, accepted string) bool {
	return c.token == nil || !c.rec.Write && !s.state.Repo.Private && !strings.Contains(accepted, "security_events") || c.token.has(accepted)
}

// has reports whether a token has one of the permissions.
func (t *Token) has(accepted string) bool {
	if t.Permissions == nil {
		return true
	}
	for alt := range strings.SplitSeq(accepted, ";") {
		name, level, _ := strings.Cut(strings.TrimSpace(alt), "=")
		if has := t.Permissions[name]; has == level || has == "write" {
			return true
		}
	}
	return false
}

// countHour counts the request against its token's limit for the hour.
func (s *Server) countHour(c *conversation) (reply, bool) {
	now := s.o.Clock.Now()
	if now.Sub(s.hourFrom) >= time.Hour {
		s.hourFrom, s.hourUsed = now, map[string]int{}
	}
	s.hourUsed[c.account.Login]++
	if s.hourUsed[c.account.Login] > s.o.HourLimit {
		return fail(http.StatusForbidden, "API rate limit exceeded for installation ID 1."), true
	}
	return reply{}, false
}

func (s *Server) rateHeaders(c *conversation, h http.Header) {
	h.Set("X-RateLimit-Limit", strconv.Itoa(s.o.HourLimit))
	h.Set("X-RateLimit-Remaining", strconv.Itoa(max(0, s.o.HourLimit-s.hourUsed[c.account.Login])))
	h.Set("X-RateLimit-Reset", strconv.FormatInt(s.hourFrom.Add(time.Hour).Unix(), 10))
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

func okay(body any) reply    { return reply{status: http.StatusOK, body: body} }
func created(body any) reply { return reply{status: http.StatusCreated, body: body} }
