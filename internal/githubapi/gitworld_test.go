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

// gitWorld is a world with a git repository, whose branch main has one commit.
func gitWorld(t *testing.T, change ...func(*settings)) (world, *githubtest.Git) {
	t.Helper()
	g := githubtest.NewGit(t)
	g.Commit("main", map[string]string{"README.md": "hello\n"}, "Begin")
	w := newWorld(t, fixture(), append(change, func(s *settings) { s.server.Git = g })...)
	return w, g
}

func TestBranchesOfARepository(t *testing.T) {
	w, g := gitWorld(t)
	main := g.SHA("main")
	for name := range oddBranches {
		if name == "main" {
			continue
		}
		if _, err := w.GetBranch(w.ctx, repo, name); !errors.Is(err, githubapi.NotFound) {
			t.Errorf("GetBranch(%q) before: %v", name, err)
		}
		if err := w.CreateBranch(w.ctx, repo, name, main); err != nil {
			t.Errorf("CreateBranch(%q): %v", name, err)
		}
		if got, err := w.GetBranch(w.ctx, repo, name); err != nil || got != main || g.SHA(name) != main {
			t.Errorf("GetBranch(%q) = %q, %v", name, got, err)
		}
		if list, err := w.ListBranches(w.ctx, repo, name); err != nil || len(list) != 1 || list[0] != (githubapi.Branch{Name: name, SHA: main}) {
			t.Errorf("ListBranches(%q) = %v, %v", name, list, err)
		}
		if err := w.CreateBranch(w.ctx, repo, name, main); !errors.Is(err, githubapi.Conflict) {
			t.Errorf("CreateBranch(%q) again: %v", name, err)
		}
		if c, err := w.Compare(w.ctx, repo, "main", name); err != nil || c.Status != "identical" {
			t.Errorf("Compare(%q) = %v, %v", name, c, err)
		}
		if list, err := w.ListCommits(w.ctx, repo, name, 5); err != nil || len(list) != 1 || list[0].SHA != main {
			t.Errorf("ListCommits(%q) = %v, %v", name, list, err)
		}
	}
	if err := w.CreateBranch(w.ctx, repo, "new", shaA); !errors.Is(err, githubapi.Validation) {
		t.Errorf("a branch at a commit that is not there: %v", err)
	}
}

func TestCompareOfARepository(t *testing.T) {
	w, g := gitWorld(t)
	base := g.SHA("main")
	g.SetBranch("topic", base)
	var want []string
	for i := range 3 {
		want = append(want, g.Commit("topic", map[string]string{"n": fmt.Sprint(i)}, fmt.Sprintf("Step %d", i)))
	}
	main := g.Commit("main", map[string]string{"m": ""}, "Main")
	c, err := w.Compare(w.ctx, repo, "main", "topic")
	if err != nil || c.Status != "diverged" || c.AheadBy != 3 || c.BehindBy != 1 || c.MergeBase != base || len(c.Commits) != 3 {
		t.Fatalf("Compare: %v, %+v", err, c)
	}
	for i, k := range c.Commits {
		if k.SHA != want[i] || k.Message != fmt.Sprintf("Step %d", i) {
			t.Fatalf("commit %d: %+v", i, k)
		}
	}
	if c, err = w.Compare(w.ctx, repo, "topic", main); err != nil || c.Status != "diverged" || c.BehindBy != 3 || len(c.Commits) != 1 || c.Commits[0].SHA != main {
		t.Errorf("Compare the other way: %v, %+v", err, c)
	}
	got, err := w.GetCommit(w.ctx, repo, main)
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
		if _, err := w.Compare(w.ctx, repo, pair[0], pair[1]); !errors.Is(err, githubapi.NotFound) {
			t.Errorf("%v: %v", pair, err)
		}
	}
}

func TestFilesOfARepository(t *testing.T) {
	w, g := gitWorld(t)
	first := g.SHA("main")
	g.Commit("main", map[string]string{"README.md": "new"}, "Two")
	for ref, want := range map[string]string{"": "new", "main": "new", first: "hello\n"} {
		if got, err := w.GetFile(w.ctx, repo, "README.md", ref); err != nil || string(got) != want {
			t.Errorf("GetFile at %q = %q, %v", ref, got, err)
		}
	}
	r, err := w.GetRepo(w.ctx, repo)
	if err != nil || r.CloneURL != w.GitURL() || r.DefaultBranch != "main" || !strings.HasSuffix(r.URL, "/octo/repo") {
		t.Errorf("GetRepo = %+v, %v", r, err)
	}
}
