package toolreport

import (
	"strings"

	"github.com/agent-airlock/airlock/internal/finding"
)

// collector gathers what one way of reading an output finds in it.
type collector struct {
	places   *places // shared by all of an output
	modules  map[string]string
	tool     string // the name that findings are given
	check    string
	findings []finding.Finding
	rules    []ToolRule
	known    map[[2]string]bool // of rules, by tool and ID
	seen     map[finding.Finding]bool
	outside  int
	omitted  int
	tally    tally
	// recognised reports that the output has the form which is read here: it
	// has lines that only this tool prints.
	recognised bool
	crashed    bool // the tool said that it itself failed
	broken     bool // a file could not be compiled, parsed or type-checked
	notes      []string
}

func newCollector(t Tool, p *places, name string) *collector {
	return &collector{places: p, modules: t.Modules, tool: name, check: t.Check, seen: map[finding.Finding]bool{}}
}

// add keeps a finding whose path is as it was printed.
func (c *collector) add(f finding.Finding) {
	path, ok := c.places.rel(f.Path)
	if !ok {
		c.outside++
		return
	}
	f.Path, f.Check = path, c.check
	c.broken = c.broken || f.Rule == "typecheck" // golangci-lint's, in whichever form
	if f.Tool == "" {
		f.Tool = c.tool
	}
	if f.Severity == "" {
		f.Severity = finding.Medium
	}
	f.Rule = clip(f.Rule, maxName)
	f.Message = clip(strings.TrimSpace(f.Message), maxMessage)
	f.Range = sound(f.Range)
	if f.Suggestion = strings.TrimSuffix(f.Suggestion, "\n"); f.Range.StartLine == 0 || !postable(f.Suggestion) {
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

// rule keeps what a tool says of one of its rules, the first time.
func (c *collector) rule(tool string, r finding.Rule) {
	r.ID = clip(r.ID, maxName)
	at := [2]string{tool, r.ID}
	if c.known[at] || len(c.rules) == MaxFindings || r.ID == "" {
		return
	}
	if c.known == nil {
		c.known = map[[2]string]bool{}
	}
	c.known[at] = true
	r.Name, r.Short, r.Full, r.Help, r.HelpURI = clip(r.Name, maxName), clip(r.Short, maxMessage), clip(r.Full, maxMessage), clip(r.Help, maxMessage), clip(r.HelpURI, maxName)
	c.rules = append(c.rules, ToolRule{tool, r})
}

// fail counts a failure whose path is as it was printed.
func (c *collector) fail(f Failure) {
	path, ok := c.places.rel(f.Path)
	if f.Path = path; !ok {
		f.Path, f.Line = "", 0
	}
	c.tally.add(f)
}

// note keeps a note, each once and not more than a few.
func (c *collector) note(text string) {
	for _, n := range c.notes {
		if n == text {
			return
		}
	}
	if len(c.notes) < 20 {
		c.notes = append(c.notes, text)
	}
}

// sound leaves out of a range what cannot be.
func sound(r finding.Range) finding.Range {
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

// tally counts failures while a runner's output is read.
type tally struct {
	failed  int
	closed  bool // the runner came to its end
	none    bool // it said that it found no test
	lost    bool // there was too much to count exactly
	failing []Failure
}

// add counts one failure.
func (t *tally) add(f Failure) {
	t.failed++
	if len(t.failing) < MaxFailures {
		f.Name, f.Unit, f.Message = clip(f.Name, maxName), clip(f.Unit, maxName), clip(f.Message, maxMessage)
		t.failing = append(t.failing, f)
	}
}

// tests judges the tally by how the run ended.
func (t *tally) tests(exit Exit) Tests {
	r := Tests{Failed: t.failed, Known: t.closed && !t.lost && !exit.TimedOut && exit.Code >= 0, None: t.none && t.failed == 0, Failing: t.failing}
	if !exit.OK() && r.Failed == 0 && !r.None {
		r.Failed, r.Known = 1, false
	}
	return r
}

// join adds what another reading counted.
func (t *tally) join(o tally) {
	t.none = o.none && (t.none || !t.closed) || t.none && !o.closed
	t.closed = t.closed || o.closed
	t.lost = t.lost || o.lost
	t.failed += o.failed
	t.failing = append(t.failing, o.failing[:min(len(o.failing), MaxFailures-len(t.failing))]...)
}
