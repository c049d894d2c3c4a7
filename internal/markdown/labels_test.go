package markdown

import (
	"slices"
	"strings"
	"testing"
)

// TestRenameLabels asserts that labels of links and of footnotes are replaced by new ones, each
// numbered in the order of the definitions, and that texts render as before.
func TestRenameLabels(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{"a [b] [c](d)", "a [b] [c](d)"},
		{"[docs], [Docs][], [the docs][docs]\n\n[docs]: /u 't'\n", "[docs][x-1], [Docs][x-1], [the docs][x-1]\n\n[x-1]: /u 't'\n"},
		{"[![i][img]][docs]\n\n[img]: /i\n[docs]: /u\n", "[![i][x-1]][x-2]\n\n[x-1]: /i\n[x-2]: /u\n"},
		{"a[^1] b[^n]\n\n[^n]: N.\n[^1]: One [d].\n\n[d]: /u", "a[^x-2] b[^x-1]\n\n[^x-1]: N.\n[^x-2]: One [d][x-1].\n\n[x-1]: /u"},
		{"`[a]` [b]\n\n```\n[a]: /u\n```\n", "`[a]` [b]\n\n```\n[a]: /u\n```\n"},
	} {
		if got := RenameLabels(tt.in, "x"); got != tt.want {
			t.Errorf("RenameLabels(%q) = %q, want %q", tt.in, got, tt.want)
		}
	}
	// A reference to a footnote may begin where the inserted label of a link ends.
	long := strings.Repeat("x", 1000)
	docs := append(slices.Clip(cases), strings.Repeat("[a][^"+long+"] ", 20)+"\n\n[a]: /u\n\n[^"+long+"]: t\n")
	g := generator{seed: 7}
	for range 20_000 {
		docs = append(docs, g.document())
	}
	for _, s := range docs {
		if Scan(s).TooDeep {
			continue
		}
		renamed := RenameLabels(s, "x")
		if before, after := traceOf(Scan(s)), traceOf(Scan(renamed)); before != after {
			t.Errorf("%q becomes %q, which renders as\n%s\ninstead of\n%s", s, renamed, after, before)
		}
	}
}
