package apply

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/agent-airlock/airlock/internal/githubapi"
	"github.com/agent-airlock/airlock/internal/githubtest"
	"github.com/agent-airlock/airlock/internal/markdown"
	"github.com/agent-airlock/airlock/internal/policy"
	"github.com/agent-airlock/airlock/internal/safeoutput"
	"github.com/google/go-cmp/cmp"
)

func TestCommentsOnEverythingThatTriggers(t *testing.T) {
	const hello = `{"type":"add-issue-comment","body":"Hello."}`
	for _, tt := range []struct {
		event      string
		number     int
		operation  string
		permission string
	}{
		{"issues", issueNumber, "issues/create-comment", "issues: write"},
		{"issue_comment", issueNumber, "issues/create-comment", "issues: write"},
		{"issue_comment", pullNumber, "issues/create-comment", "pull-requests: write"},
		{"pull_request", pullNumber, "issues/create-comment", "pull-requests: write"},
		{"pull_request_target", pullNumber, "issues/create-comment", "pull-requests: write"},
		{"pull_request_review", pullNumber, "issues/create-comment", "pull-requests: write"},
		{"pull_request_review_comment", pullNumber, "issues/create-comment", "pull-requests: write"},
		{"discussion", discussion, "graphql/AddDiscussionComment", "discussions: write"},
	} {
		t.Run(tt.event, func(t *testing.T) {
			b := newBench(t, fixture(), githubtest.Options{}).on(tt.event, tt.number)
			plan := b.plan(hello)
			if got := joinPermissions(plan.Permissions); got != tt.permission {
				t.Errorf("needs %q, want %q", got, tt.permission)
			}
			results := b.run(hello)
			want(t, results, "applied")
			if got := operations(b.srv.Writes()); !cmp.Equal(got, []string{tt.operation}) {
				t.Errorf("writes %v", got)
			}
			if r := results[0].Object; r == nil || r.URL == "" || r.Number != tt.number {
				t.Errorf("object %+v", r)
			}
			want(t, b.run(hello), "adopted")
		})
	}
	for _, name := range []string{"workflow_dispatch", "schedule", "push", "workflow_run"} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, fixture(), githubtest.Options{})
			b.ev.Name = name
			if name == "schedule" {
				b.ev.Time, b.cfg.Run.StartedAt = time.Time{}, time.Time{}
			}
			line := `{"type":"add-issue-comment","body":"Hello.","issue_number":5}`
			want(t, b.run(line, anIssue), "applied applied")
			want(t, b.run(line, anIssue), "adopted adopted")
		})
	}
}

func TestCommentOnWhatDoesNotExist(t *testing.T) {
	b := newBench(t, fixture(), githubtest.Options{})
	results := b.run(`{"type":"add-issue-comment","body":"Hello.","issue_number":999}`, anIssue)
	want(t, results, "failed(not-found) applied")
	if !strings.Contains(results[0].Message, "#999") {
		t.Errorf("the message does not say what: %q", results[0].Message)
	}
}

func TestLabels(t *testing.T) {
	label := func(labels ...string) string {
		return line(map[string]any{"type": "add-issue-label", "labels": labels, "issue_number": issueNumber})
	}
	t.Run("only what is missing", func(t *testing.T) {
		b := newBench(t, fixture(), githubtest.Options{})
		results := b.run(label("BUG", "help wanted", "brand new"))
		want(t, results, "applied")
		writes := b.srv.Writes()
		if len(writes) != 1 || !cmp.Equal(writes[0].JSON("labels"), []any{"help wanted", "brand new"}) {
			t.Errorf("writes %+v", writes)
		}
		if diff := cmp.Diff([]string{"bug", "Help Wanted", "brand new"}, results[0].Labels); diff != "" {
			t.Errorf("labels read back (-want +got):\n%s", diff)
		}
		want(t, b.run(label("bug", "Brand New")), "adopted")
	})
	t.Run("two items for one issue", func(t *testing.T) {
		b := newBench(t, fixture(), githubtest.Options{})
		want(t, b.run(label("a"), label("A", "b"), label("b")), "applied applied applied")
		if got := b.issue(issueNumber).Labels; len(got) != 3 {
			t.Errorf("labels %v", got)
		}
	})
	t.Run("where the first item fails", func(t *testing.T) {
		refused := githubtest.FaultRule{Operation: "issues/add-labels", Times: 1, Fault: githubtest.Fault{Status: 422, Body: `{"message":"Validation Failed"}`}}
		b := newBench(t, fixture(), githubtest.Options{Fault: githubtest.Faults([]githubtest.FaultRule{refused})})
		want(t, b.run(label("a"), label("A", "b"), label("b")), "failed(validation) applied applied")
		if diff := cmp.Diff([]string{"bug", "A", "b"}, b.issue(issueNumber).Labels); diff != "" {
			t.Errorf("labels (-want +got):\n%s", diff)
		}
	})
	t.Run("more than GitHub allows", func(t *testing.T) {
		f := fixture()
		for i := range 99 {
			f.Issues[0].Labels = append(f.Issues[0].Labels, "l"+strings.Repeat("x", i%40)+string(rune('a'+i/40)))
		}
		b := newBench(t, f, githubtest.Options{})
		results := b.run(label("one more"))
		want(t, results, "failed(too-many-labels)")
		if len(b.srv.Writes()) != 0 {
			t.Error("it was tried nevertheless")
		}
	})
	t.Run("accepted but not there", func(t *testing.T) {
		b := newBench(t, fixture(), githubtest.Options{Fault: always("issues/add-labels", githubtest.Fault{Status: 200, Body: "[]"})})
		want(t, b.run(label("x")), "failed(not-taken)")
	})
	t.Run("accepted but not all there, and not readable again", func(t *testing.T) {
		b := newBench(t, fixture(), githubtest.Options{Fault: githubtest.Faults([]githubtest.FaultRule{
			{Operation: "issues/add-labels", Fault: githubtest.Fault{Status: 200, Body: `[{"name":"bug"},{"name":"a"}]`}},
			{Operation: "issues/list-labels-on-issue", Skip: 1, Fault: githubtest.Fault{Status: 404, Body: `{"message":"Not Found"}`}},
		})})
		r := b.run(label("a", "x"))
		want(t, r, "failed(not-taken)")
		if m := r[0].Message; !strings.Contains(m, `"x"`) || strings.Contains(m, `"a"`) || !cmp.Equal(r[0].Labels, []string{"bug", "a"}) {
			t.Errorf("%q, labels %q", m, r[0].Labels)
		}
	})
}

func update(v map[string]any) string {
	v["type"], v["issue_number"] = "update-issue", issueNumber
	return line(v)
}

func TestUpdateIssue(t *testing.T) {
	stranger := githubtest.Account{Login: "hubot", ID: 5}
	all := update(map[string]any{"title": "New title", "body": "New body.", "status": "closed"})
	t.Run("all fields", func(t *testing.T) {
		b := newBench(t, fixture(), githubtest.Options{})
		results := b.run(all)
		want(t, results, "applied")
		i := b.issue(issueNumber)
		if i.Title != "New title" || i.State != "closed" || !strings.HasPrefix(i.Body, "New body.") {
			t.Errorf("issue %+v", i)
		}
		if key, ok := markdown.LastLineMarker(i.Body); !ok || key != results[0].Key {
			t.Errorf("body %q", i.Body)
		}
		want(t, b.run(all), "adopted")
	})
	t.Run("edited meanwhile", func(t *testing.T) {
		b := newBench(t, fixture(), githubtest.Options{})
		b.srv.Change(func(f *githubtest.Fixture) {
			f.Issues[0].Title, f.Issues[0].Edits = "Theirs", []githubtest.Edit{
				{Field: "body", To: "old", Editor: stranger, At: b.ev.Time.Add(-time.Hour)},
				{Field: "title", To: "Theirs", Editor: stranger, At: b.ev.Time.Add(time.Minute)}}
		})
		results := b.run(all)
		want(t, results, "applied")
		i := b.issue(issueNumber)
		if i.Title != "Theirs" || i.State != "closed" || !strings.HasPrefix(i.Body, "New body.") {
			t.Errorf("issue %+v", i)
		}
		if len(results[0].Notes) != 1 || !strings.Contains(results[0].Notes[0], "hubot changed the title") {
			t.Errorf("notes %q", results[0].Notes)
		}
		want(t, b.run(update(map[string]any{"title": "Mine"})), "skipped(edited-meanwhile)")
	})
	t.Run("edited between looking and writing", func(t *testing.T) {
		b := newBench(t, fixture(), githubtest.Options{})
		edited := func(field string) {
			b.srv.Change(func(f *githubtest.Fixture) {
				f.Issues[0].Edits = append(f.Issues[0].Edits, githubtest.Edit{Field: field, To: "Theirs", Editor: stranger, At: noon.Add(time.Second)})
			})
		}
		plan := b.plan(all)
		edited("title")
		results := execute(context.Background(), b.deps, plan)
		want(t, results, "applied")
		if i := b.issue(issueNumber); i.Title != "It breaks" || i.State != "closed" {
			t.Errorf("issue %+v", i)
		}
		if len(results[0].Notes) != 1 || !strings.Contains(results[0].Notes[0], "hubot changed the title") {
			t.Errorf("notes %q", results[0].Notes)
		}
		plan = b.plan(update(map[string]any{"body": "Other."}))
		edited("body")
		want(t, execute(context.Background(), b.deps, plan), "skipped(edited-meanwhile)")
	})
	t.Run("a marker that is there stays", func(t *testing.T) {
		b := newBench(t, fixture(), githubtest.Options{})
		made := b.run(anIssue)[0]
		b.cfg.Run.ID = 101 // another workflow run
		it := line(map[string]any{"type": "update-issue", "body": "Rewritten.", "issue_number": made.Object.Number})
		want(t, b.run(it), "applied")
		if key, _ := markdown.LastLineMarker(b.issue(made.Object.Number).Body); key != made.Key {
			t.Error("the issue lost its own key: a re-run of the first workflow run would create it again")
		}
	})
	t.Run("a pull request", func(t *testing.T) {
		b := newBench(t, fixture(), githubtest.Options{})
		it := line(map[string]any{"type": "update-issue", "body": "Rewritten.", "issue_number": pullNumber})
		want(t, b.run(it), "denied("+policy.RuleTargetKind+")")
		if len(b.srv.Writes()) != 0 {
			t.Error("it was written")
		}
	})
}

func TestDiscussions(t *testing.T) {
	disc := func(category string) string {
		return line(map[string]any{"type": "create-discussion", "title": "Ideas", "body": "Some.", "category": category})
	}
	t.Run("by name, slug and default", func(t *testing.T) {
		b := newBench(t, fixture(), githubtest.Options{})
		want(t, b.run(disc("Q&A"), disc("q-a"), `{"type":"create-discussion","title":"Ideas","body":"Some."}`), "applied applied applied")
		var slugs []string
		st := b.srv.State()
		for _, d := range st.Discussions[1:] {
			for _, c := range st.Categories {
				if c.ID == d.CategoryID {
					slugs = append(slugs, c.Slug)
				}
			}
		}
		if diff := cmp.Diff([]string{"q-a", "q-a", "general"}, slugs); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
	t.Run("by node id", func(t *testing.T) {
		b := newBench(t, fixture(), githubtest.Options{})
		all, err := b.client().DiscussionCategories(t.Context(), githubapi.Repo{Owner: "octo", Name: "repo"})
		if err != nil {
			t.Fatal(err)
		}
		want(t, b.run(disc(all[2].ID)), "applied")
		st := b.srv.State()
		if got := st.Discussions[1].CategoryID; got != st.Categories[2].ID {
			t.Errorf("in category %d, want %d", got, st.Categories[2].ID)
		}
	})
	t.Run("missing category", func(t *testing.T) {
		b := newBench(t, fixture(), githubtest.Options{})
		results := b.run(disc("nope"))
		want(t, results, "failed(category-not-found)")
		if !strings.Contains(results[0].Message, "General (general)") {
			t.Errorf("message %q", results[0].Message)
		}
	})
	t.Run("switched off", func(t *testing.T) {
		f := fixture()
		f.Repo.NoDiscussions = true
		b := newBench(t, f, githubtest.Options{})
		results := b.run(disc("q-a"), anIssue)
		want(t, results, "failed(feature-disabled) applied")
		if !strings.Contains(results[0].Message, "in the repository's settings, under General, Features") {
			t.Errorf("message %q", results[0].Message)
		}
	})
}

func TestCodeComesFirst(t *testing.T) {
	b := newBench(t, fixture(), githubtest.Options{}).on("pull_request", pullNumber)
	lines := []string{anIssue, `{"type":"create-pull-request","title":"T","body":"B"}`, `{"type":"push-to-branch","message":"m"}`, `{"type":"noop","message":"nothing"}`}
	want(t, b.run(lines...), "applied failed(no-clone) failed(no-clone) applied")
	if plan := b.plan(lines...); plan.Operations[0].Kind != safeoutput.KindCreatePullRequest || plan.Operations[1].Kind != safeoutput.KindPushToBranch {
		t.Error("what carries code does not come first")
	}
}

func TestChooseCategory(t *testing.T) {
	all := []githubapi.DiscussionCategory{
		{ID: "DIC_1", Name: "Announcements", Slug: "announcements"},
		{ID: "DIC_2", Name: "Ideas & more", Slug: "ideas"},
		{ID: "DIC_3", Name: "General", Slug: "general"},
	}
	for _, tt := range []struct{ wish, want string }{
		{"", "DIC_3"}, {"DIC_2", "DIC_2"}, {"IDEAS", "DIC_2"}, {"ideas & MORE", "DIC_2"}, {" general ", "DIC_3"}, {"announcements", "DIC_1"},
	} {
		got, problem := chooseCategory(all, tt.wish)
		if got.ID != tt.want || problem != "" {
			t.Errorf("%q: got %s (%s), want %s", tt.wish, got.ID, problem, tt.want)
		}
	}
	if got, _ := chooseCategory(all[:2], ""); got.ID != "DIC_2" {
		t.Errorf("without a general category: got %s, want the first that is not announcements", got.ID)
	}
	if got, _ := chooseCategory(all[:1], ""); got.ID != "DIC_1" {
		t.Errorf("with announcements only: got %s", got.ID)
	}
	_, problem := chooseCategory(all, "Nope")
	for _, want := range []string{`"Nope"`, "Announcements (announcements)", "General (general)"} {
		if !strings.Contains(problem, want) {
			t.Errorf("the message %q does not name %s", problem, want)
		}
	}
	if _, problem := chooseCategory(nil, ""); !strings.Contains(problem, "add one") {
		t.Errorf("no categories: %q", problem)
	}
}

// TestEachKindHasAHandler asserts that each kind has a handler, without which its items could not
// be planned.
func TestEachKindHasAHandler(t *testing.T) {
	for _, spec := range safeoutput.Kinds() {
		if handlers[spec.Kind].plan == nil {
			t.Errorf("%s: there is no handler for it", spec.Kind)
		}
	}
}
