package apply

import (
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/githubtest"
	"github.com/agent-airlock/airlock/internal/policy"
)

// TestNewBranchesGetOutOfTheWay asserts which name a new branch has where the name that was asked
// for cannot be used, and that a note says why.
func TestNewBranchesGetOutOfTheWay(t *testing.T) {
	t.Parallel()
	anyName := func(s *policy.ChangeSettings) { s.AllowedBranches = []string{"**"} }
	for _, tt := range []struct {
		name     string
		branches []string // of others
		tags     []string
		repo     func(*githubtest.Repo)
		settings func(*policy.ChangeSettings)
		asked    string
		want     string // the name, or its end if asked is ""
		says     string
	}{
		{"free", []string{"airlock/other", "fix"}, []string{"fix"}, nil, nil, "fix", "airlock/fix", ""},
		{"taken", []string{"airlock/fix"}, nil, nil, nil, "fix", "airlock/fix-2", `the branch "airlock/fix" contains no commit that this workflow made for this subject; so the changes go to "airlock/fix-2"`},
		{"case twin", []string{"airlock/Fix"}, nil, nil, nil, "fix", "airlock/fix-2", `differs from "airlock/Fix" only in case`},
		{"case twin of a directory", []string{"airlock/Fix/login"}, nil, nil, nil, "fix", "airlock/fix-2", `cannot exist next to the branch "airlock/Fix/login"`},
		{"case twin without a prefix", nil, nil, nil, anyName, "Topic", "Topic-2", `differs from "topic" only in case`},
		{"directory", []string{"airlock/fix"}, nil, nil, nil, "fix/login", "airlock/fix-login", `cannot exist next to the branch "airlock/fix"`},
		{"directory and its substitute", []string{"airlock/fix", "airlock/fix-login"}, nil, nil, nil, "fix/login", "airlock/fix-login-2", `cannot exist next to the branch "airlock/fix"`},
		{"branch below it", []string{"airlock/fix/login"}, nil, nil, nil, "fix", "airlock/fix-2", `cannot exist next to the branch "airlock/fix/login"`},
		{"the prefix itself", []string{"airlock"}, nil, nil, nil, "fix/login", "airlock-fix-login", `cannot exist next to the branch "airlock"`},
		{"the prefix itself, default name", []string{"airlock"}, nil, nil, nil, "", "-t", `cannot exist next to the branch "airlock"`},
		{"tag", nil, []string{"airlock/fix"}, nil, nil, "fix", "airlock/fix-2", "has the name of a tag"},
		{"tag without a prefix", nil, []string{"fix"}, nil, anyName, "fix", "fix-2", "has the name of a tag"},
		{"tag and the owner's branch", nil, []string{"bot/docs"}, nil, func(s *policy.ChangeSettings) { s.Branch = "bot/docs" }, "", "bot/docs-2", "has the name of a tag"},
		{"protected", nil, nil, func(r *githubtest.Repo) { r.Protected = []string{"airlock/release/*"} }, nil, "release/1.0", "airlock/release-1.0", `matches the protected pattern "airlock/release/*"`},
		{"protected, deeper", nil, nil, func(r *githubtest.Repo) { r.Protected = []string{"*/release/*"} }, anyName, "x/release/1", "x-release-1", `matches the protected pattern "*/release/*"`},
		{"ruled", nil, nil, func(r *githubtest.Repo) { r.Ruled = []string{"airlock/release/*"} }, nil, "release/1.0", "airlock/release-1.0", "is protected by a ruleset (pull_request)"},
		{"the owner's branch, another is protected", nil, nil, func(r *githubtest.Repo) { r.Protected = []string{"nothing"} }, func(s *policy.ChangeSettings) { s.Branch = "release/next" }, "", "release/next", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := newCodeBench(t, func(f *githubtest.Fixture) {
				if tt.repo != nil {
					tt.repo(&f.Repo)
				}
			})
			for _, name := range tt.branches {
				b.git.SetBranch(name, b.git.SHA("topic"))
			}
			for _, name := range tt.tags {
				b.git.Run("tag", name, b.base)
			}
			if tt.settings != nil {
				b.pull(tt.settings)
			}
			b.write(map[string]string{"docs/a.md": "1\n"})
			r := b.run(titled("T", tt.asked))
			want(t, r, "applied")
			head := b.pulls()[0].Pull.Head.Ref
			if !strings.HasSuffix(head, tt.want) || tt.asked != "" && head != tt.want {
				t.Errorf("the branch is %q, want %q", head, tt.want)
			}
			if notes := strings.Join(r[0].Notes, "; "); !strings.Contains(notes, tt.says) || tt.says == "" && strings.Contains(notes, "so the changes go to") {
				t.Errorf("notes: %s", notes)
			}
			for _, name := range tt.branches {
				if b.git.SHA(name) != b.git.SHA("topic") {
					t.Errorf("the branch %q was changed", name)
				}
			}

			// A later run finds the branch again.
			b.nextRun()
			b.write(map[string]string{"docs/a.md": "2\n"})
			want(t, b.run(titled("T", tt.asked)), "applied")
			if pulls := b.pulls(); len(pulls) != 1 || b.file(head, "docs/a.md") != "2" {
				t.Errorf("after another run there are %d pull requests", len(pulls))
			}
		})
	}
}

// TestEveryNameIsProtected asserts that the push is attempted where each possible name of the
// branch is protected: GitHub decides whether the token may push.
func TestEveryNameIsProtected(t *testing.T) {
	t.Parallel()
	b := newCodeBench(t, func(f *githubtest.Fixture) { f.Repo.Ruled = []string{"airlock/*", "airlock-*"} })
	b.write(map[string]string{"docs/a.md": "1\n"})
	r := b.run(titled("T", "fix"))
	want(t, r, "failed(push-refused)")
	if said := r[0].Message + strings.Join(r[0].Notes, "; "); !strings.Contains(said, "GH013") || !strings.Contains(said, "GitHub protects each name that this branch could have") || r[0].File == "" {
		t.Errorf("%s, kept as %q", said, r[0].File)
	}
}

// TestRulesThatCannotBeRead asserts that a new branch is made where the token may not read the
// rules about branches.
func TestRulesThatCannotBeRead(t *testing.T) {
	t.Parallel()
	b := newCodeBench(t)
	b.srv.SetFault(githubtest.Faults([]githubtest.FaultRule{
		{Operation: "repos/get-branch-rules", Fault: githubtest.Fault{Status: 404, Body: `{"message":"Not Found"}`}},
		{Operation: "graphql/ProtectedBranches", Fault: githubtest.Fault{Status: 200, Body: `{"data":{"repository":null},"errors":[{"type":"FORBIDDEN","path":["repository","branchProtectionRules"],"message":"Resource not accessible by integration"}]}`}},
	}))
	b.write(map[string]string{"docs/a.md": "1\n"})
	want(t, b.run(aPull), "applied")
}
