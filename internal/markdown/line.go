package markdown

import "strings"

const (
	tabStop    = 4
	codeIndent = 4
)

// line is the state of reading one line: how far containers have used it.
// Offsets are into the source; columns are virtual and count tabs.
type line struct {
	start, end int // without the line break
	next       int // where the next line starts
	offset     int // what is used so far
	column     int
	nonspace   int // first byte from offset on that is neither space nor tab
	nonspCol   int
	indent     int
	blank      bool
	partTab    bool // the tab at offset is used in part
	noBreak    int  // up to here no thematic break starts: the memo of isThematicBreak
}

// readLine sets s.line to the line that starts at start. A line ends with LF,
// CRLF or CR.
func (s *scanner) readLine(start int) {
	rest := s.src[start:]
	var n int
	if s.hasCR {
		n = s.lineBreakOrCR(start)
	} else {
		n = strings.IndexByte(rest, '\n')
	}
	l := &s.line
	*l = line{start: start, offset: start}
	switch {
	case n < 0:
		l.end, l.next = len(s.src), len(s.src)
	case rest[n] == '\r' && n+1 < len(rest) && rest[n+1] == '\n':
		l.end, l.next = start+n, start+n+2
	default:
		l.end, l.next = start+n, start+n+1
	}
}

// lineBreakOrCR returns the distance from start to the next LF or CR, -1 if there
// is none. It remembers the next LF: in a text with CR alone it may be far.
func (s *scanner) lineBreakOrCR(start int) int {
	if s.nextLF < start {
		s.nextLF = len(s.src)
		if n := strings.IndexByte(s.src[start:], '\n'); n >= 0 {
			s.nextLF = start + n
		}
	}
	if n := strings.IndexByte(s.src[start:s.nextLF], '\r'); n >= 0 {
		return n
	}
	if s.nextLF == len(s.src) {
		return -1
	}
	return s.nextLF - start
}

// at returns the byte at source offset i of the current line, a line feed at its
// end.
func (s *scanner) at(i int) byte {
	if i < s.line.end {
		return s.src[i]
	}
	return '\n'
}

// findNonspace computes nonspace, indent and blank for the current offset.
func (s *scanner) findNonspace() {
	l := &s.line
	if l.nonspace <= l.offset {
		l.nonspace, l.nonspCol = l.offset, l.column
		for l.nonspace < l.end {
			switch s.src[l.nonspace] {
			case ' ':
				l.nonspCol++
			case '\t':
				l.nonspCol += tabStop - l.nonspCol%tabStop
			default:
				l.indent = l.nonspCol - l.column
				l.blank = false
				return
			}
			l.nonspace++
		}
	}
	l.indent = l.nonspCol - l.column
	l.blank = l.nonspace >= l.end
}

// advanceTo moves the offset to source offset i.
func (s *scanner) advanceTo(i int) {
	l := &s.line
	for l.offset < i && l.offset < l.end {
		l.partTab = false
		if s.src[l.offset] == '\t' {
			l.column += tabStop - l.column%tabStop
		} else {
			l.column++
		}
		l.offset++
	}
}

// advanceColumns moves on by n columns; a tab may be used in part.
func (s *scanner) advanceColumns(n int) {
	l := &s.line
	for n > 0 && l.offset < l.end {
		if s.src[l.offset] != '\t' {
			l.partTab = false
			l.offset++
			l.column++
			n--
			continue
		}
		toTab := tabStop - l.column%tabStop
		l.partTab = toTab > n
		used := min(n, toTab)
		l.column += used
		n -= used
		if !l.partTab {
			l.offset++
		}
	}
}
