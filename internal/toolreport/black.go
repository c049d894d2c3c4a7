package toolreport

import (
	"regexp"
	"strings"

	"github.com/agent-airlock/airlock/internal/finding"
)

// blackReader reads black --check, --diff, and ruff format, which prints alike.
type blackReader struct {
	c     *collector
	place *regexp.Regexp
	diff  diffReader
}

func newBlack(c *collector) lineReader {
	return &blackReader{c, regexp.MustCompile(`^error: cannot format (.+?): (?:Cannot parse[^:]*: (\d+):(\d+): )?(.*)$`), newDiff(c)}
}

func (b *blackReader) line(line string) {
	if b.diff.take(line) {
		return
	}
	line = clip(line, maxText)
	if path, ok := strings.CutPrefix(line, "would reformat "); ok {
		b.c.add(finding.Finding{Path: path, Message: Unformatted, Severity: finding.Low})
	} else if m := findAt(b.place, "error: cannot format ", line); m != nil {
		message := m[4]
		b.c.broken = true
		if m[2] != "" {
			message = "cannot be parsed: " + message
		}
		b.c.add(finding.Finding{Path: m[1], Message: message, Severity: finding.High, Range: finding.Range{StartLine: number(m[2]), StartColumn: number(m[3])}})
	} else if strings.HasPrefix(line, "All done!") || strings.HasPrefix(line, "Oh no!") || startsWithAny(line, []string{"# file would be", "# files would be", "# file would fail", "# files would fail"}) {
		b.c.recognised = true
	}
}

func (b *blackReader) end() { b.diff.end() }
