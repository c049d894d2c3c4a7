package toolreport

import (
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
