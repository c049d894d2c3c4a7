package githubapi_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-airlock/airlock/internal/githubapi"
	"github.com/agent-airlock/airlock/internal/githubtest"
)

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
