package toolreport

import (
	"strconv"
	"strings"

	"github.com/agent-airlock/airlock/internal/finding"
)

// maxHunk bounds the lines of a hunk that are kept, in bytes. A longer one is
// told in parts, without suggestions.
const maxHunk = 4 << 20

// diffReader reads unified diffs, and tells the edits of each file.
type diffReader struct {
	emit      func(path string, e edit)
	path      string
	at        int // the next line of the old file
	left, new int // lines that the hunk still has, of the old and of the new file
	hunk      []hunkLine
	size      int // of the hunk's lines, in bytes
}

// newDiff returns a reader that makes findings of a formatter's diff.
func newDiff(c *collector) diffReader {
	return diffReader{emit: func(path string, e edit) {
		c.add(finding.Finding{Path: path, Message: UnformattedLines, Severity: finding.Low, Range: e.Range, Suggestion: e.Suggestion})
	}}
}

// take reports whether the line belongs to a diff.
func (d *diffReader) take(line string) bool {
	if d.left > 0 || d.new > 0 {
		d.body(line)
		return true
	}
	switch {
	case strings.HasPrefix(line, "diff "):
		d.end()
		return true
	case strings.HasPrefix(line, "--- "):
		d.end()
		d.path = diffPath(line[4:])
		return true
	case strings.HasPrefix(line, "+++ "):
		return d.path != ""
	case strings.HasPrefix(line, "@@ -") && d.path != "":
		return d.begin(line)
	}
	return false
}

// begin reads "@@ -2,7 +2,7 @@".
func (d *diffReader) begin(line string) bool {
	words := strings.Fields(line)
	if len(words) < 3 {
		return false
	}
	start, old, ok := span(words[1], "-")
	_, added, ok2 := span(words[2], "+")
	if !ok || !ok2 {
		return false
	}
	if old == 0 {
		start++ // the hunk stands behind that line
	}
	d.at, d.left, d.new = start, old, added
	return true
}

func span(s, sign string) (start, count int, ok bool) {
	s, ok = strings.CutPrefix(s, sign)
	first, second, two := strings.Cut(s, ",")
	start, err := strconv.Atoi(first)
	count = 1
	if two && err == nil {
		count, err = strconv.Atoi(second)
	}
	return start, count, ok && err == nil && start >= 0 && count >= 0
}

func (d *diffReader) body(line string) {
	l := hunkLine{sign: ' ', at: d.at}
	if line != "" {
		l.sign, l.text = line[0], line[1:]
	}
	if l.cut = len(l.text) > maxText; l.cut {
		l.text = clip(l.text, maxText)
	}
	switch l.sign {
	case '-':
		d.at, d.left = d.at+1, d.left-1
	case '+':
		d.new--
	case '\\': // no newline at the end of the file
		return
	default:
		l.sign = ' '
		d.at, d.left, d.new = d.at+1, d.left-1, d.new-1
	}
	d.hunk = append(d.hunk, l)
	if d.size += len(l.text) + 1; d.size > maxHunk {
		for i := range d.hunk {
			d.hunk[i].cut = true
		}
		d.flush()
	}
	if d.left <= 0 && d.new <= 0 {
		d.left, d.new = 0, 0
		d.flush()
	}
}

// flush tells the edits of the lines that were read.
func (d *diffReader) flush() {
	for _, e := range editsOf(d.hunk) {
		d.emit(d.path, e)
	}
	d.hunk, d.size = nil, 0
}

func (d *diffReader) end() {
	d.flush()
	d.path, d.left, d.new = "", 0, 0
}

// diffPath reads the old file's name: "app.go.orig", "a/app.go", and a time
// behind a tab.
func diffPath(s string) string {
	s, _, _ = strings.Cut(s, "\t")
	return strings.TrimPrefix(strings.TrimSuffix(s, ".orig"), "a/")
}
