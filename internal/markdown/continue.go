package markdown

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
