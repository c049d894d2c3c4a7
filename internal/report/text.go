package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/agent-airlock/airlock/internal/apply"
)

// Text writes the report for a terminal or a log: what was done, and what was not done and why.
// It ends with the headline. colour adds ANSI colours.
func (r *Report) Text(w io.Writer, colour bool) error {
	t := &terminal{w: w, colour: colour}
	t.rows("Done", r.rows(apply.Applied, apply.Adopted), func(row row) {
		where := row.file
		if url := row.url(); url != "" {
			where = r.safe(url)
			if row.state == string(apply.Adopted) {
				where += " (already there)"
			}
		}
		t.row(green, "✓", row, append([]string{row.asked, where}, row.reasons()...)...)
	})
	if !r.DryRun { // otherwise the plan shows it
		t.rows("Planned, not written", r.rows(apply.Staged), func(row row) { t.row(yellow, "·", row, append([]string{row.asked}, row.reasons()...)...) })
		t.stagedTexts(r)
	}
	t.rows("Not done", r.notDone(), func(row row) {
		state := row.state
		if row.code != "" {
			state += " (" + r.safe(row.code) + ")"
		}
		t.row(red, "✗", row, slices.Concat([]string{state + ": " + row.why}, row.notes, []string{row.file})...)
	})
	t.rows(r.ownTitle(), r.ownRows(), func(row row) {
		colour, mark := ownMark(row.state)
		t.row(colour, mark, row, append([]string{strings.TrimSuffix(row.state+": "+row.asked, ": "), r.safe(row.url())}, row.reasons()...)...)
	})
	t.rows("Cleaned or repaired", r.cleaned(), func(row row) { t.row(yellow, "~", row, row.why) })
	if r.Unconfigured {
		t.title("How to enable it")
		t.printf("%s in a file for --config, or in the action's input config:\n\n%s", unconfigured, r.kindsAsked())
	}
	if block := r.permissionsToGrant(); block != "" && !r.DryRun {
		t.title("Permissions")
		t.printf("The job needs:\n\n%s", block)
	}
	t.gap()
	t.printf("%s", r.Headline())
	var parts []string
	for _, p := range r.Counts.named() {
		parts = append(parts, itoa(p.n)+" "+p.name)
	}
	if len(parts) > 0 {
		t.printf(" (%s)", strings.Join(parts, ", "))
	}
	t.printf("\n")
	return t.err
}

// PlanText writes the plan for a terminal: every operation with its requests and the texts as they
// would be posted, with marks where they were cleaned. Then come the things that could not be
// checked, and the permissions that the plan needs.
func (r *Report) PlanText(w io.Writer, colour bool) error {
	t := &terminal{w: w, colour: colour}
	p := r.plan
	if p == nil || len(p.Operations) == 0 {
		return nil
	}
	t.printf("Plan for %s", cmp.Or(r.safe(p.Repository), "an unknown repository"))
	if r.where != "" {
		t.printf(", %s", r.safe(r.where))
	}
	t.printf("\n")
	for _, op := range p.Operations {
		t.printf("\n%3d. %s  (%s → %s)\n", op.Number, t.paint(bold, string(op.Kind)), lineNumbers(op.Items), r.safe(op.Target))
		t.printf("     %s\n", r.plain(op.Summary))
		for _, m := range op.Items {
			if m.Reason != "" && m.Outcome != apply.OutcomeApply {
				t.printf("     %s %s: %s\n", lineNumbers([]apply.Member{m}), m.Outcome, r.plain(m.Reason))
			}
		}
		for _, req := range op.Requests {
			t.printf("     %s %s\n", req.Method, r.safe(req.Path))
		}
		t.itemTexts(r, op)
		for _, n := range slices.Concat(op.Notes, r.itemNotes(op)) {
			t.printf("     note: %s\n", r.plain(n))
		}
	}
	for _, u := range p.Unchecked {
		t.printf("\nUnchecked: %s\n", r.safe(u))
	}
	if len(p.Permissions) > 0 {
		t.printf("\nThe job that applies this needs:\n\n%s", apply.PermissionsBlock(p.Permissions))
	}
	return t.err
}

// lineOf names the line that an item comes from, or the checks.
func lineOf(line int) string {
	if line == 0 {
		return "checks"
	}
	return itoa(line)
}

// lineNumbers names the lines that an operation comes from, the first ten of them.
func lineNumbers(items []apply.Member) string {
	const most = 10
	switch {
	case !slices.ContainsFunc(items, func(m apply.Member) bool { return m.Line != 0 }):
		return lineOf(0)
	case len(items) == 1:
		return "line " + itoa(items[0].Line)
	}
	var lines []string
	for _, m := range items[:min(len(items), most)] {
		lines = append(lines, lineOf(m.Line))
	}
	out := "lines " + strings.Join(lines, ", ")
	if more := len(items) - most; more > 0 {
		out += " and " + itoa(more) + " more"
	}
	return out
}

// terminal writes lines and keeps the first error.
type terminal struct {
	w      io.Writer
	colour bool
	begun  bool // something was written
	err    error
}

// maxTerminalRows is the largest number of rows of one section. The JSON form contains all of them.
const maxTerminalRows = 500

// ANSI colours by their number.
const (
	bold   = "1"
	red    = "31"
	green  = "32"
	yellow = "33"
)

func (t *terminal) printf(format string, args ...any) {
	t.begun = true
	if t.err == nil {
		_, t.err = fmt.Fprintf(t.w, format, args...)
	}
}

func (t *terminal) paint(code, s string) string {
	if !t.colour {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

// gap separates what follows from what was written before.
func (t *terminal) gap() {
	if t.begun {
		t.printf("\n")
	}
}

func (t *terminal) title(s string) {
	t.gap()
	t.printf("%s\n", t.paint(bold, s))
}

// rows writes a section, unless it is empty.
func (t *terminal) rows(title string, rows []row, write func(row)) {
	if len(rows) == 0 {
		return
	}
	t.title(title)
	for _, r := range rows[:min(len(rows), maxTerminalRows)] {
		write(r)
	}
	if more := len(rows) - maxTerminalRows; more > 0 {
		t.printf("  … and %d more, in the results' JSON\n", more)
	}
}

// row writes one item: its mark, line and kind, and below them the details that are not empty.
func (t *terminal) row(colour, mark string, r row, details ...string) {
	name := r.kind
	if r.line > 0 {
		name = strings.TrimSpace("line " + itoa(r.line) + "  " + r.kind)
	}
	t.printf("  %s %s\n", t.paint(colour, mark), name)
	for _, d := range details {
		if d != "" {
			t.printf("      %s\n", d)
		}
	}
}

func ownMark(state string) (colour, mark string) {
	switch apply.State(state) {
	case apply.Applied, apply.Adopted:
		return green, "✓"
	case apply.Failed:
		return red, "✗"
	}
	return yellow, "·"
}
