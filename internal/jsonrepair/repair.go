// Package jsonrepair repairs near-JSON token by token and never changes what a
// valid string says.
//
// Repair is conservative. Where a text can be read in two ways, and the wrong
// one would add words to a string or remove some, the result is an error that
// names the place and the remedy, not a guess.
package jsonrepair

import (
	"bytes"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"
)

// MaxDepth is how many objects and arrays may be open at once.
const MaxDepth = 512

// The kinds of repair.
const (
	TextAround       = "text-around"       // a fence, a bullet, a log prefix or punctuation around the object was removed; see IsWrapping
	ProseAround      = "prose-around"      // other text around the object was removed: words, quoting or comments of other languages
	ByteOrderMark    = "byte-order-mark"   // a leading U+FEFF was removed
	Comment          = "comment"           // a //, /* */ or # comment between tokens was removed
	OddSpace         = "odd-space"         // white space that JSON does not allow between tokens was removed
	SingleQuotes     = "single-quotes"     // a string delimited by '
	SmartQuotes      = "smart-quotes"      // a string delimited by typographic quotes
	BareKey          = "bare-key"          // a key without quotes
	TripleQuotes     = "triple-quotes"     // a string between three quotes
	MissingComma     = "missing-comma"     // a comma before a key was added
	TrailingComma    = "trailing-comma"    // a comma with nothing after it
	InnerQuote       = "inner-quote"       // a delimiter inside a string that was not escaped
	ControlCharacter = "control-character" // a raw newline or other control character: escaped in a string, removed between tokens
	BadEscape        = "bad-escape"        // an escape that JSON does not define: replaced by the character that it means, or kept as text
	LoneSurrogate    = "lone-surrogate"    // half of a surrogate pair became U+FFFD
	InvalidUTF8      = "invalid-utf8"      // a byte that is not UTF-8 became U+FFFD
	MissingCloser    = "missing-closer"    // } or ] was added
	ExtraCloser      = "extra-closer"      // } or ] after the end was removed
	PythonLiteral    = "python-literal"    // True, False, None
)

// Repair is one kind of repair that was made.
type Repair struct {
	Kind   string // one of the constants above
	Offset int    // of the first one, in bytes from the start of the input
	Count  int
}

// Fix returns raw as valid JSON: RFC 8259, in UTF-8, without lone surrogates,
// at most [MaxDepth] deep. Valid input of any kind that is not deeper is returned
// as it is, the same slice without repairs. Invalid input must contain one object or array,
// which is repaired. Repairs are listed once per kind, in the order in which
// they were first made. Duplicate keys are left as they are.
//
// The error, if any, is an [*Error]. A string that is cut off is never
// repaired, because its text is incomplete. Neither is a number at the very end
// of the input, because digits may be missing. Fix takes time linear in the
// input. It returns its own result unchanged.
func Fix(raw []byte) (fixed []byte, repairs []Repair, err error) {
	if valid(raw) {
		if offset := tooDeep(raw); offset >= 0 {
			return nil, nil, depthError(offset)
		}
		return raw, nil, nil
	}
	f := &fixer{in: raw, out: make([]byte, 0, len(raw)+len(raw)/16+16)}
	if err := f.run(); err != nil {
		return nil, nil, err
	}
	return f.out, f.repairs, nil
}

func valid(raw []byte) bool {
	return jsontext.Value(raw).IsValid(jsontext.AllowDuplicateNames(true))
}

// tooDeep returns the offset of the first bracket of a valid value that exceeds
// MaxDepth, or -1.
func tooDeep(raw []byte) int {
	depth := 0
	for i := 0; i < len(raw); i++ {
		switch raw[i] {
		case '{', '[':
			if depth++; depth > MaxDepth {
				return i
			}
		case '}', ']':
			depth--
		case '"':
			for i++; raw[i] != '"'; i++ {
				if raw[i] == '\\' {
					i++
				}
			}
		}
	}
	return -1
}

// fixer copies the input to the output and replaces what JSON does not allow.
type fixer struct {
	in, out []byte
	copied  int // in[:copied] is in the output, as far as it was kept
	pos     int
	stack   []frame
	repairs []Repair

	ahead lookahead
}

// frame is an open object or array.
type frame struct {
	open byte // '{' or '['
	// object and array are the stack indices of the innermost open object and
	// array, this frame included, or -1.
	object, array int
}

// note counts a repair.
func (f *fixer) note(kind string, offset int) {
	for i := range f.repairs {
		if f.repairs[i].Kind == kind {
			f.repairs[i].Count++
			return
		}
	}
	f.repairs = append(f.repairs, Repair{Kind: kind, Offset: offset, Count: 1})
}

// replace writes text instead of in[from:to].
func (f *fixer) replace(from, to int, text string) {
	f.out = append(f.out, f.in[f.copied:from]...)
	f.out = append(f.out, text...)
	f.copied = to
}

// run finds the object, repairs it and checks what follows it.
func (f *fixer) run() error {
	if bytes.HasPrefix(f.in, []byte("\uFEFF")) {
		f.note(ByteOrderMark, 0)
		f.copied, f.pos = 3, 3
	}
	if err := f.skipSpace(); err != nil {
		return err
	}
	start, err := f.findStart()
	if err != nil {
		return err
	}
	if start > f.pos {
		kind := ProseAround
		if IsWrapping(f.in[f.pos:start]) {
			kind = TextAround
		}
		f.note(kind, f.pos)
		f.replace(f.pos, start, "")
		f.pos = start
	}
	if err := f.value(); err != nil {
		return err
	}
	return f.afterValue()
}

// findStart returns where the object begins, at pos or later. If the input begins with an array,
// and it is not closed before the first object or there is none, findStart returns where the array
// begins. Space and comments are skipped already.
func (f *fixer) findStart() (int, error) {
	in := f.in[f.pos:]
	if len(in) == 0 || isQuote(in) {
		return 0, f.noObject()
	}
	if in[0] == '{' {
		return f.pos, nil
	}
	brace := bytes.IndexByte(in, '{')
	prefix := in // what is before the object
	if brace >= 0 {
		prefix = in[:brace]
	}
	inArray := bytes.Count(prefix, []byte("[")) > bytes.Count(prefix, []byte("]"))
	switch {
	case in[0] == '[' && (inArray || brace < 0):
		return f.pos, nil
	case brace < 0 || inArray:
		return 0, f.noObject()
	}
	return f.pos + brace, nil
}

// afterValue removes the text after the value. It returns an error if that text may belong to the
// object, or contains another object.
func (f *fixer) afterValue() error {
	f.replace(f.pos, len(f.in), "")
	for {
		if err := f.skipSpace(); err != nil {
			return err
		}
		if f.pos == len(f.in) {
			return nil
		}
		rest := f.in[f.pos:]
		if rest[0] == '}' || rest[0] == ']' {
			f.note(ExtraCloser, f.pos)
			f.pos++
			continue
		}
		if rest[0] == ',' {
			next := f.nextToken(f.pos + 1)
			// A line comment that nextToken does not skip goes up to the end of the input.
			if f.endsAt(next) || isComment(f.in[next:]) && !isBlockComment(f.in[next:]) {
				f.note(TrailingComma, f.pos)
				f.pos++
				continue
			}
		}
		if left := bytes.TrimLeft(rest, "`;."); len(left) < len(rest) {
			f.note(TextAround, f.pos)
			f.pos = len(f.in) - len(left)
			continue
		}
		if second := bytes.IndexByte(rest, '{'); second >= 0 {
			what := "a second object follows the first one"
			if !IsWrapping(rest[:second]) {
				what = "the text after the object has a {, which may begin another object"
			}
			return fail(SecondObject, f.pos+second, what)
		}
		// Prose may follow, but not text that may be members of an object that was closed too
		// early.
		if isQuote(rest) || rest[0] == ',' || rest[0] == ':' || bytes.IndexByte(rest, '}') >= 0 {
			return fail(LeftOver, f.pos, "the object has ended, but more of it seems to follow")
		}
		f.note(ProseAround, f.pos)
		return nil
	}
}

// endsAt reports whether a closer or the end of the input is at p.
func (f *fixer) endsAt(p int) bool { return p == len(f.in) || f.in[p] == '}' || f.in[p] == ']' }

// expected is what may come next.
type expected int

const (
	aValue     expected = iota
	valueOrEnd          // a value, or the end of an array that just began
	aKey
	keyOrEnd   // a key, or the end of an object that just began
	commaOrEnd // a comma or a closer
)

// value repairs the object or array at pos.
func (f *fixer) value() error {
	next := aValue
	for {
		if err := f.skipSpace(); err != nil {
			return err
		}
		var err error
		switch {
		case f.pos == len(f.in):
			return f.closeAll(next)
		case next == commaOrEnd:
			next, err = f.commaOrCloser()
		case f.endsAt(f.pos) && (next == valueOrEnd || next == keyOrEnd):
			next, err = commaOrEnd, f.closer()
		case next == aKey || next == keyOrEnd:
			next, err = aValue, f.key()
		default:
			next, err = f.element()
		}
		if err != nil {
			return err
		}
		if next == commaOrEnd && len(f.stack) == 0 {
			return nil
		}
	}
}

// closeAll closes what is open at the end of the input.
func (f *fixer) closeAll(next expected) error {
	switch next {
	case aValue:
		return fail(CutOff, f.pos, "the text ends where a value belongs")
	case aKey:
		return fail(CutOff, f.pos, "the text ends where a key belongs")
	}
	f.closeTo(0)
	return nil
}

// closeTo closes all frames but the first depth ones.
func (f *fixer) closeTo(depth int) {
	for len(f.stack) > depth {
		closer := "]"
		if f.stack[len(f.stack)-1].open == '{' {
			closer = "}"
		}
		f.note(MissingCloser, f.pos)
		f.replace(f.pos, f.pos, closer)
		f.stack = f.stack[:len(f.stack)-1]
	}
}

// commaOrCloser reads what follows a value.
func (f *fixer) commaOrCloser() (expected, error) {
	switch {
	case f.endsAt(f.pos):
		return commaOrEnd, f.closer()
	case f.in[f.pos] != ',' && f.stack[len(f.stack)-1].open == '{' && f.isPlainKey(f.pos):
		f.note(MissingComma, f.pos)
		f.replace(f.pos, f.pos, ",")
		return aKey, nil
	case f.in[f.pos] != ',':
		return 0, f.unexpected("a comma or the end of what is open")
	case f.endsAt(f.nextToken(f.pos + 1)):
		f.note(TrailingComma, f.pos)
		f.replace(f.pos, f.pos+1, "")
		f.pos++
		return commaOrEnd, nil
	}
	f.pos++
	if f.stack[len(f.stack)-1].open == '{' {
		return aKey, nil
	}
	return aValue, nil
}

// closer reads } or ]. It closes first what is open inside.
func (f *fixer) closer() error {
	c := f.in[f.pos]
	level := f.enclosing(len(f.stack)-1, c)
	if level < 0 {
		return fail(WrongCloser, f.pos, fmt.Sprintf("%q closes nothing that is open", c))
	}
	f.closeTo(level + 1)
	f.stack = f.stack[:level]
	f.pos++
	return nil
}

// enclosing returns the stack index, at most level, of the innermost frame that
// closer closes, or -1.
func (f *fixer) enclosing(level int, closer byte) int {
	switch {
	case level < 0:
		return -1
	case closer == '}':
		return f.stack[level].object
	}
	return f.stack[level].array
}

// opener reads { or [.
func (f *fixer) opener() error {
	n := len(f.stack)
	if n == MaxDepth {
		return depthError(f.pos)
	}
	top := frame{open: f.in[f.pos], object: f.enclosing(n-1, '}'), array: f.enclosing(n-1, ']')}
	if top.open == '{' {
		top.object = n
	} else {
		top.array = n
	}
	f.stack = append(f.stack, top)
	f.pos++
	return nil
}

// key reads a key and its colon.
func (f *fixer) key() error {
	if isQuote(f.in[f.pos:]) {
		if err := f.quotedString(true); err != nil {
			return err
		}
	} else {
		end := wordEnd(f.in, f.pos)
		if end == f.pos {
			return f.unexpected("a key")
		}
		f.note(BareKey, f.pos)
		f.replace(f.pos, f.pos, `"`)
		f.replace(end, end, `"`)
		f.pos = end
	}
	if err := f.skipSpace(); err != nil {
		return err
	}
	if f.pos == len(f.in) {
		return fail(CutOff, f.pos, "the text ends where a colon belongs")
	}
	if f.in[f.pos] != ':' {
		return f.unexpected("the colon after a key")
	}
	f.pos++
	return nil
}

// element reads a value, or the opener of an object or array.
func (f *fixer) element() (expected, error) {
	switch c := f.in[f.pos]; {
	case c == '{':
		return keyOrEnd, f.opener()
	case c == '[':
		return valueOrEnd, f.opener()
	case startsNumber(c):
		return commaOrEnd, f.readNumber()
	case isQuote(f.in[f.pos:]):
		return commaOrEnd, f.quotedString(false)
	}
	return commaOrEnd, f.literal()
}

func startsNumber(c byte) bool { return c == '-' || c >= '0' && c <= '9' }

// readNumber reads a number. One at the very end of the input is an error, because it may lack
// digits.
func (f *fixer) readNumber() error {
	end := f.pos
	for end < len(f.in) && (isWordByte(f.in[end]) || f.in[end] == '+') {
		end++
	}
	switch number := f.in[f.pos:end]; {
	case !valid(number):
		return fail(BadNumber, f.pos, quoteStart(number)+" is not a JSON number")
	case end == len(f.in):
		return fail(CutOff, f.pos, "the text ends where this number may go on")
	}
	f.pos = end
	return nil
}

// literal reads true, false, null and Python's names for them.
func (f *fixer) literal() error {
	end := wordEnd(f.in, f.pos)
	word := f.in[f.pos:end]
	switch json := jsonLiteral(word); {
	case len(word) == 0:
		return f.unexpected("a value")
	case json == "":
		return fail(BareValue, f.pos, quoteStart(word)+" is a word without quotes")
	case json != string(word):
		f.note(PythonLiteral, f.pos)
		f.replace(f.pos, end, json)
	}
	f.pos = end
	return nil
}

// jsonLiteral returns JSON's name of a literal, or "".
func jsonLiteral(word []byte) string {
	switch string(word) {
	case "true", "True":
		return "true"
	case "false", "False":
		return "false"
	case "null", "None":
		return "null"
	}
	return ""
}

// wordEnd returns the end of the bare word at p.
func wordEnd(in []byte, p int) int {
	for p < len(in) && isWordByte(in[p]) {
		p++
	}
	return p
}

func isWordByte(c byte) bool {
	return isLetter(c) || c >= '0' && c <= '9' || c == '_' || c == '-' || c == '$' || c == '.'
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }
