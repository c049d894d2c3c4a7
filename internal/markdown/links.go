package markdown

import (
	"slices"
	"strings"
	"unicode"
)

// bracket is a [ or ![ that may become the start of a link or image.
type bracket struct {
	node       int32 // index of its node in Document.Inlines
	links      int32 // number of links before it
	delims     int32 // number of delimiter runs before it
	delim      int32 // top of the delimiter stack before it
	start      int32 // content offset of the [ or !
	pos        int32 // content offset after the [
	lineOffset int32 // inlineParser.lineOffset at the bracket
	image      bool
	after      bool // another bracket was opened after this one
}

// bracketStack is cmark's stack of open brackets. cmark keeps flags on each
// bracket, and updates them in loops that are quadratic on hostile text. Here
// three numbers stand for them.
type bracketStack struct {
	open []bracket
	// firstLink is the index of the lowest [ (not ![) or -1.
	firstLink int
	// inactive: a [ below this index can no longer become a link, because a link
	// has closed inside it.
	inactive int
	// cleared: the number of brackets at the bottom in which a link has closed. All of them are ![,
	// and they no longer keep bare addresses from linking.
	cleared int
}

// push opens a bracket in a text of textLen bytes.
func (s *bracketStack) push(b bracket, textLen int) {
	if n := len(s.open); n > 0 {
		s.open[n-1].after = true
	}
	if !b.image && s.firstLink < 0 {
		s.firstLink = len(s.open)
	}
	s.open = append(Grown(s.open, int(b.start), textLen), b)
}

func (s *bracketStack) pop() {
	n := len(s.open) - 1
	s.open = s.open[:n]
	if s.firstLink == n {
		s.firstLink = -1
	}
	s.inactive = min(s.inactive, n)
	s.cleared = min(s.cleared, n)
}

// topActive reports whether the innermost bracket can become a link or image.
func (s *bracketStack) topActive() bool {
	n := len(s.open) - 1
	return s.open[n].image || n >= s.inactive
}

// linkClosed records that a link has closed: no bracket around it can be a link.
func (s *bracketStack) linkClosed() {
	allActive := s.firstLink < 0 || s.firstLink >= s.inactive // until now, every [ could become a link
	if allActive {
		s.cleared = len(s.open)
		if s.firstLink >= 0 {
			s.cleared = s.firstLink
		}
	}
	s.inactive = len(s.open)
}

// blocksBare reports whether cmark links no bare addresses here.
func (s *bracketStack) blocksBare() bool {
	return len(s.open) > 0 && (s.firstLink >= 0 || len(s.open) > s.cleared)
}

// openBracket emits the [ or ![ as text, which closeBracket may turn into a link.
func (p *inlineParser) openBracket(start int, image bool) {
	d := p.s.doc
	p.brackets.push(bracket{
		node: int32(len(d.Inlines)), links: int32(len(d.Links)), start: int32(start), pos: int32(p.pos),
		lineOffset: int32(p.lineOffset), image: image, delims: int32(len(p.delims.all)), delim: p.delims.last,
	}, len(p.text))
	p.emit(Text, 0, start, p.pos)
}

// closeBracket handles the ] at offset from; p.pos is after it. It reports false
// if the ] is text.
func (p *inlineParser) closeBracket(from int) bool {
	n := len(p.brackets.open)
	if n == 0 {
		return false
	}
	if !p.brackets.topActive() {
		p.brackets.pop()
		return false
	}
	b := p.brackets.open[n-1]
	link, end, ok := p.inlineLink(from)
	if !ok {
		link, end, ok = p.referenceLink(&b, from)
	}
	if !ok {
		ok = p.footnoteRef(&b, from)
		p.brackets.pop()
		return ok
	}
	d := p.s.doc
	p.pos = end
	link.Span = p.c.spanOf(int(b.start), end)
	link.Image = b.image
	link.Block = p.block
	link.Text = p.c.spanOf(int(b.pos), from)
	data := int32(len(d.Links))
	d.Links = append(p.grownLinks(link.Start), link)
	d.Inlines[b.node].Kind, d.Inlines[b.node].Data = LinkOpen, data
	p.emit(LinkClose, data, from, end)
	p.delims.process(b.delim)
	p.brackets.pop()
	if !b.image {
		p.brackets.linkClosed()
	}
	return true
}

// inlineLink reads (destination "title") after the ] at offset from.
func (p *inlineParser) inlineLink(from int) (link Link, end int, ok bool) {
	text := p.text
	i := from + 1
	if i >= len(text) || text[i] != '(' {
		return link, 0, false
	}
	i = skipSpaceChars(text, i+1)
	if i >= p.noDest && i < len(text) && text[i] != '<' {
		return link, 0, false
	}
	dest, i, ok := linkDestination(text, i)
	if !ok {
		p.findNoDest(from)
		return link, 0, false
	}
	var title Span
	if j := skipSpaceChars(text, i); j > i {
		n := linkTitle(text, j)
		title = Span{j, j + n}
		i = skipSpaceChars(text, j+n)
	}
	if i >= len(text) || text[i] != ')' {
		return link, 0, false
	}
	link = Link{Kind: InlineLink, Dest: p.c.spanOf(dest.Start, dest.End), Definition: -1}
	if !title.Empty() {
		link.Title = p.c.spanOf(title.Start, title.End)
	}
	return link, i + 1, true
}

// findNoDest looks after offset from for the next byte that can end a bare destination, unless
// an earlier call found one there. It sets destEnd after that byte, or noDest if there is none.
func (p *inlineParser) findNoDest(from int) {
	if from >= p.destEnd {
		p.destEnd = len(p.text)
		if n := strings.IndexAny(p.text[from:], ") \t\r\n"); n >= 0 {
			p.destEnd = from + n + 1
		} else {
			p.noDest = from
		}
	}
}

// referenceLink looks for a definition by the label after the ] at offset from,
// or by the text of the brackets.
func (p *inlineParser) referenceLink(b *bracket, from int) (link Link, end int, ok bool) {
	label, end, found := linkLabel(p.text, from+1)
	switch {
	case found && !label.Empty(): // [text][label]
	case b.after:
		return link, 0, false
	case found: // [label][]
		label = Span{int(b.pos), from}
	default: // [label]
		label, end = Span{int(b.pos), from}, from+1
	}
	if n := label.End - label.Start; n < 1 || n > maxLabel || len(p.s.labels) == 0 {
		return link, 0, false
	}
	i, ok := p.s.labels[normalizeLabel(p.text[label.Start:label.End])]
	if !ok {
		return link, 0, false
	}
	def := &p.s.doc.Definitions[i]
	return Link{Kind: ReferenceLink, Definition: i, Dest: def.Dest, Title: def.Title}, end, true
}

const (
	maxLabel      = 1000 // bytes in a link label
	maxLinkParens = 32   // open parentheses in a bare destination
)

// parsedDefinition is a link reference definition as offsets into content.
type parsedDefinition struct {
	start, end         int
	label, dest, title Span
}

// parseDefinition reads the definition at the start of s[pos:], and returns the
// offset after its last line.
func parseDefinition(s string, pos int) (d parsedDefinition, next int, ok bool) {
	d.start = pos
	d.label, pos, ok = linkLabel(s, pos)
	if !ok || d.label.Empty() || pos >= len(s) || s[pos] != ':' {
		return d, 0, false
	}
	pos = skipSpacesAndLine(s, pos+1)
	d.dest, pos, ok = linkDestination(s, pos)
	if !ok {
		return d, 0, false
	}
	beforeTitle := pos
	d.end = pos
	pos = skipSpacesAndLine(s, pos)
	n := 0
	if pos > beforeTitle {
		n = linkTitle(s, pos)
	}
	if n > 0 {
		d.title = Span{pos, pos + n}
		d.end = pos + n
		if next, ok = endOfLine(s, pos+n); ok {
			return d, next, true
		}
		// More follows on the title's line. For cmark the definition then ends before
		// the title, and has the title all the same.
		d.end = beforeTitle
	}
	next, ok = endOfLine(s, beforeTitle)
	return d, next, ok
}

// endOfLine skips spaces and the line break, or the end of s, that has to follow.
func endOfLine(s string, pos int) (next int, ok bool) {
	pos = skipSpaces(s, pos)
	if pos == len(s) {
		return pos, true
	}
	next = skipLineBreak(s, pos)
	return next, next > pos
}

// linkLabel returns the span of the link label at s[pos:], without brackets and
// outer space, and the offset after the closing bracket.
func linkLabel(s string, pos int) (label Span, next int, ok bool) {
	if pos >= len(s) || s[pos] != '[' {
		return Span{}, pos, false
	}
	i := pos + 1
	for i < len(s) && s[i] != '[' && s[i] != ']' {
		if s[i] == '\\' && i+1 < len(s) && isPunct(s[i+1]) {
			i++
		}
		i++
		if i-pos-1 > maxLabel {
			return Span{}, pos, false
		}
	}
	if i >= len(s) || s[i] != ']' {
		return Span{}, pos, false
	}
	return trimSpan(s, Span{pos + 1, i}), i + 1, true
}

// linkDestination returns the span of the link destination at s[pos:], in angle
// brackets or bare, without the angle brackets, and the offset after it.
func linkDestination(s string, pos int) (dest Span, next int, ok bool) {
	if pos < len(s) && s[pos] == '<' {
		return angleDestination(s, pos)
	}
	depth, i := 0, pos
	for i < len(s) && !isSpace(s[i]) {
		switch s[i] {
		case '\\':
			if i+1 < len(s) && isPunct(s[i+1]) {
				i++
			}
		case '(':
			if depth++; depth > maxLinkParens {
				return Span{}, pos, false
			}
		case ')':
			if depth == 0 {
				return Span{pos, i}, i, true
			}
			depth--
		}
		i++
	}
	// To cmark, a bare destination may be empty only before a parenthesis, and
	// something has to follow.
	if i >= len(s) || i == pos {
		return Span{}, pos, false
	}
	return Span{pos, i}, i, true
}

func angleDestination(s string, pos int) (dest Span, next int, ok bool) {
	for i := pos + 1; i < len(s); i++ {
		switch s[i] {
		case '>':
			if i+1 >= len(s) {
				return Span{}, pos, false
			}
			return Span{pos + 1, i}, i + 1, true
		case '\\':
			i++
		case '\n', '\r', '<':
			return Span{}, pos, false
		}
	}
	return Span{}, pos, false
}

// linkTitle returns the length of the link title at s[pos:], quotes included, or 0. An escaped
// quote ends the title only if no other closing quote follows.
func linkTitle(s string, pos int) int {
	if pos >= len(s) {
		return 0
	}
	end, stops := s[pos], s[pos:pos+1]
	switch end {
	case '"', '\'':
	case '(':
		end, stops = ')', "()"
	default:
		return 0
	}
	last := 0
	for i := pos + 1; i < len(s); i++ {
		n := strings.IndexAny(s[i:], stops)
		if n < 0 {
			break
		}
		i += n
		escaped := i > pos+1 && s[i-1] == '\\'
		switch {
		case s[i] == end && !escaped:
			return i + 1 - pos
		case s[i] == end:
			last = i + 1 - pos
		case !escaped:
			return last
		}
	}
	return last
}

// readDefinitions removes the link reference definitions from the start of the
// open paragraph, records them, and reports whether any text is left.
func (s *scanner) readDefinitions() bool {
	b := &s.doc.Blocks[s.leaf.block]
	if b.PieceCount == 0 {
		return false
	}
	if first := &s.doc.Pieces[b.FirstPiece]; first.Pad > 0 || s.src[first.Start] != '[' {
		return true // there is no definition, so all text is left
	}
	c := s.buffers.content(s.src, s.doc.PiecesOf(b))
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

// dropContent removes the content before source offset start, or all of it, from
// the open leaf. The pieces stay for the definitions in them.
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
		s.doc.Pieces = slices.Insert(Grown(s.doc.Pieces, start, len(s.src)), int(b.FirstPiece), Piece{Span{p.Start, start}, p.Pad})
		b.FirstPiece++
		end++
		s.doc.Pieces[b.FirstPiece] = Piece{Span: Span{start, p.End}}
	}
	b.PieceCount = end - b.FirstPiece
}

// define records a definition found in c.
func (s *scanner) define(c *content, p *parsedDefinition) {
	label := normalizeLabel(c.text[p.label.Start:p.label.End])
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
	s.doc.Definitions = append(Grown(s.doc.Definitions, d.Start, len(s.src)), d)
}

// normalizeLabel returns the form in which labels are compared: case folded, with
// one space for each run of white space.
func normalizeLabel(label string) string {
	i := 0
	for i < len(label) && (label[i] > ' ' && label[i] < 'A' || label[i] > 'Z' && label[i] < 0x80) {
		i++
	}
	if i == len(label) { // no white space, no capital letter, nothing but ASCII
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

// writeFolded writes the case folding of r: the simple one of package unicode,
// and ss for ß. The full folding has more of these, for rarer letters.
func writeFolded(b *strings.Builder, r rune) {
	if r == 'ß' || r == 'ẞ' {
		b.WriteString("ss")
		return
	}
	least := r // it stands for all runes that fold to the same
	for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
		least = min(least, f)
	}
	if 'A' <= least && least <= 'Z' {
		least |= 0x20
	}
	b.WriteRune(least)
}
