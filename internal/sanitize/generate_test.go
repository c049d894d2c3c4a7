package sanitize

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	xhtml "golang.org/x/net/html"
)

// fragments returns what hostile documents are made of: marks of every kind of block and of inline
// element, halves of them, and the words that must not act.
func fragments() []string {
	return []string{
		"@octocat", "@acme/ops", "fixes #12", "fixes", " #12", "closes: GH-7", "resolves acme/app#3", "@", "octocat",
		"https://evil.example/x", "https://github.com/a/b/issues/1", "www.evil.example", "//evil.example", "https:", "http://a",
		"[a](https://evil.example)", "![a](https://evil.example/i)", "[r]", "[r]: https://evil.example\n", "[a][r]", "[^1]", "[^1]: ",
		"[r]: #x \"t\"\n", "](", "[", "]", "![", "(", ")", "<https://evil.example>", "<a@b.example>", "a@b.example",
		"<!--", "-->", "<!-- x -->", "--!>", "<div>", "</div>", "<b>", "</b>", "<a href=\"https://evil.example\">", "</a>",
		"<script>", "</script>", "<pre>", "</pre>", "<code>", "</code>", "<p", "<img src=//evil.example alt=\"@octocat\">", "<x ", ">", "<", "\"", "'", "=",
		"<?", "?>", "<!X", "<![CDATA[", "]]>", "<details>", "</details>", "<summary>", "<table>", "<td>", "<style>", "</style>",
		"`", "``", "```", "```\n", "\n```\n", "~~~\n", "````", "`@octocat`", "`` `a` ``", "`x`", "`a`/`", "a`b@c.d`", "a@b.example`x@c.d`",
		"*", "**", "_", "__", "~~", "***", "\\", "\\@", "\\`", "\\\n", "&", "&#64;", "&#64", "&commat;", "&#35;", "&#8203;", "&shy;", "&lt;", "&amp;", ";",
		"\n", "\n\n", "\n\n\n", "  \n", " ", "    ", "\t", "\n    ", "\n\t", "> ", "\n> ", "- ", "\n- ", "1. ", "\n2) ", "+ ", "# ", "\n# ", "\n===\n", "\n---\n", "***\n", "   ", "  ",
		"|", "\n|", "|\n", "|-|\n", "|a|b|\n|-|-|\n|", "a | b\n-|-\n", "\\|", "- [ ] ", "/deploy ", "\n/deploy x", "/deploy\n",
		"<p aria-label=\"@octocat\">", "<b x=1 ", " y='2' z>", " title=\"", " align=left", "<img width=0 alt=\"@octocat fixes #1\">", "<rp>", "</rp>", "<rp>(</rp>", "<sub>", "</sub>", "<bdo dir=rtl>", "<td>", "<th abbr='x'>", "<a id=x y>", "<abbr title=\"fixes #1\">", "</abbr>",
		"$", "$$", "$$\n", "\\phantom{", "\\color{white}", "{", "}", "%", "%%", "\n%% x\n", "```mermaid\n", "```math\n", "| a |\n|-|\n| b | @octocat | x |\n", " | y |",
		"&rlm;", "&#8206;", "\u200f", "\u2067", "\u2069", "\u05d0", "\ufe00", "\U000e0101", "\u845b", "\uff0fdeploy", "/deploy!", "/deploy/x", "\\/deploy", "/usr/bin",
		"a", "text", "é", "中", "\u200b", "\u200d", "\u202e", "\u00a0", "\u2028", "\x1b[31m", "\r", "\r\n", "\x00", "\xff", "👨\u200d👩", ".", ",", ":", "x",
	}
}

// denied returns links and images that cleaning replaces by their text, often without parsing the
// text around them again, and a few texts that only look like such links.
func denied() []string {
	return []string{
		"[the docs](https://evil.example/a_b?c=d&e#f)", "![A badge2](https://evil.example/*i*.svg)", "[well-known](//evil.example 'a title')", "[GH-12](https://evil.example)",
		"[![A badge](https://evil.example/i.png?a_b)](https://evil.example/~x_)", "[![build](https://evil.example/i)](https://github.com/a/b)", "[![a](https://github.com/i)](https://evil.example)",
		"[![a](https://evil.example)b](https://evil.example)", "[x](https://evil.example)", "[fixes](https://evil.example)", "![www](https://evil.example)", "![a](https://evil.example \"`\")",
		"[a|b](https://evil.example)", "[a](https://evil.example/|)", "[http](https://evil.example)", "[1 a](https://evil.example)",
		"[octocat](https://evil.example)", "[evil](https://evil.example)", "[*a](https://evil.example)", "[a $x](https://evil.example)", "[a](https://evil.example/$)", "[1.](https://evil.example)", "[- a](https://evil.example)", "[/deploy](https://evil.example)", "[@octocat](https://evil.example)",
		"[](u https://evil.example)", "[b](<u> https://evil.example/x", "[www.evil.example](https://github.com/a)", "[a <b](https://evil.example)", "[`a`](https://evil.example)", "[a\\](https://evil.example)", "![/deploy now](https://evil.example/i)", "![![a](https://evil.example)](https://evil.example)",
	}
}

// TestGeneratedLinks cleans denied links among hostile fragments. Cleaning does not always read the
// text around a removed link again. All the same, a second cleaning must change nothing.
func TestGeneratedLinks(t *testing.T) {
	rounds := 5_000
	if testing.Short() {
		rounds = 500
	}
	s, limited := mustNew(t, corpusConfig()), mustNew(t, Config{References: []string{"repo"}, MaxMentions: 1})
	links, words := denied(), fragments()
	around := []string{" ", " ", "\n", "\n\n", "", ".", ", ", ": ", "**", "- ", "# ", "| ", " |"}
	for seed := range rounds {
		r := rand.New(rand.NewPCG(uint64(seed), 11))
		var b strings.Builder
		for range 1 + r.IntN(8) {
			if r.IntN(2) == 0 {
				b.WriteString(words[r.IntN(len(words))])
			}
			b.WriteString(around[r.IntN(len(around))] + links[r.IntN(len(links))] + around[r.IntN(len(around))])
		}
		for _, s := range []*Sanitizer{s, limited} {
			out, _ := s.Body(b.String())
			if again, _ := s.Body(out); again != out {
				t.Fatalf("not idempotent:\n in    %q\n out   %q\n again %q", b.String(), out, again)
			}
		}
		if seed%20 == 0 && !sound(t, s, b.String()) {
			return
		}
	}
}

// codeFragments returns the fragments that are left out for documents with less code.
func codeFragments() []string {
	return []string{"<code>", "</code>", "`a`/`", "a`b@c.d`", "a@b.example`x@c.d`"}
}

// generate joins n fragments.
func generate(r *rand.Rand, n int) string { return generateFrom(fragments(), r, n) }

// generateFrom joins n of the words.
func generateFrom(words []string, r *rand.Rand, n int) string {
	var b strings.Builder
	for range n {
		b.WriteString(words[r.IntN(len(words))])
	}
	return b.String()
}

// join joins the fragments that choice names.
func join(choice []byte) string {
	words := fragments()
	var b strings.Builder
	for _, c := range choice {
		b.WriteString(words[int(c)%len(words)])
	}
	return b.String()
}

// TestGenerated cleans documents that are made of hostile fragments, with fixed seeds, and judges
// what the renderers make of the results.
func TestGenerated(t *testing.T) {
	rounds := 4000
	if testing.Short() {
		rounds = 500
	}
	s := mustNew(t, corpusConfig())
	for seed := range rounds {
		in := generate(rand.New(rand.NewPCG(uint64(seed), 2)), 2+seed%24)
		if !sound(t, s, in) {
			return
		}
	}
}

// sound asserts every property for one text; it returns false after a failure.
func sound(t *testing.T, s *Sanitizer, in string) bool {
	t.Helper()
	out, _ := s.Body(in)
	rendered := renderings(t, out)
	for name, html := range rendered {
		// Parsers of HTML, as browsers and GitHub have them, give up at some 400
		// or 500 elements within each other: no page shows such a text.
		if _, err := xhtml.Parse(strings.NewReader(html)); err != nil && strings.Contains(err.Error(), "exceeds 512 nodes") {
			delete(rendered, name)
		}
	}
	if !sameBlocks(t, rendered) {
		// If goldmark reads other blocks than GitHub's parser, its text is not the text that people
		// see on GitHub.
		delete(rendered, "goldmark")
	}
	assertSafeIn(t, checker{}, in, out, rendered)
	if again, _ := s.Body(out); again != out {
		t.Errorf("not idempotent:\n in    %q\n out   %q\n again %q", in, out, again)
	}
	return !t.Failed()
}

// sameBlocks reports whether all renderings have the same blocks in the same order.
func sameBlocks(t *testing.T, rendered map[string]string) bool {
	var first []string // nil before the first rendering
	for _, html := range rendered {
		doc, err := xhtml.Parse(strings.NewReader(html))
		if err != nil {
			t.Fatal(err)
		}
		blocks := []string{}
		for n := range doc.Descendants() {
			switch n.Data {
			case "p", "pre", "ul", "ol", "li", "table", "tr", "td", "th", "blockquote", "h1", "h2", "h3", "h4", "h5", "h6", "hr":
				blocks = append(blocks, n.Data)
			}
		}
		if first == nil {
			first = blocks
		} else if !slices.Equal(first, blocks) {
			return false
		}
	}
	return true
}

// contexts returns functions, by name, that put a one-line text into a place where it stays text.
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

// TestNested asserts that the one-line attacks are inert in every context. It leaves out the attacks
// by characters and by commands, which do not depend on the context.
func TestNested(t *testing.T) {
	s := mustNew(t, corpusConfig())
	acting, all := 0, 0
	for rule, list := range attacks(t) {
		if rule == "characters" || rule == "commands" {
			continue
		}
		for i, a := range list {
			if strings.ContainsAny(a.text, "\n\r") || testing.Short() && i%10 != 0 {
				continue
			}
			for name, wrap := range contexts() {
				in := wrap(a.text)
				if !a.quiet && i%5 == 0 {
					all++
					if alive(t, checker{}, in) {
						acting++
					}
				}
				out, _ := s.Body(in)
				assertSafe(t, checker{}, in, out)
				if again, _ := s.Body(out); again != out {
					t.Errorf("%s: not idempotent:\n in    %q\n out   %q\n again %q", name, in, out, again)
				}
				if t.Failed() {
					return
				}
			}
		}
	}
	if acting*10 < all*8 {
		t.Errorf("only %d of %d attacks act in their contexts before they are cleaned", acting, all)
	}
}
