package githubapi_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-airlock/airlock/internal/githubapi"
)

func newCommit() githubapi.NewCommit {
	return githubapi.NewCommit{Branch: "airlock/größe", ExpectedHead: shaA, Headline: "Say <hello>", Body: "why",
		Additions: []githubapi.Addition{{Path: "a b/ü.txt", Data: []byte{0, 255, '\n'}}, {Path: "empty"}}, Deletions: []string{"old.go"}}
}

func TestCreateCommitOnTheWire(t *testing.T) {
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
				t.Errorf("err = %v after %d requests", err, len(s.sent))
			}
		})
	}
}

func TestCreateCommitRefusesBeforehand(t *testing.T) {
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
