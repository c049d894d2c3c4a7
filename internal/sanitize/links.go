package sanitize

import (
	"strings"

	"github.com/agent-airlock/airlock/internal/markdown"
)

// link handles the brackets of a link or image.
func (p *pass) link(n *markdown.Inline) {
	l := &p.doc.Links[n.Data]
	if n.Kind == markdown.LinkClose {
		p.flat.mark(markTag, n.Start)
		if l.Image {
			p.images--
		}
		return
	}
	if l.Image {
		p.images++
	}
	dest := p.doc.Destination(int(n.Data))
	if !l.Image && isIssueURL(dest) {
		p.flat.mark(markIssue, n.Start)
	} else {
		p.flat.mark(markTag, n.Start)
	}
	v := p.s.judge(dest)
	if v.allowed {
		if !l.Title.Empty() && l.Definition < 0 {
			p.edit(l.Title.Start, l.Title.End, "", RuleHiddenText, "title")
		}
		p.notTask(n, l)
		return
	}
	p.edit(n.Start, n.End, p.lineGuard(n.Start, n.End), RuleLinks, v.detail)
	p.edit(l.Text.End, l.End, " "+v.redaction(), "", "")
}

// notTask writes the text of a link at the start of a line, "[x](address)", so
// that no reader takes it for the box of a task and the address for text.
func (p *pass) notTask(n *markdown.Inline, l *markdown.Link) {
	at := l.Text.Start
	if l.Image || l.Text.End != at+1 || strings.IndexByte(" xX", p.src[at]) < 0 || !beginsLine(p.src, n.Start) {
		return
	}
	if needsReading(p.src[l.Text.End+1 : l.End]) {
		p.edit(at, at+1, "&#"+decimal(int(p.src[at]))+";", RuleLinks, "box")
	}
}

// autolink handles an address that links by itself. Its text is matched with
// what stands around it, but nothing is inserted into it.
func (p *pass) autolink(n *markdown.Inline) {
	l := &p.doc.Links[n.Data]
	dest := p.doc.Destination(int(n.Data))
	written := p.src[l.Text.Start:l.Text.End]
	mail, isMail := strings.CutPrefix(dest, "mailto:")
	if l.Kind == markdown.BareEmail && isMail && mail[0] != '@' && !holdsWWW(mail) {
		p.mail(n, l, mail)
		p.strayIn(n)
		return
	}
	shown := dest
	if l.Kind == markdown.BareWWW || l.Kind == markdown.BareEmail && (isMail || p.s.judge(dest).allowed) {
		shown = "https://" + written
	}
	if v := p.s.judge(shown); !v.allowed {
		p.flat.mark(markOpaque, n.Start)
		p.edit(n.Start, n.End, p.spaced(n.Start, v.redaction()), RuleLinks, v.detail)
		return
	}
	if p.images > 0 && l.Kind != markdown.BareEmail {
		p.plainAddress(n, l)
		return
	}
	if p.strayIn(n) {
		// Judged again when they are gone.
	} else if p.endsElsewhere(n, l) {
		open := "<"
		if l.Kind == markdown.BareWWW {
			open = "<https://"
		}
		p.edit(n.Start, n.Start, open, RuleLinks, "bracketed")
		p.edit(n.End, n.End, ">", "", "")
	}
	if isIssueURL(dest) {
		p.flat.mark(markIssue, n.Start)
	}
	p.flat.link(written, l.Text.Start, n.Start, n.End)
}

// mail handles a bare e-mail address, which may be written with references and
// escapes.
func (p *pass) mail(n *markdown.Inline, l *markdown.Link, mail string) {
	if written := p.src[l.Text.Start:l.Text.End]; written == mail {
		p.flat.link(written, l.Text.Start, n.Start, n.End)
		return
	}
	if at := strings.IndexByte(mail, '@'); at == 0 || !isAlnum(mail[at-1]) {
		p.flat.mark(markOpaque, n.Start)
		p.edit(n.Start, n.End, mail, "", "") // others see a mention: so written, it is found
		return
	}
	p.flat.mark(markTag, n.Start)
	p.flat.decoded(mail, n.Start)
	p.flat.mark(markTag, n.End)
}

// endsElsewhere tells that some readers see the end of a bare address at another
// place, and something else in what lies between.
func (p *pass) endsElsewhere(n *markdown.Inline, l *markdown.Link) bool {
	address := p.src[n.Start:min(n.End+1, len(p.src))]
	switch l.Kind {
	case markdown.BareURL:
		return disputed(address) || p.readOn(n)
	case markdown.BareWWW: // of which all readers take what is usual in a path
		return strings.ContainsAny(address, "*$|`\\[]") && disputed(address)
	}
	return false
}

// readOn tells that behind a bare address, which ends with its host, some readers
// read on.
func (p *pass) readOn(n *markdown.Inline) bool {
	if strings.Count(p.src[n.Start:n.End], "/") > len("//") {
		return n.End < len(p.src) && p.src[n.End] == '&'
	}
	k := n.End
	for k < len(p.src) && strings.IndexByte(`.,;:!?'"*_~)`, p.src[k]) >= 0 {
		k++
	}
	return k < len(p.src) && (p.src[k] == '<' || p.src[k] == '&')
}

// plainAddress makes text of an address that links by itself within an image: it
// is a part of the alternative text.
func (p *pass) plainAddress(n *markdown.Inline, l *markdown.Link) {
	p.flat.mark(markOpaque, n.Start)
	at := n.Start
	switch l.Kind {
	case markdown.BareURL:
		at += strings.IndexByte(p.src[n.Start:n.End], ':')
	case markdown.BareWWW:
		at += strings.IndexByte(p.src[n.Start:n.End], '.')
	default:
		p.edit(n.Start, n.End, literalText(p.doc.Destination(int(n.Data))), RuleLinks, "image")
		return
	}
	p.edit(at, at+1, literalText(p.src[at:at+1]), RuleLinks, "image")
}

// holdsWWW tells that text holds "www." at the start of a word.
func holdsWWW(text string) bool {
	for i := range text {
		if text[i] == '.' && i >= 3 && hasWWW(text[i-3:]) && (i == 3 || !isAlnum(text[i-4])) {
			return true
		}
	}
	return false
}

// strayIn removes the invisible characters that stand as references in an
// address, and tells whether there were any.
func (p *pass) strayIn(n *markdown.Inline) bool {
	found := false
	for i := n.Start; i < n.End; i++ {
		if p.src[i] != '&' {
			continue
		}
		if text, size := markdown.DecodeEntity(p.src[i:n.End]); size > 0 && hasStray(text) {
			p.edit(i, i+size, "", RuleCharacters, "invisible")
			found = true
			i += size - 1
		}
	}
	return found
}

// disputed tells that readers may disagree about where a bare address ends:
// some see a code span, a link, a mention or a reference in it. Between < and >
// all agree, and it looks the same.
func disputed(address string) bool {
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
			if i > len("https://www") && hasWWW(address[i-3:]) {
				return true
			}
		}
	}
	return false
}
