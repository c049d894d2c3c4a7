package markdown

import "strings"

// bracket is a [ or ![ that may become the start of a link or image.
type bracket struct {
	node  int32 // index of its node in Document.Inlines
	links int32 // number of links before it
	// delims is the number of delimiter runs before it, delim the stack's top.
	delims, delim int32
	start         int32 // content offset of the [ or !
	pos           int32 // content offset after the [
	// lineOffset is the parser's at the bracket.
	lineOffset int32
	image      bool
	// after says that another bracket was opened behind this one.
	after bool
}

// bracketStack is cmark's stack of open brackets. What cmark keeps as flags on
// each bracket, and updates in loops that are quadratic on hostile text, is
// here three numbers.
type bracketStack struct {
	open []bracket
	// firstLink is the index of the lowest [ (not ![) or -1.
	firstLink int
	// inactive: a [ below this index can no longer become a link, since a link
	// has closed inside it.
	inactive int
	// cleared: so many ![ at the bottom, with no [ among them, no longer keep
	// bare addresses from linking, since a link has closed inside them.
	cleared int
}

func (s *bracketStack) push(b bracket) {
	if n := len(s.open); n > 0 {
		s.open[n-1].after = true
	}
	if !b.image && s.firstLink < 0 {
		s.firstLink = len(s.open)
	}
	s.open = append(grown(s.open), b)
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

// linkClosed notes that a link has closed: no bracket around it can be a link.
func (s *bracketStack) linkClosed() {
	if s.firstLink < 0 || s.firstLink >= s.inactive {
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

// openBracket emits the [ or ![ as text, which close may turn into a link.
func (p *inlineParser) openBracket(start int, image bool) {
	d := p.s.doc
	p.brackets.push(bracket{
		node: int32(len(d.Inlines)), links: int32(len(d.Links)), start: int32(start), pos: int32(p.pos),
		lineOffset: int32(p.lineOffset), image: image, delims: int32(len(p.delims.all)), delim: int32(p.delims.last),
	})
	p.emit(Text, 0, start, p.pos)
}

// closeBracket handles the ] at offset from; p.pos is behind it. It reports false
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
		if p.footnoteRef(&b, from) {
			p.brackets.pop()
			return true
		}
		p.brackets.pop()
		return false
	}
	d := p.s.doc
	p.pos = end
	link.Span = p.c.spanOf(int(b.start), end)
	link.Image = b.image
	link.Block = p.block
	link.Text = p.c.spanOf(int(b.pos), from)
	if link.Kind == ShortcutReference || link.Kind == CollapsedReference {
		link.Label = link.Text
	}
	data := int32(len(d.Links))
	d.Links = append(grown(d.Links), link)
	d.Inlines[b.node].Kind, d.Inlines[b.node].Data = LinkOpen, data
	p.emit(LinkClose, data, from, end)
	p.delims.process(int(b.delim))
	p.brackets.pop()
	if !b.image {
		p.brackets.linkClosed()
	}
	return true
}

// inlineLink reads (destination "title") behind the ] at offset from.
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

// findNoDest notes if no bare destination can end behind offset from.
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

// referenceLink looks for a definition by the label behind the ] at offset from,
// or by the bracket's own text.
func (p *inlineParser) referenceLink(b *bracket, from int) (link Link, end int, ok bool) {
	link.Kind = FullReference
	label, end, found := linkLabel(p.text, from+1)
	switch {
	case found && !label.Empty():
		link.Label = p.c.spanOf(label.Start, label.End)
	case b.after:
		return link, 0, false
	case found:
		link.Kind = CollapsedReference
		label = Span{int(b.pos), from}
	default:
		link.Kind = ShortcutReference
		label, end = Span{int(b.pos), from}, from+1
	}
	if n := label.End - label.Start; n < 1 || n > maxLabel || len(p.s.labels) == 0 {
		return link, 0, false
	}
	name := normalizeLabel(p.text[label.Start:label.End])
	i, ok := p.s.labels[name]
	if !ok {
		return link, 0, false
	}
	def := &p.s.doc.Definitions[i]
	link.Definition, link.Dest, link.Title = i, def.Dest, def.Title
	return link, end, true
}
