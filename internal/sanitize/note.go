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
	notes []Note
	index map[Note]int // index in notes of each note without its count, if there are many
	last  int          // the index that was used last
}

func (n *noter) add(rule, detail string) { n.addN(rule, detail, 1) }

func (n *noter) addN(rule, detail string, count int) {
	if count <= 0 {
		return
	}
	if n.last < len(n.notes) {
		if last := &n.notes[n.last]; last.Rule == rule && last.Detail == detail {
			last.Count += count
			return
		}
	}
	key := Note{Rule: rule, Detail: detail}
	i := n.find(key)
	if i < 0 {
		i = len(n.notes)
		if n.index != nil {
			n.index[key] = i
		}
		n.notes = append(n.notes, key)
	}
	n.notes[i].Count += count
	n.last = i
}

// find returns the index of the note with a rule and detail, or -1. Most texts have few
// notes; the index is built when there are more.
func (n *noter) find(key Note) int {
	const few = 8
	if len(n.notes) <= few {
		return slices.IndexFunc(n.notes, func(note Note) bool { return note.Rule == key.Rule && note.Detail == key.Detail })
	}
	if n.index == nil {
		n.index = make(map[Note]int)
		for i, note := range n.notes {
			n.index[Note{Rule: note.Rule, Detail: note.Detail}] = i
		}
	}
	if i, ok := n.index[key]; ok {
		return i
	}
	return -1
}

// list returns the notes, sorted by rule and detail; nil if there are none.
func (n *noter) list() []Note {
	for i := range n.notes {
		n.notes[i].Detail = cleanDetail(n.notes[i].Detail)
	}
	slices.SortStableFunc(n.notes, func(a, b Note) int {
		return cmp.Or(cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Detail, b.Detail))
	})
	out := n.notes[:0]
	for _, note := range n.notes {
		if k := len(out); k > 0 && out[k-1].Rule == note.Rule && out[k-1].Detail == note.Detail {
			out[k-1].Count += note.Count
			continue
		}
		out = append(out, note)
	}
	n.notes, n.index = out, nil
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
