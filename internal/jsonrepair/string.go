package jsonrepair

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// quote is the family of a string's delimiters.
type quote int

const (
	plainDouble quote = iota
	plainSingle
	smartDouble
	smartSingle
)

// openingQuote tells which delimiter in starts with.
func openingQuote(in []byte) (quote, bool) {
	switch in[0] {
	case '"':
		return plainDouble, true
	case '\'':
		return plainSingle, true
	}
	switch r, _ := utf8.DecodeRune(in); r {
	case '“', '”', '„', '‟':
		return smartDouble, true
	case '‘', '’', '‚', '‛':
		return smartSingle, true
	}
	return 0, false
}

// closes returns the width of the character at the start of in if it can close
// a string of family q, else 0.
func (q quote) closes(in []byte) int {
	switch c := in[0]; {
	case c == '"':
		if q == plainDouble || q == smartDouble {
			return 1
		}
	case c == '\'':
		if q == plainSingle || q == smartSingle {
			return 1
		}
	case c == 0xE2 && q >= smartDouble:
		r, width := utf8.DecodeRune(in)
		if q == smartDouble && (r == '“' || r == '”') || q == smartSingle && (r == '‘' || r == '’') {
			return width
		}
	}
	return 0
}

// quoted reads the string at pos. A key ends at its first delimiter. In a
// value, a delimiter that nothing plausible follows is part of the text.
func (f *fixer) quoted(key bool) error {
	from := f.pos
	q, _ := openingQuote(f.in[from:])
	if q != plainDouble {
		kind := SmartQuotes
		if q == plainSingle {
			kind = SingleQuotes
		}
		f.note(kind, from)
		_, width := utf8.DecodeRune(f.in[from:])
		f.replace(from, from+width, `"`)
		f.pos += width
	} else {
		f.pos++
	}
	inner := innerQuotes{}
	for f.pos < len(f.in) {
		c := f.in[f.pos]
		if width := q.closes(f.in[f.pos:]); width > 0 {
			verdict := ends
			if !key {
				verdict = f.judge(q, width, &inner)
			}
			switch verdict {
			case ends:
				if q != plainDouble {
					f.replace(f.pos, f.pos+width, `"`)
				}
				f.pos += width
				return nil
			case unclear:
				return ambiguous(f.pos, f.in)
			}
			if width == 1 {
				f.note(InnerQuote, f.pos)
			}
			if c == '"' {
				f.replace(f.pos, f.pos, `\`)
			}
			f.pos += width
			continue
		}
		switch {
		case c == '"':
			f.replace(f.pos, f.pos, `\`)
			f.pos++
		case c == '\\':
			f.escape()
		case c < ' ':
			f.note(ControlCharacter, f.pos)
			f.replace(f.pos, f.pos+1, escaped(c))
			f.pos++
		case c < utf8.RuneSelf:
			f.pos++
		default:
			r, width := utf8.DecodeRune(f.in[f.pos:])
			if r == utf8.RuneError && width == 1 {
				f.note(InvalidUTF8, f.pos)
				f.replace(f.pos, f.pos+1, "\uFFFD")
			}
			f.pos += width
		}
	}
	return cutOffString(from)
}

func escaped(c byte) string {
	switch c {
	case '\n':
		return `\n`
	case '\r':
		return `\r`
	case '\t':
		return `\t`
	}
	return fmt.Sprintf(`\u%04x`, c)
}

// escape reads the backslash at pos and what belongs to it.
func (f *fixer) escape() {
	from := f.pos
	f.pos++
	if f.pos == len(f.in) {
		return // the string is cut off
	}
	switch f.in[f.pos] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		f.pos++
		return
	case '\'':
		f.note(BadEscape, from)
		f.replace(from, f.pos, "")
		f.pos++
		return
	case 'u':
		unit, ok := hexUnit(f.in[from:])
		if !ok {
			break
		}
		f.pos = from + 6
		if !utf16.IsSurrogate(unit) {
			return
		}
		if low, ok := hexUnit(f.in[f.pos:]); ok && utf16.DecodeRune(unit, low) != utf8.RuneError {
			f.pos += 6
			return
		}
		f.note(LoneSurrogate, from)
		f.replace(from, f.pos, `\ufffd`)
		return
	}
	f.note(BadEscape, from)
	f.replace(from, from, `\`)
}

// hexUnit reads the \uXXXX at the start of in.
func hexUnit(in []byte) (rune, bool) {
	if len(in) < 6 || in[0] != '\\' || in[1] != 'u' {
		return 0, false
	}
	var unit rune
	for _, c := range in[2:6] {
		switch {
		case c >= '0' && c <= '9':
			unit = unit<<4 | rune(c-'0')
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			unit = unit<<4 | rune(c|0x20-'a'+10)
		default:
			return 0, false
		}
	}
	return unit, true
}

// verdict is what a delimiter inside a string is.
type verdict int

const (
	ends    verdict = iota // it ends the string
	inside                 // it is part of the text
	unclear                // it may be either
)

// innerQuotes counts the unescaped delimiters in a string's text so far that
// open or close a quotation; inch marks and apostrophes do not. Quotations come
// in pairs: a string that would end while one is open was read wrongly, for
// instance because its own closing quote is missing.
type innerQuotes struct {
	paired int
}

func (n innerQuotes) open() bool { return n.paired%2 == 1 }

// judge says what the delimiter at pos, width bytes wide, is. It decides by
// what follows: only a comma with a key or value after it, closers that fit, or
// the end make an end of a string.
func (f *fixer) judge(q quote, width int, n *innerQuotes) verdict {
	after := f.pos + width
	single := q == plainSingle || q == smartSingle
	before, _ := utf8.DecodeLastRune(f.in[:f.pos])
	behind, _ := utf8.DecodeRune(f.in[after:])
	if single && isAlphanumeric(before) && isAlphanumeric(behind) {
		return inside // an apostrophe
	}
	v := f.follows(q, after, n.open())
	free := unicode.IsDigit(before) || single && isAlphanumeric(before)
	switch {
	case v == ends && n.open():
		return unclear
	case v == inside && !n.open() && (!f.canOpen(before, after, free) || f.looksLikeEnd(q, after, free || before == '"')):
		return unclear
	case v == inside && (n.open() || !free):
		n.paired++
	}
	return v
}

func isAlphanumeric(r rune) bool {
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsDigit(r))
}

// follows judges by what stands after the delimiter.
func (f *fixer) follows(q quote, after int, open bool) verdict {
	p := f.next(after)
	if p == len(f.in) {
		return ends
	}
	switch f.in[p] {
	case ',':
		if f.afterComma(p+1, len(f.stack)-1) {
			return ends
		}
	case '}', ']':
		return f.afterClosers(q, p, open)
	}
	return inside
}

// afterComma reports whether what stands at p, behind a comma, can go on in the
// frame at level.
func (f *fixer) afterComma(p, level int) bool {
	p = f.next(p)
	if p == len(f.in) {
		return true
	}
	c := f.in[p]
	if c == '}' || c == ']' {
		return f.enclosing(level, c) >= 0
	}
	if f.stack[level].open == '{' {
		return f.keyAt(p)
	}
	if _, quote := openingQuote(f.in[p:]); quote || c == '{' || c == '[' || c == '-' || c >= '0' && c <= '9' {
		return true
	}
	_, known := literalOf(f.in[p:f.word(p)])
	return known
}

// keyAt reports whether a key and its colon stand at p.
func (f *fixer) keyAt(p int) bool {
	if p == len(f.in) {
		return false
	}
	end := f.word(p)
	if q, quote := openingQuote(f.in[p:]); quote {
		at, width := f.nextQuote(q, p+1)
		if at < 0 {
			return false
		}
		end = at + width
	} else if end == p {
		return false
	}
	end = f.next(end)
	return end < len(f.in) && f.in[end] == ':'
}

// afterClosers judges a delimiter that the closer at p follows.
func (f *fixer) afterClosers(q quote, p int, open bool) verdict {
	level := len(f.stack) - 1
	for ; p < len(f.in) && (f.in[p] == '}' || f.in[p] == ']'); p = f.next(p + 1) {
		if level < 0 {
			continue
		}
		at := f.enclosing(level, f.in[p])
		if at < 0 {
			return inside
		}
		level = at - 1
	}
	switch {
	case p == len(f.in):
		return ends
	case level >= 0 && f.in[p] == ',' && f.afterComma(p+1, level):
		return ends
	case level >= 0:
		return inside
	}
	// Everything is closed. What is left may be prose, or the text of a string
	// that did not end here.
	if f.in[p] == ',' {
		p = f.next(p + 1)
	}
	if p == len(f.in) || f.in[p] == '{' {
		return ends
	}
	last := f.lastQuote(q)
	switch {
	case last < p:
		return ends
	case open:
		return inside
	case f.lastCloser() > last:
		return unclear
	}
	return ends
}

// canOpen reports whether a delimiter can open a quotation, by the character
// before it: a space, an opening mark, or one of a script that sets no spaces.
// One that may be an inch mark or an apostrophe needs a word behind it.
func (f *fixer) canOpen(before rune, after int, free bool) bool {
	if free {
		word, _ := utf8.DecodeRune(f.in[min(after+1, len(f.in)):])
		if f.in[after] == ' ' && isAlphanumeric(word) {
			return true
		}
	}
	return before <= ' ' || before >= '\u0E00' || strings.ContainsRune("\"'([{<>=:,-/|`*_~+&#$@\\", before)
}

// looksLikeEnd reports whether the delimiter before after, though nothing fit
// to follow a string's end does, looks like one all the same: a comma may be
// missing or be another character, or strings be joined. If it is doubtful, a
// key behind it is enough.
func (f *fixer) looksLikeEnd(q quote, after int, doubtful bool) bool {
	p := f.next(after)
	if p > after && f.keyAt(p) {
		return true
	}
	opening, width := f.nextQuote(q, after)
	if opening < 0 {
		return false
	}
	closing, width2 := f.nextQuote(q, opening+width)
	follow := len(f.in)
	if closing >= 0 {
		follow = f.next(closing + width2)
	}
	if doubtful && follow < len(f.in) && f.in[follow] == ':' {
		return true
	}
	structural := false
	for _, r := range string(f.in[after:opening]) {
		if isAlphanumeric(r) || unicode.IsSymbol(r) && r >= utf8.RuneSelf {
			return false
		}
		structural = structural || strings.ContainsRune(",:;[]{}", r)
	}
	if structural {
		return true
	}
	if closing < 0 {
		return false
	}
	if follow == len(f.in) {
		return opening > after
	}
	switch f.in[follow] {
	case ':':
		return true
	case ',', '}', ']':
		return opening > after || f.stack[len(f.stack)-1].open == '['
	}
	return false
}
