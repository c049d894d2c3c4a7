package markdown

import (
	"fmt"
	"slices"
	"strings"
)

// trace writes the result of a parse in a form into which cmark-gfm's tree can be brought, too:
// block kinds, code, HTML, destinations, titles, and text. It leaves out emphasis marks, because
// only one of the two keeps them.
type trace struct {
	b    strings.Builder
	text strings.Builder
	cell int // where the open cell starts
	// start is set while no text has come since the last thing added.
	start bool
}

var dropEmphasis = strings.NewReplacer("*", "", "_", "", "~", "")

func (t *trace) flush() {
	s := dropEmphasis.Replace(t.text.String())
	// White space after a hard break may be the rest of a tab, which has no
	// source.
	for strings.Contains(s, "\x01\n ") {
		s = strings.ReplaceAll(s, "\x01\n ", "\x01\n")
	}
	if t.start { // white space at the start of a leaf likewise
		s = strings.TrimLeft(s, " ")
	}
	t.start = false
	if s != "" {
		fmt.Fprintf(&t.b, "text %q\n", s)
	}
	t.text.Reset()
}

func (t *trace) add(format string, args ...any) {
	t.flush()
	fmt.Fprintf(&t.b, format+"\n", args...)
	t.start = true
}

// openCell and closeCell write a cell, unless it is empty: cmark fills rows up.
func (t *trace) openCell() {
	t.flush()
	t.cell = t.b.Len()
	t.add("cell")
}

func (t *trace) closeCell() {
	t.flush()
	if s := t.b.String(); s[t.cell:] == "cell\n" {
		t.b.Reset()
		t.b.WriteString(s[:t.cell])
		return
	}
	t.add("/cell")
}

// traceOf returns the trace of our own scanner.
func traceOf(doc *Document) string {
	var t trace
	t.blocks(doc, 0, len(doc.Blocks))
	var order []int
	for _, n := range doc.Inlines {
		if n.Kind == FootnoteRef && !slices.Contains(order, int(n.Data)) {
			order = append(order, int(n.Data))
		}
	}
	for _, i := range order {
		b := doc.Footnotes[i].Block
		t.add("footnote")
		t.blocks(doc, b+1, int(doc.Blocks[b].Next))
		t.add("/footnote")
	}
	t.flush()
	return t.b.String()
}

func (t *trace) blocks(doc *Document, from, to int) {
	for i := from; i < to; i = int(doc.Blocks[i].Next) {
		b := &doc.Blocks[i]
		literal := func() string {
			var s string
			for _, p := range doc.PiecesOf(b) {
				s += strings.Repeat(" ", p.Pad) + normalizeBreaks(doc.Source[p.Start:p.End])
			}
			// cmark ends the last line of a text if it is not ended.
			if ps := doc.PiecesOf(b); len(ps) > 0 && !strings.HasSuffix(s, "\n") || len(ps) > 0 &&
				ps[len(ps)-1].End == len(doc.Source) && !strings.HasSuffix(normalizeBreaks(doc.Source), "\n") {
				s += "\n"
			}
			return s
		}
		name := blockNames[b.Kind]
		switch b.Kind {
		case FootnoteBlock, DefinitionBlock:
			continue
		case FencedCodeBlock:
			t.add("code %q %q", doc.InfoString(b), literal())
			continue
		case IndentedCodeBlock:
			t.add("code %q %q", "", literal())
			continue
		case HTMLBlock:
			t.add("html %q", literal())
			continue
		case ThematicBreakBlock:
			t.add("hr")
			continue
		case HeadingBlock:
			name = fmt.Sprint("h", b.Data)
		case ItemBlock:
			if b.Task {
				name = "task"
			}
		case CellBlock:
			if !b.Hidden {
				t.openCell()
				t.inlines(doc, b)
				t.closeCell()
			}
			continue
		}
		t.add("%s", name)
		t.inlines(doc, b)
		t.blocks(doc, i+1, int(b.Next))
		t.add("/%s", name)
	}
}

func (t *trace) inlines(doc *Document, b *Block) {
	nodes := doc.InlinesOf(b)
	for i := range nodes {
		n := &nodes[i]
		src := doc.Source[n.Start:n.End]
		switch n.Kind {
		case Text, Backticks:
			t.text.WriteString(src)
		case Escape:
			t.text.WriteString(src[len(src)-1:])
		case Entity:
			text, _ := DecodeEntity(src)
			t.text.WriteString(text)
		case SoftBreak:
			t.text.WriteString("\n")
		case HardBreak:
			t.text.WriteString("\x01\n")
		case CodeNode:
			t.add("code %q", doc.CodeText(b, n))
		case HTMLNode:
			t.add("tag %q", normalizeBreaks(doc.Literal(b, n.Span)))
		case LinkOpen:
			t.add("%s %q %q", linkName(doc, n), normalizeBreaks(doc.Destination(int(n.Data))), normalizeBreaks(doc.LinkTitle(int(n.Data))))
		case LinkClose:
			t.add("/%s", linkName(doc, n))
		case Autolink:
			l := &doc.Links[n.Data]
			t.add("link %q %q", doc.Destination(int(n.Data)), "")
			text := doc.Literal(b, l.Text)
			switch l.Kind {
			case AngleURL, AngleEmail:
				text = decode(text, "&")
			case BareEmail:
				text = decode(text, `&\`)
			}
			t.text.WriteString(text)
			t.add("/link")
		case FootnoteRef:
			t.add("ref")
		}
	}
}

func linkName(doc *Document, n *Inline) string {
	if doc.Links[n.Data].Image {
		return "image"
	}
	return "link"
}

// LinkTitle returns the title of link i, decoded, without its quotes.
func (d *Document) LinkTitle(i int) string {
	l := &d.Links[i]
	if l.Title.Empty() {
		return ""
	}
	raw := d.linkPart(l, l.Title)
	return decode(decode(raw[1:len(raw)-1], "&"), `\`)
}

// InfoString returns the info string of fenced code, decoded.
func (d *Document) InfoString(b *Block) string {
	raw := decode(d.Info(b), "&")
	return decode(strings.Trim(raw, " \t\r\n"), `\`)
}

func normalizeBreaks(s string) string {
	return strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(s)
}

// differ describes the first difference of two traces, and returns "" if there is none.
func differ(got, want string) string {
	if got == want {
		return ""
	}
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range max(len(g), len(w)) {
		a, b := "(end)", "(end)"
		if i < len(g) {
			a = g[i]
		}
		if i < len(w) {
			b = w[i]
		}
		if a != b {
			return fmt.Sprintf("at %d: scanner %s, cmark-gfm %s", i, a, b)
		}
	}
	return "?"
}
