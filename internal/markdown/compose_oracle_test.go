//go:build cmark

package markdown

import (
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/markdown/cmarkgfm"
)

// shown returns the text of a tree and the types of its nodes but text.
func shown(md string) (text, types string) {
	for _, e := range cmarkgfm.Events(md) {
		if !e.Enter {
			continue
		}
		text += e.Literal
		if e.Type != "text" {
			types += e.Type + " "
		}
	}
	return text, types
}

func TestEscapeTextRendersAsTheText(t *testing.T) {
	g := generator{seed: 11}
	for range 20000 {
		in := g.document()
		escaped := EscapeText(in)
		if strings.ContainsAny(escaped, "\r\n") {
			t.Fatalf("EscapeText(%q) = %q has a line break", in, escaped)
		}
		text, types := shown(escaped)
		types = strings.ReplaceAll(types, "link ", "") // of e-mail addresses
		want := strings.Trim(oneLine(in), " ")
		if text != want || types != "document paragraph " && want != "" {
			t.Fatalf("EscapeText(%q) = %q shows %q, %s", in, escaped, text, types)
		}
		if strings.Contains(cmarkgfm.HTML(escaped), `href="http`) {
			t.Fatalf("EscapeText(%q) = %q links", in, escaped)
		}
	}
}

func TestCodeRendersAsTheCode(t *testing.T) {
	g := generator{seed: 12}
	for range 20000 {
		in := g.document()
		if text, types := shown("x" + CodeSpan(in)); text != "x"+lineBreaksToSpaces(in) || types != "document paragraph code " {
			t.Fatalf("CodeSpan(%q) = %q shows %q, %s", in, CodeSpan(in), text, types)
		}
		want := normalizeBreaks(in)
		if !strings.HasSuffix(want, "\n") {
			want += "\n"
		}
		if text, types := shown(Fence("go", in) + "\n"); text != want || types != "document code_block " {
			t.Fatalf("Fence(%q) shows %q, %s", in, text, types)
		}
		row := []string{CodeSpan(oneLine(in)), EscapeText(in)}
		text, types := shown(Table([]string{"h", "i"}, [][]string{row}))
		types = strings.ReplaceAll(types, "link ", "")
		trimmed := oneLine(in)
		if text != "hi"+trimmed+trimmed && trimmed != "" ||
			trimmed != "" && types != "document table table_header table_cell table_cell table_row table_cell code table_cell " {
			t.Fatalf("table of %q shows %q, %s", in, text, types)
		}
	}
}
