package apply

import (
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/githubtest"
	"github.com/agent-airlock/airlock/internal/policy"
)

// TestPushRemedies asserts which advice a maintainer gets for each of GitHub's messages.
func TestPushRemedies(t *testing.T) {
	t.Parallel()
	for reason, want := range map[string]string{
		"protected branch hook declined; error: GH006: Protected branch update failed for refs/heads/x.; - Changes must be made through a pull request.": "bypass the branch's protection",
		"error: GH006: Protected branch update failed for refs/heads/x.; - Cannot force-push to this branch":                                             "does not let anybody replace commits",
		"error: GH013: Repository rule violations found for refs/heads/x.; - Commits must have verified signatures.":                                     "signed-commits: true",
		"error: GH013: Repository rule violations found for refs/heads/x.; - Cannot create ref due to creations being restricted.":                       "set branch-prefix",
		"error: GH013: Repository rule violations found for refs/heads/x.; - GITHUB PUSH PROTECTION; - Push cannot contain secrets":                      "push protection found a secret",
		"error: GH013: Repository rule violations found for refs/heads/x.; - Required status check \"ci\" is expected.":                                  "change what the ruleset names",
		"error: GH001: Large files detected. You may want to try Git Large File Storage":                                                                 "larger than GitHub takes",
		"failed to update ref; error: cannot lock ref 'refs/heads/a/b': 'refs/heads/a' exists; cannot create 'refs/heads/a/b'":                           "delete or rename the other one",
		"something else": "a rule of the repository forbids it",
	} {
		if got := pushRemedy(reason); !strings.Contains(got, want) {
			t.Errorf("%s: %s, want %q", reason, got, want)
		}
	}
}

// TestSignedCommitsRefusedByARule asserts that a rule by which the API refuses a commit is
// reported in the same words as one by which GitHub refuses a push.
func TestSignedCommitsRefusedByARule(t *testing.T) {
	t.Parallel()
	for _, protect := range []func(*githubtest.Repo){
		func(r *githubtest.Repo) { r.Protected = []string{"airlock/*"} },
		func(r *githubtest.Repo) { r.Ruled = []string{"airlock/*"} },
	} {
		b := newCodeBench(t)
		b.pull(func(s *policy.ChangeSettings) { s.SignedCommits = true })
		b.write(map[string]string{"docs/a.md": "1\n"})
		plan := b.plan(aPull)
		b.srv.Change(func(f *githubtest.Fixture) { protect(&f.Repo) })
		r := execute(t.Context(), b.deps, plan)
		want(t, r, "failed(push-refused)")
		if !strings.Contains(r[0].Message, "let the token's account bypass") || strings.Contains(r[0].Message, "refuses the content") || r[0].File == "" {
			t.Errorf("%s, kept as %q", r[0].Message, r[0].File)
		}
	}
}

// TestRulesetWithoutForcePushes asserts that where a ruleset forbids force pushes to all branches,
// later changes become further commits of the branch.
func TestRulesetWithoutForcePushes(t *testing.T) {
	t.Parallel()
	b := newCodeBench(t, func(f *githubtest.Fixture) { f.Repo.NoForce = true })
	for _, step := range []struct{ text, state string }{{"1", "applied"}, {"2", "applied"}, {"3", "applied"}, {"3", "adopted"}} {
		b.git.Commit("main", map[string]string{"other.txt": "for " + step.text + "\n"}, "Move on")
		b.nextRun()
		b.write(map[string]string{"docs/a.md": step.text + "\n"})
		want(t, b.run(aPull), step.state)
		branch := b.pulls()[0].Pull.Head.Ref
		if got := b.file(branch, "docs/a.md"); got != step.text || len(b.pulls()) != 1 {
			t.Errorf("it has %q, and there are %d pull requests", got, len(b.pulls()))
		}
		if got := b.git.Run("diff", "--name-only", "main..."+branch); got != "docs/a.md" {
			t.Errorf("it changes %q", got)
		}
	}
	if got := b.git.Run("rev-list", "--count", "main.."+b.pulls()[0].Pull.Head.Ref); got != "3" {
		t.Errorf("%s commits", got)
	}
}
