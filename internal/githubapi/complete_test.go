package githubapi_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/agent-airlock/airlock/internal/githubapi"
	"github.com/agent-airlock/airlock/internal/githubtest"
)

// TestWhatIsProtectedIsReadToTheEnd asserts that protected patterns, rules and secrets are read from
// all pages.
func TestWhatIsProtectedIsReadToTheEnd(t *testing.T) {
	t.Parallel()
	env, _ := newGitEnv(t, func(s *settings) { s.server.PerPage = 1 })
	var patterns []string
	for i := range 250 {
		patterns = append(patterns, fmt.Sprintf("release-%d", i))
	}
	env.Change(func(f *githubtest.Fixture) {
		f.Repo.Protected, f.Repo.Ruled, f.Repo.NoForce, f.Repo.Secrets = patterns, []string{"topic"}, true, []string{"A", "B", "C"}
	})
	if got, err := env.ProtectedPatterns(env.ctx, repo); err != nil || strings.Join(got, " ") != strings.Join(patterns, " ") {
		t.Errorf("%d patterns of %d, %v", len(got), len(patterns), err)
	}
	if got, err := env.BranchRules(env.ctx, repo, "topic"); err != nil || strings.Join(got, " ") != "non_fast_forward deletion pull_request" {
		t.Errorf("the rules %q, %v", got, err)
	}
	if got, err := env.ActionsSecrets(env.ctx, repo); err != nil || strings.Join(got, " ") != "A B C" {
		t.Errorf("the secrets %q, %v", got, err)
	}
}

// TestBranchesAreReadToTheEnd asserts that all branches are read, from one answer or from the pages
// that the Link header names. It also counts the requests: after one answer with 100 branches or
// more a second page is tried, and a list of several pages is read twice.
func TestBranchesAreReadToTheEnd(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ branches, perPage, requests int }{
		"one answer":           {99, 1000, 1},
		"one answer with many": {350, 1000, 2},
		"pages":                {350, 100, 8},
	} {
		asked := 0
		client := plainClient(t, "https://api.github.com", roundTripper(func(req *http.Request) (*http.Response, error) {
			asked++
			page := 1
			if q := req.URL.Query(); q.Has("page") && c.perPage < c.branches {
				_, _ = fmt.Sscan(q.Get("page"), &page)
			}
			var refs []string
			for i := (page - 1) * c.perPage; i < min(page*c.perPage, c.branches); i++ {
				refs = append(refs, fmt.Sprintf(`{"ref":"refs/heads/b%03d","object":{"sha":%q}}`, i, shaA))
			}
			header := http.Header{"Content-Type": {"application/json"}}
			if c.perPage < c.branches {
				header.Set("Link", gitHubLink("https://api.github.com/x?page=%d")(page, (c.branches+c.perPage-1)/c.perPage))
			}
			return &http.Response{StatusCode: 200, Header: header, Body: io.NopCloser(strings.NewReader("[" + strings.Join(refs, ",") + "]")), Request: req}, nil
		}))
		got, err := client.ListBranches(t.Context(), repo, "b")
		if err != nil || len(got) != c.branches || asked != c.requests {
			t.Errorf("%s: %d branches of %d in %d requests, %v", name, len(got), c.branches, asked, err)
		}
	}
}

// TestEachVersionOfATextIsRead asserts that all versions of a text are read, the newest first.
func TestEachVersionOfATextIsRead(t *testing.T) {
	t.Parallel()
	env := newTestEnv(t, fixture())
	env.Change(func(f *githubtest.Fixture) {
		i := f.Issues[0]
		i.FirstBody = i.Body
		for n := range 50 {
			i.Body = fmt.Sprintf("Text %d", n)
			i.Edits = append(i.Edits, githubtest.Edit{Field: "body", To: i.Body, At: time.Date(2026, 1, 1, 0, n, 0, 0, time.UTC)})
		}
	})
	got, err := env.IssueText(env.ctx, repo, 1)
	if err != nil || len(got.Versions) != 51 || got.Versions[0].Text != "Text 49" || got.Versions[50].Text != "Text" || got.Body != "Text 49" {
		t.Errorf("%d versions of %q, %v", len(got.Versions), got.Body, err)
	}
}

// TestEachVersionIsReadWithoutANumber asserts that all versions of a text are read even if GitHub
// answers null for the issue's id in REST, and that the text is that of the first page.
func TestEachVersionIsReadWithoutANumber(t *testing.T) {
	t.Parallel()
	env := newTestEnv(t, fixture())
	env.SetFault(func(r githubtest.Request) githubtest.Fault {
		body, edit, page := "new", "E2", `{"hasNextPage":true,"endCursor":"older-edits"}`
		if strings.Contains(string(r.Body), "older-edits") {
			body, edit, page = "newer", "E1", `{"hasNextPage":false}`
		}
		return githubtest.Fault{Status: 200, Body: fmt.Sprintf(`{"data":{"repository":{"issue":{"id":"I","fullDatabaseId":null,"number":1,"url":"u","body":%q,
			"userContentEdits":{"nodes":[{"id":%q,"editedAt":"2026-01-01T00:00:00Z","diff":"x"}],"pageInfo":%s}}}}}`, body, edit, page)}
	})
	got, err := env.IssueText(env.ctx, repo, 1)
	if err != nil || len(got.Versions) != 2 || got.Versions[0].ID != "E2" || got.Versions[1].ID != "E1" || got.Body != "new" {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestEachCommentOfAPullRequestIsRead asserts that all comments are read, in the order in which they
// were written.
func TestEachCommentOfAPullRequestIsRead(t *testing.T) {
	t.Parallel()
	env, _ := newGitEnv(t)
	env.Change(func(f *githubtest.Fixture) {
		for _, i := range f.Issues {
			if i.Pull == nil {
				continue
			}
			i.Comments = nil
			for n := range 250 {
				i.Comments = append(i.Comments, &githubtest.Comment{Body: fmt.Sprintf("Comment %d", n)})
			}
		}
	})
	found, err := env.FilesOnRefs(env.ctx, repo, githubapi.RefQuery{Prefix: "refs/airlock/", Pull: 2})
	if err != nil || found.Pull == nil || len(found.Pull.Comments) != 250 {
		t.Fatalf("%+v, %v", found, err)
	}
	for n, c := range found.Pull.Comments {
		if want := fmt.Sprintf("Comment %d", n); c.Body != want {
			t.Fatalf("comment %d is %q", n, c.Body)
		}
	}
}
