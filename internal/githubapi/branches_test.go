package githubapi_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-airlock/airlock/internal/githubapi"
)

// oddBranches are names whose characters mean something in an address.
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
		c, s = script(t, 201, `{}`)
		if err := c.CreateBranch(t.Context(), repo, name, shaA); err != nil {
			t.Errorf("CreateBranch(%q): %v", name, err)
		}
		if got := s.sent[0]; !strings.Contains(got, `"sha":"`+shaA+`"`) || !strings.Contains(got, `"ref":`) {
			t.Errorf("CreateBranch(%q) sent %s", name, got)
		}
	}
}

func TestBranchNamesThatCannotBe(t *testing.T) {
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

// TestRefusalsOfCode plays GitHub's words for what is refused around branches and
// pull requests.
func TestRefusalsOfCode(t *testing.T) {
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
				t.Errorf("err = %v", err)
			}
			if len(s.sent) != 1 {
				t.Errorf("sent %d times", len(s.sent))
			}
		})
	}
}

func TestListPullsAsksExactly(t *testing.T) {
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
	c, s := script(t, 200, `{"number":7}`)
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
