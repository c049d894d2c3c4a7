//go:build cmark

package markdown

import (
	"fmt"
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/markdown/cmarkgfm"
)

// oracleTrace is the trace of cmark-gfm's tree.
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

// differ reports the first difference of two traces, "" if there is none.
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

func TestAgainstOracle(t *testing.T) {
	g := generator{seed: 1}
	failed := 0
	for range 100000 {
		md := g.document()
		if d := differ(traceOf(Scan(md)), oracleTrace(md)); d != "" {
			md = shrink(md, func(s string) bool { return differ(traceOf(Scan(s)), oracleTrace(s)) != "" })
			t.Errorf("%q: %s", md, differ(traceOf(Scan(md)), oracleTrace(md)))
			if failed++; failed > 15 {
				break
			}
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
