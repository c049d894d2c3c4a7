package markdown

import "strings"

// blockStart says what kind of block starts at nonspace, which is indented by
// less than four columns; 0 for none. It changes nothing.
func (s *scanner) blockStart(inParagraph bool) BlockKind {
	l := &s.line
	rest := s.src[l.nonspace:l.end]
	switch c := rest[0]; c {
	case '>':
		return QuoteBlock
	case '#':
		if n := leadingRun(rest, '#'); n <= 6 && (n == len(rest) || isSpaceOrTab(rest[n])) {
			return HeadingBlock
		}
	case '`', '~':
		if n := leadingRun(rest, c); n >= 3 && (c == '~' || strings.IndexByte(rest[n:], '`') < 0) {
			return FencedCodeBlock
		}
	case '<':
		if htmlBlockStart(rest) != 0 || !inParagraph && isHTMLBlock7(rest) {
			return HTMLBlock
		}
	case '=':
		if inParagraph && isSetextLine(rest) {
			return HeadingBlock
		}
	case '*', '-', '_', '+':
		if c == '-' && inParagraph && isSetextLine(rest) {
			return HeadingBlock
		}
		if s.isThematicBreak() {
			return ThematicBreakBlock
		}
		if listMarker(rest, inParagraph) > 0 {
			return ItemBlock
		}
	case '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		if listMarker(rest, inParagraph) > 0 {
			return ItemBlock
		}
	case '[':
		if footnoteLabel(rest) > 0 {
			return FootnoteBlock
		}
	}
	return 0
}

// isThematicBreak reports whether the line from nonspace on is a thematic break.
// It remembers where it failed, so that a line of many list markers stays linear.
func (s *scanner) isThematicBreak() bool {
	l := &s.line
	if l.noBreak > l.nonspace {
		return false
	}
	c := s.at(l.nonspace)
	if c != '*' && c != '_' && c != '-' {
		return false
	}
	count, i := 0, l.nonspace
	for ; i < l.end; i++ {
		switch s.src[i] {
		case c:
			count++
		case ' ', '\t':
		default:
			l.noBreak = i
			return false
		}
	}
	if count < 3 {
		l.noBreak = i
		return false
	}
	return true
}

// listMarker returns the length of the list marker that rest, a line without its
// indentation, starts with, or 0. Only some markers may interrupt a paragraph.
func listMarker(rest string, interrupts bool) int {
	n := 1
	switch c := rest[0]; {
	case c == '*' || c == '-' || c == '+':
	case isDigit(c):
		for n < len(rest) && n < 9 && isDigit(rest[n]) {
			n++
		}
		if interrupts && !isOne(rest[:n]) || n == len(rest) || rest[n] != '.' && rest[n] != ')' {
			return 0
		}
		n++
	default:
		return 0
	}
	if n < len(rest) && !isSpaceOrTab(rest[n]) {
		return 0
	}
	if interrupts && isBlank(rest[n:]) {
		return 0
	}
	return n
}

// isOne reports whether the digits are the number one.
func isOne(digits string) bool {
	return strings.TrimLeft(digits, "0") == "1"
}

// footnoteLabel returns the length of [^label]: at the start of rest, or 0.
func footnoteLabel(rest string) int {
	if !strings.HasPrefix(rest, "[^") {
		return 0
	}
	i := 2
	for i < len(rest) && rest[i] != ']' && rest[i] != ' ' && rest[i] != '\t' {
		i++
	}
	if i == 2 || !strings.HasPrefix(rest[i:], "]:") {
		return 0
	}
	return i + 2
}

// isSetextLine reports whether rest, a run of = or -, is a setext underline.
func isSetextLine(rest string) bool {
	return isBlank(rest[leadingRun(rest, rest[0]):])
}

// isTaskLine reports whether a whole line looks like a task list item to cmark.
func isTaskLine(s string) bool {
	if strings.IndexByte(s, '[') < 0 {
		return false
	}
	s = strings.TrimLeft(s, " \t\v\f")
	switch {
	case s[0] == '-' || s[0] == '+' || s[0] == '*':
		s = s[1:]
	case isDigit(s[0]):
		n := 0
		for n < len(s) && isDigit(s[n]) {
			n++
		}
		if n == len(s) { // the last digit may stand for the delimiter
			return false
		}
		s = s[n+1:]
	default:
		return false
	}
	t := strings.TrimLeft(s, " \t\v\f")
	if len(t) == len(s) || len(t) < 4 || t[0] != '[' || t[2] != ']' || !strings.ContainsRune(" xX", rune(t[1])) {
		return false
	}
	return strings.IndexByte(" \t\v\f", t[3]) >= 0
}
