package sanitize

import (
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
