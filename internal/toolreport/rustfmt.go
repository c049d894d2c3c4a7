package toolreport

import (
	"regexp"
	"strings"
)

// rustfmtReader reads cargo fmt --check: "Diff in FILE:LINE:" and lines with
// their signs.
type rustfmtReader struct {
	c    *collector
	head *regexp.Regexp
	diff diffReader
}

func newRustfmt(c *collector) lineReader {
	return &rustfmtReader{c, regexp.MustCompile(`^Diff in (.+?):(\d+):$|^Diff in (.+?) at line (\d+):$`), newDiff(c)}
}

func (r *rustfmtReader) line(line string) {
	if m := findAt(r.head, "Diff in ", clip(line, maxText)); m != nil {
		r.c.recognised = true
		r.diff.end()
		r.diff.path, r.diff.at = m[1]+m[3], number(m[2]+m[4])
		return
	}
	if r.diff.path != "" && line != "" && strings.IndexByte(" +-", line[0]) >= 0 {
		r.diff.left, r.diff.new = 2, 2 // the form does not say how long it is
		r.diff.body(line)
	}
	r.diff.left, r.diff.new = 0, 0
}

func (r *rustfmtReader) end() { r.diff.end() }
