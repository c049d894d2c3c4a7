package toolreport

import (
	"bytes"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/agent-airlock/airlock/internal/finding"
	"github.com/agent-airlock/airlock/internal/textdiff"
)

// Edit is one run of lines that a tool would change.
type Edit struct {
	// First and Last are the lines that are changed. For lines that are only added, they
	// are the two lines between which the added ones belong; First is 0 at the beginning of the file.
	First, Last int
	// Range is complete lines, and Suggestion the text that replaces them, as in
	// finding.Finding; "" if there can be none.
	Range      finding.Range
	Suggestion string
	// Endings reports that only the ends of lines change: CRLF, or the newline at the
	// end of the file. A suggestion cannot express that.
	Endings bool
}

// Edits returns the edits that turn before into after, in order. Their line numbers are those of
// base. Other edits may have turned base into before; base and before may also be equal. Edits of
// lines that base does not have are left out. There are no edits if one of the three texts is not
// UTF-8 or contains a NUL.
func Edits(base, before, after []byte) []Edit {
	if !isText(base) || !isText(before) || !isText(after) {
		return nil
	}
	earlier := editsBetween(base, before)
	var found []Edit
	shift := 0 // how many lines the earlier edits before e have added
	for _, e := range editsBetween(before, after) {
		first, last := min(e.First, e.Range.StartLine), max(e.Last, e.Range.EndLine)
		for len(earlier) > 0 && earlier[0].end()+shift < first { // the earlier edit only moves the lines of e
			shift += earlier[0].net
			earlier = earlier[1:]
		}
		if len(earlier) > 0 && earlier[0].start()+shift <= last { // e changes lines that the earlier edit made
			continue
		}
		e.First, e.Last, e.Range.StartLine = e.First-shift, e.Last-shift, e.Range.StartLine-shift
		if e.Range.EndLine > 0 {
			e.Range.EndLine -= shift
		}
		found = append(found, e.Edit)
	}
	return found
}

// edit is an Edit, and how it moves the lines after it.
type edit struct {
	Edit
	net     int  // the number of lines that it adds, minus those that it removes
	inserts bool // no line is changed or removed
}

// start returns the number of the first line that the edit makes in the new text, if no other edit
// comes before it.
func (e edit) start() int {
	if e.inserts {
		return e.First + 1
	}
	return e.First
}

// end returns the number of the last line that the edit makes, or the number before the start if
// the edit makes no line.
func (e edit) end() int {
	if e.inserts {
		return e.Last - 1 + e.net
	}
	return e.Last + e.net
}

func isText(b []byte) bool { return utf8.Valid(b) && bytes.IndexByte(b, 0) < 0 }

// editsBetween returns the edits that turn before into after. If neither text mixes line endings,
// lines are compared without them, and a change of the ending is one edit of all lines. If only
// one text has a newline at its end, that is an edit of the last line, unless another edit has
// that line.
func editsBetween(before, after []byte) []edit {
	if bytes.Equal(before, after) {
		return nil
	}
	var found []edit
	oldEnding, newEnding := endingOf(before), endingOf(after)
	count := bytes.Count(before, []byte("\n"))
	if oldEnding != "mixed" && newEnding != "mixed" {
		if oldEnding != newEnding && oldEnding != "" && newEnding != "" {
			found = append(found, endings(1, count))
		}
		before, after = bytes.ReplaceAll(before, []byte("\r\n"), []byte("\n")), bytes.ReplaceAll(after, []byte("\r\n"), []byte("\n"))
	}
	before, oldLacks := withNewline(before)
	after, newLacks := withNewline(after)
	r := diffReader{emit: func(_ string, e edit) { found = append(found, e) }}
	for line := range strings.Lines(string(textdiff.Unified("file", before, "file", after))) {
		r.line(strings.TrimSuffix(line, "\n"))
	}
	r.end()
	if oldLacks {
		count++
	}
	changesLast := len(found) > 0 && found[len(found)-1].Last >= count
	if oldLacks != newLacks && !changesLast {
		found = append(found, endings(count, count))
	}
	return found
}

// endings returns the edit of the ends of lines.
func endings(first, last int) edit {
	return edit{Edit: Edit{First: first, Last: last, Range: finding.Range{StartLine: first, EndLine: last}, Endings: true}}
}

// endingOf returns how the lines of a text end: "lf", "crlf" or "mixed", or "" if none
// of them ends.
func endingOf(text []byte) string {
	lf, crlf := bytes.Count(text, []byte("\n")), bytes.Count(text, []byte("\r\n"))
	switch {
	case lf == 0:
		return ""
	case crlf == 0:
		return "lf"
	case crlf == lf:
		return "crlf"
	}
	return "mixed"
}

// withNewline returns a text with a newline at its end, and whether it lacked one.
func withNewline(text []byte) (ended []byte, lacked bool) {
	if len(text) == 0 || text[len(text)-1] == '\n' {
		return text, false
	}
	return append(slices.Clip(text), '\n'), true
}

// Bounds of a suggestion. A larger change is left to the tool.
const (
	maxSuggestion      = 30_000 // bytes
	maxSuggestionLines = 500
)

// hunkLine is one line of a hunk.
type hunkLine struct {
	sign   byte // ' ', '-' or '+'
	text   string
	number int  // in the old file; for an added line, the number of the next old line
	cut    bool // no suggestion has the line: it, or its hunk, is too long
}

// editsOf returns the edits of a hunk: each run of changed lines, with the kept lines that its
// suggestion replaces as well.
//
// A suggestion can only replace lines, and a suggestion with an empty text does not count. So
//   - a run that only adds lines also takes the kept lines before and after it, because the pull
//     request may have changed either of them;
//   - a run whose new text is empty or one empty line takes kept lines, and a run that directly follows
//     one of them, until there is more text;
//   - runs become one if they need the same kept line, so that suggestions never overlap;
//   - runs become one if one removes lines, the other adds lines, and no line between them has a
//     letter or digit: they are one change, and half of it would lose text.
func editsOf(hunk []hunkLine) []edit {
	type window struct{ from, to int }
	var windows []window
	for i := 0; i < len(hunk); {
		if hunk[i].sign == ' ' {
			i++
			continue
		}
		w := window{i, joinedEnd(hunk, i)}
		joined := false            // w contains a former window: a suggestion can replace that, and so w
		takeLineBefore := func() { // and all of the window before if that has the line
			w.from--
			if n := len(windows); n > 0 && w.from < windows[n-1].to {
				w.from, windows, joined = windows[n-1].from, windows[:n-1], true
			}
		}
		if inserts(hunk[w.from:w.to]) {
			if w.from > 0 {
				takeLineBefore()
			}
			w.to = min(w.to+1, len(hunk))
		}
		for w.from > 0 && !joined && !replaces(hunk[w.from:w.to]) {
			takeLineBefore()
		}
		for w.to < len(hunk) && !joined && !replaces(hunk[w.from:w.to]) {
			w.to = runEnd(hunk, w.to+1) // the kept line and the run after it
		}
		windows = append(windows, w)
		i = w.to
	}
	var found []edit
	for _, w := range windows {
		found = append(found, editOf(hunk[w.from:w.to]))
	}
	return found
}

// joinedEnd returns the end of the change whose first run begins at i. A later run belongs to the
// change if it adds lines and the change so far removes lines, or the other way round, and if no
// line between them has a letter or digit.
func joinedEnd(hunk []hunkLine, i int) int {
	end := runEnd(hunk, i)
	net := growth(hunk[i:end])
	for kept := end; kept < len(hunk) && !hasWord(hunk[kept].text); kept++ {
		next := kept + 1
		if next == len(hunk) || hunk[next].sign == ' ' {
			continue
		}
		nextEnd := runEnd(hunk, next)
		other := growth(hunk[next:nextEnd])
		isOpposite := net < 0 && other > 0 || net > 0 && other < 0
		if !isOpposite {
			break
		}
		end, net = nextEnd, net+other
		kept = end - 1 // the loop goes on at end
	}
	return end
}

// growth returns the number of added lines minus the number of removed lines.
func growth(lines []hunkLine) int { return count(lines, '+') - count(lines, '-') }

// count returns how many lines have a sign.
func count(lines []hunkLine, sign byte) (n int) {
	for _, l := range lines {
		if l.sign == sign {
			n++
		}
	}
	return n
}

func hasWord(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) })
}

// inserts reports whether no old line is changed or removed.
func inserts(lines []hunkLine) bool { return count(lines, '-') == 0 }

// runEnd returns the index of the first kept line from i on.
func runEnd(hunk []hunkLine, i int) int {
	for i < len(hunk) && hunk[i].sign != ' ' {
		i++
	}
	return i
}

// replaces reports whether a suggestion can replace the lines: it needs a line of the old file,
// and a new text that is more than one empty line.
func replaces(lines []hunkLine) bool {
	hasOld := count(lines, '+') < len(lines)
	hasText := slices.ContainsFunc(lines, func(l hunkLine) bool { return l.sign != '-' && strings.TrimSuffix(l.text, "\r") != "" })
	return hasOld && (hasText || len(lines)-count(lines, '-') > 1)
}

// editOf returns the edit of a window of a hunk.
func editOf(lines []hunkLine) edit {
	e := edit{net: growth(lines), inserts: inserts(lines)}
	e.First, e.Last = extent(lines)
	var oldLines, newLines []string
	cut := false
	for _, l := range lines {
		text := strings.TrimSuffix(l.text, "\r")
		if l.sign != '+' {
			oldLines = append(oldLines, text)
		}
		if l.sign != '-' {
			newLines, cut = append(newLines, text), cut || l.cut
		}
	}
	start := lines[0].number
	end := start + len(oldLines) - 1
	text := strings.Join(newLines, "\n")
	e.Endings = slices.Equal(oldLines, newLines)
	if len(oldLines) > 0 && !cut && !e.Endings && len(newLines) <= maxSuggestionLines && postable(text) {
		e.Suggestion = text
		e.Range = finding.Range{StartLine: start, EndLine: end}
		return e
	}
	e.Range.StartLine = max(e.First, 1)
	if !e.inserts {
		e.Range.EndLine = min(e.Last, end)
	}
	return e
}

// extent returns the first and the last changed line. If lines are only added, it returns the two
// lines around them.
func extent(lines []hunkLine) (first, last int) {
	first = -1
	for i := 0; i < len(lines); i++ {
		run := lines[i:runEnd(lines, i)]
		if len(run) == 0 {
			continue
		}
		from, to := run[0].number-1, run[0].number
		if removed := count(run, '-'); removed > 0 {
			from, to = run[0].number, run[0].number+removed-1
		}
		if first < 0 {
			first = from
		}
		last, i = to, i+len(run)
	}
	return first, last
}

// postable reports whether a text can be part of a comment unchanged: it is not too large, and has
// no invisible characters, which are removed from comments.
func postable(text string) bool {
	return len(text) <= maxSuggestion && !strings.ContainsFunc(text, func(r rune) bool {
		switch r {
		case '\n', '\t':
			return false
		}
		return r == unicode.ReplacementChar || unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp)
	})
}
