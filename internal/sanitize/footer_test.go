package sanitize

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	xhtml "golang.org/x/net/html"

	"github.com/agent-airlock/airlock/internal/markdown"
)

// openings returns texts that leave something open, texts that close some of these at a wrong
// place, and texts that may stand between them.
func openings() []string {
	return []string{
		"<div>", "<div>\n\n", "<del>", "<s>", "<h1>", "<table>", "<tr>", "<td>", "<th>", "<tbody>", "<thead>", "<caption>", "<summary>", "<details>",
		"<details>\n\n", "<pre>", "<pre>\n", "<a href=\"#x\">", "<a name=x>", "<sub>", "<sup>", "<small>", "<b>", "<i>", "<em>", "<code>", "<tt>", "<strike>", "<ruby>", "<rt>", "<rp>", "<rp>(",
		"<ul>", "<ol>", "<li>", "<dl>", "<dt>", "<dd>", "<p align=right>", "<p>", "<blockquote>", "<figure>", "<figcaption>", "<span>", "<ins>", "<mark>", "<q>", "<kbd>",
		"<picture>", "<var>", "<samp>", "<cite>", "<h6>", "<bdo dir=rtl>", "<img src=a.png alt=\"", "<br>", "<hr>",
		"</div>", "</del>", "</s>", "</h1>", "</h2>", "</table>", "</tr>", "</td>", "</caption>", "</summary>", "</details>", "</pre>", "</a>", "</sub>", "</b>", "</i>", "</em>",
		"</ul>", "</ol>", "</li>", "</dl>", "</dd>", "</p>", "</blockquote>", "</span>", "</ruby>", "</rp>", "</code>", "</br>", "</q>", "</small>",
		"<!--", "<!-- x", "-->", "<![CDATA[", "<?", "<!X", "<script>", "<style>", "<textarea>", "<title>", "<svg>", "<math>", "<template>", "<select>", "<option>", "<button>", "<plaintext>",
		"```\n", "~~~\n", "\n```\n", "````", "$$\n", "$", "`", "**", "~~", "_", "[", "![", "[^1]", "[^1]: ", "> ", "- ", "1. ", "# ", "| a | b |\n|-|-|\n| ", " | ", "    ",
		"\n", "\n\n", "\n\n", "\n\n", " ", "text", "x", "[a]: #b\n", "<b", "<div title=\"", "\\", "\t",
	}
}

// TestNothingSwallowsTheFooter joins openings to texts, cleans them, and closes what they leave
// open, as for every agent's text. It asserts that nothing is open then, and that a browser shows
// the footer after such a text as a block of its own, directly in the page.
func TestNothingSwallowsTheFooter(t *testing.T) {
	const footer = "> Asked for by an agent."
	s := mustNew(t, corpusConfig())
	check := func(in string) {
		t.Helper()
		out, _ := s.Body(in)
		out = strings.TrimRight(out, " \t\r\n")
		closed := out + markdown.CloseOpen(out)
		if again := markdown.CloseOpen(closed); again != "" {
			t.Errorf("closed again\n in  %q\n out %q\n again %q", in, closed, again)
		}
		body, _ := s.Body(closed + "\n\n" + footer)
		rendered := renderings(t, body)
		if _, ok := rendered["cmark-gfm"]; ok {
			delete(rendered, "goldmark") // it reads some blocks in another way
		}
		for name, html := range rendered {
			if around := footerParents(t, html); !slices.Equal(around, []string{"p", "blockquote", "body", "html"}) {
				t.Errorf("%s: the footer is in %q\n in   %q\n body %q\n html %q", name, around, in, body, html)
			}
		}
	}
	for _, opening := range openings() {
		for _, before := range []string{"", "x ", "x\n\n", "> ", "- ", "# "} {
			check(before + opening)
			check(before + opening + "\n\ny")
		}
	}
	rounds := 6000
	if testing.Short() {
		rounds = 500
	}
	words := openings()
	for seed := range rounds {
		r := rand.New(rand.NewPCG(uint64(seed), 5))
		var in strings.Builder
		for range 1 + r.IntN(14) {
			in.WriteString(words[r.IntN(len(words))])
		}
		if check(in.String()); t.Failed() {
			return
		}
	}
}

// footerParents returns the elements around the footer, the innermost first.
func footerParents(t *testing.T, rendered string) []string {
	t.Helper()
	doc, err := xhtml.Parse(strings.NewReader(rendered))
	if err != nil {
		t.Fatal(err)
	}
	var around []string
	for n := range doc.Descendants() {
		if n.Type != xhtml.TextNode || !strings.Contains(n.Data, "Asked for by an agent.") {
			continue
		}
		for a := n.Parent; a != nil && a.Type == xhtml.ElementNode; a = a.Parent {
			around = append(around, a.Data)
		}
	}
	return around
}
