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
		return
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
		return
	}
	p.edit(n.Start, n.End, p.lineGuard(n.Start, n.End), RuleLinks, v.detail)
	p.edit(l.Text.End, l.End, " "+v.redaction(), "", "")
}

// autolink handles an address that links by itself. Its text is matched with
// what stands around it, but nothing is inserted into it.
func (p *pass) autolink(n *markdown.Inline) {
	l := &p.doc.Links[n.Data]
	dest := p.doc.Destination(int(n.Data))
	written := p.src[l.Text.Start:l.Text.End]
	if l.Kind == markdown.BareEmail && strings.HasPrefix(dest, "mailto:") && !hasWWW(written) {
		p.flat.link(written, l.Text.Start, n.Start, n.End)
		p.strayIn(n)
		return
	}
	shown := dest
	if l.Kind == markdown.BareWWW || l.Kind == markdown.BareEmail && hasWWW(written) {
		shown = "https://" + written
	}
	if v := p.s.judge(shown); !v.allowed {
		p.flat.mark(markOpaque, n.Start)
		p.edit(n.Start, n.End, p.spaced(n.Start, v.redaction()), RuleLinks, v.detail)
		return
	}
	if p.strayIn(n) {
		// Judged again when they are gone.
	} else if l.Kind == markdown.BareURL && disputed(p.src[n.Start:min(n.End+1, len(p.src))]) {
		p.edit(n.Start, n.Start, "<", RuleLinks, "bracketed")
		p.edit(n.End, n.End, ">", "", "")
	}
	if isIssueURL(dest) {
		p.flat.mark(markIssue, n.Start)
	}
	p.flat.link(written, l.Text.Start, n.Start, n.End)
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

func isIssueURL(dest string) bool {
	i := strings.Index(dest, "://")
	if i < 0 {
		return false
	}
	_, ok := issueURLAt([]byte(dest), i)
	return ok
}
