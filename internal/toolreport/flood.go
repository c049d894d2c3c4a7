package toolreport

import (
	"slices"
	"strings"
)

const (
	shortLine = 2     // bytes
	floodLine = 64    // bytes of the longest line of a flood
	floodRun  = 1_000 // lines
	maxShapes = 1_000 // of the lines of a flood
	// floodTail is how many of the last skipped lines are read after all. No reader keeps more lines
	// than that before it knows what they belong to.
	floodTail = tailLines
)

// flood finds lines that need not be read: 100 MB can be 50 million lines, and reading each took
// longer than a command may run. A line can belong to a flood if it consists of words and numbers
// and is not indented, or has at most shortLine bytes; see setShape. After floodRun such lines in a
// row, each further line that looks like an earlier one is skipped. Only the last skipped lines are
// read after all: see release.
type flood struct {
	run    int             // lines in a row that can belong to a flood
	shapes map[string]bool // of the run's lines after floodRun
	shape  []byte          // of the last line
	held   lastLines       // the last lines that were skipped, at most floodTail
}

// skips reports whether a line need not be read, because an earlier one of its run looks like it.
// It keeps the last such lines for release.
func (f *flood) skips(line string) bool {
	if !f.setShape(line) {
		f.run, f.shapes = 0, nil
		return false
	}
	if f.run++; f.run <= floodRun {
		return false
	}
	if !f.shapes[string(f.shape)] {
		if f.shapes == nil {
			f.shapes = map[string]bool{}
		}
		if len(f.shapes) < maxShapes {
			f.shapes[string(f.shape)] = true
		}
		return false
	}
	f.held.add(line, floodTail)
	return true
}

// release returns the last lines that were skipped. They are read before the line that follows
// them.
func (f *flood) release() []string {
	if len(f.held.ring) == 0 {
		return nil
	}
	held := f.held.inOrder()
	f.held = lastLines{ring: f.held.ring[:0]}
	return held
}

// setShape sets the shape of a line: the line in lower case, with a "#" for each number. It
// reports whether the line may belong to a flood. A line that a tool may print for each test or
// file does not belong to a flood.
func (f *flood) setShape(line string) bool {
	f.shape = f.shape[:0]
	if len(line) > floodLine || len(line) > shortLine && line[0] == ' ' {
		return false
	}
	for i := range len(line) {
		switch c := line[i]; {
		case c >= '0' && c <= '9':
			if len(f.shape) == 0 || f.shape[len(f.shape)-1] != '#' {
				f.shape = append(f.shape, '#')
			}
		case c|0x20 >= 'a' && c|0x20 <= 'z':
			f.shape = append(f.shape, c|0x20)
		case c == ' ' || len(line) <= shortLine:
			f.shape = append(f.shape, c)
		default:
			return false
		}
	}
	return f.shapes[string(f.shape)] || !isCounted(string(f.shape))
}

// isCounted reports whether a text in lower case has a word such as "fail" or "reformat". Test
// runners report results with such words, and formatters report files that are not formatted.
func isCounted(words string) bool {
	for word := range strings.FieldsSeq(words) {
		if word == "ok" || slices.ContainsFunc([]string{"fail", "pass", "error", "test", "reformat"}, func(sign string) bool { return strings.Contains(word, sign) }) {
			return true
		}
	}
	return false
}
