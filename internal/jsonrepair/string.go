package jsonrepair

import (
	"fmt"
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
