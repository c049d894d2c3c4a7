package fixloop

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/agent-airlock/airlock/internal/markdown"
	"github.com/agent-airlock/airlock/internal/text"
)

// Limits of the folded history of a comment, which lists the newest messages.
const (
	maxHistory = 60     // messages
	maxFold    = 30_000 // UTF-16 code units of their lines
)

// Comment returns the one comment that shows a loop in its pull request, as Markdown: how it
// stands, what comes next, and its history, folded. footer is its last line, such as the name of the
// log's newest entry, or "" for none.
func (s State) Comment(messages []Message, footer string) string {
	var p page
	p.line("### Fix loop: " + s.headline())
	p.blank()
	if why := s.Why(); why != "" {
		p.line(why)
		p.blank()
	}
	p.line("**Next: " + s.next() + "**")
	p.blank()
	if decide := s.offer(); decide != "" {
		p.line(decide)
		p.blank()
	}
	var rows [][]string
	for _, c := range s.Checks() {
		rows = append(rows, []string{string(c.Check), "`" + string(c.Status) + "`", failuresText(c)})
	}
	p.b.WriteString(markdown.Table([]string{"Check", "Status", "Failures"}, rows))
	p.blank()
	p.fold(messages)
	if footer != "" {
		p.blank()
		p.line("<sub>" + markdown.EscapeText(footer) + "</sub>")
	}
	return p.String()
}

// failuresText returns the text of a table's cell: why a check did not work, or else its failures;
// "" if there are none.
func failuresText(c CheckState) string {
	switch {
	case c.Like != "":
		return "did not work, like " + string(c.Like)
	case c.Error != "":
		return "did not work: " + markdown.EscapeText(text.Truncate(c.Error, maxName))
	case c.Count == 0:
		return ""
	case c.Count == 1:
		return markdown.EscapeText(text.Truncate(c.Failures[0].Message, maxName))
	}
	return fmt.Sprintf("%d, first: %s", c.Count, markdown.EscapeText(text.Truncate(c.Failures[0].Message, maxName)))
}

// headline returns how the loop stands: its state, the iteration, and until when it waits.
func (s State) headline() string {
	d := &s.doc
	if d.Outcome != Running {
		return fmt.Sprintf("%s (after %s)", outcomeText[d.Outcome], text.Count(d.Iteration, "iteration"))
	}
	deadline := ""
	if at := s.Deadline(); !at.IsZero() {
		deadline = ", until " + at.UTC().Format("15:04") + " UTC on " + at.UTC().Format(time.DateOnly)
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
	detail := ""
	if len(failing) > 0 && len(failing) < len(d.Checks) {
		detail = " (" + names(failing) + ")"
	}
	if d.Status == Escalated {
		detail += ", " + string(d.Reason)
	}
	return fmt.Sprintf("%s%s, iteration %d of %d, %s%s", d.Status, detail, d.Iteration, d.Max, turn, deadline)
}

var outcomeText = map[Outcome]string{
	Succeeded: "all checks passed", KnownIssues: "skipped, with known issues", Aborted: "aborted",
	ClosedByPull: "ended, because the pull request was closed", MergedByPull: "ended, because the pull request was merged",
}

// next returns the next step, for the readers of the comment.
func (s State) next() string {
	switch s.Work().Kind {
	case WorkFix:
		return "push a commit that mends what " + s.doc.Request.ID + " lists"
	case WorkDecide:
		switch {
		case !slices.Contains(s.Decisions(), DecideFixed): // a push would be refused, too
			return "decide"
		case s.doc.Reason == ReasonSpecialist:
			return "get the check to work, then decide to retry"
		}
		return "push a fix, or decide"
	case WorkNone:
		switch s.doc.Outcome {
		case MergedByPull:
			return "nothing"
		case KnownIssues, Aborted: // a person has decided about this commit
			return "nothing; a push whose checks fail begins another loop"
		}
		return "nothing; the next failure begins another loop"
	case WorkAcceptance:
		return "wait for the acceptance verdict, or run its job again if it does not run"
	}
	return "wait for the checks, or run their job again if it does not run"
}

// offer describes the decisions that a comment can make now; "" if there are none.
func (s State) offer() string {
	var commands []string
	for _, d := range s.Decisions() {
		word := string(d)
		if d == DecideExtend {
			word += " " + strconv.Itoa(s.Extension())
		}
		commands = append(commands, "`"+CommandWord+" "+word+"`")
	}
	switch len(commands) {
	case 0:
		return ""
	case 1: // to abort is always possible
		return "To end the loop, comment " + commands[0] + " as the first line, with write permission."
	}
	return "To decide, comment one of these as the first line, with write permission: " + strings.Join(commands, ", ") + "."
}

// fold lists the newest messages in a fold.
func (p *page) fold(messages []Message) {
	var lines []string
	count, size := 0, 0
	for _, m := range slices.Backward(messages) {
		if !m.Counts() {
			continue
		}
		count++
		if count > maxHistory || size > maxFold {
			continue
		}
		line := "- " + m.Time.Format(TimeLayout) + " `" + m.ID + "` " + markdown.EscapeText(text.Truncate(m.Summary, maxName))
		if size += markdown.UTF16Len(line) + 1; size <= maxFold {
			lines = append(lines, line)
		}
	}
	p.line("<details><summary>History: " + text.Count(count, "message") + "</summary>")
	p.blank()
	if left := count - len(lines); left > 0 {
		p.line("- " + text.Count(left, "earlier message") + ": see the log")
	}
	for _, line := range slices.Backward(lines) {
		p.line(line)
	}
	p.blank()
	p.line("</details>")
}

// maxPosted limits a message in a comment of its own, in UTF-16 code units. GitHub refuses comments
// of more than 65,536, and the program that publishes the message adds text to it.
const maxPosted = 50_000

// Posted returns the comment that notifies people of a fix request or an escalation: what to do,
// then the message, shortened to fit into a comment. current reports whether the loop still waits
// for what the message asks.
func (s State) Posted(m Message, current bool) string {
	var p page
	switch {
	case !current:
		p.line("**This needs no answer any more.** The comment that shows the loop has its current state.")
	case m.Type == Escalation:
		p.line("**Next: " + s.next() + ".** " + m.Reason.sentence())
		p.blank()
		p.line(s.offer())
	default:
		p.line("**Next: push a commit that mends this; it is checked at once.** What the checks found on lines of the diff is also commented there.")
	}
	p.blank()
	p.b.WriteString(m.fitting().Markdown())
	return p.String()
}

// fitting returns the message, shortened to fit into a comment. It drops three things in turn: the
// explanations of failures (those of the last ones first), the last failures, the first iterations.
func (m Message) fitting() Message {
	m.Failures = slices.Clone(m.Failures)
	for explained := len(m.Failures); markdown.UTF16Len(m.Markdown()) > maxPosted; {
		switch {
		case explained > 0:
			explained /= 2
			for i := range m.Failures[explained:] {
				f := &m.Failures[explained+i]
				f.Details, f.Suggestion = "", ""
			}
		case len(m.Failures) > 1:
			half := len(m.Failures) / 2
			m.Omitted += len(m.Failures) - half
			m.Failures = m.Failures[:half]
		case len(m.History) > 1:
			m.History = m.History[len(m.History)/2:]
		default:
			return m
		}
	}
	return m
}

// Why explains to people why the loop waits for a decision; "" if it does not.
func (s State) Why() string {
	if s.Work().Kind != WorkDecide {
		return ""
	}
	return s.doc.Reason.sentence()
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
		switch {
		case c.Like != "":
			p.line("The check did not work, like " + string(c.Like) + ".")
		case c.Error != "":
			p.text("The check did not work: " + c.Error)
		default:
			p.failures(c.Failures, c.Count-len(c.Failures), "None.")
		}
	}
	return title, p.String()
}
