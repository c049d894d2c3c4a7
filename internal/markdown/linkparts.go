package markdown

import "strings"

const (
	maxLabel      = 1000 // bytes in a link label
	maxLinkParens = 32   // open parentheses in a bare destination
)

// parsedDefinition is a link reference definition as offsets into content.
type parsedDefinition struct {
	start, end         int
	label, dest, title Span
}

// parseDefinition reads the definition at the start of s[pos:], and returns the
// offset after its last line.
func parseDefinition(s string, pos int) (d parsedDefinition, next int, ok bool) {
	d.start = pos
	d.label, pos, ok = linkLabel(s, pos)
	if !ok || d.label.Empty() || pos >= len(s) || s[pos] != ':' {
		return d, 0, false
	}
	pos = skipSpacesAndLine(s, pos+1)
	d.dest, pos, ok = linkDestination(s, pos)
	if !ok {
		return d, 0, false
	}
	beforeTitle := pos
	d.end = pos
	pos = skipSpacesAndLine(s, pos)
	n := 0
	if pos > beforeTitle {
		n = linkTitle(s, pos)
	}
	if n > 0 {
		d.title = Span{pos, pos + n}
		d.end = pos + n
		if next, ok = endOfLine(s, pos+n); ok {
			return d, next, true
		}
		// cmark goes back to before the title, and keeps it all the same.
		d.end = beforeTitle
	}
	next, ok = endOfLine(s, beforeTitle)
	return d, next, ok
}

// endOfLine skips spaces and the line break that must follow.
func endOfLine(s string, pos int) (next int, ok bool) {
	pos = skipSpaces(s, pos)
	if pos == len(s) {
		return pos, true
	}
	next = skipLineBreak(s, pos)
	return next, next > pos
}

func skipSpaces(s string, pos int) int {
	for pos < len(s) && isSpaceOrTab(s[pos]) {
		pos++
	}
	return pos
}

func skipLineBreak(s string, pos int) int {
	if pos < len(s) && s[pos] == '\r' {
		pos++
	}
	if pos < len(s) && s[pos] == '\n' {
		pos++
	}
	return pos
}

// skipSpacesAndLine skips spaces with at most one line break among them.
func skipSpacesAndLine(s string, pos int) int {
	return skipSpaces(s, skipLineBreak(s, skipSpaces(s, pos)))
}

// linkLabel reads the link label at s[pos:] and returns its span without
// brackets and outer space, and the offset after the closing bracket.
func linkLabel(s string, pos int) (label Span, next int, ok bool) {
	if pos >= len(s) || s[pos] != '[' {
		return Span{}, pos, false
	}
	i := pos + 1
	for i < len(s) && s[i] != '[' && s[i] != ']' {
		if s[i] == '\\' && i+1 < len(s) && isPunct(s[i+1]) {
			i++
		}
		i++
		if i-pos-1 > maxLabel {
			return Span{}, pos, false
		}
	}
	if i >= len(s) || s[i] != ']' {
		return Span{}, pos, false
	}
	return trimSpan(s, Span{pos + 1, i}), i + 1, true
}

// linkDestination reads the link destination at s[pos:], in angle brackets or
// bare, and returns its span without the angle brackets.
func linkDestination(s string, pos int) (dest Span, next int, ok bool) {
	if pos < len(s) && s[pos] == '<' {
		return angleDestination(s, pos)
	}
	depth, i := 0, pos
	for i < len(s) && !isSpace(s[i]) {
		switch s[i] {
		case '\\':
			if i+1 < len(s) && isPunct(s[i+1]) {
				i++
			}
		case '(':
			if depth++; depth > maxLinkParens {
				return Span{}, pos, false
			}
		case ')':
			if depth == 0 {
				return Span{pos, i}, i, true
			}
			depth--
		}
		i++
	}
	// cmark wants something behind a destination, and something in it unless
	// that is a parenthesis.
	if i >= len(s) || i == pos {
		return Span{}, pos, false
	}
	return Span{pos, i}, i, true
}

func angleDestination(s string, pos int) (dest Span, next int, ok bool) {
	for i := pos + 1; i < len(s); i++ {
		switch s[i] {
		case '>':
			if i+1 >= len(s) {
				return Span{}, pos, false
			}
			return Span{pos + 1, i}, i + 1, true
		case '\\':
			i++
		case '\n', '\r', '<':
			return Span{}, pos, false
		}
	}
	return Span{}, pos, false
}

// linkTitle returns the length of the link title at s[pos:], quotes included, or
// 0. A closing quote behind a backslash closes only if no better one follows.
func linkTitle(s string, pos int) int {
	if pos >= len(s) {
		return 0
	}
	open, end := s[pos], s[pos]
	switch open {
	case '"', '\'':
	case '(':
		end = ')'
	default:
		return 0
	}
	last := 0
	for i := pos + 1; i < len(s); i++ {
		var n int
		if open == '(' {
			n = strings.IndexAny(s[i:], "()")
		} else {
			n = strings.IndexByte(s[i:], end)
		}
		if n < 0 {
			break
		}
		i += n
		escaped := i > pos+1 && s[i-1] == '\\'
		switch {
		case s[i] == end && !escaped:
			return i + 1 - pos
		case s[i] == end:
			last = i + 1 - pos
		case !escaped:
			return last
		}
	}
	return last
}
