package markdown

import (
	"slices"
	"strings"
)

// CloseOpen returns what has to be appended to s so that text that follows after an
// empty line is visible and not part of anything in s: the end of a code fence or
// HTML block (a comment, a <pre>) that s leaves open, and the end tags that are
// missing. It is empty if nothing is open.
//
// An element counts as closed only where every renderer closes it: where all
// elements in it have ended, except those that need no end tag. Where elements
// overlap, some of the end tags may have nothing to end; browsers ignore those.
func CloseOpen(s string) string {
	doc := Scan(s)
	open := doc.openElements()
	var b strings.Builder
	if n := len(doc.Blocks); n > 0 {
		end, element := doc.closing(&doc.Blocks[n-1])
		b.WriteString(end)
		open.end(element)
	}
	for i, name := range slices.Backward(open.names) {
		if i > 0 || name != "p" { // an outermost paragraph ends where the next block begins
			b.WriteString("\n\n</" + name + ">")
		}
	}
	return b.String()
}

// closing returns the text that closes the last block, if it is open, and the name of
// the element that this text ends, if any. A block in a container ends with the container.
func (d *Document) closing(b *Block) (end, element string) {
	if b.Closed || b.Depth > 0 {
		return "", ""
	}
	text := d.Source[b.Start:b.End]
	switch b.Kind {
	case FencedCodeBlock:
		return "\n" + text[:leadingRun(text, text[0])], ""
	case HTMLBlock:
		switch b.Data { // the kind of HTML block; 6 and 7 end at an empty line
		case 1:
			element = strings.ToLower(text[1 : 1+tagName(text[1:])])
			return "\n</" + element + ">", element
		case 2:
			return "\n-->", ""
		case 3:
			return "\n?>", ""
		case 4:
			return "\n>", ""
		case 5:
			return "\n]]>", ""
		}
	}
	return "", ""
}

// elements keeps track of the elements that are open.
type elements struct {
	names []string // outermost first
	// unsure means that a name may stand for an element that browsers have closed, or
	// have never opened. An end tag then ends nothing but the innermost one.
	unsure bool

	tables, headings, paragraphs int // in names
}

// openElements returns the elements that are open at the end of the document: elements of its HTML,
// and elements of its Markdown that contain an open element of HTML.
func (d *Document) openElements() *elements {
	open := new(elements)
	type block struct {
		next     int32
		elements []string
	}
	var enclosing []block // those around the current block, the innermost last
	endBlocks := func(current int) {
		for len(enclosing) > 0 && int(enclosing[len(enclosing)-1].next) <= current {
			for _, name := range slices.Backward(enclosing[len(enclosing)-1].elements) {
				open.end(name)
			}
			enclosing = enclosing[:len(enclosing)-1]
		}
	}
	for i := range d.Blocks {
		endBlocks(i)
		b := &d.Blocks[i]
		if b.Kind == HTMLBlock {
			if b.Data == 1 || b.Data >= 6 { // 2 to 5 are comments, instructions, declarations and CDATA
				open.read(d.Literal(b, b.Span))
			}
			continue
		}
		names := d.elementsOf(b)
		if len(names) == 0 {
			continue
		}
		for _, name := range names {
			open.start(name)
		}
		first, marks := len(open.names), false
		for _, n := range d.InlinesOf(b) {
			switch n.Kind {
			case HTMLNode:
				open.read(d.Literal(b, n.Span))
			case Text:
				marks = marks || strings.ContainsAny(d.Source[n.Start:n.End], "*_~")
			}
		}
		if marks && len(open.names) > first {
			// An element that is open may keep the emphasis around it open. Browsers remember at
			// most three elements of each name.
			open.names = slices.Insert(open.names, first, "del", "em", "em", "em", "strong", "strong", "strong")
			open.unsure = true
		}
		enclosing = append(enclosing, block{b.Next, names})
	}
	endBlocks(len(d.Blocks))
	return open
}

// elementsOf returns the elements as which a block is rendered, outermost first; none
// for code, which is closed in itself.
func (d *Document) elementsOf(b *Block) []string {
	switch b.Kind {
	case QuoteBlock:
		return []string{"blockquote"}
	case ItemBlock:
		if isDigit(d.Source[b.Start]) {
			return []string{"ol", "li"}
		}
		return []string{"ul", "li"}
	case FootnoteBlock:
		return []string{"section", "li"}
	case ParagraphBlock:
		return []string{"p"}
	case HeadingBlock:
		return []string{"h" + string(rune('0'+b.Data))}
	case TableBlock:
		return []string{"table"}
	case RowBlock:
		return []string{"tr"}
	case CellBlock:
		return []string{"td"}
	}
	return nil
}

// read follows the tags in a text of HTML.
func (open *elements) read(html string) {
	var attributes []Attribute
	for i := 0; ; {
		k := strings.IndexByte(html[i:], '<')
		if k < 0 {
			return
		}
		i += k
		switch {
		case strings.HasPrefix(html[i:], "<!--"):
			end := CommentEnd(html, i)
			if end < 0 {
				return
			}
			i = end
		case IsTagStart(html, i):
			tag, _, ok := ParseTag(html, i, attributes)
			if !ok {
				return
			}
			attributes = tag.Attributes
			i = tag.End
			switch {
			case tag.Closing:
				open.end(tag.Name)
			case tagName(tag.Name) == len(tag.Name): // to Markdown, a tag of another name is text
				open.start(tag.Name)
			}
		default:
			i++
		}
	}
}

// start follows a start tag.
func (open *elements) start(name string) {
	if (isBlockTag(name) || name == "pre") && open.paragraphs > 0 && open.names[len(open.names)-1] != "p" {
		open.unsure = true // it ends the paragraph and the elements in it
	}
	switch name {
	case "tr", "td", "th", "tbody", "thead", "tfoot", "caption": // nothing outside of a table
		open.unsure = open.unsure || open.tables == 0
	}
	if IsVoid(name) {
		return
	}
	if n := open.count(name); n != nil {
		// A table or heading may end another one.
		open.unsure = open.unsure || *n > 0 && name != "p"
		*n++
	}
	open.names = append(open.names, name)
}

// count returns where the elements of a name are counted; nil if they are not.
func (open *elements) count(name string) *int {
	switch name {
	case "p":
		return &open.paragraphs
	case "table":
		return &open.tables
	case "h1", "h2", "h3", "h4", "h5", "h6":
		return &open.headings
	}
	return nil
}

// end follows an end tag. It ends the innermost element of its name if no element in it needs an
// end tag. Otherwise some renderer may leave the element open.
func (open *elements) end(name string) {
	for i, inner := range slices.Backward(open.names) {
		switch {
		case inner == name:
			for _, ended := range open.names[i:] {
				if n := open.count(ended); n != nil {
					*n--
				}
			}
			open.names = open.names[:i]
			return
		case open.unsure || !needsNoEnd(inner, name):
			open.unsure = true
			return
		}
	}
	open.unsure = open.unsure || len(open.names) > 0
}

// needsNoEnd reports whether an inner element needs no end tag, because the end tag of
// the outer one ends it as well.
func needsNoEnd(inner, outer string) bool {
	switch inner {
	case "rt", "rp":
		return outer == "ruby"
	case "p":
		return isBlockTag(outer) || outer == "pre"
	case "li":
		return outer != "p" && (isBlockTag(outer) || outer == "pre")
	case "dt", "dd":
		return outer != "p" && outer != "dt" && outer != "dd" && (isBlockTag(outer) || outer == "pre")
	case "tr", "td", "th", "tbody", "thead", "tfoot", "caption":
		switch outer {
		case "table", "tr", "tbody", "thead", "tfoot":
			return true
		}
	}
	return false
}

// IsVoid reports whether an element has no content and no end tag.
func IsVoid(name string) bool {
	switch name {
	case "br", "hr", "img", "wbr", "source", "input", "link", "meta", "embed", "area", "base", "col", "param", "track":
		return true
	}
	return false
}
