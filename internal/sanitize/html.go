package sanitize

import (
	"strings"
)

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
