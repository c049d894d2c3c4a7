package sanitize

import (
	"slices"
	"strings"
	"unsafe"

	"github.com/agent-airlock/airlock/internal/markdown"
)

// pass is one reading of a body and the edits that it asks for. Its buffers
// are used again by the next reading.
type pass struct {
	s       *Sanitizer
	src     string
	doc     markdown.Document
	edits   []edit
	tooDeep bool

	flat     flat
	squeezed squeezed
	attrs    []htmlAttr
	used     []int // offsets in flat of the markZWSP bytes that make something inert
	anchors  []openAnchor
	shown    map[string][]bool // open elements by name: was the start tag made text?
	tags     []span            // tags over several lines, in source order
}

// read scans src and collects the edits.
func (p *pass) read(s *Sanitizer, src string) {
	p.s, p.src = s, src
	p.edits, p.tags = p.edits[:0], p.tags[:0]
	p.shown = nil
	p.doc.Rescan(src)
	if p.tooDeep = p.doc.TooDeep; p.tooDeep {
		return
	}
	p.hidden()
	for i := range p.doc.Blocks {
		b := &p.doc.Blocks[i]
		switch b.Kind {
		case markdown.ParagraphBlock, markdown.HeadingBlock, markdown.CellBlock:
			p.leaf(b)
		case markdown.HTMLBlock:
			p.htmlBlock(i)
		case markdown.FencedCodeBlock:
			p.info(b)
		case markdown.IndentedCodeBlock:
			p.indented(i)
		}
	}
	p.commands()
}

// maxKept is the largest buffer of a pass that is kept for the next text, in
// elements.
const maxKept = 1 << 16

// release gives the pass back for the next text, without what it refers to.
func (p *pass) release() {
	s := p.s
	if s == nil || cap(p.edits) > maxKept || cap(p.flat.text) > maxKept || cap(p.doc.Inlines) > maxKept {
		return
	}
	clear(p.edits[:cap(p.edits)])
	p.s, p.src, p.shown = nil, "", nil
	p.doc.Rescan("")
	s.passes.Put(p)
}

func (p *pass) edit(start, end int, text, rule, detail string) {
	p.edits = append(p.edits, edit{start: start, end: end, text: text, rule: rule, detail: detail})
}

// match looks for what acts in the flat text that was collected: mentions,
// closing words, addresses that are not links; and for invisible characters
// that are written as references. The text ends at the source offset end.
func (p *pass) match(end int) {
	f := &p.flat
	if len(f.text) == 0 {
		return
	}
	f.pos.add(len(f.text), end, false)
	p.used = p.used[:0]
	text := unsafe.String(unsafe.SliceData(f.text), len(f.text))
	has := contentsOf(text)
	if has&(hasColon|hasWWWDot) != 0 {
		findURLs(text, func(start, end int) (next int) {
			v := p.s.judgeText(text[start:end])
			if v.allowed || f.inURL(start, text) {
				return start + 1 // another address may stand within
			}
			p.edit(f.pos.of(start), f.pos.of(end), p.spaced(f.pos.of(start), v.redaction()), RuleLinks, v.detail)
			return end
		})
	}
	if has&hasAt != 0 {
		p.s.findMentions(text, true, func(m mention) {
			if m.inert {
				p.used = append(p.used, m.at+1)
				return
			}
			if f.inLink(m.at) && (isAlnum(text[m.at-1]) || f.inURL(m.at, text)) {
				return
			}
			at := f.pos.of(m.at + 1)
			p.edit(at, at, ourZWSP, RuleMentions, m.name)
		})
	}
	if has&hasRef != 0 {
		findClosing(text, true, &p.squeezed, func(c closing) {
			if c.inert {
				p.used = append(p.used, c.zwsp)
				return
			}
			if p.s.closing {
				return
			}
			ref := c.ref
			if f.inLink(ref) {
				for f.inLink(ref) {
					ref--
				}
				if ref+1 != c.ref {
					return
				}
			}
			at := f.pos.of(ref)
			p.edit(at, at, ourZWSP, RuleClosingWords, c.word)
		})
	}
	if has&hasZWSP != 0 {
		p.dropZWSP(text)
	}
	for _, ref := range f.refs {
		if !f.needed(ref) {
			p.edit(ref.start, ref.end, "", RuleCharacters, contextDetail(ref.r))
		}
	}
}

// dropZWSP removes the markZWSP bytes of text that make nothing inert.
func (p *pass) dropZWSP(text string) {
	slices.Sort(p.used)
	used := p.used
	for i := 0; i < len(text); i++ {
		if text[i] != markZWSP {
			continue
		}
		for len(used) > 0 && used[0] < i {
			used = used[1:]
		}
		if len(used) == 0 || used[0] != i {
			at := p.flat.pos.of(i)
			p.edit(at, at+len(ourZWSP), "", RuleCharacters, "invisible")
		}
	}
}

// spaced puts a space before a redaction that would otherwise touch what
// stands before it: "[a]" and "(host/redacted)" together would be a link.
func (p *pass) spaced(at int, note string) string {
	if at == 0 {
		return note
	}
	switch p.src[at-1] {
	case ' ', '\n', '\t', '(', '>', '|', '"', '\'':
		return note
	}
	return " " + note
}

// What a flat text holds, so that only the rules that may find something run.
const (
	hasAt = 1 << iota
	hasRef
	hasColon
	hasWWWDot
	hasZWSP
)

// contents says what a byte of a flat text stands for.
var contents = [256]uint8{
	'@': hasAt, '#': hasRef, '-': hasRef, markIssue: hasRef, ':': hasColon | hasRef, '.': hasWWWDot, markZWSP: hasZWSP,
}

func contentsOf(text string) uint8 {
	has := uint8(0)
	for i := 0; i < len(text); i++ {
		has |= contents[text[i]]
	}
	return has
}

// commands makes the commands inert that begin a line outside of code blocks.
func (p *pass) commands() {
	block, tag := 0, 0
	findCommands(p.src, func(start, end int) {
		for block < len(p.doc.Blocks) && !p.reaches(block, start) {
			block++
		}
		if block < len(p.doc.Blocks) && p.doc.Blocks[block].Start <= start && isCode(p.doc.Blocks[block].Kind) {
			return
		}
		for tag < len(p.tags) && p.tags[tag].end <= start {
			tag++
		}
		word := p.src[start:end]
		if tag < len(p.tags) && p.tags[tag].start < start {
			p.joinLine(p.tags[tag], start, word)
			return
		}
		p.edit(start, start+1, "&#47;", RuleCommands, word)
	})
}

// reaches tells that the leaf ends behind offset at. Containers are passed:
// their leaves follow.
func (p *pass) reaches(block, at int) bool {
	b := &p.doc.Blocks[block]
	switch b.Kind {
	case markdown.QuoteBlock, markdown.ItemBlock, markdown.FootnoteBlock, markdown.TableBlock, markdown.RowBlock:
		return false
	}
	return b.End > at
}

func isCode(k markdown.BlockKind) bool {
	return k == markdown.FencedCodeBlock || k == markdown.IndentedCodeBlock
}

// joinLine handles a command that begins a line within a tag: the line break
// becomes the space that it is read as.
func (p *pass) joinLine(tag span, at int, word string) {
	start := strings.LastIndexByte(p.src[tag.start:at], '\n') + tag.start
	if start > tag.start {
		p.edit(start, at, " ", RuleCommands, word)
	}
}
