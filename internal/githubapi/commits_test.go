package githubapi_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-airlock/airlock/internal/githubapi"
	"github.com/agent-airlock/airlock/internal/githubtest"
)

func newCommit() githubapi.NewCommit {
	return githubapi.NewCommit{Branch: "airlock/größe", ExpectedHead: shaA, Headline: "Say <hello>", Body: "why",
		Additions: []githubapi.Addition{{Path: "a b/ü.txt", Data: []byte{0, 255, '\n'}}, {Path: "empty"}}, Deletions: []string{"old.go"}}
}

func TestCreateCommitOnTheWire(t *testing.T) {
	t.Parallel()
	c, s := script(t, 200, `{"data":{"createCommitOnBranch":{"commit":{"oid":"`+shaB+`","url":"https://github.com/octo/repo/commit/`+shaB+`"}}}}`)
	sha, url, err := c.CreateCommit(t.Context(), repo, newCommit())
	if err != nil || sha != shaB || url != "https://github.com/octo/repo/commit/"+shaB {
		t.Fatalf("CreateCommit = %q, %q, %v", sha, url, err)
	}
	var sent struct{ Variables map[string]any }
	if err := json.Unmarshal([]byte(strings.TrimPrefix(s.sent[0], "POST /graphql ")), &sent); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{"input": map[string]any{
		"branch":          map[string]any{"repositoryNameWithOwner": "octo/repo", "branchName": "airlock/größe"},
		"expectedHeadOid": shaA,
		"message":         map[string]any{"headline": "Say <hello>", "body": "why"},
		"fileChanges": map[string]any{
			"additions": []any{map[string]any{"path": "a b/ü.txt", "contents": "AP8K"}, map[string]any{"path": "empty", "contents": ""}},
			"deletions": []any{map[string]any{"path": "old.go"}}},
	}}
	if diff := cmp.Diff(want, sent.Variables); diff != "" {
		t.Error(diff)
	}
}

func TestCreateCommitAnswers(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		body string
		kind githubapi.Kind
		want string
	}{
		"moved": {`{"data":{"createCommitOnBranch":null},"errors":[{"type":"STALE_DATA","path":["createCommitOnBranch"],"message":"Expected branch to point to \"x\" but it did not. Pull and try again."}]}`,
			githubapi.Conflict, "look at what is there now"},
		"no branch": {`{"data":{"createCommitOnBranch":null},"errors":[{"type":"NOT_FOUND","path":["createCommitOnBranch"],"message":"No ref"}]}`, githubapi.NotFound, "does not exist"},
		"may not": {`{"data":{"createCommitOnBranch":null},"errors":[{"type":"FORBIDDEN","path":["createCommitOnBranch"],"message":"Resource not accessible by integration"}]}`,
			githubapi.Forbidden, "the token lacks the permission contents: write"},
		"protected": {`{"data":{"createCommitOnBranch":null},"errors":[{"type":"BRANCH_PROTECTION_RULE_VIOLATION","path":["createCommitOnBranch"],"message":"Changes must be made through a pull request."}]}`,
			githubapi.Forbidden, "Changes must be made through a pull request."},
		"nothing":    {`{"data":{"createCommitOnBranch":{"commit":null}}}`, githubapi.Ambiguous, "names no commit"},
		"cannot say": {`{"data":{"createCommitOnBranch":{"commit":null}},"errors":[{"path":["createCommitOnBranch","commit"],"message":"x"}]}`, githubapi.Ambiguous, "look whether it is there"},
	} {
		t.Run(name, func(t *testing.T) {
			c, s := script(t, 200, tt.body)
			_, _, err := c.CreateCommit(t.Context(), repo, newCommit())
			if !errors.Is(err, tt.kind) || !strings.Contains(err.Error(), tt.want) || len(s.sent) != 1 {
				t.Errorf("err = %v after %d requests, want %s with %q after one", err, len(s.sent), tt.kind, tt.want)
			}
		})
	}
}

func TestCreateCommitRefusesBeforehand(t *testing.T) {
	t.Parallel()
	c, s := script(t, 200, `{}`)
	for name, change := range map[string]func(*githubapi.NewCommit){
		"branch":              func(n *githubapi.NewCommit) { n.Branch = "a..b" },
		"head":                func(n *githubapi.NewCommit) { n.ExpectedHead = "" },
		"no headline":         func(n *githubapi.NewCommit) { n.Headline = " " },
		"two lines":           func(n *githubapi.NewCommit) { n.Headline = "a\nb" },
		"nothing":             func(n *githubapi.NewCommit) { n.Additions, n.Deletions = nil, nil },
		"outside":             func(n *githubapi.NewCommit) { n.Additions[0].Path = "../x" },
		"not clean":           func(n *githubapi.NewCommit) { n.Deletions[0] = "a//b" },
		"absolute":            func(n *githubapi.NewCommit) { n.Deletions[0] = "/etc/passwd" },
		"twice":               func(n *githubapi.NewCommit) { n.Deletions[0] = "empty" },
		"no path":             func(n *githubapi.NewCommit) { n.Additions[0].Path = "" },
		"larger than allowed": func(n *githubapi.NewCommit) { n.Additions[0].Data = make([]byte, githubapi.MaxCommitBytes+1) },
	} {
		n := newCommit()
		change(&n)
		if _, _, err := c.CreateCommit(t.Context(), repo, n); !errors.Is(err, githubapi.Usage) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if len(s.sent) != 0 {
		t.Errorf("sent: %q", s.sent)
	}
}

func TestCompareOnTheWire(t *testing.T) {
	t.Parallel()
	body := fmt.Sprintf(`{"status":"diverged","ahead_by":300,"behind_by":2,"total_commits":300,"merge_base_commit":{"sha":%q},
		"commits":[{"sha":%q,"commit":{"message":"one","tree":{"sha":"t"},"author":{"name":"A","email":"a@x"},"verification":{"verified":true}},"parents":[{"sha":%q}]}]}`, shaB, shaA, shaB)
	for name, escaped := range map[string]string{
		"main": "main", shaA: shaA, "airlock/fix-1": "airlock%2Ffix-1", "a#b": "a%23b", "100%/x%2Fy": "100%25%2Fx%252Fy", "größe/日本": "gr%C3%B6%C3%9Fe%2F%E6%97%A5%E6%9C%AC",
		"a;b&c=d+e@f,g'h": "a%3Bb%26c%3Dd%2Be%40f%2Cg%27h",
	} {
		c, s := script(t, 200, body)
		got, err := c.Compare(t.Context(), repo, "rel/1", name)
		if err != nil {
			t.Errorf("%q: %v", name, err)
		}
		want := githubapi.Comparison{Status: "diverged", AheadBy: 300, MergeBase: shaB,
			Commits: []githubapi.Commit{{SHA: shaA, Tree: "t", Message: "one", Author: githubapi.Person{Name: "A", Email: "a@x"}, Parents: []string{shaB}, Verified: true}}}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q: %s", name, diff)
		}
		if diff := cmp.Diff([]string{"GET /repos/octo/repo/compare/rel%2F1..." + escaped}, s.sent); diff != "" {
			t.Errorf("%q: %s", name, diff)
		}
	}
}

func TestCompareRefusals(t *testing.T) {
	t.Parallel()
	c, s := script(t, 200, `{}`)
	for _, name := range []string{"", "a..b", "a...b", "other:main", "../x", "a b"} {
		for what, err := range map[string]error{"base": second(c.Compare(t.Context(), repo, name, "main")), "head": second(c.Compare(t.Context(), repo, "main", name))} {
			if !errors.Is(err, githubapi.Usage) {
				t.Errorf("%s %q: %v", what, name, err)
			}
		}
	}
	if len(s.sent) != 0 {
		t.Errorf("sent: %q", s.sent)
	}
	for status, body := range map[int]string{404: `{"message":"No common ancestor between main and topic."}`, 409: `{"message":"Git Repository is empty."}`} {
		c, _ := script(t, status, body)
		if _, err := c.Compare(t.Context(), repo, "main", "topic"); !errors.Is(err, githubapi.NotFound) {
			t.Errorf("%d: %v", status, err)
		}
	}
}

func TestCreateCommitInARepository(t *testing.T) {
	t.Parallel()
	env, g := newGitEnv(t)
	head := g.CommitFiles("main", []githubtest.GitFile{{Path: "run.sh", Mode: "100755", Data: "#!"}, {Path: "old/a", Data: "a"}}, "More")
	sha, url, err := env.CreateCommit(env.ctx, repo, githubapi.NewCommit{Branch: "main", ExpectedHead: head, Headline: "Change", Body: "Why\nso", Deletions: []string{"old/a"},
		Additions: []githubapi.Addition{{Path: "run.sh", Data: []byte("#!/bin/sh\n")}, {Path: "a b/ü \"q\"", Data: []byte{0, 255, '\n'}}, {Path: "old", Data: nil}}})
	if err != nil || g.SHA("main") != sha || !strings.HasSuffix(url, sha) {
		t.Fatalf("CreateCommit = %q, %q, %v; the branch is at %s", sha, url, err, g.SHA("main"))
	}
	if got := g.Run("-c", "core.quotePath=false", "ls-tree", "-r", "--format=%(objectmode) %(objectsize) %(path)", sha); got != "100644 6 README.md\n100644 3 \"a b/ü \\\"q\\\"\"\n100644 0 old\n100644 10 run.sh" {
		t.Errorf("files: %s", got)
	}
	c, err := env.GetCommit(env.ctx, repo, sha)
	if err != nil || !c.Verified || c.Message != "Change\n\nWhy\nso" || len(c.Parents) != 1 || c.Parents[0] != head || !c.When.Equal(env.clock.Now()) ||
		c.Author != (githubapi.Person{Name: "github-actions[bot]", Email: "41898282+github-actions[bot]@users.noreply.github.com"}) ||
		c.Committer != (githubapi.Person{Name: "GitHub", Email: "noreply@github.com"}) {
		t.Errorf("GetCommit = %+v, %v", c, err)
	}
}

func TestCreateCommitRefusedByARepository(t *testing.T) {
	t.Parallel()
	env, g := newGitEnv(t)
	env.Change(func(f *githubtest.Fixture) { f.Repo.Protected, f.Repo.Ruled = []string{"safe"}, []string{"ruled"} })
	head := g.SHA("main")
	for _, name := range []string{"safe", "ruled"} {
		g.SetBranch(name, head)
	}
	before := g.Run("for-each-ref")
	for name, tt := range map[string]struct {
		change func(*githubapi.NewCommit)
		kind   githubapi.Kind
		want   string
	}{
		"moved":     {func(n *githubapi.NewCommit) { n.ExpectedHead = shaA }, githubapi.Conflict, `Expected branch to point to`},
		"no branch": {func(n *githubapi.NewCommit) { n.Branch = "none" }, githubapi.NotFound, "does not exist"},
		"protected": {func(n *githubapi.NewCommit) { n.Branch = "safe" }, githubapi.Forbidden, "Changes must be made through a pull request."},
		"ruled":     {func(n *githubapi.NewCommit) { n.Branch = "ruled" }, githubapi.Validation, "Changes must be made through a pull request."},
		"no file":   {func(n *githubapi.NewCommit) { n.Deletions = []string{"none"} }, githubapi.Validation, "requested for deletion which does not exist"},
	} {
		n := githubapi.NewCommit{Branch: "main", ExpectedHead: head, Headline: "x", Additions: []githubapi.Addition{{Path: "x"}}}
		tt.change(&n)
		if _, _, err := env.CreateCommit(env.ctx, repo, n); !errors.Is(err, tt.kind) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %s with %q", name, err, tt.kind, tt.want)
		}
	}
	env.Change(func(f *githubtest.Fixture) {
		f.Tokens = []githubtest.Token{{Secret: secret, Permissions: map[string]string{"contents": "read"}}}
	})
	_, _, err := env.CreateCommit(env.ctx, repo, githubapi.NewCommit{Branch: "main", ExpectedHead: head, Headline: "x", Additions: []githubapi.Addition{{Path: "x"}}})
	if !errors.Is(err, githubapi.Forbidden) || !strings.Contains(err.Error(), "contents: write") {
		t.Errorf("without permission: %v", err)
	}
	if after := g.Run("for-each-ref"); after != before {
		t.Errorf("refs: %s", after)
	}
}

// TestCreateCommitAmbiguous asserts that a lost answer is ambiguous, whether the commit was created
// or not.
func TestCreateCommitAmbiguous(t *testing.T) {
	t.Parallel()
	for _, after := range []bool{false, true} {
		env, g := newGitEnv(t, func(s *settings) {
			s.server.Fault = githubtest.Faults([]githubtest.FaultRule{{Operation: "graphql/CreateCommit", Fault: githubtest.Fault{Cut: true, After: after}}})
		})
		head := g.SHA("main")
		_, _, err := env.CreateCommit(env.ctx, repo, githubapi.NewCommit{Branch: "main", ExpectedHead: head, Headline: "x", Additions: []githubapi.Addition{{Path: "x"}}})
		if !errors.Is(err, githubapi.Ambiguous) {
			t.Errorf("after %v: %v", after, err)
		}
		if now, err := env.GetBranch(env.ctx, repo, "main"); err != nil || (now != head) != after {
			t.Errorf("after %v: the branch is at %s, %v", after, now, err)
		}
	}
}
