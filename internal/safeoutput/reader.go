package safeoutput

import (
	"bytes"
	"errors"
	"io"

	"github.com/agent-airlock/airlock/internal/jsonrepair"
	"github.com/go-json-experiment/json/jsontext"
)

// Line is one record of an agent's file, which usually is one line of it.
type Line struct {
	// No and End are the numbers of the record's first and last line, from 1.
	No, End int
	// Raw is the record without the space around it. It is nil if Err is set.
	Raw []byte
	// Err is set if the record cannot be read or is not a request: to one of the errors below,
	// to a *NotRequestError, or to an error that describes what is wrong with a document.
	Err error
}

// Why a record or a file cannot be read.
var (
	ErrLineTooLong = errors.New("the line is longer than 64 MiB")
	ErrTooDeep     = errors.New("objects and arrays are nested more than 512 deep")
	ErrTooMany     = errors.New("more than 10,000 objects are on one line; the others were not read")
	ErrFileTooLong = errors.New("the file is longer than 512 MiB; what follows was not read")
	ErrCutOff      = errors.New("the document ends before its closing brace")
	ErrOpenList    = errors.New("the file ends before a list of items does; the last items may be missing")
	ErrUTF16       = errors.New("the line is UTF-16, not UTF-8: write the file as UTF-8 (in PowerShell, Out-File -Encoding utf8)")
)

const (
	maxLine = 64 << 20  // bytes
	maxFile = 512 << 20 // bytes
	// slack is how many bytes of space may surround a line of maxLine.
	slack = 4096
	// maxOnLine is how many objects one line may contain.
	maxOnLine = 10_000
	// batchSize is the size of a batch in bytes, unless a line is longer. Batches
	// are so large that passing them on costs little compared with reading them,
	// and so small that several of them need little memory.
	batchSize = 128 << 10
	// batchLines is how many records a batch has, not counting further ones on its
	// last line. However short a record is, its outcome takes hundreds of bytes.
	batchLines = 2048
)

// Batch is a sequence of records and the memory that they are in. The zero value
// is ready for use, and a Batch can be used again.
type Batch struct {
	Lines []Line
	buf   []byte
}

// Size returns how many bytes of memory the batch occupies.
func (b *Batch) Size() int { return cap(b.buf) }

// Reader splits an agent's file into records, in memory that is bounded by the
// longest line. Usually a line is a record. One that leaves an object open continues
// until the object ends, or until a later line is a complete object that is not part of
// it (see type ahead). Each object on a line, or in a list, is a record. Reader skips
// empty lines, code fences around records and the brackets of lists, and, around each
// record, byte order marks, CRs, NUL bytes and space. If the file is a document
// {"items": [...], "errors": [...]}, its items are the records.
//
// An object that is commented out, struck through or quoted in Markdown's way, or
// part of a longer text, is a record with a NotRequestError.
//
// Reader does not parse: text that is not JSON is a record as well.
type Reader struct {
	src      io.Reader
	maxLine  int
	maxFile  int64
	total    int64
	base     int64 // the offset in the file of the batch's first byte
	started  bool
	eof      bool
	carry    []byte // read, but not yet part of a batch
	carryPos int    // the offset in carry of the first line that is not split yet

	lineNo   int  // number of the line at pos
	skipping bool // the line is too long, and its rest is skipped

	open  bool // a record is open: it began at start, in line no
	start int
	end   int // the end of its last line so far
	no    int
	frame frame
	ahead ahead

	fences int
	code   codeFence
	hidden hidden // what is not meant as requests
	lists  int    // how many brackets around records are open
	before int    // how many records the batch had before this line
	utf16  bool   // the file begins as UTF-16
	cutOff bool   // the file is longer than maxFile
	doc    document
}

// NewReader returns a Reader of src, which reads lines of at most 64 MiB and at
// most 512 MiB in all.
func NewReader(src io.Reader) *Reader { return newReader(src, maxLine, maxFile) }

func newReader(src io.Reader, maxLine int, maxFile int64) *Reader {
	return &Reader{src: src, maxLine: maxLine, maxFile: maxFile, lineNo: 1}
}

// Fences returns how many lines of code fences were skipped so far.
func (r *Reader) Fences() int { return r.fences }

// ReadBatch replaces the contents of b with the next records: about 128 KiB, or
// less if the source does not provide more at once. At the end it returns io.EOF
// and no records. Any other error is the source's.
func (r *Reader) ReadBatch(b *Batch) error {
	b.Lines = b.Lines[:0]
	b.buf = append(b.buf[:0], r.carry...)
	pos := r.carryPos
	r.carry, r.carryPos = r.carry[:0], 0
	if !r.started {
		if err := r.begin(b); err != nil {
			return err
		}
	}
	searched := pos // no newline is in b.buf[pos:searched]
	for {
		next, result := r.split(b, pos, searched)
		switch {
		case result == lineSplit && len(b.Lines) < batchLines:
			pos, searched = next, next
			continue
		case result == needsLineEnd && r.eof:
			r.finish(b, next)
			return r.completeBatch(b, len(b.buf))
		case len(b.Lines) > 0: // the batch is full, or the next record needs more of the file
			return r.completeBatch(b, next)
		}
		pos = r.compact(b, next)
		var err error
		if result == needsMore {
			searched = pos
			err = r.fillDouble(b)
		} else {
			if r.skipping || len(b.buf)-pos > r.maxLine+slack {
				pos = r.skip(b)
			}
			searched = len(b.buf)
			err = r.fill(b)
		}
		if err != nil {
			return err
		}
	}
}

// splitResult is what became of a line, or of a part of a document.
type splitResult int

const (
	lineSplit    splitResult = iota
	needsLineEnd             // the end of the line is not read yet
	needsMore                // more lines, or more of the document, must be read first
)

// split splits the document or the line at pos, which has no end before searched. It
// returns where the next line begins, or where splitting must go on.
func (r *Reader) split(b *Batch, pos, searched int) (next int, result splitResult) {
	if r.doc.isOpen() {
		pos = r.splitDocument(b, pos)
		if r.doc.isOpen() {
			return pos, needsMore
		}
		searched = pos
	}
	length := bytes.IndexByte(b.buf[searched:], '\n')
	if length < 0 {
		return pos, needsLineEnd
	}
	end := searched + length
	if !r.splitLine(b, pos, end) {
		return pos, needsMore
	}
	r.lineNo++
	return end + 1, lineSplit
}

// rebase returns the start of the bytes that are not yet part of a complete record: the
// open record, or the line at pos. The caller moves them to offset 0; the open record's own
// offsets are changed here.
func (r *Reader) rebase(pos int) (from int) {
	if !r.open {
		return pos
	}
	from = r.start
	r.start, r.end = 0, r.end-from
	return from
}

// compact removes what is before the open record, or before the line at pos, from the
// batch's memory, and returns where that line begins now. The batch must have no records.
func (r *Reader) compact(b *Batch, pos int) int {
	from := r.rebase(pos)
	r.base += int64(from)
	b.buf = b.buf[:copy(b.buf, b.buf[from:])]
	return pos - from
}

// skip abandons the line that is being read, and ends the open record before it.
// It returns where reading continues.
func (r *Reader) skip(b *Batch) int {
	keep := 0
	if !r.skipping {
		if r.open {
			keep = r.end
			r.close(b, r.end)
		}
		r.addError(b, ErrLineTooLong)
	}
	r.skipping = true
	r.base += int64(len(b.buf) - keep)
	b.buf = b.buf[:keep]
	return keep
}

// finish splits what follows the last newline, and ends the open record and the lists. In a file
// that is longer than maxFile, it drops the line and the open record instead.
func (r *Reader) finish(b *Batch, pos int) {
	if r.cutOff {
		r.cutOff, r.open = false, false
		r.addError(b, ErrFileTooLong)
		return
	}
	r.splitLine(b, pos, len(b.buf))
	r.close(b, r.end)
	if r.lists > 0 {
		r.lists = 0
		r.addError(b, ErrOpenList)
	}
}

// completeBatch ends a batch. What is not split yet is carried to the next one.
func (r *Reader) completeBatch(b *Batch, pos int) error {
	from := r.rebase(pos)
	r.carry = append(r.carry[:0], b.buf[from:]...)
	r.carryPos = pos - from
	r.base += int64(from)
	if len(b.Lines) == 0 && r.eof && len(r.carry) == 0 {
		return io.EOF
	}
	return nil
}

// splitLine splits one line, b.buf[from:to], into records. It returns false if it needs
// more of the file for that, and has then done nothing.
func (r *Reader) splitLine(b *Batch, from, to int) bool {
	if r.skipping {
		r.skipping = false
		return true
	}
	tooLong := to-from > r.maxLine+slack
	at, end := bounds(b.buf, from, to)
	if at == end && !tooLong {
		if !r.open {
			r.hidden.paragraphEnd()
		}
		return true
	}
	text := b.buf[at:end]
	if tooLong || len(text) > r.maxLine {
		r.close(b, r.end)
		r.addError(b, ErrLineTooLong)
		return true
	}
	r.before = len(b.Lines)
	if r.isUTF16Line(text) {
		if r.open {
			r.abandon(b)
		}
		r.addError(b, ErrUTF16)
		return true
	}
	if r.open {
		if r.continues(text) {
			r.resume(b, at, end)
			return true
		}
		// The line looks like a fence or a record of its own. What follows decides whether it is.
		rest := b.buf[min(to+1, len(b.buf)):]
		switch inside, known := r.ahead.search(rest, r.base+int64(len(b.buf)-len(rest)), r.eof); {
		case !known:
			return false
		case inside && r.frame.inString: // the object is quoted in a text, so its quotes end no string
			r.extend(b, end)
			return true
		case inside:
			r.resume(b, at, end)
			return true
		}
		r.abandon(b)
	}
	r.line(b, at, end)
	return true
}

// addError adds a record that has an error and is the current line.
func (r *Reader) addError(b *Batch, err error) {
	b.Lines = append(b.Lines, Line{No: r.lineNo, End: r.lineNo, Err: err})
}

// isUTF16Line reports whether a line is UTF-16: by its byte order mark or by its NUL bytes, one of
// which is enough in a file that begins as UTF-16.
func (r *Reader) isUTF16Line(text []byte) bool {
	zeros := bytes.Count(text, []byte{0})
	return zeros > 0 && (r.utf16 || 3*zeros >= len(text)) || hasUTF16Mark(text)
}

// line splits a line into records where none is open.
func (r *Reader) line(b *Batch, at, to int) {
	text := b.buf[at:to]
	if isFence(text) {
		r.fences++
		if !r.hidden.active() {
			r.code.next(text)
		}
		return
	}
	if r.hidden.active() {
		l := Line{No: r.lineNo, End: r.lineNo, Raw: text[:len(text):len(text)]}
		if bytes.IndexByte(text, '{') >= 0 {
			l.Raw, l.Err = nil, r.hidden.err()
		}
		r.hidden.read(text, r.lineNo, false)
		b.Lines = append(b.Lines, l)
		return
	}
	if r.code.why != "" && objectStart(text) >= 0 {
		r.refuse(b, &NotRequestError{r.code.why})
		return
	}
	if bytes.HasPrefix(text, []byte("@@ -")) {
		r.code.diff = true // until the next fence
	}
	if bytes.HasPrefix(text, []byte("{%")) { // a tag of a template, not an object
		r.text(b, at, to, -1)
		return
	}
	r.record(b, at, to)
}

// abandon closes the open record before its object ends. A comment that opens on one of the
// record's further lines stays open; other marks belong to the text that was cut off.
func (r *Reader) abandon(b *Batch) {
	start, no := r.start, r.no
	r.close(b, r.end)
	for line := range bytes.Lines(b.buf[start:r.end]) {
		line = trim(line)
		h, n := firstHider(line, 0, true)
		opensComment := no > r.no && n >= 0 && h.why == commentedOut && !h.anywhere
		if opensComment || r.hidden.active() {
			r.hidden.read(line, no, true)
		}
		no++
	}
}

// continues reports whether a line is certainly part of the open record, because the line looks
// neither like a code fence outside of a string nor like a record of its own.
func (r *Reader) continues(text []byte) bool {
	if isFence(text) {
		return r.frame.inString
	}
	if text[0] != '{' || text[len(text)-1] != '}' {
		return true
	}
	var own frame
	if isObject := own.scan(text) == len(text); !isObject {
		return true
	}
	return r.frame.awaitsValue() && !namesKind(text)
}

// record begins one or more records at b.buf[at:to], which has no space around it, and ends
// those whose objects end there.
func (r *Reader) record(b *Batch, at, to int) {
	for n := 0; at < to; n++ {
		if n == maxOnLine {
			r.addError(b, ErrTooMany)
			return
		}
		object := at
		if b.buf[at] != '{' {
			var ok bool
			if at, object, ok = r.leadIn(b, at, to); !ok {
				return
			}
		}
		r.open, r.start, r.end, r.no = true, at, to, r.lineNo
		r.frame.reset()
		at = r.advance(b, object, to)
	}
}

// leadIn reads what precedes an object at b.buf[at:to]. It returns where the record begins and
// where its object does. If ok is false, no object begins a record there, and leadIn has dealt with
// the text.
func (r *Reader) leadIn(b *Batch, at, to int) (start, object int, ok bool) {
	if r.bracketLine(b.buf[at:to]) || r.list(b, at, to) {
		return 0, 0, false
	}
	width, ok := objectAt(b.buf[at:to])
	if !ok {
		r.text(b, at, to, width)
		return 0, 0, false
	}
	// "- {" may be an element of a list in Markdown, "-{" is not.
	if b.buf[at] == '-' && (r.code.diff || width == 1) {
		r.refuse(b, &NotRequestError{"it is removed in a diff"})
		return 0, 0, false
	}
	start, object = at, at+width
	if n := r.brackets(b.buf[at:object]); n > 0 {
		start, _ = bounds(b.buf, at+n, to)
	}
	return start, object, true
}

// text makes a record of a text that does not begin with an object. object is the offset in it of
// something that looks like an object, or -1.
func (r *Reader) text(b *Batch, at, to, object int) {
	text := b.buf[at:to:to]
	r.hidden.read(text, r.lineNo, true)
	if object >= 0 && !opensComment(text[:object]) {
		r.refuse(b, notRequest(text[:object]))
		return
	}
	b.Lines = append(b.Lines, Line{No: r.lineNo, End: r.lineNo, Raw: text})
}

// refuse replaces the open record, if any, and all records of the line by one with an error.
func (r *Reader) refuse(b *Batch, err error) {
	l := Line{No: r.lineNo, End: r.lineNo, Err: err}
	if r.open {
		l.No = r.no
	}
	r.open = false
	for len(b.Lines) > r.before && b.Lines[len(b.Lines)-1].No == r.lineNo {
		b.Lines = b.Lines[:len(b.Lines)-1]
	}
	b.Lines = append(b.Lines, l)
}

// bracketLine reports whether a line is only the bracket that opens or closes a list of
// records, and counts the bracket.
func (r *Reader) bracketLine(line []byte) bool {
	switch string(bytes.TrimRight(line, ", ")) {
	case "[":
		r.lists++
		return true
	case "]":
		if r.lists > 0 {
			r.lists--
			return true
		}
	}
	return false
}

// brackets counts the brackets in a text before an object that open or close lists of
// records. It returns the offset after the last of them, or 0 if there is none.
func (r *Reader) brackets(text []byte) (width int) {
	text = bytes.ReplaceAll(text, []byte("\x1b["), []byte("\x1b(")) // a terminal's control sequence
	opened := bytes.Count(text, []byte("[")) - bytes.Count(text, []byte("]"))
	switch {
	case opened > 0:
		width = bytes.LastIndexByte(text, '[') + 1
	case opened < 0 && r.lists+opened >= 0:
		width = bytes.LastIndexByte(text, ']') + 1
	default:
		return 0
	}
	r.lists += opened
	return width
}

// list makes a record of each element of a line that is a complete JSON array with an
// object, and reports whether it did so.
func (r *Reader) list(b *Batch, at, to int) bool {
	if line := b.buf[at:to]; line[0] != '[' || bytes.IndexByte(line, '{') < 0 || !isJSON(line) {
		return false
	}
	dec := newDecoder(b.buf[at:to])
	if _, err := dec.ReadToken(); err != nil {
		return false
	}
	for n := 0; dec.PeekKind() != ']'; n++ {
		if n == maxOnLine {
			r.addError(b, ErrTooMany)
			return true
		}
		value, err := dec.ReadValue()
		if err != nil {
			return false
		}
		end := at + int(dec.InputOffset())
		l := Line{No: r.lineNo, End: r.lineNo, Raw: b.buf[end-len(value) : end : end]}
		var f frame
		if f.scan(l.Raw); f.tooDeep {
			l.Raw, l.Err = nil, ErrTooDeep
		}
		b.Lines = append(b.Lines, l)
	}
	return true
}

// extend continues the open record up to offset to. It returns false, and closes the
// record, if that makes it too long.
func (r *Reader) extend(b *Batch, to int) bool {
	if r.end = to; to-r.start <= r.maxLine {
		return true
	}
	r.open = false
	b.Lines = append(b.Lines, Line{No: r.no, End: r.lineNo, Err: ErrLineTooLong})
	return false
}

// resume continues the open record through b.buf[at:to].
func (r *Reader) resume(b *Batch, at, to int) {
	if !r.extend(b, to) {
		return
	}
	if next := r.advance(b, at, to); next < to {
		r.record(b, next, to)
	}
}

// advance continues the open record through b.buf[at:to] and, if its object ends
// there, closes it. It returns where on the line the next record begins, or to.
func (r *Reader) advance(b *Batch, at, to int) int {
	n := r.frame.scan(b.buf[at:to])
	if n < 0 {
		return to
	}
	next := separator(b.buf, at+n, to)
	end := next
	for next < to && r.lists > 0 && b.buf[next] == ']' { // it ends a list of records
		r.lists--
		next = separator(b.buf, next+1, to)
	}
	if next < to && b.buf[next] != '{' {
		next = r.afterText(b, at+n, next, to)
		end = next
	}
	r.close(b, end)
	return next
}

// separator returns the offset after the commas, the semicolons and the space at
// b[at:to].
func separator(b []byte, at, to int) int {
	for at < to && (b[at] == ',' || b[at] == ';' || isSpace(b[at])) {
		at++
	}
	return at
}

// afterText returns where on the line the open record ends and the next one begins. The
// record's object ends at end, and a text follows it at from.
//
// The text is part of the record, unless it is a comment with an object, which is the next
// record. The entire line is part of the record if the text contains a quote or the object
// is not valid JSON, because the brace may then be in a string whose quotes are not escaped.
// If the text says anything between two objects, neither is a request.
func (r *Reader) afterText(b *Batch, end, from, to int) int {
	following := to // where another object begins
	if n := objectStart(b.buf[from:to]); n >= 0 {
		following = from + n
	}
	text := b.buf[from:following]
	if bytes.IndexByte(text, '"') >= 0 {
		return to
	}
	object := r.start + max(0, bytes.IndexByte(b.buf[r.start:end], '{')) // after the text before it
	switch {
	case !isJSON(b.buf[object:end]):
		return to
	case opensComment(text):
		r.hidden.read(text, r.lineNo, true)
		if following < to {
			return from
		}
	case following == to:
		r.hidden.read(text, r.lineNo, false)
	case !jsonrepair.IsWrapping(text):
		r.hidden.read(b.buf[from:to], r.lineNo, false)
		r.refuse(b, notRequest(text))
		return to
	}
	return following
}

// opensComment reports whether a text begins a comment and does not end it.
func opensComment(text []byte) bool {
	switch {
	case bytes.HasPrefix(text, []byte("//")), bytes.HasPrefix(text, []byte("# ")), bytes.HasPrefix(text, []byte("##")):
		return true
	case bytes.HasPrefix(text, []byte("/*")):
		return !bytes.Contains(text[2:], []byte("*/"))
	}
	return false
}

// isJSON reports whether b is one JSON value, as newDecoder reads it.
func isJSON(b []byte) bool {
	return jsontext.Value(b).IsValid(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
}

// newDecoder returns a decoder that accepts duplicate names and invalid UTF-8: a record is
// judged when it is parsed.
func newDecoder(b []byte) *jsontext.Decoder {
	return jsontext.NewDecoder(bytes.NewBuffer(b), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
}

// close ends the open record, if any, at end.
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

// namesKind reports whether an object has the "type" of a safe output.
func namesKind(text []byte) bool {
	dec := newDecoder(text)
	if _, err := dec.ReadToken(); err != nil {
		return false
	}
	for dec.PeekKind() == '"' {
		name, err := dec.ReadToken()
		if err != nil {
			return false
		}
		if name.String() != "type" || dec.PeekKind() != '"' {
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

// begin reads the first bytes and finds out what kind of file it is.
func (r *Reader) begin(b *Batch) error {
	r.started = true
	for len(b.buf) < sniffSize && !r.eof {
		if err := r.fill(b); err != nil {
			return err
		}
	}
	head := b.buf[:min(len(b.buf), sniffSize)]
	r.utf16 = isUTF16(head)
	if isDocument(head) {
		r.doc.state = docStart
	}
	return nil
}

// fillDouble reads until there is twice as much as before: a long value is scanned from its
// start after each read, and this keeps the total time linear.
func (r *Reader) fillDouble(b *Batch) error {
	for want := 2 * len(b.buf); ; {
		if err := r.fill(b); err != nil || r.eof || len(b.buf) >= want {
			return err
		}
	}
}

// fill reads once from the source. At the end of the file, and at maxFile, it sets
// eof.
func (r *Reader) fill(b *Batch) error {
	want := max(batchSize, len(b.buf)/2)
	if cap(b.buf)-len(b.buf) < want/2 {
		grown := make([]byte, len(b.buf), len(b.buf)+want)
		copy(grown, b.buf)
		b.buf = grown
	}
	for range 100 {
		n, err := r.src.Read(b.buf[len(b.buf):cap(b.buf)])
		if r.total += int64(n); r.total > r.maxFile {
			b.buf = b.buf[:len(b.buf)+n-int(r.total-r.maxFile)]
			r.eof, r.cutOff = true, true
			return nil
		}
		b.buf = b.buf[:len(b.buf)+n]
		if err == io.EOF {
			r.eof = true
			return nil
		}
		if err != nil {
			return err
		}
		if n > 0 {
			return nil
		}
	}
	return io.ErrNoProgress
}
