package toolreport

import (
	"regexp"
	"strings"

	"github.com/agent-airlock/airlock/internal/finding"
)

// rustcReader reads the messages of rustc and clippy: a headline, then an arrow
// with the place.
type rustcReader struct {
	c     *collector
	head  *regexp.Regexp
	arrow *regexp.Regexp
	lint  *regexp.Regexp
	now   finding.Finding
}

func newRustc(c *collector) lineReader {
	return &rustcReader{
		c:     c,
		head:  regexp.MustCompile(`^(error|warning)(?:\[(\w+)\])?: (.*)$`),
		arrow: regexp.MustCompile(`^ *--> (.+):(\d+):(\d+)$`),
		lint:  regexp.MustCompile("= note: `#\\[(?:warn|deny|forbid)\\(([\\w:]+)\\)\\]`"),
	}
}

func (r *rustcReader) line(line string) {
	line = clip(line, maxText)
	if m := r.headline(line); m != nil {
		r.end()
		r.now = finding.Finding{Rule: m[2], Message: m[3], Severity: severityOf(m[1][0], "")}
		if strings.HasPrefix(m[3], "could not compile") || m[2] != "" {
			r.c.recognised = true
		}
		return
	}
	if m := find(r.arrow, "--> ", line); m != nil && r.now.Path == "" && r.now.Message != "" {
		r.now.Path, r.now.Range = m[1], finding.Range{StartLine: number(m[2]), StartColumn: number(m[3])}
	} else if m := find(r.lint, "= note: `#[", line); m != nil && r.now.Rule == "" {
		r.now.Rule = m[1]
	}
}

func (r *rustcReader) headline(line string) []string {
	if !strings.HasPrefix(line, "error") && !strings.HasPrefix(line, "warning") {
		return nil
	}
	return r.head.FindStringSubmatch(line)
}

func (r *rustcReader) end() {
	if r.now.Path != "" {
		r.now.Tool = "rustc"
		if strings.HasPrefix(r.now.Rule, "clippy::") {
			r.now.Tool = "clippy"
		}
		r.c.broken = r.c.broken || isError(r.now) && r.now.Tool == "rustc"
		r.c.add(r.now)
	}
	r.now = finding.Finding{}
}
