package sanitize

import (
	"cmp"
	"slices"
	"strings"

	"github.com/agent-airlock/airlock/internal/markdown"
)

// maxRounds is how often a body is read again before it is fenced in full. Two
// rounds are usual: one that edits and one that finds nothing.
const maxRounds = 8

// cutNote is the visible note of a body that was cut.
const cutNote = "*(cut: the text was longer than allowed)*"

// Body cleans a Markdown text. It reads the text as GitHub does, edits what
// would act, and reads again until there is nothing to edit; so it is
// idempotent. A text that needs no edit is returned without allocation.
func (s *Sanitizer) Body(text string) (string, []Note) {
	var n noter
	text = s.cleanStart(text, &n)
	if s.maxBody <= 0 || len(text) <= s.maxBody {
		return text, n.list()
	}
	for size := s.maxBody; markdown.UTF16Len(text) > s.maxBody && size > 0; size -= 64 {
		cut, _ := markdown.Cut(text, size, cutNote)
		cut = s.clean(cut, &noter{})
		if markdown.UTF16Len(cut) <= s.maxBody {
			text = cut
			n.add(RuleSize, "body")
		}
	}
	return text, n.list()
}

// cleanStart cleans a text, or only its start if the rest will be cut anyway.
func (s *Sanitizer) cleanStart(text string, n *noter) string {
	if s.maxBody > 0 && len(text) > s.maxBody+s.maxBody/4 {
		text = strings.ToValidUTF8(text, "")
		// Cleaning adds more to most texts than it removes, so a little more than
		// fits is enough. Four times as much is the most that is read.
		for _, size := range [...]int{s.maxBody + s.maxBody/4, 4 * s.maxBody} {
			start, cut := markdown.Cut(text, size, cutNote)
			if !cut {
				break
			}
			var found noter
			start = s.clean(start, &found)
			if got := markdown.UTF16Len(start); size == 4*s.maxBody || got >= s.maxBody {
				if *n = found; got <= s.maxBody { // otherwise Body cuts again, and notes it
					n.add(RuleSize, "body")
				}
				return start
			}
		}
	}
	return s.clean(text, n)
}

// clean applies the character rules, and reads and edits a body until there is
// nothing to edit.
func (s *Sanitizer) clean(text string, n *noter) string {
	text = characters(text, n)
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
		if p.doc.TooDeep {
			break
		}
		if len(p.edits) == 0 {
			return text
		}
		text = p.apply(text, n)
		size := len(text)
		if mayHaveMarks(text) {
			text = characters(text, n) // what they stood next to may be gone
		}
		if p.active == 0 && len(text) == size || !needsReading(text) {
			return text
		}
	}
	n.add(RuleCode, "unsettled")
	return markdown.Fence("", text)
}

// mayHaveMarks reports quickly whether a text may contain marks of a direction.
func mayHaveMarks(text string) bool {
	const isolates = "\xe2\x81" // the first two bytes of each
	return strings.Contains(text, string(lrm)) || strings.Contains(text, string(rlm)) ||
		strings.Contains(text, string(alm)) || strings.Contains(text, isolates)
}

// needsReading reports whether a text contains anything that could act or hide
// to some reader. It looks only at single bytes and their neighbours.
func needsReading(s string) bool {
	for i := 0; i < len(s); i++ {
		if trigger[s[i]] && triggers(s, i) {
			return true
		}
	}
	return false
}

// trigger marks the bytes that triggers has to look at.
var trigger = [256]bool{
	'#': true, '&': true, '-': true, '.': true, '/': true, ':': true, '<': true, '@': true, '[': true, ']': true, '\\': true,
	'$': true, '%': true, '|': true, '`': true, '~': true,
	0xef: true, // the first byte of wideSlash
}

// triggers reports whether the byte at i may be part of something that acts.
func triggers(s string, i int) bool {
	next := byte(0)
	if i+1 < len(s) {
		next = s[i+1]
	}
	switch s[i] {
	case '@':
		return true
	case '#':
		return isDigit(next) || next == '\\' || vanishes(next)
	case '&':
		return next == '#' || isAlpha(next)
	case '-':
		return i >= 2 && (isDigit(next) || next == '\\' || vanishes(next)) &&
			(s[i-1]|0x20 == 'h' || s[i-1] == '\\' || vanishes(s[i-1]))
	case '.':
		return i >= 3 && (s[i-1]|0x20 == 'w' && (s[i-2]|0x20 == 'w' || vanishes(s[i-2])) || s[i-1] == '\\' || vanishes(s[i-1]))
	case ':':
		return next == '/' || next == '-' || vanishes(next)
	case '|': // the row under the head of a table
		return next == '-' || next == ':' || i > 0 && s[i-1] == '-' || next == ' ' && i+2 < len(s) && (s[i+2] == '-' || s[i+2] == ':')
	case '$':
		return next != 0 && next != ' ' && !isDigit(next)
	case '%':
		return next == '%'
	case '`', '~':
		return next == s[i] && i+2 < len(s) && s[i+2] == s[i] && (i == 0 || s[i-1] != s[i]) && isSpecialFence(s[i:])
	case '<':
		return isAlpha(next) || next == '/' || next == '!' || next == '?'
	case '[':
		return next == '^'
	case ']':
		return next == '(' || next == ':'
	case '\\':
		return next == '/'
	case '/':
		return isAlpha(next) && mayBeginLine(s, i)
	case 0xef:
		return strings.HasPrefix(s[i:], wideSlash)
	}
	return false
}

// isSpecialFence reports whether a line that begins with a fence may begin code that
// GitHub draws, or has a long info string.
func isSpecialFence(line string) bool {
	info := strings.TrimLeft(line, line[:1])
	info = strings.TrimLeft(info[:min(len(info), maxInfo)], " \t")
	return info != "" && info[0]|0x20 == 'm' || len(line) > maxInfo && strings.IndexByte(line[:maxInfo], '\n') < 0
}

// mayBeginLine reports whether there may be only blanks and marks of containers
// before s[i] on its line. It looks at three bytes at most.
func mayBeginLine(s string, i int) bool {
	if i == 0 {
		return true
	}
	switch c := s[i-1]; {
	case isAlnum(c):
		return false
	case c == ' ':
		// After a word and a blank it is in the middle of a sentence.
		return i < 3 || !isAlpha(s[i-2]) && !(isDigit(s[i-2]) && isAlnum(s[i-3]))
	}
	return true
}

// pass is one reading of a body and the edits that it asks for. The next reading
// uses its buffers again.
type pass struct {
	s   *Sanitizer
	src string
	doc markdown.Document
	plan

	// The state of the leaf or HTML block that is being read.
	flat       flat
	images     int  // open images around the inline
	simple     bool // the leaf contains nothing but text, code and links with their addresses
	cut        bool // a link of the leaf was replaced by its text
	declared   bool // the leaf has text like a declaration
	linked     bool // the leaf has an address that links by itself
	labelStart int  // where the bracket of a footnote label begins
	inHTML     bool // the block of HTML ends at an empty line
	attrs      []markdown.Attribute
	anchors    []openAnchor
	squeezed   squeezed
	judged     judged
	usedZWSP   []int // offsets in flat of the markZWSP bytes that make something inert

	// The state of the body.
	openTags  map[string][]bool // open elements by name: whether the start tag was made text
	longTags  []span            // tags of several lines, in source order
	longCodes []span            // code spans of several lines, in source order
	imaged    bool              // there is an image
	small     [3]int            // open elements of each shrinkGroup
	closed    int               // closing words that act so far
	mentioned mentioned
	// The names that links in the body lead to, nil if not known yet, and how many
	// bytes of other names may stay.
	anchorsKnown map[string]bool
	namesLeft    int
	// Whether there are right-to-left characters, if knowsDirection.
	rightToLeft, knowsDirection bool
}

// read scans src and collects the edits.
func (p *pass) read(s *Sanitizer, src string) {
	p.s, p.src = s, src
	p.plan.reset()
	p.longTags, p.longCodes = p.longTags[:0], p.longCodes[:0]
	p.openTags, p.anchorsKnown, p.knowsDirection = nil, nil, false
	p.small, p.imaged, p.closed, p.mentioned = [3]int{}, false, 0, nil
	p.doc.Rescan(src)
	if p.doc.TooDeep {
		return
	}
	p.hiddenText()
	for i := range p.doc.Blocks {
		b := &p.doc.Blocks[i]
		switch b.Kind {
		case markdown.ParagraphBlock, markdown.HeadingBlock, markdown.CellBlock:
			if b.Hidden {
				if !p.doc.Blocks[i-1].Hidden {
					p.surplusCells(i)
				}
				continue
			}
			p.leaf(b)
		case markdown.HTMLBlock:
			p.htmlBlock(i)
		case markdown.FencedCodeBlock:
			p.fencedCode(b)
		case markdown.IndentedCodeBlock:
			p.indentedCode(i)
		}
	}
	p.commands()
}

// maxKept is the length of the largest buffers that are kept for the next text: those
// that a megabyte of nothing but short marks needs.
const maxKept = 1 << 20

// release returns the pass for the next text, without what it refers to.
func (p *pass) release() {
	s := p.s
	if s == nil || cap(p.edits) > maxKept || cap(p.flat.text) > maxKept || cap(p.doc.Inlines) > maxKept {
		return
	}
	p.plan.reset()
	p.s, p.src, p.openTags, p.anchorsKnown = nil, "", nil, nil
	p.judged = judged{}
	p.doc.Rescan("")
	s.passes.Put(p)
}

// edit replaces a range of the source.
type edit struct {
	start, end int32
	note       int32 // index of the note that counts it, -1 for none
	text       string
}

// plan is a list of edits with their notes.
type plan struct {
	edits []edit
	notes []Note // apply counts them

	// active counts the edits after which the text may be read in another way. After
	// the others, which are quiet, there is nothing more to edit.
	active int
	quiet  int // quiet edits in the current leaf or HTML block
}

func (l *plan) reset() {
	clear(l.edits)
	clear(l.notes)
	l.edits, l.notes = l.edits[:0], l.notes[:0]
	l.active, l.quiet = 0, 0
}

// quietEdit is edit for what only makes text inert that stays text, and is found inert
// by the next reading.
func (l *plan) quietEdit(start, end int, text, rule, detail string) {
	l.edit(start, end, text, rule, detail)
	l.active--
	l.quiet++
}

// endLeaf ends the current leaf or HTML block. Its quiet edits are so only in simple
// text.
func (l *plan) endLeaf(simple bool) {
	if !simple {
		l.active += l.quiet
	}
	l.quiet = 0
}

// edit replaces src[start:end] by text and notes it, unless rule is empty. The
// detail is copied, because it may be part of a buffer.
func (l *plan) edit(start, end int, text, rule, detail string) {
	note := -1
	if rule != "" {
		note = l.noteFor(rule, detail)
	}
	if n := len(l.edits); n == cap(l.edits) && n > 1000 {
		l.edits = slices.Grow(l.edits, 3*n) // such a text will need many
	}
	l.active++
	l.edits = append(l.edits, edit{start: int32(start), end: int32(end), text: text, note: int32(note)})
}

// noteFor returns the index of the note about a rule and detail. Of the last few notes
// none is repeated.
func (l *plan) noteFor(rule, detail string) int {
	const few = 8
	for i := len(l.notes) - 1; i >= max(0, len(l.notes)-few); i-- {
		if n := &l.notes[i]; n.Rule == rule && n.Detail == detail {
			return i
		}
	}
	l.notes = append(l.notes, Note{Rule: rule, Detail: strings.Clone(detail)})
	return len(l.notes) - 1
}

// insert inserts text at an offset, without a note.
func (l *plan) insert(offset int, text string) { l.edit(offset, offset, text, "", "") }

// apply applies the edits in source order. Of two that overlap the first wins;
// the next round finds the other one again, if it is still needed.
func (l *plan) apply(src string, n *noter) string {
	order := func(a, b edit) int {
		return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.end, b.end))
	}
	if !slices.IsSortedFunc(l.edits, order) {
		slices.SortStableFunc(l.edits, order)
	}
	var b strings.Builder
	b.Grow(len(src) + 8*len(l.edits))
	last, applied := int32(0), edit{start: -1}
	for _, e := range l.edits {
		if e.start < last || e.start == applied.start && e.end == applied.end && e.text == applied.text {
			l.active++ // the next reading has to look at it
			continue
		}
		b.WriteString(src[last:e.start])
		b.WriteString(e.text)
		last, applied = e.end, e
		if e.note >= 0 {
			l.notes[e.note].Count++
		}
	}
	b.WriteString(src[last:])
	for i := range l.notes {
		n.addN(l.notes[i].Rule, l.notes[i].Detail, l.notes[i].Count)
	}
	return b.String()
}
