package sanitize

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/bidi"
)

// isRightToLeft reports whether r belongs to a script that is written from right to
// left.
func isRightToLeft(r rune) bool {
	// These ranges have none, apart from the marks themselves.
	if r < 0x590 || r >= 0x900 && r < 0xfb1d {
		return false
	}
	properties, _ := bidi.LookupRune(r)
	class := properties.Class()
	return (class == bidi.R || class == bidi.AL) && r != rlm && r != alm
}

// directionCount counts the characters of a text that are written from right to left, no further
// than is asked for.
type directionCount struct {
	rest  string // what is not counted yet
	count int
}

// atLeast reports whether the text has n right-to-left characters.
func (c *directionCount) atLeast(n int) bool {
	i := 0
	for c.count < n && i < len(c.rest) {
		if b := c.rest[i]; b < 0xd6 || b > 0xe0 && b < 0xef { // b begins no such character in UTF-8
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(c.rest[i:])
		if isRightToLeft(r) {
			c.count++
		}
		i += size
	}
	c.rest = c.rest[i:]
	return c.count >= n
}

// helpsDirection reports whether a mark of a direction can have an effect between two
// characters; -1 stands for no character. Between two letters of one direction it
// has none, or only a misleading one.
func helpsDirection(prev, next rune) bool {
	return !unicode.IsLetter(prev) || !unicode.IsLetter(next) || isRightToLeft(prev) != isRightToLeft(next)
}

// stripBidi removes direction marks and the controls of isolates. It keeps those that right-to-left
// text can need: isolates that begin and end on one line, and one mark in each place where a mark
// can have an effect. It keeps at most as many as there are right-to-left characters in s.
func (t *runeTable) stripBidi(s string, n *noter) string {
	var b strings.Builder
	direction := directionCount{rest: s}
	kept, copied, removed := 0, 0, 0
	var isolates []isolate
	for start := 0; start < len(s); {
		k := indexBidi(s[start:])
		if k < 0 {
			break
		}
		start = lineStart(s, start+k)
		line, _, _ := strings.Cut(s[start:], "\n")
		isolates = matchIsolates(line, isolates[:0])
		used, prev, next := 0, rune(-1), following{table: t, line: line}
		marked := false // the controls around i have a mark already
		for i, r := range line {
			keep := false
			switch t.classOf(r) {
			case classBidiMark:
				if keep = !marked && helpsDirection(prev, next.after(i)) && direction.atLeast(kept+1); keep {
					kept++
					marked = true
				}
			case classIsolate:
				this := &isolates[used]
				used++
				if this.partner != nil && direction.atLeast(kept+2) {
					kept += 2
					this.kept, this.partner.kept = true, true
				}
				keep = this.kept
			default:
				prev, marked = r, false
				continue
			}
			if !keep {
				removed++
				b.WriteString(s[copied : start+i])
				copied = start + i + utf8.RuneLen(r)
			}
		}
		start += len(line) + 1
	}
	if removed == 0 {
		return s
	}
	n.addN(RuleCharacters, classBidi.detail(), removed)
	b.WriteString(s[copied:])
	return b.String()
}

// indexBidi returns the index of the first character of s that stripBidi judges, or -1.
func indexBidi(s string) int {
	for i := 0; i+1 < len(s); i++ {
		switch c := s[i]; {
		case c < 0xd8 || c > 0xe2: // c begins no such character in UTF-8
		case c == 0xd8 && s[i+1] == 0x9c:
			return i
		case c == 0xe2 && i+2 < len(s):
			next, last := s[i+1], s[i+2]
			if next == 0x80 && (last == 0x8e || last == 0x8f) || next == 0x81 && 0xa6 <= last && last <= 0xa9 {
				return i
			}
		}
	}
	return -1
}

// isBidi reports whether stripBidi judges r.
func (t *runeTable) isBidi(r rune) bool {
	class := t.classOf(r)
	return class == classBidiMark || class == classIsolate
}

// following finds the characters that follow bidirectional controls. It remembers
// the last one, so that a run of controls takes linear time.
type following struct {
	table  *runeTable
	line   string
	offset int // of the character that was found last
	r      rune
}

// after returns the first character after offset i that is not a bidirectional control, or -1 if
// there is none.
func (f *following) after(i int) rune {
	if f.offset > i {
		return f.r
	}
	for k, r := range f.line[i:] {
		if !f.table.isBidi(r) {
			f.offset, f.r = i+k, r
			return r
		}
	}
	f.offset, f.r = len(f.line), -1
	return -1
}

// isolate is a control that begins or ends an isolate.
type isolate struct {
	opens, kept bool
	partner     *isolate // of one that begins an isolate: the one that ends it, or nil
}

// matchIsolates appends the controls of isolates in a line, in order, and sets their partners.
func matchIsolates(line string, list []isolate) []isolate {
	for _, r := range line {
		if r >= lri && r <= pdi {
			list = append(list, isolate{opens: r != pdi})
		}
	}
	var open []*isolate
	for i := range list {
		switch {
		case list[i].opens:
			open = append(open, &list[i])
		case len(open) > 0:
			open[len(open)-1].partner = &list[i]
			open = open[:len(open)-1]
		}
	}
	return list
}
