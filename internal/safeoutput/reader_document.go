package safeoutput

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/agent-airlock/airlock/internal/jsonrepair"
)

// document is the state of the Reader in an {"items": [...]} document.
type document struct {
	state   docState
	key     string
	errors  []string
	unknown []string
	lines   map[string]int // the line of each member's name, of at most maxNames
	problem error          // why nothing in the document counts: see Reader.DocumentProblem

	text     bool  // there is text before the next item, which is then not a request
	skipping bool  // a value is too long, and its rest is skipped
	frame    frame // of that value
}

type docState int

const (
	docNone   docState = iota // the file does not begin with a document
	docStart                  // before the outermost brace
	docMember                 // before a member's name, or the last brace
	docColon                  // before a colon
	docValue                  // before a member's value
	docItem                   // in the list of items, before an item or the closing bracket
	docEnd                    // after the last brace, or the end of the file
)

// IsDocument reports whether the file is one {"items": [...]} document.
func (r *Reader) IsDocument() bool { return r.doc.state != docNone }

// isOpen reports whether the document has begun, and not ended.
func (d *document) isOpen() bool { return d.state != docNone && d.state != docEnd }

// DocumentErrors returns a document's member "errors", as far as it is read.
// Elements that are not strings are returned as JSON.
func (r *Reader) DocumentErrors() []string { return r.doc.errors }

// addErrors reads the member "errors".
func (d *document) addErrors(raw []byte) {
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil {
		d.errors = append(d.errors, "the document's list of errors is not valid JSON")
		return
	}
	for _, e := range list {
		var text string
		if e[0] != '"' || json.Unmarshal(e, &text) != nil {
			text = string(e)
		}
		d.errors = append(d.errors, text)
	}
}

// DocumentUnknown returns the names of at most twenty members of a document that are neither "items"
// nor "errors".
func (r *Reader) DocumentUnknown() []string { return r.doc.unknown }

// maxNames is how many members a document may have.
const maxNames = 1000

// DocumentProblem returns why nothing in a document counts, or nil: it has two members of one name,
// or too many. A problem may appear as long as the file has not been read to its end. A record also
// has that error.
func (r *Reader) DocumentProblem() error { return r.doc.problem }

// name reads the name of a member.
func (d *document) name(raw []byte, line int) error {
	d.state = docColon
	if json.Unmarshal(raw, &d.key) != nil {
		d.key = ""
	}
	if d.lines == nil {
		d.lines = map[string]int{}
	}
	first, twice := d.lines[d.key]
	switch {
	case d.problem != nil:
		return nil
	case twice:
		d.problem = fmt.Errorf("the document has two members %.50q, on line %d and on line %d, so nothing in it counts; write each once", d.key, first, line)
	case len(d.lines) == maxNames:
		d.problem = fmt.Errorf("the document has more than %d members, so nothing in it counts", maxNames)
	default:
		d.lines[d.key] = line
	}
	return d.problem
}

// splitDocument splits the part of a document in b.buf[pos:]. It returns where it
// stopped: at the document's end, or where it needs more of the file to continue, or
// where the batch is full.
func (r *Reader) splitDocument(b *Batch, pos int) (next int) {
	d := &r.doc
	for {
		if d.skipping {
			n := d.frame.scan(b.buf[pos:])
			d.skipping = n < 0 && !r.eof
			if n < 0 {
				n = len(b.buf) - pos
			}
			r.lineNo += bytes.Count(b.buf[pos:pos+n], []byte{'\n'})
			pos += n
		}
		pos = r.documentSpace(b, pos)
		if len(b.Lines) >= batchLines {
			return pos
		}
		if pos == len(b.buf) {
			if r.eof {
				d.state = docEnd
				err := ErrCutOff
				if r.cutOff {
					err = ErrFileTooLong
				}
				r.addError(b, err)
			}
			return pos
		}
		if d.step(b.buf[pos]) {
			pos++
			if d.state == docEnd {
				return pos
			}
			continue
		}
		n := valueEnd(b.buf[pos:], r.eof)
		if n < 0 {
			if !r.eof && len(b.buf)-pos <= r.maxLine {
				return pos
			}
			n = len(b.buf) - pos
			d.skipping = !r.eof
		}
		r.documentValue(b, pos, pos+n)
		r.lineNo += bytes.Count(b.buf[pos:pos+n], []byte{'\n'})
		pos += n
	}
}

// documentSpace skips the space, the commas and the byte order marks at b.buf[pos:], and returns
// the offset after them. A comma ends the text before an item.
func (r *Reader) documentSpace(b *Batch, pos int) int {
	for pos < len(b.buf) {
		switch c := b.buf[pos]; {
		case c == ',':
			r.doc.text = false
			pos++
		case isSpace(c):
			if c == '\n' {
				r.lineNo++
			}
			pos++
		case bytes.HasPrefix(b.buf[pos:], []byte(byteOrderMark)):
			pos += len(byteOrderMark)
		default:
			return pos
		}
	}
	return pos
}

// step reads one byte of the document's own structure. It returns false if c is
// not one.
func (d *document) step(c byte) bool {
	switch {
	case d.state == docStart && c == '{':
		d.state = docMember
	case d.state == docMember && c == '}':
		d.state = docEnd
	case d.state == docColon && c == ':':
		d.state = docValue
	case d.state == docValue && d.key == "items" && c == '[':
		d.state = docItem
	case d.state == docItem && c == ']':
		d.state = docMember
	default:
		return false
	}
	return true
}

// documentValue reads one value, or the beginning of one that is too long or cut off, or what
// stands in place of one: a comment or text. A member's name or value changes the document's state;
// anything else, and an error, becomes a line of the batch.
func (r *Reader) documentValue(b *Batch, from, to int) {
	raw := b.buf[from:to:to]
	line := Line{No: r.lineNo, End: r.lineNo + bytes.Count(raw, []byte{'\n'})}
	belongs, err := r.doc.member(raw, line.No)
	switch {
	case err != nil:
		line.Err = err
		b.Lines = append(b.Lines, line)
	case !belongs:
		r.documentItem(b, raw, line)
	}
}

// member reads a member's name or value. It returns false if raw is something else, such as an
// item, or a value that "items" or "errors" may not have. The error is that of a record.
func (d *document) member(raw []byte, line int) (belongs bool, err error) {
	switch {
	case d.state == docMember && raw[0] == '"':
		return true, d.name(raw, line)
	case d.state == docColon:
		d.state = docMember
		return false, nil
	case d.state == docValue:
		d.state = docMember
		return d.value(raw)
	}
	return false, nil
}

// value reads a member's value, as member does.
func (d *document) value(raw []byte) (belongs bool, err error) {
	switch {
	case d.key == "errors" && raw[0] == '[':
		d.addErrors(raw)
		return true, nil
	case string(raw) == "null": // as some programs write an empty list
		return true, nil
	case d.key == "items" || d.key == "errors":
		return false, nil
	}
	if n := bytes.IndexByte(raw, '{'); n >= 0 && (n == 0 || raw[0] == '[') && namesKind(raw[n:]) {
		return true, fmt.Errorf("the document's member %.50q contains safe outputs, but only those of \"items\" are read; write them there", d.key)
	}
	if len(d.unknown) < 20 {
		d.unknown = append(d.unknown, d.key)
	}
	return true, nil
}

// documentItem completes the line of an item, or of what stands in place of one, and adds it to
// the batch.
func (r *Reader) documentItem(b *Batch, raw []byte, line Line) {
	d := &r.doc
	d.frame.reset()
	d.frame.scan(raw)
	comment := endOfComment(raw) != ""
	isText := !comment && bytes.IndexByte([]byte(`{["`), raw[0]) < 0
	switch {
	case comment && bytes.IndexByte(raw, '{') >= 0:
		line.Err = &NotRequestError{commentedOut}
	case d.text && !comment && !isText:
		line.Err = ErrInText
	case len(raw) > r.maxLine:
		line.Err = ErrLineTooLong
	case d.frame.tooDeep:
		line.Err = ErrTooDeep
	default:
		line.Raw = trim(raw)
	}
	if isText && d.state == docItem && !isJSON(raw) && raw[0] != ';' && !jsonrepair.IsWrapping(raw) {
		d.text = true
	}
	b.Lines = append(b.Lines, line)
}

// endOfComment returns what ends the comment that a text begins with, or "".
func endOfComment(text []byte) string {
	switch {
	case bytes.HasPrefix(text, []byte("/*")):
		return "*/"
	case bytes.HasPrefix(text, []byte("<!--")):
		return "-->"
	case bytes.HasPrefix(text, []byte("//")), text[0] == '#':
		return "\n"
	}
	return ""
}

// valueEnd returns the offset after the JSON value, comment or word of text that b begins with, or
// -1 if it is not complete in b.
func valueEnd(b []byte, eof bool) int {
	if end := endOfComment(b); end != "" {
		return commentEnd(b, end, eof)
	}
	switch b[0] {
	case '{':
		var f frame
		return f.scan(b)
	case '"':
		if n := stringEnd(b[1:]); n >= 0 {
			return n + 1
		}
		return -1
	case '[':
		// A frame ends only with an object, so the list is scanned as if it were in one.
		var f frame
		f.push(true)
		for i := 0; i < len(b); {
			n := bytes.IndexByte(b[i:], ']')
			if n < 0 {
				return -1
			}
			f.scan(b[i : i+n+1])
			i += n + 1
			if f.depth <= 1 && !f.inString {
				return i
			}
		}
		return -1
	}
	n := bytes.IndexAny(b, ",]}{[\" \t\r\n")
	switch {
	case n >= 0:
		return max(n, 1) // 1 is a bracket that is out of place
	case eof:
		return len(b)
	}
	return -1
}

// commentEnd returns the offset after the comment that b begins with, or -1 if it is not complete
// in b. A newline that ends a comment is not part of it.
func commentEnd(b []byte, end string, eof bool) int {
	from := 0
	if end == "*/" {
		from = len("/*") // "/*/" does not end itself
	}
	n := bytes.Index(b[from:], []byte(end))
	switch {
	case n < 0 && eof:
		return len(b)
	case n < 0:
		return -1
	case end == "\n":
		return n
	}
	return from + n + len(end)
}
