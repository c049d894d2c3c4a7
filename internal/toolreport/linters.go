package toolreport

import (
	"strings"

	"github.com/agent-airlock/airlock/internal/finding"
	"github.com/agent-airlock/airlock/internal/lazyregexp"
)

// arrowPlace is how rustc and ruff print a place, below the headline.
var arrowPlace = containing("--> ", `^ *--> (.+):(\d+):(\d+)$`)

// stylishReader reads eslint's usual form: a line with the file's path, then an indented
// line for each finding, whose rule comes after two spaces.
type stylishReader struct {
	*collector
	path string
}

var stylishEntry = starting("  ", `^ +(\d+):(\d+) +(error|warning) +(.*?)(?:  +(\S+))?$`)

func newStylish(c *collector) lineReader { return &stylishReader{collector: c} }

func (s *stylishReader) line(line string) {
	switch {
	case strings.HasPrefix(line, "✖ ") && strings.Contains(line, " problem"):
		s.recognised = true
	case strings.HasPrefix(line, "Oops! Something went wrong"):
		s.crashed = true
	case strings.HasPrefix(line, "  "):
		if m := stylishEntry.match(line); m != nil && s.path != "" {
			add := s.add
			if m[5] == "" && strings.HasPrefix(m[4], "Parsing error:") {
				add = s.addUnparsed
			}
			add(finding.Finding{
				Path: s.path, Rule: m[5], Message: m[4], Severity: severityOf(m[3][0], ""),
				Range: finding.Range{StartLine: atoi(m[1]), StartColumn: atoi(m[2])},
			})
		}
	default:
		s.path = line
	}
}

// ruffReader reads ruff check and ruff format --check: one line for each finding, or,
// since 0.12.10, a headline and below it an arrow with the place.
type ruffReader struct {
	*collector
	concise lineReader
	above   string // the line before
}

var ruffHead = containing("", `^([A-Z]+[0-9]+|[a-z]+(?:-[a-z]+)*:)(?: \[\*\])? (.+)$`)

// ruffUnparsed is how ruff format reports a file that it cannot parse.
var ruffUnparsed = starting("error: Failed to parse ", `^error: Failed to parse (.+?)(?::(\d+):(\d+))?: (.*)$`)

func newRuff(c *collector) lineReader {
	return &ruffReader{collector: c, concise: ruffForm.reader(c)}
}

func (r *ruffReader) line(line string) {
	above := r.above
	r.above = line
	if m := ruffUnparsed.match(line); m != nil {
		r.addUnparsed(unparsed(m[1], m[4], m[2], m[3]))
		return
	}
	if path, ok := strings.CutPrefix(line, "Would reformat: "); ok {
		r.recognised = true
		r.add(unformatted(path))
		return
	}
	place := arrowPlace.match(line)
	if place == nil {
		r.concise.line(line)
		return
	}
	head := ruffHead.match(above)
	switch {
	case head == nil:
	case head[1] == "unformatted:":
		r.recognised = true
		r.add(unformatted(place[1]))
	default:
		f := finding.Finding{Path: place[1], Rule: strings.TrimSuffix(head[1], ":"), Message: head[2], Severity: finding.Medium,
			Range: finding.Range{StartLine: atoi(place[2]), StartColumn: atoi(place[3])}}
		if f.Rule == "invalid-syntax" {
			f.Severity = finding.High
			r.addUnparsed(f)
			return
		}
		r.add(f)
	}
}

func (r *ruffReader) end() { r.concise.end() }

// rustcReader reads the messages of rustc and clippy: a headline, then an arrow with the
// place.
type rustcReader struct {
	*collector
	current finding.Finding
}

var (
	rustcHead = containing(": ", `^(error|warning)(?:\[(\w+)\])?: (.*)$`)
	rustcLint = containing("= note: `#[", "= note: `#\\[(?:warn|deny|forbid)\\(([\\w:]+)\\)\\]`")
)

// rustcError matches the codes of the compiler's errors.
var rustcError = lazyregexp.New(`^E\d+$`)

func newRustc(c *collector) lineReader { return &rustcReader{collector: c} }

func (r *rustcReader) line(line string) {
	if m := rustcHead.match(line); m != nil {
		r.end()
		r.current = finding.Finding{Rule: m[2], Message: m[3], Severity: severityOf(m[1][0], "")}
		if strings.HasPrefix(m[3], "could not compile") || m[2] != "" {
			r.recognised = true
		}
		return
	}
	if m := arrowPlace.match(line); m != nil && r.current.Path == "" && r.current.Message != "" {
		r.current.Path, r.current.Range = m[1], finding.Range{StartLine: atoi(m[2]), StartColumn: atoi(m[3])}
	} else if m := rustcLint.match(line); m != nil && r.current.Rule == "" {
		r.current.Rule = m[1]
	}
}

func (r *rustcReader) end() {
	if r.current.Path != "" {
		r.addRust(r.current)
	}
	r.current = finding.Finding{}
}

// addRust keeps a finding of rustc, or of clippy, which prints in the same forms. An error of the
// compiler itself sets broken.
func (c *collector) addRust(f finding.Finding) {
	f.Tool = "rustc"
	if strings.HasPrefix(f.Rule, "clippy::") {
		f.Tool = "clippy"
	}
	// A lint that the project denies is reported as an error, too, but with a name instead of a
	// code.
	c.broken = c.broken || isError(f) && f.Tool == "rustc" && (f.Rule == "" || rustcError.MatchString(f.Rule))
	c.add(f)
}
