package markdown

// MaxDepth is the deepest nesting of containers (block quotes, list items,
// footnote definitions) that Scan follows. Text beyond it is read as a
// paragraph, and Document.TooDeep says so.
const MaxDepth = 100

// Span is a half-open range of byte offsets into Document.Source.
type Span struct{ Start, End int }

// Empty reports whether the span holds nothing.
func (s Span) Empty() bool { return s.End <= s.Start }

// Document is the result of Scan: flat slices that refer to each other by
// index and to the source by byte offset. There is no tree of pointers.
//
//	for i := range doc.Blocks {
//		b := &doc.Blocks[i]
//		for _, n := range doc.InlinesOf(b) {
//			switch n.Kind {
//			case markdown.Text:     // doc.Source[n.Start:n.End], as it renders
//			case markdown.CodeNode: // code: doc.Literal(b, n.Span)
//			...
type Document struct {
	Source string

	// Blocks holds every block in pre-order: a parent stands before its
	// children, siblings in source order. The document itself has no entry.
	Blocks []Block
	// Inlines holds the inline nodes of all leaves, leaf after leaf, in source
	// order; Block.FirstInline and Block.InlineCount select a leaf's.
	Inlines []Inline
	// Pieces holds the source spans that make up the contents of leaves;
	// Block.FirstPiece and Block.PieceCount select a leaf's.
	Pieces []Piece
	// Links holds what links, images and autolinks lead to.
	Links []Link
	// Definitions holds the link reference definitions in source order.
	Definitions []Definition
	// Footnotes holds the footnote definitions in source order.
	Footnotes []Footnote

	// TooDeep reports that nesting passed MaxDepth: the classification of what
	// lies deeper is not GitHub's.
	TooDeep bool
}

// InlinesOf returns the inline nodes of the leaf b, none for other blocks. The
// slice aliases d.Inlines.
func (d *Document) InlinesOf(b *Block) []Inline {
	return d.Inlines[b.FirstInline : b.FirstInline+b.InlineCount]
}

// PiecesOf returns the pieces of the leaf b. The slice aliases d.Pieces.
func (d *Document) PiecesOf(b *Block) []Piece {
	return d.Pieces[b.FirstPiece : b.FirstPiece+b.PieceCount]
}

// Literal returns the content of the leaf b within span: the source without
// container prefixes. It copies only where the content is not contiguous.
func (d *Document) Literal(b *Block, span Span) string {
	return d.literal(d.PiecesOf(b), span)
}

func (d *Document) literal(pieces []Piece, span Span) string {
	first := firstPieceEnding(pieces, span.Start)
	if first < len(pieces) && pieces[first].Start <= span.Start && span.End <= pieces[first].End {
		return d.Source[span.Start:span.End]
	}
	var out []byte
	for _, p := range pieces[first:] {
		start, end := max(p.Start, span.Start), min(p.End, span.End)
		if start > span.End || start == span.End && !p.Empty() {
			break
		}
		if p.Start >= span.Start {
			for range p.Pad {
				out = append(out, ' ')
			}
		}
		out = append(out, d.Source[start:max(start, end)]...)
	}
	return string(out)
}

// firstPieceEnding returns the index of the first piece that ends after offset.
func firstPieceEnding(pieces []Piece, offset int) int {
	lo, hi := 0, len(pieces)
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		if pieces[mid].End > offset {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	return lo
}
