//go:build cmark

package sanitize

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/markdown/cmarkgfm"
)

// cmarkHTML renders text with cmark-gfm itself.
func cmarkHTML(text string) (string, bool) { return cmarkgfm.HTML(text), true }

// codes returns the contents of all code that cmark-gfm sees in text.
func codes(text string) []string {
	var out []string
	for _, e := range cmarkgfm.Events(text) {
		if e.Enter && (e.Type == "code" || e.Type == "code_block") {
			out = append(out, e.Literal)
		}
	}
	return out
}

// TestCodeIsKept asserts that the code of nearly all hostile documents comes out as it was. The
// others, in which an edit above the code dissolves a block of HTML or moves the start of a line,
// must stay rare. TestOrdinary asserts that there are none among ordinary documents.
func TestCodeIsKept(t *testing.T) {
	const rounds, limit = 6000, 6000 * 4 / 1000
	s := mustNew(t, corpusConfig())
	lost := 0
	for seed := range rounds {
		var n noter
		in := characters(generate(rand.New(rand.NewPCG(uint64(seed), 7)), 2+seed%24), &n)
		// Diagrams and formulas are drawn: they are not code.
		in = strings.NewReplacer("```mermaid", "```go", "```math", "```go").Replace(in)
		out, _ := s.Body(in)
		before, after := codes(in), codes(out)
		for _, code := range after {
			if len(before) > 0 && code == before[0] {
				before = before[1:]
			}
		}
		if len(before) > 0 {
			lost++
			t.Logf("lost %q\n in  %q\n out %q", before[0], in, out)
		}
	}
	if lost > limit {
		t.Errorf("code changed in %d of %d documents, more than %d", lost, rounds, limit)
	}
}
