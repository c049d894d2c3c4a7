package markdown

import "strings"

// addParagraphLine adds the line from the offset on to the open paragraph.
func (s *scanner) addParagraphLine() {
	start, pad := s.rest()
	s.leaf.lastStart, s.leaf.lastEnd, s.leaf.lastPad = start, s.line.end, pad
	s.addPiece(start, pad)
}

// addCodeLine adds the line from the offset on, white space and all, to the open
// code or HTML block.
func (s *scanner) addCodeLine() {
	s.addPiece(s.rest())
}

// rest returns where the unused part of the line starts, and how many spaces
// stand before it for the rest of a tab.
func (s *scanner) rest() (start, pad int) {
	l := &s.line
	if l.partTab {
		return l.offset + 1, tabStop - l.column%tabStop
	}
	return l.offset, 0
}

// addPiece adds the line from start on, with its line break, to the open leaf.
func (s *scanner) addPiece(start, pad int) {
	l := &s.line
	s.doc.Blocks[s.leaf.block].End = l.end
	if s.hasCR && l.next-l.end == 2 {
		s.appendPiece(Piece{Span{start, l.end}, pad})
		s.appendPiece(Piece{Span{l.end + 1, l.next}, 0})
		return
	}
	s.appendPiece(Piece{Span{start, l.next}, pad})
}

// appendPiece adds a piece to the block that was opened last.
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
	s.doc.Pieces = append(grown(s.doc.Pieces), p)
	b.PieceCount++
}

// atxHeading opens the heading in rest, which starts at nonspace.
func (s *scanner) atxHeading(rest string) {
	l := &s.line
	b := s.openLeaf(HeadingBlock)
	level := leadingRun(rest, '#')
	b.Data, b.End = int32(level), l.end
	content := trimSpan(s.src, Span{l.nonspace + level, l.end})
	// A run of # at the end is no content if a space stands before it.
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
// underlines. It reports false if the paragraph held only definitions.
func (s *scanner) setextHeading() bool {
	if !s.takeDefinitions() {
		return false
	}
	b := &s.doc.Blocks[s.leaf.block]
	b.Kind, b.Setext, b.End = HeadingBlock, true, s.line.end
	b.Data = 1
	if s.at(s.line.nonspace) == '-' {
		b.Data = 2
	}
	s.leaf.kind = HeadingBlock
	return true
}

// trimIndentedCode drops the blank lines that end the open indented code.
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

func leadingRun(s string, c byte) int {
	n := 0
	for n < len(s) && s[n] == c {
		n++
	}
	return n
}

func isBlank(s string) bool {
	for i := 0; i < len(s); i++ {
		if !isSpaceOrTab(s[i]) {
			return false
		}
	}
	return true
}

// trimSpan drops white space at both ends of a span of src.
func trimSpan(src string, sp Span) Span {
	for sp.End > sp.Start && isSpace(src[sp.End-1]) {
		sp.End--
	}
	for sp.Start < sp.End && isSpace(src[sp.Start]) {
		sp.Start++
	}
	return sp
}
