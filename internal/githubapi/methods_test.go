package githubapi_test

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-airlock/airlock/internal/githubapi"
	"github.com/agent-airlock/airlock/internal/githubapi/githubtest"
)

func ptr[T any](v T) *T { return &v }

func TestViewer(t *testing.T) {
	w := newWorld(t, fixture())
	got, err := w.Viewer(w.ctx)
	want := githubapi.Actor{Login: "github-actions", DatabaseID: 41898282}
	if err != nil || got != want {
		t.Fatalf("Viewer() = %v, %v; want %v", got, err, want)
	}
	if ops := w.operations(); ops != "graphql/Viewer" {
		t.Errorf("requests: %s", ops)
	}
}

func TestGetRepo(t *testing.T) {
	w := newWorld(t, fixture())
	got, err := w.GetRepo(w.ctx, githubapi.Repo{Owner: "OCTO", Name: "Repo"})
	if err != nil {
		t.Fatal(err)
	}
	want := githubapi.Repository{ID: 1, NodeID: "R_1", Repo: repo, DefaultBranch: "main", HasIssues: true, HasDiscussions: true, URL: got.URL, CloneURL: got.CloneURL}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if got.CloneURL != "https://github.com/octo/repo.git" {
		t.Errorf("CloneURL = %q", got.CloneURL)
	}
}

func TestIssues(t *testing.T) {
	w := newWorld(t, fixture())
	made, err := w.CreateIssue(w.ctx, repo, githubapi.NewIssue{Title: "Broken", Body: "It is <b>broken</b> & more", Labels: []string{"BUG", "fresh"}})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"Bug", "fresh"}, made.Labels); diff != "" {
		t.Errorf("labels: %s", diff)
	}
	if made.Number != 4 || made.Author.DatabaseID != 41898282 || made.State != "open" || !made.CreatedAt.Equal(w.clock.Now()) {
		t.Errorf("made = %+v", made)
	}
	if got := w.Writes()[0].JSON("body"); got != "It is <b>broken</b> & more" {
		t.Errorf("body on the wire: %q", got)
	}
	w.clock.Advance(time.Minute)
	edited, err := w.EditIssue(w.ctx, repo, 4, githubapi.IssueEdit{Title: ptr("Fixed"), State: ptr("closed"), StateReason: ptr("not_planned")})
	if err != nil {
		t.Fatal(err)
	}
	if edited.Title != "Fixed" || edited.State != "closed" || edited.StateReason != "not_planned" || edited.Body != made.Body {
		t.Errorf("edited = %+v", edited)
	}
	if got := string(w.Writes()[1].Body); strings.Contains(got, `"body"`) {
		t.Errorf("a field that was not to change is on the wire: %s", got)
	}
	read, err := w.GetIssue(w.ctx, repo, 4)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(edited, read); diff != "" {
		t.Error(diff)
	}
	pull, err := w.GetIssue(w.ctx, repo, 2)
	if err != nil || !pull.IsPull {
		t.Errorf("GetIssue(2) = %+v, %v", pull, err)
	}
	numbers := func(f githubapi.IssueFilter) (out []int) {
		for _, i := range collect(t, w.ListIssues(w.ctx, repo, f)) {
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
		{"open", githubapi.IssueFilter{State: "open"}, []int{2, 1}},
		{"since", githubapi.IssueFilter{Since: made.CreatedAt}, []int{4}},
		{"labels", githubapi.IssueFilter{Labels: []string{"bug"}}, []int{4, 1}},
	} {
		if diff := cmp.Diff(tt.want, numbers(tt.filter)); diff != "" {
			t.Errorf("%s: %s", tt.name, diff)
		}
	}
}

func TestIssueEdits(t *testing.T) {
	w := newWorld(t, fixture())
	start := w.clock.Now()
	for _, n := range []int{1, 2} {
		for _, e := range []githubapi.IssueEdit{{Title: ptr("T")}, {Body: ptr("B")}, {State: ptr("closed")}, {State: ptr("open")}, {Body: ptr("C")}} {
			w.clock.Advance(time.Minute)
			if _, err := w.EditIssue(w.ctx, repo, n, e); err != nil {
				t.Fatal(err)
			}
		}
		got, err := w.IssueEdits(w.ctx, repo, n, start)
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
		late, err := w.IssueEdits(w.ctx, repo, n, w.clock.Now())
		if err != nil || len(late) != 1 {
			t.Errorf("since the last edit: %v, %v", late, err)
		}
	}
	none, err := w.IssueEdits(w.ctx, repo, 1, w.clock.Now().Add(time.Hour))
	if err != nil || len(none) != 0 {
		t.Errorf("later: %v, %v", none, err)
	}
	if _, err := w.IssueEdits(w.ctx, repo, 99, start); !errors.Is(err, githubapi.NotFound) {
		t.Errorf("of nothing: %v", err)
	}
}

func TestIssueEditsOverManyPages(t *testing.T) {
	f := fixture()
	old := time.Date(2026, 1, 14, 0, 0, 0, 0, time.UTC)
	for k := range 230 {
		f.Issues[0].Edits = append(f.Issues[0].Edits, githubtest.Edit{Field: "body", At: old.Add(time.Duration(2*k) * time.Second)})
		if k < 120 {
			f.Issues[0].Edits = append(f.Issues[0].Edits, githubtest.Edit{Field: "title", At: old.Add(time.Duration(2*k+1) * time.Second)})
		}
	}
	f.Issues[0].CreatedAt = old.Add(-time.Hour)
	w := newWorld(t, f)
	got, err := w.IssueEdits(w.ctx, repo, 1, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != 350 || !slices.IsSortedFunc(got, func(a, b githubapi.Edit) int { return a.At.Compare(b.At) }) {
		t.Errorf("%d edits, or not sorted", len(got))
	}
	if n := len(w.Requests()); n != 3 {
		t.Errorf("%d requests, want 3", n)
	}
}

func TestIssueComments(t *testing.T) {
	w := newWorld(t, fixture())
	start := w.clock.Now()
	for _, n := range []int{1, 2} {
		made, err := w.CreateIssueComment(w.ctx, repo, n, "A *comment*")
		if err != nil {
			t.Fatal(err)
		}
		list := collect(t, w.ListIssueComments(w.ctx, repo, n, start))
		if diff := cmp.Diff([]githubapi.Comment{made}, list); diff != "" {
			t.Error(diff)
		}
		edited, err := w.EditIssueComment(w.ctx, repo, made.ID, "New")
		if err != nil || edited.Body != "New" || edited.ID != made.ID {
			t.Errorf("EditIssueComment = %+v, %v", edited, err)
		}
		if err := w.DeleteIssueComment(w.ctx, repo, made.ID); err != nil {
			t.Fatal(err)
		}
		if err := w.DeleteIssueComment(w.ctx, repo, made.ID); !errors.Is(err, githubapi.NotFound) {
			t.Errorf("the second delete: %v", err)
		}
	}
	if all := collect(t, w.ListIssueComments(w.ctx, repo, 1, time.Time{})); len(all) != 1 || all[0].Body != "hello" {
		t.Errorf("all = %+v", all)
	}
}

func TestLabels(t *testing.T) {
	w := newWorld(t, fixture())
	got, err := w.AddLabels(w.ctx, repo, 1, []string{"DOCS", "bug", "type: new"})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"Bug", "docs", "type: new"}
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if _, ok := w.Writes()[0].JSON("labels").([]any); !ok {
		t.Errorf("on the wire: %s", w.Writes()[0].Body)
	}
	list := collect(t, w.ListLabelsOfIssue(w.ctx, repo, 1))
	slices.Sort(list)
	if diff := cmp.Diff(want, list); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(want, collect(t, w.ListLabels(w.ctx, repo))); diff != "" {
		t.Error(diff)
	}
}

func TestPulls(t *testing.T) {
	f := fixture()
	f.Issues[1].Pull.Head.Fork = "someone/fork"
	w := newWorld(t, f)
	got, err := w.GetPull(w.ctx, repo, 2)
	if err != nil {
		t.Fatal(err)
	}
	if got.Title != "A change" || got.ChangedFiles != 3 || got.Head.Ref != "topic" || got.Head.SHA != strings.Repeat("a", 40) ||
		got.Head.Repo != (githubapi.Repo{Owner: "someone", Name: "fork"}) || got.Head.RepoID == got.Base.RepoID ||
		got.Base.Repo != repo || got.Base.RepoID != 1 || got.Base.Ref != "main" {
		t.Errorf("GetPull = %+v", got)
	}
	files := collect(t, w.ListPullFiles(w.ctx, repo, 2))
	for i := range files {
		files[i].SHA = ""
	}
	want := []githubapi.PullFile{
		{Path: "main.go", Status: "modified", Patch: patch, Additions: 3, Deletions: 1, Changes: 4},
		{Path: "new.go", PreviousPath: "old.go", Status: "renamed"},
		{Path: "logo.png", Status: "added"},
	}
	if diff := cmp.Diff(want, files); diff != "" {
		t.Error(diff)
	}
	if _, err := w.GetPull(w.ctx, repo, 1); !errors.Is(err, githubapi.NotFound) {
		t.Errorf("an issue as a pull request: %v", err)
	}
	w.Change(func(f *githubtest.Fixture) { f.Issues[1].Pull.Head.Fork = "deleted" })
	if gone, err := w.GetPull(w.ctx, repo, 2); err != nil || !gone.Head.Repo.IsZero() {
		t.Errorf("with a deleted fork: %+v, %v", gone.Head, err)
	}
}

func TestReviews(t *testing.T) {
	w := newWorld(t, fixture())
	head := strings.Repeat("a", 40)
	made, err := w.CreateReview(w.ctx, repo, 2, githubapi.NewReview{CommitID: head, Event: githubapi.ReviewComment, Body: "Some notes", Comments: []githubapi.DraftComment{
		{Path: "main.go", Line: 3, StartLine: 2, Body: "range"},
		{Path: "main.go", Line: 12, StartLine: 12, Body: "single"},
		{Path: "main.go", Line: 2, Side: githubapi.SideLeft, Body: "old side"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	if made.State != "COMMENTED" || made.Body != "Some notes" || made.CommitID != head {
		t.Errorf("made = %+v", made)
	}
	wire := string(w.Writes()[0].Body)
	if strings.Count(wire, "start_line") != 1 || strings.Count(wire, "start_side") != 1 {
		t.Errorf("on the wire: %s", wire)
	}
	if diff := cmp.Diff([]githubapi.Review{made}, collect(t, w.ListReviews(w.ctx, repo, 2))); diff != "" {
		t.Error(diff)
	}
	type place struct {
		Body, Side, StartSide string
		Line, StartLine       int
	}
	var places []place
	list := collect(t, w.ListReviewComments(w.ctx, repo, 2, w.clock.Now()))
	for _, d := range list {
		places = append(places, place{d.Body, d.Side, d.StartSide, d.Line, d.StartLine})
		if d.ReviewID != made.ID || d.Author.DatabaseID != 41898282 || d.SubjectType != "line" {
			t.Errorf("comment = %+v", d)
		}
	}
	want := []place{{"old side", "LEFT", "", 2, 0}, {"single", "RIGHT", "", 12, 0}, {"range", "RIGHT", "RIGHT", 3, 2}}
	if diff := cmp.Diff(want, places); diff != "" {
		t.Error(diff)
	}
	if err := w.DeleteReviewComment(w.ctx, repo, list[0].ID); err != nil {
		t.Error(err)
	}
	edited, err := w.EditReview(w.ctx, repo, 2, made.ID, "Other notes")
	if err != nil || edited.Body != "Other notes" {
		t.Errorf("EditReview = %+v, %v", edited, err)
	}
	if _, err := w.CreateReview(w.ctx, repo, 2, githubapi.NewReview{Body: "x"}); !errors.Is(err, githubapi.Usage) {
		t.Errorf("without an event: %v", err)
	}
}

func TestReviewIsAllOrNothing(t *testing.T) {
	good := githubapi.DraftComment{Path: "main.go", Line: 2, Body: "good"}
	for name, bad := range map[string]githubapi.DraftComment{
		"line outside the diff":   {Path: "main.go", Line: 7, Body: "x"},
		"line of the other side":  {Path: "main.go", Line: 13, Side: githubapi.SideLeft, Body: "x"},
		"file not in the diff":    {Path: "other.go", Line: 1, Body: "x"},
		"old name of the file":    {Path: "old.go", Line: 1, Body: "x"},
		"binary file":             {Path: "logo.png", Line: 1, Body: "x"},
		"range over two hunks":    {Path: "main.go", StartLine: 2, Line: 12, Body: "x"},
		"range upside down":       {Path: "main.go", StartLine: 3, Line: 2, Body: "x"},
		"blank comment":           {Path: "main.go", Line: 2, Body: " "},
		"comment that is too big": {Path: "main.go", Line: 2, Body: strings.Repeat("x", 65537)},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, fixture())
			_, err := w.CreateReview(w.ctx, repo, 2, githubapi.NewReview{CommitID: strings.Repeat("a", 40), Event: "COMMENT", Comments: []githubapi.DraftComment{good, bad}})
			var e *githubapi.Error
			if !errors.As(err, &e) || e.Kind != githubapi.Validation || len(e.Fields) != 1 || e.Fields[0].Message == "" {
				t.Fatalf("err = %v", err)
			}
			p := w.State().Issues[1].Pull
			if len(p.Comments) != 0 || len(p.Reviews) != 0 {
				t.Errorf("something was posted")
			}
		})
	}
}

func TestReviewComments(t *testing.T) {
	w := newWorld(t, fixture())
	head := strings.Repeat("a", 40)
	line, err := w.CreateReviewComment(w.ctx, repo, 2, githubapi.NewDiffComment{CommitID: head, Path: "main.go", Line: 13, StartLine: 12, Body: "here"})
	if err != nil || line.Line != 13 || line.StartLine != 12 || line.Side != "RIGHT" || line.ReviewID == 0 {
		t.Errorf("line = %+v, %v", line, err)
	}
	file, err := w.CreateReviewComment(w.ctx, repo, 2, githubapi.NewDiffComment{CommitID: head, Path: "logo.png", WholeFile: true, Line: 5, Body: "whole"})
	if err != nil || file.SubjectType != "file" || file.Line != 0 {
		t.Errorf("file = %+v, %v", file, err)
	}
	_, err = w.CreateReviewComment(w.ctx, repo, 2, githubapi.NewDiffComment{CommitID: head, Path: "main.go", Line: 99, Body: "nowhere"})
	if !errors.Is(err, githubapi.Validation) || !strings.Contains(err.Error(), "Line could not be resolved") {
		t.Errorf("err = %v", err)
	}
}

func TestDiscussions(t *testing.T) {
	w := newWorld(t, fixture())
	cats, err := w.DiscussionCategories(w.ctx, repo)
	if err != nil || len(cats) != 2 || cats[1].Slug != "q-a" || !cats[1].Answerable || cats[0].RepositoryID != "R_1" {
		t.Fatalf("categories = %+v, %v", cats, err)
	}
	made, err := w.CreateDiscussion(w.ctx, githubapi.NewDiscussion{RepositoryID: cats[0].RepositoryID, CategoryID: cats[0].ID, Title: "New", Body: "Body & <b>"})
	if err != nil {
		t.Fatal(err)
	}
	if made.Number != 4 || made.Author.Login != "github-actions" || made.Category != cats[0] || made.Body != "Body & <b>" {
		t.Errorf("made = %+v", made)
	}
	read, err := w.GetDiscussion(w.ctx, repo, 4)
	if err != nil || read != made {
		t.Errorf("read = %+v, %v", read, err)
	}
	if list := collect(t, w.ListDiscussions(w.ctx, repo, w.clock.Now())); len(list) != 1 || list[0] != made {
		t.Errorf("since now: %+v", list)
	}
	if list := collect(t, w.ListDiscussions(w.ctx, repo, time.Time{})); len(list) != 2 || list[0] != made {
		t.Errorf("all: %+v", list)
	}
	comment, err := w.AddDiscussionComment(w.ctx, made.ID, "A reply")
	if err != nil {
		t.Fatal(err)
	}
	if list := collect(t, w.ListDiscussionComments(w.ctx, repo, 4, w.clock.Now())); len(list) != 1 || list[0] != comment {
		t.Errorf("comments: %+v", list)
	}
	if err := w.DeleteDiscussionComment(w.ctx, comment.ID); err != nil {
		t.Error(err)
	}
	if err := w.DeleteDiscussion(w.ctx, made.ID); err != nil {
		t.Error(err)
	}
	if _, err := w.GetDiscussion(w.ctx, repo, 4); !errors.Is(err, githubapi.NotFound) {
		t.Errorf("after deletion: %v", err)
	}
}

func TestDiscussionsOverManyPages(t *testing.T) {
	f := fixture()
	for range 250 {
		f.Discussions = append(f.Discussions, &githubtest.Discuss{Title: "x", Body: "y"})
	}
	for range 150 {
		f.Discussions[0].Comments = append(f.Discussions[0].Comments, &githubtest.Comment{Body: "z"})
	}
	w := newWorld(t, f)
	if n := len(collect(t, w.ListDiscussions(w.ctx, repo, time.Time{}))); n != 251 {
		t.Errorf("%d discussions", n)
	}
	if n := len(collect(t, w.ListDiscussionComments(w.ctx, repo, 3, time.Time{}))); n != 151 {
		t.Errorf("%d comments", n)
	}
	w.ResetRequests()
	if n := len(collect(t, w.ListDiscussions(w.ctx, repo, w.clock.Now()))); n != 0 || len(w.Requests()) != 1 {
		t.Errorf("%d discussions with %d requests", n, len(w.Requests()))
	}
}

func packed(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return base64.StdEncoding.EncodeToString(b.Bytes())
}

const goodSARIF = `{"version":"2.1.0","runs":[{"tool":{"driver":{"name":"airlock"}},"results":[]}]}`

func TestSARIF(t *testing.T) {
	for _, tt := range []struct {
		name, text, state string
		errors            int
	}{
		{"good", goodSARIF, githubapi.SARIFComplete, 0},
		{"without results", `{"version":"2.1.0","runs":[{"tool":{"driver":{"name":"a"}}}]}`, githubapi.SARIFFailed, 1},
		{"one tool twice", `{"version":"2.1.0","runs":[{"tool":{"driver":{"name":"a"}},"results":[]},{"tool":{"driver":{"name":"a"}},"results":[]}]}`, githubapi.SARIFFailed, 1},
		{"not JSON", `{`, githubapi.SARIFFailed, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, fixture(), func(s *settings) { s.server.Processing = time.Minute })
			id, err := w.UploadSARIF(w.ctx, repo, githubapi.SARIFUpload{CommitSHA: strings.Repeat("a", 40), Ref: "refs/heads/main", SARIF: packed(t, tt.text),
				CheckoutURI: "file:///github/workspace/", StartedAt: w.clock.Now(), ToolName: "airlock"})
			if err != nil {
				t.Fatal(err)
			}
			st, err := w.SARIFStatus(w.ctx, repo, id)
			if err != nil || st.State != githubapi.SARIFPending || len(st.Errors) != 0 {
				t.Errorf("at once: %+v, %v", st, err)
			}
			w.clock.Advance(time.Minute)
			st, err = w.SARIFStatus(w.ctx, repo, id)
			if err != nil || st.State != tt.state || len(st.Errors) != tt.errors {
				t.Errorf("later: %+v, %v", st, err)
			}
		})
	}
}

func TestGetFile(t *testing.T) {
	f := fixture()
	f.Files = append(f.Files, githubtest.StoredFile{Path: "big", Content: strings.Repeat("x", 1<<20+1)}, githubtest.StoredFile{Path: "a b/ö#?.yml", Ref: "topic", Content: "here"})
	w := newWorld(t, f)
	for _, tt := range []struct {
		path, ref, want string
		kind            githubapi.Kind
	}{
		{".github/airlock.yml", "", "create-issue:\n", ""},
		{".github/airlock.yml", "main", "create-issue:\n", ""},
		{"a b/ö#?.yml", "topic", "here", ""},
		{"a b/ö#?.yml", "main", "", githubapi.NotFound},
		{"missing", "", "", githubapi.NotFound},
		{"docs", "", "", githubapi.Usage},
		{"big", "", "", githubapi.Usage},
		{"../x", "", "", githubapi.Usage},
		{"/etc/passwd", "", "", githubapi.Usage},
		{"", "", "", githubapi.Usage},
	} {
		got, err := w.GetFile(w.ctx, repo, tt.path, tt.ref)
		if string(got) != tt.want || (tt.kind != "" || err != nil) && !errors.Is(err, tt.kind) {
			t.Errorf("GetFile(%q, %q) = %q, %v", tt.path, tt.ref, got, err)
		}
	}
}
