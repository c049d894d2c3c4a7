package toolreport

import (
	"encoding/json"
	"regexp"
	"strings"
)

// jestReader reads jest: blocks that begin with a bullet, then the totals.
type jestReader struct {
	c      *collector
	totals *regexp.Regexp
	frame  *regexp.Regexp
	file   string
	seen   map[string]bool
	now    *Failure
	all    []Failure
	suites int // that failed to run
}

func newJest(c *collector) lineReader {
	return &jestReader{
		c:      c,
		totals: regexp.MustCompile(`^Tests: +(?:(\d+) failed(?:, |$))?(?:.*?)(\d+) total$`),
		frame:  regexp.MustCompile(`^\s+at .*?\(?((?:/|\w:|\.\.?/)?[^\s():]+):(\d+):\d+\)?$`),
		seen:   map[string]bool{},
	}
}

func (j *jestReader) line(line string) {
	line = clip(line, maxText)
	switch {
	case strings.HasPrefix(line, "FAIL "):
		j.file, _, _ = strings.Cut(strings.TrimSpace(line[len("FAIL "):]), " (")
		j.now = nil
	case strings.HasPrefix(line, "PASS "):
		j.file, j.now = "", nil
	case strings.HasPrefix(line, "Test Suites: "):
		j.now = nil
	case strings.HasPrefix(line, "No tests found, exiting with code"):
		j.c.tally.none, j.c.tally.closed, j.c.recognised = true, true, true
	case strings.HasPrefix(line, "  ● ") && j.file != "":
		j.begin(line[len("  ● "):])
	default:
		if m := findAt(j.totals, "Tests:", line); m != nil {
			j.close(number(m[1]))
			return
		}
		j.detail(line)
	}
}

func (j *jestReader) begin(title string) {
	j.now = nil
	key := clip(j.file+"\x00"+title, maxName)
	if title == "Console" || j.seen[key] || len(j.seen) == maxRunning {
		return
	}
	j.seen[key] = true
	f := Failure{Name: title, Unit: j.file, Cause: Failed}
	if title == "Test suite failed to run" {
		f.Name, f.Cause, f.Path = "", Build, j.file
		j.suites++
	}
	if len(j.all) == MaxFailures {
		return // the totals count it
	}
	j.all = append(j.all, f)
	j.now = &j.all[len(j.all)-1]
}

// detail reads a line of a block: the first lines are the message, the first
// frame outside of node_modules is the place.
func (j *jestReader) detail(line string) {
	if j.now == nil {
		return
	}
	if m := j.frame.FindStringSubmatch(line); m != nil {
		if j.now.Line == 0 && !strings.Contains(m[1], "node_modules") {
			j.now.Path, j.now.Line = m[1], number(m[2])
		}
		return
	}
	if text := strings.TrimSpace(line); text != "" && !strings.Contains(text, " | ") && !strings.HasPrefix(text, "|") && !strings.HasSuffix(text, " |") && len(j.now.Message) < maxMessage/2 && j.now.Line == 0 {
		j.now.Message = strings.TrimSpace(j.now.Message + "\n" + text)
	}
}

func (j *jestReader) close(failed int) {
	t := &j.c.tally
	before := t.failed
	for _, f := range j.all {
		j.c.fail(f)
	}
	t.failed = before + failed + j.suites
	t.closed, t.none, j.c.recognised = true, false, true
	j.all, j.seen, j.suites, j.now, j.file = nil, map[string]bool{}, 0, nil, ""
}

func (j *jestReader) end() {
	if len(j.all) > 0 { // the run did not come to its end
		for _, f := range j.all {
			j.c.fail(f)
		}
		j.c.tally.closed = false
	}
}

// readJest reads jest's --json, which vitest's JSON reporter prints, too.
func readJest(raw json.RawMessage, c *collector) string {
	var log struct {
		NumTotalTests int
		TestResults   []struct {
			Name, Status, Message string
			AssertionResults      []struct {
				FullName, Status string
				FailureMessages  []string
				Location         *struct{ Line int }
			}
		}
	}
	if json.Unmarshal(raw, &log) != nil {
		return ""
	}
	for _, file := range log.TestResults {
		failed := false
		for _, a := range file.AssertionResults {
			if a.Status != "failed" {
				continue
			}
			failed = true
			f := Failure{Name: a.FullName, Unit: file.Name, Cause: Failed, Path: file.Name, Message: strings.Join(a.FailureMessages, "\n")}
			if a.Location != nil {
				f.Line = a.Location.Line
			}
			c.fail(f)
		}
		if file.Status == "failed" && !failed {
			c.fail(Failure{Unit: file.Name, Cause: Build, Path: file.Name, Message: file.Message})
		}
	}
	c.tally.closed, c.tally.none = true, log.NumTotalTests == 0
	return "jest"
}
