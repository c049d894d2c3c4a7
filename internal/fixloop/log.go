package fixloop

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/agent-airlock/airlock/internal/markdown"
	"github.com/agent-airlock/airlock/internal/text"
)

// LogVersion is the version of a log's JSON. Members are added, never renamed.
const LogVersion = 1

// Log is the communication log of a loop. It has every message and every change of a status, oldest
// first, and statistics of the loop.
type Log struct {
	Version    int        `json:"version"`
	Repository string     `json:"repository,omitempty"`
	Issue      int        `json:"issue"`
	Ordinal    int        `json:"ordinal"`
	Title      string     `json:"title,omitempty"`
	Status     Status     `json:"status"`
	Outcome    Outcome    `json:"outcome,omitempty"`
	Reason     Reason     `json:"escalation_reason,omitempty"`
	Started    time.Time  `json:"started,omitzero"`
	Completed  time.Time  `json:"completed,omitzero"` // zero while the loop runs
	Duration   Duration   `json:"duration_seconds"`   // until now while the loop runs
	Iteration  int        `json:"iteration"`
	Max        int        `json:"max_iterations"`
	Messages   []Message  `json:"messages"`
	Statistics Statistics `json:"statistics"`
}

// Statistics count what a log contains.
type Statistics struct {
	Messages             int `json:"messages"` // without changes of a status
	FailureReports       int `json:"failure_reports"`
	FixRequests          int `json:"fix_requests"`
	FixCompletions       int `json:"fix_completions"`
	RevalidationTriggers int `json:"revalidation_triggers"`
	RevalidationResults  int `json:"revalidation_results"`
	Successes            int `json:"success_notifications"`
	Escalations          int `json:"escalations"`
	Reminders            int `json:"timeout_reminders"`
	Errors               int `json:"error_notifications"`
	StatusChanges        int `json:"status_changes"`
	// Validating, Fixing and Deciding are how long the loop was validating, waited for a fix,
	// and waited for a decision.
	Validating Duration `json:"validating_seconds"`
	Fixing     Duration `json:"fixing_seconds"`
	Deciding   Duration `json:"deciding_seconds"`
}

// NewLog returns the log of a loop from its state and all its messages, oldest first. What has not
// ended is measured until now.
func NewLog(s State, messages []Message, now time.Time) Log {
	d := &s.doc
	l := Log{
		Version: LogVersion, Repository: d.Loop.Repository, Issue: d.Loop.Issue, Ordinal: d.Loop.Ordinal, Title: d.Loop.Title,
		Status: d.Status, Outcome: d.Outcome, Reason: d.Reason, Started: d.Started, Completed: d.Ended,
		Iteration: d.Iteration, Max: d.Max, Messages: append([]Message{}, messages...),
	}
	if !d.Started.IsZero() {
		l.Duration = seconds(l.end(now).Sub(d.Started))
	}
	l.count(l.end(now))
	return l
}

// end returns when the loop ended, or now if it has not.
func (l *Log) end(now time.Time) time.Time {
	if !l.Completed.IsZero() {
		return l.Completed
	}
	return now
}

func (l *Log) count(end time.Time) {
	n := &l.Statistics
	counters := map[Type]*int{
		FailureReport: &n.FailureReports, FixRequest: &n.FixRequests, FixCompletion: &n.FixCompletions, RevalidationTrigger: &n.RevalidationTriggers,
		RevalidationResult: &n.RevalidationResults, Success: &n.Successes, Escalation: &n.Escalations, TimeoutReminder: &n.Reminders,
		ErrorNotification: &n.Errors, StatusChange: &n.StatusChanges,
	}
	status, since := Pending, l.Started
	spend := func(until time.Time) {
		d := seconds(until.Truncate(time.Second).Sub(since.Truncate(time.Second)))
		switch status {
		case InProgress, ReChecking:
			n.Validating += d
		case AwaitingFix, Fixing:
			n.Fixing += d
		case Escalated:
			n.Deciding += d
		}
	}
	for _, m := range l.Messages {
		if c := counters[m.Type]; c != nil {
			*c++
		}
		if m.Counts() {
			n.Messages++
		}
		if m.After != status && m.After != "" {
			spend(m.Time)
			status, since = m.After, m.Time
		}
	}
	spend(end)
}

// LogEntry renders the message's log entry in the spec's form.
func (m Message) LogEntry() string {
	var p page
	p.line("## Communication Log Entry")
	p.blank()
	p.field("Entry ID", m.Entry)
	p.field("Timestamp", m.Time.Format(TimeLayout))
	p.blank()
	p.line("**Participants**:")
	p.line("- Sender: " + markdown.EscapeText(m.From))
	p.line("- Recipient: " + markdown.EscapeText(m.To))
	p.blank()
	p.field("Message Type", spelling[m.Type].title)
	p.field("Message ID", orElse(m.ID, "none"))
	p.blank()
	p.field("Summary", m.Summary)
	p.blank()
	p.field("Status Before", string(m.Before))
	p.field("Status After", string(m.After))
	p.blank()
	p.field("Iteration", fmt.Sprintf("%d/%d", m.Iteration, m.Max))
	return p.String()
}

// kind returns the message's type in words; for a re-validation result, with the result.
func (m Message) kind() string {
	kind := spelling[m.Type].kind
	if m.Type == RevalidationResult {
		kind += " (" + string(m.Result) + ")"
	}
	return kind
}

// Page returns Markdown for files and job summaries, where GitHub joins lines that follow each
// other, unlike in comments: fields stay on lines of their own.
func (l Log) Page() string {
	lines := strings.SplitAfter(l.Markdown(), "\n")
	for i, line := range lines[:len(lines)-1] {
		if strings.HasPrefix(line, "**") && strings.HasPrefix(lines[i+1], "**") {
			lines[i] = strings.TrimSuffix(line, "\n") + "  \n"
		}
	}
	return strings.Join(lines, "")
}

// Markdown renders the full communication log in the spec's form, with a table of the
// changes of the loop's own status.
func (l Log) Markdown() string {
	var p page
	number := "#" + strconv.Itoa(l.Issue)
	p.line("## Full Communication Log: Feature " + number)
	p.blank()
	p.line(strings.TrimSuffix("**Issue**: "+number+" - "+markdown.EscapeText(l.Title), " - "))
	p.field("Started", clockTime(l.Started))
	p.field("Completed", clockTime(l.Completed))
	p.field("Total Duration", l.Duration.clock())
	p.field("Total Messages", strconv.Itoa(l.Statistics.Messages))
	p.field("Total Iterations", strconv.Itoa(l.Iteration))
	p.rule()
	p.section("Chronological Message Log")
	for _, m := range l.Messages {
		if !m.Counts() {
			continue
		}
		p.blank()
		p.line("**[" + m.Time.Format(TimeLayout) + "]** " + markdown.EscapeText(m.From) + " → " + markdown.EscapeText(m.To) + ": " + m.kind())
		p.line("- Message ID: " + m.ID)
		p.line("- Summary: " + markdown.EscapeText(m.Summary))
	}
	p.section("Status Changes")
	p.blank()
	var rows [][]string
	for _, m := range l.Messages {
		if m.Type == StatusChange && m.Check == "" {
			rows = append(rows, []string{m.Time.Format(TimeLayout), fmt.Sprintf("%d/%d", m.Iteration, m.Max), string(m.Previous), string(m.New), markdown.EscapeText(m.Why)})
		}
	}
	p.b.WriteString(markdown.Table([]string{"Time", "Iteration", "From", "To", "Reason"}, rows))
	p.rule()
	p.section("Communication Statistics")
	p.blank()
	n := l.Statistics
	for _, c := range []struct {
		name   string
		n      int
		always bool
	}{
		{"Total Messages", n.Messages, true}, {"Failure Reports", n.FailureReports, true}, {"Fix Requests", n.FixRequests, true},
		{"Fix Completions", n.FixCompletions, true}, {"Re-validation Triggers", n.RevalidationTriggers, true},
		{"Re-validation Results", n.RevalidationResults, true}, {"Success Notifications", n.Successes, true},
		{"Escalations", n.Escalations, false}, {"Timeout Reminders", n.Reminders, false}, {"Error Notifications", n.Errors, false},
	} {
		if c.always || c.n > 0 {
			p.field(c.name, strconv.Itoa(c.n))
		}
	}
	p.blank()
	p.field("Time Validating", n.Validating.clock())
	p.field("Time Waiting for Fixes", n.Fixing.clock())
	if n.Deciding > 0 {
		p.field("Time Waiting for Decisions", n.Deciding.clock())
	}
	p.blank()
	p.field("Iterations", l.iterations())
	p.field("Outcome", l.outcome())
	return p.String()
}

func clockTime(t time.Time) string {
	if t.IsZero() {
		return "not yet"
	}
	return t.UTC().Format(TimeLayout)
}

func (l Log) iterations() string {
	if l.Iteration == 0 {
		return "0"
	}
	retries := "retries"
	if l.Iteration == 2 {
		retries = "retry"
	}
	return fmt.Sprintf("%d (1 initial + %d %s)", l.Iteration, l.Iteration-1, retries)
}

// outcome describes how the loop ended, or how it stands.
func (l Log) outcome() string {
	switch l.Outcome {
	case Succeeded:
		return "Success (all validations passed)"
	case KnownIssues:
		return "Skipped (completed with known issues)"
	case Aborted:
		return "Aborted"
	case ClosedByPull:
		return "Closed (the pull request was closed)"
	case MergedByPull:
		return "Merged (the pull request was merged)"
	}
	if l.Status == Escalated {
		return "Escalated (" + string(l.Reason) + "), awaiting a decision"
	}
	return "Running (" + string(l.Status) + ")"
}

// Headline describes the loop in one line.
func (l Log) Headline() string {
	name := "#" + strconv.Itoa(l.Issue)
	if l.Repository != "" {
		name = l.Repository + name
	}
	return text.OneLine(fmt.Sprintf("%s, loop %d: %s, iteration %d of %d", name, l.Ordinal, l.outcome(), l.Iteration, l.Max))
}
