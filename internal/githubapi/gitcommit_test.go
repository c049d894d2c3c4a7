package githubapi_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/githubapi"
	"github.com/agent-airlock/airlock/internal/githubtest"
)

func TestCreateCommitInARepository(t *testing.T) {
	w, g := gitWorld(t)
	head := g.CommitFiles("main", []githubtest.GitFile{{Path: "run.sh", Mode: "100755", Data: "#!"}, {Path: "old/a", Data: "a"}}, "More")
	sha, url, err := w.CreateCommit(w.ctx, repo, githubapi.NewCommit{Branch: "main", ExpectedHead: head, Headline: "Change", Body: "Why\nso", Deletions: []string{"old/a"},
		Additions: []githubapi.Addition{{Path: "run.sh", Data: []byte("#!/bin/sh\n")}, {Path: "a b/ü \"q\"", Data: []byte{0, 255, '\n'}}, {Path: "old", Data: nil}}})
	if err != nil || g.SHA("main") != sha || !strings.HasSuffix(url, sha) {
		t.Fatalf("CreateCommit = %q, %q, %v; the branch is at %s", sha, url, err, g.SHA("main"))
	}
	if got := g.Run("-c", "core.quotePath=false", "ls-tree", "-r", "--format=%(objectmode) %(objectsize) %(path)", sha); got != "100644 6 README.md\n100644 3 \"a b/ü \\\"q\\\"\"\n100644 0 old\n100644 10 run.sh" {
		t.Errorf("files: %s", got)
	}
	c, err := w.GetCommit(w.ctx, repo, sha)
	if err != nil || !c.Verified || c.Message != "Change\n\nWhy\nso" || len(c.Parents) != 1 || c.Parents[0] != head || !c.When.Equal(w.clock.Now()) ||
		c.Author != (githubapi.Person{Name: "github-actions[bot]", Email: "41898282+github-actions[bot]@users.noreply.github.com"}) ||
		c.Committer != (githubapi.Person{Name: "GitHub", Email: "noreply@github.com"}) {
		t.Errorf("GetCommit = %+v, %v", c, err)
	}
}

func TestCreateCommitRefusedByARepository(t *testing.T) {
	w, g := gitWorld(t)
	w.Change(func(f *githubtest.Fixture) { f.Repo.Protected, f.Repo.Ruled = []string{"safe"}, []string{"ruled"} })
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
		if _, _, err := w.CreateCommit(w.ctx, repo, n); !errors.Is(err, tt.kind) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	w.Change(func(f *githubtest.Fixture) {
		f.Tokens = []githubtest.Token{{Secret: secret, Permissions: map[string]string{"contents": "read"}}}
	})
	_, _, err := w.CreateCommit(w.ctx, repo, githubapi.NewCommit{Branch: "main", ExpectedHead: head, Headline: "x", Additions: []githubapi.Addition{{Path: "x"}}})
	if !errors.Is(err, githubapi.Forbidden) || !strings.Contains(err.Error(), "contents: write") {
		t.Errorf("without permission: %v", err)
	}
	if after := g.Run("for-each-ref"); after != before {
		t.Errorf("refs: %s", after)
	}
}

// TestCreateCommitAmbiguous: after a lost answer, the branch tells what happened.
func TestCreateCommitAmbiguous(t *testing.T) {
	for _, after := range []bool{false, true} {
		w, g := gitWorld(t, func(s *settings) {
			s.server.Fault = githubtest.Faults([]githubtest.FaultRule{{Operation: "graphql/CreateCommit", Fault: githubtest.Fault{Cut: true, After: after}}})
		})
		head := g.SHA("main")
		_, _, err := w.CreateCommit(w.ctx, repo, githubapi.NewCommit{Branch: "main", ExpectedHead: head, Headline: "x", Additions: []githubapi.Addition{{Path: "x"}}})
		if !errors.Is(err, githubapi.Ambiguous) {
			t.Errorf("after %v: %v", after, err)
		}
		if now, err := w.GetBranch(w.ctx, repo, "main"); err != nil || (now != head) != after {
			t.Errorf("after %v: the branch is at %s, %v", after, now, err)
		}
	}
}
