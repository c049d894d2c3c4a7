package report

import (
	"strings"

	"github.com/agent-airlock/airlock/internal/apply"
	"github.com/agent-airlock/airlock/internal/markdown"
)

// writePlan is the plan as a table, with the exact requests.
func (r *Report) writePlan(b *strings.Builder) {
	b.WriteString("\n### Planned, not written\n\n")
	header, rows := r.plan.Table()
	for i, row := range rows[:min(len(rows), maxRows)] {
		cells := make([]string, len(row))
		last := len(row) - 1
		// In a dry run everything is staged, which the heading says.
		notes := strings.TrimSpace(strings.TrimPrefix(row[last], "staged: nothing is written"))
		row[last] = strings.Join(append([]string{notes}, r.itemNotes(r.plan.Operations[i])...), "\n")
		for j, cell := range row {
			var lines []string
			for _, line := range strings.Split(strings.TrimSpace(cell), "\n") {
				lines = append(lines, escaped(r.plain(line)))
			}
			cells[j] = strings.Join(lines, "<br>")
		}
		rows[i] = cells
	}
	b.WriteString(markdown.Table(header, rows[:min(len(rows), maxRows)]))
	writeMore(b, len(rows))
	for _, u := range r.plan.Unchecked {
		b.WriteString("\nUnchecked: " + escaped(r.plain(u)) + "\n")
	}
}

// willApply is the outcome that a plan gives to what would be done.
const willApply = "apply"

// itemNotes says of an operation's items what leaves no object on GitHub to tell of
// it, and what the doors left out of them.
func (r *Report) itemNotes(op apply.Operation) []string {
	var notes []string
	for _, m := range op.Items {
		if m.Outcome == willApply && m.Reason != "" {
			notes = append(notes, m.Reason)
		}
		notes = append(notes, r.notes[m.Index]...)
	}
	return notes
}

// writeMore says how many of n rows are not shown.
func writeMore(b *strings.Builder, n int) {
	if more := n - maxRows; more > 0 {
		b.WriteString("\n*… and " + itoa(more) + " more, in the results' JSON.*\n")
	}
}

// writeEarlier lists what the collecting job refused: its own summary may be on
// another page.
func (r *Report) writeEarlier(b *strings.Builder) {
	if len(r.Earlier) == 0 {
		return
	}
	b.WriteString("\n<details><summary>Refused when the lines were collected (" + itoa(len(r.Earlier)) + ")</summary>\n\n")
	for _, e := range r.Earlier[:min(len(r.Earlier), maxRows)] {
		b.WriteString("- " + escaped(r.words(e)) + "\n")
	}
	if more := len(r.Earlier) - maxRows; more > 0 {
		b.WriteString("- … and " + itoa(more) + " more\n")
	}
	b.WriteString("\n</details>\n")
}

// writeFallbacks shows the texts that GitHub did not take, so that none is lost.
// They are sanitized Markdown already. Each stands in a quote, so that no heading,
// open element or table of it can pose as a part of the summary.
func (r *Report) writeFallbacks(b *strings.Builder) {
	first := true
	for _, res := range r.Results {
		f := res.Fallback
		if f == nil {
			continue
		}
		if first {
			b.WriteString("\n### Not delivered, shown here instead\n")
			first = false
		}
		title := f.Title
		if f.Path != "" {
			title = f.Path + ":" + itoa(f.Line)
		}
		if title == "" {
			title = string(res.Kind)
		}
		b.WriteString("\n#### " + escaped(r.words(title)) + "\n\n")
		for line := range strings.Lines(strings.TrimRight(f.Text, "\n") + markdown.CloseOpen(f.Text)) {
			b.WriteString(strings.TrimRight("> "+strings.TrimRight(line, "\n"), " ") + "\n")
		}
	}
}

// PlainBlock shows plain text, such as an error, in Markdown exactly as it is.
func PlainBlock(s string) string { return markdown.Fence("text", s) + "\n" }
