package markdown

import "strings"

// scanLine is the block phase for one line: which open containers go on, which
// blocks start, and where the rest of the line belongs.
func (s *scanner) scanLine() {
	matched, leafMatched, done := s.matchOpen()
	if done {
		return
	}
	opened := s.openBlocks(matched, leafMatched)
	s.findNonspace()
	l := &s.line
	if !opened {
		if s.leaf.kind == ParagraphBlock && !l.blank && !leafMatched {
			s.addParagraphLine()
			return
		}
		if !leafMatched {
			s.closeTo(matched)
		}
	}
	switch s.leaf.kind {
	case FencedCodeBlock:
		if !opened {
			s.addCodeLine()
		}
	case IndentedCodeBlock:
		s.addCodeLine()
	case HTMLBlock:
		s.addCodeLine()
		if b := &s.doc.Blocks[s.leaf.block]; htmlBlockEnds(int(b.Data), s.src[l.nonspace:l.end]) {
			b.Closed = true
			s.closeLeaf()
		}
	case ParagraphBlock:
		if !l.blank {
			s.advanceTo(l.nonspace)
			s.addParagraphLine()
		}
	case HeadingBlock, TableBlock:
		// The line was used up when the block or row was opened.
	default:
		if !l.blank {
			s.advanceTo(l.nonspace)
			s.openLeaf(ParagraphBlock)
			s.addParagraphLine()
		}
	}
}

// matchOpen goes through the open blocks and uses up what continues them. It
// returns the number of containers that go on and whether the leaf does; done
// means that the line was a closing fence.
func (s *scanner) matchOpen() (matched int, leafMatched, done bool) {
	l := &s.line
	for matched < len(s.stack) {
		s.findNonspace()
		c := &s.stack[matched]
		switch c.kind {
		case QuoteBlock:
			if l.indent >= codeIndent || s.at(l.nonspace) != '>' {
				return matched, false, false
			}
			s.advanceColumns(l.indent + 1)
			if isSpaceOrTab(s.at(l.offset)) {
				s.advanceColumns(1)
			}
		case ItemBlock:
			switch {
			case l.indent >= c.need:
				s.advanceColumns(c.need)
			case l.blank && c.children > 0:
				s.advanceTo(l.nonspace)
				matched = max(matched, s.passBlank()-1)
			default:
				return matched, false, false
			}
		case FootnoteBlock:
			switch {
			case l.indent >= codeIndent:
				s.advanceColumns(codeIndent)
			case l.start == l.end:
			default:
				return matched, false, false
			}
		}
		matched++
	}
	leafMatched, done = s.matchLeaf()
	return matched, leafMatched, done
}

// passBlank returns itemRun.
func (s *scanner) passBlank() int {
	if s.itemRun < 0 {
		s.itemRun = 0
		for s.itemRun < len(s.stack) && s.stack[s.itemRun].kind == ItemBlock && s.stack[s.itemRun].children > 0 {
			s.itemRun++
		}
	}
	return s.itemRun
}

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
		return s.isRow(), false
	case HTMLBlock:
		return s.doc.Blocks[s.leaf.block].Data <= 5 || !l.blank, false
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
		if l.indent < codeIndent && s.at(l.nonspace) == s.leaf.fenceChar && s.isClosingFence() {
			b := &s.doc.Blocks[s.leaf.block]
			b.Closed, b.End = true, l.end
			s.closeLeaf()
			return false, true
		}
		for i := s.leaf.fenceOffset; i > 0 && isSpaceOrTab(s.at(l.offset)); i-- {
			s.advanceColumns(1)
		}
		return true, false
	}
	return false, false
}

func (s *scanner) isClosingFence() bool {
	n, i := 0, s.line.nonspace
	for s.at(i) == s.leaf.fenceChar {
		i++
		n++
	}
	return n >= s.leaf.fenceLen && n >= 3 && isBlank(s.src[i:s.line.end])
}

// openBlocks opens the blocks that start on the line, below the matched ones,
// and reports whether there was any.
func (s *scanner) openBlocks(matched int, leafMatched bool) (opened bool) {
	l := &s.line
	maybeLazy := s.leaf.kind == ParagraphBlock
	inParagraph := leafMatched && s.leaf.kind == ParagraphBlock
	if leafMatched {
		switch s.leaf.kind {
		case FencedCodeBlock, IndentedCodeBlock, HTMLBlock:
			return false
		}
	}
	for {
		s.findNonspace()
		if l.blank {
			return opened
		}
		indented := l.indent >= codeIndent
		var kind BlockKind
		if !indented {
			kind = s.blockStart(inParagraph)
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
			s.taskMarker(s.depth(matched, opened))
			return opened
		case QuoteBlock, ItemBlock, FootnoteBlock:
			if depth := s.depth(matched, opened); depth >= MaxDepth {
				s.doc.TooDeep = true
				return opened
			}
		case HeadingBlock:
			if c := s.at(l.nonspace); inParagraph && c != '#' {
				if !s.setextHeading() {
					// Nothing but definitions: the line is text after all.
					return false
				}
				return true
			}
		}
		if !opened {
			s.closeTo(matched)
			opened = true
		}
		if s.openBlock(kind) {
			return true
		}
		inParagraph, leafMatched, maybeLazy = false, false, false
	}
}

func (s *scanner) depth(matched int, opened bool) int {
	if opened {
		return len(s.stack)
	}
	return matched
}

// blockStart says what kind of block starts at nonspace, which is indented by
// less than four columns; 0 for none. It changes nothing.
func (s *scanner) blockStart(inParagraph bool) BlockKind {
	l := &s.line
	rest := s.src[l.nonspace:l.end]
	switch c := rest[0]; c {
	case '>':
		return QuoteBlock
	case '#':
		if n := leadingRun(rest, '#'); n <= 6 && (n == len(rest) || isSpaceOrTab(rest[n])) {
			return HeadingBlock
		}
	case '`', '~':
		if n := leadingRun(rest, c); n >= 3 && (c == '~' || strings.IndexByte(rest[n:], '`') < 0) {
			return FencedCodeBlock
		}
	case '<':
		if htmlBlockStart(rest) != 0 || !inParagraph && isHTMLBlock7(rest) {
			return HTMLBlock
		}
	case '=':
		if inParagraph && isSetextLine(rest) {
			return HeadingBlock
		}
	case '*', '-', '_', '+':
		if c == '-' && inParagraph && isSetextLine(rest) {
			return HeadingBlock
		}
		if s.isThematicBreak() {
			return ThematicBreakBlock
		}
		if listMarker(rest, inParagraph) > 0 {
			return ItemBlock
		}
	case '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		if listMarker(rest, inParagraph) > 0 {
			return ItemBlock
		}
	case '[':
		if footnoteLabel(rest) > 0 {
			return FootnoteBlock
		}
	}
	return 0
}
