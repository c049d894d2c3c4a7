package sanitize

import (
	"cmp"
	"slices"
	"strings"
)

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
