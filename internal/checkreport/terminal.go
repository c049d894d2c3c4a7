package checkreport

import (
	"fmt"
	"io"
	"strings"

	"github.com/agent-airlock/airlock/internal/text"

	"github.com/agent-airlock/airlock/internal/phase"
)

// ANSI colours by their number.
const (
	bold   = "1"
	red    = "31"
	green  = "32"
	yellow = "33"
	dim    = "2"
)

// terminal writes lines and keeps the first error.
type terminal struct {
	w      io.Writer
	safe   SafeText
	colour bool
	err    error
}

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

// Text writes the document for a terminal or a log: the six checks, what failed and
// why, and what is to be done. It ends with the headline, so that it is read last.
// colour adds ANSI colours.
func (d *Document) Text(w io.Writer, safe SafeText, colour bool) error {
	t := &terminal{w: w, safe: safe, colour: colour}
	for _, r := range d.rows() {
		t.check(r)
	}
	for _, m := range d.Missing {
		t.printf("\nMissing: %s, for the %s check. Install it, or %s.\n", safe.Line(m.Tool), name(m.Check), safe.Line(m.instead()))
	}
	t.list("Notes", d.Notes)
	old := 0
	for _, f := range d.Findings {
		if !f.Blocking {
			old++
		}
	}
	if old > 0 {
		t.printf("\n%s on lines that did not change: not counted, listed in the findings document.\n", text.Count(old, "finding"))
	}
	var lines []string
	for _, s := range d.Suppressed {
		lines = append(lines, fmt.Sprintf("%s:%d %s (reason given: %s)", s.Path, s.Line, s.Rule, s.Reason))
	}
	t.list("Suppressed by a comment in the code", lines)
	lines = nil
	for _, s := range d.Skipped {
		lines = append(lines, s.Path+": "+s.Reason)
	}
	t.list("Changed files that were not reviewed", lines)
	mark, colourOf := "✓", green
	if d.Failed() {
		mark, colourOf = "✗", red
	}
	t.printf("\n%s %s (%s)\n", t.paint(colourOf, mark), t.paint(bold, d.Headline()), duration(ms(d.Output.Time)))
	return t.err
}

// check writes one line for a check, and below it what is wrong.
func (t *terminal) check(r row) {
	mark, colourOf := "✓", green
	switch {
	case r.status == phase.Skipped:
		mark, colourOf = "-", dim
	case r.status == phase.Fail && !r.informational:
		mark, colourOf = "✗", red
	case r.status == phase.Fail, r.flaky:
		mark, colourOf = "!", yellow
	}
	retries := ""
	if r.retries > 0 {
		retries = ", retried once"
		if r.retries > 1 {
			retries = fmt.Sprintf(", retried %d times", r.retries)
		}
	}
	t.printf("%s %-15s %-12s %8s%s", t.paint(colourOf, mark), name(r.check), r.result(), duration(r.time), retries)
	if r.command != "" {
		t.printf("   %s", t.paint(dim, t.safe.Line(cut(r.command, 120))))
	}
	t.printf("\n")
	if r.status == phase.Fail {
		t.entries(r.problems, r.more)
	}
	for _, n := range r.notes {
		t.printf("    note: %s\n", t.safe.Line(cut(n, 1000)))
	}
}

// entries writes a list, and how much of it is left out; unlisted are left out of it
// already.
func (t *terminal) entries(list []string, unlisted int) {
	for _, e := range list[:min(len(list), maxListed)] {
		t.printf("    %s\n", t.safe.Line(cut(strings.TrimSpace(e), 1000)))
	}
	if more := max(len(list)-maxListed, 0) + unlisted; more > 0 {
		t.printf("    … and %d more, in the findings document\n", more)
	}
}

func (t *terminal) list(title string, list []string) {
	if len(list) == 0 {
		return
	}
	t.printf("\n%s\n", t.paint(bold, title))
	t.entries(list, 0)
}
