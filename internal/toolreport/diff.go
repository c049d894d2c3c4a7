package toolreport

import (
	"strconv"
	"strings"

	"github.com/agent-airlock/airlock/internal/finding"
	"github.com/agent-airlock/airlock/internal/text"
)

// Bounds of the lines of a hunk that are kept. Short lines take far more memory than their text. The
// edits of a longer hunk come in parts, without suggestions.
const (
	maxHunk      = 4 << 20 // bytes
	maxHunkLines = 200_000
)

// diffReader reads unified diffs, and passes on the edits of each file.
type diffReader struct {
	emit    func(path string, e edit)
	path    string
	next    int // the next line of the old file
	oldLeft int // lines of the old file that are still to come in the hunk
	newLeft int // lines of the new file that are still to come in the hunk
	hunk    []hunkLine
	size    int  // of the hunk's lines, in bytes
	inParts bool // lines of the current hunk were passed on before its end
}

// newDiff returns a reader that makes findings of a formatter's diff.
func newDiff(c *collector) diffReader {
	return diffReader{emit: func(path string, e edit) {
		c.add(finding.Finding{Path: path, Message: UnformattedLines, Severity: finding.Low, Range: e.Range, Suggestion: e.Suggestion})
	}}
}

// line reports whether a line belongs to a diff, and reads it if it does.
func (d *diffReader) line(line string) bool {
	if d.oldLeft > 0 || d.newLeft > 0 {
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
		old, isGits := strings.CutPrefix(d.path, "a/")
		if isGits && diffPath(line[4:]) == "b/"+old { // otherwise "a" is a directory
			d.path = old
		}
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
	start, oldCount, oldOK := hunkSpan(words[1], "-")
	_, newCount, newOK := hunkSpan(words[2], "+")
	if !oldOK || !newOK {
		return false
	}
	if oldCount == 0 {
		start++ // the hunk comes after that line
	}
	d.next, d.oldLeft, d.newLeft, d.inParts = start, oldCount, newCount, false
	return true
}

func hunkSpan(s, sign string) (start, count int, ok bool) {
	s, ok = strings.CutPrefix(s, sign)
	first, second, two := strings.Cut(s, ",")
	start, err := strconv.Atoi(first)
	count = 1
	if two && err == nil {
		count, err = strconv.Atoi(second)
	}
	return start, count, ok && err == nil && start >= 0 && count >= 0
}

// body reads a line of a hunk.
func (d *diffReader) body(line string) {
	l := hunkLine{sign: ' ', number: d.next}
	if line != "" {
		l.sign, l.text = line[0], line[1:]
	}
	if len(l.text) > maxText {
		l.text, l.cut = text.TruncateBytes(l.text, maxText), true
	}
	switch l.sign {
	case '-':
		d.next, d.oldLeft = d.next+1, d.oldLeft-1
	case '+':
		d.newLeft--
	case '\\': // no newline at the end of the file
		return
	default:
		l.sign = ' '
		d.next, d.oldLeft, d.newLeft = d.next+1, d.oldLeft-1, d.newLeft-1
	}
	d.hunk = append(d.hunk, l)
	if d.size += len(l.text) + 1; d.size > maxHunk || len(d.hunk) > maxHunkLines {
		d.inParts = true
		d.flush()
	}
	if d.oldLeft <= 0 && d.newLeft <= 0 {
		d.oldLeft, d.newLeft = 0, 0
		d.flush()
	}
}

// flush passes on the edits of the lines that were read.
func (d *diffReader) flush() {
	if d.inParts {
		for i := range d.hunk {
			d.hunk[i].cut = true
		}
	}
	for _, e := range editsOf(d.hunk) {
		d.emit(d.path, e)
	}
	d.hunk, d.size = nil, 0
}

func (d *diffReader) end() {
	d.flush()
	d.path, d.oldLeft, d.newLeft, d.inParts = "", 0, 0, false
}

// diffPath returns a file's name without a time, which comes after a tab, and without ".orig".
func diffPath(s string) string {
	s, _, _ = strings.Cut(s, "\t")
	return strings.TrimSuffix(s, ".orig")
}
