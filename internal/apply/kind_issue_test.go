package apply

import (
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/githubtest"
	"github.com/agent-airlock/airlock/internal/intake"
	"github.com/agent-airlock/airlock/internal/markdown"
	"github.com/agent-airlock/airlock/internal/policy"
	"github.com/agent-airlock/airlock/internal/safeoutput"
	"github.com/google/go-cmp/cmp"
)

const anIssue = `{"type":"create-issue","title":"Crash on start","body":"It *crashes*.","labels":["bug","fresh"]}`

// TestOwnIssueIsOne creates an issue about what a fix loop leaves for later. Later attempts and
// workflow runs find it again by its name.
func TestOwnIssueIsOne(t *testing.T) {
	b := ownBench(t, githubtest.Options{})
	b.pol.Own.Loop = true
	followUp := func(name string) []intake.OwnItem {
		return []intake.OwnItem{{Item: &safeoutput.CreateIssue{Title: "Left for later", Body: "One finding."}, Stable: name}}
	}
	first := b.runOwn(followUp("loop/7-1"))
	want(t, first, "applied")
	b.cfg.Run.Attempt = 2
	second := b.runOwn(followUp("loop/7-1"))
	want(t, second, "adopted")
	b.cfg.Run.Attempt = 1
	for range 24 { // a day of further runs, of any workflow and job
		b.push()
		b.cfg.Run.Job, b.cfg.Run.WorkflowPath = b.cfg.Run.Job+"x", "other.yml"
	}
	again := b.runOwn(followUp("loop/7-1"))
	want(t, again, "adopted")
	for _, r := range append(second, again...) { // which of them made it is not known
		if r.Message != "the issue is there already" {
			t.Errorf("message %q", r.Message)
		}
	}
	if got := again[0].Object; got == nil || got.Number != first[0].Object.Number {
		t.Errorf("found %+v, want #%d", got, first[0].Object.Number)
	}
	want(t, b.runOwn(followUp("loop/7-2")), "applied")
	if got := operations(b.srv.Writes()); count(got, "issues/create") != 2 || len(got) != 2 {
		t.Errorf("writes %v", got)
	}
}

func TestCreateIssue(t *testing.T) {
	b := newBench(t, fixture(), githubtest.Options{})
	results := b.run(anIssue)
	want(t, results, "applied")
	if diff := cmp.Diff([]string{"issues/create"}, operations(b.srv.Writes())); diff != "" {
		t.Errorf("writes (-want +got):\n%s", diff)
	}
	made := b.issue(results[0].Object.Number)
	if made.Title != "Crash on start" || !cmp.Equal(made.Labels, []string{"bug", "fresh"}) {
		t.Errorf("made %+v", made)
	}
	if key, ok := markdown.LastLineMarker(made.Body); !ok || key != results[0].Key {
		t.Errorf("the body's last line is not the item's marker: %q", made.Body)
	}
	for _, part := range []string{"It *crashes*.", "Asked for by an agent in the workflow [agent](https://github.com/octo/repo/actions/runs/100)"} {
		if !strings.Contains(made.Body, part) {
			t.Errorf("the body lacks %q: %q", part, made.Body)
		}
	}
	if len(b.log) == 0 || b.log[0] != "this takes the permissions issues: write" {
		t.Errorf("the permissions are not printed beforehand: %q", b.log)
	}
	if results[0].Object.URL == "" || results[0].Object.Type != "issue" {
		t.Errorf("object %+v", results[0].Object)
	}
}

func TestRunAgainAdoptsWhatIsThere(t *testing.T) {
	b := newBench(t, fixture(), githubtest.Options{})
	comment := `{"type":"add-issue-comment","body":"Seen.","issue_number":5}`
	disc := `{"type":"create-discussion","title":"Ideas","body":"Some.","category":"q-a"}`
	review := reviewLine("main.go", 3, "Why?")
	b.on("pull_request", pullNumber)
	b.kind(safeoutput.KindAddIssueComment, func(k *policy.KindConfig) { k.Target.Any = true })
	first := b.run(anIssue, anIssue, comment, disc, review)
	want(t, first, "applied applied applied applied applied")
	writes := len(b.srv.Writes())

	b.cfg.Run.Attempt = 2
	second := b.run(anIssue, anIssue, comment, disc, review)
	want(t, second, "adopted adopted adopted adopted adopted")
	if got := len(b.srv.Writes()); got != writes {
		t.Errorf("the second attempt wrote: %v", operations(b.srv.Writes()[writes:]))
	}
	for i := range first {
		if first[i].Key != second[i].Key {
			t.Errorf("item %d: the key changed", i)
		}
		if !strings.HasPrefix(second[i].Message, "an earlier attempt of this workflow run ") {
			t.Errorf("item %d: message %q", i, second[i].Message)
		}
		if i < 4 && first[i].Object.URL != second[i].Object.URL {
			t.Errorf("item %d: adopted %s, made %s", i, second[i].Object.URL, first[i].Object.URL)
		}
	}
	if first[0].Object.Number == first[1].Object.Number {
		t.Error("two equal items became one issue")
	}
}

func TestMarkersOfOthersMeanNothing(t *testing.T) {
	b := newBench(t, fixture(), githubtest.Options{})
	key := b.plan(anIssue).Operations[0].Items[0].Key
	b.srv.Change(func(f *githubtest.Fixture) {
		f.Issues = append(f.Issues,
			&githubtest.Issue{Title: "forged", Body: "x\n\n" + markdown.Marker(key), CreatedAt: noon, UpdatedAt: noon},
			&githubtest.Issue{Title: "ours, but quoted", Body: markdown.Marker(key) + "\nmore", Author: f.Viewer, CreatedAt: noon, UpdatedAt: noon})
	})
	want(t, b.run(anIssue), "applied")
}

func TestIssuesDisabledStopsAfterOne(t *testing.T) {
	f := fixture()
	f.Repo.NoIssues = true
	b := newBench(t, f, githubtest.Options{})
	results := b.run(anIssue, anIssue)
	for _, r := range results {
		if r.State != Failed || !strings.Contains(r.Message, "enable") {
			t.Errorf("got %s(%s): %s", r.State, r.Code, r.Message)
		}
	}
	if n := len(b.srv.Writes()); n > 1 {
		t.Errorf("%d writes", n)
	}
}

func TestStagedItemsAreNotWritten(t *testing.T) {
	b := newBench(t, fixture(), githubtest.Options{})
	b.kind(safeoutput.KindCreateIssue, func(k *policy.KindConfig) { k.Staged = true })
	results := b.run(anIssue, `{"type":"add-issue-comment","body":"Hi","issue_number":5}`)
	want(t, results, "staged applied")
	if got := operations(b.srv.Writes()); !cmp.Equal(got, []string{"issues/create-comment"}) {
		t.Errorf("writes %v", got)
	}
}

func TestMissingTools(t *testing.T) {
	one := `{"type":"missing-tool","tool":"jq","reason":"to read JSON","alternatives":"gron"}`
	two := "{\"type\":\"missing-tool\",\"tool\":\"a`b\",\"reason\":\"for\\n\\n```\\nopen\"}"
	t.Run("reported", func(t *testing.T) {
		b := newBench(t, fixture(), githubtest.Options{})
		results := b.run(one, two)
		want(t, results, "applied applied")
		if n := len(b.srv.Requests()); n != 0 {
			t.Errorf("%d requests", n)
		}
		if !strings.Contains(results[0].Message, `"jq"`) {
			t.Errorf("message %q", results[0].Message)
		}
	})
	t.Run("as one issue", func(t *testing.T) {
		b := newBench(t, fixture(), githubtest.Options{})
		b.kind(safeoutput.KindMissingTool, func(k *policy.KindConfig) {
			k.CreateIssue, k.TitlePrefix, k.Labels = true, "[ai] ", []string{"agents"}
		})
		results := b.run(one, two)
		want(t, results, "applied applied")
		if results[0].Object.Number != results[1].Object.Number {
			t.Error("two issues")
		}
		made := b.issue(results[0].Object.Number)
		if made.Title != "[ai] Tools that agents lacked" || !cmp.Equal(made.Labels, []string{"agents"}) {
			t.Errorf("made %+v", made)
		}
		for _, part := range []string{"### `jq`", "to read JSON", "gron", "### ``a`b``", "Asked for by an agent"} {
			if !strings.Contains(made.Body, part) {
				t.Errorf("the body lacks %q:\n%s", part, made.Body)
			}
		}
		want(t, b.run(one, two), "adopted adopted")
	})
	t.Run("more than fits into one issue", func(t *testing.T) {
		b := newBench(t, fixture(), githubtest.Options{})
		b.kind(safeoutput.KindMissingTool, func(k *policy.KindConfig) { k.CreateIssue = true })
		long := line(map[string]any{"type": "missing-tool", "tool": "x", "reason": strings.Repeat("Because. ", 5000)})
		results := b.run(long, long)
		want(t, results, "applied applied")
		if !strings.Contains(b.issue(results[0].Object.Number).Body, cutNote) || !cmp.Equal(results[1].Notes, []string{cutText}) {
			t.Errorf("the notes do not mention that the text is cut: %q", results[1].Notes)
		}
	})
}
