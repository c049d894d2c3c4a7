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
	root     string
	name     string // of the section that is read
	said     map[string]pytestSection
	listed   map[string]bool // the summary's tests
	lines    int             // of the summary
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
		said:    map[string]pytestSection{}, listed: map[string]bool{},
	}
}

func (p *pytestReader) line(line string) {
	line = clip(line, maxText)
	if strings.HasPrefix(line, "rootdir: ") {
		p.root, _, _ = strings.Cut(line[len("rootdir: "):], ", ")
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
		if rest, ok := strings.CutPrefix(line, word); ok && p.name != "" {
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

// close reads the last line. A test that failed and whose clean-up failed too
// is counted twice there, and once here.
func (p *pytestReader) close(line string) {
	counted, ran := 0, false
	for _, m := range p.numbers.FindAllStringSubmatch(line, -1) {
		ran = true
		if m[2] == "failed" || strings.HasPrefix(m[2], "error") {
			counted += number(m[1])
		}
	}
	t := &p.c.tally
	for _, f := range p.failures {
		p.c.fail(f)
	}
	if counted != p.lines {
		t.failed += counted - len(p.failures) // not all are listed
	} else {
		t.failed += len(p.listed) - len(p.failures)
	}
	t.none = !ran && !t.closed
	t.closed, p.c.recognised = true, true
	p.failures, p.listed, p.lines, p.name = nil, map[string]bool{}, 0, ""
}

func (p *pytestReader) end() {}
