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
// Detail contains only letters, digits and ".-+_/ ?", and at most 60 bytes, so that
// a note never passes on the text that it reports.
type Note struct {
	Rule   string
	Detail string
	Count  int
}

// noter counts what the rules did to one text.
type noter struct{ notes []Note } // list joins those with the same rule and detail

func (n *noter) add(rule, detail string) { n.addN(rule, detail, 1) }

func (n *noter) addN(rule, detail string, count int) {
	if count <= 0 {
		return
	}
	const recent = 8 // the last notes, which are compared with the new one
	for i := len(n.notes) - 1; i >= max(0, len(n.notes)-recent); i-- {
		if note := &n.notes[i]; note.Rule == rule && note.Detail == detail {
			note.Count += count
			return
		}
	}
	n.notes = append(n.notes, Note{rule, detail, count})
}

// list returns the notes, sorted by rule and detail; nil if there are none.
func (n *noter) list() []Note {
	for i := range n.notes {
		n.notes[i].Detail = cleanDetail(n.notes[i].Detail)
	}
	slices.SortFunc(n.notes, func(a, b Note) int {
		return cmp.Or(cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Detail, b.Detail))
	})
	out := n.notes[:0]
	for _, note := range n.notes {
		if k := len(out); k > 0 && out[k-1].Rule == note.Rule && out[k-1].Detail == note.Detail {
			out[k-1].Count += note.Count
		} else {
			out = append(out, note)
		}
	}
	n.notes = out
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
