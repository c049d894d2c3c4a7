package safeoutput

import (
	"bytes"

	"github.com/go-json-experiment/json/jsontext"
)

// line frames one line, b.buf[from:to].
func (r *Reader) line(b *Batch, from, to int) {
	if r.skipping {
		r.skipping = false
		return
	}
	tooLong := to-from > r.maxLine+slack
	at, to := bounds(b.buf, from, to)
	if at == to && !tooLong {
		return
	}
	text := b.buf[at:to]
	if tooLong || len(text) > r.maxLine {
		r.close(b, r.end)
		b.Lines = append(b.Lines, Line{No: r.lineNo, End: r.lineNo, Err: ErrLineTooLong})
		return
	}
	if r.open {
		if r.continues(text) {
			r.resume(b, at, to)
			return
		}
		r.close(b, r.end)
	}
	if isFence(text) {
		r.fences++
		return
	}
	r.record(b, at, to)
}

// continues reports whether a line belongs to the record that is open.
func (r *Reader) continues(text []byte) bool {
	if isFence(text) {
		return r.frame.inString
	}
	if text[0] != '{' || text[len(text)-1] != '}' {
		return true
	}
	var own frame
	if own.scan(text) != len(text) {
		return true
	}
	return r.frame.awaitsValue() && !namesKind(text)
}

// record begins one or several records at b.buf[at:to], which has no space
// around it.
func (r *Reader) record(b *Batch, at, to int) {
	for n := 0; at < to; n++ {
		if n == maxOnLine {
			b.Lines = append(b.Lines, Line{No: r.lineNo, End: r.lineNo, Err: ErrTooMany})
			return
		}
		object := 0
		if b.buf[at] != '{' {
			if object = objectStart(b.buf[at:to]); object < 0 || opensComment(b.buf[at:at+object]) || isArray(b.buf[at:to]) {
				b.Lines = append(b.Lines, Line{No: r.lineNo, End: r.lineNo, Raw: b.buf[at:to:to]})
				return
			}
		}
		r.open, r.start, r.end, r.no = true, at, to, r.lineNo
		r.frame.reset()
		at = r.advance(b, at+object, to)
	}
}

// resume continues the open record through b.buf[at:to].
func (r *Reader) resume(b *Batch, at, to int) {
	if r.end = to; to-r.start > r.maxLine {
		r.open = false
		b.Lines = append(b.Lines, Line{No: r.no, End: r.lineNo, Err: ErrLineTooLong})
		return
	}
	if next := r.advance(b, at, to); next < to {
		r.record(b, next, to)
	}
}

// advance scans the open record through b.buf[at:to] and, if it closes there,
// ends it. It returns where on the line the next record begins, to if none
// does.
func (r *Reader) advance(b *Batch, at, to int) int {
	n := r.frame.scan(b.buf[at:to])
	if n < 0 {
		return to
	}
	next := at + n
	for next < to && (b.buf[next] == ',' || isSpace(b.buf[next])) {
		next++
	}
	if next < to && b.buf[next] != '{' {
		next = r.afterText(b, at+n, next, to)
	}
	r.close(b, next)
	return next
}

// afterText returns where on the line the next record begins behind an object
// that ends at end and text that follows it at next. The text is part of the
// object's record, unless an object follows in a comment. All of the line is if
// there is a quote in the text, or if the object is no valid JSON: then the
// brace that seems to end it may be part of a string with quotes that are not
// escaped.
func (r *Reader) afterText(b *Batch, end, next, to int) int {
	n := objectStart(b.buf[next:to])
	if n < 0 || bytes.IndexByte(b.buf[next:next+n], '"') >= 0 {
		return to
	}
	object := r.start + max(0, objectStart(b.buf[r.start:end])) // behind the text before it
	if !isJSON(b.buf[object:end]) {
		return to
	}
	if opensComment(b.buf[next : next+n]) {
		return next
	}
	return next + n
}

// opensComment reports whether what follows a text belongs to a comment that
// the text begins with.
func opensComment(text []byte) bool {
	switch {
	case bytes.HasPrefix(text, []byte("//")), bytes.HasPrefix(text, []byte("# ")), bytes.HasPrefix(text, []byte("##")):
		return true
	case bytes.HasPrefix(text, []byte("/*")):
		return !bytes.Contains(text[2:], []byte("*/"))
	}
	return false
}

// isArray reports whether a line is a whole JSON array, which stands alone.
func isArray(line []byte) bool { return line[0] == '[' && isJSON(line) }

func isJSON(b []byte) bool {
	return jsontext.Value(b).IsValid(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
}

// close ends the open record, if there is one, at end.
func (r *Reader) close(b *Batch, end int) {
	if !r.open {
		return
	}
	r.open = false
	l := Line{No: r.no, End: r.no + bytes.Count(b.buf[r.start:end], []byte{'\n'})}
	if r.frame.tooDeep {
		l.Err = ErrTooDeep
	} else {
		l.Raw = trim(b.buf[r.start:end:end])
	}
	b.Lines = append(b.Lines, l)
}

// namesKind reports whether a complete object says that it is a safe output.
func namesKind(text []byte) bool {
	dec := jsontext.NewDecoder(bytes.NewBuffer(text), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if _, err := dec.ReadToken(); err != nil {
		return false
	}
	for dec.PeekKind() == '"' {
		name, err := dec.ReadToken()
		if err != nil {
			return false
		}
		isType := name.String() == "type"
		if !isType || dec.PeekKind() != '"' {
			if dec.SkipValue() != nil {
				return false
			}
			continue
		}
		value, err := dec.ReadToken()
		if err != nil {
			return false
		}
		_, ok := Lookup(value.String())
		return ok
	}
	return false
}
