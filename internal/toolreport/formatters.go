package toolreport

import (
	"strings"

	"github.com/agent-airlock/airlock/internal/finding"
	"github.com/agent-airlock/airlock/internal/text"
)

// Messages of a formatter's findings: where it names only the file, and where the lines
// are known.
const (
	Unformatted      = "The file is not formatted."
	UnformattedLines = "These lines are not formatted."
)

// unformatted returns the finding that a file is not formatted.
func unformatted(path string) finding.Finding {
	return finding.Finding{Path: path, Message: Unformatted, Severity: finding.Low}
}

// unparsed returns the finding that a file cannot be parsed, at a line and a column if
// those are known.
func unparsed(path, message, line, column string) finding.Finding {
	return finding.Finding{Path: path, Message: message, Severity: finding.High, Range: finding.Range{StartLine: atoi(line), StartColumn: atoi(column)}}
}

// openGofmt reads the names that gofmt -l prints, the diffs of gofmt -d, and the errors
// of both.
func openGofmt(c *collector) [2]lineReader {
	return [2]lineReader{&gofmtNames{c, newDiff(c)}, &gofmtErrors{gofmtErrorForm.reader(c), c}}
}

// gofmtErrors reads the errors in files. An error without a place is gofmt's own, such
// as that it cannot read a directory.
type gofmtErrors struct {
	lineReader
	c *collector
}

func (g *gofmtErrors) line(line string) {
	g.c.crashed = g.c.crashed || strings.TrimSpace(line) != "" && placeIn(line) < 0
	g.lineReader.line(text.TruncateBytes(line, maxText))
}

// gofmtNames reads the names of files and the diffs.
type gofmtNames struct {
	*collector
	diff diffReader
}

func (g *gofmtNames) line(line string) {
	if g.diff.line(line) {
		g.recognised = true
		return
	}
	if strings.HasSuffix(line, ".go") && placeIn(line) < 0 {
		g.add(unformatted(line))
	}
}

func (g *gofmtNames) end() { g.diff.end() }

// blackReader reads black --check and --diff, and ruff format, which prints the same.
type blackReader struct {
	*collector
	diff diffReader
}

var blackError = starting("error: cannot format ", `^error: cannot format (.+?): (?:Cannot parse[^:]*: (\d+):(\d+): )?(.*)$`)

func newBlack(c *collector) lineReader { return &blackReader{c, newDiff(c)} }

func (b *blackReader) line(line string) {
	if b.diff.line(line) {
		return
	}
	line = text.TruncateBytes(line, maxText)
	if path, ok := strings.CutPrefix(line, "would reformat "); ok {
		b.add(unformatted(path))
	} else if m := blackError.match(line); m != nil {
		message := m[4]
		if m[2] != "" {
			message = "cannot be parsed: " + message
		}
		b.addUnparsed(unparsed(m[1], message, m[2], m[3]))
	} else if startsWithAny(line, []string{"All done!", "Oh no!", "# file would be", "# files would be", "# file would fail", "# files would fail"}) {
		b.recognised = true
	}
}

func (b *blackReader) end() { b.diff.end() }

// prettierReader reads prettier --check: a "[warn]" for each file that is not formatted,
// an "[error]" for each that cannot be parsed.
type prettierReader struct{ *collector }

var prettierError = starting("[error] ", `^\[error\] (.+?): (.*) \((\d+):(\d+)\)$`)

func newPrettier(c *collector) lineReader { return &prettierReader{c} }

func (p *prettierReader) line(line string) {
	if m := prettierError.match(line); m != nil {
		p.addUnparsed(unparsed(m[1], m[2], m[3], m[4]))
		return
	}
	switch {
	case startsWithAny(line, []string{"[warn] Code style issues", "Checking formatting"}), line == "All matched files use Prettier code style!":
		p.recognised = true
	case strings.HasPrefix(line, "[warn] "):
		p.add(unformatted(line[len("[warn] "):]))
	case startsWithAny(line, []string{"[error] No ", "[error] Invalid configuration"}):
		p.crashed = true
	}
}

// oxfmtReader reads oxfmt --check. For a file that is not formatted, oxfmt prints the file's name
// and the time that the file took. For a file that cannot be parsed, it prints a headline and then
// the place.
type oxfmtReader struct {
	*collector
	error string // the headline
}

var (
	oxfmtFile  = containing("s)", `^(.+) \(\d+(?:\.\d+)?[mnµ]?s\)$`)
	oxfmtError = starting("  ", `^\s+[x×] (.+)$`)
	oxfmtPlace = starting(" ", `^\s+[,╭][-─]+\[(.+):(\d+):(\d+)\]$`)
)

func newOxfmt(c *collector) lineReader { return &oxfmtReader{collector: c} }

func (o *oxfmtReader) line(line string) {
	if m := oxfmtFile.match(line); m != nil {
		o.add(unformatted(m[1]))
	} else if m := oxfmtError.match(line); m != nil {
		o.error = m[1]
	} else if o.error != "" {
		if m := oxfmtPlace.match(line); m != nil {
			o.addUnparsed(unparsed(m[1], o.error, m[2], m[3]))
		}
		o.error = ""
	} else if startsWithAny(line, []string{"Checking formatting", "All matched files use the correct format", "Format issues found", "Error occurred when checking code style"}) {
		o.recognised = true
	} else if strings.HasPrefix(line, "Failed to ") {
		o.crashed = true
	}
}

// rustfmtReader reads cargo fmt --check: "Diff in FILE:LINE:" and lines that begin with the signs of
// a diff, and errors with their places.
type rustfmtReader struct {
	*collector
	diff  diffReader
	error string // the headline of the error whose place comes next
}

// rustfmtError is the headline of an error in a file, after which nothing of its crate is
// formatted.
var rustfmtError = starting("error", `^error(?:\[\w+\])?: (.*)$`)

var rustfmtHead = starting("Diff in ", `^Diff in (.+?):(\d+):$|^Diff in (.+?) at line (\d+):$`)

func newRustfmt(c *collector) lineReader { return &rustfmtReader{collector: c, diff: newDiff(c)} }

func (r *rustfmtReader) line(line string) {
	short := text.TruncateBytes(line, maxText)
	if m := rustfmtHead.match(short); m != nil {
		r.recognised = true
		r.diff.end()
		r.diff.path, r.diff.next = m[1]+m[3], atoi(m[2]+m[4]) // one of the two forms matched
		return
	}
	if m := rustfmtError.match(short); m != nil {
		r.error = m[1]
		return
	}
	if m := arrowPlace.match(short); m != nil && r.error != "" {
		r.recognised = true
		r.addUnparsed(unparsed(m[1], r.error, m[2], m[3]))
		r.error = ""
		return
	}
	if r.diff.path != "" && line != "" && strings.IndexByte(" +-", line[0]) >= 0 {
		r.diff.oldLeft, r.diff.newLeft = 2, 2 // more lines may come: this form does not give the hunk's length
		r.diff.body(line)
	}
	r.diff.oldLeft, r.diff.newLeft = 0, 0
}

func (r *rustfmtReader) end() { r.diff.end() }
