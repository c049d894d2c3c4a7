package toolreport

import (
	"regexp"
	"strings"
)

// minitestReader reads minitest, and test-unit, which closes alike.
type minitestReader struct {
	c       *collector
	closing *regexp.Regexp
	head    *regexp.Regexp
	name    *regexp.Regexp
	frame   *regexp.Regexp
	syntax  *regexp.Regexp
	naming  bool // the next line names the test
	now     *Failure
	all     []Failure
}

func newMinitest(c *collector) lineReader {
	return &minitestReader{
		c:       c,
		closing: regexp.MustCompile(`^(\d+) (?:runs|tests), \d+ assertions, (\d+) failures, (\d+) errors`),
		head:    regexp.MustCompile(`^\s*(?:\d+\) )?(?:Failure|Error):$`),
		name:    regexp.MustCompile(`^(\S+#.+?)(?: \[(.+):(\d+)\])?:$`),
		frame:   regexp.MustCompile(`^    (\S+?):(\d+):in `),
		syntax:  regexp.MustCompile(`^(\S+?\.rb):(\d+): (syntax error.*)$`),
	}
}

func (r *minitestReader) line(line string) {
	line = clip(line, maxText)
	naming := r.naming
	r.naming = false
	if m := find(r.closing, " assertions, ", line); m != nil {
		r.close(number(m[1]), number(m[2])+number(m[3]))
		return
	}
	if strings.HasSuffix(line, ":") && r.head.MatchString(line) {
		r.now, r.naming = nil, true
		return
	}
	if m := find(r.syntax, ": syntax error", line); m != nil && r.now == nil {
		r.c.fail(Failure{Unit: m[1], Cause: Build, Path: m[1], Line: number(m[2]), Message: m[3]})
		return
	}
	if m := find(r.name, "#", line); m != nil && naming {
		if len(r.all) < MaxFailures {
			r.all = append(r.all, Failure{Name: m[1], Cause: Failed, Path: m[2], Line: number(m[3])})
			r.now = &r.all[len(r.all)-1]
		}
		return
	}
	if r.now == nil {
		return
	}
	if m := r.frame.FindStringSubmatch(line); m != nil {
		if _, ok := r.c.places.rel(m[1]); ok && r.now.Line == 0 {
			r.now.Path, r.now.Line = m[1], number(m[2])
		}
	} else if strings.TrimSpace(line) == "" {
		r.now = nil
	} else if len(r.now.Message) < maxMessage {
		r.now.Message = strings.TrimSpace(r.now.Message + "\n" + strings.TrimSpace(line))
	}
}

func (r *minitestReader) close(ran, failed int) {
	t := &r.c.tally
	before := t.failed
	r.end()
	t.failed = before + failed
	t.none = ran == 0 && failed == 0 && (t.none || !t.closed)
	t.closed, r.c.recognised = true, true
}

func (r *minitestReader) end() {
	for _, f := range r.all {
		r.c.fail(f)
	}
	r.all, r.now = nil, nil
}
