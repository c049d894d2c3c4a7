package markdown

// openBlock opens a block that blockStart has found and reports whether it is a
// leaf.
func (s *scanner) openBlock(kind BlockKind) bool {
	l := &s.line
	rest := s.src[l.nonspace:l.end]
	switch kind {
	case QuoteBlock:
		s.push(container{kind: QuoteBlock})
		s.advanceTo(l.nonspace + 1)
		if isSpaceOrTab(s.at(l.offset)) {
			s.advanceColumns(1)
		}
		return false
	case FootnoteBlock:
		n := footnoteLabel(rest)
		s.push(container{kind: FootnoteBlock})
		b := len(s.doc.Blocks) - 1
		s.doc.Blocks[b].Data = int32(len(s.doc.Footnotes))
		s.doc.Footnotes = append(s.doc.Footnotes, Footnote{
			Block: b, Label: Span{l.nonspace + 2, l.nonspace + n - 2},
		})
		s.advanceTo(l.nonspace + n)
		for isSpaceOrTab(s.at(l.offset)) {
			s.advanceTo(l.offset + 1)
		}
		return false
	case ItemBlock:
		s.openItem(listMarker(rest, false))
		return false
	case HeadingBlock:
		s.atxHeading(rest)
	case FencedCodeBlock:
		b := s.openLeaf(FencedCodeBlock)
		n := leadingRun(rest, rest[0])
		s.leaf.fenceChar = rest[0]
		s.leaf.fenceLen = min(n, 255) // cmark keeps the length in a byte
		s.leaf.fenceOffset = l.nonspace - l.offset
		b.Info = trimSpan(s.src, Span{l.nonspace + n, l.end})
		b.End = l.end
		s.advanceTo(l.end)
	case HTMLBlock:
		b := s.openLeaf(HTMLBlock)
		if b.Data = int32(htmlBlockStart(rest)); b.Data == 0 {
			b.Data = 7
		}
	case ThematicBreakBlock:
		b := s.openLeaf(ThematicBreakBlock)
		b.End = l.end
		s.leaf = leaf{}
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
	indent := l.indent
	s.push(container{kind: ItemBlock})
	s.advanceTo(l.nonspace + n)
	saved := *l
	for l.column-saved.column <= 5 && isSpaceOrTab(s.at(l.offset)) {
		s.advanceColumns(1)
	}
	i := l.column - saved.column
	padding := n + i
	if i >= 5 || i < 1 || l.offset >= l.end {
		padding = n + 1
		l.offset, l.column, l.partTab = saved.offset, saved.column, saved.partTab
		if i > 0 {
			s.advanceColumns(1)
		}
	}
	s.stack[len(s.stack)-1].need = indent + padding
}

// taskMarker reads a task list box at the start of an item, the innermost of the
// first n containers, as cmark does: by the look of the whole line.
func (s *scanner) taskMarker(n int) {
	if n == 0 || s.stack[n-1].kind != ItemBlock || !isTaskLine(s.src[s.line.start:s.line.end]) {
		return
	}
	s.doc.Blocks[s.stack[n-1].block].Task = true
	s.advanceTo(s.line.offset + 3)
}

// push opens a container in the innermost one.
func (s *scanner) push(c container) {
	c.block = s.addBlock(c.kind)
	s.stack = append(s.stack, c)
	s.itemRun = -1
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
		s.itemRun = -1
	}
	s.doc.Blocks = append(grown(s.doc.Blocks), b)
	return len(s.doc.Blocks) - 1
}

// closeTo closes the leaf and all containers but the first n.
func (s *scanner) closeTo(n int) {
	s.closeLeaf()
	if n < len(s.stack) {
		s.stack = s.stack[:n]
		s.itemRun = -1
	}
}

func (s *scanner) closeLeaf() {
	switch s.leaf.kind {
	case ParagraphBlock:
		if !s.takeDefinitions() {
			s.doc.Blocks[s.leaf.block].Kind = DefinitionBlock
			if n := len(s.stack); n > 0 {
				s.stack[n-1].children--
				s.itemRun = -1
			}
		}
	case IndentedCodeBlock:
		s.trimIndentedCode()
	}
	s.leaf = leaf{}
}
