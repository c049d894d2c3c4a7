package toolreport

import (
	"encoding/json"
	"regexp"
	"strings"
)

// mochaReader reads mocha's spec form, and the others that close like it.
type mochaReader struct {
	c       *collector
	passing *regexp.Regexp
	failing *regexp.Regexp
	head    *regexp.Regexp
	frame   *regexp.Regexp
	passed  int
	failed  int
	closed  bool
	title   bool // the failure's title goes on
	now     *Failure
	all     []Failure
}

func newMocha(c *collector) lineReader {
	return &mochaReader{
		c:       c,
		passing: regexp.MustCompile(`^  (\d+) passing \(`),
		failing: regexp.MustCompile(`^  (\d+) failing$`),
		head:    regexp.MustCompile(`^  (\d+)\) (.*)$`),
		frame:   regexp.MustCompile(`^ +at .*?\(?((?:file://)?[^\s():]+):(\d+):\d+\)?$`),
	}
}

func (r *mochaReader) line(line string) {
	line = clip(line, maxText)
	if m := find(r.passing, " passing (", line); m != nil {
		r.flush()
		r.passed += number(m[1])
		r.closed, r.c.recognised = true, true
		return
	}
	if m := find(r.failing, " failing", line); m != nil && r.closed {
		r.failed += number(m[1])
		return
	}
	if strings.HasPrefix(line, " Exception during run:") || strings.HasPrefix(line, "Error: Cannot find module") {
		path, at, _ := cutLast(strings.TrimSpace(strings.TrimPrefix(line, " Exception during run:")), ":")
		if number(at) == 0 {
			path = "" // it is what the file threw, not where
		}
		r.c.fail(Failure{Cause: Build, Path: path, Line: number(at), Message: strings.TrimSpace(line)})
		return
	}
	if !r.closed {
		return
	}
	if m := r.head.FindStringSubmatch(line); m != nil {
		r.now = nil
		if len(r.all) < MaxFailures {
			r.all = append(r.all, Failure{Name: strings.TrimSuffix(m[2], ":"), Cause: Failed})
			r.now, r.title = &r.all[len(r.all)-1], !strings.HasSuffix(m[2], ":")
		}
		return
	}
	if r.now != nil {
		r.detail(line)
	}
}

func (r *mochaReader) detail(line string) {
	text := strings.TrimSpace(line)
	if r.title {
		r.title = !strings.HasSuffix(text, ":")
		r.now.Name += " " + strings.TrimSuffix(text, ":")
		if strings.HasPrefix(text, `"before `) || strings.HasPrefix(text, `"after `) {
			r.now.Cause = Crash
		}
		return
	}
	if m := r.frame.FindStringSubmatch(line); m != nil {
		if r.now.Line == 0 && !strings.Contains(m[1], "node_modules") && !strings.HasPrefix(m[1], "node") {
			r.now.Path, r.now.Line = m[1], number(m[2])
		}
	} else if text != "" && r.now.Message == "" {
		r.now.Message = text
	}
}

// flush counts a run that is over; another may follow in the same output.
func (r *mochaReader) flush() {
	if !r.closed {
		return
	}
	before := r.c.tally.failed
	for _, f := range r.all {
		r.c.fail(f)
	}
	r.c.tally.failed = before + r.failed
	r.c.tally.closed = true
	r.c.tally.none = r.passed == 0 && r.failed == 0
	r.all, r.now, r.failed = nil, nil, 0
}

func (r *mochaReader) end() { r.flush() }

// readMocha reads mocha's JSON reporter.
func readMocha(raw json.RawMessage, c *collector) string {
	var log struct {
		Stats    struct{ Tests int }
		Failures []struct {
			FullTitle, File string
			Err             struct{ Message string }
		}
	}
	if json.Unmarshal(raw, &log) != nil {
		return ""
	}
	for _, f := range log.Failures {
		c.fail(Failure{Name: f.FullTitle, Unit: f.File, Cause: Failed, Path: f.File, Message: f.Err.Message})
	}
	c.tally.closed, c.tally.none = true, log.Stats.Tests == 0
	return "mocha"
}
