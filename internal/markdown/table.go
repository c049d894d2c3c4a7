package markdown

import "strings"

// maxColumns is cmark's limit: a row with more is no row.
const maxColumns = 65535

// nextCell finds the cell of a row that starts at offset i; the row ends at end.
// next is where the following one starts; ok is false when there is none.
func nextCell(src string, i, end int) (cell Span, next int, ok bool) {
	if i >= end {
		return Span{}, 0, false
	}
	j := i
	for j < end && (src[j] != '|' || j > i && src[j-1] == '\\') {
		j++
	}
	next = j
	if j < end {
		next = skipRowSpace(src, j+1, end)
	}
	return Span{i, j}, next, true
}

// rowStart skips the optional leading pipe of a row.
func rowStart(src string, i, end int) int {
	if i < end && src[i] == '|' {
		return skipRowSpace(src, i+1, end)
	}
	return i
}

func skipRowSpace(src string, i, end int) int {
	for i < end && isSpaceChar(src[i]) {
		i++
	}
	return i
}

// countCells returns the number of cells of the row in src[i:end], 0 if it is no
// row.
func countCells(src string, i, end int) int {
	n := 0
	for i = rowStart(src, i, end); ; n++ {
		_, next, ok := nextCell(src, i, end)
		if !ok {
			break
		}
		i = next
	}
	if n > maxColumns {
		return 0
	}
	return n
}

// isRow reports whether the current line goes on with the open table.
func (s *scanner) isRow() bool {
	l := &s.line
	return !l.blank && countCells(s.src, l.nonspace, l.end) > 0
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
		start-- // the rest of a tab is a space: no leading pipe
	}
	if columns == 0 || countCells(s.src, start, end) != columns {
		return false
	}
	par := s.leaf.block
	if s.doc.PiecesOf(&s.doc.Blocks[par])[0].Start < s.leaf.lastStart {
		s.endParagraphBefore(s.leaf.lastStart)
		header := *l
		l.nonspace, l.end = start, end
		par = s.addBlock(TableBlock)
		*l = header
	}
	b := &s.doc.Blocks[par]
	b.Kind, b.Data, b.End = TableBlock, int32(columns), l.end
	b.PieceCount = 0
	s.leaf = leaf{kind: TableBlock, block: par}
	s.addCells(start, end)
	return true
}

// endParagraphBefore takes the lines from offset on out of the open paragraph.
// What is left is text only: cmark takes no definitions from it, and drops the
// backslash of \| as in a cell.
func (s *scanner) endParagraphBefore(offset int) {
	b := &s.doc.Blocks[s.leaf.block]
	old := append([]Piece(nil), s.doc.PiecesOf(b)...)
	s.doc.Pieces = s.doc.Pieces[:b.FirstPiece]
	b.PieceCount = 0
	for _, p := range old {
		p.End = min(p.End, offset)
		if p.Start >= offset {
			break
		}
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
	s.doc.Blocks = append(grown(s.doc.Blocks), Block{
		Kind: RowBlock, Span: Span{start, end}, Depth: depth, Parent: table.block, FirstPiece: int32(len(s.doc.Pieces)),
	})
	i := rowStart(s.src, start, end)
	for n := 0; ; n++ {
		cell, next, ok := nextCell(s.src, i, end)
		if !ok {
			break
		}
		i = next
		cell = trimSpan(s.src, cell)
		s.leaf.block = len(s.doc.Blocks)
		s.doc.Blocks = append(grown(s.doc.Blocks), Block{
			Kind: CellBlock, Span: cell, Depth: depth, Parent: row, Hidden: n >= columns, FirstPiece: int32(len(s.doc.Pieces)),
		})
		if !cell.Empty() {
			s.appendUnescaped(Piece{Span: cell})
		}
	}
	s.leaf = table
}

// isDelimiterRow reports whether s is the row of dashes below a table's header.
func isDelimiterRow(s string) bool {
	i := 0
	if s[0] == '|' {
		i = 1
	}
	cells := 0
	for {
		i = skipRowSpace(s, i, len(s))
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
		cells++
		i = skipRowSpace(s, i, len(s))
		if i == len(s) {
			return true
		}
		if s[i] != '|' {
			return false
		}
		i++
	}
}
