package jsonrepair

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
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

// openingQuote returns the family of the delimiter that a text begins with.
func openingQuote(in []byte) (q quote, ok bool) {
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

// isQuote reports whether a text begins with a delimiter of a string.
func isQuote(in []byte) bool {
	_, ok := openingQuote(in)
	return ok
}

// delimiters returns the characters that can end a string of the family, and the double
// quote, which may have been meant as the end of a string of any family.
func (q quote) delimiters() string {
	return [...]string{plainDouble: `"`, plainSingle: `"'`, smartDouble: `"“”`, smartSingle: `"'‘’`}[q]
}

// closes returns the width of the first character of a text, or 0 if the character cannot close a
// string of the family.
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
	case c == 0xE2 && q >= smartDouble: // the first byte of a typographic quote
		r, width := utf8.DecodeRune(in)
		if q == smartDouble && (r == '“' || r == '”') || q == smartSingle && (r == '‘' || r == '’') {
			return width
		}
	}
	return 0
}

// quotedString reads the string at pos. A key ends at its first delimiter. A raw line break in a
// key is an error: a terminal or a log has broken the line, and with the break in its name a member
// would be lost unnoticed. In a value, a delimiter that nothing plausible follows is part of the
// text.
func (f *fixer) quotedString(key bool) error {
	from := f.pos
	q, _ := openingQuote(f.in[from:])
	_, width := utf8.DecodeRune(f.in[from:])
	if triple := f.tripleQuote(from); triple != "" && !key {
		return f.tripleQuoted(triple)
	}
	f.pos += width
	switch q {
	case plainDouble:
	case plainSingle:
		f.note(SingleQuotes, from)
		f.replace(from, f.pos, `"`)
	default:
		f.note(SmartQuotes, from)
		f.replace(from, f.pos, `"`)
	}
	inQuotation := false
	for f.pos < len(f.in) {
		if key && (f.in[f.pos] == '\n' || f.in[f.pos] == '\r') {
			return fail(BrokenKey, from, "the key that starts here has a line break in it")
		}
		width := q.closes(f.in[f.pos:])
		if width == 0 {
			f.textCharacter()
			continue
		}
		verdict := ends
		if !key {
			verdict = f.judge(q, width, &inQuotation)
		}
		switch verdict {
		case ends:
			if q != plainDouble {
				f.replace(f.pos, f.pos+width, `"`)
			}
			f.pos += width
			return nil
		case unclear:
			return f.ambiguous()
		}
		if width == 1 { // a typographic one is normal in a text
			f.note(InnerQuote, f.pos)
		}
		if f.in[f.pos] == '"' {
			f.replace(f.pos, f.pos, `\`)
		}
		f.pos += width
	}
	return fail(CutOffString, from, "the string that starts here is cut off")
}

// textCharacter copies the character or the escape sequence at pos, which is part of a
// string's text, and escapes what JSON does not allow there.
func (f *fixer) textCharacter() {
	switch c := f.in[f.pos]; {
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

// tripleQuote returns the three plain quotes at p, or "".
func (f *fixer) tripleQuote(p int) string {
	for _, quotes := range [...]string{`"""`, `'''`} {
		if bytes.HasPrefix(f.in[p:], []byte(quotes)) {
			return quotes
		}
	}
	return ""
}

// tripleQuoted reads a string between three quotes, as Python has them. It ends at the next
// three, after which a closer, a fitting comma or the end of the input must follow: anything else
// could be read in two ways.
func (f *fixer) tripleQuoted(quotes string) error {
	from := f.pos
	f.note(TripleQuotes, from)
	f.replace(from, from+len(quotes), `"`)
	for f.pos += len(quotes); f.pos < len(f.in); f.textCharacter() {
		if f.tripleQuote(f.pos) != quotes {
			continue
		}
		after := f.nextToken(f.pos + len(quotes))
		if !f.endsAt(after) && (f.in[after] != ',' || !f.canFollowComma(after+1, len(f.stack)-1)) {
			return f.ambiguous()
		}
		f.replace(f.pos, f.pos+len(quotes), `"`)
		f.pos += len(quotes)
		return nil
	}
	return fail(CutOffString, from, "the string that starts here is cut off")
}

// escaped returns the escape sequence of a control character.
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

// escape reads the escape sequence at pos. A \' becomes a single quote, and a lone surrogate
// becomes U+FFFD. If neither JSON nor pythonEscape knows a sequence, its backslash becomes text.
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
	case '\'': // \' means a single quote, which JSON does not escape
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
	case 'x', 'U':
		if json, width := f.pythonEscape(from); width > 0 {
			f.note(BadEscape, from)
			f.replace(from, from+width, json)
			f.pos = from + width
			return
		}
	}
	f.note(BadEscape, from)
	f.replace(from, from, `\`)
}

// pythonEscape returns JSON's form of the escape sequence \xXX or \UXXXXXXXX at p, and the width
// of that sequence in the input. The width is 0 if there is no such sequence, or if no string so
// far is in single quotes. Python writes such sequences, and it prints texts in single quotes.
func (f *fixer) pythonEscape(p int) (json string, width int) {
	width = len(`\xXX`)
	if f.in[p+1] == 'U' {
		width = len(`\UXXXXXXXX`)
	}
	isSingle := func(r Repair) bool { return r.Kind == SingleQuotes }
	if p+width > len(f.in) || !slices.ContainsFunc(f.repairs, isSingle) {
		return "", 0
	}
	switch r, err := strconv.ParseUint(string(f.in[p+2:p+width]), 16, 31); {
	case err != nil || !utf8.ValidRune(rune(r)):
		return "", 0
	case r <= 0xFFFF:
		return fmt.Sprintf(`\u%04x`, r), width
	default:
		return string(rune(r)), width
	}
}

// hexUnit reads the \uXXXX that a text begins with.
func hexUnit(in []byte) (unit rune, ok bool) {
	if len(in) < 6 || in[0] != '\\' || in[1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(string(in[2:6]), 16, 16)
	return rune(n), err == nil
}

// verdict is what a delimiter after the start of a string is.
type verdict int

const (
	ends    verdict = iota // it ends the string
	inside                 // it is part of the text
	unclear                // it may be either
)

// judge decides what the delimiter at pos, width bytes wide, is. The string ends
// there only if what follows is a comma and what may come after one (see
// canFollowComma), closers that fit, the end of the input, or a key whose comma
// is missing (see lacksComma).
//
// inQuotation reports whether a quotation inside the string is open, and judge
// updates it. A delimiter that may be an inch mark or an apostrophe opens no
// quotation, but closes an open one unless it is inside a word. A string that
// would end while a quotation is open was read wrongly, for instance because its own
// closing quote is missing.
func (f *fixer) judge(q quote, width int, inQuotation *bool) verdict {
	after, open := f.pos+width, *inQuotation
	single := q == plainSingle || q == smartSingle
	prev, _ := utf8.DecodeLastRune(f.in[:f.pos])
	next, _ := utf8.DecodeRune(f.in[after:])
	if single && isAlphanumeric(prev) && isAlphanumeric(next) {
		return inside // an apostrophe
	}
	v := f.judgeByNext(q, after, open)
	if v == inside && !open && q == plainDouble && f.lacksComma(prev, after) {
		return ends
	}
	if v == ends && open {
		return unclear
	}
	if v != inside {
		return v
	}
	unpaired := unicode.IsDigit(prev) || single && isAlphanumeric(prev) // maybe an inch mark or an apostrophe
	if !open && (!f.canOpen(prev, after, unpaired) || f.looksLikeEnd(q, after, unpaired || prev == '"')) {
		return unclear
	}
	if open || !unpaired {
		*inQuotation = !open
	}
	return inside
}

// lacksComma reports whether a delimiter ends its string, and only the comma before the next key
// is missing. The delimiter is between the character prev and the offset after. The comma is
// missing if a plain key follows and no quotation can begin at the delimiter.
func (f *fixer) lacksComma(prev rune, after int) bool {
	p := f.nextToken(after)
	return p > after && f.stack[len(f.stack)-1].open == '{' && f.isPlainKey(p) && !f.canOpen(prev, after, false)
}

// isPlainKey reports whether a key and its colon begin at p, and the key is one word in plain
// double quotes.
func (f *fixer) isPlainKey(p int) bool {
	if p >= len(f.in) || f.in[p] != '"' {
		return false
	}
	const longest = 64
	end := p + 1
	for end < len(f.in) && isWordByte(f.in[end]) && end-p <= longest {
		end++
	}
	return end > p+1 && end < len(f.in) && f.in[end] == '"' && f.isKey(p)
}

func isAlphanumeric(r rune) bool {
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsDigit(r))
}

// judgeByNext decides by the token after the delimiter.
func (f *fixer) judgeByNext(q quote, after int, open bool) verdict {
	p := f.nextToken(after)
	switch {
	case p == len(f.in):
		return ends
	case f.in[p] == ',' && f.canFollowComma(p+1, len(f.stack)-1):
		return ends
	case f.endsAt(p):
		return f.judgeByClosers(q, p, open)
	}
	return inside
}

// canFollowComma reports whether the text at p can follow a comma in the frame at level.
func (f *fixer) canFollowComma(p, level int) bool {
	p = f.nextToken(p)
	switch {
	case p == len(f.in):
		return true
	case f.endsAt(p):
		return f.enclosing(level, f.in[p]) >= 0
	case f.stack[level].open == '{':
		return f.isKey(p)
	}
	c := f.in[p]
	return isQuote(f.in[p:]) || c == '{' || c == '[' || startsNumber(c) || jsonLiteral(f.in[p:wordEnd(f.in, p)]) != ""
}

// isKey reports whether a key and its colon begin at p.
func (f *fixer) isKey(p int) bool {
	if p == len(f.in) {
		return false
	}
	end := wordEnd(f.in, p)
	if q, ok := openingQuote(f.in[p:]); ok {
		closing, width := f.nextQuote(q, p+1)
		if closing < 0 {
			return false
		}
		end = closing + width
	} else if end == p {
		return false
	}
	end = f.nextToken(end)
	return end < len(f.in) && f.in[end] == ':'
}

// judgeByClosers judges a delimiter before the closer at p. It looks at the frames that the
// closers there close, and at the text after the closers.
func (f *fixer) judgeByClosers(q quote, p int, open bool) verdict {
	level := len(f.stack) - 1 // of the innermost frame that is still open; -1 if none is
	for ; p < len(f.in) && f.endsAt(p); p = f.nextToken(p + 1) {
		if level >= 0 { // otherwise the closer is one too many
			closed := f.enclosing(level, f.in[p])
			if closed < 0 {
				return inside
			}
			level = closed - 1
		}
	}
	if p == len(f.in) {
		return ends
	}
	if level >= 0 {
		if f.in[p] == ',' && f.canFollowComma(p+1, level) || f.stack[level].open == '{' && f.isPlainKey(p) {
			return ends
		}
		return inside
	}
	// Everything is closed. What is left may be prose, or the text of a string
	// that did not end here.
	if f.in[p] == ',' {
		p = f.nextToken(p + 1)
	}
	last := f.lastOf(q.delimiters())
	switch {
	case p == len(f.in) || f.in[p] == '{' || last < p: // last < p: the string can end nowhere else
		return ends
	case open:
		return inside
	case f.lastOf("}]") > last: // the string can end there as well, and the object after it
		return unclear
	}
	return ends
}

// canOpen reports whether a delimiter can open a quotation. The character before it has to be a
// space or control character, one of the marks below, or any from U+0E00 on, because many scripts
// there set no spaces. An unpaired delimiter, perhaps an inch mark or an apostrophe, is also
// accepted if a space and a word follow it.
func (f *fixer) canOpen(prev rune, after int, unpaired bool) bool {
	if unpaired {
		word, _ := utf8.DecodeRune(f.in[min(after+1, len(f.in)):])
		if f.in[after] == ' ' && isAlphanumeric(word) {
			return true
		}
	}
	return prev <= ' ' || prev >= '\u0E00' || strings.ContainsRune("\"'([{<>=:,-/|`*_~+&#$@\\", prev)
}

// looksLikeEnd reports whether the delimiter that ends at an offset looks like the end of
// its string, although nothing that fits follows: a comma may be missing or be
// another character, or strings may be joined. If the delimiter is doubtful, it
// is enough that the next string is a key, even if there are words before it.
func (f *fixer) looksLikeEnd(q quote, after int, doubtful bool) bool {
	if p := f.nextToken(after); p > after && f.isKey(p) {
		return true
	}
	// The next two delimiters may belong to another string. between is the text that joins the two
	// strings.
	opening, width := f.nextQuote(q, after)
	if opening < 0 {
		return false
	}
	between := f.in[after:opening]
	closing, width := f.nextQuote(q, opening+width)
	follow := len(f.in) // the token after the other string
	if closing >= 0 {
		follow = f.nextToken(closing + width)
	}
	isKey := follow < len(f.in) && f.in[follow] == ':'
	switch {
	case isKey && doubtful:
		return true
	case bytes.ContainsFunc(between, isOfWord):
		return false
	case isKey || bytes.ContainsAny(between, ",:;[]{}"):
		return true
	case closing < 0 || follow < len(f.in) && f.in[follow] != ',' && !f.endsAt(follow):
		return false
	}
	// The strings are joined by a space or a sign, as in "a" + "b". If nothing is between them, they
	// are elements of an array without a comma, as in ["a""b"]. Elsewhere the two delimiters are an
	// empty quotation in one string, as in "not "" either".
	inArray := follow < len(f.in) && f.stack[len(f.stack)-1].open == '['
	return len(between) > 0 || inArray
}

// isOfWord reports whether a character is part of a word, or a symbol that stands for one.
func isOfWord(r rune) bool {
	return isAlphanumeric(r) || unicode.IsSymbol(r) && r >= utf8.RuneSelf
}
