package doctor

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/agent-airlock/airlock/internal/text"
)

// Text writes a report for a person, with ANSI colours if colour is set. width is that of the
// terminal, 0 where w is not one.
func (r Report) Text(w io.Writer, width int, colour bool) error {
	b := &strings.Builder{}
	for _, f := range r.Findings {
		label := string(f.Severity)
		if colour {
			label = f.Severity.colour() + label + "\x1b[0m"
		}
		fmt.Fprintf(b, "%s%s: %s\n", r.place(f), label, text.Wrap(f.What, "  ", width))
		fmt.Fprintf(b, "  why:  %s\n", text.Wrap(f.Why, "        ", width))
		mend, example, _ := strings.Cut(f.Mend, "\n")
		fmt.Fprintf(b, "  mend: %s\n", text.Wrap(mend, "        ", width))
		if example != "" {
			fmt.Fprintf(b, "    %s\n", strings.ReplaceAll(example, "\n", "\n    "))
		}
		fmt.Fprintln(b)
	}
	looked := text.Count(len(r.Workflows), "workflow") + " with Airlock"
	if r.Repository != "" {
		looked += " and the settings of " + r.Repository
	}
	fmt.Fprintf(b, "Looked at %s: %s, %s.\n", looked, text.Count(r.Problems(), "problem"), text.Count(r.count(Advice), "piece")+" of advice")
	if r.Repository == "" && len(r.Workflows) > 0 {
		fmt.Fprintln(b, "With --repo OWNER/NAME and a token, the settings on GitHub are looked at too.")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// place returns where a finding is, as the beginning of a line.
func (r Report) place(f Finding) string {
	place := f.File
	if f.Line > 0 {
		place += fmt.Sprintf(":%d", f.Line)
	}
	if place = cmp.Or(place, r.Repository); place == "" {
		return ""
	}
	return text.OneLine(place) + ": "
}

// colour returns the ANSI sequence that begins the colour of a severity.
func (s Severity) colour() string {
	if s == Problem {
		return "\x1b[31m" // red
	}
	return "\x1b[33m" // yellow
}
