package toolreport

import (
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/agent-airlock/airlock/internal/finding"
	"github.com/agent-airlock/airlock/internal/text"
)

// Reader reads a tool's output while it is printed.
type Reader struct {
	mu       sync.Mutex
	tool     Tool
	places   *places
	streams  [2]*stream      // standard output and standard error
	readings []*reading      // one for each row of the registry that may fit
	named    map[string]bool // rows that the command names
	generic  *reading        // by anyForm; nil if the tool's form is configured
	runners  []row           // of tests, where they are detected by the output
	tasks    *taskOutputs    // nil where test runners are not detected

	files      *collector // of reports that the runner wrote; nil for none
	filesForm  string     // of the first such report
	unreadFile bool       // such a report could not be read in full

	programs int  // that the command line and scripts start
	unknown  bool // one of them is not a tool of the registry
	echoes   int  // lines that look like a script's command line
	excerpt  excerpt
}

// reading is one way of reading the output. Several are tried if the tool is not known.
type reading struct {
	row       row
	collector *collector
	parts     [2]lineReader
}

// stream is one of the two output streams.
type stream struct {
	r         *Reader
	lines     lines
	doc       document
	collector *collector // of doc
	objects   *ndjson
	index     int  // in Reader.streams
	quoted    bool // the line before began with "> "
	flood     flood
}

// New returns a Reader. The error is about the tool: a name that is not known, or an
// invalid format.
func New(tool Tool) (*Reader, error) {
	r := &Reader{tool: tool, named: map[string]bool{}, places: newPlaces(tool)}
	caller := callerName(tool)
	for i := range r.streams {
		s := &stream{r: r, index: i, collector: newCollector(tool, r.places, caller)}
		c := newCollector(tool, r.places, caller)
		s.objects = &ndjson{c: c, doc: &s.doc, events: newGoEvents(c)}
		s.lines.to = s.line
		r.streams[i] = s
	}
	if len(tool.Formats) > 0 {
		open, err := custom(tool.Formats)
		if err != nil {
			return nil, err
		}
		r.readings = []*reading{r.newReading(row{name: caller, open: open}, r.places)}
		r.named[caller] = true
		return r, nil
	}
	r.generic = r.newReading(row{name: caller, open: bothStreams(anyForm.reader)}, r.places)
	if tool.Name == "" {
		r.starts(tool.Command)
	}
	known := rows()
	for _, row := range known {
		if row.name == tool.Name || tool.Name == "" && row.isNamedBy(tool.Command) {
			r.named[row.name] = true
		}
	}
	if tool.Name != "" && len(r.named) == 0 {
		return nil, fmt.Errorf("the tool %q is not known; the known ones are %s", tool.Name, strings.Join(Names(), ", "))
	}
	detects := tool.Name == "" && tool.Check == "tests"
	for _, row := range known {
		if len(r.named) == 0 || r.named[row.name] || detects && row.tests {
			r.readings = append(r.readings, r.newReading(row, r.places))
		}
	}
	if detects {
		r.runners = slices.DeleteFunc(known, func(row row) bool { return !row.tests })
		r.tasks = &taskOutputs{open: r.task, byName: map[string]*taskOutput{}}
	}
	return r, nil
}

func (r *Reader) newReading(row row, places *places) *reading {
	c := newCollector(r.tool, places, row.name)
	return &reading{row: row, collector: c, parts: row.open(c)}
}

// task returns the readings of a task's lines, one for each test runner.
func (r *Reader) task(prefix string) *taskOutput {
	places := newPlaces(r.tool)
	places.strict = true
	if dir, _, ok := strings.Cut(prefix, " "); ok && places.exists != nil && places.exists(path.Join(places.dir, dir)) {
		places.dir = path.Join(places.dir, dir) // as pnpm names it
		places.current = places.dir
	}
	t := &taskOutput{}
	for _, row := range r.runners {
		t.readings = append(t.readings, r.newReading(row, places))
	}
	return t
}

// starts notes which programs a command line starts, and where.
func (r *Reader) starts(words []string) {
	n, unknown := programs(words)
	r.programs += n
	r.unknown = r.unknown || unknown
	r.places.started(simpleCommands(words))
}

// Stdout returns the writer for the tool's standard output. Both streams may be written
// to at the same time; writes never fail.
func (r *Reader) Stdout() io.Writer { return r.streams[0] }

// Stderr returns the writer for the tool's standard error.
func (r *Reader) Stderr() io.Writer { return r.streams[1] }

// Write implements io.Writer.
func (s *stream) Write(p []byte) (int, error) {
	s.r.mu.Lock()
	defer s.r.mu.Unlock()
	s.lines.write(p)
	return len(p), nil
}

func (s *stream) line(line string) {
	r := s.r
	r.excerpt.line(line)
	s.doc.line(line)
	if len(r.tool.Formats) == 0 && s.flood.skips(line) { // the owner's formats may match any line
		return
	}
	s.endFlood()
	s.read(line)
}

// endFlood reads the last lines of a flood that is over.
func (s *stream) endFlood() {
	for _, line := range s.flood.release() {
		s.read(line)
	}
}

// read passes a line to all readings, or only to s.objects if it begins like an object and
// s.objects has recognised the form. It notes the command lines of scripts.
func (s *stream) read(line string) {
	r := s.r
	s.objects.line(line)
	if s.objects.form != "" && strings.HasPrefix(line, "{") {
		return // it means nothing to other readings
	}
	if words, ok := echoed(line); ok && r.tool.Name == "" && len(r.tool.Formats) == 0 {
		isScript := true
		switch line[0] {
		case '>': // npm prints a line of its own before the script's, and others quote with the same sign
			isScript = s.quoted
		case '+': // a line of a diff looks the same
			isScript = false
		}
		r.echo(words, isScript)
	}
	s.quoted = strings.HasPrefix(line, "> ")
	r.places.moved(line)
	for _, reading := range r.readings {
		reading.line(line, s.index)
	}
	if r.generic != nil {
		r.generic.line(line, s.index)
	}
	if r.tasks != nil {
		r.tasks.line(line, s.index)
	}
}

// maxEchoes bounds how many lines are read as a script's command line. Reading one takes far
// longer than reading any other line.
const maxEchoes = 200

// echo notes the command line of a script, or a line that only looks like one.
func (r *Reader) echo(words []string, isScript bool) {
	if r.echoes++; r.echoes > maxEchoes {
		r.places.lost = r.places.lost || isScript
		return
	}
	for _, reading := range r.readings {
		if reading.row.isNamedBy(words) {
			r.named[reading.row.name] = true
		}
	}
	if isScript {
		r.starts(words)
	}
}

// Report ends the reading and returns what was read. It is called once.
func (r *Reader) Report(exit Exit) Report {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range []*stream{r.streams[1], r.streams[0]} {
		s.lines.end()
		s.endFlood()
		s.objects.end()
	}
	for _, reading := range r.readings {
		reading.end()
	}
	if r.generic != nil {
		r.generic.end()
	}
	report := r.judge(exit)
	finding.Sort(report.Findings)
	report.FirstFailures = r.excerpt.text()
	return report
}

// line reads a line of a stream.
func (r *reading) line(line string, stream int) {
	if !r.row.diffs {
		line = text.TruncateBytes(line, maxText)
	}
	r.parts[stream].line(line)
}

// end ends the streams: standard error first, then standard output.
func (r *reading) end() {
	r.parts[1].end()
	r.parts[0].end()
}
