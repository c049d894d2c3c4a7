package sanitize

import (
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/agent-airlock/airlock/internal/markdown"
)

// htmlBlock reads the block of raw HTML with index i by a browser's rules.
func (p *pass) htmlBlock(i int) {
	b := &p.doc.Blocks[i]
	pieces := p.doc.PiecesOf(b)
	if len(pieces) == 0 {
		return
	}
	first := len(p.edits)
	p.flat.reset(b.Start, b.End)
	p.flat.isHTML = true
	p.anchors, p.shown = p.anchors[:0], p.shown[:0]
	p.untilEmptyLine = b.Data >= 6
	if b.Data == 7 && p.mayContinueText(i) {
		start := lineStart(p.src, b.Start)
		p.edit(start, start, p.quoteMarks(b.Start)+"\n", RuleHTML, "line")
	}
	if len(pieces) == 1 && pieces[0].Pad == 0 {
		p.html(&htmlText{text: p.src[pieces[0].Start:pieces[0].End], first: pieces[0].Start})
	} else {
		p.html(joinPieces(p.src, pieces))
	}
	p.closeAnchors()
	if b.Data == 6 {
		p.untab(b.Start + len("<"))
	}
	inText := len(p.edits) // the index of the first edit that is not about a tag
	p.formulas(b.Start, b.End)
	p.match(pieces[len(pieces)-1].End)
	if inText > first && int(p.edits[first].start) <= b.Start { // the block's opening goes
		p.edits = append(p.edits[:inText], slices.DeleteFunc(p.edits[inText:], p.isOutsideShown)...)
	}
	p.endLeaf(false)
	if b.Data == 7 && strings.HasPrefix(p.src[b.Start:], "</pre") && needsReading(p.src[b.Start+len("</"):b.End]) {
		p.show(b.Start, "pre") // no block begins here in later versions of CommonMark
	}
	p.untilEmptyLine = false
	p.separateBlock(i, p.edits[first:])
}

// isOutsideShown reports whether an edit is outside of those tags of a block of HTML that were made
// text. If the block loses its opening, the rest of it becomes Markdown. The next reading judges
// this Markdown, and leaves code and the text of links as they are.
func (p *pass) isOutsideShown(e edit) bool {
	i := sort.Search(len(p.shown), func(i int) bool { return p.shown[i].end > int(e.start) })
	return i == len(p.shown) || int(e.start) < p.shown[i].start
}

// mayContinueText reports whether readers other than GitHub may see no block in HTML block i, of
// kind 7, because its first line continues a paragraph of a container, or a table.
func (p *pass) mayContinueText(i int) bool {
	if i == 0 {
		return false
	}
	switch p.doc.Blocks[i-1].Kind {
	case markdown.ParagraphBlock, markdown.CellBlock, markdown.DefinitionBlock:
		end := lineStart(p.src, p.doc.Blocks[i].Start) - 1
		return end > 0 && strings.Trim(p.src[lineStart(p.src, end):end], " \t>") != ""
	}
	return false
}

// untab writes a space for a tab after a tag's name, which begins at the offset start. With the
// tab some readers see no block of HTML, but Markdown.
func (p *pass) untab(start int) {
	end := start
	for end < len(p.src) && (isAlnum(p.src[end]) || p.src[end] == '/') {
		end++
	}
	if end < len(p.src) && p.src[end] == '\t' {
		p.edit(end, end+1, " ", RuleHTML, "tab")
	}
}

// htmlText is the text of a tag or of a block of HTML, which knows where it is in the source.
type htmlText struct {
	text  string
	first int // the source offset of the text, if it is contiguous there

	pieces []markdown.Piece // of a text that is not contiguous
	starts []int            // the offset in text of each piece
}

// joinPieces returns the text of several pieces.
func joinPieces(src string, pieces []markdown.Piece) *htmlText {
	var b strings.Builder
	starts := make([]int, 0, len(pieces))
	for _, piece := range pieces {
		starts = append(starts, b.Len())
		b.WriteString(strings.Repeat(" ", piece.Pad))
		b.WriteString(src[piece.Start:piece.End])
	}
	return &htmlText{text: b.String(), pieces: pieces, starts: starts}
}

// source returns the source offset of the byte at offset k.
func (h *htmlText) source(k int) int {
	if h.pieces == nil {
		return h.first + k
	}
	i := sort.SearchInts(h.starts, k+1) - 1
	return h.pieces[i].Start + max(0, k-h.starts[i]-h.pieces[i].Pad)
}

// inlineHTML reads a raw tag or comment in a leaf.
func (p *pass) inlineHTML(b *markdown.Block, n *markdown.Inline) {
	text := p.doc.Literal(b, n.Span)
	switch {
	case len(text) == n.End-n.Start:
		p.html(&htmlText{text: text, first: n.Start})
		if strings.Contains(text, "\n") {
			p.longTags = append(p.longTags, span{n.Start, n.End})
		}
	// The tag spans several lines in a container.
	case strings.HasPrefix(text, "<!--"):
		p.edit(n.Start, n.End, "", RuleHTML, "comment")
	default: // join the lines of the tag first; the next round judges it
		p.flat.addMark(markTag, n.Start)
		p.edit(n.Start, n.End, strings.ReplaceAll(text, "\n", " "), "", "")
	}
}

// html reads HTML text.
func (p *pass) html(h *htmlText) {
	text := h.text
	lastGT := strings.LastIndexByte(text, '>')
	undecided := 0     // a tag that begins before this offset does not end
	noComment := false // a comment that begins from here on does not end
	for k := 0; k < len(text); {
		j := strings.IndexByte(text[k:], '<')
		if j < 0 {
			j = len(text) - k
		}
		if j > 0 {
			p.addHTML(h, k, k+j)
			k += j
			continue
		}
		switch {
		case strings.HasPrefix(text[k:], "<!--"):
			end := -1
			if !noComment {
				end = markdown.CommentEnd(text, k)
				noComment = end < 0
			}
			if end >= 0 {
				p.comment(h.source(k), h.source(end-1)+1)
				k = end
				continue
			}
			p.show(h.source(k), "comment")
		case markdown.IsTagStart(text, k):
			if k < undecided || k > lastGT {
				p.show(h.source(k), "tag")
				break
			}
			tag, stop, ok := markdown.ParseTag(text, k, p.attrs)
			p.attrs = tag.Attributes
			if !ok {
				undecided = stop
				p.show(h.source(k), tag.Name)
				break
			}
			p.flat.addMark(markTag, h.source(k))
			if p.tag(&tag, h) {
				p.flat.readTag(tag.Name, tag.Closing)
				k = tag.End
			} else {
				p.shown = append(p.shown, span{h.source(k), h.source(tag.End-1) + 1})
				k++
			}
			continue
		case k+1 < len(text) && (text[k+1] == '!' || text[k+1] == '?' || text[k+1] == '/'):
			p.show(h.source(k), "declaration")
		}
		p.flat.addText(text[k:k+1], h.source(k))
		k++
	}
}

// comment removes a comment. In a block of HTML that an empty line would end, it
// also removes the line, if the line contains nothing else.
func (p *pass) comment(start, end int) {
	if p.untilEmptyLine {
		line, next := start, end
		for line > 0 && strings.IndexByte(" \t>", p.src[line-1]) >= 0 {
			line--
		}
		for next < len(p.src) && (p.src[next] == ' ' || p.src[next] == '\t') {
			next++
		}
		if line > 0 && p.src[line-1] == '\n' && next < len(p.src) && p.src[next] == '\n' {
			p.edit(line, next+1, "", RuleHTML, "comment")
			return
		}
	}
	text := p.lineGuard(start, end)
	if text == "" && start > 0 && end < len(p.src) && p.src[start-1] == '`' && p.src[end] == '`' {
		text = " " // otherwise two runs of backticks would become one
	}
	p.edit(start, end, text, RuleHTML, "comment")
}

// show makes the < at a source offset literal, so that its tag is shown as text.
func (p *pass) show(offset int, detail string) {
	p.edit(offset, offset+1, "&lt;", RuleHTML, detail)
}

// addHTML adds the text between tags, from start to end, to the flat text, decoded as browsers
// do. It removes the references that must not stay.
func (p *pass) addHTML(h *htmlText, start, end int) {
	for k := start; k < end; {
		next := end
		if j := strings.IndexByte(h.text[k:end], '&'); j >= 0 {
			next = k + j
		}
		if next > k {
			p.addLines(h, k, next)
		}
		if k = next; k == end {
			return
		}
		decoded, size := browserEntity(h.text[k:end])
		if size == 0 {
			p.flat.addText(h.text[k:k+1], h.source(k))
			k++
			continue
		}
		from, to := h.source(k), h.source(k+size-1)+1
		if ok, detail := p.flat.addReference(h.text[k:k+size], decoded, from); !ok {
			p.edit(from, to, "", RuleCharacters, detail)
		}
		k += size
	}
}

// addLines adds literal text, from start to end, to the flat text.
func (p *pass) addLines(h *htmlText, start, end int) {
	if h.pieces == nil {
		p.flat.addText(h.text[start:end], h.source(start))
		return
	}
	for start < end { // line by line, because in the source these may not follow each other directly
		next := start + 1
		if next < end && h.source(start) == h.source(next) { // padding for a tab
			p.flat.addDecoded(h.text[start:next], h.source(start))
		} else {
			next = end
			if n := strings.IndexByte(h.text[start:end], '\n'); n >= 0 {
				next = start + n + 1
			}
			p.flat.addText(h.text[start:next], h.source(start))
		}
		start = next
	}
}

// tag judges one tag. It returns false if the tag is made text.
func (p *pass) tag(t *markdown.Tag, h *htmlText) bool {
	start, end := h.source(t.Start), h.source(t.End-1)+1
	if t.Closing {
		return p.endTag(t, start, end)
	}
	contiguous := end-start == t.End-t.Start
	unsafe := !safeElement(t.Name) || !contiguous && len(t.Attributes) > 0 || t.Name == "rp" && !onlyBrackets(p.src[end:])
	if unsafe || p.tooSmall(t.Name) {
		p.show(start, t.Name)
		return p.opened(t.Name, true)
	}
	if !contiguous {
		return p.opened(t.Name, false)
	}
	edits := len(p.edits)
	p.named = p.named[:0]
	for i := range t.Attributes {
		if v := p.attribute(t, i, start-t.Start); !v.allowed {
			p.edits = p.edits[:edits]
			return p.deniedTag(t, start, end, v)
		}
	}
	switch t.Name {
	case "a":
		p.closeAnchors()
	case "img":
		p.altText(t, h)
	}
	return p.opened(t.Name, false)
}

// attribute judges attribute i of a tag. It removes an attribute that must not stay, but only
// returns the verdict about the address of a link or an image. An offset in the tag's text, plus
// shift, is an offset in the source.
func (p *pass) attribute(t *markdown.Tag, i, shift int) verdict {
	a := &t.Attributes[i]
	drop := func(rule, detail string) verdict {
		from := a.Start + shift
		for from > t.Start+shift && isURLBlank(rune(p.src[from-1])) {
			from--
		}
		p.edit(from, a.End+shift, "", rule, detail)
		a.Value = ""
		return verdict{allowed: true}
	}
	rule := ruleOf(t.Name, a.Name)
	if rule == attrUnknown || slices.Contains(p.named, a.Name) {
		return drop(RuleHTML, "attribute")
	}
	p.named = append(p.named, a.Name)
	value := decodeHTML(a.Value)
	if hasStray(value) {
		return drop(RuleCharacters, "invisible")
	}
	switch rule {
	case attrHidden:
		return drop(RuleHiddenText, a.Name)
	case attrExpansion:
		if !expands(value, p.contentOf(t.Name, t.End+shift)) {
			return drop(RuleHiddenText, a.Name)
		}
	case attrURL:
		hasReferences := value != a.Value
		if trimmed := trimURL(value); trimmed != value && !hasReferences {
			// Write the address as browsers read it. One with references stays as it is, because its
			// characters, such as quotes, would need references again.
			from := shift + a.ValueStart
			p.edit(from, from+len(a.Value), trimmed, "", "")
			value = trimmed
		}
		if t.Name == "a" && isIssueURL(value) {
			p.flat.text[len(p.flat.text)-1] = markIssue // in place of the tag's own mark
		}
		return p.judge(value)
	case attrSet:
		if v := p.s.judgeSet(value); !v.allowed {
			return v
		}
		if !isImageSet(value) {
			return drop(RuleHiddenText, a.Name)
		}
	default:
		if !rule.hasGrammar(value) {
			return drop(RuleHiddenText, a.Name)
		}
	}
	switch {
	case rule == attrAlt && value != "" && isTiny(t), rule == attrToken && !p.mayName(value):
		return drop(RuleHiddenText, a.Name)
	case rule == attrCite:
		if v := p.judge(value); !v.allowed {
			return drop(RuleLinks, v.detail)
		}
	}
	return verdict{allowed: true}
}

// isTiny reports whether an image is so small that nobody sees it. Browsers know no unit
// in these attributes but the percent sign, and ignore what follows a number.
func isTiny(t *markdown.Tag) bool {
	for i := range t.Attributes {
		a := &t.Attributes[i]
		if a.Name != "width" && a.Name != "height" {
			continue
		}
		value := strings.TrimLeft(strings.TrimSpace(decodeHTML(a.Value)), "+")
		rest := strings.TrimLeft(value, "0123456789.")
		visible := 8.0 // pixels
		if strings.HasPrefix(rest, "%") {
			visible = 2 // percent
		}
		n, err := strconv.ParseFloat(value[:len(value)-len(rest)], 64)
		if err == nil && n < visible {
			return true
		}
	}
	return false
}

// onlyBrackets reports whether the element rp whose start tag precedes s contains at most three
// characters, all of them brackets or spaces. Browsers that know ruby hide that element.
func onlyBrackets(s string) bool {
	const longest = 3
	for range longest {
		r, size := utf8.DecodeRuneInString(s)
		if !unicode.In(r, unicode.Ps, unicode.Pe, unicode.Pi, unicode.Pf) && r != ' ' {
			break
		}
		s = s[size:]
	}
	return len(s) >= len("</rp>") && strings.EqualFold(s[:len("</rp>")], "</rp>")
}

// tooSmall reports whether an element would make text too small to read, because too many elements
// around it make the text smaller already. Otherwise it counts the element.
func (p *pass) tooSmall(name string) bool {
	group, deepest := shrinkGroup(name)
	if group == 0 {
		return false
	}
	if p.small[group] >= deepest {
		return true
	}
	p.small[group]++
	return false
}

// altText adds the alternative text of an image, which may be shown instead.
func (p *pass) altText(t *markdown.Tag, h *htmlText) {
	for i := range t.Attributes {
		if a := &t.Attributes[i]; a.Name == "alt" {
			p.addHTML(h, a.ValueStart, a.ValueStart+len(a.Value))
			p.flat.addMark(markTag, h.source(t.End-1)+1)
		}
	}
}

// opened records an open element, so that its end tag is made text if the start
// tag was. It returns whether the start tag stays.
func (p *pass) opened(name string, shown bool) bool {
	if !markdown.IsVoid(name) && (shown || len(p.openTags[name]) > 0) {
		if p.openTags == nil {
			p.openTags = make(map[string][]bool)
		}
		p.openTags[name] = append(p.openTags[name], shown)
	}
	return !shown
}

func (p *pass) endTag(t *markdown.Tag, start, end int) bool {
	shown := !safeElement(t.Name)
	if open := p.openTags[t.Name]; len(open) > 0 {
		shown = shown || open[len(open)-1]
		p.openTags[t.Name] = open[:len(open)-1]
	}
	if shown {
		p.show(start, t.Name)
		return false
	}
	if group, _ := shrinkGroup(t.Name); p.small[group] > 0 {
		p.small[group]--
	}
	if len(t.Attributes) > 0 {
		p.edit(start, end, "</"+t.Name+">", RuleHTML, "attribute")
	}
	if t.Name == "a" && len(p.anchors) > 0 {
		a := p.anchors[len(p.anchors)-1]
		p.anchors = p.anchors[:len(p.anchors)-1]
		p.insert(end, " "+a.redaction)
	}
	return true
}

// deniedTag removes all attributes from a link, which gets a redaction later, and replaces an img
// by its alternative text and a redaction, a source by a redaction.
func (p *pass) deniedTag(t *markdown.Tag, start, end int, v verdict) bool {
	if t.Name == "a" {
		p.closeAnchors()
		p.edit(start, end, "<a>", RuleLinks, v.detail)
		p.anchors = append(p.anchors, openAnchor{end: end, redaction: v.redaction()})
		return p.opened("a", false)
	}
	alt := ""
	for i := range t.Attributes {
		if t.Attributes[i].Name == "alt" && t.Name == "img" {
			alt = literalText(characters(decodeHTML(t.Attributes[i].Value), &noter{})) + " "
		}
	}
	p.edit(start, end, alt+p.spaced(start, v.redaction()), RuleLinks, v.detail)
	return true
}

// openAnchor is an <a> whose address was denied and whose end tag has not come
// yet.
type openAnchor struct {
	end       int // source offset after the start tag
	redaction string
}

// closeAnchors writes the redactions of denied links without an end tag.
func (p *pass) closeAnchors() {
	if len(p.anchors) == 0 {
		return
	}
	for _, a := range p.anchors {
		p.insert(a.end, a.redaction+" ")
	}
	p.anchors = p.anchors[:0]
}

// literalText writes text so that Markdown and HTML blocks both show exactly that:
// punctuation becomes character references, and line breaks become spaces.
func literalText(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\n' || c == '\t' || c == '\r':
			b.WriteByte(' ')
		case c < 0x80 && !isAlnum(c) && c != ' ' && c != ',':
			b.WriteString(reference(rune(c)))
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// reference writes c as a character reference.
func reference(c rune) string {
	if c < utf8.RuneSelf {
		return asciiReferences()[c]
	}
	return "&#" + strconv.Itoa(int(c)) + ";"
}

// asciiReferences are the references to ASCII, so that they are not allocated for each edit.
var asciiReferences = sync.OnceValue(func() []string {
	all := make([]string, utf8.RuneSelf)
	for c := range all {
		all[c] = "&#" + strconv.Itoa(c) + ";"
	}
	return all
})

// safeElement reports whether an element stays. The list is that of GitHub's published
// HTML pipeline, without bdo, which shows text in another order than it is read.
func safeElement(name string) bool {
	switch name {
	case "h1", "h2", "h3", "h4", "h5", "h6", "h7", "h8", "br", "b", "i", "strong", "em", "a", "pre", "code", "img", "tt",
		"div", "ins", "del", "sup", "sub", "p", "picture", "ol", "ul", "table", "thead", "tbody", "tfoot", "blockquote",
		"dl", "dt", "dd", "kbd", "q", "samp", "var", "hr", "ruby", "rt", "rp", "li", "tr", "td", "th", "s", "strike",
		"summary", "details", "caption", "figure", "figcaption", "abbr", "cite", "dfn", "mark", "small", "source",
		"span", "time", "wbr":
		return true
	}
	return false
}

// judgeSet judges the addresses of a srcset; the first denied one decides.
// Readers disagree about what is a blank and whether a comma ends an address, so
// the set is read in every way.
func (s *Sanitizer) judgeSet(set string) verdict {
	v := s.judgeFields(strings.FieldsFunc(set, isURLBlank))
	if v.allowed && strings.ContainsFunc(set, func(r rune) bool { return r > ' ' && unicode.IsSpace(r) }) {
		v = s.judgeFields(strings.Fields(set))
	}
	return v
}

func (s *Sanitizer) judgeFields(fields []string) verdict {
	for _, field := range fields {
		field = strings.Trim(field, ",")
		if v := s.judge(field); !v.allowed {
			return v
		}
		for part := range strings.SplitSeq(field, ",") {
			if v := s.judge(part); !v.allowed {
				return v
			}
		}
	}
	return verdict{allowed: true}
}
