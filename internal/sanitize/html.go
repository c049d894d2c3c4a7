package sanitize

import (
	"sort"
	"strings"
	"unicode"

	"github.com/agent-airlock/airlock/internal/markdown"
)

// htmlBlock reads the block of raw HTML with index i by a browser's rules.
func (p *pass) htmlBlock(i int) {
	b := &p.doc.Blocks[i]
	first := len(p.edits)
	defer func() { p.dissolved(i, p.edits[first:]) }()
	pieces := p.doc.PiecesOf(b)
	if len(pieces) == 0 {
		return
	}
	p.flat.reset()
	p.anchors = p.anchors[:0]
	p.inHTML = b.Data >= 6
	defer func() { p.inHTML = false }()
	if len(pieces) == 1 && pieces[0].Pad == 0 {
		base := pieces[0].Start
		p.html(p.src[base:pieces[0].End], func(k int) int { return base + k })
	} else {
		text, starts := joinPieces(p.src, pieces)
		p.html(text, func(k int) int {
			i := sort.SearchInts(starts, k+1) - 1
			return pieces[i].Start + max(0, k-starts[i]-pieces[i].Pad)
		})
	}
	p.closeAnchors()
	p.match(pieces[len(pieces)-1].End)
	if b.Data == 7 && strings.HasPrefix(p.src[b.Start:], "</pre") && needsReading(p.src[b.Start+len("</"):b.End]) {
		p.show(b.Start, "pre") // later versions of the specification begin no block here
	}
}

func joinPieces(src string, pieces []markdown.Piece) (text string, starts []int) {
	var b strings.Builder
	for _, piece := range pieces {
		starts = append(starts, b.Len())
		for range piece.Pad {
			b.WriteByte(' ')
		}
		b.WriteString(src[piece.Start:piece.End])
	}
	return b.String(), starts
}

// inlineHTML reads a raw tag or comment within a leaf.
func (p *pass) inlineHTML(b *markdown.Block, n *markdown.Inline) {
	text := p.doc.Literal(b, n.Span)
	if len(text) == n.End-n.Start {
		p.html(text, func(k int) int { return n.Start + k })
		if strings.IndexByte(text, '\n') >= 0 {
			p.tags = append(p.tags, span{n.Start, n.End})
		}
		return
	}
	// A tag over several lines within a container: join its lines first.
	if strings.HasPrefix(text, "<!--") {
		p.edit(n.Start, n.End, "", RuleHTML, "comment")
		return
	}
	p.flat.mark(markTag, n.Start)
	p.edit(n.Start, n.End, strings.Map(func(r rune) rune {
		if r == '\n' {
			return ' '
		}
		return r
	}, text), "", "")
}

// html reads HTML text; at maps its offsets to the source.
func (p *pass) html(text string, at func(int) int) {
	dead, noComment := 0, false
	drop := func(start, end int, detail string) { p.edit(start, end, "", RuleCharacters, detail) }
	lastGT := strings.LastIndexByte(text, '>')
	for k := 0; k < len(text); {
		j := strings.IndexByte(text[k:], '<')
		if j < 0 {
			j = len(text) - k
		}
		if j > 0 {
			p.flat.htmlText(text[k:k+j], k, at, drop)
			k += j
			continue
		}
		switch {
		case strings.HasPrefix(text[k:], "<!--"):
			end := -1
			if !noComment {
				end = commentEnd(text, k)
				noComment = end < 0
			}
			if end >= 0 {
				p.comment(at(k), at(end-1)+1)
				k = end
				continue
			}
			p.show(at(k), "comment")
		case isTagStart(text, k):
			if k < dead || k > lastGT {
				p.show(at(k), "tag")
				break
			}
			tag, d, ok := parseTag(text, k, p.attrs)
			p.attrs = tag.attrs
			if !ok {
				dead = d
				p.show(at(k), tag.name)
				break
			}
			p.flat.mark(markTag, at(k))
			if p.tag(&tag, at) {
				k = tag.end
				continue
			}
			k++
			continue
		case k+1 < len(text) && (text[k+1] == '!' || text[k+1] == '?' || text[k+1] == '/'):
			p.show(at(k), "declaration")
		}
		p.flat.mark('<', at(k))
		k++
	}
}

// comment removes a comment. A line that holds nothing else goes with it, when
// it stands within a block of HTML: an empty line would end the block.
func (p *pass) comment(start, end int) {
	if p.inHTML {
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
		text = " " // or two runs would become one
	}
	p.edit(start, end, text, RuleHTML, "comment")
}

// show makes the < at the source offset literal.
func (p *pass) show(at int, detail string) {
	p.edit(at, at+1, "&lt;", RuleHTML, detail)
}

// openAnchor is an <a> whose address was denied and whose end tag has not
// come yet.
type openAnchor struct {
	end  int // offset in the source behind the start tag
	note string
}

// tag judges one tag. It returns false when the tag is made text.
func (p *pass) tag(t *htmlTag, at func(int) int) bool {
	start, end := at(t.start), at(t.end-1)+1
	if t.closing {
		return p.endTag(t, start, end)
	}
	if !safeElement(t.name) || end-start != t.end-t.start {
		if safeElement(t.name) && p.plainTag(t) {
			return p.opened(t.name, false)
		}
		p.show(start, t.name)
		return p.opened(t.name, true)
	}
	edits := len(p.edits)
	for i := range t.attrs {
		a := &t.attrs[i]
		value := decodeHTML(a.value)
		rule := ruleOf(t.name, a.name)
		if rule == attrUnsafe || repeated(t.attrs[:i], a.name) || hasStray(value) {
			p.edits = p.edits[:edits]
			p.show(start, t.name)
			return p.opened(t.name, true)
		}
		switch rule {
		case attrTitle, attrLook:
			from := start + a.start - t.start
			detail, kind := "attribute", RuleHTML
			if rule == attrTitle {
				detail, kind = "title", RuleHiddenText
			}
			p.edit(from, start+a.end-t.start, "", kind, detail)
		case attrURL, attrSet:
			if trimmed := trimURL(value); rule == attrURL && trimmed != value && len(value) == len(a.value) {
				// The address as browsers read it.
				from := start + a.valueAt - t.start
				p.edit(from, from+len(a.value), trimmed, "", "")
				value = trimmed
			}
			v := p.judgeAttr(rule, value)
			if !v.allowed {
				p.edits = p.edits[:edits]
				return p.deniedTag(t, start, end, v)
			}
			if t.name == "a" && isIssueURL(value) {
				p.flat.text[len(p.flat.text)-1] = markIssue
			}
		}
	}
	switch t.name {
	case "a":
		p.closeAnchors()
	case "img":
		p.altText(t, at)
	}
	return p.opened(t.name, false)
}

// altText adds the alternative text of an image, which stands for it.
func (p *pass) altText(t *htmlTag, at func(int) int) {
	for i := range t.attrs {
		if a := &t.attrs[i]; a.name == "alt" {
			p.flat.htmlText(a.value, a.valueAt, at, func(start, end int, detail string) {
				p.edit(start, end, "", RuleCharacters, detail)
			})
			p.flat.mark(markTag, at(t.end-1)+1)
		}
	}
}

func (p *pass) judgeAttr(rule attrRule, value string) verdict {
	if rule == attrSet {
		return p.s.judgeSet(value)
	}
	return p.s.judge(value)
}

// plainTag tells that a tag has nothing to judge.
func (p *pass) plainTag(t *htmlTag) bool { return len(t.attrs) == 0 }

// opened notes an open element, so that its end tag shares its fate.
func (p *pass) opened(name string, shown bool) bool {
	if isVoid(name) {
		return !shown
	}
	if shown || len(p.shown[name]) > 0 {
		if p.shown == nil {
			p.shown = make(map[string][]bool)
		}
		p.shown[name] = append(p.shown[name], shown)
	}
	return !shown
}

func (p *pass) endTag(t *htmlTag, start, end int) bool {
	shown := !safeElement(t.name)
	if stack := p.shown[t.name]; len(stack) > 0 {
		shown = shown || stack[len(stack)-1]
		p.shown[t.name] = stack[:len(stack)-1]
	}
	if shown {
		p.show(start, t.name)
		return false
	}
	if len(t.attrs) > 0 {
		p.edit(start, end, "</"+t.name+">", RuleHTML, "attribute")
	}
	if t.name == "a" && len(p.anchors) > 0 {
		a := p.anchors[len(p.anchors)-1]
		p.anchors = p.anchors[:len(p.anchors)-1]
		p.edit(end, end, " "+a.note, "", "")
	}
	return true
}

// deniedTag takes the address from a link, and replaces an image by its
// alternative text. Elsewhere the tag is shown.
func (p *pass) deniedTag(t *htmlTag, start, end int, v verdict) bool {
	switch t.name {
	case "a":
		p.closeAnchors()
		p.edit(start, end, "<a>", RuleLinks, v.detail)
		p.anchors = append(p.anchors, openAnchor{end: end, note: v.redaction()})
		return p.opened("a", false)
	case "img", "source":
		alt := ""
		for i := range t.attrs {
			if t.attrs[i].name == "alt" && t.name == "img" {
				var n noter
				alt = literalText(characters(decodeHTML(t.attrs[i].value), &n)) + " "
			}
		}
		p.edit(start, end, alt+p.spaced(start, v.redaction()), RuleLinks, v.detail)
		return true
	}
	p.edit(start, start+1, "&lt;", RuleLinks, v.detail)
	return p.opened(t.name, true)
}

// closeAnchors writes the notes of denied links whose end tag is not there.
func (p *pass) closeAnchors() {
	for _, a := range p.anchors {
		p.edit(a.end, a.end, a.note+" ", "", "")
	}
	p.anchors = p.anchors[:0]
}

func repeated(attrs []htmlAttr, name string) bool {
	for i := range attrs {
		if attrs[i].name == name {
			return true
		}
	}
	return false
}

func isVoid(name string) bool {
	switch name {
	case "br", "hr", "img", "wbr", "source", "input", "link", "meta", "embed", "area", "base", "col", "param", "track":
		return true
	}
	return false
}

// literalText writes text so that Markdown and HTML blocks both show exactly
// it: punctuation becomes references, line breaks spaces.
func literalText(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\n' || c == '\t' || c == '\r':
			b.WriteByte(' ')
		case c < 0x80 && !isAlnum(c) && c != ' ' && c != ',':
			b.WriteString("&#")
			b.WriteString(decimal(int(c)))
			b.WriteByte(';')
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

func decimal(n int) string {
	if n >= 100 {
		return string([]byte{byte('0' + n/100), byte('0' + n/10%10), byte('0' + n%10)})
	}
	return string([]byte{byte('0' + n/10), byte('0' + n%10)})
}

// safeElement tells whether GitHub keeps an element in what it renders. The
// list is that of GitHub's published HTML pipeline.
func safeElement(name string) bool {
	switch name {
	case "h1", "h2", "h3", "h4", "h5", "h6", "h7", "h8", "br", "b", "i", "strong", "em", "a", "pre", "code", "img", "tt",
		"div", "ins", "del", "sup", "sub", "p", "picture", "ol", "ul", "table", "thead", "tbody", "tfoot", "blockquote",
		"dl", "dt", "dd", "kbd", "q", "samp", "var", "hr", "ruby", "rt", "rp", "li", "tr", "td", "th", "s", "strike",
		"summary", "details", "caption", "figure", "figcaption", "abbr", "bdo", "cite", "dfn", "mark", "small", "source",
		"span", "time", "wbr":
		return true
	}
	return false
}

// attrRule says what is done with an attribute.
type attrRule int

const (
	attrUnsafe attrRule = iota // its tag is shown as text
	attrSafe
	attrURL   // its value is judged as an address
	attrSet   // its value is a list of image candidates
	attrTitle // text that is seen only by pointing at it: removed
	attrLook  // appearance that GitHub drops anyway: removed
)

// ruleOf sorts the attributes, by GitHub's published HTML pipeline.
func ruleOf(element, attr string) attrRule {
	switch attr {
	case "href":
		if element == "a" {
			return attrURL
		}
	case "src", "longdesc":
		if element == "img" {
			return attrURL
		}
	case "cite":
		switch element {
		case "blockquote", "del", "ins", "q":
			return attrURL
		}
	case "srcset":
		if element == "source" || element == "img" {
			return attrSet
		}
	case "itemscope", "itemtype":
		if element == "div" {
			return attrSafe
		}
	case "title":
		if element == "abbr" || element == "dfn" {
			return attrSafe
		}
		return attrTitle
	case "class", "style", "hidden", "target", "decoding", "fetchpriority", "sizes", "bgcolor":
		return attrLook
	case "abbr", "align", "alt", "aria-describedby", "aria-hidden", "aria-label", "aria-labelledby", "axis", "border",
		"cellpadding", "cellspacing", "char", "charoff", "charset", "checked", "clear", "cols", "colspan", "color",
		"compact", "coords", "datetime", "dir", "disabled", "for", "frame", "halign", "headers", "height", "hreflang",
		"hspace", "id", "ismap", "itemprop", "label", "lang", "loading", "maxlength", "media", "multiple", "name", "nohref",
		"noshade", "nowrap", "open", "progress", "readonly", "rel", "rev", "role", "rows", "rowspan", "rules", "scope",
		"selected", "shape", "size", "span", "start", "summary", "tabindex", "type", "valign", "value", "vspace", "width":
		return attrSafe
	}
	return attrUnsafe
}

// judgeSet judges the addresses of a srcset; the first denied one decides.
// Readers disagree about what is a blank and whether a comma ends an address, so
// the set is read in every way.
func (s *Sanitizer) judgeSet(set string) verdict {
	v := s.judgeFields(strings.FieldsFunc(set, isBlank))
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
		if strings.IndexByte(field, ',') < 0 {
			continue
		}
		for _, part := range strings.Split(field, ",") {
			if v := s.judge(part); !v.allowed {
				return v
			}
		}
	}
	return verdict{allowed: true}
}
