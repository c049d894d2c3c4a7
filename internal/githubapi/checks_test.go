package githubapi_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-airlock/airlock/internal/githubapi"
	"github.com/agent-airlock/airlock/internal/githubtest"
)

func annotations(n int) []githubapi.CheckAnnotation {
	list := make([]githubapi.CheckAnnotation, n)
	for i := range list {
		list[i] = githubapi.CheckAnnotation{Path: "main.go", StartLine: i + 1, EndLine: i + 1, Level: "warning", Message: "Found."}
	}
	return list
}

func TestCheckRuns(t *testing.T) {
	t.Parallel()
	env := newTestEnv(t, fixture())
	head := strings.Repeat("a", 40)
	n := githubapi.NewCheckRun{Name: "checks", HeadSHA: head, ExternalID: "key", Conclusion: "neutral",
		Output: githubapi.CheckOutput{Title: "T", Summary: "S", Text: "X", Annotations: annotations(githubapi.MaxAnnotations)}}
	made, err := env.CreateCheckRun(env.ctx, repo, n)
	if err != nil {
		t.Fatal(err)
	}
	want := githubapi.CheckRun{ID: made.ID, NodeID: made.NodeID, Name: "checks", HeadSHA: head, ExternalID: "key",
		URL: made.URL, Annotations: 50, Text: "X", App: "github-actions"}
	if diff := cmp.Diff(want, made); diff != "" || made.URL == "" || made.NodeID == "" {
		t.Errorf("made (-want +got):\n%s", diff)
	}
	more, err := env.AddAnnotations(env.ctx, repo, made.ID, "checks", githubapi.CheckOutput{Title: "T", Summary: "S", Annotations: annotations(2)})
	if err != nil || more.Annotations != 52 || env.State().Checks[0].Conclusion != "neutral" {
		t.Errorf("with more annotations: %+v, %v", more, err)
	}
	if got, err := env.GetCheckRun(env.ctx, repo, made.ID); err != nil || got != more {
		t.Errorf("read again: %+v, %v", got, err)
	}
	env.Change(func(f *githubtest.Fixture) {
		f.Checks = append(f.Checks, &githubtest.Check{Name: "checks", HeadSHA: head}, &githubtest.Check{Name: "other", HeadSHA: head},
			&githubtest.Check{Name: "checks", HeadSHA: strings.Repeat("b", 40)})
	})
	n.ExternalID, n.Output.Annotations = "again", nil
	if _, err := env.CreateCheckRun(env.ctx, repo, n); err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, k := range collect(t, env.ListCheckRuns(env.ctx, repo, head, "checks")) {
		ids = append(ids, k.ExternalID)
	}
	if diff := cmp.Diff([]string{"again", "", "key"}, ids); diff != "" { // the newest first
		t.Errorf("listed (-want +got):\n%s", diff)
	}
	n.Output.Annotations = annotations(githubapi.MaxAnnotations + 1)
	if _, err := env.CreateCheckRun(env.ctx, repo, n); !errors.Is(err, githubapi.Usage) {
		t.Errorf("with too many annotations: %v", err)
	}
}

// TestCheckRunOfAnotherApp asserts that a check run that another app has made cannot be changed,
// and that a token without the permission to make check runs gets an error that names it.
func TestCheckRunOfAnotherApp(t *testing.T) {
	t.Parallel()
	env := newTestEnv(t, fixture())
	env.Change(func(f *githubtest.Fixture) { f.Checks = []*githubtest.Check{{ID: 9, Name: "checks"}} })
	if _, err := env.AddAnnotations(env.ctx, repo, 9, "checks", githubapi.CheckOutput{Title: "T", Summary: "S"}); !errors.Is(err, githubapi.Forbidden) {
		t.Errorf("changed: %v", err)
	}
	env.Change(func(f *githubtest.Fixture) {
		f.Tokens = []githubtest.Token{{Secret: secret, Permissions: map[string]string{"checks": "read"}}}
	})
	_, err := env.CreateCheckRun(env.ctx, repo, githubapi.NewCheckRun{Name: "checks", HeadSHA: strings.Repeat("a", 40), Conclusion: "success", Output: githubapi.CheckOutput{Title: "T", Summary: "S"}})
	var e *githubapi.Error
	if !errors.As(err, &e) || e.Kind != githubapi.Forbidden || !strings.Contains(e.Error(), "checks: write") {
		t.Errorf("without the permission: %v", err)
	}
}

func TestHidingComments(t *testing.T) {
	t.Parallel()
	f := fixture()
	f.Issues[1].Pull.Comments = []*githubtest.DiffComment{{ID: 8, Path: "main.go", Line: 2, Body: "one"}, {ID: 9, Path: "main.go", Line: 2, Body: "a reply", InReplyTo: 8}}
	env := newTestEnv(t, f)
	list := collect(t, env.ListReviewComments(env.ctx, repo, 2, env.clock.Now().AddDate(-1, 0, 0))) // the newest first
	if len(list) != 2 || list[0].InReplyTo != 8 || list[1].NodeID == "" {
		t.Fatalf("comments %+v", list)
	}
	if got, err := env.EditReviewComment(env.ctx, repo, 8, "two"); err != nil || got.Body != "two" {
		t.Errorf("edited: %+v, %v", got, err)
	}
	hidden := func() string { return env.State().Issues[1].Pull.Comments[0].Minimized }
	for range 2 {
		if err := env.MinimizeComment(env.ctx, list[1].NodeID, githubapi.Resolved); err != nil || hidden() != "resolved" {
			t.Errorf("%v, hidden as %q", err, hidden())
		}
	}
	for range 2 {
		if err := env.UnminimizeComment(env.ctx, list[1].NodeID); err != nil || hidden() != "" {
			t.Errorf("%v, hidden as %q", err, hidden())
		}
	}
	if err := env.MinimizeComment(env.ctx, "PRRC_77", githubapi.Resolved); !errors.Is(err, githubapi.NotFound) {
		t.Errorf("one that is not there: %v", err)
	}
	if err := env.MinimizeComment(env.ctx, "", githubapi.Resolved); !errors.Is(err, githubapi.Usage) {
		t.Errorf("without an id: %v", err)
	}
	env.Change(func(f *githubtest.Fixture) {
		f.Tokens = []githubtest.Token{{Secret: secret, Permissions: map[string]string{"issues": "write"}}}
	})
	err := env.MinimizeComment(env.ctx, list[1].NodeID, githubapi.Resolved)
	var e *githubapi.Error
	if !errors.As(err, &e) || e.Kind != githubapi.Forbidden || !strings.Contains(e.Error(), "pull-requests: write") {
		t.Errorf("without the permission: %v", err)
	}
}

// TestJobName asserts that one of the permissions checks and actions is enough to read a job's name
// in a private repository.
func TestJobName(t *testing.T) {
	t.Parallel()
	for permission, want := range map[string]string{"checks": "api / gate", "actions": "api / gate", "issues": ""} {
		f := fixture()
		f.Repo.Private = true
		f.Checks = []*githubtest.Check{{ID: 77, Name: "api / gate", HeadSHA: strings.Repeat("a", 40)}}
		f.Tokens = []githubtest.Token{{Secret: secret, Permissions: map[string]string{permission: "read"}}}
		env := newTestEnv(t, f)
		name, err := env.JobName(env.ctx, repo, 77)
		if name != want || (err == nil) != (want != "") {
			t.Errorf("%s: %q, %v", permission, name, err)
		}
		if _, err := env.JobName(env.ctx, repo, 78); err == nil {
			t.Errorf("%s: an unknown job has a name", permission)
		}
	}
}

func TestLogin(t *testing.T) {
	t.Parallel()
	f := fixture()
	f.Viewer = githubtest.Account{Login: "agents[bot]", ID: 99}
	env := newTestEnv(t, f)
	if login, err := env.Login(env.ctx, 99); login != "agents[bot]" || err != nil {
		t.Errorf("%q, %v", login, err)
	}
	if _, err := env.Login(env.ctx, 100); err == nil {
		t.Error("an unknown account has a name")
	}
}
