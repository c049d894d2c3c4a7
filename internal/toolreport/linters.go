package toolreport

import (
	"regexp"
	"strings"

	"github.com/agent-airlock/airlock/internal/finding"
)

// ruffReader reads ruff check and ruff format --check: one line for each finding, or,
// since 0.12.10, a headline and below it an arrow with the place.
type ruffReader struct {
	c     *collector
	lines lineReader
	head  *regexp.Regexp
	arrow *regexp.Regexp
	above string // the line before
}

func newRuff(c *collector) lineReader {
	concise := text(form{formats: goFormats(), rule: pythonRule, broken: pythonSyntax,
		closing: []string{"Found ", "# file would be ", "# files would be "}, crash: []string{"ruff failed", "error: "}})
	return &ruffReader{
		c: c, lines: concise(c)[0],
		head:  regexp.MustCompile(`^([A-Z]+[0-9]+|[a-z]+(?:-[a-z]+)*:)(?: \[\*\])? (.+)$`),
		arrow: regexp.MustCompile(`^ *--> (.+):(\d+):(\d+)$`),
	}
}

func (r *ruffReader) line(line string) {
	line = clip(line, maxText)
	above := r.above
	r.above = line
	if path, ok := strings.CutPrefix(line, "Would reformat: "); ok {
		r.unformatted(path)
		return
	}
	at := find(r.arrow, "--> ", line)
	if at == nil {
		r.lines.line(line)
		return
	}
	says := r.head.FindStringSubmatch(above)
	switch {
	case says == nil:
	case says[1] == "unformatted:":
		r.unformatted(at[1])
	default:
		f := finding.Finding{Path: at[1], Rule: strings.TrimSuffix(says[1], ":"), Message: says[2], Severity: finding.Medium,
			Range: finding.Range{StartLine: number(at[2]), StartColumn: number(at[3])}}
		if f.Rule == "invalid-syntax" {
			f.Severity, r.c.broken = finding.High, true
		}
		r.c.add(f)
	}
}

func (r *ruffReader) unformatted(path string) {
	r.c.recognised = true
	r.c.add(finding.Finding{Path: path, Message: Unformatted, Severity: finding.Low})
}

func (r *ruffReader) end() { r.lines.end() }

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
