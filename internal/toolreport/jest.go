package toolreport

import (
	"strings"

	"github.com/agent-airlock/airlock/internal/text"
)

var jestTotals = starting("Tests:", `^Tests: +(?:(\d+) failed(?:, |$))?(?:.*?)(\d+) total$`)

// jestReader reads jest: blocks that begin with a bullet, then the totals.
type jestReader struct {
	*collector
	failureList
	file   string
	seen   map[string]bool // by file and title; a block that is printed again counts once
	suites int             // that failed to run
}

func newJest(c *collector) lineReader {
	return &jestReader{collector: c, seen: map[string]bool{}}
}

func (j *jestReader) line(line string) {
	switch {
	case strings.HasPrefix(line, "FAIL "):
		j.file, _, _ = strings.Cut(strings.TrimSpace(line[len("FAIL "):]), " (")
		j.current = nil
	case strings.HasPrefix(line, "PASS "):
		j.file, j.current = "", nil
	case strings.HasPrefix(line, "Test Suites: "):
		j.current = nil
	case strings.HasPrefix(line, "No tests found, exiting with code"):
		j.tally.noTests, j.tally.ended, j.recognised = true, true, true
	case strings.HasPrefix(line, "  ● ") && j.file != "":
		j.block(line[len("  ● "):])
	default:
		if m := jestTotals.match(line); m != nil {
			j.totals(atoi(m[1]), strings.Contains(line, " passed"))
			return
		}
		j.detail(line)
	}
}

// block begins the block of a test or a file, unless it was read already or is the log of a file.
func (j *jestReader) block(title string) {
	j.current = nil
	key := text.TruncateBytes(j.file+"\x00"+title, maxName)
	if title == "Console" || j.seen[key] || len(j.seen) == maxRunning {
		return
	}
	j.seen[key] = true
	f := Failure{Name: title, Unit: j.file, Cause: Failed}
	if title == "Test suite failed to run" {
		f.Name, f.Cause, f.Path = "", Build, j.file
		j.suites++
	}
	j.begin(f)
}

// detail reads a line of a block: the first lines are the message, and the first stack
// frame outside node_modules is the place.
func (j *jestReader) detail(line string) {
	if j.current == nil {
		return
	}
	if m := jsFrame.match(line); m != nil {
		if !inLibrary(m[1]) {
			j.current.locate(m[1], m[2])
		}
		return
	}
	text := strings.TrimSpace(line)
	isCode := strings.Contains(text, " | ") || strings.HasPrefix(text, "|") || strings.HasSuffix(text, " |")
	if text != "" && !isCode && j.current.Line == 0 {
		j.describe(text, maxMessage/2)
	}
}

// totals reads the totals of a run, which end it. Another run may follow.
func (j *jestReader) totals(failed int, passed bool) {
	j.failTotal(j.list, failed+j.suites)
	j.tally.end(failed+j.suites == 0 && !passed)
	j.recognised = true
	j.failureList, j.seen, j.suites, j.file = failureList{}, map[string]bool{}, 0, ""
}

func (j *jestReader) end() {
	if len(j.list) > 0 { // the run did not finish
		j.failAll(j.list)
		j.tally.ended = false
	}
}

// jestLog is what jest --json prints, and vitest's JSON reporter as well.
type jestLog struct {
	TestResults []struct {
		Name, Status, Message string
		AssertionResults      []struct {
			FullName, Status string
			FailureMessages  []string
			Location         struct{ Line int }
		}
	}
}

func (log jestLog) report(c *collector) {
	ran := false
	for _, file := range log.TestResults {
		failed := false
		for _, a := range file.AssertionResults {
			ran = ran || a.Status == "passed" || a.Status == "failed"
			if a.Status == "failed" {
				failed = true
				c.fail(Failure{Name: a.FullName, Unit: file.Name, Cause: Failed, Path: file.Name, Line: a.Location.Line, Message: strings.Join(a.FailureMessages, "\n")})
			}
		}
		if file.Status == "failed" && !failed {
			c.fail(Failure{Unit: file.Name, Cause: Build, Path: file.Name, Message: file.Message})
		}
	}
	c.tally.ended, c.tally.noTests = true, !ran
}
