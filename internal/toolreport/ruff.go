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
