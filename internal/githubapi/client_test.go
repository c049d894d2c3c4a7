package githubapi_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/agent-airlock/airlock/internal/githubapi"
	"github.com/agent-airlock/airlock/internal/githubtest"
	"github.com/agent-airlock/airlock/internal/token"
)

// plainClient returns a client for the API at apiURL that sends its requests through rt and waits
// in virtual time only.
func plainClient(t *testing.T, apiURL string, rt http.RoundTripper, change ...func(*githubapi.Options)) *githubapi.Client {
	t.Helper()
	o := githubapi.Options{APIURL: apiURL, Token: token.New(secret, apiURL), Transport: rt, Pace: githubapi.Unpaced(), Clock: githubtest.NewVirtualClock(time.Now())}
	for _, f := range change {
		f(&o)
	}
	c, err := githubapi.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func transport(t *testing.T, o githubapi.TransportOptions) *http.Transport {
	t.Helper()
	tr, err := githubapi.NewTransport(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(tr.CloseIdleConnections)
	return tr
}

// TestOverTCP repeats the main faults on real connections.
func TestOverTCP(t *testing.T) {
	t.Parallel()
	s := githubtest.New(t, fixture(), githubtest.Options{})
	c := plainClient(t, s.Start(t), transport(t, githubapi.TransportOptions{}))
	ctx := t.Context()
	if _, err := c.CreateIssue(ctx, repo, githubapi.NewIssue{Title: "x"}); err != nil {
		t.Fatal(err)
	}
	for name, fault := range map[string]githubtest.Fault{"cut": {Cut: true, After: true}, "cut in the body": {CutBody: true}, "502": githubtest.ServerError(502, true)} {
		s.ResetRequests()
		s.SetFault(func(githubtest.Request) githubtest.Fault { return fault })
		_, err := c.CreateIssueComment(ctx, repo, 1, "x")
		if !errors.Is(err, githubapi.Ambiguous) || len(s.Requests()) != 1 {
			t.Errorf("%s: %v with %d requests", name, err, len(s.Requests()))
		}
		n := 0
		s.SetFault(func(githubtest.Request) githubtest.Fault {
			if n++; n == 1 {
				return fault
			}
			return githubtest.Fault{}
		})
		if _, err := c.GetIssue(ctx, repo, 1); err != nil {
			t.Errorf("%s: a read: %v", name, err)
		}
	}
}

func TestEnterprise(t *testing.T) {
	t.Parallel()
	s := githubtest.New(t, fixture(), githubtest.Options{Enterprise: true})
	api := s.Start(t)
	if !strings.HasSuffix(api, "/api/v3") {
		t.Fatalf("API at %s", api)
	}
	c := plainClient(t, api+"/", transport(t, githubapi.TransportOptions{}))
	if _, err := c.CreateIssue(t.Context(), repo, githubapi.NewIssue{Title: "x"}); err != nil {
		t.Error(err)
	}
	if _, err := c.Viewer(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestURLs(t *testing.T) {
	t.Parallel()
	for api, want := range map[string]string{
		"https://api.github.com":        "https://api.github.com/graphql",
		"https://ghe.example/api/v3":    "https://ghe.example/api/graphql",
		"https://ghe.example/api/v3/":   "https://ghe.example/api/graphql",
		"https://api.acme.ghe.com/":     "https://api.acme.ghe.com/graphql",
		"http://127.0.0.1:8080":         "http://127.0.0.1:8080/graphql",
		"http://127.0.0.1:8080/api/v3/": "http://127.0.0.1:8080/api/graphql",
	} {
		if got := githubapi.GraphQLURLOf(api); got != want {
			t.Errorf("GraphQLURLOf(%q) = %q, want %q", api, got, want)
		}
	}
	for _, bad := range []string{"api.github.com", "ftp://x", "https://", "https://u:p@host", "https://host/?q", "https://host/#f", "://"} {
		_, err := githubapi.New(githubapi.Options{APIURL: bad, Transport: githubtest.Refuse()})
		if err == nil || strings.Contains(err.Error(), "u:p") {
			t.Errorf("New with %q: %v", bad, err)
		}
	}
	if _, err := githubapi.New(githubapi.Options{}); err == nil {
		t.Error("New without a transport gives no error")
	}
}

func TestRepositoryNames(t *testing.T) {
	t.Parallel()
	for in, ok := range map[string]bool{"octo/repo": true, "a-b/c.d_e": true, "octo": false, "/x": false, "x/": false, "a/b/c": false, "../x": false, "a/..": false,
		"a/b?c": false, "a/b#": false, "a/b%2f": false, "a b/c": false, "a/" + strings.Repeat("x", 101): false, "": false} {
		owner, name, _ := strings.Cut(in, "/")
		c, s := script(t, 200, `{"id":1}`)
		_, err := c.GetRepo(t.Context(), githubapi.Repo{Owner: owner, Name: name})
		if ok && (err != nil || len(s.sent) != 1) || !ok && (!errors.Is(err, githubapi.Usage) || len(s.sent) != 0) {
			t.Errorf("%q: %v after %d requests", in, err, len(s.sent))
		}
	}
}

// TestRedirects asserts that redirects are followed on the same host only, to the same thing in the
// same repository, and never with another method.
func TestRedirects(t *testing.T) {
	t.Parallel()
	var stolen []string
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		stolen = append(stolen, r.Method+" "+r.Header.Get("Authorization"))
		_, _ = io.WriteString(w, `{"id":1}`)
	}))
	t.Cleanup(other.Close)
	for _, tt := range []struct {
		name, to    string
		status      int
		read, write githubapi.Kind // empty: success
	}{
		{"another host", other.URL + "/repos/octo/repo/issues/1", 302, githubapi.Malformed, githubapi.Malformed},
		{"another host, keeping the method", other.URL + "/x", 307, githubapi.Malformed, githubapi.Malformed},
		{"without a scheme, another host", "//" + strings.TrimPrefix(other.URL, "http://") + "/x", 301, githubapi.Malformed, githubapi.Malformed},
		{"renamed, 307", "/repositories/7/issues/1", 307, "", ""},
		{"renamed, 308", "/repos/new/name/issues/1", 308, "", ""},
		{"renamed, 301", "/repositories/7/issues/1", 301, "", githubapi.NotFound},
		{"renamed, 302", "/repositories/7/issues/1", 302, "", githubapi.NotFound},
		{"another repository", "/repositories/8/issues/1", 307, githubapi.NotFound, githubapi.NotFound},
		{"another issue", "/repositories/7/issues/2", 307, githubapi.NotFound, githubapi.NotFound},
		{"another issue by name", "/repos/octo/repo/issues/2", 307, githubapi.NotFound, githubapi.NotFound},
		{"another place", "/moved", 307, githubapi.NotFound, githubapi.NotFound},
		{"nowhere", "", 301, githubapi.Malformed, githubapi.Malformed},
		{"in circles", "/repos/octo/repo/issues/1", 307, githubapi.Malformed, githubapi.Ambiguous},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var arrived []string // at the new address: the read, and then the write
			asked := 0
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				asked++
				body, _ := io.ReadAll(r.Body)
				rest := strings.TrimPrefix(r.URL.Path, "/repos/octo/repo/issues/1") // "" for the read, otherwise /comments
				if rest == r.URL.Path {
					arrived = append(arrived, r.Method+" "+strings.TrimSpace(string(body))+" "+r.Header.Get("Authorization"))
					_, _ = io.WriteString(w, `{"id":1,"number":1}`)
					return
				}
				if tt.to != "" {
					w.Header().Set("Location", tt.to+rest)
				}
				w.WriteHeader(tt.status)
			}))
			defer s.Close()
			c := plainClient(t, s.URL, transport(t, githubapi.TransportOptions{}))
			known := repo
			known.ID = 7
			_, err := c.GetIssue(t.Context(), known, 1)
			if asked > 4 || tt.name == "in circles" && asked != 4 {
				t.Errorf("%d requests: a redirect is not to be repeated, and at most 3 are followed", asked)
			}
			if tt.read == "" && err != nil || tt.read != "" && !errors.Is(err, tt.read) {
				t.Errorf("read: %v", err)
			}
			_, err = c.CreateIssueComment(t.Context(), known, 1, "x")
			if tt.write == "" && err != nil || tt.write != "" && !errors.Is(err, tt.write) {
				t.Errorf("write: %v", err)
			}
			if tt.read != "" && len(arrived) != 0 {
				t.Errorf("what was not to be followed arrived: %q", arrived)
			}
			for i, request := range arrived {
				if i > 0 && request != `POST {"body":"x"} Bearer `+secret {
					t.Errorf("the write arrived as %q", request)
				}
			}
		})
	}
	if len(stolen) != 0 {
		t.Errorf("the other host was asked: %q", stolen)
	}
}

// TestTokenStaysAtItsHost asserts that neither the token nor a request is sent to a
// GraphQL address on another host.
func TestTokenStaysAtItsHost(t *testing.T) {
	t.Parallel()
	asked := 0
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked++ }))
	t.Cleanup(other.Close)
	c, err := githubapi.New(githubapi.Options{APIURL: "https://api.github.com", GraphQLURL: other.URL, Token: token.New(secret, "https://api.github.com"),
		Transport: transport(t, githubapi.TransportOptions{}), Pace: githubapi.Unpaced()})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Viewer(t.Context()); !errors.Is(err, githubapi.Unauthorized) || asked != 0 || !strings.Contains(err.Error(), "the token was not sent") {
		t.Errorf("err = %v after %d requests", err, asked)
	}
}

func TestBodiesAreBounded(t *testing.T) {
	t.Parallel()
	env := newTestEnv(t, fixture(), func(s *settings) { s.client.MaxBody = 1000 })
	env.SetFault(func(githubtest.Request) githubtest.Fault {
		return githubtest.Fault{Garbage: `"` + strings.Repeat("x", 2000) + `"`}
	})
	if _, err := env.GetIssue(env.ctx, repo, 1); !errors.Is(err, githubapi.Malformed) {
		t.Errorf("read: %v", err)
	}
	if _, err := env.CreateIssueComment(env.ctx, repo, 1, "x"); !errors.Is(err, githubapi.Ambiguous) {
		t.Errorf("write: %v", err)
	}
}

// TestRequestsOfMethods checks the requests that the methods for repositories, issues, labels,
// reviews, SARIF and discussions send.
func TestRequestsOfMethods(t *testing.T) {
	t.Parallel()
	head := strings.Repeat("a", 40)
	var zero time.Time
	for name, tt := range map[string]struct {
		do   func(env testEnv) error
		want string
	}{
		"Viewer":      {func(env testEnv) error { return second(env.Viewer(env.ctx)) }, "POST graphql/Viewer"},
		"GetRepo":     {func(env testEnv) error { return second(env.GetRepo(env.ctx, repo)) }, "GET repos/get"},
		"GetFile":     {func(env testEnv) error { return second(env.GetFile(env.ctx, repo, ".github/airlock.yml", "")) }, "GET repos/get-content"},
		"GetIssue":    {func(env testEnv) error { return second(env.GetIssue(env.ctx, repo, 1)) }, "GET issues/get"},
		"CreateIssue": {func(env testEnv) error { return second(env.CreateIssue(env.ctx, repo, githubapi.NewIssue{Title: "x"})) }, "POST issues/create"},
		"EditIssue": {func(env testEnv) error {
			return second(env.EditIssue(env.ctx, repo, 1, githubapi.IssueEdit{Title: ptr("y")}))
		}, "PATCH issues/update"},
		"ListIssues":         {func(env testEnv) error { return firstError(env.ListIssues(env.ctx, repo, githubapi.IssueFilter{})) }, "GET issues/list-for-repo"},
		"IssueEdits":         {func(env testEnv) error { return second(env.IssueEdits(env.ctx, repo, 1, zero)) }, "POST graphql/Edits"},
		"ListIssueComments":  {func(env testEnv) error { return firstError(env.ListIssueComments(env.ctx, repo, 1, zero)) }, "GET issues/list-comments"},
		"CreateIssueComment": {func(env testEnv) error { return second(env.CreateIssueComment(env.ctx, repo, 1, "x")) }, "POST issues/create-comment"},
		"EditIssueComment": {func(env testEnv) error {
			return second(env.EditIssueComment(env.ctx, repo, env.State().Issues[0].Comments[0].ID, "x"))
		}, "PATCH issues/update-comment"},
		"ReactToIssueComment": {func(env testEnv) error {
			return env.ReactToIssueComment(env.ctx, repo, env.State().Issues[0].Comments[0].ID, githubapi.Confused)
		}, "POST reactions/create-for-issue-comment"},
		"DeleteIssueComment": {func(env testEnv) error {
			return env.DeleteIssueComment(env.ctx, repo, env.State().Issues[0].Comments[0].ID)
		}, "DELETE issues/delete-comment"},
		"ListLabels":        {func(env testEnv) error { return firstError(env.ListLabels(env.ctx, repo)) }, "GET issues/list-labels-for-repo"},
		"ListLabelsOfIssue": {func(env testEnv) error { return second(env.ListLabelsOfIssue(env.ctx, repo, 1)) }, "GET issues/list-labels-on-issue"},
		"AddLabels":         {func(env testEnv) error { return second(env.AddLabels(env.ctx, repo, 1, []string{"a"})) }, "POST issues/add-labels"},
		"GetPull":           {func(env testEnv) error { return second(env.GetPull(env.ctx, repo, 2)) }, "GET pulls/get"},
		"ListPullFiles":     {func(env testEnv) error { return firstError(env.ListPullFiles(env.ctx, repo, 2)) }, "GET pulls/list-files"},
		"ListReviews":       {func(env testEnv) error { return firstError(env.ListReviews(env.ctx, repo, 2)) }, "GET pulls/list-reviews"},
		"CreateReview": {func(env testEnv) error {
			return second(env.CreateReview(env.ctx, repo, 2, githubapi.NewReview{Event: "COMMENT", Body: "x"}))
		}, "POST pulls/create-review"},
		"ListReviewComments": {func(env testEnv) error { return firstError(env.ListReviewComments(env.ctx, repo, 2, zero)) }, "GET pulls/list-review-comments"},
		"a pending review": {func(env testEnv) error {
			r, err := env.StartReview(env.ctx, repo, 2, head, "x")
			if err != nil {
				return err
			}
			_, err = env.AddReviewThreads(env.ctx, repo, pullNode(env), r.NodeID, []githubapi.NewThread{{DraftComment: githubapi.DraftComment{Path: "main.go", Line: 2, Body: "x"}}})
			if err != nil {
				return err
			}
			if _, err := env.ReadDraft(env.ctx, repo, r.NodeID); err != nil {
				return err
			}
			return env.SubmitReview(env.ctx, repo, r.NodeID, githubapi.ReviewComment, "x")
		}, "POST pulls/create-review POST graphql/AddThreads POST graphql/Draft POST graphql/SubmitReview"},
		"DeletePendingReview": {func(env testEnv) error {
			r, err := env.StartReview(env.ctx, repo, 2, head, "x")
			if err != nil {
				return err
			}
			env.ResetRequests()
			return env.DeletePendingReview(env.ctx, repo, r.NodeID)
		}, "POST graphql/DeleteReview"},
		"EditReview and DeleteReviewComment": {func(env testEnv) error {
			r, err := env.CreateReview(env.ctx, repo, 2, githubapi.NewReview{CommitID: head, Event: "COMMENT", Body: "x",
				Comments: []githubapi.DraftComment{{Path: "main.go", Line: 2, Body: "x"}}})
			if err != nil {
				return err
			}
			comments := env.State().Issues[1].Pull.Comments
			env.ResetRequests()
			if _, err := env.EditReview(env.ctx, repo, 2, r.ID, "x"); err != nil {
				return err
			}
			return env.DeleteReviewComment(env.ctx, repo, comments[len(comments)-1].ID)
		}, "PUT pulls/update-review DELETE pulls/delete-review-comment"},
		"UploadSARIF and SARIFStatus": {func(env testEnv) error {
			id, err := env.UploadSARIF(env.ctx, repo, githubapi.SARIFUpload{CommitSHA: head, Ref: "refs/heads/main", SARIF: packed(t, goodSARIF)})
			if err != nil {
				return err
			}
			return second(env.SARIFStatus(env.ctx, repo, id))
		}, "POST code-scanning/upload-sarif GET code-scanning/get-sarif"},
		"DiscussionCategories":   {func(env testEnv) error { return second(env.DiscussionCategories(env.ctx, repo)) }, "POST graphql/Categories"},
		"ListDiscussions":        {func(env testEnv) error { return firstError(env.ListDiscussions(env.ctx, repo, zero)) }, "POST graphql/Discussions"},
		"GetDiscussion":          {func(env testEnv) error { return second(env.GetDiscussion(env.ctx, repo, 3)) }, "POST graphql/Discussion"},
		"ListDiscussionComments": {func(env testEnv) error { return firstError(env.ListDiscussionComments(env.ctx, repo, 3, zero)) }, "POST graphql/DiscussionComments"},
		"CreateDiscussion": {func(env testEnv) error {
			d := githubapi.NewDiscussion{RepositoryID: "R_1", CategoryID: "DIC_" + itoa(env.State().Categories[0].ID), Title: "x", Body: "y"}
			return second(env.CreateDiscussion(env.ctx, d))
		}, "POST graphql/CreateDiscussion"},
		"AddDiscussionComment": {func(env testEnv) error {
			return second(env.AddDiscussionComment(env.ctx, "D_"+itoa(env.State().Discussions[0].ID), "x"))
		}, "POST graphql/AddDiscussionComment"},
		"DeleteDiscussionComment": {func(env testEnv) error {
			return env.DeleteDiscussionComment(env.ctx, "DC_"+itoa(env.State().Discussions[0].Comments[0].ID))
		}, "POST graphql/DeleteDiscussionComment"},
		"DeleteDiscussion": {func(env testEnv) error {
			return env.DeleteDiscussion(env.ctx, "D_"+itoa(env.State().Discussions[0].ID))
		}, "POST graphql/DeleteDiscussion"},
	} {
		t.Run(name, func(t *testing.T) {
			env := newTestEnv(t, fixture())
			if err := tt.do(env); err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, r := range env.Requests() {
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

// TestConcurrentUse asserts that the requests of many goroutines keep to one pace.
func TestConcurrentUse(t *testing.T) {
	t.Parallel()
	env := newTestEnv(t, fixture(), func(s *settings) { s.client.Pace = githubapi.PaceConfig{} })
	start := env.clock.Now()
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			if _, err := env.CreateIssueComment(env.ctx, repo, 1, "x"); err != nil {
				t.Error(err)
			}
			if _, err := env.Viewer(env.ctx); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if n := len(env.Writes()); n != 20 {
		t.Errorf("%d writes", n)
	}
	if got := githubtest.Peak(env.Requests(), time.Minute, githubtest.Contents); got > 80 {
		t.Errorf("%d writes in a minute, want at most 80", got)
	}
	if passed := env.clock.Now().Sub(start); passed < 19*time.Second {
		t.Errorf("20 writes took %v, want a second between one and the next", passed)
	}
}
