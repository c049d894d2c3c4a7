package markdown

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
