package sanitize

import "github.com/agent-airlock/airlock/internal/markdown"

// pass is one reading of a body and the edits that it asks for. Its buffers
// are used again by the next reading.
type pass struct {
	s   *Sanitizer
	src string
	doc markdown.Document
	plan
	tooDeep bool
	images  int  // open images around the inline being read
	rawAt   int  // where the bracket of the label being read begins
	inHTML  bool // the HTML being read is a block that an empty line ends

	flat     flat
	squeezed squeezed
	attrs    []htmlAttr
	used     []int // offsets in flat of the markZWSP bytes that make something inert
	anchors  []openAnchor
	shown    map[string][]bool // open elements by name: was the start tag made text?
	tags     []span            // tags over several lines, in source order
	codes    []span            // code spans over several lines, likewise
}

// read scans src and collects the edits.
func (p *pass) read(s *Sanitizer, src string) {
	p.s, p.src = s, src
	p.plan.reset()
	p.tags, p.codes = p.tags[:0], p.codes[:0]
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
	p.plan.reset()
	p.s, p.src, p.shown = nil, "", nil
	p.doc.Rescan("")
	s.passes.Put(p)
}
