package toolreport

import "strings"

var (
	// Both signs begin with these bytes.
	avaTest   = containing("\xe2\x9c", `^\s*(?:✘ \[fail\]:|✖) (.+)$`)
	avaTotal  = starting("  ", `^  (\d+) (?:(?:tests?|hooks?) (failed|passed|skipped|todo)|(uncaught exceptions?|unhandled rejections?|known failures?))$`)
	avaPlace  = starting("  ", `^  (?:file://)?([^\s:]+\.[cm]?[jt]sx?):(\d+)$`)
	avaSource = starting("  ", `^ +\d+: `)
)

// avaReader reads AVA: a line for each test, a section for each that failed, and the totals,
// separated by lines of a single dash.
type avaReader struct {
	*collector
	failureList
	failing   []string // the lines of tests that failed, which may end in the reason
	separated bool     // a separator was read: sections or totals follow
	total     int
}

func newAVA(c *collector) lineReader { return &avaReader{collector: c} }

func (r *avaReader) line(line string) {
	if strings.TrimSpace(line) == "─" {
		r.separated, r.current = true, nil
		return
	}
	if m := avaTotal.match(line); m != nil && r.separated {
		r.recognised, r.tally.ended, r.current = true, true, nil
		isExpected := strings.HasPrefix(m[3], "known failure")
		if m[2] == "failed" || m[3] != "" && !isExpected {
			r.total += atoi(m[1])
		}
		return
	}
	if !r.separated {
		if m := avaTest.match(line); m != nil && len(r.failing) < MaxFailures {
			r.failing = append(r.failing, m[1])
		}
		return
	}
	name, isName := strings.CutPrefix(line, "  ")
	if isName && r.beginsSection(name) {
		r.begin(Failure{Name: name, Cause: Failed})
		return
	}
	if r.current == nil {
		return
	}
	m := avaPlace.match(line)
	if m == nil {
		m = jsFrame.match(line)
	}
	if m != nil && !inLibrary(m[1]) {
		r.current.locate(m[1], m[2])
		return
	}
	if text := strings.TrimSpace(line); text != "" && !strings.HasPrefix(text, "›") && !strings.HasPrefix(text, "at ") && avaSource.match(line) == nil {
		r.describe(text, maxName)
	}
}

// beginsSection reports whether a line is the name of a test that failed. The section of that test
// begins there, and the test is removed from failing, the tests whose section has not been read
// yet.
func (r *avaReader) beginsSection(name string) bool {
	if name == "" || name[0] == ' ' {
		return false
	}
	for i, listed := range r.failing {
		if rest, ok := strings.CutPrefix(listed, name); ok && (rest == "" || rest[0] == ' ') {
			r.failing = append(r.failing[:i], r.failing[i+1:]...)
			return true
		}
	}
	return false
}

func (r *avaReader) end() {
	if r.recognised {
		r.failTotal(r.list, r.total)
	}
}
