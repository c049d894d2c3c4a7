// Package tasklist reads the task lists of an issue's text, as GitHub shows them, and ticks
// their boxes without changing any other byte.
package tasklist

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/agent-airlock/airlock/internal/lazyregexp"
	"github.com/agent-airlock/airlock/internal/markdown"
)

// Item is an item of a task list.
type Item struct {
	// Text is all that the item says, as Markdown, without comments and without the task list
	// items below it: each paragraph, list item, cell and block of code in a line of its own.
	Text string
	// Ticked reports whether its box is ticked.
	Ticked bool
	box    int // the offset of the character between the brackets
}

// criteriaName is the heading of the section that states acceptance criteria.
var criteriaName = lazyregexp.New(`(?i)^(?:[\W_]*)acceptance criteri(?:a|on)(?:[\W_]*)$`)

// Criteria returns the task list items under each heading "Acceptance criteria" of a text, up
// to the next heading of its level or of a higher one, in their order. What is quoted, code or a
// comment is not an item.
func Criteria(body string) []Item {
	items, _ := CriteriaOf(markdown.Scan(body))
	return items
}

// CriteriaOf is Criteria for a text that was scanned already. unboxed is the number of other list
// items there that are neither part of an item nor around one.
func CriteriaOf(doc *markdown.Document) (items []Item, unboxed int) {
	level := int32(0) // of the outermost heading "Acceptance criteria" above a block; 0 outside its section
	end := int32(0)   // of the newest item
	for i := range doc.Blocks {
		b := &doc.Blocks[i]
		switch {
		case b.Kind == markdown.HeadingBlock && b.Parent < 0:
			if b.Data <= level {
				level = 0
			}
			if level == 0 && criteriaName.MatchString(visible(doc, b)) {
				level = b.Data
			}
		case b.Kind != markdown.ItemBlock || level == 0 || b.Quoted(doc):
		case b.Task:
			if item, ok := itemOf(doc, i); ok {
				items = append(items, item)
				end = max(end, b.Next)
			}
		case int32(i) >= end && textOf(doc, i) != "" && !slices.ContainsFunc(doc.Blocks[i:b.Next], func(b markdown.Block) bool { return b.Task }):
			unboxed++
			end = b.Next
		}
	}
	return items, unboxed
}

// itemOf reads the task list item that is block i; ok is false if it does not begin with a
// paragraph that has text.
func itemOf(doc *markdown.Document, i int) (item Item, ok bool) {
	b := &doc.Blocks[i]
	first := i + 1
	if int32(first) >= b.Next || doc.Blocks[first].Kind != markdown.ParagraphBlock {
		return Item{}, false
	}
	bracket := strings.IndexByte(doc.Source[b.Start:], '[') // no list marker contains one
	box := b.Start + bracket + 1
	if bracket < 0 || box >= doc.Blocks[first].Start || !strings.ContainsRune(" xX", rune(doc.Source[box])) {
		return Item{}, false
	}
	if visible(doc, &doc.Blocks[first]) == "" {
		return Item{}, false
	}
	return Item{Text: textOf(doc, i), Ticked: doc.Source[box] != ' ', box: box}, true
}

// textOf returns the text of the item that is block i; see Item.Text.
func textOf(doc *markdown.Document, i int) string {
	var lines []string
	for j := int32(i) + 1; j < doc.Blocks[i].Next; {
		b := &doc.Blocks[j]
		if b.Kind == markdown.ItemBlock && b.Task && !b.Quoted(doc) {
			j = b.Next
			continue
		}
		if line := visible(doc, b); line != "" {
			lines = append(lines, line)
		}
		j++
	}
	return strings.Join(lines, "\n")
}

// hiddenComment is a comment in a block of HTML.
var hiddenComment = lazyregexp.New(`(?s)<!--.*?(?:-->|$)`)

// visible returns a leaf's text as Markdown in one line, without comments; "" for a container.
func visible(doc *markdown.Document, b *markdown.Block) string {
	var out strings.Builder
	switch b.Kind {
	case markdown.FencedCodeBlock, markdown.IndentedCodeBlock:
		out.WriteString(doc.Literal(b, b.Span))
	case markdown.HTMLBlock:
		out.WriteString(hiddenComment.ReplaceAllString(doc.Literal(b, b.Span), " "))
	}
	for _, n := range doc.InlinesOf(b) {
		source := doc.Literal(b, n.Span)
		switch {
		case n.Kind == markdown.SoftBreak || n.Kind == markdown.HardBreak:
			source = " "
		case n.Kind == markdown.Dropped || n.Kind == markdown.HTMLNode && strings.HasPrefix(source, "<!--"):
			continue
		}
		out.WriteString(source)
	}
	return strings.Join(strings.Fields(out.String()), " ")
}

// Digest returns 32 hexadecimal digits that stand for an item's text.
func Digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:16])
}

// Outcome is what became of the boxes that Tick was to tick.
type Outcome struct {
	Ticked    []string // texts of the items whose boxes were ticked
	Already   int      // boxes that were ticked before
	Ambiguous []string // texts that several items have; none of them is ticked
	Changed   int      // digests that are not those of any item: its text was changed or removed
}

// Tick ticks the boxes under the heading "Acceptance criteria" whose text has one of the
// digests. The result differs from body in one byte for each box that it ticks.
func Tick(body string, digests []string) (string, Outcome) {
	var o Outcome
	wanted, found := map[string]bool{}, map[string][]Item{}
	for _, d := range digests {
		wanted[d] = true
	}
	var order []string
	for _, item := range Criteria(body) {
		d := Digest(item.Text)
		if !wanted[d] {
			continue
		}
		if found[d] == nil {
			order = append(order, d)
		}
		found[d] = append(found[d], item)
	}
	o.Changed = len(wanted) - len(found)
	out := []byte(body)
	for _, d := range order {
		switch item := found[d][0]; {
		case len(found[d]) > 1:
			o.Ambiguous = append(o.Ambiguous, item.Text)
		case item.Ticked:
			o.Already++
		default:
			out[item.box] = 'x'
			o.Ticked = append(o.Ticked, item.Text)
		}
	}
	return string(out), o
}
