//go:build cmark

package cmarkgfm

import "testing"

func TestHTML(t *testing.T) {
	got := HTML("a `b` [^1]\n\n[^1]: ~~c~~ https://x.example\n")
	want := "<p>a <code>b</code> <sup class=\"footnote-ref\"><a href=\"#fn-1\" id=\"fnref-1\" data-footnote-ref>1</a></sup></p>\n" +
		"<section class=\"footnotes\" data-footnotes>\n<ol>\n<li id=\"fn-1\">\n" +
		"<p><del>c</del> <a href=\"https://x.example\">https://x.example</a> " +
		"<a href=\"#fnref-1\" class=\"footnote-backref\" data-footnote-backref aria-label=\"Back to content\">↩</a></p>\n</li>\n</ol>\n</section>\n"
	if got != want {
		t.Errorf("HTML:\n%s\nwant:\n%s", got, want)
	}
}

func TestEvents(t *testing.T) {
	var types string
	for _, e := range Events("a `b` [c](d \"e\")") {
		if e.Enter {
			types += e.Type + ":" + e.Literal + e.URL + e.Title + " "
		}
	}
	if want := "document: paragraph: text:a  code:b text:  link:de text:c "; types != want {
		t.Errorf("events %q, want %q", types, want)
	}
}
