package sanitize

import (
	"strings"
	"unicode/utf8"

	"github.com/agent-airlock/airlock/internal/markdown"
)

// linkOpen handles the start of a link or image. If its address is denied, only
// the text stays, with the redaction after it. A title is hidden text and goes.
func (p *pass) linkOpen(n *markdown.Inline) {
	l := &p.doc.Links[n.Data]
	if l.Image {
		p.images++
		p.imaged = true
	}
	// GitHub does not read "![^" as the beginning of an image. It sees a link here, and no link
	// around this one. Other readers may see an image in a link.
	if !l.Image && n.Start > 0 && strings.HasPrefix(p.src[n.Start-1:], "![^") && !isEscaped(p.src, n.Start-1) {
		p.edit(n.Start-1, n.Start-1, `\`, RuleLinks, "bracket")
	}
	dest, issue, v := p.destination(n)
	mark := byte(markTag)
	if p.images == 0 && issue {
		mark = markIssue
	}
	p.flat.addMark(mark, n.Start)
	if !v.allowed {
		edit := p.edit
		if l.Kind == markdown.InlineLink && p.standsAlone(l.Span) && isWords(p.src[l.Text.Start:l.Text.End]) {
			edit, p.cut = p.quietEdit, true
		}
		edit(n.Start, n.End, p.lineGuard(n.Start, n.End), RuleLinks, v.detail)
		edit(l.Text.End, l.End, " "+v.redaction(), "", "")
		return
	}
	switch {
	case l.Image && l.Text.End-l.Text.Start > maxAlt:
		p.edit(n.Start, n.Start, `\`, RuleHiddenText, "alt") // makes it a link, whose text is shown
	case !l.Image && len(dest) > maxEmptyLink && strings.TrimSpace(p.src[l.Text.Start:l.Text.End]) == "":
		p.edit(n.Start, n.Start, `\`, RuleHiddenText, "link") // makes it text, which shows the address
	}
	if !l.Title.Empty() && l.Definition < 0 {
		p.edit(l.Title.Start, l.Title.End, "", RuleHiddenText, "title")
	}
	p.escapeTaskBox(n, l)
}

// judgedDefinition is where links to a definition lead.
type judgedDefinition struct {
	known   bool
	dest    string
	issue   bool
	verdict verdict
}

// destination returns where a link leads, whether it leads to an issue, and the verdict about it.
// It reads the address of a definition only once, because the address may be long and have many
// links.
func (p *pass) destination(open *markdown.Inline) (dest string, issue bool, v verdict) {
	definition := p.doc.Links[open.Data].Definition
	if definition < 0 {
		dest = p.doc.Destination(int(open.Data))
		return dest, isIssueURL(dest), p.judge(dest)
	}
	if len(p.defined) == 0 {
		p.defined = make([]judgedDefinition, len(p.doc.Definitions))
	}
	d := &p.defined[definition]
	if !d.known {
		d.known, d.dest = true, p.doc.Destination(int(open.Data))
		d.issue, d.verdict = isIssueURL(d.dest), p.judge(d.dest)
	}
	return d.dest, d.issue, d.verdict
}

// standsAlone reports whether a span of the source stands apart from its surroundings. It is ASCII
// on one line, without a mark that has a meaning outside of links. A blank precedes it, and a
// blank, or punctuation and a blank, follow. The start and the end of a line count as blanks.
func (p *pass) standsAlone(span markdown.Span) bool {
	for i := span.Start; i < span.End; i++ {
		if c := p.src[i]; c >= utf8.RuneSelf || strings.IndexByte("|`\\<>&@$*_~\n", c) >= 0 {
			return false
		}
	}
	blank := func(k int) bool {
		return k < 0 || k >= len(p.src) || p.src[k] == ' ' || p.src[k] == '\n'
	}
	return blank(span.Start-1) &&
		(blank(span.End) || strings.IndexByte(".,;:?)", p.src[span.End]) >= 0 && blank(span.End+1))
}

// isWords reports whether s is nothing but words with single blanks between them.
func isWords(s string) bool {
	for i := 0; i < len(s); i++ {
		if !isAlpha(s[i]) && (s[i] != ' ' || i == 0 || i == len(s)-1 || s[i-1] == ' ') {
			return false
		}
	}
	return s != ""
}

// escapeTaskBox handles a link like [x](address) at the start of a line. Some
// readers take the [x] for the box of a task, and the address for text. A
// character reference instead of the x prevents that.
func (p *pass) escapeTaskBox(n *markdown.Inline, l *markdown.Link) {
	x := l.Text.Start
	if l.Image || l.Text.End != x+1 || strings.IndexByte(" xX", p.src[x]) < 0 || !beginsLine(p.src, n.Start) {
		return
	}
	if needsReading(p.src[l.Text.End+1 : l.End]) {
		p.edit(x, x+1, reference(rune(p.src[x])), RuleLinks, "box")
	}
}

// autolink handles an address that links by itself, in angle brackets or bare. The
// rules for mentions and closing words see its text together with what is around
// it, but they insert nothing into it.
func (p *pass) autolink(n *markdown.Inline) {
	l := &p.doc.Links[n.Data]
	dest := p.doc.Destination(int(n.Data))
	written := p.src[l.Text.Start:l.Text.End]
	mail, isMail := strings.CutPrefix(dest, "mailto:")
	if l.Kind == markdown.BareEmail && isMail && mail[0] != '@' && !containsWWW(mail) {
		p.mailAddress(n, l, mail)
		p.removeStray(n.Span)
		return
	}
	judged := dest
	// A text that only some readers take for an e-mail address is judged as a URL. It is denied,
	// because a URL may not have an @ before its host.
	if l.Kind == markdown.BareWWW || l.Kind == markdown.BareEmail && (isMail || p.judge(dest).allowed) {
		judged = "https://" + written
	}
	v := p.judge(judged)
	if v.allowed && l.Kind == markdown.AngleURL && written != dest { // some readers decode no references in it
		v = p.judge(written)
	}
	if !v.allowed {
		p.flat.addMark(markOpaque, n.Start)
		edit := p.edit
		if l.Kind == markdown.BareURL && p.standsAlone(n.Span) {
			edit = p.quietEdit
		}
		edit(n.Start, n.End, p.spaced(n.Start, v.redactionIn(p.src, n.Start, n.End)), RuleLinks, v.detail)
		return
	}
	if p.images > 0 && l.Kind != markdown.BareEmail {
		p.addressInImage(n, l)
		return
	}
	issue := isIssueURL(dest)
	switch {
	case p.removeStray(n.Span): // the next round judges the rest of the address
	case p.endIsDisputed(n, l) || issue && l.Kind == markdown.BareWWW:
		// A closing word before the address may need an entity, after which "www." begins no link.
		// The next round finds the closing word before the bracket.
		open := "<"
		if l.Kind == markdown.BareWWW {
			open = "<https://"
		}
		p.edit(n.Start, n.Start, open, RuleLinks, "bracketed")
		p.insert(n.End, ">")
		issue = false
	}
	if issue {
		p.flat.addMark(markIssue, n.Start)
	}
	p.flat.addLink(written, l.Text.Start, n.Start, n.End)
}

// mailAddress handles a bare e-mail address, mail, which may be written with
// character references and escapes.
func (p *pass) mailAddress(n *markdown.Inline, l *markdown.Link, mail string) {
	if p.src[l.Text.Start:l.Text.End] == mail {
		p.flat.addLink(mail, l.Text.Start, n.Start, n.End)
		return
	}
	at := strings.IndexByte(mail, '@')
	if at == 0 || !isAlnum(mail[at-1]) || !strings.HasSuffix(p.src[n.Start:n.End], mail[at+1:]) {
		// Other readers see a mention, or a shorter host. Write the address plainly; the next round
		// finds it.
		p.flat.addMark(markOpaque, n.Start)
		p.edit(n.Start, n.End, mail, RuleLinks, "address")
		return
	}
	p.flat.addMark(markTag, n.Start)
	p.flat.addDecoded(mail, n.Start)
	p.flat.addMark(markTag, n.End)
}

// addressInImage makes text of an address that links by itself in an image, where
// it is a part of the alternative text.
func (p *pass) addressInImage(n *markdown.Inline, l *markdown.Link) {
	p.flat.addMark(markOpaque, n.Start)
	breakAt := ":"
	switch l.Kind {
	case markdown.BareURL:
	case markdown.BareWWW:
		breakAt = "."
	default:
		p.edit(n.Start, n.End, literalText(p.doc.Destination(int(n.Data))), RuleLinks, "image")
		return
	}
	k := n.Start + strings.Index(p.src[n.Start:n.End], breakAt)
	p.edit(k, k+1, reference(rune(breakAt[0])), RuleLinks, "image")
}

// endIsDisputed reports whether readers disagree about where a bare address ends, or see something
// else in it. If it is put between < and >, all readers agree, and it looks the same.
func (p *pass) endIsDisputed(n *markdown.Inline, l *markdown.Link) bool {
	address := p.src[n.Start:min(n.End+1, len(p.src))]
	switch l.Kind {
	case markdown.BareURL:
		return containsSyntax(address) || p.mayContinue(n)
	case markdown.BareWWW:
		return containsSyntax(address)
	}
	return false
}

// containsSyntax reports whether some reader may see something else in an address: a code span, a
// link, a mention, an escape, a table cell, a character reference or another address.
func containsSyntax(address string) bool {
	for i := 0; i < len(address); i++ {
		switch address[i] {
		case '`', '[', ']', '@', '\\', '|':
			return true
		case '&':
			if _, size := markdown.DecodeEntity(address[i:]); size > 0 {
				return true
			}
		case ':':
			if i > len("https") && strings.HasPrefix(address[i:], "://") {
				return true
			}
		case '.':
			if i > len("https://www") {
				if _, ok := wwwAt(address, len("https://"), i); ok {
					return true
				}
			}
		}
	}
	return false
}

// mayContinue reports whether, for some readers, a bare address continues after
// its end: an entity follows it, or it ends with its host, and a tag or an entity
// follows, with or without punctuation before it.
func (p *pass) mayContinue(n *markdown.Inline) bool {
	rest := p.src[n.End:]
	if strings.Count(p.src[n.Start:n.End], "/") > len("//") {
		return strings.HasPrefix(rest, "&")
	}
	rest = strings.TrimLeft(rest, `.,;:!?'"*_~)`)
	return strings.HasPrefix(rest, "<") || strings.HasPrefix(rest, "&")
}

// containsWWW reports whether a word of text begins with "www.".
func containsWWW(text string) bool {
	for i := range text {
		if text[i] == '.' && i >= 3 && hasWWW(text[i-3:]) && (i == 3 || !isAlnum(text[i-4])) {
			return true
		}
	}
	return false
}

// removeStray removes the invisible characters that stand as references in a
// span, which is an address or an info string, and reports whether there were any.
func (p *pass) removeStray(in markdown.Span) bool {
	found := false
	for i := in.Start; i < in.End; i++ {
		if p.src[i] != '&' {
			continue
		}
		if text, size := markdown.DecodeEntity(p.src[i:in.End]); size > 0 && hasStray(text) {
			p.edit(i, i+size, "", RuleCharacters, "invisible")
			found = true
			i += size - 1
		}
	}
	return found
}
