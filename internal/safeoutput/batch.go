package safeoutput

import (
	"errors"
)

// Line is one record of an agent's file: most often one line of it.
type Line struct {
	// No is the file's own 1-based number of the record's first line; End is
	// that of its last.
	No, End int
	// Raw is the record without the space around it. It is nil where Err is set.
	Raw []byte
	// Err is ErrLineTooLong, ErrTooDeep, ErrTooMany, ErrFileTooLong or ErrCutOff
	// where the record could not be read.
	Err error
}

// Why a record cannot be read, and why a file cannot.
var (
	ErrLineTooLong = errors.New("the line is longer than 64 MiB")
	ErrTooDeep     = errors.New("objects and arrays are nested more than 512 deep")
	ErrTooMany     = errors.New("more than 10,000 objects stand on one line; the others were not read")
	ErrFileTooLong = errors.New("the file is longer than 512 MiB; what follows was not read")
	ErrCutOff      = errors.New("the document ends before its list of items does")
	ErrUTF16       = errors.New("the file is UTF-16, not UTF-8: write it as UTF-8 (in PowerShell, Out-File -Encoding utf8)")
	ErrNotText     = errors.New("the file is not text: one JSON object a line, in UTF-8, is expected")
)

// The limits of what is read, in bytes.
const (
	MaxLine = 64 << 20
	MaxFile = 512 << 20
)

// slack is how much space there may be around a line of MaxLine.
const slack = 4096

// maxOnLine is how many objects may stand on one line.
const maxOnLine = 10_000

// batchSize is how many bytes a batch has, if no line is longer. It is large
// enough that handing a batch over costs nothing beside reading it, and small
// enough that several of them are in flight in little memory.
const batchSize = 128 << 10

// batchLines is how many records a batch has, give or take one line's: what is
// made of a record takes some hundred bytes, however short it is.
const batchLines = 2048

// Batch is some records together with the memory they lie in. The zero value
// is ready for use, again and again.
type Batch struct {
	Lines []Line
	buf   []byte
}

// Size returns how many bytes of memory the batch holds.
func (b *Batch) Size() int { return cap(b.buf) }
