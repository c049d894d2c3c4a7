package reviewer

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// FuzzScalarReader asserts that the file has each character of each scalar where the reader finds it,
// unless it is written as an escape sequence.
func FuzzScalarReader(f *testing.F) {
	for _, text := range []string{
		"run: a\n", "a: &b !!str\n  # c\n  >2-\n    d\n   e\n\nf: |+\n  # g\n\n", "- 'a''\n\n  b'\n- \"\\\"\\x41\\u00e9\\U0001F600\\\n  \\t\\_\\0é\"\n",
		"{é: [a\n b,é], c: d}\r\n", "# a\u2028b: c\u0085  d\u2029  e\rf: g", "? a\n: b\n--- c\n", "\"\\", "a: \"\\\r\n\\N\\x0a b\"",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var document yaml.Node
		if strings.HasPrefix(text, "\ufeff") || !utf8.ValidString(text) || yaml.Unmarshal([]byte(text), &document) != nil {
			return
		}
		y := newYAMLText(text)
		var check func(n *yaml.Node)
		check = func(n *yaml.Node) {
			if n.Kind == yaml.ScalarNode && n.Value != "" {
				r := y.reader(n)
				for i, c := range n.Value {
					start, end := r.place(i, i+utf8.RuneLen(c))
					got := text[start:end]
					if got != string(c) && got != "''" && !strings.HasPrefix(got, `\`) && !unicode.IsSpace(c) {
						t.Fatalf("byte %d of %q, in line %d of %q, is written as %q", i, n.Value, n.Line, text, got)
					}
				}
			}
			for _, c := range n.Content {
				check(c)
			}
		}
		check(&document)
	})
}
