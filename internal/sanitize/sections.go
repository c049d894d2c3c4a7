package sanitize

import (
	"math"
	"slices"
	"sort"
	"strings"

	"github.com/agent-airlock/airlock/internal/markdown"
)

// sections divides a body into sections, so that after edits only a part has to be read again.
// An edit may change how the text around it is read, but seldom far away: most sections are read
// alike whatever the others say. So only the edited sections are read again, joined to a text of
// their own, the excerpt.
//
// A reading of the excerpt replaces one of the body only under the following conditions. If one of
// them is not met, the body itself is read:
//
//   - Each section begins with a line that begins the same block whatever is before it, except
//     in code or HTML that is still open (beginsSection), and neither is open there.
//   - Between two sections, no element is open on which the elements in it depend.
//   - Links find the same definitions: the excerpt has all sections that contain a
//     definition, with their neighbours, and all that refer to one, and the definitions
//     that were found are unchanged. There are no footnotes.
//   - No rule depended on all of the body (isLocal), or on a neighbour that a section has
//     in the body only (readsLine, readsBlock).
//   - Only edited sections need edits again.
//
// TestExcerpts asserts that both ways of reading have the same result.
type sections struct {
	list []section
	// found has the label and the address of each definition that links found in the
	// last reading.
	found []string
	names int // bytes of the names that were judged in all readings of the body

	parts     []part // of the excerpt, nil while the body is being read
	memory    []part // the array of parts, which the next excerpt uses again
	current   int    // the index of the part that is being read
	uncertain bool   // the reading does not stand for one of the body
}

// section is a piece of the body, up to where the next one starts.
type section struct {
	start  int
	edited bool // it has to be read again
	linked bool // definitions make it a part of each excerpt
}

// part is where a section is in the excerpt.
type part struct{ section, start, end int }

// beginsSection reports whether a section may begin with the line at an offset: it begins
// with no blank or quote mark, so that it continues no container, and it follows an empty
// line, or is a heading or a list item with words.
func beginsSection(s string, at int) bool {
	switch {
	case at == 0:
		return true
	case at >= len(s) || s[at-1] != '\n' || s[at] == ' ' || s[at] == '\t' || s[at] == '\n' || s[at] == '>':
		return false
	case at >= 2 && s[at-2] == '\n':
		return true
	}
	const most = len("###### ")
	line := s[at:min(len(s), at+most)]
	switch line[0] {
	case '#':
		text := strings.TrimLeft(line, "#")
		return text != "" && text[0] == ' '
	case '-', '*', '+':
		return len(line) >= 3 && line[1] == ' ' && (isAlnum(line[2]) || line[2] == '[' || line[2] == '`')
	}
	return false
}

// beginBlock notes block i, before the rules look at it: it may begin a section.
func (p *pass) beginBlock(i int) {
	l, b := &p.sections, &p.doc.Blocks[i]
	if b.Parent >= 0 {
		return
	}
	switch {
	case l.parts != nil:
		if next := l.nextPart(); b.Start >= next {
			p.endPart(i)
			l.uncertain = l.uncertain || b.Start > next
			l.current++
		}
	case len(l.list) == 0:
		l.list = append(l.list, section{})
	case p.isNeutral() && beginsSection(p.src, b.Start):
		l.list = append(markdown.Grown(l.list, b.Start, len(p.src)), section{start: b.Start})
	}
}

// nextPart returns where the next part of the excerpt starts.
func (l *sections) nextPart() int {
	if l.current+1 < len(l.parts) {
		return l.parts[l.current+1].start
	}
	return math.MaxInt
}

// endPart checks that nothing continues after the current part of the excerpt, whose last
// block precedes block i.
func (p *pass) endPart(i int) {
	l := &p.sections
	if i > 0 {
		switch b := &p.doc.Blocks[i-1]; {
		case b.Depth > 0:
		case b.Kind == markdown.FencedCodeBlock, b.Kind == markdown.HTMLBlock && b.Data <= 5:
			l.uncertain = l.uncertain || !b.Closed
		case b.Kind == markdown.HTMLBlock: // ends with an empty line
			p.readsLine(b.Start, b.End+1)
		}
	}
	l.uncertain = l.uncertain || !p.isNeutral()
}

// isNeutral reports whether no open element affects the text after it.
func (p *pass) isNeutral() bool {
	return p.small == [3]int{} && p.open == 0
}

// readsLine notes that a rule for the block at one offset reads the line at another offset. A
// reading of the excerpt is uncertain if the line is in another section.
func (p *pass) readsLine(block, line int) {
	if l := &p.sections; l.parts != nil {
		part := &l.parts[l.partAt(block)]
		l.uncertain = l.uncertain || line < part.start || line >= part.end
	}
}

// readsBlock notes that a rule for the block at an offset depends on its neighbour, the block at
// another offset. A reading of the excerpt is uncertain unless the sections of both blocks are
// neighbours in the body, too.
func (p *pass) readsBlock(block, neighbour int) {
	l := &p.sections
	if l.parts == nil {
		return
	}
	i, k := l.partAt(block), l.partAt(neighbour)
	here := l.parts[i].section
	switch {
	case neighbour >= len(p.src): // there is none
		l.uncertain = l.uncertain || here+1 < len(l.list)
	case k < 0:
		l.uncertain = l.uncertain || here > 0
	case i != k:
		distance := here - l.parts[k].section
		l.uncertain = l.uncertain || distance > 1 || distance < -1
	}
}

// partAt returns the index of the part that contains an offset of the excerpt.
func (l *sections) partAt(offset int) int {
	return sort.Search(len(l.parts), func(i int) bool { return l.parts[i].start > offset }) - 1
}

// isLocal reports whether no rule depended on all of the body.
func (p *pass) isLocal() bool {
	asked := p.direction.rest != p.src
	return len(p.doc.Footnotes) == 0 && !asked && p.sections.names <= freeNames &&
		(p.s.maxClosing == 0 || p.closed == 0) && len(p.mentioned) == 0
}

// definitions returns the label and the address of each definition that links can find;
// with usedOnly, only of those that links have found.
func (p *pass) definitions(usedOnly bool) (list []string) {
	for i := range p.doc.Definitions {
		d := &p.doc.Definitions[i]
		if !d.Shadowed && (d.Used || !usedOnly) {
			list = append(list, p.src[d.Label.Start:d.Label.End], p.src[d.Dest.Start:d.Dest.End])
		}
	}
	return list
}

// readBody reads all of the body. The value of calm is how many bytes at its beginning
// trigger nothing.
func (p *pass) readBody(s *Sanitizer, body string, calm int) {
	l := &p.sections
	l.list, l.names, l.parts = l.list[:0], 0, nil
	p.read(s, body, calm)
	if len(p.edits) == 0 || !p.isLocal() {
		l.list = l.list[:0]
		return
	}
	if l.found = p.definitions(true); len(p.doc.Definitions) == 0 {
		return
	}
	sectionOf := func(offset int) int {
		return sort.Search(len(l.list), func(i int) bool { return l.list[i].start > offset }) - 1
	}
	for i := range p.doc.Definitions {
		k := sectionOf(p.doc.Definitions[i].Start)
		for n := max(k-1, 0); n <= min(k+1, len(l.list)-1); n++ {
			l.list[n].linked = true
		}
	}
	for i := range p.doc.Links {
		if link := &p.doc.Links[i]; link.Definition >= 0 {
			l.list[sectionOf(link.Start)].linked = true
		}
	}
}

// follow moves the sections to where they are in the body that results from the plan, whose
// edits are in order and do not overlap. A section with an edit that is not quiet counts
// as edited. One that no longer begins as a section becomes a part of the one before.
func (l *sections) follow(made *plan, body string) {
	edits, kept, shift := made.edits, l.list[:0], 0
	for i, s := range l.list {
		intact := true
		for len(edits) > 0 && int(edits[0].start) < s.start {
			e := &edits[0]
			intact = intact && int(e.end) <= s.start
			shift += len(made.textOf(e)) - int(e.end-e.start)
			edits = edits[1:]
		}
		s.edited = false
		for k := 0; k < len(edits) && (i+1 == len(l.list) || int(edits[k].start) < l.list[i+1].start); k++ {
			s.edited = s.edited || !edits[k].quiet
		}
		s.start += shift
		if len(kept) > 0 && !(intact && beginsSection(body, s.start)) {
			before := &kept[len(kept)-1]
			before.edited, before.linked = true, before.linked || s.linked
			continue
		}
		kept = append(kept, s)
	}
	l.list = kept
}

// readExcerpt reads the edited sections of the body again, and reports whether that is as good as a
// reading of all of it. The edits are then edits of the body.
func (p *pass) readExcerpt(s *Sanitizer, body string) bool {
	l := &p.sections
	excerpt, ok := l.extract(body)
	if !ok {
		return false
	}
	l.uncertain, l.current = false, 0
	p.read(s, excerpt, 0)
	p.endPart(len(p.doc.Blocks))
	if l.uncertain || l.current+1 < len(l.parts) || !p.isLocal() || !slices.Equal(l.found, p.definitions(false)) {
		return false
	}
	l.found = p.definitions(true)
	p.settle()
	return l.moveToBody(p.edits)
}

// extract joins the sections that have to be read again. It returns false if there are
// none, or if they are most of the body.
func (l *sections) extract(body string) (excerpt string, ok bool) {
	end := func(i int) int {
		if i+1 < len(l.list) {
			return l.list[i+1].start
		}
		return len(body)
	}
	parts, size := l.memory[:0], 0
	for i := range l.list {
		if s := &l.list[i]; s.edited || s.linked {
			n := end(i) - s.start
			parts = append(parts, part{i, size, size + n})
			size += n + len("\n")
		}
	}
	l.memory = parts[:0]
	if len(parts) == 0 || size > len(body)-len(body)/4 {
		return "", false
	}
	var b strings.Builder
	b.Grow(size)
	for i := range parts {
		b.WriteString(body[l.list[parts[i].section].start:end(parts[i].section)])
		b.WriteByte('\n') // so that what follows follows an empty line
	}
	l.parts = parts
	return b.String(), true
}

// moveToBody moves the edits, which are in order, from the excerpt to the body. It returns
// false if one of them is not in an edited section.
func (l *sections) moveToBody(edits []edit) bool {
	l.current = 0
	for k := range edits {
		e := &edits[k]
		for int(e.start) >= l.nextPart() {
			l.current++
		}
		part := &l.parts[l.current]
		s := &l.list[part.section]
		if !s.edited || int(e.end) > part.end {
			return false
		}
		shift := int32(s.start - part.start)
		e.start, e.end = e.start+shift, e.end+shift
	}
	return true
}
