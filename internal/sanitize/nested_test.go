package sanitize

import (
	"strings"
	"testing"
)

// contexts put a one-line text where it is still text.
func contexts() map[string]func(string) string {
	around := func(before, after string) func(string) string {
		return func(s string) string { return before + s + after }
	}
	return map[string]func(string) string{
		"quote":        around("> ", ""),
		"item":         around("- a\n- ", "\n- b"),
		"deep item":    around("1. a\n   - b\n     > ", ""),
		"task":         around("- [ ] ", ""),
		"heading":      around("## ", ""),
		"setext":       around("", "\n---"),
		"emphasis":     around("a **b ", " c** d"),
		"link text":    around("[a ", " b](https://github.com)"),
		"div":          around("<div>\n", "\n</div>"),
		"details":      around("<details><summary>a</summary>\n\n", "\n\n</details>"),
		"after code":   around("`a` ", " `b`"),
		"after fence":  around("```\na\n```\n", ""),
		"after break":  around("a  \n", ""),
		"footnote":     around("a[^1]\n\n[^1]: ", ""),
		"cell":         func(s string) string { return "| a | b |\n|---|---|\n| " + strings.ReplaceAll(s, "|", `\|`) + " | c |" },
		"after table":  around("| a |\n|---|\n| b |\n\n", ""),
		"lazy line":    around("> a\n", ""),
		"after escape": around(`\* `, ""),
		"after run":    around("`` ", ""),
		"comment":      around("<!-- a -->", ""),
	}
}

// TestNested cleans every one-line attack in every context.
func TestNested(t *testing.T) {
	s := mustNew(t, corpusConfig())
	alivein, all := 0, 0
	for rule, list := range attacks(t) {
		if rule == "characters" || rule == "commands" {
			continue // not a matter of the context
		}
		for i, a := range list {
			if strings.ContainsAny(a.text, "\n\r") || testing.Short() && i%10 != 0 {
				continue
			}
			for name, wrap := range contexts() {
				in := wrap(a.text)
				c := checker{}
				if !a.quiet && i%5 == 0 {
					all++
					if alive(t, c, in) {
						alivein++
					}
				}
				out, _ := s.Body(in)
				assertSafe(t, c, in, out)
				if again, _ := s.Body(out); again != out {
					t.Errorf("%s: not idempotent:\n in    %q\n out   %q\n again %q", name, in, out, again)
				}
				if t.Failed() {
					return
				}
			}
		}
	}
	if alivein*10 < all*8 {
		t.Errorf("only %d of %d attacks act in their contexts before", alivein, all)
	}
}
