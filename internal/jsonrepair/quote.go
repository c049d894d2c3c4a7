package jsonrepair

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

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
