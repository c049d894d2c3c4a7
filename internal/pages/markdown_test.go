package pages

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	nethtml "golang.org/x/net/html"
)

// Where GitHub shows an image, a page shows the image's text and address, because it loads nothing.
func TestMarkdownIsShownAsGitHubShowsIt(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"one\ntwo", "<p>one<br/>\ntwo</p>"},
		{"# A\n\n**b** `c` ~~d~~", "<h1>A</h1>\n<p><strong>b</strong> <code>c</code> <del>d</del></p>"},
		{"- [x] a\n- [ ] b", "<ul>\n<li>☑  a</li>\n<li>☐  b</li>\n</ul>"},
		{"|a|\n|:-:|\n|b|", "<table>\n<thead>\n<tr>\n<th align=\"center\">a</th>\n</tr>\n</thead>\n<tbody>\n<tr>\n<td align=\"center\">b</td>\n</tr>\n</tbody>\n</table>"},
		{"[a](https://github.com/x)", `<p><a href="https://github.com/x" rel="noopener noreferrer nofollow" target="_blank">a</a></p>`},
		{"https://github.com/x", `<p><a href="https://github.com/x" rel="noopener noreferrer nofollow" target="_blank">https://github.com/x</a></p>`},
		{"![alt](https://github.com/a.png)", `<p><span class="image">Image: alt <a href="https://github.com/a.png" rel="noopener noreferrer nofollow" target="_blank">https://github.com/a.png</a></span></p>`},
		{"[![b](https://github.com/a.png)](https://github.com/x)", `<p><a href="https://github.com/x" rel="noopener noreferrer nofollow" target="_blank"><span class="image">Image: b</span></a></p>`},
		{"<details open><summary>s</summary>\n\ntext\n</details>", "<details open=\"\"><summary>s</summary>\n<p>text</p>\n</details>"},
		{"> [!WARNING]\n> hot", "<blockquote class=\"alert\">\n<p><strong>Warning</strong><br/>\nhot</p>\n</blockquote>"},
		{"```suggestion\na\n```", "<p><strong>Suggested change</strong></p><pre><code>a\n</code></pre>"},
		{"a[^1]\n\n[^1]: note", "<p>a<sup>1</sup></p>\n<div>\n<hr/>\n<ol>\n<li>\n<p>note\u00a0</p>\n</li>\n</ol>\n</div>"},
		{`<p dir="rtl" align="right" class="x" id="y" style="z">ש</p>`, `<p align="right" dir="rtl">ש</p>`},
	} {
		got, ok := NewMarkdownRenderer().Render(c.text)
		if strings.TrimSpace(string(got)) != c.want || !ok {
			t.Errorf("%q is shown as\n%s\nwant\n%s", c.text, got, c.want)
		}
	}
}

// hostile returns texts that act, or break out of their place, where a page is careless.
func hostile(t testing.TB) (texts []string) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", "hostile.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, &texts); err != nil {
		t.Fatal(err)
	}
	return texts
}

// TestNothingOfATextActs parses the HTML of hostile texts as a browser does. The HTML may have only
// allowed elements and attributes, and may not close the section around it.
func TestNothingOfATextActs(t *testing.T) {
	for _, text := range hostile(t) {
		checkInert(t, text)
	}
}

func FuzzNothingOfATextActs(f *testing.F) {
	for _, text := range hostile(f) {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) { checkInert(t, text) })
}

// acting are elements that run, load, send or navigate, whatever the renderer's own list says.
var acting = []string{"script", "style", "link", "meta", "base", "iframe", "frame", "object", "embed", "form", "input", "button", "select", "textarea",
	"img", "picture", "source", "audio", "video", "track", "svg", "math", "template", "slot", "dialog", "portal", "marquee"}

func checkInert(t *testing.T, text string) {
	t.Helper()
	shown, ok := NewMarkdownRenderer().Render(text)
	if !ok {
		return
	}
	doc, err := nethtml.Parse(strings.NewReader("<!doctype html><body><article><ul><li><section>" + string(shown) + "</section><i></i></li></ul></article>"))
	if err != nil {
		// Together with the elements around the text, the nodes may be nested too deeply.
		if !strings.Contains(err.Error(), "exceeds 512 nodes") {
			t.Error(err)
		}
		return
	}
	sections, outside := 0, 0
	var walk func(n *nethtml.Node, inside bool)
	walk = func(n *nethtml.Node, inside bool) {
		switch {
		case n.Data == "section" && n.Type == nethtml.ElementNode:
			sections++
			inside = true
		case n.Type == nethtml.TextNode && !inside && strings.TrimSpace(n.Data) != "":
			outside++
		case n.Type == nethtml.ElementNode && inside:
			if _, ok := shownElements[n.DataAtom]; !ok || n.Namespace != "" || slices.Contains(acting, n.Data) {
				t.Errorf("%q shows the element %s", text, n.Data)
			}
			for _, a := range n.Attr {
				switch a.Key {
				case "href":
					if !strings.HasPrefix(a.Val, "https://") && !strings.HasPrefix(a.Val, "http://") {
						t.Errorf("%q links to %s", text, a.Val)
					}
				case "rel", "target", "align", "open", "start", "reversed", "value", "colspan", "rowspan", "dir":
				case "class":
					if a.Val != "image" && a.Val != "alert" {
						t.Errorf("%q has the class %s", text, a.Val)
					}
				default:
					t.Errorf("%q has the attribute %s of %s", text, a.Key, n.Data)
				}
			}
		}
		for c := range n.ChildNodes() {
			walk(c, inside)
		}
	}
	walk(doc, false)
	if sections != 1 || outside > 0 {
		t.Errorf("%q leaves its section: %s", text, shown)
	}
}

// TestHostileTextsCostLittle renders many texts of the greatest length that try a parser's
// patience: a page of them may take some seconds, not minutes.
func TestHostileTextsCostLittle(t *testing.T) {
	r := NewMarkdownRenderer()
	begun := time.Now()
	for range 20 {
		for _, unit := range []string{"[", "![", "*a_ ", "> ", "+ ", "1. ", "<b>", "`a``", "[a](", "<!--", "|a|\n|-|\n", "[^a]: x\n", "\\", "&amp;", "<a href=\"",
			"www.a.b ", "a@b.c ", "((((", "~~a", "# \n", "<details>\n\n", "[a]: x\n[a]\n", "a\n\n*", "*a_ \n\n", "[a](\n\n"} {
			r.Render(strings.Repeat(unit, 65000/len(unit)))
		}
		var runs, open strings.Builder
		for i := range 350 {
			runs.WriteString(strings.Repeat("`", i) + "a")
			open.WriteString("<b dir=" + strings.Repeat("x", i%100) + "><i><s><tt>")
		}
		r.Render(runs.String())
		r.Render(open.String()[:8000] + strings.Repeat("<p>", 19000))
	}
	if took := time.Since(begun); took > time.Minute {
		t.Errorf("%v", took)
	} else {
		t.Logf("%v, %d left", took, r.left)
	}
}

// TestOrdinaryTextsFitIntoTheBudget asserts that a page of 1,000 long, ordinary texts is rendered in
// full.
func TestOrdinaryTextsFitIntoTheBudget(t *testing.T) {
	r := NewMarkdownRenderer()
	text := strings.Repeat("## Result\n\n- **a** is `b` in [c](https://github.com/c)\n- d\n\n| e | f |\n|---|---|\n| 1 | 2 |\n\n<details><summary>g</summary>\n\nh\n\n</details>\n\n", 20)
	for i := range 1000 {
		if _, ok := r.Render(text); !ok {
			t.Fatalf("text %d is not shown", i)
		}
	}
}
