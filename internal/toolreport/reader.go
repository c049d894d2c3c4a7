package toolreport

import (
	"fmt"
	"io"
	"maps"
	"strings"
	"sync"

	"github.com/agent-airlock/airlock/internal/finding"
)

// Reader reads a tool's output while it is printed.
type Reader struct {
	mu       sync.Mutex
	tool     Tool
	places   *places
	streams  [2]*stream
	readings []*reading // by the registry
	named    map[string]bool
	generic  *reading
	isCut    bool
	programs int  // that the command line and scripts start
	strange  bool // one of them is no tool that is known
	echoes   int  // lines that look like a script's
	excerpt  excerpt
}

// reading is one way of reading the output. Several are tried where the tool is
// not known.
type reading struct {
	row   row
	c     *collector
	parts [2]lineReader
}

// stream is one of the two output streams.
type stream struct {
	r     *Reader
	lines lines
	doc   document
	docC  *collector
	nd    *ndjson
	index int
	quote bool // the line before began with "> "
}

// New returns a Reader. The error is about the tool: a name that is not known,
// or a format that is none.
func New(tool Tool) (*Reader, error) {
	r := &Reader{tool: tool, named: map[string]bool{}, places: newPlaces(tool)}
	for i := range r.streams {
		s := &stream{r: r, index: i, docC: newCollector(tool, r.places, caller(tool))}
		nc := newCollector(tool, r.places, caller(tool))
		s.nd = &ndjson{c: nc, doc: &s.doc, gt: newGoEvents(nc)}
		s.lines.to = s.line
		r.streams[i] = s
	}
	if len(tool.Formats) > 0 {
		open, err := custom(tool.Formats)
		if err != nil {
			return nil, err
		}
		r.try(row{name: caller(tool), open: open, exits: nil})
		r.named[caller(tool)] = true
		return r, nil
	}
	r.generic = &reading{c: newCollector(tool, r.places, caller(tool))}
	r.generic.parts = text(form{formats: goFormats()})(r.generic.c)
	if tool.Name == "" {
		r.starts(tool.Command)
	}
	known := rows()
	for _, row := range known {
		r.named[row.name] = row.name == tool.Name || tool.Name == "" && nameIn(row, tool.Command)
	}
	maps.DeleteFunc(r.named, func(_ string, named bool) bool { return !named })
	if tool.Name != "" && len(r.named) == 0 {
		return nil, fmt.Errorf("the tool %q is not known; the known ones are %s", tool.Name, strings.Join(Names(), ", "))
	}
	for _, row := range known {
		if len(r.named) == 0 || r.named[row.name] {
			r.try(row)
		}
	}
	return r, nil
}

func (r *Reader) try(row row) {
	c := newCollector(r.tool, r.places, row.name)
	r.readings = append(r.readings, &reading{row: row, c: c, parts: row.open(c)})
}

// maxEchoes is how many lines are taken for those of a script: each takes far longer
// than one that is only read.
const maxEchoes = 200

// name notes the tools that a command line names.
func (r *Reader) name(words []string) {
	for _, rd := range r.readings {
		if nameIn(rd.row, words) {
			r.named[rd.row.name] = true
		}
	}
}

// starts notes what a command line starts, and where.
func (r *Reader) starts(words []string) {
	n, strange := foreign(words)
	r.programs += n
	r.strange = r.strange || strange
	r.places.started(simple(words))
}

// Stdout returns where the tool's standard output is to be written. Writes to
// the two streams may happen at the same time; they never fail.
func (r *Reader) Stdout() io.Writer { return r.streams[0] }

// Stderr returns where the tool's standard error is to be written.
func (r *Reader) Stderr() io.Writer { return r.streams[1] }

// Write implements io.Writer.
func (s *stream) Write(p []byte) (int, error) {
	s.r.mu.Lock()
	defer s.r.mu.Unlock()
	s.lines.write(p)
	return len(p), nil
}

// cut notes that not all of the output was written.
func (r *Reader) cut() {
	r.isCut = true
}

func (s *stream) line(line string) {
	r := s.r
	r.excerpt.line(line)
	s.doc.line(line)
	s.nd.line(line)
	if s.nd.form != "" && strings.HasPrefix(line, "{") {
		return // its own lines mean nothing to others
	}
	if words, ok := echo(line); ok && r.tool.Name == "" && len(r.tool.Formats) == 0 {
		// npm's own line comes before that of the script, and others quote with the same sign.
		script := line[0] == '$' || line[0] == '>' && s.quote
		if r.echoes++; r.echoes <= maxEchoes {
			r.name(words)
			if script {
				r.starts(words)
			}
		} else if script {
			r.places.lost = true
		}
	}
	s.quote = strings.HasPrefix(line, "> ")
	r.places.moved(line)
	for _, rd := range r.readings {
		rd.parts[s.index].line(line)
	}
	if r.generic != nil {
		r.generic.parts[s.index].line(line)
	}
}

// Report ends the reading and returns what was read. It is called once.
func (r *Reader) Report(exit Exit) Report {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range []*stream{r.streams[1], r.streams[0]} {
		s.lines.end()
		s.nd.end()
	}
	for _, rd := range r.readings {
		rd.parts[1].end()
		rd.parts[0].end()
	}
	if r.generic != nil {
		r.generic.parts[1].end()
		r.generic.parts[0].end()
	}
	report := r.judge(exit)
	finding.Sort(report.Findings)
	report.FirstFailures = r.excerpt.text()
	return report
}
