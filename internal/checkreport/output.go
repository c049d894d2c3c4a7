package checkreport

import (
	"strings"

	"github.com/agent-airlock/airlock/internal/phase"
)

// Output is the part of a check's output in which failing began, and its end.
type Output struct{ Title, Text string }

// Outputs returns what the failed checks printed, fit to be shown.
func (d *Document) Outputs(words Words) []Output {
	var out []Output
	for _, c := range d.Checks {
		if text := strings.TrimSpace(c.output()); c.Status == phase.Fail && text != "" {
			out = append(out, Output{inRoot(words.Line(c.Root), name(c.Check)+": output of "+words.Line(cut(c.Command, 120))), words.Code(cut(text, maxExcerpt))})
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
