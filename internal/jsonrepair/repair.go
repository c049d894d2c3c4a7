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
