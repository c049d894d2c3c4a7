package toolreport

import (
	"slices"
	"strings"
	"sync"

	"github.com/agent-airlock/airlock/internal/text"
)

const (
	excerptHead = 30  // lines from two before the first failure on
	excerptTail = 20  // lines at the end
	excerptLine = 300 // bytes of a line
)

// excerpt keeps the lines in which an output begins to fail, and its last ones.
type excerpt struct {
	head    []string
	last    lastLines // excerptTail of them
	failing bool
	after   int // lines since the head was full
}

func (e *excerpt) line(line string) {
	line = text.TruncateBytes(strings.TrimRight(line, " \t"), excerptLine)
	if !e.failing && (reportsFailure(line) || e.beginsDiff(line)) {
		e.failing = true
		e.head = e.before()
	}
	if e.failing && len(e.head) < excerptHead {
		e.head = append(e.head, line)
		return
	}
	if e.failing {
		e.after++
	}
	e.last.add(line, excerptTail)
}

// before returns the two lines before a failure, which often name its file.
func (e *excerpt) before() []string {
	tail := e.last.inOrder()
	return tail[max(0, len(tail)-2):]
}

// beginsDiff reports whether a line begins the first part of a diff, which is how a
// formatter reports failure. The two lines before it name the file.
func (e *excerpt) beginsDiff(line string) bool {
	if !strings.HasPrefix(line, "@@ -") {
		return strings.HasPrefix(line, "Diff in ") // rustfmt's own form
	}
	names := e.before()
	return len(names) == 2 && strings.HasPrefix(names[0], "--- ") && strings.HasPrefix(names[1], "+++ ")
}

// text returns the head, how many lines are left out after it, and the last lines. If no line
// reports a failure, it returns only the last lines.
func (e *excerpt) text() string {
	tail := e.last.inOrder()
	if e.failing && e.after < len(tail) {
		tail = tail[len(tail)-e.after:] // the others were printed before the failure
	}
	all := e.head
	if left := e.after - len(tail); left > 0 {
		all = append(all, "[... "+text.Count(left, "line")+" left out ...]")
	}
	return strings.Trim(strings.Join(append(all, tail...), "\n"), "\n")
}

// failureSigns are the texts that show that a line reports a failure, by their first bytes.
var failureSigns = sync.OnceValue(func() *[256][]string {
	var signs [256][]string
	for _, sign := range []string{"FAIL", "not ok ", "--- FAIL", "panic: ", "Traceback (", "✖", "✕", "×", "●", "[ERROR]", "Failure:", "Failures:", "Error:", "error:", "error[", " error ", "error TS", "FAILED", "[warn]", "would reformat", "Oops!", "ERROR in ", "error during ", "Build failed", "rake aborted!"} {
		signs[sign[0]] = append(signs[sign[0]], sign)
	}
	return &signs
})

// reportsFailure reports whether a line looks like one that reports a failure.
func reportsFailure(line string) bool {
	signs := failureSigns()
	for i := range len(line) {
		for _, sign := range signs[line[i]] {
			if strings.HasPrefix(line[i:], sign) {
				return !reportsSuccess(line)
			}
		}
	}
	return strings.HasSuffix(line, " failing") && !reportsSuccess(line) // mocha's total, before the list
}

// reportsSuccess reports whether a line is one with which a test runner names a test that
// passed, whatever the test's name contains, or a linter's total of no errors.
func reportsSuccess(line string) bool {
	line = strings.TrimLeft(line[prefixOf(line):], " \t")
	if startsWithAny(line, []string{"✓", "✔", "√", "ok ", "PASS", "--- PASS", "[PASS]", "[OK]"}) || strings.HasSuffix(line, " ... ok") || strings.HasSuffix(line, " PASSED") {
		return true
	}
	return slices.ContainsFunc([]string{"(0 errors, ", " PASSED [ ", " PASSED  [ "}, func(sign string) bool { return strings.Contains(line, sign) })
}
