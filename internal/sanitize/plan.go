package sanitize

import (
	"cmp"
	"slices"
	"strings"

	"github.com/agent-airlock/airlock/internal/markdown"
)

// edit replaces a range of the source. A hostile text needs one every second byte, so it
// is small, and contains no pointer that the garbage collector would follow.
type edit struct {
	start, end int32
	change     int32 // index in plan.changes
	quiet      bool  // once it is made, the text around it need not be read again
}

// change is what several edits have in common: the text that replaces their ranges, and the
// note about them, in which apply counts them. The note's Rule is "" if there is nothing to note.
type change struct {
	text string
	note Note
}

// plan is a list of edits.
type plan struct {
	edits   []edit
	changes []change

	size int // of the text, in bytes
	leaf int // the index of the first edit in the current leaf or HTML block
}

// reset begins the plan for a text of so many bytes.
func (l *plan) reset(size int) {
	clear(l.changes)
	l.edits, l.changes = l.edits[:0], l.changes[:0]
	l.size, l.leaf = size, 0
}

// quietEdit does what the method edit does, for a change that only makes text inert. The text stays
// text, and another reading would find nothing to edit there.
func (l *plan) quietEdit(start, end int, text, rule, detail string) {
	l.edit(start, end, text, rule, detail)
	l.edits[len(l.edits)-1].quiet = true
}

// endLeaf ends the current leaf or HTML block. Its edits are quiet only in simple text.
func (l *plan) endLeaf(simple bool) {
	if !simple {
		for i := l.leaf; i < len(l.edits); i++ {
			l.edits[i].quiet = false
		}
	}
	l.leaf = len(l.edits)
}

// edit replaces src[start:end] by text and notes it, unless rule is empty. The
// detail is copied, because it may be part of a buffer.
func (l *plan) edit(start, end int, text, rule, detail string) {
	l.edits = append(markdown.Grown(l.edits, start, l.size), edit{start: int32(start), end: int32(end), change: l.changeTo(text, rule, detail)})
}

// recentChanges is how many of the last changes are compared with a new one.
const recentChanges = 8

// changeTo returns the index of a change. It appends the change, unless one of the last few is equal.
func (l *plan) changeTo(text, rule, detail string) int32 {
	for i := len(l.changes) - 1; i >= max(0, len(l.changes)-recentChanges); i-- {
		if c := &l.changes[i]; c.text == text && c.note.Rule == rule && c.note.Detail == detail {
			return int32(i)
		}
	}
	l.changes = append(l.changes, change{text, Note{Rule: rule, Detail: strings.Clone(detail)}})
	return int32(len(l.changes) - 1)
}

// textOf returns what replaces the range of an edit.
func (l *plan) textOf(e *edit) string { return l.changes[e.change].text }

// insert inserts text at an offset, without a note.
func (l *plan) insert(offset int, text string) { l.edit(offset, offset, text, "", "") }

// settle puts the edits in source order. Of two that overlap or are equal the first stays; the
// next reading finds the other one again, if it is still needed.
func (l *plan) settle() {
	slices.SortStableFunc(l.edits, func(a, b edit) int { return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.end, b.end)) })
	settled := l.edits[:0]
	for _, e := range l.edits {
		if n := len(settled); n > 0 {
			last := &settled[n-1]
			overlaps := e.start < last.end
			repeats := e.start == last.start && e.end == last.end && l.textOf(&e) == l.textOf(last)
			if overlaps || repeats {
				last.quiet = false
				continue
			}
		}
		settled = append(settled, e)
	}
	l.edits = settled
}

// apply returns src with the edits, which are settled, and notes them.
func (l *plan) apply(src string, n *noter) string {
	var b strings.Builder
	b.Grow(len(src) + 8*len(l.edits))
	last := int32(0)
	for _, e := range l.edits {
		b.WriteString(src[last:e.start])
		c := &l.changes[e.change]
		b.WriteString(c.text)
		c.note.Count++
		last = e.end
	}
	b.WriteString(src[last:])
	for i := range l.changes {
		if note := &l.changes[i].note; note.Rule != "" {
			n.addN(note.Rule, note.Detail, note.Count)
		}
	}
	return b.String()
}
