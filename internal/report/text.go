package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/agent-airlock/airlock/internal/apply"
)

// Text writes the report for a terminal or a log: what was done, what was not
// and why. It ends with the headline, so that it is read last. colour adds ANSI
// colours.
func (r *Report) Text(w io.Writer, colour bool) error {
	t := &terminal{w: w, colour: colour}
	if rows := r.rows(apply.Applied, apply.Adopted); len(rows) > 0 {
		t.title("Done")
		for _, row := range rows {
			where := row.file
			if row.obj != nil {
				where = r.words(row.obj.URL)
			}
			t.row(green, "✓", row, row.asked, where, row.why)
		}
	}
	if rows := r.rows(apply.Staged); len(rows) > 0 && r.plan == nil {
		t.title("Planned, not written")
		for _, row := range rows {
			t.row(yellow, "·", row, row.asked)
		}
	}
	if rows := r.notDone(); len(rows) > 0 {
		t.title("Not done")
		for _, row := range rows {
			state := row.state
			if row.code != "" {
				state += " (" + r.words(row.code) + ")"
			}
			t.row(red, "✗", row, state+": "+row.why, row.file)
		}
	}
	if rows := r.cleaned(); len(rows) > 0 {
		t.title("Cleaned or repaired")
		for _, row := range rows {
			t.row(yellow, "~", row, row.why)
		}
	}
	var parts []string
	for _, p := range r.Counts.named() {
		if p.n > 0 {
			parts = append(parts, itoa(p.n)+" "+p.words)
		}
	}
	t.printf("\n%s", r.Headline())
	if len(parts) > 0 {
		t.printf(" (%s)", strings.Join(parts, ", "))
	}
	t.printf("\n")
	return t.err
}

// PlanText writes the plan for a terminal: every operation with its requests,
// without their bodies, then what could not be checked and the permissions that
// it needs.
func (r *Report) PlanText(w io.Writer, colour bool) error {
	t := &terminal{w: w, colour: colour}
	p := r.plan
	if p == nil {
		return nil
	}
	where := r.words(p.Repository)
	if where == "" {
		where = "an unknown repository"
	}
	t.printf("Plan for %s", where)
	if r.where != "" {
		t.printf(", %s", r.words(r.where))
	}
	t.printf("\n")
	for _, op := range p.Operations {
		var lines []string
		for _, m := range op.Items {
			lines = append(lines, itoa(m.Line))
		}
		word := "line"
		if len(lines) > 1 {
			word = "lines"
		}
		t.printf("\n%3d. %s  (%s %s → %s)\n", op.Number, t.paint(bold, string(op.Kind)), word, strings.Join(lines, ", "), r.words(op.Target))
		t.printf("     %s\n", r.words(op.Summary))
		for _, m := range op.Items {
			if m.Reason != "" {
				t.printf("     line %d %s: %s\n", m.Line, m.Outcome, r.words(m.Reason))
			}
		}
		for _, req := range op.Requests {
			t.printf("     %s %s\n", req.Method, r.words(req.Path))
		}
		for _, n := range op.Notes {
			t.printf("     note: %s\n", r.words(n))
		}
	}
	for _, u := range p.Unchecked {
		t.printf("\nUnchecked: %s\n", r.words(u))
	}
	if len(p.Permissions) > 0 {
		t.printf("\nThe job that applies this needs:\n\n%s", apply.PermissionsBlock(p.Permissions))
	}
	return t.err
}

// terminal writes lines and keeps the first error.
type terminal struct {
	w      io.Writer
	colour bool
	err    error
}

// ANSI colours by their number.
const (
	bold   = "1"
	red    = "31"
	green  = "32"
	yellow = "33"
)

func (t *terminal) printf(format string, args ...any) {
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

func (t *terminal) title(s string) { t.printf("\n%s\n", t.paint(bold, s)) }

// row writes one item: its mark, line and kind, and the details that are not
// empty below.
func (t *terminal) row(colour, mark string, r row, details ...string) {
	line := ""
	if r.line > 0 {
		line = "line " + itoa(r.line) + "  "
	}
	t.printf("  %s %s%s\n", t.paint(colour, mark), line, r.kind)
	for _, d := range details {
		if d != "" {
			t.printf("      %s\n", d)
		}
	}
}
