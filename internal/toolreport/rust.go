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
	if m := r.head.FindStringSubmatch(line); m != nil {
		r.end()
		r.now = finding.Finding{Rule: m[2], Message: m[3], Severity: severityOf(m[1][0], "")}
		if strings.HasPrefix(m[3], "could not compile") || m[2] != "" {
			r.c.recognised = true
		}
		return
	}
	if m := r.arrow.FindStringSubmatch(line); m != nil && r.now.Path == "" && r.now.Message != "" {
		r.now.Path, r.now.Range = m[1], finding.Range{StartLine: number(m[2]), StartColumn: number(m[3])}
	} else if m := r.lint.FindStringSubmatch(line); m != nil && r.now.Rule == "" {
		r.now.Rule = m[1]
	}
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

// rustfmtReader reads cargo fmt --check: "Diff in FILE:LINE:" and lines with
// their signs.
type rustfmtReader struct {
	c    *collector
	head *regexp.Regexp
	diff diffReader
}

func newRustfmt(c *collector) lineReader {
	return &rustfmtReader{c, regexp.MustCompile(`^Diff in (.+?):(\d+):$|^Diff in (.+?) at line (\d+):$`), diffReader{c: c}}
}

func (r *rustfmtReader) line(line string) {
	line = clip(line, maxText)
	if m := r.head.FindStringSubmatch(line); m != nil {
		r.c.recognised = true
		r.diff.end()
		r.diff.path, r.diff.at = m[1]+m[3], number(m[2]+m[4])
		return
	}
	if r.diff.path != "" && line != "" && strings.IndexByte(" +-", line[0]) >= 0 {
		r.diff.left, r.diff.new = 2, 2 // the form does not say how long it is
		r.diff.body(line)
	}
	r.diff.left, r.diff.new = 0, 0
}

func (r *rustfmtReader) end() { r.diff.end() }
