package markdown

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// invariants describes the first violation that it finds of what holds for every Document. It
// returns "" if there is none.
func invariants(doc *Document) string {
	src := doc.Source
	within := func(s Span) bool { return 0 <= s.Start && s.Start <= s.End && s.End <= len(src) }
	inlines := 0
	for i := range doc.Blocks {
		b := &doc.Blocks[i]
		switch {
		case !within(b.Span) || b.Kind == FencedCodeBlock && !within(doc.InfoSpan(b)):
			return "a block's span is outside the text"
		case b.Parent >= i || b.Next <= int32(i) || int(b.Next) > len(doc.Blocks):
			return "blocks are not in pre-order"
		case b.Parent >= 0 && (b.Next > doc.Blocks[b.Parent].Next || b.End > doc.Blocks[b.Parent].End):
			return "a block goes beyond its parent"
		case i > 0 && b.Parent < 0 && b.Start < doc.Blocks[i-1].Start:
			return "blocks are not in source order"
		case b.Depth > MaxDepth:
			return "a block is too deep"
		}
		end := 0
		for _, p := range doc.PiecesOf(b) {
			if !within(p.Span) || p.Start < end {
				return "pieces are not in order"
			}
			end = p.End
		}
		end = 0
		var open []int32
		for _, n := range doc.InlinesOf(b) {
			inlines++
			if !within(n.Span) || n.Start < end || n.Empty() && n.Kind != SoftBreak && n.Kind != HardBreak {
				return "inline nodes are not in order"
			}
			end = n.End
			text := src[n.Start:n.End]
			switch n.Kind {
			case Text:
				if strings.Contains(text, "\n") {
					return "a Text node has a line break"
				}
			case Escape:
				if text[0] != '\\' || len(text) > 3 {
					return "an Escape node is not an escape"
				}
			case Entity:
				if _, size := DecodeEntity(text); size != len(text) {
					return "an Entity node is not an entity"
				}
			case LinkOpen:
				open = append(open, n.Data)
			case LinkClose:
				if len(open) == 0 || open[len(open)-1] != n.Data {
					return "links do not nest"
				}
				open = open[:len(open)-1]
			}
		}
		if len(open) > 0 {
			return "a link has no end"
		}
	}
	if inlines != len(doc.Inlines) {
		return "an inline node belongs to no leaf"
	}
	for i := range doc.Links {
		l := &doc.Links[i]
		if !within(l.Span) || !within(l.Text) || !within(l.Dest) || !within(l.Title) {
			return "a link's span is outside the text"
		}
		doc.Destination(i)
		doc.LinkTitle(i)
	}
	for _, d := range doc.Definitions {
		if !within(d.Span) || !within(d.Label) || !within(d.Dest) || !within(d.Title) {
			return "a definition's span is outside the text"
		}
	}
	return ""
}

func TestInvariants(t *testing.T) {
	for _, md := range corpus() {
		if broken := invariants(Scan(md)); broken != "" {
			t.Errorf("%q: %s", md, broken)
		}
	}
}

func FuzzScan(f *testing.F) {
	for _, md := range cases {
		f.Add(md)
	}
	f.Fuzz(func(t *testing.T, md string) {
		doc := Scan(md)
		if broken := invariants(doc); broken != "" {
			t.Fatal(broken)
		}
		traceOf(doc)
	})
}

func TestSourceSpans(t *testing.T) {
	const src = "> a &amp; [b *c*](</d> 'e\n> f') `g` \\* <i> <http://h.i> https://j.k l@m.no [^1]\n\n" +
		"[p]: q \"r\"\n[^1]: s\n"
	doc := Scan(src)
	var got []string
	for i := range doc.Blocks {
		for _, n := range doc.InlinesOf(&doc.Blocks[i]) {
			got = append(got, src[n.Start:n.End])
		}
	}
	want := []string{
		"a ", "&amp;", " ", "[", "b *c*", "](</d> 'e\n> f')", " ", "`g`", " ", `\*`, " ", "<i>", " ", "<http://h.i>", " ",
		"https://j.k", " ", "l@m.no", " ", "[^1]", "s",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("inline nodes (-want +got):\n%s", diff)
	}
	if l := doc.Links[0]; src[l.Dest.Start:l.Dest.End] != "/d" || doc.LinkTitle(0) != "e\nf" || src[l.Text.Start:l.Text.End] != "b *c*" {
		t.Errorf("link %+v, title %q", l, doc.LinkTitle(0))
	}
	d := doc.Definitions[0]
	if src[d.Label.Start:d.Label.End] != "p" || src[d.Dest.Start:d.Dest.End] != "q" ||
		src[d.Title.Start:d.Title.End] != `"r"` || src[d.Start:d.End] != `[p]: q "r"` || d.Used {
		t.Errorf("definition %+v", d)
	}
	if fn := doc.Footnotes[0]; src[fn.Label.Start:fn.Label.End] != "1" || !fn.Used {
		t.Errorf("footnote %+v", fn)
	}
}

func TestDefinitionsAndFootnotesInUse(t *testing.T) {
	doc := Scan("[a] [^x]\n\n[a]: 1\n[A]: 2\n[b]: 3\n\n[^x]: y\n\n[^z]: ![b]\n\n[^X]: w\n")
	var got []string
	for _, d := range doc.Definitions {
		got = append(got, flags(d.Used, d.Shadowed))
	}
	for _, f := range doc.Footnotes {
		got = append(got, flags(f.Used, f.Shadowed))
	}
	want := []string{"used", "shadowed", "used", "used", "", "shadowed"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func flags(used, shadowed bool) string {
	switch {
	case used:
		return "used"
	case shadowed:
		return "shadowed"
	}
	return ""
}

func TestTooDeep(t *testing.T) {
	for _, marker := range []string{"> ", "- ", "1. "} {
		if doc := Scan(strings.Repeat(marker, MaxDepth) + "a"); doc.TooDeep {
			t.Errorf("%q: too deep at MaxDepth", marker)
		}
		if doc := Scan(strings.Repeat(marker, MaxDepth+1) + "a"); !doc.TooDeep {
			t.Errorf("%q: not too deep beyond MaxDepth", marker)
		}
	}
	// The labels of nested brackets are half as long as the text, on average. With this many brackets,
	// they reach the limit.
	const most = 2 * maxLabelReadings
	for depth, want := range map[int]bool{maxLabelReadings: false, most + 2: true} {
		if doc := Scan(strings.Repeat("[^", depth) + "a" + strings.Repeat("]", depth)); doc.TooDeep != want {
			t.Errorf("labels of footnotes in %d brackets: too deep is %t", depth, doc.TooDeep)
		}
	}
}

// TestEmptyLinesInFootnotes asserts that an empty line continues nested footnotes and items, and
// that a line with a space ends the footnotes, as in cmark-gfm.
func TestEmptyLinesInFootnotes(t *testing.T) {
	const nested = "[^a]: [^b]: - x"
	for between, want := range map[string]uint8{"\n\n": 3, "\n\n\n\n": 3, "\n \n": 0} {
		doc := Scan(nested + between + strings.Repeat(" ", 10) + "y")
		last := doc.Blocks[len(doc.Blocks)-1]
		if last.Depth != want {
			t.Errorf("%q: the last paragraph lies in %d containers, not %d", between, last.Depth, want)
		}
	}
}

func TestRescan(t *testing.T) {
	var doc Document
	for _, md := range corpus() {
		doc.Rescan(md)
		if got, want := traceOf(&doc), traceOf(Scan(md)); got != want {
			t.Fatalf("%q: %s", md, differ(got, want))
		}
	}
}

// TestKnownDifference documents where cmark-gfm repeats a bracket and we do not.
func TestKnownDifference(t *testing.T) {
	const want = "par\ntext \"[^1]\"\n/par\n"
	if got := traceOf(Scan("[\\^1]\n\n[^1]: x\n")); got != want {
		t.Errorf("got:\n%s", got)
	}
}

func TestDecodeEntity(t *testing.T) {
	for _, tt := range []struct {
		in, text string
		n        int
	}{
		{"&amp;x", "&", 5}, {"&copy;", "©", 6}, {"&copy", "", 0}, {"&#64;", "@", 5}, {"&#x40;", "@", 6}, {"&#X40;", "@", 6},
		{"&#0;", "\uFFFD", 4}, {"&#xD800;", "\uFFFD", 8}, {"&#99999999;", "\uFFFD", 11}, {"&#999999999;", "", 0}, {"&#;", "", 0},
		{"&#x;", "", 0}, {"&notit;", "", 0}, {"&semi;", ";", 6}, {"&;", "", 0}, {"", "", 0}, {"&fjlig;", "fj", 7},
		{"&CounterClockwiseContourIntegral;", "∳", 33}, {"&#128;", "\u0080", 6},
	} {
		if text, n := DecodeEntity(tt.in); text != tt.text || n != tt.n {
			t.Errorf("DecodeEntity(%q) = %q, %d, want %q, %d", tt.in, text, n, tt.text, tt.n)
		}
	}
	for r := rune(1); r < 0x2100; r++ {
		if text, _ := DecodeEntity(fmt.Sprintf("&#%d;", r)); text != string(r) {
			t.Errorf("U+%04X decodes as %q", r, text)
		}
	}
}

// outline writes the blocks of doc, a line each, with their contents.
func outline(doc *Document) string {
	var b strings.Builder
	for i := range doc.Blocks {
		k := &doc.Blocks[i]
		level := 0
		for p := k.Parent; p >= 0; p = doc.Blocks[p].Parent {
			level++
		}
		fmt.Fprintf(&b, "%*s%s", level, "", blockNames[k.Kind])
		switch k.Kind {
		case HeadingBlock, HTMLBlock, TableBlock:
			fmt.Fprintf(&b, "%d", k.Data)
		case FencedCodeBlock:
			fmt.Fprintf(&b, "[%s]", doc.Info(k))
		}
		if k.PieceCount > 0 {
			fmt.Fprintf(&b, " %q", doc.Literal(k, Span{0, len(doc.Source)}))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

var blockNames = [...]string{
	QuoteBlock: "quote", ItemBlock: "item", FootnoteBlock: "footnote", ParagraphBlock: "par",
	HeadingBlock: "h", ThematicBreakBlock: "hr", FencedCodeBlock: "fence", IndentedCodeBlock: "code",
	HTMLBlock: "html", TableBlock: "table", RowBlock: "row", CellBlock: "cell", DefinitionBlock: "defs",
}

func TestScanBlocks(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{"", ""},
		{"a\nb\n\nc", "par \"a\\nb\\n\"\npar \"c\"\n"},
		{"# one #\n## \n#x", "h1 \"one\"\nh2\npar \"#x\"\n"},
		{"a\n===\nb\n---\n---\n", "h1 \"a\\n\"\nh2 \"b\\n\"\nhr\n"},
		{"> a\nb\n> > c\n", "quote\n par \"a\\nb\\n\"\n quote\n  par \"c\\n\"\n"},
		{"- a\n\n  b\n- c\n\nd", "item\n par \"a\\n\"\n par \"b\\n\"\nitem\n par \"c\\n\"\npar \"d\"\n"},
		{"1. a\n   ```go\n   x\n   ```\n", "item\n par \"a\\n\"\n fence[go] \"x\\n\"\n"},
		{"```\r\na\r\n\r\nb\r\n```\r\n", "fence[] \"a\\n\\nb\\n\"\n"},
		{"\ta\n\n\tb\n\n\nc", "code \"a\\n\\nb\"\npar \"c\"\n"},
		{"-\ta\n\n\tb\n", "item\n par \"a\\n\"\n par \"b\\n\"\n"},
		{">\t\ta", "quote\n code \"  a\"\n"},
		{"<div>\n*a*\n\nb", "html6 \"<div>\\n*a*\\n\"\npar \"b\"\n"},
		{"<!-- a\n\nb -->\nc", "html2 \"<!-- a\\n\\nb -->\\n\"\npar \"c\"\n"},
		{"a\n<b>\n\n<b>\nc", "par \"a\\n<b>\\n\"\nhtml7 \"<b>\\nc\"\n"},
		{"[a]: /u 't'\n[b]: <>\nc", "par \"c\"\n"},
		{"[a]: /u\n", "defs\n"},
		{"[^n]: text\n\n    more\n\nx", "footnote\n par \"text\\n\"\n par \"more\\n\"\npar \"x\"\n"},
		{"a|b\n-|-\nc|d|e\n", "table2\n row\n  cell \"a\"\n  cell \"b\"\n row\n  cell \"c\"\n  cell \"d\"\n  cell \"e\"\n"},
		{"p\n| a\\|b |\n| - |\n\nq", "par \"p\\n\"\ntable1\n row\n  cell \"a|b\"\npar \"q\"\n"},
	} {
		if got := outline(Scan(tt.in)); got != tt.want {
			t.Errorf("Scan(%q):\n%swant:\n%s", tt.in, got, tt.want)
		}
	}
}

// TestQuoted asserts that blocks in a block quote or a footnote are quoted, and that a cell of a table
// in a list is not.
func TestQuoted(t *testing.T) {
	for in, want := range map[string]bool{"- a\n\n  |b|\n  |-|\n  |c|\n": false, "- > |b|\n  > |-|\n": true, "[^n]: - a\n": true} {
		doc := Scan(in)
		last := &doc.Blocks[len(doc.Blocks)-1]
		if got := last.Quoted(doc); got != want {
			t.Errorf("the last block of %q: %v", in, got)
		}
	}
}
