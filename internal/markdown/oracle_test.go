//go:build cmark

package markdown

import (
	"flag"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/agent-airlock/airlock/internal/markdown/cmarkgfm"
)

// oracleTrace returns the trace of cmark-gfm's tree.
func oracleTrace(md string) string {
	var t trace
	names := map[string]string{
		"block_quote": "quote", "item": "item", "tasklist": "task", "paragraph": "par", "table": "table",
		"table_row": "row", "table_header": "row", "table_cell": "cell", "footnote_definition": "footnote",
	}
	level := 0
	for _, e := range cmarkgfm.Events(md) {
		switch e.Type {
		case "document", "list", "emph", "strong", "strikethrough":
		case "text":
			t.text.WriteString(e.Literal)
		case "softbreak":
			t.text.WriteString("\n")
		case "linebreak":
			t.text.WriteString("\x01\n")
		case "code":
			t.add("code %q", e.Literal)
		case "html_inline":
			t.add("tag %q", e.Literal)
		case "link", "image":
			if e.Enter {
				t.add("%s %q %q", e.Type, e.URL, e.Title)
			} else {
				t.add("/%s", e.Type)
			}
		case "footnote_reference":
			if e.Enter {
				t.add("ref")
			}
		case "code_block":
			t.add("code %q %q", e.Info, e.Literal)
		case "html_block":
			t.add("html %q", e.Literal)
		case "thematic_break":
			t.add("hr")
		case "heading":
			if e.Enter {
				level = e.Level
				t.add("h%d", level)
			} else {
				t.add("/h%d", level)
			}
		case "table_cell":
			if e.Enter {
				t.openCell()
			} else {
				t.closeCell()
			}
		default:
			name, ok := names[e.Type]
			if !ok {
				panic(fmt.Sprintf("unknown node %q", e.Type))
			}
			if e.Enter {
				t.add("%s", name)
			} else {
				t.add("/%s", name)
			}
		}
	}
	t.flush()
	return t.b.String()
}

// oracle is nil in a build without cmark-gfm.
var oracle = oracleTrace

var (
	seed      = flag.Uint64("seed", 1, "seed of the generator")
	documents = flag.Int("documents", 50000, "how many documents to compare with cmark-gfm")
)

func TestAgainstOracle(t *testing.T) {
	g := generator{seed: *seed}
	failed := 0
	for range *documents {
		md := g.document()
		if !comparable(md) {
			continue
		}
		if d := differ(traceOf(Scan(md)), oracleTrace(md)); d != "" {
			md = shrink(md, func(s string) bool { return differ(traceOf(Scan(s)), oracleTrace(s)) != "" })
			t.Errorf("%q: %s", md, differ(traceOf(Scan(md)), oracleTrace(md)))
			if failed++; failed > 15 {
				break
			}
		}
	}
}

func TestRenamedLabelsRenderAsBefore(t *testing.T) {
	g := generator{seed: *seed}
	for range *documents {
		md := g.document()
		renamed := RenameLabels(md, "x")
		if renamed == md || !comparable(md) {
			continue
		}
		if d := differ(oracleTrace(renamed), oracleTrace(md)); d != "" {
			t.Errorf("%q becomes %q: %s", md, renamed, d)
		}
	}
}

// shrink cuts bytes out of s as long as it still fails.
func shrink(s string, fails func(string) bool) string {
	for size := len(s) / 2; size > 0; size /= 2 {
		for i := 0; i+size <= len(s); {
			if t := s[:i] + s[i+size:]; fails(t) {
				s = t
			} else {
				i += size
			}
		}
	}
	return s
}

// FuzzAgainstOracle compares our reading of any text with cmark-gfm's. It leaves out texts
// for which cmark reads beyond its buffers or has other limits: see comparable.
func FuzzAgainstOracle(f *testing.F) {
	for _, md := range cases {
		f.Add(md)
	}
	f.Fuzz(func(t *testing.T, md string) {
		if !comparable(md) {
			return
		}
		if d := differ(traceOf(Scan(md)), oracleTrace(md)); d != "" {
			t.Error(d)
		}
	})
}

// comparable reports whether cmark-gfm's reading of md is defined and within our
// limits.
func comparable(md string) bool {
	// NUL is replaced by U+FFFD before cmark reads.
	if !utf8.ValidString(md) || strings.IndexByte(md, 0) >= 0 || len(md) > 2000 || Scan(md).TooDeep {
		return false
	}
	// A footnote reference whose ^ is an entity or escape copies memory after it.
	for _, caret := range []string{"[\\^", "[&#94;", "[&#x5e;", "[&#x5E;", "[&Hat;"} {
		if strings.Contains(md, caret) {
			return false
		}
	}
	return true
}

// shown returns the text of a tree, and the types of its nodes other than text.
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
		want := strings.Trim(joinLines(in), " ")
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
		row := []string{CodeSpan(joinLines(in)), EscapeText(in)}
		text, types := shown(Table([]string{"h", "i"}, [][]string{row}))
		types = strings.ReplaceAll(types, "link ", "")
		trimmed := joinLines(in)
		if text != "hi"+trimmed+trimmed && trimmed != "" ||
			trimmed != "" && types != "document table table_header table_cell table_cell table_row table_cell code table_cell " {
			t.Fatalf("table of %q shows %q, %s", in, text, types)
		}
	}
}
