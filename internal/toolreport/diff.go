package toolreport

import (
	"strconv"
	"strings"

	"github.com/agent-airlock/airlock/internal/finding"
)

// diffReader makes findings of a formatter's unified diff: one for each run of
// changed lines, with what is to stand there as the suggestion.
type diffReader struct {
	c         *collector
	path      string
	at        int // the next line of the old file
	left, new int // lines that the hunk still has, of the old and of the new file
	change    change
}

// change is one run of changed lines. Where lines are only added, the line
// before them is repeated in the suggestion, since a suggestion replaces lines.
type change struct {
	start, removed int
	added          []string
	before         string
	hasBefore      bool
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
		return d.hunk(line)
	}
	return false
}

// hunk reads "@@ -2,7 +2,7 @@".
func (d *diffReader) hunk(line string) bool {
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
	d.change = change{}
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
	sign, text := byte(' '), ""
	if line != "" {
		sign, text = line[0], line[1:]
	}
	switch sign {
	case '-':
		d.begin()
		d.change.removed++
		d.at, d.left = d.at+1, d.left-1
	case '+':
		d.begin()
		if len(d.change.added) < 1000 {
			d.change.added = append(d.change.added, text)
		}
		d.new--
	case '\\': // no newline at the end of the file
	default:
		d.flush()
		d.change.before, d.change.hasBefore = text, true
		d.at, d.left, d.new = d.at+1, d.left-1, d.new-1
	}
	if d.left <= 0 && d.new <= 0 {
		d.left, d.new = 0, 0
		d.flush()
	}
}

func (d *diffReader) begin() {
	if d.change.start == 0 {
		d.change.start = d.at
	}
}

func (d *diffReader) flush() {
	ch := d.change
	d.change = change{}
	if ch.start == 0 {
		return
	}
	r := finding.Range{StartLine: ch.start, EndLine: ch.start + ch.removed - 1}
	suggestion := strings.Join(ch.added, "\n")
	if ch.removed == 0 {
		if !ch.hasBefore {
			d.c.add(finding.Finding{Path: d.path, Message: unformatted, Severity: finding.Low, Range: finding.Range{StartLine: max(ch.start-1, 1)}})
			return
		}
		r = finding.Range{StartLine: ch.start - 1, EndLine: ch.start - 1}
		suggestion = ch.before + "\n" + suggestion
	}
	d.c.add(finding.Finding{Path: d.path, Message: "These lines are not formatted.", Severity: finding.Low, Range: r, Suggestion: suggestion})
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
