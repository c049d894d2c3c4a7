package toolreport

import (
	"regexp"
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
		p.c.add(finding.Finding{Path: line[len("[warn] "):], Message: Unformatted, Severity: finding.Low})
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
