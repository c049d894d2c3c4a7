package apply

import (
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"github.com/agent-airlock/airlock/internal/event"
	"github.com/agent-airlock/airlock/internal/safeoutput"
)

// subjectOf returns the subject of an item's branch. The subject is a part of branchKey, so an item
// of a later workflow run gets the same branch only if it has the same subject. The subject is the
// number of the issue or pull request that triggered the workflow. Without such a number, as on a
// schedule, the subject of a new pull request is the branch that the configuration or the item
// names, or else the title. All items of other kinds then have the same subject.
func subjectOf(ev event.Event, e *entry) string {
	it, ok := e.item.(*safeoutput.CreatePullRequest)
	switch {
	case ev.Number != 0:
		return "#" + strconv.Itoa(ev.Number)
	case !ok: // it goes to a branch that is there
		return "repository"
	case e.settings.Changes.Branch != "":
		return "branch " + e.settings.Changes.Branch
	case it.Branch != "":
		return "branch " + it.Branch
	}
	return "title " + titleKey(strings.TrimPrefix(it.Title, e.settings.TitlePrefix))
}

// subjects numbers the items of a workflow run that have the same subject.
type subjects map[string]int

// number returns the subject of an item, and how many items before it have the same subject.
// Where all items have one subject, it counts only items of the same kind.
func (s subjects) number(ev event.Event, e *entry) (subject string, ordinal int) {
	subject = subjectOf(ev, e)
	if ev.Number != 0 || subject == "repository" {
		return subject, e.ordinal
	}
	ordinal = s[subject]
	s[subject]++
	return subject, ordinal
}

// titleKey returns the words of a title. It leaves out differences that do not make another title:
// case, punctuation, white space and emoji. Symbols that mean something stay, as in "C++", "C#",
// "$5", "100%", "<=", "-1", ".env", "!x" and "Allow * in names": two keys for one title only make a
// pull request too many, but with one key for two titles, one pull request replaces the other. A
// title without words is its own key.
func titleKey(title string) string {
	var b strings.Builder
	inWord := false
	runes := []rune(cases.Fold().String(norm.NFKC.String(title)))
	for i, r := range runes {
		switch {
		case isWordPart(runes, i, inWord):
			if !inWord && b.Len() > 0 {
				b.WriteByte(' ')
			}
			b.WriteRune(r)
			inWord = true
		case unicode.Is(unicode.Cf, r): // invisible: it separates nothing
		default:
			inWord = false
		}
	}
	if b.Len() == 0 {
		return strings.TrimSpace(title)
	}
	return b.String()
}

// isWordPart reports whether a rune belongs to a word. inWord is true if an earlier rune does and
// no separator is between them.
func isWordPart(runes []rune, i int, inWord bool) bool {
	r := runes[i]
	switch {
	case unicode.IsLetter(r), unicode.IsDigit(r), unicode.In(r, unicode.Sc), unicode.In(r, unicode.Sm) && r != '|':
		return true
	case inWord && (unicode.IsMark(r) || strings.ContainsRune("+#%", r)):
		return true
	}
	return beginsWord(runes, i) || standsAlone(runes, i)
}

// beginsWord reports whether a rune is a sign at the beginning of a word and belongs to it, as in
// ".env".
func beginsWord(runes []rune, i int) bool {
	return strings.ContainsRune("-!./@&", runes[i]) && isBoundary(runes, i-1) && i+1 < len(runes) && (unicode.IsLetter(runes[i+1]) || unicode.IsDigit(runes[i+1]))
}

// standsAlone reports whether a rune belongs to a word that consists of operators.
func standsAlone(runes []rune, i int) bool {
	operator := func(i int) bool { return 0 <= i && i < len(runes) && strings.ContainsRune(`*?&/\^%@!`, runes[i]) }
	if !operator(i) {
		return false
	}
	first, last := i, i
	for operator(first - 1) {
		first--
	}
	for operator(last + 1) {
		last++
	}
	return isBoundary(runes, first-1) && isBoundary(runes, last+1)
}

// isBoundary reports whether an index is outside the text, or at white space, a quotation mark
// or a bracket.
func isBoundary(runes []rune, i int) bool {
	return i < 0 || i >= len(runes) || unicode.IsSpace(runes[i]) || strings.ContainsRune("\"'`", runes[i]) ||
		unicode.In(runes[i], unicode.Ps, unicode.Pe, unicode.Pi, unicode.Pf)
}
