package jsonrepair

import (
	"bytes"
	"fmt"
)

// Code is the reason why a text cannot be repaired.
type Code string

// The reasons.
const (
	NoObject     Code = "no-object"      // no object was found in the text
	SecondObject Code = "second-object"  // there may be more than one
	CutOffString Code = "cut-off-string" // a string has no end
	CutOff       Code = "cut-off"        // the text ends where a value or a colon belongs, or in a number
	Ambiguous    Code = "ambiguous"      // a quote may end its string or be part of it
	Unexpected   Code = "unexpected"     // something stands where it cannot
	BadNumber    Code = "bad-number"     // a number that JSON does not allow
	BareValue    Code = "bare-value"     // a word without quotes as a value
	LeftOver     Code = "left-over"      // what may be members follows the object's end
	WrongCloser  Code = "wrong-closer"   // } or ] that closes nothing
	OpenComment  Code = "open-comment"   // a comment takes in the rest of the text
	BrokenKey    Code = "broken-key"     // a key has a line break in it
	TooDeep      Code = "too-deep"       // more than MaxDepth levels
)

// remedies are the values of Error.Mend.
var remedies = map[Code]string{
	NoObject:     "write one object, from { to }",
	SecondObject: "write one object a line, and no other text",
	CutOffString: "write it to its end and close it",
	CutOff:       "write the object to its end",
	Ambiguous:    `write \" where a quote is part of a string, and put a comma between values`,
	Unexpected:   "write valid JSON",
	BadNumber:    "write digits, or put it in quotes",
	BareValue:    "put it in double quotes, or write a number, true, false or null",
	LeftOver:     "put all members between its { and }",
	WrongCloser:  "remove it or add its opener",
	OpenComment:  "remove the comment",
	BrokenKey:    "write the object on one line that contains no other output",
	TooDeep:      "nest less deeply",
}

// Error describes why a text cannot be repaired.
type Error struct {
	Code   Code
	Offset int    // where in the input, in bytes from 0
	What   string // what is wrong
	Mend   string // how to mend it
}

// Error implements error.
func (e *Error) Error() string {
	return fmt.Sprintf("byte %d: %s; %s", e.Offset, e.What, e.Mend)
}

func fail(code Code, offset int, what string) *Error {
	return &Error{code, offset, what, remedies[code]}
}

func (f *fixer) noObject() error { return fail(NoObject, f.pos, "there is no JSON object here") }

func depthError(offset int) error {
	return fail(TooDeep, offset, fmt.Sprintf("more than %d objects and arrays are open here", MaxDepth))
}

// unexpected returns the error at pos, where something else belongs.
func (f *fixer) unexpected(want string) error {
	return fail(Unexpected, f.pos, quoteStart(f.in[f.pos:])+" stands where "+want+" belongs")
}

// ambiguous returns the error about the quote at pos. The text may also be cut off
// after it.
func (f *fixer) ambiguous() error {
	err := fail(Ambiguous, f.pos, "this quote may end its string or be part of it")
	if text := bytes.TrimSpace(f.in); text[len(text)-1] != '}' && text[len(text)-1] != ']' {
		err.Mend += ", and write the object to its end"
	}
	return err
}

// quoteStart quotes the first few characters of a text.
func quoteStart(text []byte) string {
	const most = 20
	n := 0
	for i := range string(text[:min(len(text), 4*most)]) {
		if n++; n > most {
			return fmt.Sprintf("%q…", text[:i])
		}
	}
	return fmt.Sprintf("%q", text[:min(len(text), 4*most)])
}
