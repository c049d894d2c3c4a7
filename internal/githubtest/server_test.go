package githubtest_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-airlock/airlock/internal/githubtest"
)

// witness is a Reporter that records the violations for a test.
type witness struct{ violations []string }

func (*witness) Helper() {}

func (w *witness) Errorf(format string, args ...any) {
	w.violations = append(w.violations, fmt.Sprintf(format, args...))
}

const patch = "@@ -1,3 +1,4 @@\n one\n-two\n+TWO\n+extra\n three\n\\ No newline at end of file\n@@ -10,2 +11,3 @@ func x\n ten\n+eleven\n twelve"

func fixture() githubtest.Fixture {
	return githubtest.Fixture{
		Issues: []*githubtest.Issue{{Number: 1, Title: "One", Body: "Text"},
			{Number: 2, Title: "Pull", Pull: &githubtest.Pull{Files: []githubtest.File{{Path: "a.go", Patch: patch}, {Path: "b.bin"}}}}},
		Categories: []githubtest.Category{{ID: 5, Name: "General", Slug: "general"}},
	}
}

// ask sends one request in memory. header has names and values, "" for a header that is left out. If
// the transport fails, the status is 0 and the text its error.
func ask(t *testing.T, s *githubtest.Server, method, path, body string, header ...string) (status int, text string, answered http.Header) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, s.APIURL()+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	req.Header.Set("User-Agent", "test")
	req.Header.Set("Authorization", "Bearer secret")
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
		if header[i+1] == "" {
			req.Header.Del(header[i])
		}
	}
	resp, err := s.Transport().RoundTrip(req)
	if err != nil {
		return 0, err.Error(), nil
	}
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(data), resp.Header
}

func TestRequestsThatBreakTheContract(t *testing.T) {
	t.Parallel()
	gql := func(query, vars string) string {
		q, _ := json.Marshal(query)
		return fmt.Sprintf(`{"query":%s,"variables":%s}`, q, vars)
	}
	for _, tt := range []struct{ name, method, path, body, want string }{
		{"typing error in a member", "POST", "/repos/octo/repo/issues", `{"title":"x","lables":[]}`, "/lables"},
		{"typing error in a nested member", "POST", "/repos/octo/repo/pulls/2/reviews", `{"event":"COMMENT","comments":[{"path":"a.go","body":"x","lin":1}]}`, "/comments/0/lin"},
		{"unknown query parameter", "GET", "/repos/octo/repo/issues?sate=all", "", "sate"},
		{"sort where there is none", "GET", "/repos/octo/repo/issues/1/comments?sort=created", "", "sort"},
		{"bare array of labels", "POST", "/repos/octo/repo/issues/1/labels", `["bug"]`, "body"},
		{"no labels", "POST", "/repos/octo/repo/issues/1/labels", `{"labels":[]}`, "body"},
		{"missing member", "POST", "/repos/octo/repo/issues/1/comments", `{}`, "body"},
		{"wrong type", "POST", "/repos/octo/repo/issues/1/comments", `{"body":5}`, "body"},
		{"value not in the list", "PATCH", "/repos/octo/repo/issues/1", `{"state":"done"}`, "state"},
		{"not JSON", "POST", "/repos/octo/repo/issues", `{`, "body"},
		{"query value not in the list", "GET", "/repos/octo/repo/issues?state=any", "", "state"},
		{"invalid commit", "POST", "/repos/octo/repo/code-scanning/sarifs", `{"commit_sha":"abc","ref":"refs/heads/main","sarif":"x"}`, "commit_sha"},
		{"unknown address", "GET", "/repos/octo/repo/isues", "", "no operation"},
		{"method that is not there", "DELETE", "/repos/octo/repo", "", "no operation"},
		{"invalid number", "GET", "/repos/octo/repo/issues/x", "", "issue_number"},
		{"GraphQL: unknown field", "POST", "/graphql", gql("{viewer{logn}}", "{}"), "logn"},
		{"GraphQL: variable of the wrong type", "POST", "/graphql", gql("query Q($o:String!){repository(owner:$o,name:\"r\"){id}}", `{"o":5}`), "o"},
		{"GraphQL: missing variable", "POST", "/graphql", gql("query Q($o:String!){repository(owner:$o,name:\"r\"){id}}", `{}`), "o"},
		{"GraphQL: undeclared variable", "POST", "/graphql", gql("{viewer{login}}", `{"o":5}`), "not declared"},
		{"GraphQL: unknown input member", "POST", "/graphql", gql("mutation M($i:DeleteDiscussionInput!){deleteDiscussion(input:$i){clientMutationId}}", `{"i":{"id":"x","ids":"y"}}`), "ids"},
		{"GraphQL: unknown body member", "POST", "/graphql", `{"query":"{viewer{login}}","varables":{}}`, "varables"},
		{"GraphQL: a field that is not served", "POST", "/graphql", gql("{viewer{email}}", "{}"), "does not serve"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := &witness{}
			s := githubtest.New(w, fixture(), githubtest.Options{})
			before := s.State()
			code, body, _ := ask(t, s, tt.method, tt.path, tt.body)
			if code != http.StatusInternalServerError || !strings.Contains(body, "githubtest: ") {
				t.Errorf("answered %d %s", code, body)
			}
			if len(w.violations) != 1 || !strings.Contains(w.violations[0], tt.want) {
				t.Errorf("reported %q, want something with %q", w.violations, tt.want)
			}
			if diff := cmp.Diff(w.violations, s.Violations()); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(before, s.State()); diff != "" {
				t.Errorf("it took effect: %s", diff)
			}
		})
	}
}

func TestRequestWithoutUserAgent(t *testing.T) {
	t.Parallel()
	w := &witness{}
	s := githubtest.New(w, fixture(), githubtest.Options{})
	ask(t, s, "GET", "/repos/octo/repo", "", "User-Agent", "")
	if len(w.violations) != 1 || !strings.Contains(w.violations[0], "User-Agent") {
		t.Errorf("reported %q", w.violations)
	}
}

func TestAnswersThatBreakTheContract(t *testing.T) {
	t.Parallel()
	w := &witness{}
	s := githubtest.New(w, fixture(), githubtest.Options{})
	s.Change(func(f *githubtest.Fixture) { f.Issues[0].StateReason = "because" })
	if code, _, _ := ask(t, s, "GET", "/repos/octo/repo/issues/1", ""); code != 500 || len(w.violations) != 1 || !strings.Contains(w.violations[0], "state_reason") {
		t.Errorf("REST: %d, %q", code, w.violations)
	}
	// GraphQL's Int has 32 bits.
	s.Change(func(f *githubtest.Fixture) { f.Viewer.ID = 1 << 40 })
	if code, _, _ := ask(t, s, "POST", "/graphql", `{"query":"{viewer{databaseId}}"}`); code != 500 || len(w.violations) != 2 || !strings.Contains(w.violations[1], "not of the type Int") {
		t.Errorf("GraphQL: %d, %q", code, w.violations)
	}
}

func TestAuthorization(t *testing.T) {
	t.Parallel()
	f := fixture()
	f.Tokens = []githubtest.Token{
		{Secret: "all"},
		{Secret: "mine", Account: githubtest.Account{Login: "me", ID: 77}},
		{Secret: "reader", Permissions: map[string]string{"issues": "read"}},
	}
	s := githubtest.New(t, f, githubtest.Options{})
	comment := `{"body":"x"}`
	for _, tt := range []struct {
		auth   string
		method string
		want   int
		needs  string
	}{
		{"Bearer all", "POST", 201, ""},
		{"token mine", "POST", 201, ""},
		{"Bearer reader", "POST", 403, "issues=write"},
		{"Bearer reader", "GET", 200, ""},
		{"Bearer unknown", "GET", 401, ""},
		{"Basic x", "GET", 401, ""},
		{"", "GET", 200, ""},
		{"", "POST", 401, ""},
	} {
		body := ""
		if tt.method == "POST" {
			body = comment
		}
		code, answer, header := ask(t, s, tt.method, "/repos/octo/repo/issues/1/comments", body, "Authorization", tt.auth)
		if code != tt.want || header.Get("X-Accepted-GitHub-Permissions") != tt.needs {
			t.Errorf("%s %q: %d %s, needs %q", tt.method, tt.auth, code, answer, header.Get("X-Accepted-GitHub-Permissions"))
		}
	}
	got := s.State().Issues[0].Comments
	if len(got) != 2 || got[0].Author.ID != 41898282 || got[1].Author.Login != "me" {
		t.Errorf("authors: %+v", got)
	}
	for _, r := range s.Requests() {
		if r.Header.Get("Authorization") != "" {
			t.Error("a secret was recorded")
		}
	}
	s.Change(func(f *githubtest.Fixture) { f.Repo.Private = true })
	if code, _, _ := ask(t, s, "GET", "/repos/octo/repo", "", "Authorization", ""); code != 404 {
		t.Errorf("a private repository without a token: %d", code)
	}
	if code, _, _ := ask(t, s, "GET", "/repos/octo/repo/pulls/2", "", "Authorization", "Bearer reader"); code != 403 {
		t.Errorf("a private repository without the permission to read: %d", code)
	}
}

func TestRecord(t *testing.T) {
	t.Parallel()
	clock := githubtest.NewVirtualClock(time.Time{})
	var lines strings.Builder
	s := githubtest.New(t, fixture(), githubtest.Options{Clock: clock, Record: &lines})
	ask(t, s, "GET", "/repos/octo/repo/issues?state=all&page=2", "")
	clock.Advance(time.Minute)
	ask(t, s, "POST", "/repos/octo/repo/issues", `{"title":"x"}`)
	ask(t, s, "POST", "/graphql", `{"query":"query Who {viewer{login}}"}`)
	var got []string
	for _, r := range s.Requests() {
		got = append(got, fmt.Sprintf("%d %s %s %s %s write=%v content=%v %d %v %s", r.Seq, r.At.Format("15:04"), r.Method, r.Path, r.Operation, r.Write, r.Content, r.Status, r.Effect, r.Account))
	}
	want := []string{
		"1 12:00 GET /repos/octo/repo/issues issues/list-for-repo write=false content=false 200 true github-actions[bot]",
		"2 12:01 POST /repos/octo/repo/issues issues/create write=true content=true 201 true github-actions[bot]",
		"3 12:01 POST /graphql graphql/Who write=false content=false 200 true github-actions[bot]",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if s.Requests()[0].Query.Get("state") != "all" || s.Requests()[1].JSON("title") != "x" || len(s.Writes()) != 1 {
		t.Errorf("record: %+v", s.Requests())
	}
	if strings.Count(lines.String(), "\n") != 3 || strings.Contains(lines.String(), "secret") {
		t.Errorf("lines: %s", lines.String())
	}
	s.ResetRequests()
	if len(s.Requests()) != 0 {
		t.Error("ResetRequests left something")
	}
}

func TestPeak(t *testing.T) {
	t.Parallel()
	start := time.Unix(0, 0)
	var reqs []githubtest.Request
	for _, s := range []int{0, 10, 50, 60, 65, 69, 70} {
		reqs = append(reqs, githubtest.Request{At: start.Add(time.Duration(s) * time.Second), Write: true})
	}
	if got := githubtest.Peak(reqs, time.Minute, githubtest.Points); got != 25 {
		t.Errorf("Peak = %d, want 25: five within [10, 70)", got)
	}
	if got := githubtest.Peak(nil, time.Minute, githubtest.Points); got != 0 {
		t.Errorf("Peak of nothing = %d", got)
	}
}
