package toolreport

import (
	"regexp"
	"strings"
)

// pytestReader reads pytest's summary: what failed, with the places that the
// sections before it name.
type pytestReader struct {
	c        *collector
	closing  *regexp.Regexp
	numbers  *regexp.Regexp
	section  *regexp.Regexp
	place    *regexp.Regexp
	banner   *regexp.Regexp
	root     string
	name     string // of the section that is read
	said     map[string]pytestSection
	summing  bool            // the summary is read
	listed   map[string]bool // the summary's tests
	lines    int             // of the summary
	failures []Failure
	best     *pytestTotals // of the session that is read
}

// pytestTotals is what a last line of a session says, with the summary above it. What
// a failing test printed is repeated, and may look like one.
type pytestTotals struct {
	failed   int
	agree    bool // the summary names as many
	none     bool
	failures []Failure
}

type pytestSection struct {
	path, message string
	line          int
}

func newPytest(c *collector) lineReader {
	return &pytestReader{
		c:       c,
		closing: regexp.MustCompile(`^(?:=+ )?(?:no tests ran|\d+ [a-z]+(?:, \d+ [a-z]+)*) in [\d.:]+s(?: \([\d:]+\))?(?: =+)?$`),
		numbers: regexp.MustCompile(`(\d+) (failed|errors?|passed|skipped|xfailed|xpassed)\b`),
		section: regexp.MustCompile(`^_{3,} (?:ERROR at (?:setup|teardown) of |ERROR collecting )?(.+?) _{3,}$`),
		place:   regexp.MustCompile(`^(?:E +File ")?([^\s:"][^:"]*\.py)(?:", line |:)(\d+)(?:: \S|$)`),
		banner:  regexp.MustCompile(`^=+ (test session starts|short test summary info) =+$`),
		said:    map[string]pytestSection{}, listed: map[string]bool{},
	}
}

func (p *pytestReader) line(line string) {
	line = clip(line, maxText)
	if strings.HasPrefix(line, "rootdir: ") {
		p.root, _, _ = strings.Cut(line[len("rootdir: "):], ", ")
		return
	}
	if m := findAt(p.banner, "=", line); m != nil {
		if p.summing = m[1] == "short test summary info"; !p.summing {
			p.end()
		}
		p.failures, p.listed, p.lines, p.name = nil, map[string]bool{}, 0, ""
		return
	}
	if m := findAt(p.section, "___", line); m != nil {
		p.name = m[1]
		return
	}
	if strings.Contains(line, " in ") && p.closing.MatchString(line) {
		p.close(line)
		return
	}
	for _, word := range []string{"FAILED ", "ERROR "} {
		if rest, ok := strings.CutPrefix(line, word); ok && p.summing {
			p.summary(rest, word == "ERROR ")
			return
		}
	}
	if p.name == "" || len(p.said) > MaxFailures {
		return
	}
	s := p.said[p.name]
	if rest, ok := strings.CutPrefix(line, "E   "); ok && len(s.message) < maxMessage && !strings.HasPrefix(rest, "  File ") {
		s.message += "\n" + strings.TrimSpace(rest)
	}
	// The last place is where the test itself failed, or what it called.
	if m := p.place.FindStringSubmatch(line); m != nil && !strings.HasPrefix(m[1], "/usr/") {
		s.path, s.line = m[1], number(m[2])
	}
	p.said[p.name] = s
}

// summary reads "test_app.py::AddTest::test_add - AssertionError: -1 != 3".
func (p *pytestReader) summary(rest string, isError bool) {
	node, message, _ := strings.Cut(rest, " - ")
	if strings.Contains(node, "[") && !strings.HasSuffix(node, "]") { // the blanks are a parameter's
		node, message, _ = strings.Cut(rest, "] - ")
		node = strings.TrimSuffix(node, "]") + "]"
	}
	p.lines++
	key := clip(node, maxName)
	if p.listed[key] || len(p.listed) == maxRunning {
		p.c.tally.lost = p.c.tally.lost || !p.listed[key]
		return
	}
	p.listed[key] = true
	file, test, isTest := strings.Cut(node, "::")
	f := Failure{Name: node, Unit: file, Cause: Failed, Message: message}
	key = strings.ReplaceAll(test, "::", ".")
	if !isTest {
		f.Name, f.Cause, key = "", Build, file
	}
	s := p.said[key]
	if isError && isTest {
		f.Cause = Crash // a fixture or a hook
	}
	f.Path, f.Line = s.path, s.line
	if f.Path == "" {
		f.Path = file
	}
	if s.message != "" {
		f.Message = strings.TrimSpace(s.message)
	}
	if p.root != "" && !strings.HasPrefix(f.Path, "/") {
		f.Path = p.root + "/" + f.Path
	}
	if len(p.failures) < MaxFailures {
		p.failures = append(p.failures, f)
	}
}

// close reads a last line. A test that failed and whose clean-up failed too is
// counted twice there, and once here. Of several the one counts that the summary
// above it bears out, or else the worst.
func (p *pytestReader) close(line string) {
	t := &pytestTotals{none: true, failures: p.failures}
	for _, m := range p.numbers.FindAllStringSubmatch(line, -1) {
		t.none = false
		if m[2] == "failed" || strings.HasPrefix(m[2], "error") {
			t.failed += number(m[1])
		}
	}
	if t.agree = t.failed > 0 && t.failed == p.lines; t.agree {
		t.failed = len(p.listed)
	}
	if b := p.best; b == nil || t.agree && !b.agree || t.agree == b.agree && t.failed >= b.failed {
		p.best = t
	}
	p.c.recognised, p.summing = true, false
}

// end counts the session.
func (p *pytestReader) end() {
	b, t := p.best, &p.c.tally
	if b == nil {
		return
	}
	before := t.failed
	for _, f := range b.failures {
		p.c.fail(f)
	}
	t.failed = before + b.failed
	t.none = b.none && (t.none || !t.closed)
	t.closed, p.best = true, nil
}
