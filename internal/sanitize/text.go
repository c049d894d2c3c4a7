package sanitize

import (
	"strconv"
	"strings"

	"github.com/agent-airlock/airlock/internal/markdown"
)

// text looks for what is text to GitHub, and something else to other readers.
// It is written so that all agree.
func (p *pass) text(n *markdown.Inline) {
	p.declarations(n)
	switch {
	case n.Data == markdown.RawText:
		p.rawLabel(n)
	case p.src[n.Start] == ']':
		p.notLink(n)
	}
}

// declarations escapes "<!", "<?" and "</" in text: what is no declaration,
// comment or tag by one version of the specification is one by the next.
func (p *pass) declarations(n *markdown.Inline) {
	for at := n.Start; ; at++ {
		k := strings.IndexByte(p.src[at:n.End], '<')
		if k < 0 || at+k+1 >= len(p.src) {
			return
		}
		at += k
		switch p.src[at+1] {
		case '!', '?', '/':
			p.show(at, "declaration")
		}
	}
}

// rawLabel writes a label without a footnote as the text that GitHub shows: the
// label as it is written.
func (p *pass) rawLabel(n *markdown.Inline) {
	label := p.src[n.Start:n.End]
	at, caret := n.Start, strings.HasPrefix(label, "[^")
	if caret || strings.HasSuffix(p.src[:n.Start], `[\^`) {
		p.rawAt = n.Start
		if !caret {
			p.rawAt -= len(`[\^`)
		}
	}
	if caret {
		label, at = label[len("[^"):], at+len("[^")
	}
	if strings.ContainsAny(label, "&\\`<@#") || strings.Contains(label, "://") {
		p.edit(p.rawAt, p.rawAt, `\`, RuleHiddenText, "footnote")
		p.edit(at, n.End, literalText(label), "", "")
	}
}

// notLink escapes the bracket before a destination in angle brackets that is
// none to GitHub.
func (p *pass) notLink(n *markdown.Inline) {
	rest, ok := strings.CutPrefix(p.src[n.Start:], "](")
	if ok && strings.HasPrefix(strings.TrimLeft(rest, " \t\n>"), "<") {
		p.edit(n.Start, n.Start, `\`, RuleLinks, "bracket")
	}
}

// longNumber shortens a numeric reference that has more digits than the
// specification allows, and that GitHub decodes all the same.
func (p *pass) longNumber(n *markdown.Inline, text string) {
	const longest = len("&#1234567;")
	if n.End-n.Start <= longest || p.src[n.Start+1] != '#' {
		return
	}
	for _, r := range text {
		p.edit(n.Start, n.End, "&#"+strconv.Itoa(int(r))+";", RuleCharacters, "reference")
	}
}

// dropped shows what GitHub leaves out of a label without a footnote.
func (p *pass) dropped(nodes []markdown.Inline, i int) {
	if i > 0 && nodes[i-1].Kind == markdown.Escape {
		p.rawAt = nodes[i-1].Start - 1
	}
	p.edit(p.rawAt, p.rawAt, `\`, RuleHiddenText, "footnote")
}

// mailBefore handles a code span that begins like the rest of an e-mail
// address, as in "a`b@host.example`": some readers take the word before it and
// its beginning for one, and see no code. A reference in the word, or a space,
// parts them.
func (p *pass) mailBefore(n *markdown.Inline) {
	code := p.src[n.Start:n.End]
	at := 0
	for at < len(code) && isMailByte(code[at]) {
		at++
	}
	if at == len(code) || code[at] != '@' {
		return
	}
	const longest = 64 // of what stands before the @ in an address
	from, last := n.Start, -1
	for from > max(0, n.Start-longest) && isMailByte(p.src[from-1]) {
		if from--; last < 0 && isAlnum(p.src[from]) {
			last = from
		}
	}
	switch word := p.src[from:n.Start]; {
	case last < 0:
	case strings.Contains(word, "//"), holdsWWW(word):
		p.edit(n.Start, n.Start, " ", RuleCode, "address") // a reference would shorten the host
	default:
		p.edit(last, last+1, "&#"+decimal(int(p.src[last]))+";", RuleCode, "address")
	}
}

func isMailByte(c byte) bool { return isAlnum(c) || strings.IndexByte(".!#$%&'*+/=?^_`{|}~-", c) >= 0 }
