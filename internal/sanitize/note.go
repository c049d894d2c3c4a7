package sanitize

import (
	"cmp"
	"slices"
	"strings"
)

// The rules that a Note can name.
const (
	RuleCharacters   = "characters"    // details: control, escape-sequence, bidirectional, tag, invisible, invalid-utf8
	RuleMentions     = "mentions"      // detail: the user or team, in lower case
	RuleClosingWords = "closing-words" // detail: the word, in lower case
	RuleHTML         = "html"          // detail: comment, or the element's name
	RuleHiddenText   = "hidden-text"   // details: definition, title, footnote
	RuleLinks        = "links"         // detail: the host, or the scheme, or "malformed"
	RuleCommands     = "commands"      // detail: the command
	RuleCode         = "code"          // details: backticks, unsettled
	RuleSize         = "size"          // details: body, title
)

// Note says that a rule changed a text: which rule, what it met, how often.
// Detail holds only letters, digits and ".-_/ " and at most 60 bytes, so that
// a note never carries the text that it reports.
type Note struct {
	Rule   string
	Detail string
	Count  int
}

// noter counts what the rules did to one text.
type noter struct {
	counts map[Note]int
}

func (n *noter) add(rule, detail string) { n.addN(rule, detail, 1) }

func (n *noter) addN(rule, detail string, count int) {
	if count <= 0 {
		return
	}
	if n.counts == nil {
		n.counts = make(map[Note]int)
	}
	n.counts[Note{Rule: rule, Detail: cleanDetail(detail)}] += count
}

// list returns the notes, sorted by rule and detail; nil when there are none.
func (n *noter) list() []Note {
	if len(n.counts) == 0 {
		return nil
	}
	out := make([]Note, 0, len(n.counts))
	for k, c := range n.counts {
		k.Count = c
		out = append(out, k)
	}
	slices.SortFunc(out, func(a, b Note) int {
		return cmp.Or(cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Detail, b.Detail))
	})
	return out
}

// maxDetail is the longest detail of a note, in bytes.
const maxDetail = 60

func cleanDetail(s string) string {
	if len(s) > maxDetail {
		s = s[:maxDetail]
	}
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9':
			return r
		case strings.ContainsRune(".-_/ ", r):
			return r
		}
		return '?'
	}, s)
}
