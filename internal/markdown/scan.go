package markdown

import (
	"strings"
)

// scanner is the state of one Scan.
type scanner struct {
	src    string
	doc    *Document
	hasCR  bool
	nextLF int // offset of the next LF, or the end; kept, because many lines may end with CR before it
	line   line
	stack  []container
	leaf   leaf
	runs   blankRuns

	// leafByLeaf means that the inlines of one leaf at a time are in the document.
	leafByLeaf              bool
	inlinesFrom, inlinesEnd int // the offsets between which the document's inlines lie

	labels    map[string]int // normalised label → index of its first definition
	footnotes map[string]int // normalised label → index of its footnote
	buffers   buffers
}

// container is an open block that contains blocks.
type container struct {
	kind     BlockKind
	block    int
	need     int       // ItemBlock: columns of indentation that continue it
	children int       // ItemBlock: blocks in it so far
	last     BlockKind // of the last block that was opened in it
}

// blankRuns are the numbers of containers at the bottom of the stack that continue with
// every blank line, and with every empty one.
type blankRuns struct{ blank, empty int }

// unknownRuns stands for the blankRuns of a stack that has changed: they are not known yet.
var unknownRuns = blankRuns{-1, -1}

// leaf is the open block to which lines are added, if kind is not 0. It lies in the
// innermost container.
type leaf struct {
	kind        BlockKind
	block       int
	fenceChar   byte
	fenceLen    int
	fenceOffset int
	// The content of the line that was added last.
	lastStart, lastEnd, lastPad int
}

// Scan reads src as GitHub does and returns its structure. It never fails: any
// text is Markdown. Time and memory are linear in len(src).
//
// src should be valid UTF-8; a NUL byte counts as an ordinary character.
func Scan(src string) *Document {
	doc := new(Document)
	doc.Rescan(src)
	return doc
}

// Rescan is Scan into d. It uses the slices of d again, so what they contained is
// no longer valid.
func (d *Document) Rescan(src string) {
	d.rescanBlocks(src)
	d.scanner.scanInlines()
}

// RescanBlocks is Rescan for a caller that needs the inlines only of some leaves, one leaf
// after the other, and calls ReadInlines for each of these. In a text with definitions or
// footnotes, the inlines of all leaves are read at once, because they show which definitions
// and footnotes are used.
func (d *Document) RescanBlocks(src string) {
	d.rescanBlocks(src)
	if s := d.scanner; len(d.Definitions) > 0 || len(d.Footnotes) > 0 {
		s.scanInlines()
	} else {
		s.leafByLeaf = true
	}
}

func (d *Document) rescanBlocks(src string) {
	// Ordinary text needs about this much, so that the slices seldom grow.
	lines := min(strings.Count(src, "\n"), len(src)/8)
	s := d.scanner
	if s == nil {
		s = new(scanner)
	}
	*d = Document{
		scanner:     s,
		Source:      src,
		Blocks:      withRoom(d.Blocks[:0], lines+8),
		Inlines:     d.Inlines[:0],
		Pieces:      withRoom(d.Pieces[:0], lines+8),
		Links:       d.Links[:0],
		Definitions: d.Definitions[:0],
		Footnotes:   d.Footnotes[:0],
	}
	*s = scanner{
		src: src, doc: d, hasCR: strings.IndexByte(src, '\r') >= 0, nextLF: -1, stack: s.stack[:0],
		inlinesEnd: len(src), buffers: s.buffers.kept(),
	}
	s.scanBlocks()
	d.finishBlocks()
}

func (s *scanner) scanBlocks() {
	for pos := 0; pos < len(s.src); pos = s.line.next {
		s.readLine(pos)
		if pos == 0 && strings.HasPrefix(s.src, "\uFEFF") {
			s.line.offset = len("\uFEFF")
		}
		s.scanLine()
	}
	s.closeTo(0)
}

// finishBlocks sets the ends of containers and Next, which are known only after
// all blocks.
func (d *Document) finishBlocks() {
	for i := len(d.Blocks) - 1; i >= 0; i-- {
		b := &d.Blocks[i]
		b.Next = max(b.Next, int32(i+1))
		if b.Parent >= 0 {
			p := &d.Blocks[b.Parent]
			p.Next = max(p.Next, b.Next)
			p.End = max(p.End, b.End)
		}
	}
}

// Grown returns s with room for one more element. s is filled while a text of size bytes is read,
// and the new element is for the text at offset. A large slice gets room for as many elements as it
// will have if the rest of the text is like the text before, because copying the elements of a
// hostile text again and again would take too long. The fewer elements there are, the less they say
// about the rest: a thousand get room for four times as many at most, ten thousand for forty times,
// up to one for each byte.
func Grown[T any](s []T, offset, size int) []T {
	if len(s) < cap(s) {
		return s
	}
	return enlarged(s, offset, size)
}

// enlarged is Grown for a full slice.
func enlarged[T any](s []T, offset, size int) []T {
	const small, large = 16, 1000
	n := len(s)
	room := max(small, n)
	if n >= large {
		estimate := n*size/max(offset, 1) + n/16 // with a margin
		most := max(4*n, min(4*n/large*n, size))
		room = max(n/4, min(estimate, most)-n)
	}
	return withRoom(s, room)
}

// withRoom returns s with room for n more elements. Unlike slices.Grow it does not write to the
// room: memory that is never used is never touched.
func withRoom[T any](s []T, n int) []T {
	if cap(s)-len(s) >= n {
		return s
	}
	return append(make([]T, 0, len(s)+n), s...)
}

const (
	tabStop    = 4
	codeIndent = 4
)

// line is the state of reading one line: how far containers have consumed it.
// Offsets are into the source; columns are virtual and expand tabs.
type line struct {
	start, end int // without the line break
	next       int // where the next line starts
	offset     int // what is consumed so far
	column     int
	nonspace   int // first byte from offset on that is neither space nor tab
	nonspCol   int // its column
	indent     int // columns from offset to nonspace
	blank      bool
	partTab    bool // the tab at offset is consumed in part
	noBreak    int  // no thematic break starts before this offset; a memo for isThematicBreak
}

// readLine sets s.line to the line that starts at start. A line ends with LF,
// CRLF or CR.
func (s *scanner) readLine(start int) {
	if s.nextLF < start {
		s.nextLF = len(s.src)
		if n := strings.IndexByte(s.src[start:], '\n'); n >= 0 {
			s.nextLF = start + n
		}
	}
	end, next := s.nextLF, min(s.nextLF+1, len(s.src))
	if s.hasCR {
		if n := strings.IndexByte(s.src[start:end], '\r'); n >= 0 {
			end = start + n
			next = skipLineBreak(s.src, end)
		}
	}
	s.line = line{start: start, end: end, next: next, offset: start}
}

// byteAt returns the byte at source offset i of the current line, or a line feed
// at its end.
func (s *scanner) byteAt(i int) byte {
	if i < s.line.end {
		return s.src[i]
	}
	return '\n'
}

// columnAfter returns the column after the byte c at a column.
func columnAfter(c byte, column int) int {
	if c == '\t' {
		return column + tabStop - column%tabStop
	}
	return column + 1
}

// findNonspace sets nonspace, indent and blank for the current offset.
func (s *scanner) findNonspace() {
	l := &s.line
	if l.nonspace <= l.offset {
		l.nonspace, l.nonspCol = l.offset, l.column
		for l.nonspace < l.end && isSpaceOrTab(s.src[l.nonspace]) {
			l.nonspCol = columnAfter(s.src[l.nonspace], l.nonspCol)
			l.nonspace++
		}
	}
	l.indent = l.nonspCol - l.column
	l.blank = l.nonspace >= l.end
}

// advanceTo moves the offset to source offset i.
func (s *scanner) advanceTo(i int) {
	l := &s.line
	for l.offset < i && l.offset < l.end {
		l.partTab = false
		l.column = columnAfter(s.src[l.offset], l.column)
		l.offset++
	}
}

// advanceColumns moves on by n columns. It may consume a part of a tab.
func (s *scanner) advanceColumns(n int) {
	l := &s.line
	for n > 0 && l.offset < l.end {
		if s.src[l.offset] != '\t' {
			l.partTab = false
			l.offset++
			l.column++
			n--
			continue
		}
		toTab := tabStop - l.column%tabStop
		l.partTab = toTab > n
		used := min(n, toTab)
		l.column += used
		n -= used
		if !l.partTab {
			l.offset++
		}
	}
}
