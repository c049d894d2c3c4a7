package toolreport

import "strings"

var (
	tapPoint  = containing("ok", `^( *)(not )?ok\b(?: +\d+)?(?: +- | +|$)(.*)$`)
	tapPlan   = starting("1..", `^1\.\.(\d+)(?: |$)`)
	tapDetail = containing(":", `^ *(location|at|operator|file|line|error|message|failureType|exitCode): *['"]?(.*?)['"]?$`)
	tapFrame  = containing(":", `^(?:.*\()?([^()]+):(\d+):\d+\)?$`)
)

// tapReader reads the Test Anything Protocol, with the subtests of TAP 14 and of node's
// runner: indented by four, before the test that they belong to.
type tapReader struct {
	*collector
	levels     []tapLevel // by depth
	ran        bool       // a test without subtests was not skipped
	planned    int        // -1: no plan yet
	points     int        // tests of the outermost level
	hasVersion bool
	bailed     bool
	syntax     bool     // a comment named a syntax error
	test       *Failure // whose block is read
	yaml       bool     // that block is YAML, as it should be
	wasPoint   bool     // the line before was a test's
	block      int      // how far the block of YAML that is read is indented; 0: there is none
	isParent   bool     // its subtests failed
	count      int      // tests that failed, without those whose subtests failed
	listed     []Failure
	comment    string // the last comment: tape prints the name of a test before its assertions
}

// tapLevel is what was read at one depth since the last test of the level above.
type tapLevel struct {
	tests  bool // there was a test
	failed bool // one failed
}

func newTAP(c *collector) lineReader { return &tapReader{collector: c, planned: -1} }

func (t *tapReader) line(line string) {
	if t.inBlock(line) {
		if t.test != nil {
			t.detail(line)
		}
		return
	}
	if m := tapPoint.match(line); m != nil && (t.hasVersion || t.planned >= 0 || m[1] == "") {
		t.flush()
		t.point(len(m[1])/4, m[2] == "", m[3])
		t.wasPoint = true
		return
	}
	switch {
	case strings.HasPrefix(line, "TAP version "):
		t.flush()
		t.hasVersion, t.recognised = true, true
	case line == "Result: NOTESTS": // prove's, for files that it found nothing in
		t.flush()
		t.recognised = true
		t.tally.end(true)
	case strings.HasPrefix(line, "Bail out!"):
		t.bailed = true
	case strings.HasPrefix(line, "# SyntaxError"):
		t.syntax = true
	case strings.HasPrefix(line, "# "):
		t.comment = ""
		if !strings.HasPrefix(line, "# Subtest: ") { // node announces a test so, and reports it in another line
			t.comment = strings.TrimSpace(line[2:])
		}
	case t.test != nil && t.detail(line):
	default:
		if m := tapPlan.match(line); m != nil {
			t.planned = max(t.planned, 0) + atoi(m[1])
		}
	}
}

// inBlock reports whether a line belongs to the block of YAML after a test's line, which may quote
// anything, such as other tests' lines.
func (t *tapReader) inBlock(line string) bool {
	text := strings.TrimLeft(line, " ")
	indent := len(line) - len(text)
	switch {
	case t.wasPoint && indent > 0 && text == "---":
		t.block = indent
	case text != "" && indent < t.block, text == "..." && indent == t.block: // it was cut off, or ends
		t.block = 0
	}
	t.wasPoint = false
	return t.block > 0
}

// point reads a test's line. Whether the test is counted as failed, flush decides.
func (t *tapReader) point(depth int, ok bool, text string) {
	depth = min(depth, 100)
	if depth == 0 {
		t.points++
	}
	name, directive := tapDirective(text)
	for len(t.levels) <= depth+1 {
		t.levels = append(t.levels, tapLevel{})
	}
	t.ran = t.ran || directive != "SKIP" && !t.levels[depth+1].tests
	t.isParent = t.levels[depth+1].failed
	clear(t.levels[depth+1:])
	t.levels[depth].tests = true
	syntax := t.syntax
	t.syntax = false
	if ok || directive == "TODO" || directive == "SKIP" {
		return
	}
	t.levels[depth].failed = true
	t.test, t.yaml = &Failure{Name: name, Cause: Failed}, false
	if syntax && depth == 0 {
		t.test.Cause = Build
	}
}

// tapDirective splits "name # TODO reason", also where there is no name. An escaped "#" belongs to the
// name.
func tapDirective(text string) (name, directive string) {
	text = strings.ReplaceAll(text, `\#`, "\x00")
	name, rest, _ := strings.Cut(" "+text, " # ")
	directive, _, _ = strings.Cut(strings.TrimSpace(rest), " ")
	return strings.TrimSpace(strings.ReplaceAll(name, "\x00", "#")), strings.ToUpper(strings.TrimRight(directive, ":"))
}

// detail reads a line of the block after a failed test: YAML or, as mocha prints it, a message and
// a stack trace. It reports whether the line belongs to the block.
func (t *tapReader) detail(line string) bool {
	f := t.test
	if strings.TrimSpace(line) == "---" {
		t.yaml = true
	}
	if !t.yaml && strings.HasPrefix(line, "  ") {
		mochaDetail(f, line)
		return true
	}
	m := tapDetail.match(line)
	if m == nil {
		return strings.HasPrefix(line, " ")
	}
	switch key, value := m[1], m[2]; key {
	case "location":
		path, lines := position(value)
		f.Path, f.Line = path, lines.StartLine
	case "operator": // tape's: what failed is one assertion of the test
		if t.comment != "" {
			f.Name = strings.TrimSpace(t.comment + " " + f.Name)
		}
	case "at":
		if frame := tapFrame.match(value); frame != nil && f.Path == "" {
			f.Path, f.Line = frame[1], atoi(frame[2])
		}
	case "file":
		f.Path = value
	case "line":
		f.Line = atoi(value)
	case "error", "message":
		if f.Message == "" && !strings.HasPrefix(value, "|") && !strings.HasPrefix(value, ">") { // those begin a block
			f.Message = value
		}
	case "failureType":
		t.isParent = t.isParent || value == "subtestsFailed"
		if value == "testTimeoutFailure" || value == "cancelledByParent" {
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

// flush counts the last failed test, now that its block is read, unless its subtests failed.
func (t *tapReader) flush() {
	if t.test != nil && !t.isParent {
		t.count++
		if len(t.listed) < MaxFailures {
			t.listed = append(t.listed, *t.test)
		}
	}
	t.test = nil
}

// end decides whether the output is TAP, and complete.
func (t *tapReader) end() {
	t.flush()
	if !t.hasVersion && t.planned < 0 {
		return // other output with a line that begins with "ok"
	}
	t.failTotal(t.listed, t.count)
	complete := t.planned >= 0 && t.points >= t.planned && !t.bailed
	if t.planned > t.points {
		t.fail(Failure{Cause: Crash, Message: "fewer tests ran than were planned"})
	}
	if t.points > 0 && t.planned >= 0 {
		t.recognised = true
	}
	t.tally.ended = t.tally.ended || complete
	t.tally.noTests = t.tally.noTests || complete && !t.ran
}
