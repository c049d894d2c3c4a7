package toolreport

import (
	"slices"
	"strings"

	"github.com/agent-airlock/airlock/internal/lazyregexp"
	"github.com/agent-airlock/airlock/internal/text"
)

var (
	pytestTotals  = containing(" in ", `^(?:=+ )?(?:no tests ran|\d+ (?:failed|passed|skipped|deselected|xfailed|xpassed|warnings?|errors?|rerun|subtests passed)(?:, \d+ [a-z ]+)*) in [\d.:]+s(?: \([\d:]+\))?(?: =+)?$`)
	pytestSection = starting("___", `^_{3,} (ERROR at (?:setup|teardown) of |ERROR collecting )?(.+?) _{3,}$`)
	pytestPlace   = containing(".py", `^(?:E +File ")?([^\s:"][^:"]*\.py)(?:", line |:)(\d+)(?:: \S|$)`)
	pytestBanner  = starting("=", `^=+ (test session starts|short test summary info) =+$`)
	pytestCounts  = lazyregexp.New(`(\d+) (failed|errors?|passed|xfailed|xpassed)\b`)
)

// pytestReader reads pytest: the summary lists what failed, and the sections before it give the
// messages and the places.
type pytestReader struct {
	*collector
	root     string
	section  *Failure                   // the message and the place of the one that is read; nil if there is none
	sections map[pytestTitle][]*Failure // those that no line of a summary has taken yet
	held     int                        // how many sections are in that map
	summing  bool                       // the summary is being read
	listed   map[string]bool            // the summary's tests
	lines    int                        // of the summary
	failures []Failure
	best     *pytestSummary // of the session that is read
}

// pytestTitle is the title of a section. Tests of one name in several files have the same title.
type pytestTitle struct {
	name    string
	isError bool // in a fixture, a hook or while tests are collected
}

// pytestSummary is read from a line of totals and the summary above it. They are at the end of a
// session. The output may contain several lines of totals, because pytest repeats the output of a
// failing test, and a test may have printed such a line.
type pytestSummary struct {
	failed   int
	agrees   bool // the summary lists as many failures
	none     bool // the totals count no test that ran
	failures []Failure
}

func newPytest(c *collector) lineReader {
	return &pytestReader{collector: c, sections: map[pytestTitle][]*Failure{}, listed: map[string]bool{}}
}

func (p *pytestReader) line(line string) {
	if rest, ok := strings.CutPrefix(line, "rootdir: "); ok {
		p.root, _, _ = strings.Cut(rest, ", ")
		return
	}
	if m := pytestBanner.match(line); m != nil {
		p.summing = m[1] == "short test summary info"
		if !p.summing { // another session begins
			p.end()
		}
		p.failures, p.listed, p.lines, p.section = nil, map[string]bool{}, 0, nil
		return
	}
	if m := pytestSection.match(line); m != nil {
		p.begin(pytestTitle{m[2], m[1] != ""})
		return
	}
	if pytestTotals.match(line) != nil {
		p.totals(line)
		return
	}
	for _, word := range []string{"FAILED ", "ERROR "} {
		if rest, ok := strings.CutPrefix(line, word); ok && p.summing {
			p.summary(rest, word == "ERROR ")
			return
		}
	}
	details := p.section
	if details == nil {
		return
	}
	if rest, ok := strings.CutPrefix(line, "E   "); ok && len(details.Message) < maxMessage && !strings.HasPrefix(rest, "  File ") {
		details.Message += "\n" + strings.TrimSpace(rest)
	}
	// The last place counts: it is in the test itself, or in a function that the test called.
	if m := pytestPlace.match(line); m != nil && !strings.HasPrefix(m[1], "/usr/") {
		details.Path, details.Line = m[1], atoi(m[2])
	}
}

// begin begins a section. It is not kept if p.sections already has MaxFailures of them.
func (p *pytestReader) begin(title pytestTitle) {
	p.section = nil
	if p.held == MaxFailures {
		return
	}
	p.held++
	p.section = &Failure{}
	p.sections[title] = append(p.sections[title], p.section)
}

// take returns the message and the place that a section with a title has for a test in a file, and
// takes the section out. Of several it is the first whose place is in the file, or the first: sections
// and the lines of the summary have the same order.
func (p *pytestReader) take(title pytestTitle, file string) Failure {
	sections := p.sections[title]
	if len(sections) == 0 {
		return Failure{}
	}
	i := max(0, slices.IndexFunc(sections, func(f *Failure) bool { return f.Path == file }))
	taken := *sections[i]
	p.sections[title] = slices.Delete(sections, i, i+1)
	p.held--
	return taken
}

// summary reads "test_app.py::AddTest::test_add - AssertionError: -1 != 3".
func (p *pytestReader) summary(rest string, isError bool) {
	node, message, _ := strings.Cut(rest, " - ")
	if strings.Contains(node, "[") && !strings.HasSuffix(node, "]") { // the " - " is a parameter's
		node, message, _ = strings.Cut(rest, "] - ")
		node = strings.TrimSuffix(node, "]") + "]"
	}
	p.lines++
	key := text.TruncateBytes(node, maxName)
	if p.listed[key] || len(p.listed) == maxRunning {
		p.tally.lost = p.tally.lost || !p.listed[key]
		return
	}
	p.listed[key] = true
	if len(p.failures) == MaxFailures {
		return
	}
	file, test, isTest := strings.Cut(node, "::")
	f := Failure{Name: node, Unit: file, Cause: Failed, Message: message}
	title := pytestTitle{strings.ReplaceAll(test, "::", "."), isError}
	switch {
	case !isTest:
		f.Name, f.Cause, title.name = "", Build, file
	case isError:
		f.Cause = Crash // a fixture or a hook
	}
	details := p.take(title, file)
	f.Path, f.Line = details.Path, details.Line
	if f.Path == "" {
		f.Path = file
	}
	if details.Message != "" {
		f.Message = strings.TrimSpace(details.Message)
	}
	if p.root != "" && !strings.HasPrefix(f.Path, "/") {
		f.Path = p.root + "/" + f.Path
	}
	p.failures = append(p.failures, f)
}

// totals reads a line of totals. A test that failed, and then failed to clean up, is counted
// twice in that line, and has two lines in the summary; s.failed counts it once if these agree.
func (p *pytestReader) totals(line string) {
	s := &pytestSummary{none: true, failures: p.failures}
	for _, m := range pytestCounts.FindAllStringSubmatch(line, -1) {
		s.none = false
		if m[2] == "failed" || strings.HasPrefix(m[2], "error") {
			s.failed += atoi(m[1])
		}
	}
	s.agrees = s.failed > 0 && s.failed == p.lines
	if s.agrees {
		s.failed = len(p.listed)
	}
	if s.replaces(p.best) {
		p.best = s
	}
	p.recognised, p.summing = true, false
}

// replaces reports whether the totals s count instead of earlier ones, which are nil if there are
// none. Totals that agree with their summary count rather than those that do not. If both agree or
// neither does, the totals with more failures count, and of equal ones the later.
func (s *pytestSummary) replaces(before *pytestSummary) bool {
	switch {
	case before == nil:
		return true
	case s.agrees != before.agrees:
		return s.agrees
	}
	return s.failed >= before.failed
}

// end counts the session.
func (p *pytestReader) end() {
	if p.best == nil {
		return
	}
	p.failTotal(p.best.failures, p.best.failed)
	p.tally.end(p.best.none)
	p.best = nil
}
