package sanitize

import (
	"strings"

	"github.com/agent-airlock/airlock/internal/markdown"
)

// leaf reads a paragraph, heading or table cell.
func (p *pass) leaf(b *markdown.Block) {
	if !p.mayAct(b) {
		return
	}
	nodes := p.doc.InlinesOf(b)
	f := &p.flat
	f.reset()
	p.anchors = p.anchors[:0]
	ticks, first := false, len(p.edits)
	for i := range nodes {
		n := &nodes[i]
		switch n.Kind {
		case markdown.Text:
			f.put(p.src[n.Start:n.End], n.Start)
			p.declarations(n)
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
			}
		case markdown.SoftBreak, markdown.HardBreak:
			f.mark('\n', n.Start)
		case markdown.CodeNode:
			f.mark(markOpaque, n.Start)
			p.codeSpan(b, n)
		case markdown.HTMLNode:
			p.inlineHTML(b, n)
		case markdown.LinkOpen, markdown.LinkClose:
			p.link(n)
		case markdown.Autolink:
			p.autolink(n)
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
	p.match(b.End)
}

// codeSpan joins the lines of a code span that holds anything that could act,
// or whose lines begin with what may be the mark of a block: readers disagree
// about those. It renders the same.
func (p *pass) codeSpan(b *markdown.Block, n *markdown.Inline) {
	span := p.src[n.Start:n.End]
	if strings.IndexByte(span, '\n') < 0 {
		return
	}
	text := p.doc.Literal(b, n.Span)
	if !needsReading(span) && !marksLines(text) {
		return
	}
	p.edit(n.Start, n.End, strings.ReplaceAll(text, "\n", " "), RuleCode, "lines")
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
	if b.Kind == markdown.HeadingBlock || b.PieceCount == 0 || len(nodes) == 0 {
		return
	}
	piece := p.doc.PiecesOf(b)[0]
	if p.src[piece.Start] != '[' || nodes[0].Kind == markdown.LinkOpen || nodes[0].Kind == markdown.FootnoteRef {
		return
	}
	const maxLabel = 1000 // of a definition, by the specification
	end := min(piece.End, piece.Start+maxLabel)
	for k := piece.Start + 1; k < end; k++ {
		switch p.src[k] {
		case '\\':
			k++
		case ']':
			if k+1 < end && p.src[k+1] == ':' {
				p.edit(piece.Start, piece.Start, `\`, RuleHiddenText, "definition")
			}
			return
		}
	}
}

// declarations escapes "<!" and "<?" in text: what is no declaration or comment
// by one version of the specification is one by the next.
func (p *pass) declarations(n *markdown.Inline) {
	for at := n.Start; ; at++ {
		k := strings.IndexByte(p.src[at:n.End], '<')
		if k < 0 || at+k+1 >= len(p.src) {
			return
		}
		at += k
		if c := p.src[at+1]; c == '!' || c == '?' {
			p.show(at, "declaration")
		}
	}
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

// backticks escapes the runs of backticks in a leaf that begin no code span.
// Readers disagree about the code behind such a run (cmark's search is faulty
// there). When a run has no partner by the specification either, only such runs
// are escaped: what is code is seen in the next reading, so the leaf's other
// edits, from index first on, are dropped and the result is true.
func (p *pass) backticks(nodes []markdown.Inline, first int) bool {
	lonely, code := p.lonelyRuns(nodes)
	var alone []edit
	for i := range nodes {
		n := &nodes[i]
		if n.Kind != markdown.Backticks {
			continue
		}
		paired := !lonely[n.Start]
		code = code || paired
		for k := n.Start; k < n.End; k++ {
			e := edit{start: k, end: k, text: `\`, rule: RuleCode, detail: "backticks"}
			if paired {
				p.edits = append(p.edits, e)
			} else {
				alone = append(alone, e)
			}
		}
	}
	if len(alone) == 0 || !code {
		p.edits = append(p.edits, alone...)
		return false
	}
	p.edits = append(p.edits[:first], alone...)
	return true
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
