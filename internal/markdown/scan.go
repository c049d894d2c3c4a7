package markdown

import (
	"slices"
	"strings"
)

// scanner is the state of one Scan.
type scanner struct {
	src   string
	doc   *Document
	hasCR bool
	// nextLF is the offset of an LF, or the end: the memo of lineBreakOrCR.
	nextLF int
	line   line
	stack  []container
	leaf   leaf
	// itemRun is the number of containers at the bottom of the stack that let
	// every blank line pass: list items with content. -1 when not known.
	itemRun int

	labels    map[string]int // normalised label → index of its first definition
	footnotes map[string]int // normalised label → index of its footnote
	in        inliner
}

// container is an open block that holds blocks.
type container struct {
	kind     BlockKind
	block    int
	need     int // ItemBlock: columns of indentation that continue it
	children int // ItemBlock: blocks in it so far
}

// leaf is the open block that takes lines, if kind is not 0. It lies in the
// innermost container.
type leaf struct {
	kind        BlockKind
	block       int
	fenceChar   byte
	fenceLen    int
	fenceOffset int
	// The content of the last line added to a paragraph.
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

// Rescan is Scan into d, whose slices it uses again: whatever was taken from
// them before is no longer valid.
func (d *Document) Rescan(src string) {
	// Sizes that ordinary text fills about, so that slabs seldom grow.
	lines := min(strings.Count(src, "\n"), len(src)/8)
	*d = Document{
		Source:      src,
		Blocks:      slices.Grow(d.Blocks[:0], lines+8),
		Inlines:     slices.Grow(d.Inlines[:0], 2*lines+8),
		Pieces:      slices.Grow(d.Pieces[:0], lines+8),
		Links:       d.Links[:0],
		Definitions: d.Definitions[:0],
		Footnotes:   d.Footnotes[:0],
	}
	s := scanner{src: src, doc: d, hasCR: strings.IndexByte(src, '\r') >= 0, nextLF: -1}
	s.scanBlocks()
	d.finishBlocks()
	s.scanInlines()
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

// finishBlocks fills in what is known only when all blocks are: ends of
// containers and Next.
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

// grown returns s with room for one more. It doubles: what append does with long
// slices copies a hostile text's nodes many times.
func grown[T any](s []T) []T {
	if len(s) == cap(s) {
		return slices.Grow(s, max(16, len(s)))
	}
	return s
}
