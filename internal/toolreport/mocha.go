package toolreport

import "strings"

var (
	mochaPassing = containing(" passing (", `^  (\d+) passing \(`)
	mochaFailing = containing(" failing", `^  (\d+) failing$`)
	mochaHead    = starting("  ", `^  (\d+)\) (.*)$`)
)

// jsFrame matches a line of a stack trace of JavaScript. Directories may have spaces and parentheses;
// a part of node itself, such as node:internal/timers, counts as a path, see inLibrary.
var jsFrame = containing(" at ", `^\s+at (?:.*? \(|async )?((?:file://|node:|[A-Za-z]:)?[^:]+):(\d+):\d+\)?$`)

// mochaReader reads mocha's spec reporter, and the other reporters whose output ends in the same
// way.
type mochaReader struct {
	*collector
	failureList
	passed, failed int
	totals         bool // they were read: the failures follow
	title          bool // the next line continues the failure's title
}

func newMocha(c *collector) lineReader { return &mochaReader{collector: c} }

func (r *mochaReader) line(line string) {
	if m := mochaPassing.match(line); m != nil {
		r.flush()
		r.passed += atoi(m[1])
		r.totals, r.recognised = true, true
		return
	}
	if m := mochaFailing.match(line); m != nil && r.totals {
		r.failed += atoi(m[1])
		return
	}
	if strings.HasPrefix(line, " Exception during run:") || strings.HasPrefix(line, "Error: Cannot find module") {
		path, at, _ := cutLastColon(strings.TrimSpace(strings.TrimPrefix(line, " Exception during run:")))
		if atoi(at) == 0 {
			path = "" // the line has the error that the file threw, not its place
		}
		r.fail(Failure{Cause: Build, Path: path, Line: atoi(at), Message: strings.TrimSpace(line)})
		return
	}
	if !r.totals {
		return
	}
	if m := mochaHead.match(line); m != nil {
		title, ended := strings.CutSuffix(m[2], ":")
		r.begin(Failure{Name: title, Cause: Failed})
		r.title = !ended
		return
	}
	if r.current != nil {
		r.detail(line)
	}
}

func (r *mochaReader) detail(line string) {
	text := strings.TrimSpace(line)
	if r.title {
		title, ended := strings.CutSuffix(text, ":")
		r.title = !ended
		r.current.Name += " " + title
		if strings.HasPrefix(text, `"before `) || strings.HasPrefix(text, `"after `) {
			r.current.Cause = Crash
		}
		return
	}
	mochaDetail(r.current, line)
}

// mochaDetail reads a line below a failed test: the first is the message, and the first stack
// frame outside of node and of libraries is the place.
func mochaDetail(f *Failure, line string) {
	if m := jsFrame.match(line); m != nil {
		if !inLibrary(m[1]) {
			f.locate(m[1], m[2])
		}
	} else if f.Message == "" {
		f.Message = strings.TrimSpace(line)
	}
}

// flush counts a run that is over. Another may follow in the same output.
func (r *mochaReader) flush() {
	if !r.totals {
		return
	}
	r.failTotal(r.list, r.failed)
	r.tally.ended = true
	r.tally.noTests = r.passed == 0 && r.failed == 0
	r.failureList, r.failed = failureList{}, 0
}

func (r *mochaReader) end() { r.flush() }

// mochaLog is what mocha's JSON reporter prints.
type mochaLog struct {
	Stats    struct{ Passes int }
	Failures []struct {
		FullTitle, File string
		Err             struct{ Message string }
	}
}

func (log mochaLog) report(c *collector) {
	for _, f := range log.Failures {
		c.fail(Failure{Name: f.FullTitle, Unit: f.File, Cause: Failed, Path: f.File, Message: f.Err.Message})
	}
	c.tally.ended, c.tally.noTests = true, log.Stats.Passes+len(log.Failures) == 0
}
