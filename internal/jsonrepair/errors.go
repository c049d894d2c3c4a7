package jsonrepair

import (
	"bytes"
	"fmt"
)

// Code is the reason why a text cannot be repaired.
type Code string

// The reasons.
const (
	NoObject     Code = "no-object"      // there is no object in the text
	SecondObject Code = "second-object"  // there is more than one
	CutOffString Code = "cut-off-string" // a string has no end
	CutOff       Code = "cut-off"        // the text ends where a value or a colon belongs, or in a number
	Ambiguous    Code = "ambiguous"      // a quote may end its string or be part of it
	Unexpected   Code = "unexpected"     // something stands where it cannot
	BadNumber    Code = "bad-number"     // a number that JSON does not know
	BareValue    Code = "bare-value"     // a word without quotes as a value
	LeftOver     Code = "left-over"      // what may be members follows the object's end
	WrongCloser  Code = "wrong-closer"   // } or ] that closes nothing
	OpenComment  Code = "open-comment"   // a comment takes in the end of the object
	TooDeep      Code = "too-deep"       // more than MaxDepth levels
)

// Error says why a text cannot be repaired.
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

func noObject(offset int) error {
	return &Error{NoObject, offset, "there is no JSON object here", "write one object, from { to }"}
}

func secondObject(offset int) error {
	return &Error{SecondObject, offset, "a second object follows one that is not valid JSON", "write one object a line"}
}

func leftOver(offset int) error {
	return &Error{LeftOver, offset, "the object has ended, but more of it seems to follow", "put all members between its { and }"}
}

func depthError(offset int) error {
	return &Error{TooDeep, offset, fmt.Sprintf("more than %d objects and arrays are open here", MaxDepth), "nest less deeply"}
}

func cutOffString(offset int) error {
	return &Error{CutOffString, offset, "the string that starts here is cut off", "write it to its end and close it"}
}

func cutOff(offset int, missing string) error {
	return &Error{CutOff, offset, "the text ends where " + missing, "write the object to its end"}
}

// ambiguous is about a quote in a text, which may be cut off behind it.
func ambiguous(offset int, text []byte) error {
	mend := `write \" where a quote is part of a string, and put a comma between values`
	if t := bytes.TrimSpace(text); t[len(t)-1] != '}' && t[len(t)-1] != ']' {
		mend += ", and write the object to its end"
	}
	return &Error{Ambiguous, offset, "this quote may end its string or be part of it", mend}
}

func unexpected(offset int, in []byte, want string) error {
	return &Error{Unexpected, offset, fmt.Sprintf("%s stands where %s belongs", glimpse(in[offset:]), want), "write valid JSON"}
}

func badNumber(offset int, literal []byte) error {
	return &Error{BadNumber, offset, glimpse(literal) + " is not a JSON number", "write digits, or put it in quotes"}
}

func bareValue(offset int, word []byte) error {
	return &Error{BareValue, offset, glimpse(word) + " is a word without quotes", "put it in double quotes"}
}

func wrongCloser(offset int, closer byte) error {
	return &Error{WrongCloser, offset, fmt.Sprintf("%q closes nothing that is open", closer), "remove it or add its opener"}
}

func openComment(offset int) error {
	return &Error{OpenComment, offset, "a comment starts here and takes in the rest of the object", "remove the comment"}
}

// glimpse quotes the first few characters of a text, for messages.
func glimpse(text []byte) string {
	const most = 20
	n := 0
	for i := range string(text[:min(len(text), 4*most)]) {
		if n++; n > most {
			return fmt.Sprintf("%q…", text[:i])
		}
	}
	return fmt.Sprintf("%q", text[:min(len(text), 4*most)])
}
