package toolreport

import (
	"regexp"
	"strings"
)

// unittestReader reads Python's unittest: a block for each failure, then how
// many tests ran.
type unittestReader struct {
	c       *collector
	head    *regexp.Regexp
	frame   *regexp.Regexp
	closing *regexp.Regexp
	counts  *regexp.Regexp
	ruled   bool // the line before was a rule of "="
	seen    map[string]bool
	now     *Failure
	all     []Failure
	ran     int
	ended   bool
}

func newUnittest(c *collector) lineReader {
	return &unittestReader{
		c:       c,
		head:    regexp.MustCompile(`^(FAIL|ERROR): (\S+)(?: \((\S+)\))?`),
		frame:   regexp.MustCompile(`^ +File "(.+)", line (\d+)`),
		closing: regexp.MustCompile(`^Ran (\d+) tests? in `),
		counts:  regexp.MustCompile(`unexpected successes=(\d+)`),
		seen:    map[string]bool{},
	}
}

func (u *unittestReader) line(line string) {
	line = clip(line, maxText)
	ruled := u.ruled
	u.ruled = strings.HasPrefix(line, "======") && strings.Trim(line, "=") == ""
	if u.ruled {
		return
	}
	if m := u.head.FindStringSubmatch(line); m != nil && ruled {
		u.begin(m)
		return
	}
	if m := findAt(u.closing, "Ran ", line); m != nil {
		u.ran, u.ended, u.now = number(m[1]), true, nil
		return
	}
	if u.ended && (line == "OK" || strings.HasPrefix(line, "OK (") || line == "FAILED" || strings.HasPrefix(line, "FAILED (") || strings.HasPrefix(line, "NO TESTS RAN")) {
		u.close(line)
		return
	}
	if u.now == nil {
		return
	}
	if m := u.frame.FindStringSubmatch(line); m != nil {
		if _, ok := u.c.places.rel(m[1]); ok {
			u.now.Path, u.now.Line = m[1], number(m[2])
		}
	} else if line != "" && line[0] != ' ' && !strings.HasPrefix(line, "-----") && !strings.HasPrefix(line, "Traceback ") && len(u.now.Message) < maxMessage {
		u.now.Message = strings.TrimSpace(u.now.Message + "\n" + line)
	}
}

// begin begins a block. A test's parts (subTest) are one test.
func (u *unittestReader) begin(m []string) {
	id := clip(m[2]+" "+m[3], maxName)
	u.now = &Failure{}
	if u.seen[id] {
		return
	}
	if len(u.seen) == maxRunning {
		u.c.tally.lost = true
		return
	}
	u.seen[id] = true
	f := Failure{Name: m[3], Unit: strings.TrimSuffix(m[3], "."+m[2]), Cause: Failed}
	if m[3] == "" {
		f.Name = m[2]
	}
	switch {
	case strings.Contains(m[3], "_FailedTest"):
		f.Name, f.Unit, f.Cause = "", m[2], Build
	case m[2] == "setUpClass" || m[2] == "setUpModule" || m[2] == "tearDownClass" || m[2] == "tearDownModule":
		f.Name, f.Cause = "", Crash
	case !strings.HasSuffix(m[3], "."+m[2]) && m[3] != "": // before Python 3.11
		f.Name = m[3] + "." + m[2]
		f.Unit = m[3]
	}
	if len(u.all) == MaxFailures {
		u.c.tally.failed++
		return
	}
	u.all = append(u.all, f)
	u.now = &u.all[len(u.all)-1]
}

func (u *unittestReader) close(line string) {
	u.end()
	t := &u.c.tally
	t.none = u.ran == 0 && t.failed == 0 && (t.none || !t.closed)
	t.closed, u.c.recognised = true, true
	if m := u.counts.FindStringSubmatch(line); m != nil {
		t.failed += number(m[1])
	}
}

// end counts the blocks, also of a run that did not come to its end.
func (u *unittestReader) end() {
	for _, f := range u.all {
		u.c.fail(f)
	}
	u.all, u.seen, u.now, u.ended = nil, map[string]bool{}, nil, false
}
