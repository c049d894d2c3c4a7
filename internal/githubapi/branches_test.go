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

// oddBranches maps names of branches to how they are written in an address. Most of the names
// contain characters that have a meaning in an address.
var oddBranches = map[string]string{
	"main":                  "main",
	"airlock/fix-1":         "airlock/fix-1",
	"a#b":                   "a%23b",
	"100%/x%2Fy":            "100%25/x%252Fy",
	"größe/日本":              "gr%C3%B6%C3%9Fe/%E6%97%A5%E6%9C%AC",
	"a;b&c=d+e@f,g'h\"$(x)": "a%3Bb&c=d+e@f%2Cg%27h%22$%28x%29",
	"refs/heads/x":          "refs/heads/x",
}

func TestBranchNamesOnTheWire(t *testing.T) {
	t.Parallel()
	for name, escaped := range oddBranches {
		c, s := script(t, 200, fmt.Sprintf(`{"ref":%q,"object":{"sha":%q,"type":"commit"}}`, "refs/heads/"+name, shaA))
		got, err := c.GetBranch(t.Context(), repo, name)
		if err != nil || got != shaA {
			t.Errorf("GetBranch(%q) = %q, %v", name, got, err)
		}
		c, s2 := script(t, 200, fmt.Sprintf(`[{"ref":%q,"object":{"sha":%q}},{"ref":"refs/heads/other","object":{"sha":%q}}]`, "refs/heads/"+name, shaA, shaB))
		list, err := c.ListBranches(t.Context(), repo, name)
		if diff := cmp.Diff([]githubapi.Branch{{Name: name, SHA: shaA}}, list); diff != "" || err != nil {
			t.Errorf("ListBranches(%q): %s %v", name, diff, err)
		}
		want := []string{"GET /repos/octo/repo/git/ref/heads/" + escaped, "GET /repos/octo/repo/git/matching-refs/heads/" + escaped}
		if diff := cmp.Diff(want, append(s.sent, s2.sent...)); diff != "" {
			t.Errorf("%q: %s", name, diff)
		}
		c, s = script(t, 201, fmt.Sprintf(`{"ref":%q,"object":{"sha":%q}}`, "refs/heads/"+name, shaA))
		if err := c.CreateBranch(t.Context(), repo, name, shaA); err != nil {
			t.Errorf("CreateBranch(%q): %v", name, err)
		}
		if got := s.sent[0]; !strings.Contains(got, `"sha":"`+shaA+`"`) || !strings.Contains(got, `"ref":`) {
			t.Errorf("CreateBranch(%q) sent %s", name, got)
		}
	}
}

func TestInvalidBranchNames(t *testing.T) {
	t.Parallel()
	c, s := script(t, 200, `{}`)
	for _, name := range []string{"", "@", "a..b", "../x", "a/../../b", ".hidden", "a/.b", "/a", "a/", "a//b", "a b", "a\tb", "a~1", "a^", "a:b", "a?", "a*", "a[", `a\b`,
		"x.lock", "x.lock/y", "a@{1}", "ends.", "a\x00b", "\xff", strings.Repeat("x", 1001)} {
		for what, err := range map[string]error{
			"GetBranch":    second(c.GetBranch(t.Context(), repo, name)),
			"CreateBranch": c.CreateBranch(t.Context(), repo, name, shaA),
			"CreatePull":   second(c.CreatePull(t.Context(), repo, githubapi.NewPull{Title: "x", Head: "topic", Base: name})),
		} {
			if !errors.Is(err, githubapi.Usage) {
				t.Errorf("%s(%q): %v", what, name, err)
			}
		}
	}
	if len(s.sent) != 0 {
		t.Errorf("sent: %q", s.sent)
	}
}

func TestPrefixesOfBranches(t *testing.T) {
	t.Parallel()
	all := `[{"ref":"refs/heads/air","object":{"sha":"1"}},{"ref":"refs/heads/air/1","object":{"sha":"2"}},{"ref":"refs/heads/airlock","object":{"sha":"3"}},{"ref":"refs/headsx/air/1","object":{"sha":"4"}}]`
	for prefix, want := range map[string][]string{
		"": {"air", "air/1", "airlock"}, "air": {"air", "air/1", "airlock"}, "air/": {"air/1"}, "airl": {"airlock"}, "none": nil, "rel-1.": nil,
	} {
		c, s := script(t, 200, all)
		list, err := c.ListBranches(t.Context(), repo, prefix)
		var got []string
		for _, b := range list {
			got = append(got, b.Name)
		}
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%q: %s %v", prefix, diff, err)
		}
		if strings.HasSuffix(s.sent[0], "/") {
			t.Errorf("%q: sent %s", prefix, s.sent[0])
		}
	}
}

// TestEmptyRepository: GitHub answers 409 to every question about a repository
// without commits.
func TestEmptyRepository(t *testing.T) {
	t.Parallel()
	c, _ := script(t, 409, `{"message":"Git Repository is empty.","documentation_url":"https://docs.github.com/rest","status":"409"}`)
	if _, err := c.GetBranch(t.Context(), repo, "main"); !errors.Is(err, githubapi.NotFound) {
		t.Errorf("GetBranch: %v", err)
	}
	if _, err := c.GetCommit(t.Context(), repo, shaA); !errors.Is(err, githubapi.NotFound) {
		t.Errorf("GetCommit: %v", err)
	}
	if list, err := c.ListBranches(t.Context(), repo, ""); err != nil || len(list) != 0 {
		t.Errorf("ListBranches: %v, %v", list, err)
	}
	if list, err := c.ListCommits(t.Context(), repo, "main", 5); err != nil || len(list) != 0 {
		t.Errorf("ListCommits: %v, %v", list, err)
	}
	if err := c.CreateBranch(t.Context(), repo, "x", shaA); !errors.Is(err, githubapi.Conflict) {
		t.Errorf("CreateBranch: %v", err)
	}
}

// TestRefusalsOfCode asserts which errors the client makes of GitHub's refusals of branches and
// pull requests, and that it sends each request once.
func TestRefusalsOfCode(t *testing.T) {
	t.Parallel()
	pull := func(c *githubapi.Client) error {
		return second(c.CreatePull(t.Context(), repo, githubapi.NewPull{Title: "x", Head: "topic", Base: "main", Draft: true}))
	}
	branch := func(c *githubapi.Client) error { return c.CreateBranch(t.Context(), repo, "topic", shaA) }
	invalid := func(message string) string {
		return fmt.Sprintf(`{"message":"Validation Failed","errors":[{"resource":"PullRequest","code":"custom","message":%q}]}`, message)
	}
	for _, tt := range []struct {
		name    string
		do      func(*githubapi.Client) error
		status  int
		body    string
		kind    githubapi.Kind
		feature string
		want    string
	}{
		{"pull request exists", pull, 422, invalid("A pull request already exists for octo:topic."), githubapi.Conflict, "", "A pull request already exists for octo:topic."},
		{"nothing between", pull, 422, invalid("No commits between main and topic"), githubapi.Validation, "", "No commits between main and topic"},
		{"no such head", pull, 422, `{"message":"Validation Failed","errors":[{"resource":"PullRequest","field":"head","code":"invalid"}]}`, githubapi.Validation, "", "head invalid"},
		{"no drafts", pull, 422, `{"message":"Draft pull requests are not supported in this repository."}`, githubapi.Forbidden, githubapi.FeatureDrafts, "open the pull request ready for review (draft: false)"},
		{"no drafts, in an error", pull, 422, invalid("Draft pull requests are not supported in this repository."), githubapi.Forbidden, githubapi.FeatureDrafts, "has no draft pull requests"},
		{"Actions may not", pull, 403, `{"message":"GitHub Actions is not permitted to create or approve pull requests.","status":"403"}`, githubapi.Forbidden, githubapi.FeaturePullCreation,
			`Settings, Actions, General: "Allow GitHub Actions to create and approve pull requests"`},
		{"no permission", pull, 403, `{"message":"Resource not accessible by integration"}`, githubapi.Forbidden, "", "GitHub refuses it"},
		{"branch exists", branch, 422, `{"message":"Reference already exists"}`, githubapi.Conflict, "", "Reference already exists"},
		{"no such commit", branch, 422, `{"message":"Object does not exist"}`, githubapi.Validation, "", "Object does not exist"},
		{"rule", branch, 422, `{"message":"Repository rule violations found\n\nCannot create ref due to creations being restricted."}`, githubapi.Validation, "", "creations being restricted"},
		{"server error", pull, 502, `{}`, githubapi.Ambiguous, "", "may or may not have happened"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, s := script(t, tt.status, tt.body)
			err := tt.do(c)
			var e *githubapi.Error
			if !errors.As(err, &e) || e.Kind != tt.kind || e.Feature != tt.feature || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("err = %v, want %s, the feature %q and %q on one line", err, tt.kind, tt.feature, tt.want)
			}
			if len(s.sent) != 1 {
				t.Errorf("sent %d times, want once", len(s.sent))
			}
		})
	}
}

func TestListPullsAsksExactly(t *testing.T) {
	t.Parallel()
	pull := func(n int, head, base string) string {
		return fmt.Sprintf(`{"id":%d,"number":%d,"merged_at":"2026-01-01T00:00:00Z","head":{"ref":%q},"base":{"ref":%q},"labels":[{"name":"a"},{"name":"b"}],"requested_reviewers":[{"login":"me"}]}`, n, n, head, base)
	}
	c, s := script(t, 200, "["+pull(3, "topic", "main")+","+pull(2, "other", "main")+","+pull(1, "topic", "old")+"]")
	got := collect(t, c.ListPulls(t.Context(), repo, githubapi.PullFilter{State: "open", Head: "octo:topic", Base: "main"}))
	if len(got) != 1 || got[0].Number != 3 || !got[0].Merged || !cmp.Equal(got[0].Labels, []string{"a", "b"}) || !cmp.Equal(got[0].Reviewers, []string{"me"}) {
		t.Errorf("got %+v", got)
	}
	if all := collect(t, c.ListPulls(t.Context(), repo, githubapi.PullFilter{})); len(all) != 3 {
		t.Errorf("all: %+v", all)
	}
	want := []string{"GET /repos/octo/repo/pulls?base=main&direction=desc&head=octo%3Atopic&page=1&per_page=100&sort=created&state=open",
		"GET /repos/octo/repo/pulls?direction=desc&page=1&per_page=100&sort=created&state=all"}
	if diff := cmp.Diff(want, s.sent); diff != "" {
		t.Error(diff)
	}
	for _, head := range []string{"topic", ":topic", "octo:"} {
		if err := firstError(c.ListPulls(t.Context(), repo, githubapi.PullFilter{Head: head})); !errors.Is(err, githubapi.Usage) {
			t.Errorf("%q: %v", head, err)
		}
	}
}

func TestPullWritesOnTheWire(t *testing.T) {
	t.Parallel()
	c, s := script(t, 200, `{"number":7,"head":{"ref":"a;b"},"base":{"ref":"main"}}`)
	if p, err := c.CreatePull(t.Context(), repo, githubapi.NewPull{Title: "$(touch x)", Body: "b", Head: "octo:a;b", Base: "main", Draft: true}); err != nil || p.Number != 7 {
		t.Errorf("CreatePull = %+v, %v", p, err)
	}
	if _, err := c.EditPull(t.Context(), repo, 7, githubapi.PullEdit{Body: ptr("new")}); err != nil {
		t.Error(err)
	}
	if err := c.RequestReviewers(t.Context(), repo, 7, []string{"a", "Octo/the-team", "b"}); err != nil {
		t.Error(err)
	}
	want := []string{`POST /repos/octo/repo/pulls {"title":"$(touch x)","head":"octo:a;b","base":"main","body":"b","draft":true}`,
		`PATCH /repos/octo/repo/pulls/7 {"body":"new"}`, `POST /repos/octo/repo/pulls/7/requested_reviewers {"reviewers":["a","b"],"team_reviewers":["the-team"]}`}
	if diff := cmp.Diff(want, s.sent); diff != "" {
		t.Error(diff)
	}
	for name, err := range map[string]error{
		"empty edit": second(c.EditPull(t.Context(), repo, 7, githubapi.PullEdit{})),
		"number":     second(c.EditPull(t.Context(), repo, 0, githubapi.PullEdit{Body: ptr("x")})),
		"nobody":     c.RequestReviewers(t.Context(), repo, 7, nil),
		"team":       c.RequestReviewers(t.Context(), repo, 7, []string{"other/team"}),
		"sha":        second(c.GetCommit(t.Context(), repo, "main")),
		"count":      second(c.ListCommits(t.Context(), repo, "main", 101)),
		"branch sha": c.CreateBranch(t.Context(), repo, "x", "HEAD"),
	} {
		if !errors.Is(err, githubapi.Usage) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// newGitEnv returns a testEnv with a git repository whose branch main has one commit.
func newGitEnv(t *testing.T, change ...func(*settings)) (testEnv, *githubtest.Git) {
	t.Helper()
	g := githubtest.NewGit(t)
	g.Commit("main", map[string]string{"README.md": "hello\n"}, "Begin")
	env := newTestEnv(t, fixture(), append(change, func(s *settings) { s.server.Git = g })...)
	return env, g
}

func TestBranchesOfARepository(t *testing.T) {
	t.Parallel()
	env, g := newGitEnv(t)
	main := g.SHA("main")
	for name := range oddBranches {
		if name == "main" {
			continue
		}
		if _, err := env.GetBranch(env.ctx, repo, name); !errors.Is(err, githubapi.NotFound) {
			t.Errorf("GetBranch(%q) before: %v", name, err)
		}
		if err := env.CreateBranch(env.ctx, repo, name, main); err != nil {
			t.Errorf("CreateBranch(%q): %v", name, err)
		}
		if got, err := env.GetBranch(env.ctx, repo, name); err != nil || got != main || g.SHA(name) != main {
			t.Errorf("GetBranch(%q) = %q, %v", name, got, err)
		}
		if list, err := env.ListBranches(env.ctx, repo, name); err != nil || len(list) != 1 || list[0] != (githubapi.Branch{Name: name, SHA: main}) {
			t.Errorf("ListBranches(%q) = %v, %v", name, list, err)
		}
		if err := env.CreateBranch(env.ctx, repo, name, main); !errors.Is(err, githubapi.Conflict) {
			t.Errorf("CreateBranch(%q) again: %v", name, err)
		}
		if c, err := env.Compare(env.ctx, repo, "main", name); err != nil || c.Status != "identical" {
			t.Errorf("Compare(%q) = %v, %v", name, c, err)
		}
		if list, err := env.ListCommits(env.ctx, repo, name, 5); err != nil || len(list) != 1 || list[0].SHA != main {
			t.Errorf("ListCommits(%q) = %v, %v", name, list, err)
		}
	}
	if err := env.CreateBranch(env.ctx, repo, "new", shaA); !errors.Is(err, githubapi.Validation) {
		t.Errorf("a branch at a commit that is not there: %v", err)
	}
}

func TestCompareOfARepository(t *testing.T) {
	t.Parallel()
	env, g := newGitEnv(t)
	base := g.SHA("main")
	g.SetBranch("topic", base)
	var want []string
	for i := range 3 {
		want = append(want, g.Commit("topic", map[string]string{"n": fmt.Sprint(i)}, fmt.Sprintf("Step %d", i)))
	}
	main := g.Commit("main", map[string]string{"m": ""}, "Main")
	c, err := env.Compare(env.ctx, repo, "main", "topic")
	if err != nil || c.Status != "diverged" || c.AheadBy != 3 || c.MergeBase != base || len(c.Commits) != 3 {
		t.Fatalf("Compare: %v, %+v", err, c)
	}
	for i, k := range c.Commits {
		if k.SHA != want[i] || k.Message != fmt.Sprintf("Step %d", i) {
			t.Fatalf("commit %d: %+v", i, k)
		}
	}
	if c, err = env.Compare(env.ctx, repo, "topic", main); err != nil || c.Status != "diverged" || len(c.Commits) != 1 || c.Commits[0].SHA != main {
		t.Errorf("Compare the other way: %v, %+v", err, c)
	}
	got, err := env.GetCommit(env.ctx, repo, main)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(c.Commits[0], got); diff != "" {
		t.Errorf("GetCommit and Compare disagree: %s", diff)
	}
	if got.Author != (githubapi.Person{Name: "Octo Cat", Email: "octocat@example.com"}) || got.Verified || got.When.Unix() != 1767323105 || len(got.Parents) != 1 || got.Tree != g.Run("rev-parse", main+"^{tree}") {
		t.Errorf("GetCommit = %+v", got)
	}
	for _, pair := range [][2]string{{"main", "none"}, {"none", "main"}} {
		if _, err := env.Compare(env.ctx, repo, pair[0], pair[1]); !errors.Is(err, githubapi.NotFound) {
			t.Errorf("%v: %v", pair, err)
		}
	}
}

func TestFilesOfARepository(t *testing.T) {
	t.Parallel()
	env, g := newGitEnv(t)
	first := g.SHA("main")
	g.Commit("main", map[string]string{"README.md": "new"}, "Two")
	for ref, want := range map[string]string{"": "new", "main": "new", first: "hello\n"} {
		if got, err := env.GetFile(env.ctx, repo, "README.md", ref); err != nil || string(got) != want {
			t.Errorf("GetFile at %q = %q, %v", ref, got, err)
		}
	}
	r, err := env.GetRepo(env.ctx, repo)
	if err != nil || r.CloneURL != env.GitURL() || r.DefaultBranch != "main" {
		t.Errorf("GetRepo = %+v, %v", r, err)
	}
}
