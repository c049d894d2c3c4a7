package toolreport

import (
	"encoding/json"
	"regexp"
	"strings"
)

// rspecReader reads rspec's progress and documentation forms.
type rspecReader struct {
	c       *collector
	closing *regexp.Regexp
	again   *regexp.Regexp
	head    *regexp.Regexp
	said    map[string]string // messages by the example's full name
	now     string
	loading *Failure
	broken  []Failure
	listed  []Failure
	listing bool // what fails again is named: before that, a test printed it
}

func newRSpec(c *collector) lineReader {
	return &rspecReader{
		c:       c,
		closing: regexp.MustCompile(`^(\d+) examples?, (\d+) failures?(?:, \d+ pending)?(?:, (\d+) errors? occurred outside of examples)?$`),
		again:   regexp.MustCompile(`^rspec '?(\S+?)(?::(\d+)|\[[\d:]+\])'?(?: # (.*))?$`),
		head:    regexp.MustCompile(`^  \d+\) (.*)$`),
		said:    map[string]string{},
	}
}

func (r *rspecReader) line(line string) {
	line = clip(line, maxText)
	if m := find(r.closing, " example", line); m != nil {
		r.close(number(m[1]), number(m[2]), number(m[3]))
		return
	}
	if line == "Failed examples:" {
		r.listing = true
		return
	}
	if m := findAt(r.again, "rspec ", line); m != nil && r.listing {
		if len(r.listed) < MaxFailures {
			f := Failure{Name: m[3], Cause: Failed, Path: m[1], Line: number(m[2]), Message: strings.TrimSpace(r.said[m[3]])}
			r.listed = append(r.listed, f)
		}
		return
	}
	if m := findAt(r.head, "  ", line); m != nil {
		r.now, r.loading = m[1], nil
		return
	}
	if rest, ok := strings.CutPrefix(line, "An error occurred while loading "); ok {
		r.now = ""
		if len(r.broken) < MaxFailures {
			path := strings.TrimSuffix(rest, ".")
			r.broken = append(r.broken, Failure{Unit: path, Path: path, Cause: Build})
			r.loading = &r.broken[len(r.broken)-1]
		}
		return
	}
	r.detail(line)
}

func (r *rspecReader) detail(line string) {
	text := strings.TrimSpace(line)
	if text == "" || strings.HasPrefix(text, "# ") {
		return
	}
	if strings.HasPrefix(line, "Finished in ") {
		r.now, r.loading = "", nil
		return
	}
	if r.loading != nil && len(r.loading.Message) < maxMessage {
		r.loading.Message = strings.TrimSpace(r.loading.Message + "\n" + text)
	} else if r.now != "" && strings.HasPrefix(line, "     ") && len(r.said) < MaxFailures && len(r.said[r.now]) < maxMessage {
		r.said[r.now] += "\n" + text
	}
}

func (r *rspecReader) close(examples, failures, outside int) {
	t := &r.c.tally
	t.failed += failures + outside
	t.none = examples == 0 && t.failed == 0 && (t.none || !t.closed)
	t.closed, r.c.recognised = true, true
}

// end names the failures, which stand behind the totals.
func (r *rspecReader) end() {
	failed := r.c.tally.failed
	for _, f := range append(r.broken, r.listed...) {
		r.c.fail(f)
	}
	if r.c.tally.closed {
		r.c.tally.failed = failed
	}
}

// readRSpec reads rspec's --format json.
func readRSpec(raw json.RawMessage, c *collector) string {
	var log struct {
		Examples []struct {
			Description string `json:"full_description"`
			Status      string
			Path        string `json:"file_path"`
			Line        int    `json:"line_number"`
			Exception   struct{ Message string }
		}
		Summary struct {
			Outside int `json:"errors_outside_of_examples_count"`
		}
	}
	if json.Unmarshal(raw, &log) != nil {
		return ""
	}
	for _, e := range log.Examples {
		if e.Status == "failed" {
			c.fail(Failure{Name: e.Description, Cause: Failed, Path: e.Path, Line: e.Line, Message: strings.TrimSpace(e.Exception.Message)})
		}
	}
	for range min(log.Summary.Outside, 1_000_000) {
		c.fail(Failure{Cause: Build, Message: "an error occurred outside of the examples"})
	}
	c.tally.closed, c.tally.none = true, len(log.Examples) == 0
	return "rspec"
}
