package report

import (
	"unicode"
	"unicode/utf8"

	"github.com/agent-airlock/airlock/internal/pages"
)

// maxWordPairs is how many pairs of words of one text are compared. Beyond it, lines that
// differ are marked in full.
const maxWordPairs = 1 << 20

// markWords marks in compared lines the words that differ: a run of lines that are not posted is
// compared, line by line, with those that are posted instead. Lines without a counterpart are
// marked in full.
func markWords(lines []shownLine) []pages.DiffLine {
	out := make([]pages.DiffLine, 0, len(lines))
	budget := maxWordPairs
	for i := 0; i < len(lines); {
		removed := run(lines[i:], '-')
		if removed == 0 {
			marked := lines[i].mark != ' '
			out = append(out, pages.DiffLine{Mark: lines[i].mark, Parts: []pages.DiffPart{{Text: lines[i].text, Marked: marked}}})
			i++
			continue
		}
		added := run(lines[i+removed:], '+')
		was, is := make([]pages.DiffLine, removed), make([]pages.DiffLine, added)
		for j := range max(removed, added) {
			switch {
			case j >= added:
				was[j] = fullyMarked(lines[i+j])
			case j >= removed:
				is[j] = fullyMarked(lines[i+removed+j])
			default:
				was[j], is[j] = compareWords(lines[i+j], lines[i+removed+j], &budget)
			}
		}
		out = append(append(out, was...), is...)
		i += removed + added
	}
	return out
}

// run returns how many lines at the beginning have the mark.
func run(lines []shownLine, mark byte) int {
	n := 0
	for n < len(lines) && lines[n].mark == mark {
		n++
	}
	return n
}

// fullyMarked returns a line all of whose words differ.
func fullyMarked(l shownLine) pages.DiffLine {
	return pages.DiffLine{Mark: l.mark, Parts: []pages.DiffPart{{Text: l.text, Marked: true}}}
}

// compareWords marks the words of each of two lines that the other line does not have.
func compareWords(was, is shownLine, budget *int) (pages.DiffLine, pages.DiffLine) {
	a, b := splitWords(was.text), splitWords(is.text)
	if *budget -= len(a) * len(b); *budget < 0 {
		return fullyMarked(was), fullyMarked(is)
	}
	removed, added := pages.DiffLine{Mark: was.mark}, pages.DiffLine{Mark: is.mark}
	for _, w := range compareLines(a, b) {
		if w.mark != '+' {
			addPart(&removed, w.text, w.mark == '-')
		}
		if w.mark != '-' {
			addPart(&added, w.text, w.mark == '+')
		}
	}
	return removed, added
}

// addPart adds text to a line, to its last part if that is marked alike.
func addPart(l *pages.DiffLine, text string, marked bool) {
	if n := len(l.Parts); n > 0 && l.Parts[n-1].Marked == marked {
		l.Parts[n-1].Text += text
		return
	}
	l.Parts = append(l.Parts, pages.DiffPart{Text: text, Marked: marked})
}

// splitWords divides a line into words, and single characters between them.
func splitWords(line string) []string {
	var list []string
	start := 0
	for i, c := range line {
		before, _ := utf8.DecodeLastRuneInString(line[start:i])
		if i == start || isWord(c) && isWord(before) {
			continue
		}
		list = append(list, line[start:i])
		start = i
	}
	if start < len(line) {
		list = append(list, line[start:])
	}
	return list
}

func isWord(c rune) bool { return unicode.IsLetter(c) || unicode.IsDigit(c) }
