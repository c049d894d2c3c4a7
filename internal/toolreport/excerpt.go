package toolreport

import (
	"fmt"
	"slices"
	"strings"
)

const (
	excerptHead = 30  // lines from the first failure on
	excerptTail = 20  // lines at the end
	excerptLine = 300 // bytes of a line
)

// excerpt keeps the lines in which an output begins to fail, and its last ones.
type excerpt struct {
	head    []string
	tail    []string // a ring, once it is full
	next    int
	failing bool
	between int // lines since the head was full
}

func (e *excerpt) line(line string) {
	line = clip(strings.TrimRight(line, " \t"), excerptLine)
	if !e.failing && (failureIn(line) || e.diffAt(line)) {
		e.failing = true
		e.head = e.before()
	}
	if e.failing && len(e.head) < excerptHead {
		e.head = append(e.head, line)
		return
	}
	if e.failing {
		e.between++
	}
	if len(e.tail) < excerptTail {
		e.tail = append(e.tail, line)
		return
	}
	e.tail[e.next] = line
	e.next = (e.next + 1) % excerptTail
}

// before returns the two lines before a failure, which often name its file.
func (e *excerpt) before() []string {
	tail := append(append([]string{}, e.tail[e.next:]...), e.tail[:e.next]...)
	return slices.Clone(tail[max(0, len(tail)-2):])
}

// diffAt reports whether a line begins the first part of a diff, which a formatter
// prints instead of a word of failure: the two lines before it name the file.
func (e *excerpt) diffAt(line string) bool {
	if !strings.HasPrefix(line, "@@ -") {
		return strings.HasPrefix(line, "Diff in ") // rustfmt's own form
	}
	names := e.before()
	return len(names) == 2 && strings.HasPrefix(names[0], "--- ") && strings.HasPrefix(names[1], "+++ ")
}

// text returns the lines: those of the beginning of failure, a line in the place
// of what is left out, the last ones.
func (e *excerpt) text() string {
	tail := append(append([]string{}, e.tail[e.next:]...), e.tail[:e.next]...)
	if e.failing && e.between < len(tail) {
		tail = tail[len(tail)-e.between:] // what is before was printed before the failure
	}
	all := e.head
	if left := e.between - len(tail); left > 0 {
		all = append(all, fmt.Sprintf("[... %d lines left out ...]", left))
	}
	return strings.Trim(strings.Join(append(all, tail...), "\n"), "\n")
}

// failureIn reports whether a line looks like one in which something fails.
func failureIn(line string) bool {
	for _, sign := range []string{"FAIL", "not ok ", "--- FAIL", "panic: ", "Traceback (", "✖", "✕", "×", "●", "[ERROR]", "Failure:", "Failures:", "Error:", "error:", "error[", " error ", "error TS", "FAILED", "[warn]", "would reformat", "Oops!"} {
		if strings.Contains(line, sign) {
			return true
		}
	}
	return false
}
