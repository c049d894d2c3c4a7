package toolreport

import (
	"regexp"
	"strings"
)

// tapReader reads the Test Anything Protocol, with the subtests of TAP 14 and
// of node's runner: indented by four, before the test that they belong to.
type tapReader struct {
	c       *collector
	point   *regexp.Regexp
	plan    *regexp.Regexp
	at      *regexp.Regexp
	below   []bool // by depth: a test failed there since the last test above it
	planned int    // -1: no plan yet
	points  int    // tests of the outermost level
	version bool
	bailed  bool
	syntax  bool // a comment named a syntax error
	now     *Failure
	parent  bool // its subtests failed
	count   int
	all     []Failure
}

func newTAP(c *collector) lineReader {
	return &tapReader{
		c:       c,
		point:   regexp.MustCompile(`^( *)(not )?ok\b(?: +\d+)?(?: +- | +|$)(.*)$`),
		plan:    regexp.MustCompile(`^1\.\.(\d+)(?: |$)`),
		at:      regexp.MustCompile(`^ *(location|at|file|line|error|message|failureType|exitCode): *['"]?(.*?)['"]?$`),
		planned: -1,
	}
}

func (t *tapReader) line(line string) {
	line = clip(line, maxText)
	if m := find(t.point, "ok", line); m != nil && (t.version || t.planned >= 0 || m[1] == "") {
		t.flush()
		t.test(len(m[1])/4, m[2] == "", m[3])
		return
	}
	switch {
	case strings.HasPrefix(line, "TAP version "):
		t.flush()
		t.version, t.c.recognised = true, true
	case strings.HasPrefix(line, "Bail out!"):
		t.bailed = true
	case strings.HasPrefix(line, "# SyntaxError"):
		t.syntax = true
	case t.now != nil && t.detail(line):
	default:
		if m := findAt(t.plan, "1..", line); m != nil {
			t.planned = max(t.planned, 0) + number(m[1])
		}
	}
}

// test reads a test's line. One whose subtests failed is not counted.
func (t *tapReader) test(depth int, ok bool, text string) {
	depth = min(depth, 100)
	if depth == 0 {
		t.points++
	}
	name, directive := directiveOf(text)
	for len(t.below) <= depth+1 {
		t.below = append(t.below, false)
	}
	t.parent = t.below[depth+1]
	clear(t.below[depth+1:])
	if ok || directive == "TODO" || directive == "SKIP" {
		t.syntax = false
		return
	}
	t.below[depth] = true
	t.now = &Failure{Name: name, Cause: Failed}
	if t.syntax && depth == 0 {
		t.now.Cause = Build
	}
	t.syntax = false
}

// directiveOf splits "name # TODO reason"; an escaped "#" belongs to the name.
func directiveOf(text string) (name, directive string) {
	text = strings.ReplaceAll(text, `\#`, "\x00")
	name, rest, _ := strings.Cut(text, " # ")
	if word, _, _ := strings.Cut(strings.TrimSpace(rest), " "); word != "" {
		directive = strings.ToUpper(strings.TrimRight(word, ":"))
	}
	return strings.TrimSpace(strings.ReplaceAll(name, "\x00", "#")), directive
}

// detail reads a line of the block in YAML behind a failed test.
func (t *tapReader) detail(line string) bool {
	m := t.at.FindStringSubmatch(line)
	if m == nil {
		return strings.HasPrefix(line, " ")
	}
	f := t.now
	switch m[1] {
	case "location":
		path, r := position(m[2])
		f.Path, f.Line = path, r.StartLine
	case "file":
		f.Path = m[2]
	case "line":
		f.Line = number(m[2])
	case "error", "message":
		if f.Message == "" && !strings.HasPrefix(m[2], "|") && !strings.HasPrefix(m[2], ">") { // else a block follows
			f.Message = m[2]
		}
	case "failureType":
		t.parent = t.parent || m[2] == "subtestsFailed"
		if m[2] == "testTimeoutFailure" || m[2] == "cancelledByParent" {
			f.Cause = Timeout
		}
	case "exitCode":
		if f.Cause == Failed {
			f.Cause = Crash
		}
		f.Unit, f.Name = f.Name, ""
	}
	return true
}

// flush counts the last failed test, now that its block is read.
func (t *tapReader) flush() {
	if t.now != nil && !t.parent {
		if t.count++; len(t.all) < MaxFailures {
			t.all = append(t.all, *t.now)
		}
	}
	t.now = nil
}

// end judges whether the output is TAP, and whole.
func (t *tapReader) end() {
	t.flush()
	if !t.version && t.planned < 0 {
		return // other output, a line of which begins with "ok"
	}
	tally := &t.c.tally
	for _, f := range t.all {
		t.c.fail(f)
	}
	tally.failed += t.count - len(t.all)
	whole := t.planned >= 0 && t.points >= t.planned && !t.bailed
	if !whole && t.planned > t.points {
		t.c.fail(Failure{Cause: Crash, Message: "fewer tests ran than were planned"})
	}
	if t.points > 0 && t.planned >= 0 {
		t.c.recognised = true
	}
	tally.closed = tally.closed || whole
	tally.none = tally.none || whole && t.planned == 0
}
