package githubapi_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/githubapi"
	"github.com/agent-airlock/airlock/internal/githubtest"
	"github.com/agent-airlock/airlock/internal/token"
)

// TestRefusals checks the kind, details and wording of the errors for requests that
// the server refuses.
func TestRefusals(t *testing.T) {
	t.Parallel()
	head := strings.Repeat("a", 40)
	for _, tt := range []struct {
		name   string
		change func(*githubtest.Fixture)
		do     func(env testEnv) error
		kind   githubapi.Kind
		want   string // within the message
		check  func(*githubapi.Error) bool
	}{
		{
			name: "missing permission",
			change: func(f *githubtest.Fixture) {
				f.Tokens = []githubtest.Token{{Secret: secret, Permissions: map[string]string{"contents": "read"}}}
			},
			do:   func(env testEnv) error { return second(env.CreateIssueComment(env.ctx, repo, 2, "x")) },
			kind: githubapi.Forbidden,
			want: "the token lacks the permission issues: write, or pull-requests: write",
			check: func(e *githubapi.Error) bool {
				return e.Permission == "issues=write; pull_requests=write" && e.Feature == ""
			},
		},
		{
			name: "missing permission for a new label",
			change: func(f *githubtest.Fixture) {
				f.Tokens = []githubtest.Token{{Secret: secret, Permissions: map[string]string{"pull_requests": "write"}}}
			},
			do:   func(env testEnv) error { return second(env.AddLabels(env.ctx, repo, 2, []string{"new"})) },
			kind: githubapi.Forbidden, want: "lacks the permission issues: write (",
		},
		{
			name: "missing permission for discussions",
			change: func(f *githubtest.Fixture) {
				f.Tokens = []githubtest.Token{{Secret: secret, Permissions: map[string]string{"contents": "read"}}}
			},
			do:   func(env testEnv) error { return second(env.AddDiscussionComment(env.ctx, "D_1", "x")) },
			kind: githubapi.Forbidden, want: "the token lacks the permission discussions: write",
		},
		{
			name:   "unknown token",
			change: func(f *githubtest.Fixture) { f.Tokens = []githubtest.Token{{Secret: "other"}} },
			do:     func(env testEnv) error { return second(env.GetIssue(env.ctx, repo, 1)) },
			kind:   githubapi.Unauthorized, want: "does not accept the token",
		},
		{
			name: "no such issue",
			do:   func(env testEnv) error { return second(env.CreateIssueComment(env.ctx, repo, 77, "x")) },
			kind: githubapi.NotFound, want: "could not comment on #77 in octo/repo: it does not exist",
		},
		{
			name: "no such repository",
			do: func(env testEnv) error {
				return second(env.GetRepo(env.ctx, githubapi.Repo{Owner: "a", Name: "b"}))
			},
			kind: githubapi.NotFound,
		},
		{
			name: "no such repository in GraphQL",
			do: func(env testEnv) error {
				return second(env.DiscussionCategories(env.ctx, githubapi.Repo{Owner: "a", Name: "b"}))
			},
			kind: githubapi.NotFound,
		},
		{
			name:   "code scanning off",
			change: func(f *githubtest.Fixture) { f.Repo.NoAdvancedSecurity = true },
			do: func(env testEnv) error {
				return second(env.UploadSARIF(env.ctx, repo, githubapi.SARIFUpload{CommitSHA: head, Ref: "refs/heads/main", SARIF: packed(t, goodSARIF)}))
			},
			kind: githubapi.Forbidden, want: "the repository does not have code scanning enabled",
			check: func(e *githubapi.Error) bool {
				return e.Feature == githubapi.FeatureCodeScanning && e.Permission == ""
			},
		},
		{
			name:   "issues off",
			change: func(f *githubtest.Fixture) { f.Repo.NoIssues = true },
			do: func(env testEnv) error {
				return second(env.CreateIssue(env.ctx, repo, githubapi.NewIssue{Title: "x"}))
			},
			kind: githubapi.Forbidden, want: "does not have issues enabled",
			check: func(e *githubapi.Error) bool {
				return e.Feature == githubapi.FeatureIssues && e.Status == http.StatusGone
			},
		},
		{
			name:   "discussions off",
			change: func(f *githubtest.Fixture) { f.Repo.NoDiscussions = true },
			do:     func(env testEnv) error { return second(env.DiscussionCategories(env.ctx, repo)) },
			kind:   githubapi.Forbidden, want: "does not have discussions enabled",
		},
		{
			name:   "discussions off, when creating",
			change: func(f *githubtest.Fixture) { f.Repo.NoDiscussions = true },
			do: func(env testEnv) error {
				return second(env.CreateDiscussion(env.ctx, githubapi.NewDiscussion{RepositoryID: "R_1", CategoryID: "DIC_1", Title: "x", Body: "y"}))
			},
			kind: githubapi.Forbidden, check: func(e *githubapi.Error) bool { return e.Feature == githubapi.FeatureDiscussions },
		},
		{
			name:   "discussions off, when listing",
			change: func(f *githubtest.Fixture) { f.Repo.NoDiscussions = true },
			do:     func(env testEnv) error { return firstError(env.ListDiscussions(env.ctx, repo, env.clock.Now())) },
			kind:   githubapi.Forbidden,
		},
		{
			name:   "locked",
			change: func(f *githubtest.Fixture) { f.Issues[0].Locked = true },
			do:     func(env testEnv) error { return second(env.CreateIssueComment(env.ctx, repo, 1, "x")) },
			kind:   githubapi.Forbidden, want: "the conversation is locked",
		},
		{
			name:   "archived",
			change: func(f *githubtest.Fixture) { f.Repo.Archived = true },
			do:     func(env testEnv) error { return second(env.CreateIssueComment(env.ctx, repo, 1, "x")) },
			kind:   githubapi.Forbidden, want: "the repository is archived",
		},
		{
			name: "body too long",
			do: func(env testEnv) error {
				return second(env.CreateIssueComment(env.ctx, repo, 1, strings.Repeat("x", 65537)))
			},
			kind: githubapi.Validation, want: "GitHub refuses the content: body is too long (maximum is 65536 characters)",
			check: func(e *githubapi.Error) bool {
				return len(e.Fields) == 1 && e.Fields[0] == githubapi.FieldError{Resource: "IssueComment", Field: "body", Code: "custom", Message: "body is too long (maximum is 65536 characters)"}
			},
		},
		{
			name: "title too long",
			do: func(env testEnv) error {
				return second(env.CreateIssue(env.ctx, repo, githubapi.NewIssue{Title: strings.Repeat("é", 257)}))
			},
			kind: githubapi.Validation, want: "title is too long",
		},
		{
			name: "title blank",
			do: func(env testEnv) error {
				return second(env.CreateIssue(env.ctx, repo, githubapi.NewIssue{Title: " "}))
			},
			kind: githubapi.Validation, want: "title missing field",
		},
		{
			name: "label too long",
			do: func(env testEnv) error {
				return second(env.AddLabels(env.ctx, repo, 1, []string{strings.Repeat("l", 51)}))
			},
			kind: githubapi.Validation, want: "name is too long",
		},
		{
			name: "changes requested of oneself",
			change: func(f *githubtest.Fixture) {
				f.Issues[1].Author = githubtest.Account{Login: "github-actions[bot]", ID: 41898282}
			},
			do: func(env testEnv) error {
				return second(env.CreateReview(env.ctx, repo, 2, githubapi.NewReview{CommitID: head, Event: "REQUEST_CHANGES", Body: "x"}))
			},
			kind: githubapi.Validation, want: "Can not request changes on your own pull request",
		},
		{
			name: "discussion in an unknown category",
			do: func(env testEnv) error {
				return second(env.CreateDiscussion(env.ctx, githubapi.NewDiscussion{RepositoryID: "R_1", CategoryID: "DIC_0", Title: "x", Body: "y"}))
			},
			kind: githubapi.NotFound,
		},
		{
			name: "discussion without a title",
			do: func(env testEnv) error {
				cats, err := env.DiscussionCategories(env.ctx, repo)
				if err != nil {
					return err
				}
				return second(env.CreateDiscussion(env.ctx, githubapi.NewDiscussion{RepositoryID: "R_1", CategoryID: cats[0].ID, Title: " ", Body: "y"}))
			},
			kind: githubapi.Validation, want: "Title can't be blank",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := fixture()
			if tt.change != nil {
				tt.change(&f)
			}
			env := newTestEnv(t, f)
			err := tt.do(env)
			if !errors.Is(err, tt.kind) {
				t.Fatalf("err = %v, want %s", err, tt.kind)
			}
			var e *githubapi.Error
			if !errors.As(err, &e) || tt.check != nil && !tt.check(e) {
				t.Errorf("details: %+v", e)
			}
			if !strings.Contains(err.Error(), tt.want) || strings.ContainsAny(err.Error(), "\n\r") || !strings.Contains(err.Error(), "; ") && e.Kind != githubapi.Validation {
				t.Errorf("message: %s", err)
			}
			if n := len(env.Requests()); n > 2 { // a case may have to ask for a category first
				t.Errorf("%d requests: a refused one must not be repeated", n)
			}
		})
	}
}

// TestReasonsOfARefusal asserts that the reasons of a refusal are in the error, in whatever form
// the answer has them.
func TestReasonsOfARefusal(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		`{"message":"Validation Failed","errors":[{"resource":"Issue","field":"title","code":"missing_field"}]}`: "the content: title missing field",
		`{"message":"Validation Failed","errors":{"resource":"Issue","field":"title","code":"missing_field"}}`:   "the content: title missing field",
		`{"message":"Validation Failed","errors":["a","b"]}`:                                                     "the content: a; b",
		`{"message":"Validation Failed","errors":"a"}`:                                                           "the content: a",
		`{"message":"Validation Failed","errors":{"body":["is too long","is odd"],"base":"is gone"}}`:            "the content: base is gone; body is too long; body is odd",
		`{"message":"Validation Failed","errors":[["a",["b"]],{"x":{"y":["z"]}}]}`:                               "the content: a; b; x z",
		`{"message":"Validation Failed","errors":[1,true,null,{},[]]}`:                                           "the content: Validation Failed",
		`{"message":{"body":["is too long"]}}`:                                                                   "the content: body is too long",
		`{"error":"a","error_description":"b"}`:                                                                  "the content: b",
		`{"message":"Too long","errors":[{"field":"data","code":"unprocessable"}]}`:                              "the content: Too long; data unprocessable",
		`{"message":"Validation Failed","errors":["a\u001b[31m\r\n::error::b\u202e"]}`:                           "the content: a [31m ::error::b",
		`{"message":"Validation Failed","errors":[` + strings.Repeat(`"x",`, 5000) + `"y"]}`:                     "the content: x; x",
		`{"message":"Validation Failed","errors":` + strings.Repeat(`[`, 9000) + strings.Repeat(`]`, 9000) + `}`: "the content: Validation Failed",
		`<html>422</html>`: "the content: status 422",
		``:                 "the content: status 422",
	} {
		_, err := strangeClient(t, 422, body).CreateIssue(t.Context(), repo, githubapi.NewIssue{Title: "x"})
		if !errors.Is(err, githubapi.Validation) || !strings.HasSuffix(err.Error(), want) && !strings.Contains(err.Error(), want+";") || len(err.Error()) > 2000 {
			t.Errorf("%.200s: %.2000v", body, err)
		}
	}
}

// TestUsage asserts that invalid arguments are refused before anything is sent.
func TestUsage(t *testing.T) {
	t.Parallel()
	env := newTestEnv(t, fixture())
	bad := githubapi.Repo{Owner: "..", Name: "x"}
	for name, err := range map[string]error{
		"repository":               second(env.GetRepo(env.ctx, bad)),
		"issue":                    second(env.CreateIssue(env.ctx, bad, githubapi.NewIssue{})),
		"issues":                   firstError(env.ListIssues(env.ctx, bad, githubapi.IssueFilter{})),
		"number":                   second(env.GetIssue(env.ctx, repo, 0)),
		"comments":                 firstError(env.ListIssueComments(env.ctx, repo, -1, env.clock.Now())),
		"empty edit":               second(env.EditIssue(env.ctx, repo, 1, githubapi.IssueEdit{})),
		"no labels":                second(env.AddLabels(env.ctx, repo, 1, nil)),
		"labels":                   firstError(env.ListLabels(env.ctx, bad)),
		"issue's labels":           second(env.ListLabelsOfIssue(env.ctx, repo, 0)),
		"files":                    firstError(env.ListPullFiles(env.ctx, repo, 0)),
		"reviews":                  firstError(env.ListReviews(env.ctx, repo, 0)),
		"review comments":          firstError(env.ListReviewComments(env.ctx, repo, 0, env.clock.Now())),
		"discussions":              firstError(env.ListDiscussions(env.ctx, bad, env.clock.Now())),
		"discussion comments":      firstError(env.ListDiscussionComments(env.ctx, repo, 0, env.clock.Now())),
		"discussion":               second(env.CreateDiscussion(env.ctx, githubapi.NewDiscussion{})),
		"comment of nothing":       second(env.AddDiscussionComment(env.ctx, "", "x")),
		"deletion of nothing":      env.DeleteDiscussion(env.ctx, ""),
		"upload of nothing":        second(env.UploadSARIF(env.ctx, repo, githubapi.SARIFUpload{})),
		"status of ../..":          second(env.SARIFStatus(env.ctx, repo, "../..")),
		"deletion of a comment":    env.DeleteIssueComment(env.ctx, bad, 1),
		"deletion, review comment": env.DeleteReviewComment(env.ctx, bad, 1),
	} {
		if !errors.Is(err, githubapi.Usage) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if n := len(env.Requests()); n != 0 {
		t.Errorf("%d requests were sent", n)
	}
}

// second returns the second result of a call, its error.
func second[T any](_ T, err error) error { return err }

// firstError reads a sequence up to its first error and returns that.
func firstError[T any](seq func(func(T, error) bool)) error {
	var first error
	seq(func(_ T, err error) bool { first = err; return err == nil })
	return first
}

// TestGraphQLErrors checks the kinds of errors for answers that githubtest's server does not
// produce by itself, to a read and to a write.
func TestGraphQLErrors(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		body        string
		read, write githubapi.Kind
	}{
		{`{"data":null,"errors":[{"message":"Something went wrong while executing your query. Please include 1:2 when reporting this issue."}]}`, githubapi.Unreachable, githubapi.Ambiguous},
		{`{"data":{},"errors":[{"type":"SERVICE_UNAVAILABLE","message":"Timed out"}]}`, githubapi.Unreachable, githubapi.Ambiguous},
		{`{"errors":[{"type":"INSUFFICIENT_SCOPES","message":"Your token has not been granted the required scopes"}]}`, githubapi.Forbidden, githubapi.Forbidden},
		{`{"errors":[{"message":"Resource not accessible by personal access token"}]}`, githubapi.Forbidden, githubapi.Forbidden},
		{`{"errors":[{"type":"STALE_DATA","message":"Expected branch to point to"}]}`, githubapi.Conflict, githubapi.Conflict},
		{`{"errors":[{"message":"Field 'x' doesn't exist on type 'Query'"}]}`, githubapi.Validation, githubapi.Validation},
		{`{"data":null}`, githubapi.Malformed, githubapi.Ambiguous},
		{`{"message":"odd"}`, githubapi.Malformed, githubapi.Ambiguous},
		{`[]`, githubapi.Malformed, githubapi.Ambiguous},
		{`{"data":{"addDiscussionComment":null},"errors":[{"type":"NOT_FOUND","path":["addDiscussionComment"],"message":"Could not resolve to a node"}]}`, githubapi.NotFound, githubapi.NotFound},
		{`{"data":{"addDiscussionComment":{"comment":null}},"errors":[{"type":"FORBIDDEN","path":["addDiscussionComment","comment","author"],"message":"no"}]}`, githubapi.Forbidden, githubapi.Ambiguous},
		{`{"data":{"addDiscussionComment":null,"viewer":7}}`, githubapi.Malformed, githubapi.Ambiguous},
	} {
		env := newTestEnv(t, fixture())
		env.SetFault(func(githubtest.Request) githubtest.Fault {
			return githubtest.Fault{Status: 200, Body: tt.body}
		})
		if _, err := env.Viewer(env.ctx); !errors.Is(err, tt.read) {
			t.Errorf("%s: read: %v", tt.body, err)
		}
		if _, err := env.AddDiscussionComment(env.ctx, "D_1", "x"); !errors.Is(err, tt.write) {
			t.Errorf("%s: write: %v", tt.body, err)
		}
	}
}

// TestNoSecretInErrors looks for the token in every message.
func TestNoSecretInErrors(t *testing.T) {
	t.Parallel()
	for _, f := range []githubtest.Fault{githubtest.ServerError(500, false), {Cut: true}, {Status: 401, Body: `{"message":"Bad credentials"}`}, githubtest.NotJSON(false)} {
		env := newTestEnv(t, fixture())
		env.SetFault(func(githubtest.Request) githubtest.Fault { return f })
		_, err := env.GetIssue(env.ctx, repo, 1)
		all := err.Error() + strings.Join(*env.log, "\n")
		if strings.Contains(all, secret) {
			t.Errorf("the token shows in: %s", all)
		}
	}
}

// TestErrorsOmitTheToken checks rule R14 of docs/security.md for an answer that
// repeats the request's credentials, as some error pages do.
func TestErrorsOmitTheToken(t *testing.T) {
	t.Parallel()
	const secret = "ghs_TestOnly0123456789abcdefghijklmnop"
	basic := base64.StdEncoding.EncodeToString([]byte("x-access-token:" + secret))
	var escaped strings.Builder // as JSON may write the token
	for _, c := range secret {
		fmt.Fprintf(&escaped, `\u%04x`, c)
	}
	bodyWith := func(token string) string {
		return fmt.Sprintf(`{"message": "Denied: Bearer %s Basic %s", "errors": [{"resource": "Issue", "field": "%[1]s", "code": "custom", "message": "%[3]s%[1]s"}]}`,
			token, basic, strings.Repeat("x", 480)) // the last token is where a message is cut
	}
	// RFC 7493 forbids a name that is there twice, half of a surrogate pair and invalid UTF-8, but
	// encoding/json accepts them.
	lax := strings.Replace(bodyWith(escaped.String()), "{", `{"message": "\ud800`+"\xff\", ", 1)
	bodies := []string{bodyWith(secret), bodyWith(escaped.String()), lax}
	statuses := []int{http.StatusForbidden, http.StatusUnprocessableEntity, http.StatusUnauthorized, http.StatusNotFound, http.StatusBadGateway}
	for _, status := range statuses {
		for _, body := range bodies {
			s := githubtest.New(t, githubtest.Fixture{Repo: githubtest.Repo{ID: 1, Owner: "o", Name: "r"}}, githubtest.Options{
				Fault: func(githubtest.Request) githubtest.Fault {
					return githubtest.Fault{Status: status, Body: body}
				},
			})
			var log []string
			client, err := githubapi.New(githubapi.Options{
				Token: token.New(secret, s.APIURL()), APIURL: s.APIURL(), Transport: s.Transport(), Pace: githubapi.Unpaced(),
				Attempts: 1, Log: func(line string) { log = append(log, line) },
			})
			if err != nil {
				t.Fatal(err)
			}
			_, err = client.CreateIssueComment(context.Background(), githubapi.Repo{Owner: "o", Name: "r"}, 1, "body")
			if err == nil {
				t.Fatalf("status %d: no error", status)
			}
			for _, text := range append(log, err.Error()) {
				if strings.Contains(text, secret[:12]) || strings.Contains(text, basic[20:60]) {
					t.Errorf("status %d: the token is shown: %s", status, text)
				}
			}
			if status == http.StatusForbidden && !strings.Contains(err.Error(), "Denied: Bearer ***") {
				t.Errorf("the rest of the message is lost: %v", err)
			}
		}
	}
}
