package sanitize

import (
	"slices"
	"strconv"
	"strings"

	"github.com/agent-airlock/airlock/internal/markdown"
)

// leaf reads a paragraph, heading or table cell.
func (p *pass) leaf(i int) {
	b := &p.doc.Blocks[i]
	if !p.mayLink(b) && !p.mayAct(b) {
		return
	}
	nodes := p.doc.ReadInlines(i)
	if len(nodes) == 0 || p.doc.TooDeep {
		return
	}
	p.simple, p.cut = len(p.doc.Definitions) == 0 && len(p.doc.Footnotes) == 0, false
	p.declared, p.linked = false, false
	p.inlines(b, nodes)
	// An address that ended at the < of a declaration may continue through the &lt; in its place.
	p.endLeaf(p.simple && !(p.declared && p.linked))
}

// inlines reads the inline nodes of a leaf.
func (p *pass) inlines(b *markdown.Block, nodes []markdown.Inline) {
	f := &p.flat
	f.reset(b.Start, b.End)
	p.anchors, p.images = p.anchors[:0], 0
	ticks, first := false, len(p.edits)
	for i := range nodes {
		n := &nodes[i]
		switch n.Kind {
		case markdown.Text:
			f.addText(p.src[n.Start:n.End], n.Start)
			p.text(b, n)
			p.simple = p.simple && n.Data != markdown.RawText
		case markdown.Backticks:
			ticks, p.simple = true, false
			f.addText(p.src[n.Start:n.End], n.Start)
		case markdown.Escape:
			f.addDecoded(p.src[n.Start+1:n.End], n.Start)
		case markdown.Entity:
			p.entity(n)
		case markdown.SoftBreak, markdown.HardBreak:
			f.addMark('\n', n.Start)
		case markdown.CodeNode:
			if p.images > 0 {
				p.codeInImage(b, n)
				continue
			}
			f.addMark(markOpaque, n.Start)
			p.separateMail(nodes[:i], n)
			p.codeSpan(b, n)
		case markdown.HTMLNode:
			p.simple = false
			if p.images > 0 {
				f.addMark(markOpaque, n.Start)
				p.show(n.Start, "image") // the alternative text then shows the tag
				continue
			}
			p.inlineHTML(b, n)
		case markdown.LinkOpen:
			p.simple = p.simple && !p.doc.Links[n.Data].Image
			p.linkOpen(n)
		case markdown.LinkClose:
			f.addMark(markTag, n.Start)
			if p.doc.Links[n.Data].Image {
				p.images--
			}
		case markdown.Autolink:
			p.linked = true
			p.autolink(n)
		case markdown.Dropped:
			p.simple = false
			if i > 0 && nodes[i-1].Kind == markdown.Escape { // the label begins with `[\^`
				p.labelStart = nodes[i-1].Start - 1
			}
			// The dropped text is the end of a label. Escaping the label's bracket shows the text.
			p.edit(p.labelStart, p.labelStart, `\`, RuleHiddenText, "footnote")
		case markdown.FootnoteRef: // shown as a number
			p.simple = false
			f.addMark(markTag, n.Start)
			f.addDecoded("1", n.Start)
			f.addMark(markTag, n.End)
		}
	}
	if ticks && p.escapeBackticks(nodes, first) {
		return
	}
	p.closeAnchors()
	p.formulas(b.Start, b.End)
	p.escapeFootnotes(b)
	p.escapeDefinition(b, nodes)
	p.match(nodes[len(nodes)-1].End)
}

// mayLink reports whether a leaf may contain a link to a definition. mayAct does not see such a
// link, because none of its bytes has to be a trigger.
func (p *pass) mayLink(b *markdown.Block) bool {
	return (len(p.doc.Definitions) > 0 || len(p.doc.Footnotes) > 0) &&
		slices.ContainsFunc(p.doc.InlinesOf(b), func(n markdown.Inline) bool { return n.Kind == markdown.LinkOpen })
}

// mayAct reports quickly whether a leaf contains anything to look at. It must be called for the
// leaves in source order.
func (p *pass) mayAct(b *markdown.Block) bool {
	from := b.Start
	if p.calm.start <= from && from <= p.calm.end {
		from = p.calm.end
	} else {
		p.calm.start = from
	}
	if from < b.End {
		from = firstTrigger(p.src, from, b.End)
	}
	p.calm.end = from
	return from < b.End
}

// text edits text that readers other than GitHub may take for something else. After the edits, all
// of them take it for text.
func (p *pass) text(b *markdown.Block, n *markdown.Inline) {
	p.showDeclarations(n)
	switch {
	case n.Data == markdown.RawText:
		p.rawLabel(n)
	case p.src[n.Start] == ']':
		// GitHub sees no link here. After an edit, such as a redaction in the place of a title,
		// it might take what follows for a destination in angle brackets.
		rest, ok := strings.CutPrefix(p.src[n.Start:max(n.Start, b.End)], "](")
		p.simple = p.simple && !ok
		if ok && strings.HasPrefix(strings.TrimLeft(rest, " \t\n>"), "<") {
			p.edit(n.Start, n.Start, `\`, RuleLinks, "bracket")
		}
	}
}

// showDeclarations escapes "<!", "<?" and "</" in text, and the < of the tags that beginsNewerBlock
// knows: versions of CommonMark disagree about which of them begin a declaration, comment, tag or
// block.
func (p *pass) showDeclarations(n *markdown.Inline) {
	for i := n.Start; ; i++ {
		k := strings.IndexByte(p.src[i:n.End], '<')
		if k < 0 || i+k+1 >= len(p.src) {
			return
		}
		i += k
		switch c := p.src[i+1]; {
		case c == '!', c == '?', c == '/':
			p.quietEdit(i, i+1, "&lt;", RuleHTML, "declaration")
			p.declared = true
		case beginsNewerBlock(p.src[i+1:]):
			p.edit(i, i+1, "&lt;", RuleHTML, "tag")
		case isAlpha(c):
			p.simple = false // without what an edit replaces, this may begin a tag
		}
	}
}

// beginsNewerBlock reports whether s, after a < at the start of a line, begins a block of HTML only
// in later versions of CommonMark than GitHub's.
func beginsNewerBlock(s string) bool {
	for _, name := range [...]string{"textarea", "search"} {
		if len(s) >= len(name) && strings.EqualFold(s[:len(name)], name) {
			return true
		}
	}
	return false
}

// rawLabel handles the label of a reference to a footnote that does not exist.
// GitHub shows it as it is written. A label that may be read as something else is escaped, so that
// all readers show it so.
func (p *pass) rawLabel(n *markdown.Inline) {
	label := p.src[n.Start:n.End]
	start, caret := n.Start, strings.HasPrefix(label, "[^")
	if caret || strings.HasSuffix(p.src[:n.Start], `[\^`) {
		p.labelStart = n.Start
		if !caret {
			p.labelStart -= len(`[\^`)
		}
	}
	if caret {
		label, start = label[len("[^"):], start+len("[^")
	}
	if strings.ContainsAny(label, "&\\`<@#[") || strings.Contains(label, "://") {
		p.edit(p.labelStart, p.labelStart, `\`, RuleHiddenText, "footnote")
		p.edit(start, n.End, literalText(label), "", "")
	}
}

// entity handles a character reference.
func (p *pass) entity(n *markdown.Inline) {
	source := p.src[n.Start:n.End]
	if source == ourZWSP {
		p.flat.addMark(markZWSP, n.Start)
		return
	}
	text, _ := markdown.DecodeEntity(source)
	if ok, detail := p.flat.addReference(source, text, n.Start); !ok {
		p.edit(n.Start, n.End, p.lineGuard(n.Start, n.End), RuleCharacters, detail)
		return
	}
	const longest = len("&#1234567;") // GitHub decodes more digits than CommonMark allows
	if len(source) > longest && source[1] == '#' {
		for _, r := range text {
			p.edit(n.Start, n.End, "&#"+strconv.Itoa(int(r))+";", RuleCharacters, "reference")
		}
	}
}

// codeSpan joins the lines of a code span if it contains anything that could act, or if a line
// begins like a block, because readers disagree about such a span. The joined span looks the same.
func (p *pass) codeSpan(b *markdown.Block, n *markdown.Inline) {
	code := p.src[n.Start:n.End]
	if !strings.Contains(code, "\n") {
		return
	}
	p.longCodes = append(p.longCodes, span{n.Start, n.End})
	text := p.doc.Literal(b, n.Span)
	if needsReading(code) || marksLines(text) {
		p.edit(n.Start, n.End, strings.ReplaceAll(text, "\n", " "), RuleCode, "lines")
	}
}

// separateMail handles a code span that begins like the end of an e-mail address, as in
// "a`b@host.example`". Some readers take the word before the span, together with the span, for an
// address, and see no code. A character reference in the word, or a space, separates the two. Other
// code and addresses in the word stay as they are.
func (p *pass) separateMail(before []markdown.Inline, n *markdown.Inline) {
	code := p.src[n.Start:n.End]
	k := 0
	for k < len(code) && markdown.IsEmailByte(code[k]) {
		k++
	}
	if k == len(code) || code[k] != '@' || !beginsDottedHost(code[k+1:]) {
		return
	}
	const longest = 64 // of what precedes the @ in an address
	from, last, inMail := n.Start, -1, false
	for from > max(0, n.Start-longest) && markdown.IsEmailByte(p.src[from-1]) {
		from--
		for len(before) > 0 && before[len(before)-1].Start > from {
			before = before[:len(before)-1]
		}
		if last >= 0 || !isAlnum(p.src[from]) || len(before) == 0 {
			continue
		}
		if node := before[len(before)-1]; node.Kind != markdown.CodeNode {
			last, inMail = from, node.Kind == markdown.Autolink && p.doc.Links[node.Data].Kind == markdown.BareEmail
		}
	}
	switch word := p.src[from:n.Start]; {
	case last < 0, inMail && strings.IndexByte(word, '_') < 0:
		// There is nothing to separate. A _ could be a mark of emphasis that ends the address.
	case inMail, strings.Contains(word, "//"), containsWWW(word):
		p.edit(n.Start, n.Start, " ", RuleCode, "address") // a reference would change the address
	default:
		p.edit(last, last+1, reference(rune(p.src[last])), RuleCode, "address")
	}
}

// beginsDottedHost reports whether the host at the start of s contains a dot, as the host of an e-mail
// address must.
func beginsDottedHost(s string) bool {
	for i := 0; i < len(s) && (isNameByte(s[i]) || s[i] == '.'); i++ {
		if s[i] == '.' {
			return true
		}
	}
	return false
}

// codeInImage turns a code span in an image's alternative text into text, unless it is one
// word.
func (p *pass) codeInImage(b *markdown.Block, n *markdown.Inline) {
	code := p.doc.CodeText(b, n)
	p.flat.addDecoded(code, n.Start)
	if strings.ContainsFunc(code, func(r rune) bool { return r >= 0x80 || !isAlnum(byte(r)) }) {
		p.edit(n.Start, n.End, literalText(code), RuleCode, "image")
	}
}

// marksLines reports whether a line of a text, except for the first, begins with anything but a
// word.
func marksLines(text string) bool {
	_, rest, ok := strings.Cut(text, "\n")
	for ; ok; _, rest, ok = strings.Cut(rest, "\n") {
		if rest == "" || rest[0] < 0x80 && !isAlpha(rest[0]) {
			return true
		}
	}
	return false
}

// maxLabel is how many bytes of a label are read; the specification allows 999 characters.
const maxLabel = 1000

// escapeDefinition escapes the bracket at the start of a paragraph or cell that other renderers,
// but not GitHub, take for a link reference definition. If GitHub sees a link there, it escapes the
// colon after the label instead.
func (p *pass) escapeDefinition(b *markdown.Block, nodes []markdown.Inline) {
	if b.Kind == markdown.HeadingBlock || b.PieceCount == 0 {
		return
	}
	piece := p.doc.PiecesOf(b)[0]
	if p.src[piece.Start] != '[' || nodes[0].Kind == markdown.FootnoteRef {
		return
	}
	end := min(piece.End, piece.Start+maxLabel)
	for k := piece.Start + 1; k < end; k++ {
		switch p.src[k] {
		case '\\':
			k++
		case ']':
			if k+1 == end || p.src[k+1] != ':' {
				return
			}
			if nodes[0].Kind != markdown.LinkOpen {
				p.edit(piece.Start, piece.Start, `\`, RuleHiddenText, "definition")
			} else if beginsDestination(p.src[k+2 : piece.End]) {
				p.edit(k+1, k+2, reference(':'), RuleHiddenText, "definition") // it stays a link
			}
			return
		}
	}
}

// escapeFootnotes escapes the brackets at the start of lines that other renderers take for the
// definitions of footnotes. The first line of a leaf counts only in an underlined heading.
func (p *pass) escapeFootnotes(b *markdown.Block) {
	for i, piece := range p.doc.PiecesOf(b) {
		for start := piece.Start; start < piece.End; start = indexFrom(p.src[:piece.End], "\n", start) + 1 {
			line := strings.TrimLeft(p.src[start:piece.End], " \t")
			if !strings.HasPrefix(line, "[") {
				continue
			}
			p.simple = p.simple && !p.cut           // without a link in its label this may be a definition
			first := i == 0 && start == piece.Start // escapeDefinition handles it, but not in a heading
			if (!first || b.Kind == markdown.HeadingBlock && p.src[b.Start] != '#') && definesFootnote(line) {
				k := piece.End - len(line)
				p.edit(k, k, `\`, RuleHiddenText, "footnote")
			}
		}
	}
}

// definesFootnote reports whether a line of a paragraph begins like the definition of a footnote.
// GitHub has then not taken it for one, because of blanks in its label, for example.
func definesFootnote(line string) bool {
	if !strings.HasPrefix(line, "[^") {
		return false
	}
	for k := len("[^"); k+1 < min(len(line), maxLabel); k++ {
		switch line[k] {
		case '\\':
			k++
		case '[', '\n':
			return false
		case ']':
			return line[k+1] == ':'
		}
	}
	return false
}

// beginsDestination reports whether s, after the colon of a definition, begins
// like a destination and, perhaps, a title.
func beginsDestination(s string) bool {
	s = strings.TrimLeft(s, " \t\n")
	s = strings.TrimLeft(s[indexAnyOrLen(s, " \t\n"):], " \t")
	return s == "" || strings.IndexByte("\n\"'(", s[0]) >= 0
}

// escapeBackticks escapes the runs of backticks in a leaf that begin no code span to
// GitHub. Readers disagree about the code after such a run, because cmark's search
// for the closing run is faulty.
//
// If the leaf has code, and some runs are lone by the specification too, only these runs are
// escaped now. Then the other edits of the leaf, from index first on, are dropped and again is
// true, because only the next reading knows what is code.
func (p *pass) escapeBackticks(nodes []markdown.Inline, first int) (again bool) {
	lone, hasCode := p.loneRuns(nodes)
	isLone := func(n *markdown.Inline) bool {
		_, found := slices.BinarySearch(lone, n.Start)
		return found
	}
	hasLone := false
	for i := range nodes {
		switch n := &nodes[i]; {
		case n.Kind != markdown.Backticks:
		case isLone(n):
			hasLone = true
		default:
			hasCode = true // to readers that follow the specification
		}
	}
	again = hasCode && hasLone
	if again {
		p.edits = p.edits[:first]
	}
	for i := range nodes {
		n := &nodes[i]
		if n.Kind != markdown.Backticks || again && !isLone(n) {
			continue
		}
		for k := n.Start; k < n.End; k++ {
			p.edit(k, k, `\`, RuleCode, "backticks")
		}
	}
	return again
}

// loneRuns returns the offsets, in order, of the runs of backticks that have no partner by
// the specification: a run opens a code span up to the next run of the same
// length. hasCode reports whether the leaf has a code span.
func (p *pass) loneRuns(nodes []markdown.Inline) (lone []int, hasCode bool) {
	runs := p.tickRuns[:0]
	for i := range nodes {
		n := &nodes[i]
		if n.Kind == markdown.CodeNode {
			hasCode = true
		} else if n.Kind != markdown.Backticks {
			continue
		}
		for k := n.Start; k < n.End; k++ {
			if p.src[k] == '`' {
				start := k
				for k < n.End && p.src[k] == '`' {
					k++
				}
				runs = append(markdown.Grown(runs, i, len(nodes)), tickRun{start: int32(start), length: int32(k - start)})
			}
		}
	}
	p.tickRuns = runs
	const short = 64
	var next [short]int32 // the next run, by length
	nextLong := map[int32]int32{}
	for i := len(runs) - 1; i >= 0; i-- {
		r := &runs[i]
		if r.length < short {
			r.partner, next[r.length] = next[r.length], int32(i)
		} else {
			r.partner, nextLong[r.length] = nextLong[r.length], int32(i)
		}
	}
	for i := 0; i < len(runs); i++ {
		if partner := int(runs[i].partner); partner > i {
			i = partner
		} else {
			lone = append(markdown.Grown(lone, i, len(runs)), int(runs[i].start))
		}
	}
	return lone, hasCode
}

// tickRun is a run of backticks.
type tickRun struct {
	start, length int32
	partner       int32 // index of the next run of the same length, 0 if there is none
}
