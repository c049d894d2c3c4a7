package markdown

import (
	"iter"
	"slices"
	"strings"
)

// maxColumns is cmark's limit: a line with more is not a row.
const maxColumns = 65535

// cells yields the cells of the row in src[i:end], without the | at the row's beginning and end. They
// may begin or end with white space.
func cells(src string, i, end int) iter.Seq[Span] {
	return func(yield func(Span) bool) {
		if i < end && src[i] == '|' {
			i = skipSpaceChars(src[:end], i+1)
		}
		for i < end {
			start := i
			for i < end && (src[i] != '|' || i > start && src[i-1] == '\\') {
				i++
			}
			if !yield(Span{start, i}) {
				return
			}
			if i < end {
				i = skipSpaceChars(src[:end], i+1)
			}
		}
	}
}

// countCells returns the number of cells of the row in src[i:end], 0 if there are
// too many.
func countCells(src string, i, end int) int {
	n := 0
	for range cells(src, i, end) {
		n++
	}
	if n > maxColumns {
		return 0
	}
	return n
}

// openTable turns the last line of the open paragraph into a table's header if
// the current line is a delimiter row that fits.
func (s *scanner) openTable() bool {
	l := &s.line
	if !isDelimiterRow(s.src[l.nonspace:l.end]) {
		return false
	}
	columns := countCells(s.src, l.nonspace, l.end)
	start, end := s.leaf.lastStart, s.leaf.lastEnd
	if s.leaf.lastPad > 0 {
		start-- // the row begins with the rest of a tab, so a | after it does not begin the row
	}
	if columns == 0 || countCells(s.src, start, end) != columns {
		return false
	}
	block := s.leaf.block // the paragraph, which becomes the table unless it has more lines
	if s.doc.PiecesOf(&s.doc.Blocks[block])[0].Start < s.leaf.lastStart {
		s.endParagraphBefore(s.leaf.lastStart)
		block = s.addBlock(TableBlock)
		s.doc.Blocks[block].Start = start
	}
	b := &s.doc.Blocks[block]
	b.Kind, b.Data, b.End = TableBlock, int32(columns), l.end
	b.PieceCount = 0
	s.leaf = leaf{kind: TableBlock, block: block}
	s.addCells(start, end)
	return true
}

// endParagraphBefore cuts the open paragraph off at offset, where its last line begins. As in
// cmark, the paragraph that remains has no definitions, and loses the backslash of \| as a cell
// does.
func (s *scanner) endParagraphBefore(offset int) {
	b := &s.doc.Blocks[s.leaf.block]
	old := slices.Clone(s.doc.PiecesOf(b))
	s.doc.Pieces = s.doc.Pieces[:b.FirstPiece]
	b.PieceCount = 0
	for _, p := range old {
		if p.Start >= offset {
			break
		}
		p.End = min(p.End, offset)
		s.appendUnescaped(p)
		b.End = trimSpan(s.src, p.Span).End
	}
}

// appendUnescaped adds p to the open leaf without the backslashes of \|.
func (s *scanner) appendUnescaped(p Piece) {
	for {
		n := strings.Index(s.src[p.Start:p.End], `\|`)
		if n < 0 {
			break
		}
		if n > 0 || p.Pad > 0 {
			s.appendPiece(Piece{Span{p.Start, p.Start + n}, p.Pad})
		}
		p = Piece{Span: Span{p.Start + n + 1, p.End}}
	}
	if !p.Empty() {
		s.appendPiece(p)
	}
}

// addRow adds the current line to the open table.
func (s *scanner) addRow() {
	l := &s.line
	s.doc.Blocks[s.leaf.block].End = l.end
	s.addCells(l.nonspace, l.end)
}

// addCells adds a row with the cells in src[start:end] to the open table.
func (s *scanner) addCells(start, end int) {
	table := s.leaf
	columns := int(s.doc.Blocks[table.block].Data)
	depth := uint8(len(s.stack))
	row := len(s.doc.Blocks)
	s.doc.Blocks = append(Grown(s.doc.Blocks, start, len(s.src)), Block{
		Kind: RowBlock, Span: Span{start, end}, Depth: depth, Parent: table.block, FirstPiece: int32(len(s.doc.Pieces)),
	})
	n := 0
	for cell := range cells(s.src, start, end) {
		cell = trimSpan(s.src, cell)
		s.leaf.block = len(s.doc.Blocks)
		s.doc.Blocks = append(Grown(s.doc.Blocks, cell.Start, len(s.src)), Block{
			Kind: CellBlock, Span: cell, Depth: depth, Parent: row, Hidden: n >= columns, FirstPiece: int32(len(s.doc.Pieces)),
		})
		if !cell.Empty() {
			s.appendUnescaped(Piece{Span: cell})
		}
		n++
	}
	s.leaf = table
}

// isDelimiterRow reports whether s is the row of dashes below a table's header.
func isDelimiterRow(s string) bool {
	i := 0
	switch s[0] {
	case '|':
		i = 1
	case ':', '-', '\v', '\f':
	default:
		return false // as for nearly all lines
	}
	for cells := 0; ; cells++ {
		i = skipSpaceChars(s, i)
		if i == len(s) {
			return cells > 0
		}
		if s[i] == ':' {
			i++
		}
		dashes := leadingRun(s[i:], '-')
		if dashes == 0 {
			return false
		}
		i += dashes
		if i < len(s) && s[i] == ':' {
			i++
		}
		i = skipSpaceChars(s, i)
		if i == len(s) {
			return true
		}
		if s[i] != '|' {
			return false
		}
		i++
	}
}
