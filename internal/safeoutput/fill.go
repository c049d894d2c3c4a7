package safeoutput

import (
	"io"
)

// begin reads the first bytes and looks at what kind of file it is.
func (r *Reader) begin(b *Batch) error {
	r.started = true
	for len(b.buf) < sniffSize && !r.eof {
		if err := r.fill(b); err != nil {
			return err
		}
	}
	head := b.buf[:min(len(b.buf), sniffSize)]
	if isUTF16(head) {
		return ErrUTF16
	}
	if !isText(head) {
		return ErrNotText
	}
	if isDocument(head) {
		r.doc, r.inDoc = &document{}, true
	}
	return nil
}

// fillDouble fills until there is twice as much as before, so that beginning
// again at the start of a long value stays linear.
func (r *Reader) fillDouble(b *Batch) error {
	for want := 2 * len(b.buf); ; {
		if err := r.fill(b); err != nil || r.eof || len(b.buf) >= want {
			return err
		}
	}
}

// fill reads once from the source. At the end, and at the limit of the file's
// length, it sets eof.
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
