package markdown

// InlineKind says what an inline node is.
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
	// between them: the backslash that the table takes away from \\|.)
	Escape
	// Entity is a character reference; DecodeEntity gives its text.
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
	// The nodes up to the LinkClose of the same Data are its text. An image's
	// text is shown only in its alt attribute.
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

// Inline is one inline node.
type Inline struct {
	Span
	Data int32
	Kind InlineKind
}

// LinkKind says how a link is written.
type LinkKind uint8

// The link kinds.
const (
	InlineLink         LinkKind = iota + 1 // [text](destination "title")
	FullReference                          // [text][label]
	CollapsedReference                     // [label][]
	ShortcutReference                      // [label]
	AngleURL                               // <scheme:address>
	AngleEmail                             // <user@host>
	BareURL                                // http://, https:// or ftp://
	BareWWW                                // www.host
	BareEmail                              // user@host
)

// Link is where a link, image or autolink leads.
type Link struct {
	// Span is the whole node, from [, !, < or the first character of a bare
	// address to its end.
	Span
	Kind  LinkKind
	Image bool
	// Block is the index of the leaf that holds the link.
	Block int
	// Text is the link's text, without the brackets.
	Text Span
	// Label is what names the definition of a reference: for a shortcut or
	// collapsed one it is Text.
	Label Span
	// Dest is the destination as written, without < and >. For a reference it
	// lies in the definition. See Document.Destination for its meaning.
	Dest Span
	// Title is the title as written, with its quotes; empty when there is none.
	Title Span
	// Definition indexes Document.Definitions, -1 when it is not a reference.
	Definition int
}

// Definition is a link reference definition.
type Definition struct {
	// Span runs from the [ of the label to the end of its last line, without the
	// line break.
	Span
	// Block is the index of the paragraph or DefinitionBlock that it opens.
	Block              int
	Label, Dest, Title Span // as in Link, the label without brackets
	// Shadowed marks a definition whose label an earlier one has taken: the
	// first wins.
	Shadowed bool
	// Used reports that a link or image refers to it.
	Used bool

	firstPiece, pieceCount int32
}

// Footnote is a footnote definition.
type Footnote struct {
	// Block is the index of its FootnoteBlock.
	Block int
	// Label is the label without [^ and ].
	Label Span
	// Shadowed marks a footnote whose label another has taken.
	Shadowed bool
	// Used reports that a reference leads to it. An unused footnote is not
	// rendered at all.
	Used bool
}
