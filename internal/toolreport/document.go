package toolreport

import (
	"bytes"
	"encoding/json"
	"errors"

	"github.com/agent-airlock/airlock/internal/text"
)

// Bounds of a JSON document. What they count takes far more memory than its text, about 300 bytes.
const (
	// maxObjects bounds the objects and other elements of lists. An element may have only two bytes:
	// where objects are expected, a null becomes an empty one.
	maxObjects = 1_000_000
	// maxMembers bounds the members of the objects. Most become fields of an object, which counts
	// itself, but each member of a mapping, whose names can be any, takes memory of its own.
	maxMembers = 2_000_000
)

// limitError is the reason why a document that exceeds a limit was not read in full.
type limitError string

// Error implements error.
func (e limitError) Error() string { return string(e) }

const (
	errObjects limitError = "it has more than 1,000,000 objects and elements of lists"
	errMembers limitError = "its objects have more than 2,000,000 members"
)

// unread describes, after the name of a document, the error with which it was read.
func unread(err error) string {
	what := "is incomplete: "
	if _, ok := errors.AsType[limitError](err); ok {
		what = "was not read in full: "
	}
	return what + text.TruncateBytes(err.Error(), maxName)
}

// document collects what may be a JSON or XML document in a stream: from the first line
// that begins like one to the end.
type document struct {
	data    bytes.Buffer
	started bool
	dropped bool // it turned out to be something else
	tooLong bool // longer than MaxDocument
}

func (d *document) line(line string) {
	if d.dropped {
		return
	}
	if !d.started {
		if !beginsDocument(line) {
			return
		}
		d.started = true
	}
	if d.data.Len()+len(line) >= MaxDocument {
		d.tooLong = true
		return
	}
	d.data.WriteString(line)
	d.data.WriteByte('\n')
}

// drop discards what turned out not to be a document.
func (d *document) drop() {
	d.dropped = true
	d.data = bytes.Buffer{}
}

func beginsDocument(line string) bool {
	return line == "{" || line == "[" || line == "{}" ||
		startsWithAny(line, []string{`{"`, "[{", "[]", "<?xml ", "<checkstyle", "<testsuite", `{ "`, "[ {"})
}

// read reads the document into the collector and returns the name of its form, "" if
// that is not known or the document is too long. The error reports that the document is
// incomplete or malformed or, as a limitError, that it exceeds another limit. A test runner whose
// document is read with an error has not come to its end.
func (d *document) read(c *collector) (string, error) {
	name, err := d.readValues(c)
	if err != nil {
		c.tally.ended, c.tally.noTests = false, false
	}
	return name, err
}

// readValues is read, without regard to what an error says about the tests.
func (d *document) readValues(c *collector) (string, error) {
	b := bytes.TrimSpace(d.data.Bytes())
	if len(b) == 0 || d.tooLong {
		return "", nil
	}
	if b[0] == '<' {
		return readXML(b, c)
	}
	// A tool may print several values after each other, and text after them.
	var found string
	objects, members := 0, 0
	dec := json.NewDecoder(bytes.NewReader(b))
	for {
		var raw json.RawMessage
		if err := dec.Decode(&raw); err != nil {
			if found == "" && dec.InputOffset() == 0 {
				return "", err
			}
			return found, nil
		}
		o, m := countObjects(raw)
		objects, members = objects+o, members+m
		switch {
		case objects > maxObjects:
			return found, errObjects
		case members > maxMembers:
			return found, errMembers
		}
		if name := readJSON(raw, c); name != "" {
			found = name
		}
	}
}

// countObjects returns the number of objects in a JSON value, which is valid, together with that of
// other elements of its lists, and the number of members that the objects have.
func countObjects(raw json.RawMessage) (objects, members int) {
	var open []byte // the brackets and braces that are open
	inString, isElement := false, false
	for i := 0; i < len(raw); i++ {
		c := raw[i]
		switch {
		case inString:
			if c == '\\' {
				i++ // the next character does not end the string
			}
			inString = c != '"'
			continue
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			continue
		case c == '{' || isElement && c != ']':
			objects++
		case c == ':':
			members++
		}
		isElement = false
		switch c {
		case '"':
			inString = true
		case '{', '[':
			open = append(open, c)
			isElement = c == '['
		case '}', ']':
			open = open[:len(open)-1]
		case ',':
			isElement = open[len(open)-1] == '['
		}
	}
	return objects, members
}
