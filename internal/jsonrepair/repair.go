// Package jsonrepair repairs near-JSON token by token and never changes what a
// valid string says.
//
// Repair is conservative. Where a text can be read in two ways, and the wrong
// one would put words into a string or take them out, the answer is an error
// that says where and how to mend it, not a guess.
package jsonrepair

import (
	"bytes"

	"github.com/go-json-experiment/json/jsontext"
)

// MaxDepth is how many objects and arrays may be open at once.
const MaxDepth = 512

// The kinds of repair.
const (
	TextAround       = "text-around"       // prose, a Markdown fence or a log prefix around the object was left out
	ByteOrderMark    = "byte-order-mark"   // a leading U+FEFF was left out
	Comment          = "comment"           // a //, /* */ or # comment between tokens was left out
	OddSpace         = "odd-space"         // white space that JSON does not know was left out between tokens
	SingleQuotes     = "single-quotes"     // a string delimited by '
	SmartQuotes      = "smart-quotes"      // a string delimited by typographic quotes
	BareKey          = "bare-key"          // a key without quotes
	TrailingComma    = "trailing-comma"    // a comma with nothing after it
	InnerQuote       = "inner-quote"       // a delimiter inside a string that was not escaped
	ControlCharacter = "control-character" // a raw newline or other control character: escaped in a string, left out between tokens
	BadEscape        = "bad-escape"        // an escape that JSON does not know; its characters are kept as written
	LoneSurrogate    = "lone-surrogate"    // half of a surrogate pair became U+FFFD
	InvalidUTF8      = "invalid-utf8"      // a byte that is not UTF-8 became U+FFFD
	MissingCloser    = "missing-closer"    // } or ] was added
	ExtraCloser      = "extra-closer"      // } or ] after the end was left out
	PythonLiteral    = "python-literal"    // True, False, None
)

// Repair is one kind of repair that was made.
type Repair struct {
	// Kind is one of the constants above.
	Kind string
	// Offset is where in the input, in bytes from 0, the first of its kind is.
	Offset int
	// Count is how many of its kind were made.
	Count int
}

// Fix returns raw as valid JSON: RFC 8259, in UTF-8, without lone surrogates,
// at most [MaxDepth] deep. Valid input comes back as it is (the same slice, no
// repairs), whatever kind of value it holds; what is not valid must hold
// one object (or array), which is repaired. Repairs are listed once a kind, in
// the order in which they were first made. Duplicate keys are left as they are.
//
// The error, if any, is an [*Error]. A string that is cut off is never
// repaired, because its text is incomplete; nor is a number that the end of the
// input touches. Fix takes time linear in the input, and its result is a valid
// input of its own.
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

// tooDeep returns the offset of the bracket that is one too deep in a valid
// value, or -1.
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

// fixer copies the input to the output, save for what it replaces.
type fixer struct {
	in, out []byte
	done    int // the input up to here is in the output
	pos     int
	stack   []frame
	repairs []Repair

	look lookahead
}

// frame is an open object or array.
type frame struct {
	open byte // '{' or '['
	// object and array are the stack index of the innermost open object and
	// array, this frame included; -1 for none.
	object, array int
}

func (f *fixer) note(kind string, offset int) {
	for i := range f.repairs {
		if f.repairs[i].Kind == kind {
			f.repairs[i].Count++
			return
		}
	}
	f.repairs = append(f.repairs, Repair{Kind: kind, Offset: offset, Count: 1})
}

// replace puts text in the place of the input from from to to.
func (f *fixer) replace(from, to int, text string) {
	f.out = append(f.out, f.in[f.done:from]...)
	f.out = append(f.out, text...)
	f.done = to
}

// run finds the object, repairs it and looks at what is left.
func (f *fixer) run() error {
	if bytes.HasPrefix(f.in, []byte("\uFEFF")) {
		f.note(ByteOrderMark, 0)
		f.done, f.pos = 3, 3
	}
	if err := f.skip(); err != nil {
		return err
	}
	start, err := f.start()
	if err != nil {
		return err
	}
	if start > f.pos {
		f.note(TextAround, f.pos)
		f.replace(f.pos, start, "")
		f.pos = start
	}
	if err := f.value(); err != nil {
		return err
	}
	return f.rest()
}

// start returns where the object begins: at or after pos, which is behind white
// space and comments.
func (f *fixer) start() (int, error) {
	in := f.in[f.pos:]
	if len(in) == 0 {
		return 0, noObject(f.pos)
	}
	if in[0] == '{' {
		return f.pos, nil
	}
	if _, quote := openingQuote(in); quote {
		return 0, noObject(f.pos)
	}
	brace := bytes.IndexByte(in, '{')
	prefix := in
	if brace >= 0 {
		prefix = in[:brace]
	}
	switch open := bytes.Count(prefix, []byte("[")) > bytes.Count(prefix, []byte("]")); {
	case in[0] == '[' && (open || brace < 0):
		return f.pos, nil
	case brace < 0 || open:
		return 0, noObject(f.pos)
	}
	return f.pos + brace, nil
}

// rest looks at what stands after the value and leaves it out.
func (f *fixer) rest() error {
	f.replace(f.pos, len(f.in), "")
	for {
		if err := f.skip(); err != nil {
			return err
		}
		if f.pos == len(f.in) {
			return nil
		}
		rest := f.in[f.pos:]
		switch rest[0] {
		case '}', ']':
			f.note(ExtraCloser, f.pos)
			f.pos++
			continue
		case ',':
			if n := f.next(f.pos + 1); n == len(f.in) || f.in[n] == '}' || f.in[n] == ']' {
				f.note(TrailingComma, f.pos)
				f.pos++
				continue
			}
		}
		if second := bytes.IndexByte(rest, '{'); second >= 0 {
			return secondObject(f.pos + second)
		}
		// Prose may follow, but not what may be members of an object that was
		// closed too early.
		if _, quote := openingQuote(rest); quote || rest[0] == ',' || rest[0] == ':' || bytes.IndexByte(rest, '}') >= 0 {
			return leftOver(f.pos)
		}
		f.note(TextAround, f.pos)
		return nil
	}
}

// state is what may come next.
type state int

const (
	wantValue    state = iota // a value
	wantFirst                 // a value or the end of an array that just began
	wantKey                   // a key
	wantKeyOrEnd              // a key or the end of an object that just began
	wantMore                  // a comma or a closer
)

// value repairs the object or array at pos, with all that is in it.
func (f *fixer) value() error {
	next := wantValue
	for {
		if err := f.skip(); err != nil {
			return err
		}
		var err error
		switch {
		case f.pos == len(f.in):
			return f.end(next)
		case next == wantMore:
			next, err = f.more()
		case f.isCloser() && (next == wantFirst || next == wantKeyOrEnd):
			next, err = wantMore, f.closer()
		case next == wantKey || next == wantKeyOrEnd:
			next, err = wantValue, f.key()
		default:
			next, err = f.oneValue()
		}
		if err != nil {
			return err
		}
		if next == wantMore && len(f.stack) == 0 {
			return nil
		}
	}
}

// end adds what closes the value at the end of the input.
func (f *fixer) end(next state) error {
	switch next {
	case wantValue:
		return cutOff(f.pos, "a value belongs")
	case wantKey:
		return cutOff(f.pos, "a key belongs")
	}
	f.replace(f.pos, f.pos, "")
	f.closeTo(0)
	return nil
}

// closeTo closes all frames above depth.
func (f *fixer) closeTo(depth int) {
	for len(f.stack) > depth {
		top := f.stack[len(f.stack)-1]
		f.note(MissingCloser, f.pos)
		f.replace(f.pos, f.pos, string(closerOf(top.open)))
		f.stack = f.stack[:len(f.stack)-1]
	}
}

func closerOf(open byte) byte { return open + 2 } // '{' and '}', '[' and ']' lie two apart in ASCII

func (f *fixer) isCloser() bool { return f.in[f.pos] == '}' || f.in[f.pos] == ']' }

// more reads a comma or a closer.
func (f *fixer) more() (state, error) {
	switch c := f.in[f.pos]; {
	case f.isCloser():
		return wantMore, f.closer()
	case c != ',':
		return 0, unexpected(f.pos, f.in, "a comma or the end of what is open")
	}
	if n := f.next(f.pos + 1); n == len(f.in) || f.in[n] == '}' || f.in[n] == ']' {
		f.note(TrailingComma, f.pos)
		f.replace(f.pos, f.pos+1, "")
		f.pos++
		return wantMore, nil
	}
	f.pos++
	if f.stack[len(f.stack)-1].open == '{' {
		return wantKey, nil
	}
	return wantValue, nil
}

// closer reads } or ], and closes first what is open inside.
func (f *fixer) closer() error {
	c := f.in[f.pos]
	at := f.enclosing(len(f.stack)-1, c)
	if at < 0 {
		return wrongCloser(f.pos, c)
	}
	f.closeTo(at + 1)
	f.stack = f.stack[:at]
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

func (f *fixer) open() error {
	n := len(f.stack)
	if n == MaxDepth {
		return depthError(f.pos)
	}
	top := frame{open: f.in[f.pos], object: -1, array: -1}
	if n > 0 {
		top.object, top.array = f.stack[n-1].object, f.stack[n-1].array
	}
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
	if _, quote := openingQuote(f.in[f.pos:]); quote {
		if err := f.quoted(true); err != nil {
			return err
		}
	} else {
		end := f.word(f.pos)
		if end == f.pos {
			return unexpected(f.pos, f.in, "a key")
		}
		f.note(BareKey, f.pos)
		f.replace(f.pos, f.pos, `"`)
		f.replace(end, end, `"`)
		f.pos = end
	}
	if err := f.skip(); err != nil {
		return err
	}
	if f.pos == len(f.in) {
		return cutOff(f.pos, "a colon belongs")
	}
	if f.in[f.pos] != ':' {
		return unexpected(f.pos, f.in, "the colon after a key")
	}
	f.pos++
	return nil
}

// oneValue reads a value; of an object or array, its opener.
func (f *fixer) oneValue() (state, error) {
	switch c := f.in[f.pos]; {
	case c == '{':
		return wantKeyOrEnd, f.open()
	case c == '[':
		return wantFirst, f.open()
	case c == '-' || c >= '0' && c <= '9':
		return wantMore, f.number()
	}
	if _, quote := openingQuote(f.in[f.pos:]); quote {
		return wantMore, f.quoted(false)
	}
	return wantMore, f.literal()
}

// number reads a number. One that the end of the input touches may lack digits.
func (f *fixer) number() error {
	end := f.pos
	for end < len(f.in) && (isWord(f.in[end]) || f.in[end] == '+') {
		end++
	}
	switch {
	case !isNumber(f.in[f.pos:end]):
		return badNumber(f.pos, f.in[f.pos:end])
	case end == len(f.in):
		return cutOff(f.pos, "this number may go on")
	}
	f.pos = end
	return nil
}

// isNumber follows RFC 8259's grammar of numbers.
func isNumber(s []byte) bool {
	i := 0
	digits := func() bool {
		from := i
		for i < len(s) && s[i] >= '0' && s[i] <= '9' {
			i++
		}
		return i > from
	}
	if i < len(s) && s[i] == '-' {
		i++
	}
	if i < len(s) && s[i] == '0' {
		i++
	} else if !digits() {
		return false
	}
	if i < len(s) && s[i] == '.' {
		if i++; !digits() {
			return false
		}
	}
	if i < len(s) && (s[i] == 'e' || s[i] == 'E') {
		if i++; i < len(s) && (s[i] == '+' || s[i] == '-') {
			i++
		}
		if !digits() {
			return false
		}
	}
	return i == len(s)
}

// literal reads true, false, null and Python's names for them.
func (f *fixer) literal() error {
	end := f.word(f.pos)
	word := f.in[f.pos:end]
	switch json, known := literalOf(word); {
	case len(word) == 0:
		return unexpected(f.pos, f.in, "a value")
	case !known:
		return bareValue(f.pos, word)
	case json != string(word):
		f.note(PythonLiteral, f.pos)
		f.replace(f.pos, end, json)
	}
	f.pos = end
	return nil
}

func literalOf(word []byte) (json string, known bool) {
	switch string(word) {
	case "true", "True":
		return "true", true
	case "false", "False":
		return "false", true
	case "null", "None":
		return "null", true
	}
	return "", false
}

// word returns the end of the bare word at p.
func (f *fixer) word(p int) int {
	for p < len(f.in) && isWord(f.in[p]) {
		p++
	}
	return p
}

func isWord(c byte) bool {
	return isLetter(c) || c >= '0' && c <= '9' || c == '_' || c == '-' || c == '$' || c == '.'
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }
