package sanitize

import (
	"cmp"
	"slices"
	"strings"

	"github.com/agent-airlock/airlock/internal/markdown"
)

// maxRounds is how often a body is read again before it is fenced whole. Two
// rounds are usual: one that edits and one that finds nothing.
const maxRounds = 8

// cutNote is the visible note of a body that was cut.
const cutNote = "*(cut: the text was longer than allowed)*"

// Body cleans a Markdown text. It reads the text as GitHub does, edits what
// would act, and reads again until nothing is left to edit; so the result is
// its own result. A text that needs nothing is returned without allocation.
func (s *Sanitizer) Body(text string) (string, []Note) {
	var n noter
	text = s.beginning(text, &n)
	if s.maxBody <= 0 || len(text) <= s.maxBody {
		return text, n.list()
	}
	for room := s.maxBody; markdown.UTF16Len(text) > s.maxBody && room > 0; room -= 64 {
		cut, _ := markdown.Cut(text, room, cutNote)
		var quiet noter
		cut = s.settle(characters(cut, &quiet), &quiet)
		if markdown.UTF16Len(cut) <= s.maxBody {
			text = cut
			n.add(RuleSize, "body")
		}
	}
	return text, n.list()
}

// beginning cleans a text, or as much of its beginning as the result has room
// for: what is cut anyway is not read.
func (s *Sanitizer) beginning(text string, n *noter) string {
	if s.maxBody > 0 && len(text) > s.maxBody+s.maxBody/4 {
		text = strings.ToValidUTF8(text, "")
		// Cleaning adds more than it takes away, in most texts: a little more than
		// what fits will do. Four times as much is the most that is read.
		for _, room := range [...]int{s.maxBody + s.maxBody/4, 4 * s.maxBody} {
			head, cut := markdown.Cut(text, room, cutNote)
			if !cut {
				break
			}
			var found noter
			head = s.settle(characters(head, &found), &found)
			if size := markdown.UTF16Len(head); room == 4*s.maxBody || size >= s.maxBody {
				if *n = found; size <= s.maxBody { // else the cut that follows is noted
					n.add(RuleSize, "body")
				}
				return head
			}
		}
	}
	return s.settle(characters(text, n), n)
}

// settle reads and edits until nothing is left to edit.
func (s *Sanitizer) settle(text string, n *noter) string {
	if !needsReading(text) {
		return text
	}
	p, ok := s.passes.Get().(*pass)
	if !ok {
		p = new(pass)
	}
	defer p.release()
	for range maxRounds {
		p.read(s, text)
		if p.tooDeep {
			break
		}
		if len(p.edits) == 0 {
			return text
		}
		text = p.apply(text, n)
		if !needsReading(text) {
			return text
		}
	}
	n.add(RuleCode, "unsettled")
	return markdown.Fence("", text)
}

// needsReading tells whether a text holds anything that could act, or hide,
// in some reading of it. It looks at single bytes and their neighbours only.
func needsReading(s string) bool {
	for i := 0; i < len(s); i++ {
		if trigger[s[i]] && triggers(s, i) {
			return true
		}
	}
	return false
}

// trigger tells quickly which bytes triggers has to look at.
var trigger = [256]bool{
	'#': true, '&': true, '-': true, '.': true, '/': true, ':': true, '<': true, '@': true, '[': true, ']': true, '\\': true,
}

// triggers tells whether the byte at i may be part of something that acts.
func triggers(s string, i int) bool {
	next := byte(0)
	if i+1 < len(s) {
		next = s[i+1]
	}
	switch s[i] {
	case '@':
		return true
	case '#':
		return isDigit(next) || next == '\\' || isSqueezed(next)
	case '&':
		return next == '#' || isAlpha(next)
	case '-':
		return i >= 2 && (isDigit(next) || next == '\\' || isSqueezed(next)) &&
			(s[i-1]|0x20 == 'h' || s[i-1] == '\\' || isSqueezed(s[i-1]))
	case '.':
		return i >= 3 && (s[i-1]|0x20 == 'w' && (s[i-2]|0x20 == 'w' || isSqueezed(s[i-2])) || s[i-1] == '\\' || isSqueezed(s[i-1]))
	case ':':
		return next == '/' || isSqueezed(next)
	case '<':
		return isAlpha(next) || next == '/' || next == '!' || next == '?'
	case '[':
		return next == '^'
	case ']':
		return next == '(' || next == ':'
	case '\\':
		return next == '/'
	case '/':
		return isAlpha(next) && startsLine(s, i)
	}
	return false
}

// startsLine tells that nothing but blanks and container marks may stand
// before s[i] on its line.
func startsLine(s string, i int) bool {
	if i == 0 {
		return true
	}
	switch c := s[i-1]; {
	case isAlnum(c) && c < 0x80:
		return false
	case c == ' ':
		// A word before the blank: the middle of a sentence.
		return i < 3 || !isAlpha(s[i-2]) && !(isDigit(s[i-2]) && isAlnum(s[i-3]))
	}
	return true
}

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

// edit replaces a range of the source.
type edit struct {
	start, end int32
	note       int32 // index of the note that is counted when it is applied, -1 for none
	text       string
}

// plan is a list of edits with their notes.
type plan struct {
	edits []edit
	notes []Note // without counts
}

func (l *plan) reset() {
	clear(l.edits)
	clear(l.notes)
	l.edits, l.notes = l.edits[:0], l.notes[:0]
}

// edit adds an edit to the plan. The detail may be cut from memory that is used
// again, so it is copied.
func (l *plan) edit(start, end int, text, rule, detail string) {
	note := -1
	if rule != "" {
		note = len(l.notes) - 1
		if note < 0 || l.notes[note].Rule != rule || l.notes[note].Detail != detail {
			l.notes = append(l.notes, Note{Rule: rule, Detail: strings.Clone(detail)})
			note++
		}
	}
	if n := len(l.edits); n == cap(l.edits) && n > 1000 {
		l.edits = slices.Grow(l.edits, 3*n) // a text of this kind will have many
	}
	l.edits = append(l.edits, edit{start: int32(start), end: int32(end), text: text, note: int32(note)})
}

// apply applies the edits in source order. Of two that overlap the first wins;
// the other is found again in the next round, if it is still needed.
func (l *plan) apply(src string, n *noter) string {
	order := func(a, b edit) int {
		return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.end, b.end))
	}
	if !slices.IsSortedFunc(l.edits, order) {
		slices.SortStableFunc(l.edits, order)
	}
	var b strings.Builder
	b.Grow(len(src) + 8*len(l.edits))
	last, applied := int32(0), -1
	for i, e := range l.edits {
		if e.start < last || applied >= 0 && sameEdit(e, l.edits[applied]) {
			continue
		}
		b.WriteString(src[last:e.start])
		b.WriteString(e.text)
		last = e.end
		applied = i
		if e.note >= 0 {
			n.add(l.notes[e.note].Rule, l.notes[e.note].Detail)
		}
	}
	b.WriteString(src[last:])
	return b.String()
}

// sameEdit tells that two edits do the same at the same place.
func sameEdit(a, b edit) bool { return a.start == b.start && a.end == b.end && a.text == b.text }
