package githubapi_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-airlock/airlock/internal/githubapi"
	"github.com/agent-airlock/airlock/internal/githubtest"
)

func ptr[T any](v T) *T { return &v }

func TestIssues(t *testing.T) {
	t.Parallel()
	env := newTestEnv(t, fixture())
	made, err := env.CreateIssue(env.ctx, repo, githubapi.NewIssue{Title: "Broken", Body: "It is <b>broken</b> & more", Labels: []string{"BUG", "fresh"}})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"Bug", "fresh"}, made.Labels); diff != "" {
		t.Errorf("labels: %s", diff)
	}
	if made.Number != 4 || made.Author.DatabaseID != 41898282 || made.State != "open" {
		t.Errorf("made = %+v", made)
	}
	if got := env.Writes()[0].JSON("body"); got != "It is <b>broken</b> & more" {
		t.Errorf("body on the wire: %q", got)
	}
	begun := env.clock.Now()
	env.clock.Advance(time.Minute)
	edited, err := env.EditIssue(env.ctx, repo, 4, githubapi.IssueEdit{Title: ptr("Fixed"), State: ptr("closed"), StateReason: ptr("not_planned")})
	if err != nil {
		t.Fatal(err)
	}
	if edited.Title != "Fixed" || edited.State != "closed" || env.State().Issues[2].StateReason != "not_planned" || edited.Body != made.Body {
		t.Errorf("edited = %+v", edited)
	}
	if got := string(env.Writes()[1].Body); strings.Contains(got, `"body"`) {
		t.Errorf("a field that was not to change is on the wire: %s", got)
	}
	read, err := env.GetIssue(env.ctx, repo, 4)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(edited, read); diff != "" {
		t.Error(diff)
	}
	pull, err := env.GetIssue(env.ctx, repo, 2)
	if err != nil || !pull.IsPull {
		t.Errorf("GetIssue(2) = %+v, %v", pull, err)
	}
	numbers := func(f githubapi.IssueFilter) (out []int) {
		for _, i := range collect(t, env.ListIssues(env.ctx, repo, f)) {
			out = append(out, i.Number)
		}
		return out
	}
	for _, tt := range []struct {
		name   string
		filter githubapi.IssueFilter
		want   []int
	}{
		{"all, the newest first", githubapi.IssueFilter{}, []int{4, 2, 1}},
		{"since", githubapi.IssueFilter{Since: begun}, []int{4}},
	} {
		if diff := cmp.Diff(tt.want, numbers(tt.filter)); diff != "" {
			t.Errorf("%s: %s", tt.name, diff)
		}
	}
}

func TestIssueEdits(t *testing.T) {
	t.Parallel()
	env := newTestEnv(t, fixture())
	start := env.clock.Now()
	for _, n := range []int{1, 2} {
		for _, e := range []githubapi.IssueEdit{{Title: ptr("T")}, {Body: ptr("B")}, {State: ptr("closed")}, {State: ptr("open")}, {Body: ptr("C")}} {
			env.clock.Advance(time.Minute)
			if _, err := env.EditIssue(env.ctx, repo, n, e); err != nil {
				t.Fatal(err)
			}
		}
		got, err := env.IssueEdits(env.ctx, repo, n, start)
		if err != nil {
			t.Fatal(err)
		}
		var fields []string
		for _, e := range got {
			fields = append(fields, e.Field)
			if e.Editor.DatabaseID != 41898282 {
				t.Errorf("editor = %v", e.Editor)
			}
		}
		if diff := cmp.Diff([]string{"title", "body", "state", "state", "body"}, fields); diff != "" {
			t.Errorf("#%d: %s", n, diff)
		}
		late, err := env.IssueEdits(env.ctx, repo, n, env.clock.Now())
		if err != nil || len(late) != 1 {
			t.Errorf("since the last edit: %v, %v", late, err)
		}
	}
	none, err := env.IssueEdits(env.ctx, repo, 1, env.clock.Now().Add(time.Hour))
	if err != nil || len(none) != 0 {
		t.Errorf("later: %v, %v", none, err)
	}
	if _, err := env.IssueEdits(env.ctx, repo, 99, start); !errors.Is(err, githubapi.NotFound) {
		t.Errorf("of nothing: %v", err)
	}
}

func TestIssueEditsOverManyPages(t *testing.T) {
	t.Parallel()
	f := fixture()
	old := time.Date(2026, 1, 14, 0, 0, 0, 0, time.UTC)
	for k := range 230 {
		f.Issues[0].Edits = append(f.Issues[0].Edits, githubtest.Edit{Field: "body", At: old.Add(time.Duration(2*k) * time.Second)})
		if k < 120 {
			f.Issues[0].Edits = append(f.Issues[0].Edits, githubtest.Edit{Field: "title", At: old.Add(time.Duration(2*k+1) * time.Second)})
		}
	}
	f.Issues[0].CreatedAt = old.Add(-time.Hour)
	env := newTestEnv(t, f)
	got, err := env.IssueEdits(env.ctx, repo, 1, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != 350 || !slices.IsSortedFunc(got, func(a, b githubapi.Edit) int { return a.At.Compare(b.At) }) {
		t.Errorf("%d edits, or not sorted", len(got))
	}
	if n := len(env.Requests()); n != 3 {
		t.Errorf("%d requests, want 3", n)
	}
}

func TestIssueComments(t *testing.T) {
	t.Parallel()
	env := newTestEnv(t, fixture())
	start := env.clock.Now()
	for _, n := range []int{1, 2} {
		made, err := env.CreateIssueComment(env.ctx, repo, n, "A *comment*")
		if err != nil {
			t.Fatal(err)
		}
		list := collect(t, env.ListIssueComments(env.ctx, repo, n, start))
		if diff := cmp.Diff([]githubapi.Comment{made}, list); diff != "" {
			t.Error(diff)
		}
		edited, err := env.EditIssueComment(env.ctx, repo, made.ID, "New")
		if err != nil || edited.Body != "New" || edited.ID != made.ID {
			t.Errorf("EditIssueComment = %+v, %v", edited, err)
		}
		for range 2 {
			if err := env.ReactToIssueComment(env.ctx, repo, made.ID, githubapi.ThumbsUp); err != nil {
				t.Error(err)
			}
		}
		if c := env.State().Issues[n-1].Comments; len(c[len(c)-1].Reactions) != 1 {
			t.Errorf("reactions %+v", c[len(c)-1].Reactions)
		}
		if err := env.DeleteIssueComment(env.ctx, repo, made.ID); err != nil {
			t.Fatal(err)
		}
		if err := env.DeleteIssueComment(env.ctx, repo, made.ID); !errors.Is(err, githubapi.NotFound) {
			t.Errorf("the second delete: %v", err)
		}
	}
	if all := collect(t, env.ListIssueComments(env.ctx, repo, 1, time.Time{})); len(all) != 1 || all[0].Body != "hello" {
		t.Errorf("all = %+v", all)
	}
}

func TestLabels(t *testing.T) {
	t.Parallel()
	env := newTestEnv(t, fixture())
	got, err := env.AddLabels(env.ctx, repo, 1, []string{"DOCS", "bug", "type: new"})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"Bug", "docs", "type: new"}
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if _, ok := env.Writes()[0].JSON("labels").([]any); !ok {
		t.Errorf("on the wire: %s", env.Writes()[0].Body)
	}
	list, err := env.ListLabelsOfIssue(env.ctx, repo, 1)
	slices.Sort(list)
	if diff := cmp.Diff(want, list); diff != "" || err != nil {
		t.Error(diff, err)
	}
	if diff := cmp.Diff(want, collect(t, env.ListLabels(env.ctx, repo))); diff != "" {
		t.Error(diff)
	}
}
