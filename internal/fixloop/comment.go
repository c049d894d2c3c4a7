package fixloop

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/agent-airlock/airlock/internal/markdown"
	"github.com/agent-airlock/airlock/internal/text"
)

// maxHistory is how many messages the folded history of a comment lists, the newest ones.
const maxHistory = 60

// Comment is the one comment that shows a loop in its pull request, as Markdown: how it stands,
// what comes next, and its history, folded. last is the line below, such as the log's witness.
func (s State) Comment(messages []Message, last string) string {
	var p page
	p.line("### Fix loop: " + s.headline())
	p.blank()
	p.line("**Next: " + s.next() + "**")
	p.blank()
	var rows [][]string
	for _, c := range s.Checks() {
		rows = append(rows, []string{string(c.Check), "`" + string(c.Status) + "`", failuresText(c)})
	}
	p.b.WriteString(markdown.Table([]string{"Check", "Status", "Failures"}, rows))
	p.blank()
	p.fold(messages)
	if last != "" {
		p.blank()
		p.line("<sub>" + markdown.EscapeText(last) + "</sub>")
	}
	return p.String()
}

// failuresText is a check's failures in a table.
func failuresText(c CheckState) string {
	switch {
	case c.Error != "":
		return "did not work: " + markdown.EscapeText(text.Truncate(c.Error, maxName))
	case c.Count == 0:
		return ""
	case c.Count == 1:
		return markdown.EscapeText(text.Truncate(c.Failures[0].Message, maxName))
	}
	return fmt.Sprintf("%d, first: %s", c.Count, markdown.EscapeText(text.Truncate(c.Failures[0].Message, maxName)))
}

// headline is how the loop stands: its state, the iteration, and until when it waits.
func (s State) headline() string {
	d := &s.doc
	if d.Outcome != Running {
		return fmt.Sprintf("%s (after %s)", outcomeText[d.Outcome], text.Count(d.Iteration, "iteration"))
	}
	until := ""
	if at := s.Deadline(); !at.IsZero() {
		until = ", until " + at.UTC().Format("15:04") + " UTC on " + at.UTC().Format(time.DateOnly)
	}
	turn := map[WorkKind]string{
		WorkStart: "not started", WorkValidate: "the checks run", WorkRevalidate: "the failed checks run again", WorkFinal: "all checks run once more",
		WorkAcceptance: "the acceptance criteria are evaluated", WorkFix: "it is the fixer's turn", WorkDecide: "a person has to decide",
	}[s.Work().Kind]
	var failing []Check
	for _, c := range d.Checks {
		if c.Status != Pass && c.Status != Pending && c.Status != InProgress {
			failing = append(failing, c.Name)
		}
	}
	about := ""
	if len(failing) > 0 && len(failing) < len(d.Checks) {
		about = " (" + names(failing) + ")"
	}
	if d.Status == Escalated {
		about += ", " + string(d.Reason)
	}
	return fmt.Sprintf("%s%s, iteration %d of %d, %s%s", d.Status, about, d.Iteration, d.Max, turn, until)
}

var outcomeText = map[Outcome]string{
	Succeeded: "all checks passed", KnownIssues: "skipped, with known issues", Aborted: "aborted",
	ClosedByPull: "ended, because the pull request was closed", MergedByPull: "ended, because the pull request was merged",
}

// next is the next step, for whoever reads the comment.
func (s State) next() string {
	switch s.Work().Kind {
	case WorkFix:
		return "push a commit that mends what " + s.doc.Request.ID + " lists; somebody who may write can also comment `" + CommandWord + " fixed` or `" + CommandWord + " abort`"
	case WorkDecide:
		words := "push a fix, or let somebody who may write comment `" + CommandWord + " fixed`"
		if strings.Contains(s.decisions(), "extend") {
			words += ", `" + CommandWord + " extend " + strconv.Itoa(s.doc.Loop.Limits.Extend) + "`"
		}
		return words + ", `" + CommandWord + " retry`, `" + CommandWord + " skip` or `" + CommandWord + " abort`"
	case WorkNone:
		return "nothing; the next failure begins another loop"
	}
	return "wait for the checks"
}

// decisions are the decisions that can be made now, in words.
func (s State) decisions() string {
	out := "fixed retry skip abort"
	for _, c := range s.doc.Checks {
		if c.Status == Escalated && len(c.Prints) > 0 {
			return out + " extend"
		}
	}
	return out
}

// fold lists the messages in a fold.
func (p *page) fold(messages []Message) {
	var list []Message
	for _, m := range messages {
		if m.Counts() {
			list = append(list, m)
		}
	}
	left := max(len(list)-maxHistory, 0)
	p.line("<details><summary>History: " + text.Count(len(list), "message") + "</summary>")
	p.blank()
	if left > 0 {
		p.line("- " + text.Count(left, "earlier message") + ": see the log")
	}
	for _, m := range list[left:] {
		p.line("- " + m.Time.Format(TimeLayout) + " `" + m.ID + "` " + markdown.EscapeText(text.Truncate(m.Summary, maxName)))
	}
	p.blank()
	p.line("</details>")
}

// Posted is the comment that notifies of a fix request or an escalation: the message, and how
// to answer it in the pull request.
func (s State) Posted(m Message) string {
	var p page
	p.b.WriteString(m.Markdown())
	p.blank()
	if m.Type == Escalation {
		p.line("To decide, comment one of these as the first line (write permission is needed):")
		p.blank()
		for _, d := range []string{"fixed", "extend " + strconv.Itoa(s.doc.Loop.Limits.Extend), "retry", "skip", "abort"} {
			if !strings.HasPrefix(d, "extend") || strings.Contains(strings.Join(m.Actions, "\n"), "extend ") {
				p.line("- `" + CommandWord + " " + d + "`")
			}
		}
		return p.String()
	}
	p.line("Push a commit that mends this; it is checked at once. What the checks found on lines of the diff is also commented there.")
	return p.String()
}

// FollowUp returns the issue about what a person skipped.
func (s State) FollowUp() (title, body string) {
	d := &s.doc
	title = fmt.Sprintf("Known issues of #%d that its fix loop left", d.Loop.Issue)
	var p page
	p.line(fmt.Sprintf("The fix loop of #%d ended after %s with known issues (%s).", d.Loop.Issue, text.Count(d.Iteration, "iteration"), markdown.EscapeText(d.Decided)))
	for _, c := range s.Checks() {
		if c.Count == 0 && c.Error == "" {
			continue
		}
		p.section(c.Check.title())
		p.blank()
		if c.Error != "" {
			p.text("The check did not work: " + c.Error)
			continue
		}
		p.failures(c.Failures, c.Count-len(c.Failures), "")
	}
	return title, p.String()
}
