package checkreport

import (
	"fmt"
	"strings"
	"time"

	"github.com/agent-airlock/airlock/internal/finding"
	"github.com/agent-airlock/airlock/internal/phase"
	"github.com/agent-airlock/airlock/internal/text"
)

// row is one of the six checks over all roots, as every reader sees it.
type row struct {
	check         phase.Check
	status        phase.Status
	informational bool
	flaky         bool
	time          time.Duration
	retries       int
	command       string
	problems      []string
	more          int // problems that are not among them
	failing       int
	severity      finding.Severity // of a review
	notes         []string
}

// rows returns the six checks.
func (d *Document) rows() []row {
	o := d.Output.Checks
	ms := func(n int64) time.Duration { return time.Duration(n) * time.Millisecond }
	rows := []row{
		{check: phase.Formatter, status: o.Formatter.Status, time: ms(o.Formatter.Time), retries: o.Formatter.Retries, command: o.Formatter.Command, problems: o.Formatter.Issues},
		{check: phase.Linter, status: o.Linter.Status, time: ms(o.Linter.Time), retries: o.Linter.Retries, command: o.Linter.Command, problems: o.Linter.Issues},
		{check: phase.Build, status: o.Build.Status, time: ms(o.Build.Time), retries: o.Build.Retries, command: o.Build.Command, problems: o.Build.Errors},
		{check: phase.Tests, status: o.Tests.Status, time: ms(o.Tests.Time), retries: o.Tests.Retries, command: o.Tests.Command, failing: o.Tests.Failing},
		{check: phase.CodeReview, status: o.CodeReview.Status, time: ms(o.CodeReview.Time), problems: o.CodeReview.Findings, severity: o.CodeReview.Severity},
		{check: phase.SecurityReview, status: o.SecurityReview.Status, time: ms(o.SecurityReview.Time), problems: o.SecurityReview.Vulnerabilities, severity: o.SecurityReview.Severity},
	}
	for i := range rows {
		r := &rows[i]
		for _, c := range d.Checks {
			if c.Check != r.check {
				continue
			}
			r.informational, r.flaky = r.informational || c.Informational, r.flaky || c.Flaky
			for _, n := range c.Notes {
				r.notes = append(r.notes, inRoot(c.Root, n))
			}
			if note := c.rewrote(); note != "" {
				r.notes = append(r.notes, inRoot(c.Root, note))
			}
			if c.Check == phase.Tests && c.Status == phase.Fail {
				r.problems = append(r.problems, testProblems(c)...)
			}
		}
		r.problems, r.more = countMore(r.problems)
	}
	return rows
}

// countMore takes out of a list of problems what only says how many are left out, and
// returns the number.
func countMore(list []string) (problems []string, more int) {
	for _, p := range list {
		if n, ok := phase.LeftOut(p); ok {
			more += n
			continue
		}
		problems = append(problems, p)
	}
	return problems, more
}

// rewrote says which files a fix or the command itself has changed, so that nobody commits unawares what
// they did not write; "" where none did.
func (c Check) rewrote() string {
	const most = 10
	who := "the fix"
	switch {
	case len(c.Rewritten) == 0:
		return ""
	case c.Retries == 0 && c.Status == phase.Pass:
		who = "the command" // which writes as it checks
	case c.Retries == 0: // what it rewrote is why it failed
		return ""
	}
	text := who + " has changed " + strings.Join(c.Rewritten[:min(len(c.Rewritten), most)], ", ")
	if more := len(c.Rewritten) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// testProblems names the failing tests, or else says how the command ended.
func testProblems(c Check) []string {
	var out []string
	for _, f := range c.Failures {
		text := strings.TrimSpace(f.Name)
		if text == "" {
			text = f.Unit
		}
		if f.Path != "" && f.Line > 0 {
			text += fmt.Sprintf(" at %s:%d", f.Path, f.Line)
		}
		if first, _, _ := strings.Cut(strings.TrimSpace(f.Message), "\n"); first != "" {
			text += ": " + first
		}
		out = append(out, inRoot(c.Root, text))
	}
	if len(out) == 0 {
		for _, p := range c.Problems {
			out = append(out, inRoot(c.Root, p))
		}
	}
	return out
}

// inRoot says where a text is from, unless there is one root only.
func inRoot(root, text string) string {
	if root == "." || root == "" {
		return text
	}
	return root + ": " + text
}

// result says in a word or two how a check ended.
func (r row) result() string {
	switch {
	case r.status == phase.Skipped:
		return "skipped"
	case r.status == phase.Pass && r.flaky:
		return "flaky"
	case r.status == phase.Pass:
		return "pass"
	case r.check == phase.Tests && r.failing > 0:
		return text.Count(r.failing, "failure")
	case r.check == phase.Formatter:
		return "fail"
	case len(r.problems) > 0:
		return text.Count(len(r.problems)+r.more, "problem")
	}
	return "fail"
}

// failed returns the checks that failed: those that fail the whole, and all.
func failed(rows []row) (blocking, all []row) {
	for _, r := range rows {
		if r.status == phase.Fail {
			all = append(all, r)
			if !r.informational {
				blocking = append(blocking, r)
			}
		}
	}
	return blocking, all
}

// SafeText makes strangers' texts safe to show. Both functions are required.
type SafeText struct {
	// Line is for a text of one line: no control character, no live mention, no
	// secret.
	Line func(string) string
	// Code is for many lines of code or of a program's output, which are shown as
	// they are: no control character, no secret.
	Code func(string) string
}

// name is a check's name for people.
func name(c phase.Check) string { return strings.ReplaceAll(string(c), "_", " ") }

// Headline says in one line how it ended.
func (d *Document) Headline() string {
	rows := d.rows()
	blocking, all := failed(rows)
	skipped := 0
	for _, r := range rows {
		if r.status == phase.Skipped {
			skipped++
		}
	}
	names := func(rows []row) string {
		var out []string
		for _, r := range rows {
			out = append(out, name(r.check))
		}
		return strings.Join(out, ", ")
	}
	switch {
	case len(blocking) > 0:
		return fmt.Sprintf("%d of 6 checks failed: %s", len(blocking), names(blocking))
	case d.Failed():
		return "the checks failed"
	case len(all) > 0:
		return "the checks passed, but for " + names(all) + ", which only informs"
	case skipped > 0:
		return fmt.Sprintf("%d checks passed, %d skipped", 6-skipped, skipped)
	}
	return "all 6 checks passed"
}

// duration is a time for people: "0.4 s", "12 s", "3 min 5 s".
func duration(d time.Duration) string {
	switch {
	case d < 50*time.Millisecond:
		return "0.0 s"
	case d < 10*time.Second:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d < time.Minute:
		return fmt.Sprintf("%.0f s", d.Seconds())
	}
	d = d.Round(time.Second)
	return fmt.Sprintf("%d min %d s", d/time.Minute, d%time.Minute/time.Second)
}

// place names where a finding is.
func (f Finding) place() string {
	switch {
	case f.Path == "":
		return ""
	case f.StartLine == 0:
		return f.Path
	case f.EndLine > f.StartLine:
		return fmt.Sprintf("%s:%d-%d", f.Path, f.StartLine, f.EndLine)
	}
	return fmt.Sprintf("%s:%d", f.Path, f.StartLine)
}

// instead says what an owner does who has not the tool.
func (m MissingTool) instead() string {
	check, ok := strings.CutSuffix(m.Override, "_command")
	if !ok { // of a reviewer that plugs in
		return "change " + m.Override + " in the configuration"
	}
	return fmt.Sprintf("name another command by %s-command under checks in the configuration, or by the flag --%[1]s-command", check)
}

// cut shortens a text to about n bytes.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "…"
}

// Output is the part of a check's output in which failing began, and its end.
type Output struct{ Title, Text string }

// Outputs returns what the failed checks printed, fit to be shown.
func (d *Document) Outputs(safe SafeText) []Output {
	var out []Output
	for _, c := range d.Checks {
		if text := strings.TrimSpace(c.output()); c.Status == phase.Fail && text != "" {
			out = append(out, Output{inRoot(safe.Line(c.Root), name(c.Check)+": output of "+safe.Line(cut(c.Command, 120))), safe.Code(cut(text, maxExcerpt))})
		}
	}
	return out
}

// output returns the part of a check's output that people can read. JSON is for
// programs: where it was understood, what it says of the failures stands in its
// place.
func (c Check) output() string {
	text := strings.TrimSpace(c.Excerpt)
	if len(c.Problems) == 0 {
		return text
	}
	if !strings.HasPrefix(text, "{") && !strings.HasPrefix(text, "[") {
		return withoutRecords(text)
	}
	var b strings.Builder
	for _, f := range c.Failures {
		if message := strings.Trim(f.Message, "\n"); message != "" {
			b.WriteString("--- " + strings.TrimSpace(f.Unit+" "+f.Name) + "\n" + message + "\n")
		}
	}
	return b.String()
}

// withoutRecords leaves out lines that are lists of JSON objects, such as the linter's
// below what npx says of itself.
func withoutRecords(text string) string {
	var lines []string
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, `[{"`) {
			lines = append(lines, line)
		}
	}
	return strings.TrimSpace(strings.Join(lines, ""))
}
