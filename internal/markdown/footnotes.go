package markdown

import (
	"cmp"
	"slices"
	"strings"
)

// indexFootnotes builds the map of footnote labels. Of two footnotes with the same
// label, the one that ends first wins; of two that end together, the inner one.
func (s *scanner) indexFootnotes() {
	d := s.doc
	if len(d.Footnotes) == 0 {
		return
	}
	order := make([]int, len(d.Footnotes))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(d.Blocks[d.Footnotes[a].Block].Next, d.Blocks[d.Footnotes[b].Block].Next), b-a)
	})
	s.footnotes = make(map[string]int)
	for _, i := range order {
		f := &d.Footnotes[i]
		label := normalizeLabel(s.src[f.Label.Start:f.Label.End])
		if _, taken := s.footnotes[label]; taken {
			f.Shadowed = true
			continue
		}
		s.footnotes[label] = i
	}
}

// markUsed sets Definition.Used and Footnote.Used.
func (s *scanner) markUsed() {
	d := s.doc
	for i := range d.Links {
		if n := d.Links[i].Definition; n >= 0 {
			d.Definitions[n].Used = true
		}
	}
	if len(d.Footnotes) == 0 {
		return
	}
	for i := range d.Inlines {
		if d.Inlines[i].Kind == FootnoteRef {
			d.Footnotes[d.Inlines[i].Data].Used = true
		}
	}
}

// maxLabelReadings bounds how often the text of a leaf is read as labels of footnotes. Nested
// brackets make it be read once for each level.
const maxLabelReadings = 16

// footnoteRef handles brackets whose ] is at offset end, and reports whether they
// are a [^label]. As in cmark, the nodes between the brackets are dropped: without a
// definition all of it is plain text, including code spans and tags. A label with a
// line break is shortened, because cmark measures it in columns.
func (p *inlineParser) footnoteRef(b *bracket, end int) bool {
	start, pos := int(b.start), int(b.pos)
	caret := pos
	if b.image || caret >= end {
		return false
	}
	if p.text[caret] == '\\' {
		caret++
	}
	if p.text[caret] != '^' || caret+1 >= end {
		return false
	}
	if p.labelBytes += end - start; p.labelBytes > maxLabelReadings*len(p.text) {
		p.s.doc.TooDeep = true
		return false
	}
	length := max(0, (end+p.lineOffset)-(start+int(b.lineOffset))-2)
	label := Span{caret + 1, min(caret+1+length, end)}
	d := p.s.doc
	d.Inlines = d.Inlines[:b.node]
	d.Links = d.Links[:b.links]
	p.delims.process(b.delim)
	p.delims.all = p.delims.all[:b.delims]
	if i, ok := p.footnote(label, length); ok {
		p.emit(FootnoteRef, int32(i), start, end+1)
		return true
	}
	if caret > pos { // [\^label]
		p.emitText(start, pos)
		p.emit(Escape, 0, pos, label.Start)
		p.emitRaw(label.Start, label.End)
	} else {
		p.emitRaw(start, label.End)
	}
	if label.End < end {
		p.emit(Dropped, 0, label.End, end)
	}
	p.emit(Text, 0, end, end+1)
	p.mayMail = p.mayMail || strings.IndexByte(p.text[start:end], '@') >= 0
	return true
}

// footnote returns the index of the footnote with a label. length is the label's length as cmark
// measures it. If the label is shorter, as that of [\^label] is, no footnote is found.
func (p *inlineParser) footnote(label Span, length int) (int, bool) {
	if length < 1 || length > maxLabel || len(p.s.footnotes) == 0 || length != label.End-label.Start {
		return 0, false
	}
	i, ok := p.s.footnotes[normalizeLabel(p.text[label.Start:label.End])]
	return i, ok
}

// emitRaw emits the content from start to end as text in which only line breaks
// have a meaning.
func (p *inlineParser) emitRaw(start, end int) {
	first := len(p.s.doc.Inlines)
	for start < end {
		n := strings.IndexAny(p.text[start:end], "\r\n")
		if n < 0 {
			break
		}
		p.emitText(start, start+n)
		next := skipLineBreak(p.text, start+n)
		p.emitBreak(SoftBreak, start+n, min(next, end))
		start = next
	}
	p.emitText(start, end)
	for i := first; i < len(p.s.doc.Inlines); i++ {
		if n := &p.s.doc.Inlines[i]; n.Kind == Text {
			n.Data = RawText
		}
	}
}
