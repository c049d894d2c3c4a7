package toolreport

import "strings"

var (
	minitestTotals = containing(" assertions, ", `^(\d+) (?:runs|tests), \d+ assertions, (\d+) failures, (\d+) errors(?:, (?:(\d+) skips|(\d+) pendings, (\d+) omissions))?`)
	minitestHead   = containing("", `^\s*(?:\d+\) )?(?:Failure|Error):$`)
	minitestName   = containing("#", `^(\S+#.+?)(?: \[(.+):(\d+)\])?:$`)
	minitestFrame  = starting("    ", `^    (\S+?):(\d+):in `)
	minitestSyntax = containing(": syntax error", `^(\S+?\.rb):(\d+): (syntax error.*)$`)
)

// minitestReader reads minitest, and test-unit, whose totals are similar.
type minitestReader struct {
	*collector
	failureList
	naming bool // the next line names the test
}

func newMinitest(c *collector) lineReader { return &minitestReader{collector: c} }

func (r *minitestReader) line(line string) {
	naming := r.naming
	r.naming = false
	if m := minitestTotals.match(line); m != nil {
		r.totals(atoi(m[1])-atoi(m[4])-atoi(m[5])-atoi(m[6]), atoi(m[2])+atoi(m[3]))
		return
	}
	if strings.HasSuffix(line, ":") && minitestHead.match(line) != nil {
		r.current, r.naming = nil, true
		return
	}
	if m := minitestSyntax.match(line); m != nil && r.current == nil {
		r.fail(Failure{Unit: m[1], Cause: Build, Path: m[1], Line: atoi(m[2]), Message: m[3]})
		return
	}
	if m := minitestName.match(line); m != nil && naming {
		r.begin(Failure{Name: m[1], Cause: Failed, Path: m[2], Line: atoi(m[3])})
		return
	}
	if r.current == nil {
		return
	}
	if m := minitestFrame.match(line); m != nil {
		if r.hasFile(m[1]) {
			r.current.locate(m[1], m[2])
		}
	} else if text := strings.TrimSpace(line); text != "" {
		r.describe(text, maxMessage)
	} else {
		r.current = nil
	}
}

func (r *minitestReader) totals(ran, failed int) {
	r.failTotal(r.list, failed)
	r.failureList = failureList{}
	r.tally.end(ran <= 0 && failed == 0)
	r.recognised = true
}

func (r *minitestReader) end() { r.failAll(r.list) }
