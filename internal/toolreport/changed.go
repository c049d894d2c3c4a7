package toolreport

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/agent-airlock/airlock/internal/finding"
	"github.com/rogpeppe/go-internal/diff"
)

// Edits tells what makes the text after of the text before, in order, in lines of
// the text base, of which before may have come by other edits; the two may be the
// same. What concerns lines that base does not have is left out. A text that is
// not UTF-8, or holds a NUL, has no edits.
func Edits(base, before, after []byte) []Edit {
	if !isText(base) || !isText(before) || !isText(after) {
		return nil
	}
	earlier := between(base, before)
	var found []Edit
	shift := 0 // lines that the earlier edits passed so far have added
	for _, e := range between(before, after) {
		first, last := min(e.First, e.Range.StartLine), max(e.Last, e.Range.EndLine)
		for len(earlier) > 0 && earlier[0].end()+shift < first {
			shift += earlier[0].net
			earlier = earlier[1:]
		}
		if len(earlier) > 0 && earlier[0].start()+shift <= last {
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

// start returns the first line of the new text that comes of the edit, as if no
// other edit stood before it.
func (e edit) start() int {
	if e.inserts {
		return e.First + 1
	}
	return e.First
}

// end returns the last such line, one before the start if there is none.
func (e edit) end() int {
	if e.inserts {
		return e.Last - 1 + e.net
	}
	return e.Last + e.net
}

func isText(b []byte) bool { return utf8.Valid(b) && bytes.IndexByte(b, 0) < 0 }

// between tells the edits of two texts. Where all lines of a text end alike, lines
// are compared without their ends, and other ends are one edit of all lines; so is
// a missing newline at the end of a file one of its last line.
func between(before, after []byte) []edit {
	if bytes.Equal(before, after) {
		return nil
	}
	var found []edit
	was, is := endingOf(before), endingOf(after)
	count := bytes.Count(before, []byte("\n"))
	if was != "mixed" && is != "mixed" {
		if was != is && was != "" && is != "" {
			found = append(found, endings(1, count))
		}
		before, after = bytes.ReplaceAll(before, []byte("\r\n"), []byte("\n")), bytes.ReplaceAll(after, []byte("\r\n"), []byte("\n"))
	}
	before, open := closed(before)
	after, stillOpen := closed(after)
	r := diffReader{emit: func(_ string, e edit) { found = append(found, e) }}
	for line := range strings.Lines(string(diff.Diff("file", before, "file", after))) {
		r.take(strings.TrimSuffix(line, "\n"))
	}
	r.end()
	if open {
		count++
	}
	if open != stillOpen && len(before) > 0 && len(after) > 0 && (len(found) == 0 || found[len(found)-1].Last < count) {
		found = append(found, endings(count, count))
	}
	return found
}

// endings is the edit of the ends of lines.
func endings(first, last int) edit {
	return edit{Edit: Edit{First: first, Last: last, Range: finding.Range{StartLine: first, EndLine: last}, Endings: true}}
}

// endingOf tells how the lines of a text end: "lf", "crlf" or "mixed"; "" where
// none ends.
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

// closed returns a text with a newline at its end, and whether it lacked one.
func closed(text []byte) ([]byte, bool) {
	if len(text) == 0 || text[len(text)-1] == '\n' {
		return text, false
	}
	return append(text[:len(text):len(text)], '\n'), true
}
