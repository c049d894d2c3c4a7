package toolreport

import "strings"

var (
	nodeTotal = starting("ℹ ", `^ℹ (tests|fail|cancelled|skipped|duration_ms) ([\d.]+)$`)
	nodeTest  = starting("✖ ", `^✖ (.*?)(?: \([\d.]+ms\))?(?: # (?i:(todo|skip)\b.*))?$`)
)

// nodeSpecReader reads what node's test runner prints for people: totals, then the
// failing tests. It leaves out those that failed only because of their subtests.
type nodeSpecReader struct {
	*collector
	totals  map[string]int
	listing bool     // the failing tests are listed
	placed  bool     // they are listed with their places, as since Node 20
	place   string   // of the next test
	test    *Failure // whose details are read
	todo    bool     // the test may fail
	listed  []Failure
}

func newNodeSpec(c *collector) lineReader {
	return &nodeSpecReader{collector: c, totals: map[string]int{}}
}

func (n *nodeSpecReader) line(line string) {
	if m := nodeTotal.match(line); m != nil {
		n.unlist()
		n.totals[m[1]] += atoi(m[2])
		if m[1] == "duration_ms" {
			n.recognised, n.tally.ended = true, true
		}
		return
	}
	switch {
	case line == "✖ failing tests:":
		n.unlist()
		n.listing, n.placed = true, false
	case !n.listing:
	case strings.HasPrefix(line, "✔ "), strings.HasPrefix(line, "▶ "), strings.HasPrefix(line, "✖ ") && n.placed && n.place == "":
		n.unlist() // another run of the runner has begun
	case strings.HasPrefix(line, "test at "):
		n.flush()
		n.place, n.placed = line[len("test at "):], true
	case strings.HasPrefix(line, "✖ "):
		n.flush()
		m := nodeTest.match(line)
		path, lines := position(n.place)
		n.test = &Failure{Name: m[1], Cause: Failed, Path: path, Line: lines.StartLine}
		n.todo = strings.EqualFold(m[2], "todo")
		n.place = ""
	case n.test != nil && n.test.Message == "" && strings.TrimSpace(line) != "":
		n.detail(strings.Trim(strings.TrimSpace(line), "'"))
	}
}

func (n *nodeSpecReader) detail(text string) {
	n.test.Message = text
	switch {
	case strings.HasSuffix(text, "subtest failed"), strings.HasSuffix(text, "subtests failed"):
		n.test = nil
	case text == "test failed" && strings.Contains(n.test.Name, "/"):
		n.test.Unit, n.test.Name, n.test.Cause = n.test.Name, "", Crash
	case strings.Contains(text, "timed out"):
		n.test.Cause = Timeout
	}
}

// unlist ends the list of failing tests.
func (n *nodeSpecReader) unlist() {
	n.flush()
	n.listing = false
}

// flush keeps the last test, now that its details are read.
func (n *nodeSpecReader) flush() {
	if n.test != nil && !n.todo && len(n.listed) < maxRunning {
		n.listed = append(n.listed, *n.test)
	}
	n.test = nil
}

func (n *nodeSpecReader) end() {
	n.flush()
	if !n.recognised {
		return
	}
	n.failAll(n.listed)
	if total := n.totals["fail"] + n.totals["cancelled"]; total > 0 && len(n.listed) == 0 {
		n.tally.failed, n.tally.ended = total, false // the runner did not list them
	}
	n.tally.noTests = n.totals["tests"] <= n.totals["skipped"]
}
