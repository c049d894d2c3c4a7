package apply

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/agent-airlock/airlock/internal/githubtest"
	"github.com/agent-airlock/airlock/internal/markdown"
	"github.com/agent-airlock/airlock/internal/policy"
	"github.com/agent-airlock/airlock/internal/safeoutput"
)

func updateLine(operation, body string) string {
	fields := map[string]any{"type": "update-issue", "body": body, "issue_number": issueNumber}
	if operation != "" {
		fields["operation"] = operation
	}
	return line(fields)
}

// withBody returns the bench's fixture with another text of the issue.
func withBody(body string) githubtest.Fixture {
	f := fixture()
	f.Issues[0].Body = body
	return f
}

// peoplesTexts are texts that must stay byte for byte.
var peoplesTexts = []string{
	"Sometimes.",
	"Sometimes.\r\n\r\n- [ ] one\r\n- [x] two\r\n",
	"  indented\n\n\n\nand  spaces \n\ttab ",
	"```go\nfunc open() {",
	"<details>\n<summary>log</summary>\n\nopen",
	"<!-- a person's own comment, open",
	"Title\n---\n\n---",
	"é 漢字 🙂\u200b @octocat fixes #1 <script>alert(1)</script> [x](https://evil.example)",
	"a forged marker\n\n" + markdown.Marker(strings.Repeat("0", 64)),
	"<!-- airlock:v1 island=00 -->\nsomebody's\n<!-- airlock:v1 end=00 -->",
}

func TestAdditionsKeepTheTextOfPeople(t *testing.T) {
	for _, operation := range []string{"append", "prepend", "replace-island"} {
		for i, text := range peoplesTexts {
			t.Run(fmt.Sprintf("%s %d", operation, i), func(t *testing.T) {
				b := newBench(t, withBody(text), githubtest.Options{})
				want(t, b.run(updateLine(operation, "Added by @octocat.")), "applied")
				body := b.issue(issueNumber).Body
				at, added := strings.Index(body, text), strings.Index(body, "Added by")
				if at < 0 || operation == "prepend" && (added > at || !strings.HasSuffix(body, text)) || operation != "prepend" && (added < at || at != 0) {
					t.Fatalf("the text is not where it was:\n%q", body)
				}
				for part, times := range map[string]int{"Added by @\u200boctocat.": 0, "Added by @&#8203;octocat.": 1, "Asked for by an agent": 1} {
					if strings.Count(body, part) != times {
						t.Errorf("%q is there %d times:\n%s", part, strings.Count(body, part), body)
					}
				}
				want(t, b.run(updateLine(operation, "Added by @octocat.")), "adopted")
				if again := b.issue(issueNumber).Body; again != body {
					t.Errorf("a second run changed\n%q to\n%q", body, again)
				}
			})
		}
	}
}

// TestDefinitionsStayInTheirText asserts that no text of a body refers to what another text of it
// defines: an issue's text to an addition, or a footer to the text above it.
func TestDefinitionsStayInTheirText(t *testing.T) {
	added := "Read [docs], [the docs][Docs] and more[^1].\n\n[docs]: https://github.com/agents/docs\n[^1]: An agent's note."
	const theirs = "Our [docs], a [link][docs], a note[^1] and arr[docs][]."
	for _, operation := range []string{"append", "prepend", "replace-island"} {
		b := newBench(t, withBody(theirs), githubtest.Options{})
		want(t, b.run(updateLine(operation, added)), "applied")
		body := b.issue(issueNumber).Body
		doc := markdown.Scan(body)
		at := strings.Index(body, theirs)
		notes := 0
		for _, l := range doc.Links {
			if l.Start >= at && l.Start < at+len(theirs) {
				t.Errorf("%s: %q became a link in\n%s", operation, body[l.Start:l.End], body)
			}
		}
		for _, n := range doc.Inlines {
			if n.Kind == markdown.FootnoteRef {
				notes++
			}
		}
		if links := len(doc.Links); links < 2 || notes != 1 {
			t.Errorf("%s: %d links and %d references to footnotes in\n%s", operation, links, notes, body)
		}
		want(t, b.run(updateLine(operation, added)), "adopted")
		if again := b.issue(issueNumber).Body; again != body {
			t.Errorf("%s: a second run changed\n%q to\n%q", operation, body, again)
		}
	}

	for footer, link := range map[string]string{
		"See [the policy][docs].\n\n[docs]: https://github.com/owners/policy": "https://github.com/owners/policy",
		"Made by [docs].": "",
	} {
		b := newBench(t, fixture(), githubtest.Options{})
		b.kind(safeoutput.KindAddIssueComment, func(k *policy.KindConfig) { k.Footer = &policy.Footer{Text: footer} })
		want(t, b.run(line(map[string]any{"type": "add-issue-comment", "body": added, "issue_number": issueNumber})), "applied")
		comments := b.issue(issueNumber).Comments
		doc := markdown.Scan(comments[len(comments)-1].Body)
		last := doc.Destination(len(doc.Links) - 1)
		if link != "" && last != link || link == "" && len(doc.Links) != 2 {
			t.Errorf("the last of %d links leads to %q:\n%s", len(doc.Links), last, doc.Source)
		}
	}
}

// TestWhatIsAddedIsVisible asserts that an addition is not part of a comment, code fence or
// element that the text above it leaves open.
func TestWhatIsAddedIsVisible(t *testing.T) {
	for text, closing := range map[string]string{"```go\nfunc open() {": "\n```\n\n", "<details>\n\nopen": "</details>\n\n", "<!-- open": "-->\n\n"} {
		b := newBench(t, withBody(text), githubtest.Options{})
		want(t, b.run(updateLine("append", "Added.")), "applied")
		if body := b.issue(issueNumber).Body; !strings.Contains(body[len(text):], closing+"Added.") {
			t.Errorf("%q became %q", text, body)
		}
	}
}

func TestEachAdditionIsMadeOnce(t *testing.T) {
	b := newBench(t, fixture(), githubtest.Options{})
	lines := []string{updateLine("append", "One."), updateLine("append", "One."), updateLine("prepend", "Two."), updateLine("replace-island", "Three."), updateLine("append", "Four.")}
	want(t, b.run(lines...), "applied applied applied applied applied")
	body := b.issue(issueNumber).Body
	for text, times := range map[string]int{"One.": 2, "Two.": 1, "Three.": 1, "Four.": 1, "Sometimes.": 1} {
		if strings.Count(body, text) != times {
			t.Errorf("%q is there %d times:\n%s", text, strings.Count(body, text), body)
		}
	}
	want(t, b.run(lines...), "adopted adopted adopted adopted adopted")
	b.cfg.Run.ID++ // another workflow run appends again, and replaces its island
	want(t, b.run(updateLine("append", "One."), updateLine("replace-island", "Five.")), "applied applied")
	body = b.issue(issueNumber).Body
	if strings.Count(body, "One.") != 3 || strings.Contains(body, "Three.") || strings.Count(body, "Five.") != 1 || !strings.Contains(body, "Sometimes.") {
		t.Errorf("after another run:\n%s", body)
	}
	b.cfg.Run.ID-- // the earlier one comes late
	want(t, b.run(updateLine("replace-island", "Six.")), "adopted")
}

// TestUpdatesOfOneIssue asserts that each update is planned for the issue as the updates before it
// leave it, not as it was when the run began.
func TestUpdatesOfOneIssue(t *testing.T) {
	update := func(field, value string) string {
		return line(map[string]any{"type": "update-issue", "issue_number": issueNumber, field: value})
	}
	before := *issueIn(fixture(), issueNumber)
	for name, c := range map[string]struct {
		lines  []string
		closed bool
		title  string
		body   []string
	}{
		"status and back":    {lines: []string{update("status", "closed"), update("status", "open")}},
		"open, then closed":  {lines: []string{update("status", "open"), update("status", "closed")}, closed: true},
		"title and back":     {lines: []string{update("title", "Other"), update("title", before.Title)}},
		"the same twice":     {lines: []string{update("status", "closed"), update("status", "closed"), update("title", "Other"), update("title", "Other")}, closed: true, title: "Other"},
		"title twice":        {lines: []string{update("title", "Other"), update("title", "Third")}, title: "Third"},
		"body twice":         {lines: []string{updateLine("", "One."), updateLine("", "Two.")}, body: []string{"Two."}},
		"body and additions": {lines: []string{updateLine("", "One."), updateLine("append", "Two."), updateLine("prepend", "Three."), updateLine("replace-island", "Four.")}, body: []string{"Three.", "One.", "Two.", "Four."}},
		"addition replaced":  {lines: []string{updateLine("append", "One."), updateLine("", "Two.")}, body: []string{"Two."}},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, fixture(), githubtest.Options{})
			for attempt := 1; attempt <= 3; attempt++ {
				b.cfg.Run.Attempt = attempt
				for _, r := range b.run(c.lines...) {
					if r.State != Applied && r.State != Adopted {
						t.Errorf("attempt %d: line %d is %s: %s", attempt, r.Line, r.State, r.Message)
					}
				}
				is := b.issue(issueNumber)
				if got := is.State == "closed"; got != c.closed || is.Title != cmp.Or(c.title, before.Title) {
					t.Errorf("attempt %d: the issue is %s, %q", attempt, is.State, is.Title)
				}
				rest := is.Body
				for _, part := range c.body {
					_, after, found := strings.Cut(rest, part)
					if !found {
						t.Errorf("attempt %d: %q is not in its place:\n%s", attempt, part, is.Body)
					}
					rest = after
				}
				if len(c.body) == 0 && is.Body != before.Body {
					t.Errorf("attempt %d: the text is %q", attempt, is.Body)
				}
			}
		})
	}
}

// TestWhatWasAddedToAReplacedText asserts that a repeated run does not replace a text again if
// another workflow run of the same account has added something to it since, or somebody has edited
// it.
func TestWhatWasAddedToAReplacedText(t *testing.T) {
	b := newBench(t, fixture(), githubtest.Options{})
	replace := updateLine("", "One.")
	want(t, b.run(replace), "applied")
	b.cfg.Run.ID++
	want(t, b.run(updateLine("append", "Two.")), "applied")
	b.cfg.Run.ID--
	b.cfg.Run.Attempt = 2
	want(t, b.run(replace), "adopted")
	b.srv.Change(func(f *githubtest.Fixture) {
		i := issueIn(*f, issueNumber)
		i.Body += "\n\nThree."
		i.Edits = append(i.Edits, githubtest.Edit{Field: "body", To: i.Body, Editor: githubtest.Account{Login: "somebody", ID: 77}, At: noon})
	})
	want(t, b.run(replace), "adopted")
	body := b.issue(issueNumber).Body
	for _, text := range []string{"One.", "Two.", "Three."} {
		if strings.Count(body, text) != 1 {
			t.Errorf("%q is there %d times:\n%s", text, strings.Count(body, text), body)
		}
	}
}

// TestAnUpdateAfterOneThatFailed asserts that an update is made, and not taken for done, where an
// equal one before it failed.
func TestAnUpdateAfterOneThatFailed(t *testing.T) {
	for name, l := range map[string]string{
		"status": line(map[string]any{"type": "update-issue", "issue_number": issueNumber, "status": "closed"}),
		"title":  line(map[string]any{"type": "update-issue", "issue_number": issueNumber, "title": "Other"}),
		"body":   line(map[string]any{"type": "update-issue", "issue_number": issueNumber, "body": "New."}),
		"island": updateLine("replace-island", "New."),
	} {
		t.Run(name, func(t *testing.T) {
			fix := fixture()
			issueIn(fix, issueNumber).Author = fix.Viewer // so that a body has the issue's own marker, not the item's
			b := newBench(t, fix, githubtest.Options{})
			before := b.issue(issueNumber)
			b.srv.SetFault(once("issues/update", githubtest.Fault{Status: 404, Body: `{"message":"Not Found"}`}))
			want(t, b.run(l, l), "failed(not-found) applied")
			if is := b.issue(issueNumber); is.State == before.State && is.Title == before.Title && is.Body == before.Body {
				t.Error("the issue is as before")
			}
		})
	}
}

func TestIslandBetweenTexts(t *testing.T) {
	b := newBench(t, fixture(), githubtest.Options{})
	want(t, b.run(updateLine("replace-island", "Day one.")), "applied")
	b.srv.Change(func(f *githubtest.Fixture) {
		i := issueIn(*f, issueNumber)
		i.Body = "Above.\r\n\r\n" + strings.ReplaceAll(i.Body, "\n", "\r\n") + "\r\n\r\nBelow, by a person. "
	})
	b.clock.Advance(time.Hour)
	b.cfg.Run.ID++
	b.ev.Time, b.cfg.Run.StartedAt = b.clock.Now(), b.clock.Now()
	want(t, b.run(updateLine("replace-island", "Day two.")), "applied")
	body := b.issue(issueNumber).Body
	if !strings.HasPrefix(body, "Above.\r\n\r\nSometimes.") || !strings.HasSuffix(body, "\r\n\r\nBelow, by a person. ") ||
		strings.Contains(body, "Day one.") || strings.Count(body, "Asked for by an agent") != 1 || strings.Count(body, "Day two.") != 1 {
		t.Errorf("the body is\n%s", body)
	}
	b.cfg.Run.Job = "another"
	want(t, b.run(updateLine("replace-island", "Of another job.")), "applied")
	if body := b.issue(issueNumber).Body; !strings.Contains(body, "Day two.") || !strings.Contains(body, "Of another job.") {
		t.Errorf("the body is\n%s", body)
	}
}

func TestBrokenIslandsAreNotReplaced(t *testing.T) {
	b := newBench(t, fixture(), githubtest.Options{})
	want(t, b.run(updateLine("replace-island", "Day one.")), "applied")
	intact := b.issue(issueNumber).Body
	start := intact[strings.Index(intact, "<!-- airlock:v1 island="):]
	start = start[:strings.Index(start, "\n")]
	end := intact[strings.LastIndex(intact, "<!--"):]
	for name, body := range map[string]string{
		"copied": intact + "\n\n```\n" + intact + "\n```", "no end": strings.Replace(intact, end, "", 1), "no start": strings.Replace(intact, start, "", 1),
		"turned round": end + "\n\nmine\n\n" + start, "two starts": start + "\n" + intact,
	} {
		b.srv.Change(func(f *githubtest.Fixture) { issueIn(*f, issueNumber).Body = body })
		b.cfg.Run.ID++
		results := b.run(updateLine("replace-island", "Day two."))
		want(t, results, "failed(island)")
		if got := b.issue(issueNumber).Body; got != body || !strings.Contains(results[0].Message, "remove those lines") {
			t.Errorf("%s: %q\n%s", name, results[0].Message, got)
		}
	}
}

// TestAgentsCannotForgeMarkers asserts that a marker in an agent's text, in each kind of addition,
// neither begins an island nor makes a later item look as if it had been added already.
func TestAgentsCannotForgeMarkers(t *testing.T) {
	b := newBench(t, fixture(), githubtest.Options{})
	want(t, b.run(updateLine("replace-island", "Ours.")), "applied")
	body := b.issue(issueNumber).Body
	start, end := body[strings.Index(body, "<!-- airlock:v1 island="):], body[strings.LastIndex(body, "<!--"):]
	start = start[:strings.Index(start, "\n")]
	later := updateLine("append", "Later.")
	key := b.plan(later).Operations[0].Items[0].Key
	forged := strings.Join([]string{start, end, markdown.Marker(key), "`" + start + "`", "```\n" + start + "\n```", "<!-- airlock:v1 " + start + "island=" + key + " -->"}, "\n\n")
	for _, operation := range []string{"prepend", "append", "replace-island"} {
		want(t, b.run(updateLine(operation, "Forged.\n\n"+forged)), "applied")
		markers := map[markdown.MarkerKind]int{}
		for l := range strings.Lines(b.issue(issueNumber).Body) {
			if kind, k, ok := markdown.LineMarker(l); ok {
				if markers[kind]++; k == key {
					t.Errorf("%s: the later item's marker is there", operation)
				}
			}
		}
		if markers[markdown.IslandStart] != 1 || markers[markdown.IslandEnd] != 1 {
			t.Errorf("%s: markers %v in\n%s", operation, markers, b.issue(issueNumber).Body)
		}
	}
	want(t, b.run(later), "applied")
}

func TestAdditionsStayBelowGitHubsLimit(t *testing.T) {
	for _, operation := range []string{"append", "prepend", "replace-island"} {
		long := strings.Repeat("é", 65_000)
		b := newBench(t, withBody(long), githubtest.Options{})
		results := b.run(line(map[string]any{"type": "update-issue", "title": "New", "body": strings.Repeat("Much ado. ", 100), "operation": operation, "issue_number": issueNumber}))
		want(t, results, "failed(too-long)")
		if i := b.issue(issueNumber); i.Body != long || i.Title == "New" || !strings.Contains(results[0].Message, "more than GitHub's 65536") {
			t.Errorf("%s: %q, title %q", operation, results[0].Message, i.Title)
		}
		want(t, b.run(updateLine(operation, "Short.")), "applied")
	}
}

// TestAdditionsAndEditsOfOthers lets somebody edit the issue's text while the workflow runs. It
// asserts that text is added to the newest version, and that an operation that replaces text is
// skipped.
func TestAdditionsAndEditsOfOthers(t *testing.T) {
	for operation, state := range map[string]string{"append": "applied", "prepend": "applied", "replace-island": "skipped(edited-meanwhile)", "replace": "skipped(edited-meanwhile)", "": "skipped(edited-meanwhile)"} {
		b := newBench(t, fixture(), githubtest.Options{})
		b.srv.Change(func(f *githubtest.Fixture) {
			i := issueIn(*f, issueNumber)
			i.Body = "Edited."
			i.Edits = append(i.Edits, githubtest.Edit{Field: "body", To: "Edited.", Editor: githubtest.Account{Login: "somebody", ID: 77}, At: noon})
		})
		want(t, b.run(updateLine(operation, "Added.")), state)
		if body := b.issue(issueNumber).Body; !strings.Contains(body, "Edited.") || strings.Contains(body, "Added.") != (state == "applied") {
			t.Errorf("%s: %q", operation, body)
		}
	}
}

// TestAdditionsGoIntoTheNewestText asserts that text is added to the newest version of an issue
// that changes between planning and writing.
func TestAdditionsGoIntoTheNewestText(t *testing.T) {
	for _, operation := range []string{"append", "prepend"} {
		b := newBench(t, fixture(), githubtest.Options{})
		plan := b.plan(updateLine(operation, "Added."))
		b.srv.Change(func(f *githubtest.Fixture) { issueIn(*f, issueNumber).Body = "Newest." })
		want(t, execute(context.Background(), b.deps, plan), "applied")
		if body := b.issue(issueNumber).Body; !strings.Contains(body, "Newest.") || !strings.Contains(body, "Added.") || strings.Contains(body, "Sometimes.") {
			t.Errorf("%s: %q", operation, body)
		}
		want(t, execute(context.Background(), b.deps, plan), "adopted")
	}
}

// TestAdditionsToOwnIssues asserts that an issue of ours keeps its marker as its last line, so that
// a later attempt finds it.
func TestAdditionsToOwnIssues(t *testing.T) {
	for _, operation := range []string{"append", "prepend", "replace-island"} {
		b := newBench(t, fixture(), githubtest.Options{})
		made := b.run(anIssue)
		want(t, made, "applied")
		add := line(map[string]any{"type": "update-issue", "body": "Added.", "operation": operation, "issue_number": made[0].Object.Number})
		want(t, b.run(add), "applied")
		want(t, b.run(anIssue, add), "adopted adopted")
		b.cfg.Run.ID++
		want(t, b.run(strings.Replace(add, "Added.", "More.", 1)), "applied")
		b.cfg.Run.ID--
		want(t, b.run(anIssue), "adopted")
		body := b.issue(made[0].Object.Number).Body
		added := 1
		if operation == "replace-island" {
			added = 0 // the other workflow run has replaced it
		}
		if !strings.Contains(body, "More.") || strings.Count(body, "Added.") != added {
			t.Errorf("%s:\n%s", operation, body)
		}
	}
}

func TestConfiguredOperation(t *testing.T) {
	b := newBench(t, fixture(), githubtest.Options{})
	b.kind(safeoutput.KindUpdateIssue, func(k *policy.KindConfig) { k.Update.Operation = safeoutput.OperationAppend })
	want(t, b.run(updateLine("", "Added.")), "applied")
	if body := b.issue(issueNumber).Body; !strings.HasPrefix(body, "Sometimes.\n\nAdded.") {
		t.Errorf("the body is %q", body)
	}
	want(t, b.run(updateLine("replace", "All new.")), "applied")
	if body := b.issue(issueNumber).Body; !strings.HasPrefix(body, "All new.") || strings.Contains(body, "Sometimes.") {
		t.Errorf("the body is %q", body)
	}
}

func TestFootersOfAdditions(t *testing.T) {
	for _, operation := range []string{"append", "prepend", "replace-island", "replace"} {
		b := newBench(t, fixture(), githubtest.Options{})
		b.kind(safeoutput.KindUpdateIssue, func(k *policy.KindConfig) { k.Footer = &policy.Footer{None: true} })
		want(t, b.run(updateLine(operation, "Added.")), "applied")
		if body := b.issue(issueNumber).Body; strings.Contains(body, "Asked for") {
			t.Errorf("%s, no footer: %q", operation, body)
		}
		b = newBench(t, fixture(), githubtest.Options{})
		b.kind(safeoutput.KindUpdateIssue, func(k *policy.KindConfig) { k.Footer = &policy.Footer{Text: "By us."} })
		want(t, b.run(updateLine(operation, "Added.")), "applied")
		if body := b.issue(issueNumber).Body; strings.Count(body, "Added.\n\nBy us.\n\n<!-- airlock:v1 ") != 1 {
			t.Errorf("%s, a footer: %q", operation, body)
		}
	}
}

func TestPlanOfAnAdditionWithoutToken(t *testing.T) {
	b := newBench(t, fixture(), githubtest.Options{})
	b.token, b.deps.GitHub = "", nil
	plan := b.plan(updateLine("append", "Added."))
	if op := plan.Operations[0]; !strings.Contains(op.Summary, "body (append)") || len(op.Requests) != 1 || !strings.Contains(string(op.Requests[0].Body), `"<the issue's text>\n\nAdded.`) {
		t.Errorf("the plan is %q, %s", op.Summary, op.Requests)
	}
}
