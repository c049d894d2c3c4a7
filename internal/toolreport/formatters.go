package toolreport

import (
	"regexp"
	"strings"

	"github.com/agent-airlock/airlock/internal/finding"
)

// What a formatter's finding says: where the tool names the file only, and where
// the lines are known.
const (
	Unformatted      = "The file is not formatted."
	UnformattedLines = "These lines are not formatted."
)

// openGofmt reads the names that gofmt -l prints, the diffs of gofmt -d, and the
// errors of both.
func openGofmt(c *collector) [2]lineReader {
	errors := text(form{formats: goFormats(), severity: finding.High, broken: isError})(c)[1]
	return [2]lineReader{&gofmtNames{c: c, diff: newDiff(c)}, &gofmtErrors{errors, c}}
}

// gofmtErrors reads the errors in files. One without a place is gofmt's own, such
// as that it cannot read a folder.
type gofmtErrors struct {
	lineReader
	c *collector
}

func (g *gofmtErrors) line(line string) {
	g.c.crashed = g.c.crashed || strings.TrimSpace(line) != "" && placeIn(line) < 0
	g.lineReader.line(line)
}

type gofmtNames struct {
	c    *collector
	diff diffReader
}

func (g *gofmtNames) line(line string) {
	if g.diff.take(line) {
		g.c.recognised = true
		return
	}
	if strings.HasSuffix(line, ".go") && placeIn(line) < 0 {
		g.c.add(finding.Finding{Path: line, Message: Unformatted, Severity: finding.Low})
	}
}

func (g *gofmtNames) end() { g.diff.end() }

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

// rustfmtReader reads cargo fmt --check: "Diff in FILE:LINE:" and lines with
// their signs.
type rustfmtReader struct {
	c    *collector
	head *regexp.Regexp
	diff diffReader
}

func newRustfmt(c *collector) lineReader {
	return &rustfmtReader{c, regexp.MustCompile(`^Diff in (.+?):(\d+):$|^Diff in (.+?) at line (\d+):$`), newDiff(c)}
}

func (r *rustfmtReader) line(line string) {
	if m := findAt(r.head, "Diff in ", clip(line, maxText)); m != nil {
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
