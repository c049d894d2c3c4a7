package changes

import (
	"sort"
	"strings"
)

// LineMap maps the lines of a file to where they are after a change. The zero value is the map of a
// file that did not change.
type LineMap struct {
	steps []lineStep // by their first old line
}

// lineStep is about the old lines that begin with first: they move down by shift lines, or are
// removed.
type lineStep struct {
	first, shift int
	gone         bool
}

// NewLineMap reads the hunks of a unified diff. The error is that of ParsePatch:
// where a patch cannot be read to its end, nothing is known of the lines after it.
func NewLineMap(patch string) (LineMap, error) {
	if _, err := ParsePatch(patch); err != nil {
		return LineMap{}, err
	}
	var m LineMap
	old, shift := 0, 0
	for line := range strings.SplitSeq(strings.TrimSuffix(patch, "\n"), "\n") {
		if h, ok := parseHeader(line); ok {
			m.add(old, shift, false) // the lines between the hunks
			old = h.oldStart
			if h.oldCount == 0 { // nothing of the old file: what follows comes after that line
				old++
			}
			continue
		}
		switch {
		case old == 0 || strings.HasPrefix(line, `\`): // before the first hunk, or not a line of the file
		case strings.HasPrefix(line, "-"):
			m.add(old, shift, true)
			old++
			shift--
		case strings.HasPrefix(line, "+"):
			shift++
		default:
			m.add(old, shift, false)
			old++
		}
	}
	m.add(old, shift, false)
	return m, nil
}

func (m *LineMap) add(first, shift int, gone bool) {
	latest := lineStep{}
	if n := len(m.steps); n > 0 {
		latest = m.steps[n-1]
	}
	if latest.gone != gone || !gone && latest.shift != shift {
		m.steps = append(m.steps, lineStep{first, shift, gone})
	}
}

// Lines returns where the old lines from first to last, counted from 1, are now;
// ok is false where one of them was changed or removed, or something now stands
// between them.
func (m LineMap) Lines(first, last int) (newFirst, newLast int, ok bool) {
	if first < 1 || last < first {
		return 0, 0, false
	}
	i := m.step(first)
	if i != m.step(last) || i >= 0 && m.steps[i].gone {
		return 0, 0, false
	}
	shift := 0
	if i >= 0 {
		shift = m.steps[i].shift
	}
	return first + shift, last + shift, true
}

// step returns the index of the step that applies to a line, -1 before the first.
func (m LineMap) step(line int) int {
	return sort.Search(len(m.steps), func(i int) bool { return m.steps[i].first > line }) - 1
}
