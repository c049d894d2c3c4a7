package apply

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/agent-airlock/airlock/internal/githubtest"
	"github.com/agent-airlock/airlock/internal/intake"
	"github.com/agent-airlock/airlock/internal/safeoutput"
)

// chaosItem is an item of an agent's or of Airlock's own, with what finds it again in a repository.
type chaosItem struct {
	// name is the same for equal items.
	name string
	line string
	own  *intake.OwnItem // instead of a line, for an item of Airlock's own
	text string          // text of a review comment
	// times counts how often the complete item is in the repository, in the place where
	// it belongs; nil for an item that leaves no trace there.
	times func(githubtest.Fixture) int
	// once is set where equal items have a single effect, such as labels and uploads.
	once bool
}

// chaosKind makes items of one kind; n numbers an item's text. To add a kind to the random
// schedules, add a row to chaosKinds.
type chaosKind struct {
	name string
	// events are the names of the events that the kind can act on; empty means any.
	events []string
	draw   func(r *rand.Rand, n int) chaosItem
}

func chaosKinds() []chaosKind {
	return []chaosKind{
		{"create-issue", nil, drawIssue},
		{"add-issue-comment", []string{"pull_request", "workflow_dispatch"}, drawComment},
		{"add-issue-comment", []string{"discussion"}, drawDiscussionComment},
		{"add-issue-label", nil, drawLabel},
		{"update-issue", nil, drawUpdate},
		{"create-pull-request-review-comment", []string{"pull_request"}, drawReviewComment},
		{"create-discussion", nil, drawDiscussion},
		{"missing-tool", nil, drawMissing},
		{"missing-data", nil, drawMissing},
		{"report-incomplete", nil, drawIncomplete},
		{"create-security-report", []string{"pull_request"}, drawAlert},
		{"noop", nil, drawNoop},
	}
}

// drawItems makes the items of one schedule: a few of any kinds, sometimes the same one
// twice, and rarely more review comments than one review carries.
func drawItems(r *rand.Rand, ev string) []chaosItem {
	kinds := slices.DeleteFunc(chaosKinds(), func(k chaosKind) bool { return k.events != nil && !slices.Contains(k.events, ev) })
	var items []chaosItem
	updated := false
	for n := range 1 + r.IntN(7) {
		k := kinds[r.IntN(len(kinds))]
		if k.name == "update-issue" {
			if updated {
				continue // two edits of one field would contradict each other
			}
			updated = true
		}
		it := k.draw(r, n)
		items = append(items, it)
		if r.IntN(6) == 0 {
			items = append(items, it)
		}
	}
	if ev == "pull_request" && r.IntN(25) == 0 {
		for n := range maxInline + 2 {
			items = append(items, drawReviewComment(r, 100+n))
		}
	}
	return items
}

// chaosText returns a text that cleaning does not change, so that it can be searched for.
func chaosText(r *rand.Rand, n int) string {
	return []string{
		fmt.Sprintf("Text %d.", n),
		fmt.Sprintf("Text %d, in `two`\n\n```go\nif a < b {\n\treturn\n}\n```\n\nparts with a *tail* %d.", n, n),
		fmt.Sprintf("Text %d: Grüße, 漢字, 🙂\n\n- one\n- two %d.", n, n),
	}[r.IntN(3)]
}

func drawIssue(r *rand.Rand, n int) chaosItem {
	title, text := fmt.Sprintf("Issue %d.", n), chaosText(r, n)
	labels := [][]string{{}, {"bug"}, {"bug", "made by an agent"}}[r.IntN(3)]
	return chaosItem{
		name: fmt.Sprintf("issue %d", n),
		line: line(map[string]any{"type": "create-issue", "title": title, "body": text, "labels": labels}),
		times: func(st githubtest.Fixture) (times int) {
			for _, i := range st.Issues {
				if i.State == "open" && i.Title == title && missingNames(i.Labels, labels) == nil {
					times += strings.Count(i.Body, text)
				}
			}
			return times
		},
	}
}

func drawComment(r *rand.Rand, n int) chaosItem {
	text, on := chaosText(r, n), []int{issueNumber, pullNumber}[r.IntN(2)]
	return chaosItem{
		name: fmt.Sprintf("comment %d on #%d", n, on),
		line: line(map[string]any{"type": "add-issue-comment", "body": text, "issue_number": on}),
		times: func(st githubtest.Fixture) (times int) {
			for _, c := range issueIn(st, on).Comments {
				times += strings.Count(c.Body, text)
			}
			return times
		},
	}
}

func drawDiscussionComment(r *rand.Rand, n int) chaosItem {
	text := chaosText(r, n)
	return chaosItem{
		name: fmt.Sprintf("comment %d on the discussion", n),
		line: line(map[string]any{"type": "add-issue-comment", "body": text}),
		times: func(st githubtest.Fixture) (times int) {
			for _, d := range st.Discussions {
				for _, c := range d.Comments {
					if d.Number == discussion {
						times += strings.Count(c.Body, text)
					}
				}
			}
			return times
		},
	}
}

func drawLabel(r *rand.Rand, n int) chaosItem {
	labels := []string{fmt.Sprintf("label %d", n), "Help Wanted"}[:1+r.IntN(2)]
	on := []int{issueNumber, pullNumber}[r.IntN(2)]
	return chaosItem{
		name: fmt.Sprintf("labels %d on #%d", n, on),
		line: line(map[string]any{"type": "add-issue-label", "labels": labels, "issue_number": on}),
		once: true,
		times: func(st githubtest.Fixture) int {
			if missingNames(issueIn(st, on).Labels, labels) == nil {
				return 1
			}
			return 0
		},
	}
}

func drawUpdate(r *rand.Rand, n int) chaosItem {
	fields := map[string]any{"type": "update-issue", "issue_number": issueNumber}
	var is func(*githubtest.Issue) bool
	field := ""
	switch kind := r.IntN(6); kind {
	case 0:
		field, fields["status"], is = "status", "closed", func(i *githubtest.Issue) bool { return i.State == "closed" }
	case 1:
		field, fields["title"], is = "title", "Updated.", func(i *githubtest.Issue) bool { return i.Title == "Updated." }
	case 2:
		text := chaosText(r, n)
		field, fields["body"], is = "body", text, func(i *githubtest.Issue) bool { return strings.Count(i.Body, text) == 1 }
	default:
		return drawAddition(r, n, []string{"append", "prepend", "replace-island"}[kind-3])
	}
	return chaosItem{
		name: "update of the " + field,
		line: line(fields),
		once: true,
		times: func(st githubtest.Fixture) int {
			if is(issueIn(st, issueNumber)) {
				return 1
			}
			return 0
		},
	}
}

// drawAddition makes an update whose text stands next to the issue's, which stays.
func drawAddition(r *rand.Rand, n int, operation string) chaosItem {
	there, text := fixture().Issues[0].Body, chaosText(r, n)
	return chaosItem{
		name: operation,
		line: line(map[string]any{"type": "update-issue", "body": text, "operation": operation, "issue_number": issueNumber}),
		times: func(st githubtest.Fixture) int {
			body := issueIn(st, issueNumber).Body
			if !strings.HasPrefix(body, there+"\n") && !strings.HasSuffix(body, "\n"+there) {
				return 0
			}
			return strings.Count(body, text)
		},
	}
}

// drawReviewComment makes a comment on a line, inside or outside the diff. Where its text ends up
// depends on what GitHub refuses: on the line, on the file or, with a heading, in the body of a
// review or in a comment. Some texts are so long that a review's body has no room for two.
func drawReviewComment(r *rand.Rand, n int) chaosItem {
	text := chaosText(r, n)
	if r.IntN(8) == 0 {
		text += "\n\n" + strings.Repeat("Much ado. ", 4000) + "The end."
	}
	path, at := "main.go", []int{1, 2, 3, 5, 6, 20, 22, 333}[r.IntN(8)]
	if r.IntN(10) == 0 {
		path, at = "gone.go", 1
	}
	section := fmt.Sprintf("**`%s`, line %d**\n\n%s", path, at, text)
	return chaosItem{
		name: fmt.Sprintf("review comment %d on %s:%d", n, path, at),
		line: reviewLine(path, at, text),
		text: text,
		times: func(st githubtest.Fixture) (times int) {
			pull := issueIn(st, pullNumber)
			for _, c := range pull.Pull.Comments {
				if c.Path == path && (c.Line == at || c.Subject == "file") {
					times += strings.Count(c.Body, text)
				}
			}
			for _, v := range pull.Pull.Reviews {
				times += strings.Count(v.Body, section)
			}
			for _, c := range pull.Comments {
				times += strings.Count(c.Body, section)
			}
			return times
		},
	}
}

func drawDiscussion(r *rand.Rand, n int) chaosItem {
	title, text := fmt.Sprintf("Discussion %d.", n), chaosText(r, n)
	return chaosItem{
		name: fmt.Sprintf("discussion %d", n),
		line: line(map[string]any{"type": "create-discussion", "title": title, "body": text}),
		times: func(st githubtest.Fixture) (times int) {
			for _, d := range st.Discussions {
				if d.Title == title {
					times += strings.Count(d.Body, text)
				}
			}
			return times
		},
	}
}

// drawMissing makes a report of a missing tool or, if n is odd, of missing data, whichever of the
// two kinds was drawn.
func drawMissing(r *rand.Rand, n int) chaosItem {
	text := chaosText(r, n)
	what, heading, fields := "tool", "### `docker`", map[string]any{"type": "missing-tool", "tool": "docker", "reason": text}
	if n%2 == 1 {
		what, heading, fields = "data", "### `log`", map[string]any{"type": "missing-data", "data_type": "log", "reason": text}
	}
	return chaosItem{
		name: fmt.Sprintf("missing %s %d", what, n),
		line: line(fields),
		times: func(st githubtest.Fixture) (times int) {
			for _, i := range st.Issues {
				if i.State == "open" {
					times += strings.Count(i.Body, heading+"\n\n"+text)
				}
			}
			return times
		},
	}
}

// drawIncomplete makes a report of a task that was not completed. The texts of other items
// mention it, and it counts as failed whatever happens to its issue.
func drawIncomplete(r *rand.Rand, n int) chaosItem {
	text := chaosText(r, n)
	return chaosItem{
		name: fmt.Sprintf("incomplete task %d", n),
		line: line(map[string]any{"type": "report-incomplete", "reason": text}),
		times: func(st githubtest.Fixture) (times int) {
			for _, i := range st.Issues {
				if i.State == "open" && strings.HasPrefix(i.Title, "Tasks that agents did not complete") {
					times += strings.Count(i.Body, text)
				}
			}
			return times
		},
	}
}

// drawAlert makes a security report. An upload replaces the one before it, so it does not
// matter how often the report is there.
func drawAlert(_ *rand.Rand, n int) chaosItem {
	text := fmt.Sprintf("Alert %d.", n)
	return chaosItem{
		name: fmt.Sprintf("alert %d", n),
		line: alert("main.go", 1+n, text, ""),
		once: true,
		times: func(st githubtest.Fixture) int {
			if slices.ContainsFunc(st.Uploads, func(u *githubtest.Upload) bool { return strings.Contains(string(u.SARIF), text) }) {
				return 1
			}
			return 0
		},
	}
}

func drawNoop(_ *rand.Rand, n int) chaosItem {
	return chaosItem{name: "noop", line: line(map[string]any{"type": "noop", "message": fmt.Sprintf("Nothing %d.", n)})}
}

func issueIn(st githubtest.Fixture, number int) *githubtest.Issue {
	return st.Issues[slices.IndexFunc(st.Issues, func(i *githubtest.Issue) bool { return i.Number == number })]
}

// drawOwn makes what the checks publish in one schedule: a comment, a check run with enough
// annotations for one or more requests, three findings, and an item that resolves all others.
// Compared with the workflow runs before, one finding is new, one is kept and one has come back; a
// fourth is gone.
func drawOwn(r *rand.Rand) []chaosItem {
	items := []chaosItem{drawSticky(r), drawCheckRun([]int{3, 60, 120}[r.IntN(3)])}
	for i, name := range []string{"back", "kept", "new"} {
		items = append(items, drawFinding(name, i+1))
	}
	items = append(items, drawResolving("gone", "finding/back", "finding/kept"))
	r.Shuffle(len(items), func(i, j int) { items[i], items[j] = items[j], items[i] })
	return items
}

// playEarlierRuns plays the earlier workflow runs, whose findings are still there or were resolved.
func (b *bench) playEarlierRuns() error {
	one := *b
	for n, names := range [][]string{{"back", "gone", "kept"}, {"gone", "kept"}} {
		one.cfg.Run.ID = b.cfg.Run.ID - 2 + int64(n)
		var own []intake.OwnItem
		var keep []string
		for i, name := range names {
			own, keep = append(own, found(name, i+1)), append(keep, "finding/"+name)
		}
		own = append(own, intake.OwnItem{Item: &safeoutput.MinimiseComments{Scopes: []string{"finding"}, Keep: keep}})
		if _, err := one.process(context.Background(), b.srv.Transport(), b.clock, one.approve(own)); err != nil {
			return err
		}
		b.clock.Advance(time.Minute) // GitHub lists it all
	}
	return nil
}

func drawSticky(r *rand.Rand) chaosItem {
	text := chaosText(r, 1000)
	return chaosItem{
		name: "sticky comment", once: true,
		own: &intake.OwnItem{Item: &safeoutput.StickyComment{Name: "checks", Body: text}},
		times: func(st githubtest.Fixture) (times int) {
			for _, c := range issueIn(st, pullNumber).Comments {
				times += strings.Count(c.Body, text)
			}
			return times
		},
	}
}

// drawCheckRun makes a check run. It counts as made once if one of the check runs has each
// annotation exactly once. The other check runs do not matter, because GitHub removes no check run.
func drawCheckRun(n int) chaosItem {
	own := checked(n)
	return chaosItem{
		name: fmt.Sprintf("check run of %d annotations", n), once: true, own: &own,
		times: func(st githubtest.Fixture) int {
			for _, k := range slices.Backward(st.Checks) {
				messages := map[string]bool{}
				for _, a := range k.Annotations {
					messages[a.Message] = true
				}
				if len(messages) == n && len(k.Annotations) == n {
					return 1
				}
			}
			return 0
		},
	}
}

const resolvedNote = "no longer find this"

// drawFinding makes a finding. Its comment counts unless it is hidden or its text says that the
// finding is gone.
func drawFinding(name string, line int) chaosItem {
	own := found(name, line)
	return chaosItem{
		name: "finding " + name, own: &own, once: true,
		times: func(st githubtest.Fixture) (times int) {
			for _, c := range issueIn(st, pullNumber).Pull.Comments {
				if c.Minimized == "" && !strings.Contains(c.Body, resolvedNote) {
					times += strings.Count(c.Body, "Found "+name+".")
				}
			}
			return times
		},
	}
}

// drawResolving makes an item that resolves all findings except those named keep and those that the
// same workflow run reports. The finding named gone is the only one that is left to resolve.
func drawResolving(gone string, keep ...string) chaosItem {
	return chaosItem{
		name: "resolving", once: true,
		own: &intake.OwnItem{Item: &safeoutput.MinimiseComments{Scopes: []string{"finding"}, Keep: keep}},
		times: func(st githubtest.Fixture) (times int) {
			for _, c := range issueIn(st, pullNumber).Pull.Comments {
				if c.Minimized == "resolved" && strings.Count(c.Body, resolvedNote) == 1 {
					times += strings.Count(c.Body, "Found "+gone+".")
				}
			}
			return times
		},
	}
}
