package markdown

import (
	"slices"
	"strings"
	"unicode"
)

// takeDefinitions takes the link reference definitions from the start of the
// open paragraph and reports whether any text is left.
func (s *scanner) takeDefinitions() bool {
	b := &s.doc.Blocks[s.leaf.block]
	if b.PieceCount == 0 {
		return false
	}
	first := &s.doc.Pieces[b.FirstPiece]
	if first.Pad > 0 || s.src[first.Start] != '[' {
		return true // a paragraph starts with text
	}
	c := s.in.load(s.src, s.doc.PiecesOf(b))
	if last := c.text[len(c.text)-1]; last != '\n' && last != '\r' {
		c.text += "\n" // the last line of the source may lack it
	}
	pos := 0
	for pos < len(c.text) && c.text[pos] == '[' {
		def, next, ok := parseDefinition(c.text, pos)
		if !ok {
			break
		}
		s.define(&c, &def)
		pos = next
	}
	if pos == 0 {
		return true
	}
	s.dropContent(b, c.sourceOf(pos), pos >= len(c.text))
	return strings.Trim(c.text[pos:], " \t\r\n") != ""
}

// dropContent takes the content before source offset start, or all of it, from
// the open leaf. Its pieces stay for the definitions in it.
func (s *scanner) dropContent(b *Block, start int, all bool) {
	end := b.FirstPiece + b.PieceCount
	if all {
		b.FirstPiece, b.PieceCount = end, 0
		return
	}
	for s.doc.Pieces[b.FirstPiece].End <= start {
		b.FirstPiece++
	}
	if p := s.doc.Pieces[b.FirstPiece]; p.Start < start {
		s.doc.Pieces = slices.Insert(s.doc.Pieces, int(b.FirstPiece), Piece{Span{p.Start, start}, p.Pad})
		b.FirstPiece++
		end++
		s.doc.Pieces[b.FirstPiece] = Piece{Span: Span{start, p.End}}
	}
	b.PieceCount = end - b.FirstPiece
}

// define records a definition found in c.
func (s *scanner) define(c *content, p *parsedDefinition) {
	label := normalizeLabel(c.text[p.label.Start:p.label.End])
	if label == "" {
		return
	}
	d := Definition{
		Span:  c.spanOf(p.start, p.end),
		Block: s.leaf.block,
		Label: c.spanOf(p.label.Start, p.label.End),
		Dest:  c.spanOf(p.dest.Start, p.dest.End),

		firstPiece: s.doc.Blocks[s.leaf.block].FirstPiece,
		pieceCount: s.doc.Blocks[s.leaf.block].PieceCount + 1, // dropContent may split one
	}
	if !p.title.Empty() {
		d.Title = c.spanOf(p.title.Start, p.title.End)
	}
	if s.labels == nil {
		s.labels = make(map[string]int)
	}
	if _, taken := s.labels[label]; taken {
		d.Shadowed = true
	} else {
		s.labels[label] = len(s.doc.Definitions)
	}
	s.doc.Definitions = append(s.doc.Definitions, d)
}

// normalizeLabel returns the form by which labels are compared: case folded,
// runs of white space made one space.
func normalizeLabel(label string) string {
	i := 0
	for i < len(label) && (label[i] > ' ' && label[i] < 'A' || label[i] > 'Z' && label[i] < 0x80) {
		i++
	}
	if i == len(label) {
		return label
	}
	var b strings.Builder
	b.Grow(len(label))
	space := false
	for _, r := range label {
		if r < 0x80 && isSpace(byte(r)) {
			space = b.Len() > 0
			continue
		}
		if space {
			b.WriteByte(' ')
			space = false
		}
		writeFolded(&b, r)
	}
	return b.String()
}

// writeFolded writes the full case folding of r. Go has the simple one only; what
// the full one adds is ß, which folds to ss, and rarer letters of the same sort.
func writeFolded(b *strings.Builder, r rune) {
	switch r {
	case 'ß', 'ẞ':
		b.WriteString("ss")
		return
	}
	// The smallest rune of the folding orbit stands for all.
	least := r
	for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
		least = min(least, f)
	}
	if 'A' <= least && least <= 'Z' {
		least |= 0x20
	}
	b.WriteRune(least)
}
