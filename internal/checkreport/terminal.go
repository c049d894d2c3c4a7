package checkreport

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/agent-airlock/airlock/internal/pages"
	"github.com/agent-airlock/airlock/internal/phase"
	"github.com/agent-airlock/airlock/internal/text"
)

// ANSI colours and styles by their number.
const (
	bold   = "1"
	red    = "31"
	green  = "32"
	yellow = "33"
	dim    = "2"
)

// terminal is what will be written to a terminal.
type terminal struct {
	b      bytes.Buffer
	safe   SafeText
	colour bool
}

func (t *terminal) printf(format string, args ...any) { fmt.Fprintf(&t.b, format, args...) }

func (t *terminal) paint(colour, s string) string {
	if !t.colour {
		return s
	}
	return "\x1b[" + colour + "m" + s + "\x1b[0m"
}

// Text writes the document for a terminal or a log: the six checks, the failed ones first and
// the most severe of these first, what failed and why, and what to do. The headline comes
// last, where it is read first. colour adds ANSI colours.
func (d *Document) Text(w io.Writer, safe SafeText, colour bool) error {
	t := &terminal{safe: safe, colour: colour}
	for _, r := range d.failedRows() {
		t.check(r)
	}
	for _, r := range d.rows() {
		if r.status != phase.Fail {
			t.check(r)
		}
	}
	for _, m := range d.Missing {
		t.printf("\nMissing: %s, for the %s check. Install it, or %s.\n", safe.Line(m.Tool), checkName(m.Check), safe.Line(m.alternative()))
	}
	t.list("Notes", d.Notes)
	old := 0
	for _, f := range d.Findings {
		if !f.Blocking {
			old++
		}
	}
	if old > 0 {
		t.printf("\nNot counted: %s on lines that did not change, or of a check that passed. The findings document lists all.\n", text.Count(old, "finding"))
	}
	t.list(suppressedTitle, textsOf(d.Suppressed, func(s Suppressed) string {
		return fmt.Sprintf("%s:%d %s (%s)", s.Path, s.Line, s.Rule, s.reason())
	}))
	adds, takesOut := d.suppressions()
	t.list(newSuppressionsTitle, textsOf(adds, NewSuppression.line))
	t.list(takenOutTitle, textsOf(takesOut, NewSuppression.line))
	t.list(skippedTitle, textsOf(d.Skipped, Skipped.line))
	mark := t.paint(green, "✓")
	if d.Failed() {
		mark = t.paint(red, "✗")
	}
	t.printf("\n%s %s (%s)\n", mark, t.paint(bold, d.Headline()), duration(millis(d.Output.Time)))
	_, err := t.b.WriteTo(w)
	return err
}

// check writes one line for a check, and below it the problems, if it failed, and the notes.
func (t *terminal) check(r row) {
	mark := t.paint(green, "✓")
	switch r.level() {
	case pages.Idle:
		mark = t.paint(dim, "-")
	case pages.Warn:
		mark = t.paint(yellow, "!")
	case pages.Bad:
		mark = t.paint(red, "✗")
	}
	retries := ""
	switch {
	case r.retries == 1:
		retries = ", retried once"
	case r.retries > 1:
		retries = fmt.Sprintf(", retried %d times", r.retries)
	}
	t.printf("%s %-15s %-12s %8s%s", mark, checkName(r.check), r.result(), duration(r.time), retries)
	if r.command != "" {
		t.printf("   %s", t.paint(dim, t.safe.Line(text.Truncate(r.command, 120))))
	}
	t.printf("\n")
	if r.status == phase.Fail {
		t.entries(r.problems, r.unlisted)
	}
	for _, n := range r.notes {
		t.printf("    note: %s\n", t.safe.Line(text.Truncate(n, 1000)))
	}
}

func (t *terminal) list(title string, list []string) {
	if len(list) > 0 {
		t.printf("\n%s\n", t.paint(bold, title))
		t.entries(list, 0)
	}
}

// entries writes at most maxListed entries of a list, and how many are left out. unlisted is the
// number of entries that the list itself does not have.
func (t *terminal) entries(list []string, unlisted int) {
	shown, left := head(list, maxListed)
	for _, e := range shown {
		t.printf("    %s\n", t.safe.cutLine(strings.TrimSpace(e), 1000))
	}
	if more := left + unlisted; more > 0 {
		t.printf("    … and %d more, in the findings document\n", more)
	}
}
