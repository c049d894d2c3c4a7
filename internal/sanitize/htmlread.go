package sanitize

import (
	"sort"
	"strings"

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
