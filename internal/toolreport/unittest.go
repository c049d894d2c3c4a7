package toolreport

import (
	"strings"

	"github.com/agent-airlock/airlock/internal/text"
)

var (
	unittestHead      = containing("", `^(FAIL|ERROR): (\S+)(?: \((\S+)\))?`)
	unittestFrame     = containing(`File "`, `^ +File "(.+)", line (\d+)`)
	unittestRan       = starting("Ran ", `^Ran (\d+) tests? in `)
	unittestSkipped   = containing("skipped=", `\bskipped=(\d+)`)
	unittestSuccesses = containing("unexpected successes", `unexpected successes=(\d+)`)
)

// unittestReader reads Python's unittest: a block for each failure, then how many tests
// ran.
type unittestReader struct {
	*collector
	failureList
	ruled bool // the line before was a rule of "="
	seen  map[string]bool
	ran   int
	ended bool
}

func newUnittest(c *collector) lineReader {
	return &unittestReader{collector: c, seen: map[string]bool{}}
}

func (u *unittestReader) line(line string) {
	ruled := u.ruled
	u.ruled = strings.HasPrefix(line, "======") && strings.Trim(line, "=") == ""
	if u.ruled {
		return
	}
	if ruled {
		if m := unittestHead.match(line); m != nil {
			u.block(m[2], m[3])
			return
		}
	}
	if m := unittestRan.match(line); m != nil {
		u.ran, u.ended, u.current = atoi(m[1]), true, nil
		return
	}
	isResult := line == "OK" || line == "FAILED" || startsWithAny(line, []string{"OK (", "FAILED (", "NO TESTS RAN"})
	if u.ended && isResult {
		u.totals(line)
		return
	}
	if u.current == nil {
		return
	}
	if m := unittestFrame.match(line); m != nil {
		if u.hasFile(m[1]) {
			u.current.Path, u.current.Line = m[1], atoi(m[2])
		}
	} else if line != "" && line[0] != ' ' && !strings.HasPrefix(line, "-----") && !strings.HasPrefix(line, "Traceback ") {
		u.describe(line, maxMessage)
	}
}

// block begins the block of a test. name is the test's name, and full is the text in parentheses
// after it: the test's full name, or before Python 3.11 its class. The parts of a test (subTest)
// are one test.
func (u *unittestReader) block(name, full string) {
	u.current = nil
	id := text.TruncateBytes(name+" "+full, maxName)
	if u.seen[id] {
		return
	}
	if len(u.seen) == maxRunning {
		u.tally.lost = true
		return
	}
	u.seen[id] = true
	f := Failure{Name: full, Unit: strings.TrimSuffix(full, "."+name), Cause: Failed}
	switch {
	case strings.Contains(full, "_FailedTest"):
		f.Name, f.Unit, f.Cause = "", name, Build
	case name == "setUpClass" || name == "setUpModule" || name == "tearDownClass" || name == "tearDownModule":
		f.Name, f.Cause = "", Crash
	case full == "":
		f.Name = name
	case !strings.HasSuffix(full, "."+name):
		f.Name, f.Unit = full+"."+name, full
	}
	if len(u.list) == MaxFailures {
		u.tally.failed++
	}
	u.begin(f)
}

func (u *unittestReader) totals(line string) {
	u.end()
	if m := unittestSkipped.match(line); m != nil {
		u.ran -= atoi(m[1])
	}
	u.tally.end(u.ran <= 0 && u.tally.failed == 0)
	u.recognised = true
	if m := unittestSuccesses.match(line); m != nil {
		u.tally.failed += atoi(m[1])
	}
}

// end counts the blocks, also those of a run that did not finish.
func (u *unittestReader) end() {
	u.failAll(u.list)
	u.failureList, u.seen, u.ended = failureList{}, map[string]bool{}, false
}
