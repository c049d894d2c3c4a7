package apply

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/event"
	"github.com/agent-airlock/airlock/internal/githubapi"
	"github.com/agent-airlock/airlock/internal/githubtest"
	"github.com/agent-airlock/airlock/internal/markdown"
	"github.com/agent-airlock/airlock/internal/policy"
	"github.com/agent-airlock/airlock/internal/safeoutput"
	"github.com/google/go-cmp/cmp"
)

func TestResultsSayWhatTheDoorsChanged(t *testing.T) {
	b := newBench(t, fixture(), githubtest.Options{})
	b.kind(safeoutput.KindCreateIssue, func(k *policy.KindConfig) { k.AllowedLabels = []string{"bug"} })
	r := b.run(`{'type': 'create-issue', "title": "T", "body": "Hi @octocat and @octocat", "labels": ["bug", "secret"], "colour": "red",}`)[0]
	if len(r.Cleaned) != 1 || r.Cleaned[0].Field != "body" || r.Cleaned[0].Rule != "mentions" || r.Cleaned[0].Count != 2 {
		t.Errorf("cleaned %+v", r.Cleaned)
	}
	if !slices.ContainsFunc(r.Repaired, func(m Repair) bool { return m.Kind == "single-quotes" || m.Count > 0 }) {
		t.Errorf("repaired %+v", r.Repaired)
	}
	notes := strings.Join(r.Notes, "\n")
	for _, part := range []string{`"secret"`, `"colour"`} {
		if !strings.Contains(notes, part) {
			t.Errorf("the notes do not say %s: %q", part, notes)
		}
	}
}

func TestDeniedItemsBecomeResults(t *testing.T) {
	b := newBench(t, fixture(), githubtest.Options{}).on("issues", issueNumber)
	_, denied := b.judge(`{"type":"add-issue-comment","body":"x","issue_number":77}`)
	rs := DeniedResults(denied)
	want(t, rs, "denied(target)")
	if rs[0].Line != 1 || rs[0].Message == "" || Count(rs)[Denied] != 1 {
		t.Errorf("%+v", rs[0])
	}
}

func TestPlanAsATable(t *testing.T) {
	b := newBench(t, fixture(), githubtest.Options{}).on("pull_request", pullNumber)
	b.kind(safeoutput.KindCreateDiscussion, func(k *policy.KindConfig) { k.Staged = true })
	p := b.plan(anIssue, aDiscussion, `{"type":"create-pull-request","title":"T","body":"B"}`, reviewLine("main.go", 3, "x"), reviewLine("main.go", 4, "y"))
	header, rows := p.Table()
	text := strings.Join(header, "|") + "\n"
	for _, r := range rows {
		text += strings.ReplaceAll(strings.Join(r, "|"), "\n", "; ") + "\n"
	}
	wanted := `#|kind|what|lines|requests|permissions|notes
1|create-pull-request|open the pull request "T"|3||contents: write and pull-requests: write|failed: the changes are not at hand: check the repository out in this job (actions/checkout), or name the patch or bundle that holds them (changes)
2|create-issue|create the issue "Crash on start"|1|POST /repos/octo/repo/issues|issues: write|
3|create-discussion|create the discussion "Ideas"|2|POST /graphql|discussions: write|staged: nothing is written; in the category General
4|create-pull-request-review-comment|review pull request #7 with 2 comments|4, 5|POST /repos/octo/repo/pulls/7/reviews|pull-requests: write|
`
	if diff := cmp.Diff(wanted, text); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestPlanDocumentIsStable(t *testing.T) {
	b := newBench(t, fixture(), githubtest.Options{})
	raw, err := json.Marshal(b.plan(aComment))
	if err != nil {
		t.Fatal(err)
	}
	var doc map[string]any
	if err := json.Unmarshal(raw, &doc); err != nil {
		t.Fatal(err)
	}
	key := doc["operations"].([]any)[0].(map[string]any)["items"].([]any)[0].(map[string]any)["key"].(string)
	wanted := map[string]any{"version": 1.0, "repository": "octo/repo", "event": "workflow_dispatch", "dry_run": false,
		"permissions": []any{map[string]any{"name": "issues", "level": "write"}},
		"operations": []any{map[string]any{"number": 1.0, "kind": "add-issue-comment", "summary": "comment on #5", "target": "#5",
			"items":       []any{map[string]any{"index": 0.0, "line": 1.0, "kind": "add-issue-comment", "key": key, "outcome": "apply"}},
			"permissions": []any{map[string]any{"name": "issues", "level": "write"}},
			"requests": []any{map[string]any{"method": "POST", "path": "/repos/octo/repo/issues/5/comments",
				"body": map[string]any{"body": "Hello.\n\n> Asked for by an agent in the workflow [agent](https://github.com/octo/repo/actions/runs/100); checked and posted by Airlock.\n\n" + markdown.Marker(key)}}}}}}
	if diff := cmp.Diff(wanted, doc); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestDoublesThatAreThereAlreadyAreRemoved(t *testing.T) {
	b := newBench(t, fixture(), githubtest.Options{})
	first := b.run(anIssue, aComment, aDiscussion)
	double := func(f *githubtest.Fixture) {
		issue, comment, disc := *f.Issues[len(f.Issues)-1], *f.Issues[0].Comments[0], *f.Discussions[len(f.Discussions)-1]
		issue.ID, issue.Number, comment.ID, disc.ID, disc.Number = 9001, 901, 9002, 9003, 902
		f.Issues = append(f.Issues, &issue)
		f.Issues[0].Comments = append(f.Issues[0].Comments, &comment)
		f.Discussions = append(f.Discussions, &disc)
	}
	b.srv.Change(double)
	b.cfg.Run.Attempt = 2
	second := b.run(anIssue, aComment, aDiscussion)
	want(t, second, "adopted adopted adopted")
	for i, r := range second {
		if len(r.Notes) != 1 || !strings.Contains(r.Notes[0], "written twice") {
			t.Errorf("%s: notes %q", r.Kind, r.Notes)
		}
		if r.Object.URL != first[i].Object.URL {
			t.Errorf("%s: kept %s, not the first", r.Kind, r.Object.URL)
		}
	}
	if b.issue(901).State != "closed" || len(b.issue(issueNumber).Comments) != 1 || len(b.srv.State().Discussions) != 2 {
		t.Error("a double is left")
	}
	writes := len(b.srv.Writes())
	want(t, b.run(anIssue, aComment, aDiscussion), "adopted adopted adopted")
	if n := len(b.srv.Writes()); n != writes {
		t.Errorf("what was settled is settled again: %v", operations(b.srv.Writes()[writes:]))
	}
}

// A process that dies between the review and the comments that continue its body
// leaves a part; the next attempt posts the rest and nothing twice.
func TestAReviewThatWasPostedInPart(t *testing.T) {
	b := reviewBench(t, githubtest.Options{})
	var lines []string
	for i := range 4 {
		lines = append(lines, reviewLine("nowhere.go", i+1, fmt.Sprintf("begin%d %s end%d", i, strings.Repeat("word ", 6000), i)))
	}
	b.srv.SetFault(func(r githubtest.Request) githubtest.Fault {
		if r.Operation == "issues/create-comment" {
			return githubtest.Fault{Status: 404, Body: `{"message":"Not Found"}`}
		}
		return githubtest.Fault{}
	})
	first := b.run(lines...)
	if c := Count(first); c[Applied] == 0 || c[Failed] == 0 {
		t.Fatalf("wanted a part: %s", states(first))
	}
	for _, r := range first {
		if r.State == Failed && (r.Fallback == nil || !strings.Contains(r.Fallback.Text, "word")) {
			t.Error("a comment that failed lost its text")
		}
	}
	b.srv.SetFault(nil)
	b.cfg.Run.Attempt = 2
	second := b.run(lines...)
	for i, r := range second {
		if wanted := map[State]State{Applied: Adopted, Failed: Applied}[first[i].State]; r.State != wanted {
			t.Errorf("item %d: %s after %s", i, r.State, first[i].State)
		}
	}
	text := b.everywhere()
	for i := range lines {
		for _, w := range []string{"begin", "end"} {
			if n := strings.Count(text, fmt.Sprintf("%s%d", w, i)); n != 1 {
				t.Errorf("%s%d stands there %d times", w, i, n)
			}
		}
	}
}

func TestFailuresInWords(t *testing.T) {
	api := func(e githubapi.Error) error { e.Op = "do it"; return &e }
	for _, tt := range []struct {
		err        error
		code, part string
	}{
		{api(githubapi.Error{Kind: githubapi.Forbidden, Permission: "issues=write"}), CodeNoPermission, "issues: write"},
		{api(githubapi.Error{Kind: githubapi.Forbidden}), CodeNoPermission, "needs discussions: write"},
		{api(githubapi.Error{Kind: githubapi.Forbidden, Feature: githubapi.FeatureLocked}), CodeLocked, "locked"},
		{api(githubapi.Error{Kind: githubapi.Forbidden, Feature: githubapi.FeatureArchived}), CodeArchived, "archived"},
		{api(githubapi.Error{Kind: githubapi.Forbidden, Feature: githubapi.FeatureCodeScanning}), CodeNoCodeScanning, "enable"},
		{api(githubapi.Error{Kind: githubapi.Forbidden, Feature: githubapi.FeatureIssues}), CodeFeatureDisabled, "issues"},
		{api(githubapi.Error{Kind: githubapi.NotFound}), "not-found", "exist"},
		{fmt.Errorf("x: %w", context.Canceled), CodeCancelled, "run the job again"},
		{errors.New("odd"), CodeInternal, "odd"},
	} {
		code, message := failure(tt.err, write(permDiscussions))
		if code != tt.code || !strings.Contains(message, tt.part) {
			t.Errorf("%v: %s: %s", tt.err, code, message)
		}
	}
}

func TestLockedStopsOnlyItsOwnConversation(t *testing.T) {
	f := fixture()
	f.Issues[0].Locked = true
	f.Issues = append(f.Issues, &githubtest.Issue{Number: 20, Title: "Open"})
	b := newBench(t, f, githubtest.Options{})
	results := b.run(aComment, aComment, `{"type":"add-issue-comment","body":"x","issue_number":20}`)
	want(t, results, "failed(locked) failed(locked) applied")
	if n := len(b.srv.Writes()); n != 2 {
		t.Errorf("%d writes", n)
	}
}

func TestEnterpriseHosts(t *testing.T) {
	b := newBench(t, fixture(), githubtest.Options{Enterprise: true}).on("pull_request", pullNumber)
	want(t, b.run(anIssue, aDiscussion, reviewLine("main.go", 3, "x")), "applied applied applied")
}

func TestBuiltInFooter(t *testing.T) {
	for _, tt := range []struct {
		cfg  Config
		part string
	}{
		{Config{}, "by an agent; checked"},
		{Config{Run: event.Run{URL: "https://github.com/o/r/actions/runs/1"}}, "[a workflow run](https://github.com/o/r/actions/runs/1)"},
		{Config{Workflow: "w", Run: event.Run{URL: "http://ghe.example.com/o/r/actions/runs/1"}}, "in the workflow w;"},
		{Config{Workflow: "a_b*"}, `in the workflow a_b\*;`},
		{Config{Run: event.Run{WorkflowPath: ".github/workflows/x.yml"}}, "in the workflow .github/workflows/x.yml;"},
	} {
		if got := tt.cfg.builtinFooter(); !strings.Contains(got, tt.part) {
			t.Errorf("%q lacks %q", got, tt.part)
		}
	}
}
