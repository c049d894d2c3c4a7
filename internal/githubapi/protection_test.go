package githubapi_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-airlock/airlock/internal/githubapi"
	"github.com/agent-airlock/airlock/internal/githubtest"
)

func TestProtectionOfARepository(t *testing.T) {
	t.Parallel()
	env, g := newGitEnv(t)
	env.Change(func(f *githubtest.Fixture) {
		f.Repo.Protected, f.Repo.Ruled = []string{"main", "release/*"}, []string{"ruled/*"}
		f.Tokens = []githubtest.Token{{Secret: secret}}
	})
	g.SetBranch("release/1.0", g.SHA("main"))
	g.SetBranch("topic", g.SHA("main"))
	g.Run("tag", "v1", g.SHA("main"))
	for name, want := range map[string]bool{"main": true, "release/1.0": true, "topic": false} {
		if got, err := env.BranchProtected(env.ctx, repo, name); err != nil || got != want {
			t.Errorf("BranchProtected(%q) = %t, %v", name, got, err)
		}
	}
	if _, err := env.BranchProtected(env.ctx, repo, "none"); !errors.Is(err, githubapi.NotFound) {
		t.Errorf("of no branch: %v", err)
	}
	for name, want := range map[string]string{"ruled/new": "deletion pull_request", "topic": ""} {
		if got, err := env.BranchRules(env.ctx, repo, name); err != nil || strings.Join(got, " ") != want {
			t.Errorf("BranchRules(%q) = %q, %v", name, got, err)
		}
	}
	for name, want := range map[string]bool{"v1": true, "v": false, "V1": false, "main": false} {
		if got, err := env.HasTag(env.ctx, repo, name); err != nil || got != want {
			t.Errorf("HasTag(%q) = %t, %v", name, got, err)
		}
	}
	got, err := env.ProtectedPatterns(env.ctx, repo)
	if diff := cmp.Diff([]string{"main", "release/*"}, got); err != nil || diff != "" {
		t.Errorf("ProtectedPatterns: %s %v", diff, err)
	}
	env.Change(func(f *githubtest.Fixture) {
		f.Tokens[0].Permissions = map[string]string{"contents": "write", "metadata": "read"}
	})
	if got, err := env.ProtectedPatterns(env.ctx, repo); err != nil || len(got) != 0 {
		t.Errorf("ProtectedPatterns without the permission: %q, %v", got, err)
	}
}

func TestProtectionOnTheWire(t *testing.T) {
	t.Parallel()
	for name, escaped := range map[string]string{"main": "main", "airlock/fix-1": "airlock%2Ffix-1", "a#b": "a%23b", "100%/x%2Fy": "100%25%2Fx%252Fy", "größe": "gr%C3%B6%C3%9Fe"} {
		c, s := script(t, 200, `[{"type":"a_new_type","parameters":{"x":1}},{"type":"update"}]`)
		if got, err := c.BranchRules(t.Context(), repo, name); err != nil || strings.Join(got, " ") != "a_new_type update" {
			t.Errorf("BranchRules(%q) = %q, %v", name, got, err)
		}
		c, s2 := script(t, 200, `{"name":"x","protected":true}`)
		if got, err := c.BranchProtected(t.Context(), repo, name); err != nil || !got {
			t.Errorf("BranchProtected(%q) = %t, %v", name, got, err)
		}
		want := []string{"GET /repos/octo/repo/rules/branches/" + escaped + "?per_page=100", "GET /repos/octo/repo/branches/" + escaped}
		if diff := cmp.Diff(want, append(s.sent, s2.sent...)); diff != "" {
			t.Errorf("%q: %s", name, diff)
		}
	}
	c, s := script(t, 200, `{}`)
	for what, err := range map[string]error{"rules": second(c.BranchRules(t.Context(), repo, "a..b")), "protected": second(c.BranchProtected(t.Context(), repo, "../x")), "tag": second(c.HasTag(t.Context(), repo, "a b"))} {
		if !errors.Is(err, githubapi.Usage) || len(s.sent) != 0 {
			t.Errorf("%s: %v, sent %q", what, err, s.sent)
		}
	}
}
