package markdown

// BlockKind says what a block is.
type BlockKind uint8

// The block kinds. QuoteBlock, ItemBlock and FootnoteBlock are containers;
// TableBlock and RowBlock hold only cells; all others are leaves.
const (
	QuoteBlock         BlockKind = iota + 1
	ItemBlock                    // one item of a list; lists themselves have no block
	FootnoteBlock                // a footnote definition; Data indexes Document.Footnotes
	ParagraphBlock               // has inlines
	HeadingBlock                 // has inlines; Data is the level, 1 to 6
	ThematicBreakBlock           // a horizontal rule
	FencedCodeBlock              // Info is the info string; pieces are the code
	IndentedCodeBlock            // pieces are the code
	HTMLBlock                    // pieces are raw HTML; Data is the specification's kind, 1 to 7
	TableBlock                   // Data is the number of columns
	RowBlock                     // one row of a table; the delimiter row has no block
	CellBlock                    // has inlines, unless Hidden
	DefinitionBlock              // a paragraph that held nothing but link reference definitions
)

// Block is one block. Its pieces are its content line by line, with what
// belongs to containers and to the block's own structure taken away.
type Block struct {
	// Span runs from the first character of the block (its marker, its first
	// word) to the end of its last line, without the line break.
	Span
	Kind BlockKind
	// Hidden marks a cell beyond the table's columns: its text is in the source
	// and not in what GitHub renders.
	Hidden bool
	// Closed reports, for FencedCodeBlock and HTMLBlock kinds 1 to 5, that the
	// closing fence or end condition is there. Otherwise the block runs to the
	// end of its container.
	Closed bool
	// Setext marks a heading that is underlined; its Span includes the line.
	Setext bool
	// Task marks a list item with a task list box.
	Task bool
	// Depth is the number of containers around the block, MaxDepth at most.
	Depth uint8
	// Parent is the index of the parent in Document.Blocks, -1 at top level.
	Parent int
	// Next is the index after the block's last descendant.
	Next int32
	// Data depends on the kind; see there.
	Data int32
	// Info is the info string of fenced code, as written, outer space dropped.
	Info Span

	FirstPiece, PieceCount   int32
	FirstInline, InlineCount int32
}

// Piece is a run of source bytes that is content of a leaf, usually one line
// with its line break. Lines that follow each other in the source without a
// prefix between them share a piece. In a table cell the backslash of \| lies
// between two pieces; a carriage return before a line feed likewise.
type Piece struct {
	Span
	// Pad is the number of spaces before the piece that stand for the rest of
	// a tab which a container used in part (code and HTML only).
	Pad int
}
