package safeoutput

import "bytes"

// maxAhead is how many bytes after a complete object are read to find out whether it
// is part of the record before it: far more than a body may have.
const maxAhead = 4 << 20

// ahead searches for the next line that continues an open record: a line that ends a string, an
// object or a list of an earlier line. A complete object before such a line is part of the open
// record, such as an item that is quoted in a text with raw newlines. If there is no such line, the
// open record is cut off, and the object is a record of its own.
//
// The offsets are those of the file. Each byte is searched once or twice, however
// many records are open.
type ahead struct {
	searched  int64 // no line that begins before this offset continues a record
	found     bool  // the line that begins at searched continues one
	noObjects int64 // no safe output over several lines begins before this offset
}

// search looks at the lines of text, which begins at offset. It returns whether one of
// them continues a record, and whether that is known: if not, more of the file is needed.
func (a *ahead) search(text []byte, offset int64, eof bool) (continues, known bool) {
	if a.searched < offset {
		a.searched, a.found = offset, false
	}
	for !a.found {
		rest := text[min(a.searched-offset, int64(len(text))):]
		if a.searched-offset > maxAhead {
			return false, true
		}
		nl := bytes.IndexByte(rest, '\n')
		if nl < 0 && !eof {
			return false, false
		}
		if len(rest) == 0 {
			return false, true
		}
		line := rest
		if nl >= 0 {
			line = rest[:nl+1]
		}
		width, known := a.skippable(rest, line, eof)
		if !known {
			return false, false
		}
		a.searched += int64(width)
		a.found = width == 0
	}
	return true, true
}

// skippable returns the width of the first line of text, or of the safe output over several
// lines that begins there; 0 if the line continues a record. It also returns whether that is
// known: if not, more of the file is needed.
func (a *ahead) skippable(text, line []byte, eof bool) (width int, known bool) {
	object, begins := objectAt(line)
	if !begins {
		if continuesRecord(trim(line)) {
			return 0, true
		}
		return len(line), true
	}
	var f frame
	if n := f.scan(line[object:]); n >= 0 {
		if continuesRecord(trim(line[object+n:])) {
			return 0, true
		}
		return len(line), true
	}
	// The scan finds the object open. If the line ends with a brace all the same, this brace may be the
	// end of the open record: one of the line's quotes closes a string of an earlier line, and the scan
	// has taken the brace for part of a string, or for the end of an object in this one. If that is
	// what it is, the record is not read, but nothing that a text quotes is taken for a request.
	if l := trim(line); l[len(l)-1] == '}' {
		return 0, true
	}
	end, known := a.object(text, object, eof)
	if end == 0 {
		return len(line), known
	}
	nl := bytes.IndexByte(text[end:], '\n')
	if nl < 0 && !eof && len(text)-end < maxObject {
		return 0, false
	}
	width = len(text)
	if nl >= 0 {
		width = end + nl + 1
	}
	if continuesRecord(trim(text[end:width])) {
		return 0, true
	}
	return width, true
}

// maxObject is how many bytes are searched for the end of a safe output over several lines, and of
// the last of these lines.
const maxObject = 1 << 20

// object returns the offset after the safe output over several lines that begins at text[from:]; 0
// if none begins there. It also returns whether that is known.
func (a *ahead) object(text []byte, from int, eof bool) (end int, known bool) {
	if a.searched < a.noObjects {
		return 0, true
	}
	var f frame
	n := f.scan(text[from:min(len(text), from+maxObject)])
	switch {
	case n < 0 && !eof && len(text)-from < maxObject:
		return 0, false
	case n < 0:
		a.noObjects = a.searched + int64(min(len(text), from+maxObject))
		return 0, true
	}
	end = from + n
	if object := text[from:end]; !isJSON(object) || !namesKind(object) {
		a.noObjects = a.searched + int64(end)
		return 0, true
	}
	return end, true
}

// continuesRecord reports whether a trimmed line that does not begin a record ends a string, an
// object or a list that an earlier line opens. Complete objects in the line do not count.
func continuesRecord(line []byte) bool {
	for {
		n := objectStart(line)
		if n < 0 {
			break
		}
		var f frame
		width := f.scan(line[n:])
		if width < 0 || !isJSON(line[n:n+width]) {
			break
		}
		if endsValue(line[:n]) {
			return true
		}
		line = line[n+width:]
	}
	last := bytes.TrimRight(line, ", ")
	if bytes.HasSuffix(last, []byte("}")) {
		return true
	}
	if bytes.HasSuffix(last, []byte("]")) && len(last) > 1 { // alone, it may end a list of records
		return true
	}
	return endsValue(line)
}

// endsValue reports whether a text contains a quote that ends a string. The text after the quote
// shows that: a brace, or a comma before another quote or the end.
func endsValue(text []byte) bool {
	for i := 0; ; {
		n := stringEnd(text[i:])
		if n < 0 {
			return false
		}
		i += n
		after := bytes.TrimLeft(text[i:], " \t")
		switch {
		case len(after) == 0:
		case after[0] == '}':
			return true
		case after[0] == ',':
			if next := bytes.TrimLeft(after[1:], " \t"); len(next) == 0 || next[0] == '"' {
				return true
			}
		}
	}
}
