package sanitize

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"
)

// The rules of a Note.
const (
	RuleCharacters   = "characters"    // details: control, escape-sequence, bidirectional, tag, invisible, line-separator, invalid-utf8, reference
	RuleMentions     = "mentions"      // detail: the user or team, in lower case
	RuleClosingWords = "closing-words" // detail: the word, in lower case
	RuleReferences   = "references"    // detail: the repository, in lower case, or "this repository"
	RuleHTML         = "html"          // details: the element's name, or attribute, comment, declaration, image, line, tab, tag
	RuleHiddenText   = "hidden-text"   // details: definition, title, footnote, info, cell, diagram, formula, map, model, link, or an attribute
	RuleLinks        = "links"         // details: the host, the scheme, or malformed, address, reference, box, bracket, bracketed, image, parted
	RuleCommands     = "commands"      // detail: the command
	RuleCode         = "code"          // details: address, backticks, image, indented, lines, tabs, unsettled
	RuleSize         = "size"          // details: body, title
)

// ownRepository is the detail of RuleReferences where no repository is written.
const ownRepository = "this repository"

// Note reports that a rule changed a text: which rule, what it found, how often.
// Detail contains only letters, digits and ".-+_/ ", and at most 60 bytes, so that
// a note never passes on the text that it reports.
type Note struct {
	Rule   string
	Detail string
	Count  int
}

// noter counts what the rules did to one text.
type noter struct {
	notes map[Note]*Note // by their rule and detail
	last  *Note          // the one that was counted last
}

func (n *noter) add(rule, detail string) { n.addN(rule, detail, 1) }

func (n *noter) addN(rule, detail string, count int) {
	if count <= 0 {
		return
	}
	if n.last == nil || n.last.Rule != rule || n.last.Detail != detail {
		n.last = n.note(Note{Rule: rule, Detail: detail})
	}
	n.last.Count += count
}

// note returns the note with the rule and the detail of key.
func (n *noter) note(key Note) *Note {
	if n.notes == nil {
		n.notes = map[Note]*Note{}
	}
	if n.notes[key] == nil {
		n.notes[key] = &Note{Rule: key.Rule, Detail: key.Detail}
	}
	return n.notes[key]
}

// list returns the notes, sorted by rule and detail; nil if there are none.
func (n *noter) list() []Note {
	all := make([]Note, 0, len(n.notes))
	for _, note := range n.notes {
		all = append(all, Note{note.Rule, cleanDetail(note.Detail), note.Count})
	}
	slices.SortFunc(all, func(a, b Note) int {
		return cmp.Or(cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Detail, b.Detail))
	})
	var out []Note
	for _, note := range all {
		if k := len(out); k > 0 && out[k-1].Rule == note.Rule && out[k-1].Detail == note.Detail {
			out[k-1].Count += note.Count
		} else {
			out = append(out, note)
		}
	}
	return out
}

// maxDetail is the longest detail of a note, in bytes.
const maxDetail = 60

// cleanDetail cuts a detail and replaces what it must not contain by question
// marks.
func cleanDetail(s string) string {
	return strings.Map(func(r rune) rune {
		if r < utf8.RuneSelf && (isAlnum(byte(r)) || strings.IndexByte(".-+_/ ", byte(r)) >= 0) {
			return r
		}
		return '?'
	}, s[:min(len(s), maxDetail)])
}
