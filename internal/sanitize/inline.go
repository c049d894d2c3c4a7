package sanitize

import (
	"strconv"
	"strings"

	"github.com/agent-airlock/airlock/internal/markdown"
)

// leaf reads a paragraph, heading or table cell.
func (p *pass) leaf(b *markdown.Block) {
	nodes := p.doc.InlinesOf(b)
	if len(nodes) == 0 || !p.mayAct(b) {
		return
	}
	f := &p.flat
	f.reset()
	p.anchors, p.images = p.anchors[:0], 0
	ticks, first := false, len(p.edits)
	for i := range nodes {
		n := &nodes[i]
		switch n.Kind {
		case markdown.Text:
			f.put(p.src[n.Start:n.End], n.Start)
			p.text(n)
		case markdown.Backticks:
			ticks = true
			f.put(p.src[n.Start:n.End], n.Start)
		case markdown.Escape:
			f.decoded(p.src[n.Start+1:n.End], n.Start)
		case markdown.Entity:
			if p.src[n.Start:n.End] == ourZWSP {
				f.mark(markZWSP, n.Start)
				continue
			}
			text, _ := markdown.DecodeEntity(p.src[n.Start:n.End])
			if ok, detail := f.reference(p.src[n.Start:n.End], text, n.Start); !ok {
				p.edit(n.Start, n.End, p.lineGuard(n.Start, n.End), RuleCharacters, detail)
			} else {
				p.longNumber(n, text)
			}
		case markdown.SoftBreak, markdown.HardBreak:
			f.mark('\n', n.Start)
		case markdown.CodeNode:
			if p.images > 0 {
				p.codeInImage(b, n)
				continue
			}
			f.mark(markOpaque, n.Start)
			p.codeSpan(b, n)
		case markdown.HTMLNode:
			if p.images > 0 {
				f.mark(markOpaque, n.Start)
				p.show(n.Start, "image") // it is shown
				continue
			}
			p.inlineHTML(b, n)
		case markdown.LinkOpen, markdown.LinkClose:
			p.link(n)
		case markdown.Autolink:
			p.autolink(n)
		case markdown.Dropped:
			p.dropped(nodes, i)
		case markdown.FootnoteRef: // shown as a number
			f.mark(markTag, n.Start)
			f.decoded("1", n.Start)
			f.mark(markTag, n.End)
		}
	}
	if ticks && p.backticks(nodes, first) {
		return
	}
	p.closeAnchors()
	p.bracket(b, nodes)
	p.match(nodes[len(nodes)-1].End)
}

// codeSpan joins the lines of a code span that holds anything that could act,
// or whose lines begin with what may be the mark of a block: readers disagree
// about those. It renders the same.
func (p *pass) codeSpan(b *markdown.Block, n *markdown.Inline) {
	code := p.src[n.Start:n.End]
	p.mailBefore(n)
	if strings.IndexByte(code, '\n') < 0 {
		return
	}
	p.codes = append(p.codes, span{n.Start, n.End})
	text := p.doc.Literal(b, n.Span)
	if !needsReading(code) && !marksLines(text) {
		return
	}
	p.edit(n.Start, n.End, strings.ReplaceAll(text, "\n", " "), RuleCode, "lines")
}

// codeInImage makes text of a code span within an image, unless it is one word:
// the code is a part of the alternative text.
func (p *pass) codeInImage(b *markdown.Block, n *markdown.Inline) {
	code := p.doc.CodeText(b, n)
	p.flat.decoded(code, n.Start)
	for i := 0; i < len(code); i++ {
		if !isAlnum(code[i]) {
			p.edit(n.Start, n.End, literalText(code), RuleCode, "image")
			return
		}
	}
}

// marksLines tells that a line of text, not the first, begins with anything
// but a word.
func marksLines(text string) bool {
	for {
		k := strings.IndexByte(text, '\n')
		if k < 0 {
			return false
		}
		text = text[k+1:]
		if text == "" || text[0] < 0x80 && !isAlpha(text[0]) {
			return true
		}
	}
}

// bracket escapes the bracket of what looks like a definition at the start of
// a paragraph or cell and is none: other readers take it for one.
func (p *pass) bracket(b *markdown.Block, nodes []markdown.Inline) {
	if b.Kind == markdown.HeadingBlock || b.PieceCount == 0 {
		return
	}
	piece := p.doc.PiecesOf(b)[0]
	if p.src[piece.Start] != '[' || nodes[0].Kind == markdown.FootnoteRef {
		return
	}
	const maxLabel = 1000 // of a definition, by the specification
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
			} else if hasDestination(p.src[k+2 : piece.End]) {
				p.edit(k+1, k+2, "&#58;", RuleHiddenText, "definition") // it stays a link
			}
			return
		}
	}
}

// hasDestination tells that what stands behind the colon of a definition begins
// like a destination and, perhaps, a title.
func hasDestination(s string) bool {
	s = strings.TrimLeft(s, " \t\n")
	s = strings.TrimLeft(s[indexAnyOrLen(s, " \t\n"):], " \t")
	return s == "" || strings.IndexByte("\n\"'(", s[0]) >= 0
}

// mayAct tells quickly whether a leaf holds anything to look at.
func (p *pass) mayAct(b *markdown.Block) bool {
	for i := b.Start; i < b.End; i++ {
		if trigger[p.src[i]] && triggers(p.src, i) {
			return true
		}
	}
	// A reference link shows none of the bytes that triggers looks for.
	for _, n := range p.doc.InlinesOf(b) {
		if n.Kind == markdown.LinkOpen {
			return true
		}
	}
	return false
}

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

// backticks escapes the runs of backticks in a leaf that begin no code span.
// Readers disagree about the code behind such a run (cmark's search is faulty
// there). When a run has no partner by the specification either, only such runs
// are escaped: what is code is seen in the next reading, so the leaf's other
// edits, from index first on, are dropped and the result is true.
func (p *pass) backticks(nodes []markdown.Inline, first int) bool {
	lonely, code := p.lonelyRuns(nodes)
	alone := false
	for i := range nodes {
		if nodes[i].Kind == markdown.Backticks {
			alone = alone || lonely[nodes[i].Start]
			code = code || !lonely[nodes[i].Start]
		}
	}
	again := code && alone
	if again {
		p.edits = p.edits[:first]
	}
	for i := range nodes {
		n := &nodes[i]
		if n.Kind != markdown.Backticks || again && !lonely[n.Start] {
			continue
		}
		for k := n.Start; k < n.End; k++ {
			p.edit(k, k, `\`, RuleCode, "backticks")
		}
	}
	return again
}

// lonelyRuns finds the runs of backticks, by their offsets, that have no
// partner by the specification's rule: a run opens a code span up to the next
// run of the same length. code tells that the leaf has a code span.
func (p *pass) lonelyRuns(nodes []markdown.Inline) (lonely map[int]bool, code bool) {
	var runs []span
	for i := range nodes {
		n := &nodes[i]
		if n.Kind == markdown.CodeNode {
			code = true
		} else if n.Kind != markdown.Backticks {
			continue
		}
		for k := n.Start; k < n.End; k++ {
			if p.src[k] == '`' {
				start := k
				for k < n.End && p.src[k] == '`' {
					k++
				}
				runs = append(runs, span{start, k})
			}
		}
	}
	partner := make([]int, len(runs)) // the next run of the same length
	next := map[int]int{}
	for i := len(runs) - 1; i >= 0; i-- {
		length := runs[i].end - runs[i].start
		partner[i] = next[length]
		next[length] = i
	}
	lonely = map[int]bool{}
	for i := 0; i < len(runs); i++ {
		if partner[i] > i {
			i = partner[i]
		} else {
			lonely[runs[i].start] = true
		}
	}
	return lonely, code
}
