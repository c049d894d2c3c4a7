package markdown

import "strings"

// scanLine reads the blocks of one line: which open containers continue, which
// blocks start, and to which leaf the rest of the line belongs.
func (s *scanner) scanLine() {
	if s.line.start == s.line.end && len(s.stack) == 0 && !s.leaf.keepsBlank(s.doc) {
		s.closeLeaf() // as below, but faster: such lines are frequent
		return
	}
	matched, leafMatched, done := s.matchOpen()
	if done {
		return
	}
	opened := s.openBlocks(matched, leafMatched)
	s.findNonspace()
	l := &s.line
	if !opened {
		if s.leaf.kind == ParagraphBlock && !l.blank && !leafMatched {
			s.addLine() // a lazy line, whose indentation cmark keeps
			return
		}
		if !leafMatched {
			s.closeTo(matched)
		}
	}
	switch s.leaf.kind {
	case FencedCodeBlock:
		if !opened {
			s.addLine()
		}
	case IndentedCodeBlock:
		s.addLine()
	case HTMLBlock:
		s.addLine()
		if b := &s.doc.Blocks[s.leaf.block]; htmlBlockEnds(int(b.Data), s.src[l.nonspace:l.end]) {
			b.Closed = true
			s.closeLeaf()
		}
	case ParagraphBlock:
		if !l.blank {
			s.advanceTo(l.nonspace)
			s.addLine()
		}
	case HeadingBlock, TableBlock:
		// The line was consumed when the block or row was opened.
	default:
		if !l.blank {
			s.advanceTo(l.nonspace)
			s.openLeaf(ParagraphBlock)
			s.addLine()
		}
	}
}

// openBlocks opens the blocks that start on the line, inside the first depth containers of the
// stack, and reports whether there were any. A table's row and the underline of a heading count,
// too.
func (s *scanner) openBlocks(depth int, leafMatched bool) (opened bool) {
	l := &s.line
	switch s.leaf.kind {
	case FencedCodeBlock, IndentedCodeBlock, HTMLBlock:
		if leafMatched {
			return false
		}
	}
	maybeLazy := s.leaf.kind == ParagraphBlock
	inParagraph := leafMatched && maybeLazy
	for {
		s.findNonspace()
		if l.blank {
			return opened
		}
		indented := l.indent >= codeIndent
		var kind BlockKind
		var number int
		if !indented {
			kind, number = s.blockStart(inParagraph)
		} else if !maybeLazy {
			kind = IndentedCodeBlock
		}
		switch kind {
		case 0:
			switch {
			case inParagraph:
				return !indented && s.openTable()
			case leafMatched: // a table
				s.addRow()
				return true
			}
			s.taskMarker(depth)
			return opened
		case QuoteBlock, ItemBlock, FootnoteBlock:
			if depth >= MaxDepth {
				s.doc.TooDeep = true
				return opened
			}
		case HeadingBlock:
			if inParagraph && s.byteAt(l.nonspace) != '#' {
				return s.setextHeading() // after nothing but definitions the line is text
			}
		}
		s.closeTo(depth)
		opened = true
		if s.openBlock(kind, number) {
			return true
		}
		depth = len(s.stack)
		inParagraph, leafMatched, maybeLazy = false, false, false
	}
}

// matchOpen consumes what continues the open blocks. It returns the number of
// containers that continue and whether the leaf does. done means that the line
// was a closing fence.
func (s *scanner) matchOpen() (matched int, leafMatched, done bool) {
	l := &s.line
	for matched < len(s.stack) {
		s.findNonspace()
		c := &s.stack[matched]
		switch c.kind {
		case QuoteBlock:
			if l.indent >= codeIndent || s.byteAt(l.nonspace) != '>' {
				return matched, false, false
			}
			s.advanceColumns(l.indent + 1)
			if isSpaceOrTab(s.byteAt(l.offset)) {
				s.advanceColumns(1)
			}
		case ItemBlock:
			switch {
			case l.indent >= c.need:
				s.advanceColumns(c.need)
			case l.blank && c.children > 0:
				s.advanceTo(l.nonspace)
				matched = max(matched, s.blankRun()-1)
			default:
				return matched, false, false
			}
		case FootnoteBlock:
			switch {
			case l.indent >= codeIndent:
				s.advanceColumns(codeIndent)
			case l.start == l.end:
				matched = max(matched, s.blankRun()-1)
			default:
				return matched, false, false
			}
		}
		matched++
	}
	leafMatched, done = s.matchLeaf()
	return matched, leafMatched, done
}

// blankRun returns how many containers, from the outermost on, the current line continues
// because it is blank, whatever its indentation.
func (s *scanner) blankRun() int {
	empty := s.line.start == s.line.end
	run := &s.runs.blank
	if empty {
		run = &s.runs.empty
	}
	if *run < 0 {
		*run = 0
		for *run < len(s.stack) && s.stack[*run].continuesBlank(empty) {
			*run++
		}
	}
	return *run
}

// continuesBlank reports whether a blank line continues the container, whatever its
// indentation. empty is set if the line has no space at all.
func (c *container) continuesBlank(empty bool) bool {
	return c.kind == ItemBlock && c.children > 0 || c.kind == FootnoteBlock && empty
}

// keepsBlank reports whether blank lines belong to the open leaf.
func (l *leaf) keepsBlank(d *Document) bool {
	switch l.kind {
	case FencedCodeBlock, IndentedCodeBlock:
		return true
	case HTMLBlock:
		return d.Blocks[l.block].Data <= 5
	}
	return false
}

// matchLeaf reports whether the open leaf continues with the line. done means
// that the line was its closing fence.
func (s *scanner) matchLeaf() (matched, done bool) {
	l := &s.line
	if s.leaf.kind == 0 {
		return false, false
	}
	s.findNonspace()
	switch s.leaf.kind {
	case ParagraphBlock:
		return !l.blank, false
	case TableBlock:
		return countCells(s.src, l.nonspace, l.end) > 0, false
	case HTMLBlock:
		return !l.blank || s.leaf.keepsBlank(s.doc), false
	case IndentedCodeBlock:
		switch {
		case l.indent >= codeIndent:
			s.advanceColumns(codeIndent)
			return true, false
		case l.blank:
			s.advanceTo(l.nonspace)
			return true, false
		}
	case FencedCodeBlock:
		if l.indent < codeIndent && s.isClosingFence() {
			b := &s.doc.Blocks[s.leaf.block]
			b.Closed, b.End = true, l.end
			s.closeLeaf()
			return false, true
		}
		for i := s.leaf.fenceOffset; i > 0 && isSpaceOrTab(s.byteAt(l.offset)); i-- {
			s.advanceColumns(1)
		}
		return true, false
	}
	return false, false
}

func (s *scanner) isClosingFence() bool {
	rest := s.src[s.line.nonspace:s.line.end]
	n := leadingRun(rest, s.leaf.fenceChar)
	return n >= s.leaf.fenceLen && onlySpaces(rest[n:])
}

// blockStart returns the kind of the block that starts at nonspace, which is
// indented by less than four columns, or 0. The number is the kind of an HTMLBlock, and
// the length of the marker of an ItemBlock or FootnoteBlock. blockStart opens no block.
func (s *scanner) blockStart(inParagraph bool) (kind BlockKind, number int) {
	l := &s.line
	rest := s.src[l.nonspace:l.end]
	switch c := rest[0]; c {
	case '>':
		return QuoteBlock, 0
	case '#':
		if n := leadingRun(rest, '#'); n <= 6 && (n == len(rest) || isSpaceOrTab(rest[n])) {
			return HeadingBlock, 0
		}
	case '`', '~':
		if n := leadingRun(rest, c); n >= 3 && (c == '~' || strings.IndexByte(rest[n:], '`') < 0) {
			return FencedCodeBlock, 0
		}
	case '<':
		if n := htmlBlockStart(rest, inParagraph); n > 0 {
			return HTMLBlock, n
		}
	case '=':
		if inParagraph && isSetextLine(rest) {
			return HeadingBlock, 0
		}
	case '*', '-', '_', '+':
		if c == '-' && inParagraph && isSetextLine(rest) {
			return HeadingBlock, 0
		}
		if c != '+' && s.isThematicBreak() {
			return ThematicBreakBlock, 0
		}
		if n := listMarker(rest, inParagraph); n > 0 {
			return ItemBlock, n
		}
	case '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		if n := listMarker(rest, inParagraph); n > 0 {
			return ItemBlock, n
		}
	case '[':
		if n := footnoteLabel(rest); n > 0 {
			return FootnoteBlock, n
		}
	}
	return 0, 0
}

// isThematicBreak reports whether the line from nonspace on, which begins with *, - or _, is a
// thematic break. It remembers where it failed, so that a line of many list
// markers takes linear time.
func (s *scanner) isThematicBreak() bool {
	l := &s.line
	if l.noBreak > l.nonspace {
		return false
	}
	c := s.src[l.nonspace]
	count, i := 0, l.nonspace
	for i < l.end && (s.src[i] == c || isSpaceOrTab(s.src[i])) {
		if s.src[i] == c {
			count++
		}
		i++
	}
	if i == l.end && count >= 3 {
		return true
	}
	l.noBreak = i
	return false
}

// listMarker returns the length of the list marker that rest, a line without its
// indentation, starts with, or 0. Only some markers may interrupt a paragraph.
func listMarker(rest string, interrupts bool) int {
	n := 1
	switch c := rest[0]; {
	case c == '*' || c == '-' || c == '+':
	case isDigit(c):
		for n < len(rest) && n < 9 && isDigit(rest[n]) {
			n++
		}
		if interrupts && strings.TrimLeft(rest[:n], "0") != "1" || n == len(rest) || rest[n] != '.' && rest[n] != ')' {
			return 0
		}
		n++
	default:
		return 0
	}
	if n < len(rest) && !isSpaceOrTab(rest[n]) || interrupts && onlySpaces(rest[n:]) {
		return 0
	}
	return n
}

// footnoteLabel returns the length of "[^label]:" at the start of rest, or 0.
func footnoteLabel(rest string) int {
	if !strings.HasPrefix(rest, "[^") {
		return 0
	}
	n := strings.IndexAny(rest[2:], "] \t")
	if n <= 0 || !strings.HasPrefix(rest[2+n:], "]:") {
		return 0
	}
	return 2 + n + 2
}

// isSetextLine reports whether rest, which begins with = or -, is a setext underline.
func isSetextLine(rest string) bool {
	return onlySpaces(rest[leadingRun(rest, rest[0]):])
}

// isTaskLine reports whether an entire line looks like a task list item to cmark.
func isTaskLine(s string) bool {
	if strings.IndexByte(s, '[') < 0 {
		return false
	}
	s = strings.TrimLeft(s, " \t\v\f")
	switch {
	case s[0] == '-' || s[0] == '+' || s[0] == '*':
		s = s[1:]
	case isDigit(s[0]):
		n := 1
		for isDigit(s[n]) { // up to the [ at the latest
			n++
		}
		if s = s[n:]; n == 1 || !isSpaceChar(s[0]) { // otherwise the last digit is the delimiter
			s = s[1:]
		}
	default:
		return false
	}
	t := strings.TrimLeft(s, " \t\v\f")
	if len(t) == len(s) || len(t) < 4 || t[0] != '[' || t[2] != ']' || !strings.ContainsRune(" xX", rune(t[1])) {
		return false
	}
	return strings.IndexByte(" \t\v\f", t[3]) >= 0
}

// openBlock opens a block of the kind and with the number that blockStart returned, or an
// IndentedCodeBlock, which blockStart does not look for, and reports whether it is a leaf.
func (s *scanner) openBlock(kind BlockKind, number int) bool {
	l := &s.line
	rest := s.src[l.nonspace:l.end]
	switch kind {
	case QuoteBlock:
		s.push(container{kind: QuoteBlock})
		s.advanceTo(l.nonspace + 1)
		if isSpaceOrTab(s.byteAt(l.offset)) {
			s.advanceColumns(1)
		}
		return false
	case FootnoteBlock:
		s.push(container{kind: FootnoteBlock})
		b := len(s.doc.Blocks) - 1
		s.doc.Blocks[b].Data = int32(len(s.doc.Footnotes))
		s.doc.Footnotes = append(Grown(s.doc.Footnotes, l.start, len(s.src)), Footnote{
			Block: b, Label: Span{l.nonspace + len("[^"), l.nonspace + number - len("]:")},
		})
		s.advanceTo(l.nonspace + number)
		s.advanceTo(skipSpaces(s.src[:l.end], l.offset))
		return false
	case ItemBlock:
		s.openItem(number)
		return false
	case HeadingBlock:
		s.atxHeading(rest)
	case FencedCodeBlock:
		s.openLeaf(FencedCodeBlock)
		s.leaf.fenceChar = rest[0]
		s.leaf.fenceLen = min(leadingRun(rest, rest[0]), 255) // cmark keeps the length in a byte
		s.leaf.fenceOffset = l.nonspace - l.offset
	case HTMLBlock:
		s.openLeaf(HTMLBlock).Data = int32(number)
	case ThematicBreakBlock:
		s.addBlock(ThematicBreakBlock)
		s.advanceTo(l.end)
	case IndentedCodeBlock:
		s.openLeaf(IndentedCodeBlock)
		s.advanceColumns(codeIndent)
	}
	return true
}

// openItem opens a list item whose marker has n bytes.
func (s *scanner) openItem(n int) {
	l := &s.line
	s.push(container{kind: ItemBlock})
	s.advanceTo(l.nonspace + n)
	saved := *l
	for l.column-saved.column <= 5 && isSpaceOrTab(s.byteAt(l.offset)) {
		s.advanceColumns(1)
	}
	spaces := l.column - saved.column
	padding := n + spaces
	if spaces >= 5 || spaces < 1 || l.offset >= l.end {
		padding = n + 1
		*l = saved
		if spaces > 0 {
			s.advanceColumns(1)
		}
	}
	s.stack[len(s.stack)-1].need = l.indent + padding
}

// taskMarker reads a task list box at the start of the item that is the innermost
// of the first n containers. Like cmark, it goes by the entire line. If the last block of
// the item is a list or a thematic break, cmark takes it as still open and reads no box.
func (s *scanner) taskMarker(n int) {
	if n == 0 || s.stack[n-1].kind != ItemBlock || !isTaskLine(s.src[s.line.start:s.line.end]) {
		return
	}
	if last := s.stack[n-1].last; last == ItemBlock || last == ThematicBreakBlock {
		return
	}
	s.doc.Blocks[s.stack[n-1].block].Task = true
	s.advanceTo(s.line.offset + 3)
}

// push opens a container in the innermost one.
func (s *scanner) push(c container) {
	c.block = s.addBlock(c.kind)
	s.stack = append(s.stack, c)
	s.runs = unknownRuns
}

// openLeaf opens a leaf in the innermost container.
func (s *scanner) openLeaf(kind BlockKind) *Block {
	s.leaf = leaf{kind: kind, block: s.addBlock(kind)}
	return &s.doc.Blocks[s.leaf.block]
}

// addBlock adds a block that starts at nonspace.
func (s *scanner) addBlock(kind BlockKind) int {
	b := Block{
		Kind: kind, Span: Span{s.line.nonspace, s.line.end},
		Depth: uint8(len(s.stack)), Parent: -1, FirstPiece: int32(len(s.doc.Pieces)),
	}
	if n := len(s.stack); n > 0 {
		b.Parent = s.stack[n-1].block
		s.stack[n-1].children++
		s.stack[n-1].last = kind
		s.runs = unknownRuns
	}
	s.doc.Blocks = append(Grown(s.doc.Blocks, b.Start, len(s.src)), b)
	return len(s.doc.Blocks) - 1
}

// closeTo closes the leaf and all containers except the first n.
func (s *scanner) closeTo(n int) {
	s.closeLeaf()
	if n < len(s.stack) {
		s.stack = s.stack[:n]
		s.runs = unknownRuns
	}
}

func (s *scanner) closeLeaf() {
	switch s.leaf.kind {
	case ParagraphBlock:
		if !s.readDefinitions() {
			s.doc.Blocks[s.leaf.block].Kind = DefinitionBlock
			if n := len(s.stack); n > 0 {
				s.stack[n-1].children--
				s.runs = unknownRuns
			}
		}
	case IndentedCodeBlock:
		s.trimIndentedCode()
	}
	s.leaf = leaf{}
}

// addLine adds the line from the offset on, with its line break, to the open leaf.
func (s *scanner) addLine() {
	l := &s.line
	start, pad := l.offset, 0
	if l.partTab {
		start, pad = l.offset+1, tabStop-l.column%tabStop
	}
	s.leaf.lastStart, s.leaf.lastEnd, s.leaf.lastPad = start, l.end, pad
	s.doc.Blocks[s.leaf.block].End = l.end
	if l.next-l.end == 2 { // the CR before a LF is not content
		s.appendPiece(Piece{Span{start, l.end}, pad})
		start, pad = l.end+1, 0
	}
	s.appendPiece(Piece{Span{start, l.next}, pad})
}

// appendPiece adds a piece to the open leaf, which is the block opened last.
func (s *scanner) appendPiece(p Piece) {
	b := &s.doc.Blocks[s.leaf.block]
	if b.PieceCount > 0 && p.Pad == 0 {
		if last := &s.doc.Pieces[len(s.doc.Pieces)-1]; last.End == p.Start {
			last.End = p.End
			return
		}
	}
	if b.PieceCount == 0 {
		b.FirstPiece = int32(len(s.doc.Pieces))
	}
	s.doc.Pieces = append(Grown(s.doc.Pieces, p.Start, len(s.src)), p)
	b.PieceCount++
}

// atxHeading opens the heading in rest, which starts at nonspace.
func (s *scanner) atxHeading(rest string) {
	l := &s.line
	b := s.openLeaf(HeadingBlock)
	level := leadingRun(rest, '#')
	b.Data = int32(level)
	content := trimSpan(s.src, Span{l.nonspace + level, l.end})
	// A run of # at the end is not content if a space stands before it.
	end := content.End
	for end > content.Start && s.src[end-1] == '#' {
		end--
	}
	if end == content.Start || isSpaceOrTab(s.src[end-1]) {
		content.End = end
	}
	content = trimSpan(s.src, content)
	if !content.Empty() {
		s.appendPiece(Piece{Span: content})
	}
}

// setextHeading turns the open paragraph into a heading that the current line
// underlines. It returns false if the paragraph contains only definitions.
func (s *scanner) setextHeading() bool {
	if !s.readDefinitions() {
		return false
	}
	b := &s.doc.Blocks[s.leaf.block]
	b.Kind, b.Data, b.End = HeadingBlock, 1, s.line.end
	if s.byteAt(s.line.nonspace) == '-' {
		b.Data = 2
	}
	s.leaf.kind = HeadingBlock
	return true
}

// trimIndentedCode removes the blank lines at the end of the open indented code, and the line break
// before them.
func (s *scanner) trimIndentedCode() {
	b := &s.doc.Blocks[s.leaf.block]
	for b.PieceCount > 0 {
		p := &s.doc.Pieces[len(s.doc.Pieces)-1]
		end := p.End
		for end > p.Start && isSpace(s.src[end-1]) {
			end--
		}
		if end > p.Start {
			if n := strings.IndexAny(s.src[end:p.End], "\r\n"); n >= 0 {
				p.End = end + n
			}
			b.End = p.End
			return
		}
		s.doc.Pieces = s.doc.Pieces[:len(s.doc.Pieces)-1]
		b.PieceCount--
	}
}
