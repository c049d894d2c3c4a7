package fixloop

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/agent-airlock/airlock/internal/markdown"
	"github.com/agent-airlock/airlock/internal/text"
)

// TimeLayout is how the headers of messages and the log give a time, in UTC.
const TimeLayout = "2006-01-02 15:04:05"

const signature = "Validation Orchestrator (recursive-communicator skill)"

// Markdown renders the message in the spec's form. Foreign texts cannot change its structure. But
// mentions and references in them, and a sender such as @tests, would act on GitHub: whatever
// publishes the message makes them inert first.
func (m Message) Markdown() string {
	var p page
	p.line("## " + spelling[m.Type].title)
	p.blank()
	switch m.Type {
	case StatusChange:
		p.field("Entity", m.Entity)
		p.field("Previous Status", string(m.Previous))
		p.field("New Status", string(m.New))
		p.field("Timestamp", m.Time.Format(TimeLayout))
		p.field("Reason", m.Why)
		return p.String()
	case TimeoutReminder:
		p.field("Message ID", m.ID)
		p.field("To", m.To)
		p.field("Elapsed", m.Elapsed.minutes())
		p.field("Timeout", m.Limit.minutes())
	case ErrorNotification:
		p.field("Error ID", m.ID)
		p.field("Error Type", m.Error.title())
		p.field("From", m.From)
		p.field("Context", m.Context)
		p.field("Timestamp", m.Time.Format(TimeLayout))
	default:
		p.field("Message ID", m.ID)
		p.field("From", m.From)
		p.field("To", m.To)
		p.field("Timestamp", m.Time.Format(TimeLayout))
		p.field("Priority", string(m.Priority))
	}
	p.rule()
	m.sections(&p)
	p.rule()
	switch m.Type {
	case FixCompletion:
		p.field("Sent by", "Feature Implementer Main Agent")
	case RevalidationResult:
		p.field("Sent by", m.Check.title())
	default:
		p.field("Sent by", signature)
	}
	switch m.Type {
	case FixRequest:
		p.field("Awaiting", "Fix completion signal")
	case Escalation:
		p.field("Awaiting", "User Decision")
	}
	return p.String()
}

// sections writes the part of the message between its two horizontal rules.
func (m Message) sections(p *page) {
	feature := "feature #" + strconv.Itoa(m.Issue)
	switch m.Type {
	case FailureReport:
		p.section("Failure Summary")
		p.text(m.Summary)
		p.section("Detailed Failures")
		p.failures(m.Failures, m.Omitted, "None.")
		p.section("Suggested Fixes")
		p.items(m.Suggestions)
		p.section("Actions Required")
		p.items(m.Actions)
	case FixRequest:
		p.section("Request Summary")
		p.line("Please fix the following validation failures for " + feature + ".")
		p.section("Failures to Fix")
		p.failures(m.Failures, m.Omitted, "None.")
		p.section("Suggested Approach")
		p.items(m.Suggestions)
		p.section("Expected Outcome")
		for _, line := range m.Expected {
			p.text(line)
		}
	case FixCompletion:
		p.section("Completion Summary")
		p.line(fmt.Sprintf("Fixes completed for %s, iteration %d.", feature, m.Iteration))
		p.section("Fixes Applied")
		p.numbered(m.Fixes, "None that was described.")
		p.section("Files Modified")
		p.list(m.Files, "None that is known.", func(_ int, file string) string { return "- " + markdown.CodeSpan(file) })
		p.section("Ready for Re-validation")
		p.line("Yes - please re-run " + orElse(names(m.Checks), "the checks") + ".")
	case RevalidationTrigger:
		p.section("Re-validation Request")
		p.line("Please re-run validation checks for " + feature + ".")
		p.section("Iteration")
		p.line(fmt.Sprintf("Current: %d / Max: %d", m.Iteration, m.Max))
		p.section("Previous Failures")
		p.failures(m.Failures, m.Omitted, "None is known: "+m.Why)
		p.section("Fixes Applied")
		p.numbered(m.Fixes, "None that was described.")
		p.section("Expected Outcome")
		p.line("- All previous failures resolved")
		p.line("- New status: PASS")
	case RevalidationResult:
		p.section("Result Summary")
		p.field("Status", string(m.Result))
		p.section("Details")
		if m.Result == Pass {
			p.line("All previous failures resolved.")
		} else {
			remain := " remain."
			n := len(m.Failures) + m.Omitted
			if n == 1 {
				remain = " remains."
			}
			p.line(text.Count(n, "failure") + remain)
			p.section("Failure Details")
			p.failures(m.Failures, m.Omitted, "None.")
		}
		p.section("Next Action")
		p.text(m.Next)
	case Success:
		p.section("Success Summary")
		p.line(fmt.Sprintf("Validation phase %s completed successfully after %s.", m.Check, text.Count(m.Iteration, "iteration")))
		p.section("Final Status")
		p.line("- All failures resolved")
		p.line("- Quality gates passed")
		p.line("- Total time: " + m.Elapsed.clock())
		p.section("Next Phase")
		p.text("Proceeding to: " + m.Next)
	case Escalation:
		p.section("Escalation Summary")
		p.field("Reason", string(m.Reason))
		p.field("Iterations", fmt.Sprintf("%d (all failed)", m.Iteration))
		p.field("Time", m.Elapsed.clock())
		p.section("Persistent Failures")
		p.failures(m.Failures, m.Omitted, "None is known.")
		p.section("Iteration History")
		p.history(m.History)
		p.section("Recommended Actions")
		p.items(m.Actions)
	case TimeoutReminder:
		p.section("Reminder")
		p.line(fmt.Sprintf("Operation [%s] has been running for %s.", m.Operation, m.Elapsed.minutes()))
		p.line(fmt.Sprintf("Expected completion within %s.", m.Limit.minutes()))
		p.blank()
		p.field("Current Status", string(m.Result))
		p.field("Action Required", "Complete operation or signal issue")
		p.blank()
		p.field("Escalation", fmt.Sprintf("If no response within %s, will escalate to user.", m.Grace.inWords()))
	case ErrorNotification:
		p.section("Error Details")
		p.field("Error Message", m.ErrorText)
		p.field("Context", m.Context)
		if m.Stack != "" {
			p.field("Stack Trace", "")
			p.blank()
			p.line(markdown.Fence("text", m.Stack))
		}
		p.section("Recovery Actions Attempted")
		p.numbered(m.Recovery, "None.")
		p.section("Current Status")
		recovered := "No"
		if m.Recovered {
			recovered = "Yes"
		}
		p.field("Recovered", recovered)
		p.field("Next Action", m.Next)
	}
}

// page is Markdown that is being written.
type page struct{ b strings.Builder }

func (p *page) String() string { return p.b.String() }

func (p *page) line(s string) { p.b.WriteString(s + "\n") }

func (p *page) blank() { p.b.WriteByte('\n') }

func (p *page) rule() { p.line("\n---\n") }

func (p *page) section(title string) {
	if !strings.HasSuffix(p.b.String(), "\n\n") {
		p.blank()
	}
	p.line("### " + title)
}

// text writes plain text on a line of its own.
func (p *page) text(s string) { p.line(markdown.EscapeText(s)) }

func (p *page) field(name, value string) {
	p.line(strings.TrimRight("**"+name+"**: "+markdown.EscapeText(value), " "))
}

func (p *page) items(list []string) {
	p.list(list, "None.", func(_ int, s string) string { return "- " + markdown.EscapeText(s) })
}

func (p *page) numbered(list []string, ifEmpty string) {
	p.list(list, ifEmpty, func(i int, s string) string { return strconv.Itoa(i+1) + ". " + markdown.EscapeText(s) })
}

// list writes a line for each text, as format makes it, or the line ifEmpty if there are no texts.
func (p *page) list(list []string, ifEmpty string, format func(i int, s string) string) {
	for i, s := range list {
		p.line(format(i, s))
	}
	if len(list) == 0 {
		p.line(ifEmpty)
	}
}

// isSameElsewhere reports whether two failures are of different checks, and otherwise the same
// except for their fingerprints.
func isSameElsewhere(a, b Failure) bool {
	isOther := a.Check != b.Check
	b.Check, b.Fingerprint = a.Check, a.Fingerprint
	return isOther && a == b
}

// failures writes a numbered list: check, severity, place and source, then the message, and its
// details and suggestion in fences. Failures that follow each other and differ only in their checks
// are written once, with all checks. Without any failures, not even omitted ones, it writes ifEmpty.
func (p *page) failures(list []Failure, omitted int, ifEmpty string) {
	if len(list) == 0 && omitted == 0 {
		p.text(ifEmpty)
	}
	for i, n := 0, 1; i < len(list); n++ {
		f, checks := list[i], []Check{list[i].Check}
		for i++; i < len(list) && isSameElsewhere(f, list[i]); i++ {
			checks = append(checks, list[i].Check)
		}
		mark := strconv.Itoa(n) + ". "
		line := mark + "**" + names(checks) + "**"
		if f.Severity != "" {
			line += " (" + string(f.Severity) + ")"
		}
		if place := f.place(); place != "" {
			line += " at " + markdown.CodeSpan(place)
		}
		if source := f.source(); source != "" {
			line += " by " + markdown.CodeSpan(source)
		}
		p.line(line + ": " + markdown.EscapeText(f.Message))
		indent := strings.Repeat(" ", len(mark))
		for _, extra := range []struct{ info, body string }{{"text", f.Details}, {replacement, f.Suggestion}} {
			if extra.body != "" {
				p.blank()
				p.line(indent + strings.ReplaceAll(markdown.Fence(extra.info, extra.body+"\n"), "\n", "\n"+indent))
			}
		}
	}
	if omitted > 0 {
		p.line("\nAnd " + text.Count(omitted, "more failure") + ".")
	}
}

// replacement is the info string of a fence with the text that should replace a failure's lines.
const replacement = "replacement"

func (p *page) history(rounds []Round) {
	if len(rounds) == 0 {
		p.line("No iteration has ended.")
		return
	}
	var rows [][]string
	for _, r := range rounds {
		var failing []string
		for _, c := range r.Failing {
			failing = append(failing, fmt.Sprintf("%s: %d", c.Check, c.Failures))
		}
		rows = append(rows, []string{strconv.Itoa(r.Iteration), strings.Join(failing, ", "), strconv.Itoa(r.Resolved), markdown.EscapeText(r.Fix)})
	}
	p.b.WriteString(markdown.Table([]string{"Iteration", "Failures", "Resolved", "Fix"}, rows))
	if rounds[0].Iteration > 1 {
		p.line("\nThe iterations before are in the log.")
	}
}
