package toolreport

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/agent-airlock/airlock/internal/finding"
)

// prettierReader reads prettier --check: a "[warn]" for each file that is not
// formatted, an "[error]" for each that cannot be parsed.
type prettierReader struct {
	c     *collector
	place *regexp.Regexp
}

func newPrettier(c *collector) lineReader {
	return &prettierReader{c, regexp.MustCompile(`^(.+?): (.*) \((\d+):(\d+)\)$`)}
}

func (p *prettierReader) line(line string) {
	line = clip(line, maxText)
	switch {
	case strings.HasPrefix(line, "[warn] Code style issues"), line == "All matched files use Prettier code style!", strings.HasPrefix(line, "Checking formatting"):
		p.c.recognised = true
	case strings.HasPrefix(line, "[warn] "):
		p.c.add(finding.Finding{Path: line[len("[warn] "):], Message: unformatted, Severity: finding.Low})
	case strings.HasPrefix(line, "[error] "):
		if m := p.place.FindStringSubmatch(line[len("[error] "):]); m != nil {
			p.c.broken = true
			p.c.add(finding.Finding{Path: m[1], Message: m[2], Severity: finding.High, Range: finding.Range{StartLine: number(m[3]), StartColumn: number(m[4])}})
		} else if strings.HasPrefix(line, "[error] No ") || strings.HasPrefix(line, "[error] Invalid configuration") {
			p.c.crashed = true
		}
	}
}

func (p *prettierReader) end() {}

// blackReader reads black --check, --diff, and ruff format, which prints alike.
type blackReader struct {
	c     *collector
	place *regexp.Regexp
	diff  diffReader
}

func newBlack(c *collector) lineReader {
	return &blackReader{c, regexp.MustCompile(`^error: cannot format (.+?): (?:Cannot parse[^:]*: (\d+):(\d+): )?(.*)$`), diffReader{c: c}}
}

func (b *blackReader) line(line string) {
	line = clip(line, maxText)
	if b.diff.take(line) {
		return
	}
	if path, ok := strings.CutPrefix(line, "would reformat "); ok {
		b.c.add(finding.Finding{Path: path, Message: unformatted, Severity: finding.Low})
	} else if m := b.place.FindStringSubmatch(line); m != nil {
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

// number reads digits; 0 for none and for what is no line number.
func number(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 {
		return 0
	}
	return n
}
