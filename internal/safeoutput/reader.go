package safeoutput

import (
	"bytes"
	"io"
)

// Reader splits an agent's file into records, in memory that is bounded by the
// longest line. A line that parses stands alone; one that leaves an object
// open takes in the following lines until it closes or a following line is a
// complete object of its own. Byte order marks, CRLF, NUL bytes and space
// around records, empty lines and the lines of a code fence around records are
// passed over; two objects on a line are two records. A file that is one
// {"items": [...], "errors": [...]} document gives its items as records.
//
// Reader only frames: what is not JSON becomes a record as well.
type Reader struct {
	src      io.Reader
	maxLine  int
	maxFile  int64
	total    int64
	started  bool
	eof      bool
	carry    []byte // read, but not yet part of a batch
	carryPos int    // where in carry the first line begins that is not framed yet

	lineNo   int  // number of the line at pos
	skipping bool // the rest of a line that is too long is passed over

	open  bool // a record is open; it began at start, in line openNo
	start int
	end   int // where its last line so far ends
	no    int
	frame frame

	fences int
	cutOff bool      // the file is longer than maxFile
	doc    *document // nil if the file does not begin with a document
	inDoc  bool      // the document has not ended yet
}

// NewReader returns a Reader of src with the limits MaxLine and MaxFile.
func NewReader(src io.Reader) *Reader { return newReader(src, MaxLine, MaxFile) }

func newReader(src io.Reader, maxLine int, maxFile int64) *Reader {
	return &Reader{src: src, maxLine: maxLine, maxFile: maxFile, lineNo: 1}
}

// Fences returns how many lines of code fences were passed over so far.
func (r *Reader) Fences() int { return r.fences }

// ReadBatch replaces what b holds by the next records: about 128 KiB of them,
// fewer where the source has no more to give at the moment. At the end it
// returns io.EOF and no records. Any other error is the source's, or ErrUTF16
// or ErrNotText.
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
	search := pos
	for {
		if r.inDoc {
			var more bool
			pos, more = r.document(b, pos)
			if search = pos; r.inDoc {
				if !more || len(b.Lines) > 0 {
					return r.leave(b, pos)
				}
				pos = r.compact(b, pos)
				if err := r.fillDouble(b); err != nil {
					return err
				}
				continue
			}
		}
		if nl := bytes.IndexByte(b.buf[search:], '\n'); nl >= 0 {
			nl += search
			r.line(b, pos, nl)
			pos, search = nl+1, nl+1
			r.lineNo++
			if len(b.Lines) >= batchLines {
				return r.leave(b, pos)
			}
			continue
		}
		if r.eof {
			r.finish(b, pos)
			return r.leave(b, len(b.buf))
		}
		if len(b.Lines) > 0 {
			return r.leave(b, pos)
		}
		pos = r.compact(b, pos)
		if r.skipping || len(b.buf)-pos > r.maxLine+slack {
			pos = r.skip(b)
		}
		search = len(b.buf)
		if err := r.fill(b); err != nil {
			return err
		}
	}
}

// compact drops what the batch's memory holds before the open record, or
// before the line at pos, and returns where that line begins now. No record of
// the batch may lie in it yet.
func (r *Reader) compact(b *Batch, pos int) int {
	from := pos
	if r.open {
		from = r.start
		r.start, r.end = 0, r.end-from
	}
	b.buf = b.buf[:copy(b.buf, b.buf[from:])]
	return pos - from
}

// skip gives up the line that is being read, and ends the open record before
// it. It returns where reading goes on.
func (r *Reader) skip(b *Batch) int {
	keep := 0
	if !r.skipping {
		if r.open {
			keep = r.end
			r.close(b, r.end)
		}
		b.Lines = append(b.Lines, Line{No: r.lineNo, End: r.lineNo, Err: ErrLineTooLong})
	}
	r.skipping = true
	b.buf = b.buf[:keep]
	return keep
}

// finish frames what stands after the last newline.
func (r *Reader) finish(b *Batch, pos int) {
	if r.cutOff {
		r.cutOff, r.open = false, false
		b.Lines = append(b.Lines, Line{No: r.lineNo, End: r.lineNo, Err: ErrFileTooLong})
		return
	}
	r.line(b, pos, len(b.buf))
	r.close(b, r.end)
}

// leave keeps what of the batch's memory is not framed yet for the next batch.
func (r *Reader) leave(b *Batch, pos int) error {
	from := pos
	if r.open {
		from = r.start
		r.start, r.end = 0, r.end-from
	}
	r.carry = append(r.carry[:0], b.buf[from:]...)
	r.carryPos = pos - from
	if len(b.Lines) == 0 && r.eof && len(r.carry) == 0 {
		return io.EOF
	}
	return nil
}
