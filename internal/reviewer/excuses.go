package reviewer

import (
	"regexp"
	"strings"
)

// excuse matches what says why a test is off until somebody asks for it: it is run by
// hand, measures, or needs what is not there; or that there is no test.
var excuse = regexp.MustCompile(`(?i)\b(run (the )?(tests? )?(manually|by hand)|benchmarks?|performance|requires|no tests)\b|--ignored\b`)

// mostMarks bounds how many lines with marks stand between a test's comment and one of them.
const mostMarks = 6

// excused reports whether the line of the token at index i, or the comment above it,
// names an issue or says why the test is off. Other marks of the test may stand in between.
func (c *codeFile) excused(i int) bool {
	number := c.line(c.tokens[i].start)
	if c.excusedBy(c.lineText(number)) {
		return true
	}
	above := number - 1
	for above > max(0, number-mostMarks) && isMark(c.lineText(above)) {
		above--
	}
	return c.excusedBy(c.commentEnding(above))
}

func (c *codeFile) excusedBy(said string) bool {
	return noted.MatchString(said) || excuse.MatchString(said)
}

// isMark reports lines such as "@Test" and "#[test]".
func isMark(line string) bool {
	line = strings.TrimSpace(line)
	return strings.HasPrefix(line, "@") || strings.HasPrefix(line, "#[")
}

// lineText returns a line, from 1, cut where it is too long.
func (c *codeFile) lineText(number int) string {
	line, _, _ := strings.Cut(c.text[c.lines[number-1]:], "\n")
	return line[:min(len(line), longestSource)]
}

// commentEnding returns the comments whose last line is a line, with those right above.
func (c *codeFile) commentEnding(number int) string {
	all := c.source.comments
	last := -1
	for lo, hi := 0, len(all); lo < hi; {
		mid := (lo + hi) / 2
		switch end := c.line(all[mid].end - 1); {
		case end == number:
			last, lo = mid, hi
		case end < number:
			lo = mid + 1
		default:
			hi = mid
		}
	}
	if last < 0 {
		return ""
	}
	first := last
	for first > 0 && last-first < longestNote && c.line(all[first-1].end-1) == c.line(all[first].start)-1 {
		first--
	}
	return c.text[all[first].start:all[last].end]
}
