package markdown

import (
	"slices"
	"strings"
)

// ReadInlines returns the inline nodes of the leaf at index i. It reads them first if RescanBlocks
// has left that to it. They, and the links that they refer to, are valid until the next call.
func (d *Document) ReadInlines(i int) []Inline {
	if s := d.scanner; s.leafByLeaf {
		d.Inlines, d.Links = d.Inlines[:0], d.Links[:0]
		s.scanLeaf(i)
	}
	return d.InlinesOf(&d.Blocks[i])
}

// scanInlines reads the inlines of all leaves. By now every definition is known.
func (s *scanner) scanInlines() {
	s.indexFootnotes()
	for i := range s.doc.Blocks {
		s.scanLeaf(i)
	}
	s.markUsed()
}

// scanLeaf reads the inlines of a block, if it is a leaf that has them.
func (s *scanner) scanLeaf(i int) {
	d := s.doc
	b := &d.Blocks[i]
	switch b.Kind {
	case ParagraphBlock, HeadingBlock, CellBlock:
	default:
		return
	}
	b.FirstInline = int32(len(d.Inlines))
	if b.PieceCount == 0 || b.Hidden {
		return
	}
	if s.leafByLeaf {
		s.inlinesFrom, s.inlinesEnd = b.Start, b.End
	}
	var p inlineParser // set field by field, because it is large and leaves may be tiny
	p.s, p.block, p.c, p.noDest = s, i, s.buffers.content(s.src, d.PiecesOf(b)), len(s.src)
	p.delims = delimStack{all: s.buffers.delims[:0], last: -1}
	p.brackets = bracketStack{open: s.buffers.brackets[:0], firstLink: -1}
	p.text = p.c.text[:trimSpan(p.c.text, Span{0, len(p.c.text)}).End]
	p.run()
	s.buffers.brackets, s.buffers.delims = p.brackets.open[:0], p.delims.all[:0]
	b.InlineCount = int32(len(d.Inlines)) - b.FirstInline
}

// inlineParser reads the inlines of one leaf.
type inlineParser struct {
	s     *scanner
	block int
	c     content
	text  string // c.text without white space at its end
	pos   int
	// lineOffset is cmark's column offset: 0 at first. Each line break that lineBreak reads sets it to
	// minus the offset of the next line's start. The length of a footnote label depends on it.
	lineOffset int
	brackets   bracketStack
	// labelBytes is how many bytes were read as labels of footnotes. A byte in nested brackets counts
	// once for each of them.
	labelBytes int

	// A bare link destination that starts at noDest or later has no end, because no byte that could
	// end it follows. The search for such a byte is complete up to destEnd. See findNoDest.
	noDest, destEnd int

	ticks   backtickMemo
	html    htmlMemo
	domains domainRun
	delims  delimStack
	mayMail bool // an @ that may be in an address was read, in any spelling
}

// byteSet returns the set of the bytes in s.
func byteSet(s string) (set [256]bool) {
	for _, c := range []byte(s) {
		set[c] = true
	}
	return set
}

// The bytes that may have a meaning. All others are text where run reads them.
var (
	special       = byteSet("\n\r\\`&<[]!:w@")
	specialOrMark = byteSet("\n\r\\`&<[]!:w@*_~") // with the marks of emphasis
)

// run reads the leaf.
func (p *inlineParser) run() {
	text := p.text
	start := 0 // of the text that was not emitted yet
	stops, delims := &special, needsDelims(text)
	if delims {
		stops = &specialOrMark
	}
	for p.pos < len(text) {
		i := p.pos
		for i < len(text) && !stops[text[i]] {
			i++
		}
		if p.pos = i; i == len(text) {
			break
		}
		c := text[i]
		from := p.pos
		var kind InlineKind
		var data int32
		switch c {
		case '\n', '\r':
			p.lineBreak(start)
			start = p.pos
			continue
		case '`':
			kind, data = p.backticks()
		case '\\':
			if from+1 < len(text) && (text[from+1] == '\n' || text[from+1] == '\r') {
				p.emitText(start, from)
				p.pos = skipLineBreak(text, from+1)
				p.emitBreak(HardBreak, from, p.pos)
				start = p.pos
				continue
			}
			if from+1 < len(text) && isPunct(text[from+1]) {
				kind = Escape
				p.pos += 2
				p.mayMail = p.mayMail || text[from+1] == '@'
			}
		case '&':
			if decoded, n := DecodeEntity(text[from:]); n > 0 {
				kind = Entity
				p.pos += n
				p.mayMail = p.mayMail || decoded == "@"
			}
		case '<':
			kind, data = p.angle()
		case '!': // before [^ it is text, and a footnote follows
			if from+1 < len(text) && text[from+1] == '[' && !(from+2 < len(text) && text[from+2] == '^') {
				p.emitText(start, from)
				p.pos += 2
				p.openBracket(from, true)
				start = p.pos
				continue
			}
		case '[':
			p.emitText(start, from)
			p.pos++
			p.openBracket(from, false)
			start = p.pos
			continue
		case ']':
			p.emitText(start, from)
			p.pos++
			if !p.closeBracket(from) {
				start = from
				continue
			}
			start = p.pos
			continue
		case '@':
			p.mayMail = p.mayMail || from > 0 && mayEndMailName(text[from-1])
		case '_', '*', '~':
			p.emitText(start, from)
			p.delimRun()
			start = p.pos
			continue
		case ':', 'w':
			bare, prefix := BareURL, "://"
			if c == 'w' {
				bare, prefix = BareWWW, "www."
			}
			if !strings.HasPrefix(text[from:], prefix) {
				break
			}
			if begin, end, ok := p.bareURL(); ok {
				p.emitText(start, begin)
				p.emitBare(bare, begin, end)
				p.pos, start = end, end
				continue
			}
		}
		if kind == 0 {
			p.pos++
			continue
		}
		p.emitText(start, from)
		p.emit(kind, data, from, p.pos)
		start = p.pos
	}
	p.emitText(start, len(text))
	if p.mayMail {
		if delims {
			p.delims.process(-1)
			p.splitMarks()
		}
		p.linkEmails()
	}
}

// mayEndMailName reports whether the name before the @ of an address may end with c. A ";" may
// end a character reference.
func mayEndMailName(c byte) bool { return isAlnum(c) || strings.IndexByte(".+-_:;", c) >= 0 }

// emit adds a node for the content from start to end.
func (p *inlineParser) emit(kind InlineKind, data int32, start, end int) {
	p.appendInline(Inline{Span: p.c.spanOf(start, end), Kind: kind, Data: data})
}

func (p *inlineParser) appendInline(n Inline) {
	d := p.s.doc
	if len(d.Inlines) == cap(d.Inlines) {
		d.Inlines = enlarged(d.Inlines, n.Start-p.s.inlinesFrom, p.s.inlinesEnd-p.s.inlinesFrom)
	}
	d.Inlines = append(d.Inlines, n)
}

// grownLinks returns the document's links with room for one that starts at an offset.
func (p *inlineParser) grownLinks(start int) []Link {
	return Grown(p.s.doc.Links, start-p.s.inlinesFrom, p.s.inlinesEnd-p.s.inlinesFrom)
}

// emitText adds text, in several nodes if the source is not contiguous.
func (p *inlineParser) emitText(start, end int) {
	if start >= end {
		return
	}
	if p.c.starts == nil {
		base := p.c.pieces[0].Start
		p.appendInline(Inline{Span: Span{base + start, base + end}, Kind: Text})
		return
	}
	for start < end {
		stop := p.c.pieceEnd(start, end)
		if !p.c.inPadding(start) {
			p.emit(Text, 0, start, stop)
		}
		start = stop
	}
}

// lineBreak emits the text from start to the line break at p.pos, and the line break, and moves to
// the first character of the next line.
func (p *inlineParser) lineBreak(start int) {
	text, end, kind := p.text, p.pos, SoftBreak
	if end > 1 && text[end-1] == ' ' && text[end-2] == ' ' {
		kind = HardBreak
	}
	p.pos = skipLineBreak(text, end)
	p.lineOffset = -p.pos
	p.pos = skipSpaces(text, p.pos)
	for end > start && isSpace(text[end-1]) {
		end--
	}
	p.emitText(start, end)
	p.emitBreak(kind, end, p.pos)
}

// emitBreak adds a line break of a kind for the content from start to end, where the next line
// starts. The node has the container prefixes of that line.
func (p *inlineParser) emitBreak(kind InlineKind, start, end int) {
	p.appendInline(Inline{Span: Span{p.c.sourceOf(start), p.c.sourceOf(end)}, Kind: kind})
}

// content is the text of a leaf, with its places in the source.
type content struct {
	text   string
	pieces []Piece
	starts []int // content offset of each piece; nil for a single piece
	last   int   // the piece that was looked up last, where most look-ups start
}

// buffers is the memory that the leaves of one Scan share.
type buffers struct {
	// text collects the contents that are not contiguous in the source. It only
	// grows, so that parts of it stay valid.
	text     strings.Builder
	starts   []int
	brackets []bracket
	delims   []delim
	ticks    [maxTicks + 1]int
	mail     emailRun
	nodes    []Inline // of the leaf whose marks are split, or whose addresses are linked
}

// kept returns the buffers for the next Scan.
func (in *buffers) kept() buffers {
	return buffers{starts: in.starts[:0], brackets: in.brackets[:0], delims: in.delims[:0], mail: in.mail, nodes: in.nodes[:0]}
}

// content returns the content of a leaf, which has pieces. It is valid until the next call.
func (in *buffers) content(src string, pieces []Piece) content {
	if len(pieces) == 1 && pieces[0].Pad == 0 {
		return content{text: src[pieces[0].Start:pieces[0].End], pieces: pieces}
	}
	from := in.text.Len()
	in.starts = in.starts[:0]
	for _, p := range pieces {
		for range p.Pad {
			in.text.WriteByte(' ')
		}
		in.starts = append(in.starts, in.text.Len()-from)
		in.text.WriteString(src[p.Start:p.End])
	}
	return content{text: in.text.String()[from:], pieces: pieces, starts: in.starts}
}

// sourceOf returns the source offset of the content byte at pos. At the end of
// the content it is the end of the last piece.
func (c *content) sourceOf(pos int) int {
	if c.starts == nil {
		return min(c.pieces[0].Start+pos, c.pieces[0].End)
	}
	i := c.pieceAt(pos)
	if i < 0 { // in the padding of the first piece
		return c.pieces[0].Start
	}
	p := c.pieces[i]
	if at := p.Start + pos - c.starts[i]; at < p.End || i+1 == len(c.pieces) {
		return min(at, p.End)
	}
	return c.pieces[i+1].Start // in padding
}

// spanOf returns the source span of the content from start to end.
func (c *content) spanOf(start, end int) Span {
	if c.starts == nil {
		base := c.pieces[0].Start
		return Span{base + start, base + end}
	}
	if end <= start {
		at := c.sourceOf(start)
		return Span{at, at}
	}
	return Span{c.sourceOf(start), c.sourceOf(end-1) + 1}
}

// pieceEnd returns where the piece or padding around the content byte at pos
// ends, but at most end.
func (c *content) pieceEnd(pos, end int) int {
	i := c.pieceAt(pos)
	if i >= 0 {
		if stop := c.starts[i] + c.pieces[i].End - c.pieces[i].Start; stop > pos {
			return min(end, stop)
		}
	}
	return min(end, c.starts[i+1]) // in the padding before a piece
}

// pieceAt returns the index of the last piece that starts at or before pos, -1
// if there is none.
func (c *content) pieceAt(pos int) int {
	for i := c.last; i < min(c.last+3, len(c.starts)); i++ {
		if c.starts[i] <= pos && (i+1 == len(c.starts) || pos < c.starts[i+1]) {
			c.last = i
			return i
		}
	}
	i, found := slices.BinarySearch(c.starts, pos)
	if !found {
		i--
	}
	c.last = max(i, 0)
	return i
}

// inPadding reports whether the content byte at pos is padding, which is not in
// the source.
func (c *content) inPadding(pos int) bool {
	i := c.pieceAt(pos)
	return i < 0 || pos-c.starts[i] >= c.pieces[i].End-c.pieces[i].Start
}

// maxTicks is the longest run of backticks that cmark remembers; longer ones
// never open a code span.
const maxTicks = 80

// backtickMemo remembers where runs of backticks are. It is cmark's memo with
// cmark's fault: a search that reaches the end keeps, for each length, only the
// last run, and one that stops early leaves positions before the current one,
// which later mean "no such run".
type backtickMemo struct {
	scanned bool               // a search has reached the end
	last    *[maxTicks + 1]int // by length; memory that all leaves share
}

// backticks reads the run of backticks at p.pos and, if there is a closing run,
// the code span.
func (p *inlineParser) backticks() (InlineKind, int32) {
	n := leadingRun(p.text[p.pos:], '`')
	p.pos += n
	if end := p.closingTicks(n); end > 0 {
		p.pos = end
		return CodeNode, int32(n)
	}
	return Backticks, 0
}

// closingTicks returns the offset after the next run of exactly n backticks, 0
// if there is none.
func (p *inlineParser) closingTicks(n int) int {
	if n > maxTicks {
		return 0
	}
	m := &p.ticks
	if m.last == nil {
		m.last = &p.s.buffers.ticks
		*m.last = [maxTicks + 1]int{}
	}
	if m.scanned && m.last[n] <= p.pos {
		return 0
	}
	text := p.text
	for i := p.pos; ; {
		k := strings.IndexByte(text[i:], '`')
		if k < 0 {
			break
		}
		i += k
		run := leadingRun(text[i:], '`')
		if run <= maxTicks {
			m.last[run] = i
		}
		i += run
		if run == n {
			return i
		}
	}
	m.scanned = true
	return 0
}
