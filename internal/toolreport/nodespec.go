package toolreport

import (
	"regexp"
	"strings"
)

// nodeSpecReader reads the form in which node's runner prints for people: totals,
// then the failing tests without those that failed by their subtests.
type nodeSpecReader struct {
	c       *collector
	total   *regexp.Regexp
	test    *regexp.Regexp
	totals  map[string]int
	listing bool
	at      string
	now     *Failure
	todo    bool
	all     []Failure
}

func newNodeSpec(c *collector) lineReader {
	return &nodeSpecReader{
		c:      c,
		total:  regexp.MustCompile(`^ℹ (tests|fail|cancelled|duration_ms) ([\d.]+)$`),
		test:   regexp.MustCompile(`^✖ (.*?)(?: \([\d.]+ms\))?(?: # (?i:(todo|skip)\b.*))?$`),
		totals: map[string]int{},
	}
}

func (n *nodeSpecReader) line(line string) {
	line = clip(line, maxText)
	if m := findAt(n.total, "ℹ ", line); m != nil {
		n.totals[m[1]] += number(m[2])
		if m[1] == "duration_ms" {
			n.c.recognised, n.c.tally.closed = true, true
		}
		return
	}
	switch {
	case line == "✖ failing tests:":
		n.listing = true
	case !n.listing:
	case strings.HasPrefix(line, "test at "):
		n.flush()
		n.at = line[len("test at "):]
	case strings.HasPrefix(line, "✖ "):
		n.flush()
		m := n.test.FindStringSubmatch(line)
		path, r := position(n.at)
		n.now = &Failure{Name: m[1], Cause: Failed, Path: path, Line: r.StartLine}
		n.todo = strings.EqualFold(m[2], "todo")
		n.at = ""
	case n.now != nil && n.now.Message == "" && strings.TrimSpace(line) != "":
		n.detail(strings.Trim(strings.TrimSpace(line), "'"))
	}
}

func (n *nodeSpecReader) detail(text string) {
	n.now.Message = text
	switch {
	case strings.HasSuffix(text, "subtest failed"), strings.HasSuffix(text, "subtests failed"):
		n.now = nil
	case text == "test failed" && strings.Contains(n.now.Name, "/"):
		n.now.Unit, n.now.Name, n.now.Cause = n.now.Name, "", Crash
	case strings.Contains(text, "timed out"):
		n.now.Cause = Timeout
	}
}

func (n *nodeSpecReader) flush() {
	if n.now != nil && !n.todo && len(n.all) < maxRunning {
		n.all = append(n.all, *n.now)
	}
	n.now = nil
}

func (n *nodeSpecReader) end() {
	n.flush()
	t := &n.c.tally
	if !n.c.recognised {
		return
	}
	for _, f := range n.all {
		n.c.fail(f)
	}
	if said := n.totals["fail"] + n.totals["cancelled"]; said > 0 && len(n.all) == 0 {
		t.failed, t.closed = said, false // it did not list them
	}
	t.none = n.totals["tests"] == 0
}
