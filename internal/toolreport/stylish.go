package toolreport

import (
	"regexp"
	"strings"

	"github.com/agent-airlock/airlock/internal/finding"
)

// stylishReader reads eslint's usual form: a line with the file's path, then an
// indented line for each finding, whose rule stands behind two blanks.
type stylishReader struct {
	c     *collector
	path  string
	entry *regexp.Regexp
}

func newStylish(c *collector) lineReader {
	return &stylishReader{c: c, entry: regexp.MustCompile(`^ +(\d+):(\d+) +(error|warning) +(.*?)(?:  +(\S+))?$`)}
}

func (s *stylishReader) line(line string) {
	line = clip(line, maxText)
	switch {
	case strings.HasPrefix(line, "✖ ") && strings.Contains(line, " problem"):
		s.c.recognised = true
	case strings.HasPrefix(line, "Oops! Something went wrong"):
		s.c.crashed = true
	case strings.HasPrefix(line, "  "):
		if m := s.entry.FindStringSubmatch(line); m != nil && s.path != "" {
			s.c.broken = s.c.broken || m[5] == "" && strings.HasPrefix(m[4], "Parsing error:")
			s.c.add(finding.Finding{
				Path: s.path, Rule: m[5], Message: m[4], Severity: severityOf(m[3][0], ""),
				Range: finding.Range{StartLine: number(m[1]), StartColumn: number(m[2])},
			})
		}
	default:
		s.path = line
	}
}

func (s *stylishReader) end() {}
