// Package markdown reads and composes Markdown: which spans of a text are code,
// HTML, link or text to GitHub, and how to write text that keeps its structure.
//
// [Scan] reads CommonMark 0.29 with GitHub's extensions (tables, strikethrough,
// autolinks, task lists, footnotes), exactly as cmark-gfm 0.29.0.gfm.6 does,
// its quirks included, in time linear in the input. It resolves emphasis only
// where that decides what is an e-mail address.
//
// [EscapeText], [CodeSpan], [Fence], [Table], [Cut] and [CloseOpen] compose.
// [ParseTag] reads HTML as browsers do.
//
// [Marker], [LastLineMarker] and [StripMarkers] handle the comment line by which
// Airlock recognises its own texts.
package markdown

import (
	"sort"
	"strings"
)

// MaxDepth is the deepest nesting of containers (block quotes, list items,
// footnote definitions) that Scan follows. Text beyond it is read as a
// paragraph, and Document.TooDeep is set.
const MaxDepth = 100

// Span is a half-open range of byte offsets into Document.Source.
type Span struct{ Start, End int }

// Empty reports whether the span contains nothing.
func (s Span) Empty() bool { return s.End <= s.Start }

// Document is the result of Scan: flat slices that refer to each other by
// index and to the source by byte offset. There is no tree of pointers.
//
//	for i := range doc.Blocks {
//		b := &doc.Blocks[i]
//		for _, n := range doc.InlinesOf(b) {
//			switch n.Kind {
//			case markdown.Text:     // doc.Source[n.Start:n.End]
//			case markdown.CodeNode: // doc.CodeText(b, &n)
//			...
type Document struct {
	Source string

	// Blocks lists every block in pre-order: a parent comes before its children,
	// siblings are in source order. The document itself has no entry.
	Blocks []Block
	// Inlines lists the inline nodes of all leaves, leaf after leaf, in source
	// order; Block.FirstInline and Block.InlineCount select those of a leaf.
	Inlines []Inline
	// Pieces lists the source spans that make up the contents of leaves;
	// Block.FirstPiece and Block.PieceCount select those of a leaf.
	Pieces []Piece
	// Links lists what links, images and autolinks lead to.
	Links []Link
	// Definitions lists the link reference definitions in source order.
	Definitions []Definition
	// Footnotes lists the footnote definitions in source order.
	Footnotes []Footnote

	// TooDeep reports that nesting passed MaxDepth, or that nested references to footnotes
	// passed maxLabelReadings. What lies deeper is not classified as GitHub does.
	TooDeep bool

	scanner *scanner // its memory is used again by Rescan
}

// InlinesOf returns the inline nodes of the leaf b, a part of d.Inlines. Other
// blocks have none.
func (d *Document) InlinesOf(b *Block) []Inline {
	return d.Inlines[b.FirstInline : b.FirstInline+b.InlineCount]
}

// PiecesOf returns the pieces of the leaf b, a part of d.Pieces.
func (d *Document) PiecesOf(b *Block) []Piece {
	return d.Pieces[b.FirstPiece : b.FirstPiece+b.PieceCount]
}

// Literal returns the content of the leaf b within span: the source without
// container prefixes. It copies only content that is not contiguous.
func (d *Document) Literal(b *Block, span Span) string {
	return d.literal(d.PiecesOf(b), span)
}

func (d *Document) literal(pieces []Piece, span Span) string {
	first := sort.Search(len(pieces), func(i int) bool { return pieces[i].End > span.Start })
	if first < len(pieces) && pieces[first].Start <= span.Start && span.End <= pieces[first].End {
		return d.Source[span.Start:span.End]
	}
	var out []byte
	for _, p := range pieces[first:] {
		start, end := max(p.Start, span.Start), min(p.End, span.End)
		if start > span.End || start == span.End && !p.Empty() { // an empty piece at the end may have padding
			break
		}
		if p.Start >= span.Start {
			for range p.Pad {
				out = append(out, ' ')
			}
		}
		out = append(out, d.Source[start:end]...)
	}
	return string(out)
}

// BlockKind is the kind of a block.
type BlockKind uint8

// The block kinds. QuoteBlock, ItemBlock and FootnoteBlock are containers;
// TableBlock contains rows and RowBlock cells; all others are leaves.
const (
	QuoteBlock         BlockKind = iota + 1
	ItemBlock                    // one item of a list; lists themselves have no block
	FootnoteBlock                // a footnote definition; Data indexes Document.Footnotes
	ParagraphBlock               // has inlines
	HeadingBlock                 // has inlines; Data is the level, 1 to 6
	ThematicBreakBlock           // a horizontal rule
	FencedCodeBlock              // has an info string; pieces are the code
	IndentedCodeBlock            // pieces are the code
	HTMLBlock                    // pieces are raw HTML; Data is the specification's kind, 1 to 7
	TableBlock                   // Data is the number of columns
	RowBlock                     // one row of a table; the delimiter row has no block
	CellBlock                    // has inlines, unless Hidden
	DefinitionBlock              // a paragraph of nothing but link reference definitions
)

// Block is one block. Its pieces are its content line by line, with what
// belongs to containers and to the block's own structure taken away.
type Block struct {
	// Span runs from the first character of the block (its marker, its first
	// word) to the end of its last line, without the line break.
	Span
	Kind BlockKind
	// Hidden marks a cell beyond the table's columns: GitHub does not render it.
	Hidden bool
	// Closed marks a FencedCodeBlock with a closing fence and an HTMLBlock of
	// kind 1 to 5 with its end condition. Without these, they run to the end of their
	// container.
	Closed bool
	// Task marks a list item with a task list box.
	Task bool
	// Depth is the number of containers around the block, MaxDepth at most.
	Depth uint8
	// Parent is the index of the parent in Document.Blocks, -1 at top level.
	Parent int
	// Next is the index after the block's last descendant.
	Next int32
	// Data depends on the kind; see BlockKind.
	Data                     int32
	FirstPiece, PieceCount   int32
	FirstInline, InlineCount int32
}

// Quoted reports whether the block, which is one of d's, lies in a block quote or a footnote.
func (b *Block) Quoted(d *Document) bool {
	for at := b.Parent; at >= 0; at = d.Blocks[at].Parent {
		if k := d.Blocks[at].Kind; k == QuoteBlock || k == FootnoteBlock {
			return true
		}
	}
	return false
}

// Piece is a run of source bytes that is content of a leaf, usually one line
// with its line break. Lines without a prefix between them share a piece. The
// backslash of \| in a table cell lies between two pieces, and so does a
// carriage return before a line feed.
type Piece struct {
	Span
	// Pad is the number of spaces before the piece that stand for the rest of
	// a tab of which a container used a part (code and HTML only).
	Pad int
}

// InlineKind is the kind of an inline node.
type InlineKind uint8

// The inline kinds. The nodes of a leaf cover its content without gaps, apart
// from white space at its ends.
const (
	// Text is literal text without a line break, exactly the source bytes.
	// Emphasis marks are part of it.
	Text InlineKind = iota + 1
	// Backticks is a run of backticks that opens no code span: literal text. A
	// reader that follows the specification may disagree about what comes
	// after it (cmark's search is faulty there).
	Backticks
	// Escape is a backslash and the punctuation character that it makes
	// literal: the text is the last byte. (In a table cell a third byte may lie
	// between them: the backslash that the table removes from \\|.)
	Escape
	// Entity is a character reference; DecodeEntity decodes it.
	Entity
	// SoftBreak is a line break inside the leaf: from the white space that ends
	// the line to the first character of the next line, container prefixes
	// included.
	SoftBreak
	// HardBreak is the same where two spaces or a backslash make it a <br>.
	HardBreak
	// CodeNode is a code span with its delimiters; Data is their length.
	CodeNode
	// HTMLNode is a raw inline HTML tag, comment, declaration, processing
	// instruction or CDATA section.
	HTMLNode
	// LinkOpen is the [ or ![ of a link or image; Data indexes Document.Links.
	// The nodes up to the LinkClose with the same Data are its text. The text of
	// an image is shown only in its alt attribute.
	LinkOpen
	// LinkClose is the rest of a link or image, from its ].
	LinkClose
	// Autolink is an address that links by itself, <…> or bare; Data indexes
	// Document.Links, whose Text is what is shown.
	Autolink
	// FootnoteRef is a reference [^label] with a definition; Data indexes
	// Document.Footnotes. Without a definition it is Text.
	FootnoteRef
	// Dropped is source that renders as nothing at all.
	Dropped
)

// The Data of a Text node, if it is not 0.
const (
	// usedMark: a mark that begins or ends emphasis. Such nodes end a text in cmark's tree.
	usedMark = 1
	// RawText: the label of a reference to a footnote that does not exist, or a
	// part of it. cmark shows it as it is written; other readers decode it.
	RawText = 2
)

// Inline is one inline node.
type Inline struct {
	Span
	Data int32
	Kind InlineKind
}

// LinkKind is how a link is written.
type LinkKind uint8

// The link kinds.
const (
	InlineLink    LinkKind = iota + 1 // [text](destination "title")
	ReferenceLink                     // [text][label], [label][] or [label]
	AngleURL                          // <scheme:address>
	AngleEmail                        // <user@host>
	BareURL                           // http://, https:// or ftp://
	BareWWW                           // www.host
	BareEmail                         // user@host
)

// Link is where a link, image or autolink leads.
type Link struct {
	// Span is the entire node, from [, !, < or the first character of a bare
	// address to its end.
	Span
	Kind  LinkKind
	Image bool
	// Block is the index of the leaf that contains the link.
	Block int
	// Text is the link's text, without the brackets.
	Text Span
	// Dest is the destination as written, without < and >. For a reference it
	// lies in the definition. Document.Destination decodes it.
	Dest Span
	// Title is the title as written, with its quotes; empty if there is none.
	Title Span
	// Definition indexes Document.Definitions; -1 except for a reference.
	Definition int
}

// Definition is a link reference definition.
type Definition struct {
	// Span runs from the [ of the label to the end of its last line, without the
	// line break.
	Span
	// Block is the index of the paragraph or DefinitionBlock in which it is.
	Block              int
	Label, Dest, Title Span // as in Link, the label without brackets
	// Shadowed marks a definition with the label of an earlier one, which wins.
	Shadowed bool
	// Used marks a definition to which a link or image refers.
	Used bool

	firstPiece, pieceCount int32
}

// Footnote is a footnote definition.
type Footnote struct {
	// Block is the index of its FootnoteBlock.
	Block int
	// Label is the label without [^ and ].
	Label Span
	// Shadowed marks a footnote whose label belongs to another one.
	Shadowed bool
	// Used marks a footnote to which a reference leads. Others are not rendered.
	Used bool
}

// Destination returns where link i leads, decoded as GitHub does: character
// references and backslash escapes are resolved, and addresses without a scheme
// get their mailto: or http://. It is neither normalised nor percent-encoded.
func (d *Document) Destination(i int) string {
	l := &d.Links[i]
	raw := d.linkPart(l, l.Dest)
	switch l.Kind {
	case BareURL:
		return raw
	case BareWWW:
		return "http://" + raw
	case BareEmail:
		text := decode(raw, `&\`)
		if strings.Contains(text, ":") { // it is written with mailto: or xmpp:
			return text
		}
		return "mailto:" + text
	case AngleURL:
		return decode(strings.Trim(raw, " \t\r\n"), "&")
	case AngleEmail:
		return "mailto:" + decode(raw, "&")
	}
	return decode(decode(strings.Trim(raw, " \t\r\n"), "&"), `\`)
}

// Info returns the info string of fenced code, as written, without outer space.
func (d *Document) Info(b *Block) string {
	info := d.InfoSpan(b)
	return d.Source[info.Start:info.End]
}

// InfoSpan returns where the info string of fenced code is.
func (d *Document) InfoSpan(b *Block) Span {
	start, end := b.Start+leadingRun(d.Source[b.Start:b.End], d.Source[b.Start]), b.End
	if n := strings.IndexAny(d.Source[start:end], "\r\n"); n >= 0 {
		end = start + n
	}
	return trimSpan(d.Source, Span{start, end})
}

// InfoText returns the info string of fenced code, decoded as GitHub does.
func (d *Document) InfoText(b *Block) string { return decode(decode(d.Info(b), "&"), `\`) }

// linkPart returns the content of a span of l, which lies in l's leaf or in its
// definition.
func (d *Document) linkPart(l *Link, span Span) string {
	if l.Definition < 0 {
		return d.Literal(&d.Blocks[l.Block], span)
	}
	def := &d.Definitions[l.Definition]
	end := min(int(def.firstPiece+def.pieceCount), len(d.Pieces))
	return d.literal(d.Pieces[def.firstPiece:end], span)
}

// CodeText returns what the code span n of leaf b shows: its content with line breaks as spaces. If
// both ends have a space, and not all is spaces, each end loses one.
func (d *Document) CodeText(b *Block, n *Inline) string {
	raw := d.Literal(b, n.Span)
	raw = lineBreaksToSpaces(raw[n.Data : len(raw)-int(n.Data)])
	if len(raw) > 1 && raw[0] == ' ' && raw[len(raw)-1] == ' ' && strings.Trim(raw, " ") != "" {
		raw = raw[1 : len(raw)-1]
	}
	return raw
}
