package apply

import (
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/githubtest"
)

// TestPullRequestIsUpdated runs the same workflow again, with other changes.
func TestPullRequestIsUpdated(t *testing.T) {
	b := newCodeBench(t)
	b.write(map[string]string{"docs/a.md": "one\n2\nthree\n"})
	want(t, b.run(aPull), "applied")
	first := b.pulls()[0]
	branch := first.Pull.Head.Ref

	b.git.Commit("main", map[string]string{"other.txt": "other\n"}, "Move on")
	b.nextRun()
	b.write(map[string]string{"docs/a.md": "one\ntwo\n3\n"})
	other := strings.ReplaceAll(aPull, "Mend the demo", "Mend it better")
	r := b.run(other)
	want(t, r, "applied")
	pulls := b.pulls()
	if len(pulls) != 1 || pulls[0].Pull.Head.Ref != branch || pulls[0].Title != "Mend it better" {
		t.Fatalf("%d pull requests, the first %q from %q", len(pulls), pulls[0].Title, pulls[0].Pull.Head.Ref)
	}
	if got := b.file(branch, "docs/a.md"); got != "one\ntwo\n3" {
		t.Errorf("a.md is %q", got)
	}
	if got := b.git.Run("rev-list", "--count", "main.."+branch); got != "1" {
		t.Errorf("%s commits beyond main", got)
	}

	// The same once more: nobody is bothered.
	b.nextRun()
	b.write(map[string]string{"docs/a.md": "one\ntwo\n3\n"})
	b.srv.ResetRequests()
	want(t, b.run(other), "adopted")
	if w := b.srv.Writes(); len(w) != 0 {
		t.Errorf("the same changes again: %s", operations(w))
	}

	// Somebody edits the title: it stays.
	b.srv.Change(func(f *githubtest.Fixture) {
		for _, i := range f.Issues {
			if i.Number == first.Number {
				i.Title = "A person's title"
			}
		}
	})
	b.nextRun()
	b.write(map[string]string{"docs/a.md": "1\ntwo\n3\n"})
	r = b.run(other)
	want(t, r, "applied")
	if got := b.pulls()[0].Title; got != "A person's title" || !strings.Contains(strings.Join(r[0].Notes, ";"), "left alone") {
		t.Errorf("the title is %q, the notes %q", got, r[0].Notes)
	}

	// Somebody pushes to the branch: it is theirs now, and nothing of it is lost.
	theirs := b.git.Commit(branch, map[string]string{"theirs.txt": "theirs\n"}, "Help out")
	b.nextRun()
	b.write(map[string]string{"docs/a.md": "one\nzwei\nthree\n"})
	want(t, b.run(other), "applied")
	if b.git.SHA(branch) != theirs {
		t.Error("the branch that somebody else pushed to was changed")
	}
	if pulls := b.pulls(); len(pulls) != 2 {
		t.Errorf("%d pull requests", len(pulls))
	}
}

// TestPullRequestAfterAClosedOne leaves alone what somebody has closed.
func TestPullRequestAfterAClosedOne(t *testing.T) {
	b := newCodeBench(t)
	b.write(map[string]string{"docs/a.md": "1\n"})
	want(t, b.run(aPull), "applied")
	first := b.pulls()[0]
	b.srv.Change(func(f *githubtest.Fixture) {
		for _, i := range f.Issues {
			if i.Number == first.Number {
				i.State = "closed"
			}
		}
	})
	tip := b.git.SHA(first.Pull.Head.Ref)
	b.nextRun()
	b.write(map[string]string{"docs/a.md": "2\n"})
	want(t, b.run(aPull), "applied")
	if pulls := b.pulls(); len(pulls) != 2 || pulls[1].Pull.Head.Ref != first.Pull.Head.Ref+"-2" || b.git.SHA(first.Pull.Head.Ref) != tip {
		t.Errorf("%d pull requests", len(pulls))
	}
}

// TestBranchNames takes names as text, and somebody else's branch as taken.
func TestBranchNames(t *testing.T) {
	for _, tt := range []struct {
		name, title, branch string
		want                string // of the branch
		state               string
	}{
		{"named", "T", "feature/x", "feature/x", "applied"},
		{"taken", "T", "topic", "topic-2", "applied"},
		{"base", "T", "main", "main-2", "applied"},
		{"semicolon", "T", "a;b", "a;b", "applied"},
		{"shell", "$(touch x)", "$(touch${IFS}x)", "$(touch${IFS}x)", "applied"},
		{"option", "T", "-x", "", "failed(invalid)"},
		{"dots", "T", "a..b", "", "failed(invalid)"},
		{"lock", "T", "a.lock", "", "failed(invalid)"},
		{"ref", "T", "refs/heads/x", "", "failed(invalid)"},
		{"script", "Ünïcode & <b>", "", "-ünïcode-b", "applied"},
		{"nothing", "!!!", "", "-changes", "applied"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := newCodeBench(t)
			b.write(map[string]string{"docs/a.md": "1\n"})
			r := b.run(line(map[string]any{"type": "create-pull-request", "title": tt.title, "body": "B", "branch": tt.branch}))
			want(t, r, tt.state)
			if tt.want == "" {
				if w := b.srv.Writes(); len(w) != 0 {
					t.Errorf("writes: %s", operations(w))
				}
				return
			}
			pulls := b.pulls()
			if len(pulls) != 1 || !strings.HasSuffix(pulls[0].Pull.Head.Ref, tt.want) {
				t.Fatalf("%d pull requests: %+v", len(pulls), pulls)
			}
			if b.git.SHA(pulls[0].Pull.Head.Ref) == "" {
				t.Error("there is no such branch")
			}
		})
	}
}
