package changes

import (
	"sort"
	"strings"
)

// LineMap tells where the lines of a file are after a change. The zero value is
// that of a file which did not change.
type LineMap struct {
	steps []lineStep // by their first old line
}

// lineStep says that the old lines from first on are further down by shift, or
// gone.
type lineStep struct {
	first, shift int
	gone         bool
}

// NewLineMap reads the hunks of a unified diff. The error is that of ParsePatch: a
// patch that cannot be read to its end tells nothing of the lines behind it.
func NewLineMap(patch string) (LineMap, error) {
	if _, err := ParsePatch(patch); err != nil {
		return LineMap{}, err
	}
	var m LineMap
	old, shift := 0, 0
	for line := range strings.SplitSeq(strings.TrimSuffix(patch, "\n"), "\n") {
		if start, count, _, _, ok := parseHeader(line); ok {
			if old = start; count == 0 { // nothing of the old file: what follows comes after that line
				old++
			}
			m.add(old, shift, false)
			continue
		}
		switch {
		case old == 0 || strings.HasPrefix(line, `\`): // before the first hunk, or no line of the file
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
	now := lineStep{}
	if n := len(m.steps); n > 0 {
		now = m.steps[n-1]
	}
	if now.gone != gone || !gone && now.shift != shift {
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
	a, b := m.step(first), m.step(last)
	if a != b || a >= 0 && m.steps[a].gone {
		return 0, 0, false
	}
	shift := 0
	if a >= 0 {
		shift = m.steps[a].shift
	}
	return first + shift, last + shift, true
}

// step returns the index of the step that holds for a line, -1 before the first.
func (m LineMap) step(line int) int {
	return sort.Search(len(m.steps), func(i int) bool { return m.steps[i].first > line }) - 1
}
