package toolreport

import (
	"slices"
	"strings"

	"github.com/agent-airlock/airlock/internal/finding"
	"github.com/agent-airlock/airlock/internal/text"
)

// collector gathers what one way of reading an output finds in it.
type collector struct {
	places   *places // shared by all readings of an output
	module   string
	tool     string // the name that findings get
	check    string
	findings []finding.Finding
	rules    []ToolRule
	known    map[[2]string]bool // rules, by tool and ID
	seen     map[finding.Finding]bool
	outside  int // findings whose path is not that of a file in the repository
	omitted  int // findings after MaxFindings
	tally    tally
	// recognised reports that the output has lines that only this tool prints.
	recognised bool
	crashed    bool            // the tool reported that it failed itself
	broken     bool            // code could not be compiled or type-checked
	unparsed   map[string]bool // files that could not be parsed, by their paths in the repository
	notes      []string
}

func newCollector(t Tool, p *places, name string) *collector {
	return &collector{places: p, module: t.Module, tool: name, check: t.Check, known: map[[2]string]bool{}, seen: map[finding.Finding]bool{}, unparsed: map[string]bool{}}
}

// add keeps a finding, unless there is the same one already. It only counts those outside the
// repository and those after MaxFindings. The finding's path is still as the tool printed it.
func (c *collector) add(f finding.Finding) {
	path, ok := c.places.rel(f.Path)
	if !ok {
		c.outside++
		return
	}
	f.Path, f.Check = path, c.check
	c.broken = c.broken || f.Rule == "typecheck" // golangci-lint's, in each of its forms
	if f.Tool == "" {
		f.Tool = c.tool
	}
	if f.Severity == "" {
		f.Severity = finding.Medium
	}
	f.Rule = text.TruncateBytes(f.Rule, maxName)
	f.Message = text.TruncateBytes(strings.TrimSpace(withoutEscapes(f.Message)), maxMessage)
	f.Range = possibleRange(f.Range)
	if f.Range.StartLine == 0 || !postable(f.Suggestion) {
		f.Suggestion = ""
	}
	switch {
	case c.seen[f]:
	case len(c.findings) == MaxFindings:
		c.omitted++
	default:
		c.seen[f] = true
		c.findings = append(c.findings, f)
	}
}

// addUnparsed keeps the finding that a file could not be parsed.
func (c *collector) addUnparsed(f finding.Finding) {
	if f.Rule == "null" { // JavaScript prints this if there is no rule
		f.Rule = ""
	}
	if path, ok := c.places.rel(f.Path); ok {
		c.unparsed[path] = true
	} else {
		c.broken = true // nobody knows which file it is
	}
	c.add(f)
}

// rule keeps what a tool reports about one of its rules, the first time.
func (c *collector) rule(tool string, r finding.Rule) {
	r.ID = text.TruncateBytes(r.ID, maxName)
	key := [2]string{tool, r.ID}
	if c.known[key] || len(c.rules) == MaxFindings || r.ID == "" {
		return
	}
	c.known[key] = true
	r.Name, r.HelpURI = text.TruncateBytes(r.Name, maxName), text.TruncateBytes(r.HelpURI, maxName)
	r.Short, r.Full, r.Help = text.TruncateBytes(r.Short, maxMessage), text.TruncateBytes(r.Full, maxMessage), text.TruncateBytes(r.Help, maxMessage)
	c.rules = append(c.rules, ToolRule{tool, r})
}

// note keeps a note: each once, and only a few.
func (c *collector) note(text string) {
	if len(c.notes) < 20 && !slices.Contains(c.notes, text) {
		c.notes = append(c.notes, text)
	}
}

// fail counts a failure. Its path is still as the tool printed it.
func (c *collector) fail(f Failure) {
	path, ok := c.places.rel(f.Path)
	f.Path, f.Name, f.Message = path, withoutEscapes(f.Name), withoutEscapes(f.Message)
	if !ok {
		f.Path, f.Line = "", 0
	}
	c.tally.add(f)
}

// end is for readers that have nothing left to read at the end.
func (c *collector) end() {}

func (c *collector) failAll(failures []Failure) {
	for _, f := range failures {
		c.fail(f)
	}
}

// hasFile reports whether a printed path is one in the root.
func (c *collector) hasFile(printed string) bool {
	_, ok := c.places.rel(printed)
	return ok
}

// failTotal keeps the failures that the runner names, and counts as many as its total states.
func (c *collector) failTotal(named []Failure, total int) {
	before := c.tally.failed
	c.failAll(named)
	c.tally.failed = before + total
}

// possibleRange returns a range without the members that contradict each other.
func possibleRange(r finding.Range) finding.Range {
	r.StartLine, r.StartColumn = max(r.StartLine, 0), max(r.StartColumn, 0)
	r.EndLine, r.EndColumn = max(r.EndLine, 0), max(r.EndColumn, 0)
	if r.StartLine == 0 {
		return finding.Range{}
	}
	if r.EndLine > r.StartLine && r.EndColumn == 1 { // it ends before that line's first character
		r.EndLine, r.EndColumn = r.EndLine-1, 0
	}
	if r.EndLine < r.StartLine {
		r.EndLine, r.EndColumn = 0, 0
	}
	if r.EndLine == r.StartLine && r.EndColumn < r.StartColumn {
		r.EndColumn = 0
	}
	return r
}

// locate sets the place of a failure that has none.
func (f *Failure) locate(path, line string) {
	if f.Line == 0 {
		f.Path, f.Line = path, atoi(line)
	}
}

// inLibrary reports whether a JavaScript file is one of a dependency, or a part of node.
func inLibrary(path string) bool {
	return strings.Contains(path, "node_modules") || strings.HasPrefix(path, "node:")
}

// failureList is the failures that a runner names, while its output is read.
type failureList struct {
	list    []Failure
	current *Failure // the failure that the current lines describe; nil for none
}

// begin adds a failure and makes it the current one. If the list has MaxFailures already, it drops
// the failure, and there is no current one: the caller counts the dropped failures.
func (l *failureList) begin(f Failure) {
	l.current = nil
	if len(l.list) < MaxFailures {
		l.list = append(l.list, f)
		l.current = &l.list[len(l.list)-1]
	}
}

// describe adds a line to the current failure's message, while that has fewer bytes
// than limit.
func (l *failureList) describe(line string, limit int) {
	if l.current != nil && len(l.current.Message) < limit {
		l.current.Message = strings.TrimSpace(l.current.Message + "\n" + line)
	}
}

// tally counts failures while a runner's output is read.
type tally struct {
	failed  int
	ended   bool // the runner came to its end
	noTests bool // the runner reported that it ran no test: it found none, or skipped all
	lost    bool // there was too much to count exactly
	silent  bool // the runner does not say whether it skipped all tests
	failing []Failure
}

// add counts one failure.
func (t *tally) add(f Failure) {
	t.failed++
	if len(t.failing) < MaxFailures {
		f.Name, f.Unit, f.Message = text.TruncateBytes(f.Name, maxName), text.TruncateBytes(f.Unit, maxName), text.TruncateBytes(f.Message, maxMessage)
		t.failing = append(t.failing, f)
	}
}

// end notes that a run came to its end. There may be several in one output.
func (t *tally) end(noTests bool) { t.join(tally{ended: true, noTests: noTests}) }

// join adds what another run or another reading counted. It clears noTests if a run that came to
// its end had tests, and silent if the runner of such a run is not silent.
func (t *tally) join(o tally) {
	hadTests := t.ended && !t.noTests || o.ended && !o.noTests
	saysSo := t.ended && !t.noTests && !t.silent || o.ended && !o.noTests && !o.silent
	t.noTests = (t.noTests || o.noTests) && !hadTests
	t.ended = t.ended || o.ended
	t.lost = t.lost || o.lost
	t.silent = (t.silent || o.silent) && !saysSo
	t.failed += o.failed
	t.failing = append(t.failing, o.failing[:min(len(o.failing), MaxFailures-len(t.failing))]...)
}

// tests returns the counts, given how the run ended. If it had tests and failed without a failure
// that was counted, the number is 1 and not known.
func (t *tally) tests(exit Exit) Tests {
	r := Tests{Failed: t.failed, Known: t.ended && !t.lost && !exit.TimedOut && exit.Code >= 0, None: t.noTests && t.failed == 0, Failing: t.failing}
	if !exit.OK() && r.Failed == 0 && !r.None {
		r.Failed, r.Known = 1, false
	}
	return r
}
