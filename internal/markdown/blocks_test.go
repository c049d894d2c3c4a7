package markdown

import (
	"fmt"
	"strings"
	"testing"
)

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
			fmt.Fprintf(&b, "[%s]", doc.Source[k.Info.Start:k.Info.End])
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
