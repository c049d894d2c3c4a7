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

// subjectOf returns what the branch of an item is about. Items of later workflow runs with
// the same subject get the same branch, and all others get another. It is what triggered the
// workflow, if that has a number. A workflow run that has none, such as a scheduled one, may be
// about anything: there it is the branch that the configuration or the item names, otherwise
// the title.
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

// number returns a subject of an item with its number among the items before. Where the
// event decides on the subject, that is its number among the items of the kind.
func (s subjects) number(ev event.Event, e *entry) (subject string, ordinal int) {
	subject = subjectOf(ev, e)
	if ev.Number != 0 || subject == "repository" {
		return subject, e.ordinal
	}
	ordinal = s[subject]
	s[subject]++
	return subject, ordinal
}

// titleKey returns the words of a title without what differs when somebody writes the same
// title once more: case, punctuation, white space and emoji. Symbols that make another word of
// a word stay, as in "C++", "C#" and "$5". A title without words is its own key.
func titleKey(title string) string {
	var b strings.Builder
	gap, before := false, ' '
	for _, r := range cases.Fold().String(norm.NFKC.String(title)) {
		inWord := before != ' '
		switch {
		case unicode.IsLetter(r), unicode.IsDigit(r), unicode.IsMark(r) && inWord, unicode.In(r, unicode.Sc), strings.ContainsRune("+#", r) && inWord:
			if gap && b.Len() > 0 {
				b.WriteByte(' ')
			}
			b.WriteRune(r)
			gap, before = false, r
		case unicode.Is(unicode.Cf, r): // invisible: it separates nothing
		default:
			gap, before = true, ' '
		}
	}
	if b.Len() == 0 {
		return strings.TrimSpace(title)
	}
	return b.String()
}
