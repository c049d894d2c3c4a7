package markdown

import (
	"strings"
	"unicode/utf8"
)

// Emphasis matters to the classification of a text in one case only: an
// underscore that is an emphasis mark ends an e-mail address, any other is part
// of it. So delimiters are read only in leaves that may contain both (needsDelims).

// delim is a run of emphasis marks.
type delim struct {
	char       byte
	canOpen    bool
	canClose   bool
	length     int32 // as written
	left       int32 // marks that are not used yet
	fromStart  int32 // marks at its start that are used as a closer
	fromEnd    int32 // marks at its end that are used as an opener
	node       int32 // index of its node in Document.Inlines
	prev, next int32 // neighbours on the stack, -1 for none
}

// delimStack is cmark's delimiter stack.
type delimStack struct {
	all  []delim // every run so far; those on the stack are linked
	last int32   // the top, -1 for none
	// budget limits the steps back in the search for openers, because cmark's
	// search is quadratic on some hostile texts. Once it is used up, no more
	// emphasis is found, and every further underscore counts as a part of an address.
	budget int
}

// needsDelims reports whether emphasis can decide what is an e-mail address.
func needsDelims(text string) bool {
	return strings.IndexByte(text, '_') >= 0 && strings.ContainsAny(text, "@&")
}

// delimRun emits the run of emphasis marks at p.pos, and puts it on the stack if it can open or
// close emphasis.
func (p *inlineParser) delimRun() {
	text, c, start := p.text, p.text[p.pos], p.pos
	n := leadingRun(text[start:], c)
	if c == '~' {
		n = min(n, 100)
	}
	p.pos += n
	i, j := start, p.pos
	if c != '~' { // cmark ignores ~, the mark of an extension, around other marks
		for i > 0 && text[i-1] == '~' {
			i--
		}
		j += leadingRun(text[j:], '~')
	}
	before, after := '\n', '\n'
	if i > 0 {
		before, _ = utf8.DecodeLastRuneInString(text[:i])
	}
	if j < len(text) {
		after, _ = utf8.DecodeRuneInString(text[j:])
	}
	punctBefore, punctAfter := isUnicodePunct(before), isUnicodePunct(after)
	spaceBefore, spaceAfter := isUnicodeSpace(before), isUnicodeSpace(after)
	leftFlanking := !spaceAfter && (!punctAfter || spaceBefore || punctBefore)
	rightFlanking := !spaceBefore && (!punctBefore || spaceAfter || punctAfter)
	canOpen, canClose := leftFlanking, rightFlanking
	if c == '_' { // it does not emphasise inside a word
		canOpen, canClose = leftFlanking && (!rightFlanking || punctBefore), rightFlanking && (!leftFlanking || punctAfter)
	}
	node := len(p.s.doc.Inlines)
	p.emitText(start, p.pos)
	if !canOpen && !canClose || c == '~' && n > 2 {
		return
	}
	ds := &p.delims
	ds.all = append(Grown(ds.all, start, len(text)), delim{
		char: c, canOpen: canOpen, canClose: canClose, length: int32(n), left: int32(n), node: int32(node), prev: ds.last, next: -1,
	})
	if ds.last >= 0 {
		ds.all[ds.last].next = int32(len(ds.all) - 1)
	}
	ds.last = int32(len(ds.all) - 1)
	ds.budget += 64
}

// process matches the delimiters above bottom and removes them from the stack.
func (ds *delimStack) process(bottom int32) {
	if ds.last == bottom {
		return
	}
	var bottoms [3][3]int32 // there and below no opener was found, by the closer's length modulo 3 and its character
	for i := range bottoms {
		bottoms[i] = [3]int32{bottom, bottom, bottom}
	}
	closer := ds.last
	for ds.all[closer].prev != bottom && ds.all[closer].prev >= 0 {
		closer = ds.all[closer].prev
	}
	for closer >= 0 {
		c := &ds.all[closer]
		if !c.canClose {
			closer = c.next
			continue
		}
		floor := &bottoms[c.length%3][strings.IndexByte("*_~", c.char)]
		opener := ds.findOpener(c, bottom, *floor)
		old := closer
		switch {
		case opener < 0:
			closer = c.next
			*floor = c.prev
			if !c.canOpen {
				ds.remove(old)
			}
		case c.char == '~':
			closer = c.next
			if ds.all[opener].left == c.left {
				ds.all[opener].fromEnd, c.fromStart = c.left, c.left
				for i := old; i != opener; i = ds.all[i].prev {
					ds.remove(i)
				}
				ds.remove(opener)
			}
		default:
			closer = ds.emphasize(opener, old)
		}
	}
	for ds.last >= 0 && ds.last != bottom {
		ds.remove(ds.last)
	}
}

// findOpener returns the nearest opener below closer, or -1. It looks at none from bottom or floor on
// downwards, nor after the budget is used up.
func (ds *delimStack) findOpener(closer *delim, bottom, floor int32) int32 {
	for i := closer.prev; i >= 0 && i != bottom && i != floor && ds.budget > 0; i = ds.all[i].prev {
		if ds.all[i].opens(closer) {
			return i
		}
		ds.budget--
	}
	return -1
}

// opens reports whether d can be the opener of closer. If one of the two runs could be both opener
// and closer, the sum of their lengths must not be a multiple of 3, unless both lengths are.
func (d *delim) opens(closer *delim) bool {
	if !d.canOpen || d.char != closer.char {
		return false
	}
	return !d.canClose && !closer.canOpen || closer.length%3 == 0 || (d.length+closer.length)%3 != 0
}

// emphasize uses one or two marks of both runs and returns the next closer.
func (ds *delimStack) emphasize(opener, closer int32) int32 {
	o, c := &ds.all[opener], &ds.all[closer]
	n := int32(1)
	if o.left >= 2 && c.left >= 2 {
		n = 2
	}
	o.left -= n
	c.left -= n
	o.fromEnd += n
	c.fromStart += n
	for i := c.prev; i >= 0 && i != opener; i = ds.all[i].prev {
		ds.remove(i)
	}
	if o.left == 0 {
		ds.remove(opener)
	}
	if c.left == 0 {
		next := c.next
		ds.remove(closer)
		return next
	}
	return closer
}

// remove removes delimiter i from the stack. Its own links stay, so that a walk
// can continue from it.
func (ds *delimStack) remove(i int32) {
	d := &ds.all[i]
	if d.next < 0 {
		ds.last = d.prev
	} else {
		ds.all[d.next].prev = d.prev
	}
	if d.prev >= 0 {
		ds.all[d.prev].next = d.next
	}
}

// splitMarks splits the nodes of runs that were used, so that each node is either
// marks or text.
func (p *inlineParser) splitMarks() {
	d := p.s.doc
	first := int(d.Blocks[p.block].FirstInline)
	out := p.s.buffers.nodes[:0] // the new nodes; empty until a node is split
	done := first
	for i := range p.delims.all {
		r := &p.delims.all[i]
		if r.fromStart == 0 && r.fromEnd == 0 {
			continue
		}
		n := d.Inlines[r.node]
		a, b := n.Start+int(r.fromStart), n.End-int(r.fromEnd)
		if a == n.End || b == n.Start {
			d.Inlines[r.node].Data = usedMark
			continue
		}
		if len(out) == 0 {
			out = withRoom(out, len(d.Inlines)-first+2*(len(p.delims.all)-i))
		}
		out = append(out, d.Inlines[done:r.node]...)
		done = int(r.node) + 1
		for _, part := range [...]Inline{
			{Span: Span{n.Start, a}, Kind: Text, Data: usedMark},
			{Span: Span{a, b}, Kind: Text},
			{Span: Span{b, n.End}, Kind: Text, Data: usedMark},
		} {
			if !part.Empty() {
				out = append(out, part)
			}
		}
	}
	if len(out) > 0 {
		out = append(out, d.Inlines[done:]...)
		d.Inlines = append(d.Inlines[:first], out...)
	}
	p.s.buffers.nodes = out[:0]
}
