package markdown

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// RenameLabels returns s with its link reference definitions and footnotes labelled anew: each
// label is name, "-" and a number. The result renders as s does, and text that is put above or below
// it does not refer to its definitions. name consists of letters and digits.
func RenameLabels(s, name string) string {
	if !strings.Contains(s, "]:") { // a definition has it
		return s
	}
	doc := Scan(s)
	type edit struct {
		Span
		text string
	}
	var edits []edit
	label := func(kind string, i int) string { return kind + name + "-" + strconv.Itoa(i+1) }
	for i := range doc.Definitions {
		edits = append(edits, edit{doc.Definitions[i].Label, label("", i)})
	}
	for i := range doc.Links {
		if l := &doc.Links[i]; l.Definition >= 0 {
			edits = append(edits, edit{Span{l.Text.End + 1, l.End}, "[" + label("", l.Definition) + "]"})
		}
	}
	for i := range doc.Footnotes {
		edits = append(edits, edit{doc.Footnotes[i].Label, label("", i)})
	}
	for i := range doc.Inlines {
		if n := &doc.Inlines[i]; n.Kind == FootnoteRef {
			edits = append(edits, edit{n.Span, "[" + label("^", int(n.Data)) + "]"})
		}
	}
	slices.SortFunc(edits, func(a, b edit) int { return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.End, b.End)) })
	var b strings.Builder
	end := 0
	for _, e := range edits {
		b.WriteString(s[end:e.Start])
		b.WriteString(e.text)
		end = e.End
	}
	b.WriteString(s[end:])
	return b.String()
}

// RefersBack reports whether following, put after text, refers to definitions or footnotes of
// text.
func RefersBack(text, following string) bool {
	if !strings.Contains(text, "]:") || !strings.Contains(following, "[") {
		return false
	}
	doc := Scan(text + following)
	for i := range doc.Links {
		if l := &doc.Links[i]; l.Definition >= 0 && l.Start >= len(text) && doc.Definitions[l.Definition].Start < len(text) {
			return true
		}
	}
	return slices.ContainsFunc(doc.Inlines, func(n Inline) bool {
		return n.Kind == FootnoteRef && n.Start >= len(text) && doc.Footnotes[n.Data].Label.Start < len(text)
	})
}
