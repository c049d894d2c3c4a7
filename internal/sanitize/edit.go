package sanitize

import (
	"cmp"
	"slices"
	"strings"
)

// edit replaces a range of the source. Its note is counted when it is applied.
type edit struct {
	start, end   int
	text         string
	rule, detail string
}

// applyEdits applies the edits in source order. Of two that overlap the first
// wins; the other is found again in the next round, if it is still needed.
func applyEdits(src string, edits []edit, n *noter) string {
	order := func(a, b edit) int {
		return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.end, b.end))
	}
	if !slices.IsSortedFunc(edits, order) {
		slices.SortStableFunc(edits, order)
	}
	var b strings.Builder
	b.Grow(len(src) + 8*len(edits))
	last := 0
	applied := -1
	for i, e := range edits {
		if e.start < last || applied >= 0 && e == edits[applied] {
			continue
		}
		b.WriteString(src[last:e.start])
		b.WriteString(e.text)
		last = e.end
		applied = i
		if e.rule != "" {
			n.add(e.rule, e.detail)
		}
	}
	b.WriteString(src[last:])
	return b.String()
}
