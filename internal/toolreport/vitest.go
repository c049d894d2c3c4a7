package toolreport

import (
	"regexp"
	"strings"
)

// vitestRun is what both streams of vitest say together: the failures stand on
// standard error, the totals on standard output.
type vitestRun struct {
	c       *collector
	suites  int // files that failed to load, hooks
	tests   int
	closed  bool
	listed  []Failure
	section *regexp.Regexp
	totals  *regexp.Regexp
	place   *regexp.Regexp
}

type vitestReader struct {
	*vitestRun
	in  string // the section
	now *Failure
	out bool
}

func openVitest(c *collector) [2]lineReader {
	run := &vitestRun{
		c:       c,
		section: regexp.MustCompile(`^⎯+ (Failed Suites|Failed Tests|Unhandled Errors?|[A-Z][\w ]*?)(?: (\d+))? ⎯+$`),
		totals:  regexp.MustCompile(`^ +Tests  (?:(\d+) failed)?.*?(?:\((\d+)\)|no tests)$`),
		place:   regexp.MustCompile(`^ ❯ (?:.* )?([^\s()]+?):(\d+):\d+\)?$`),
	}
	return [2]lineReader{&vitestReader{vitestRun: run, out: true}, &vitestReader{vitestRun: run}}
}

func (v *vitestReader) line(line string) {
	line = clip(line, maxText)
	if m := findAt(v.section, "⎯", line); m != nil {
		v.in, v.now = m[1], nil
		if v.in == "Failed Suites" {
			v.suites += number(m[2])
		}
		return
	}
	if m := find(v.totals, " Tests  ", line); m != nil {
		v.closed, v.in, v.now = true, "", nil
		v.tests += number(m[1])
		return
	}
	switch {
	case strings.HasPrefix(line, " Test Files  "):
		v.c.recognised = true
	case strings.HasPrefix(line, "No test files found"):
		v.c.recognised, v.closed, v.c.tally.none = true, true, true
	case strings.HasPrefix(line, " FAIL  ") && strings.HasPrefix(v.in, "Failed"):
		v.begin(strings.TrimSpace(line[len(" FAIL  "):]))
	case v.now == nil:
	case strings.HasPrefix(line, " ❯ "):
		if m := v.place.FindStringSubmatch(line); m != nil && v.now.Line == 0 && !strings.Contains(m[1], "node_modules") {
			v.now.Path, v.now.Line = m[1], number(m[2])
		}
	case v.now.Message == "" && strings.TrimSpace(line) != "":
		v.now.Message = strings.TrimSpace(line)
	}
}

// begin reads "add.test.js > add > throws" and "load.test.js [ load.test.js ]".
func (v *vitestReader) begin(title string) {
	v.now = nil
	if len(v.listed) >= MaxFailures {
		return
	}
	file, name, _ := strings.Cut(title, " > ")
	f := Failure{Name: name, Unit: file, Cause: Failed}
	if v.in == "Failed Suites" {
		file, _, _ = strings.Cut(file, " [ ")
		f.Unit, f.Cause, f.Path = file, Build, file
	}
	v.listed = append(v.listed, f)
	v.now = &v.listed[len(v.listed)-1]
}

// end is called for standard error first; standard output then counts.
func (v *vitestReader) end() {
	if !v.out {
		return
	}
	for _, f := range v.listed {
		v.c.fail(f)
	}
	v.listed = nil
	v.c.tally.closed = v.closed
	if v.closed {
		v.c.tally.failed = v.tests + v.suites
	}
}
