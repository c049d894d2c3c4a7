package markdown

import (
	"strings"
	"testing"
)

func TestCut(t *testing.T) {
	const note = "*(cut)*"
	words := strings.Repeat("word ", 20)
	for _, tt := range []struct {
		name, in string
		max      int
		want     string
	}{
		{"short", "abc", 3, "abc"},
		{"units", "😀😀", 4, "😀😀"},
		{"between blocks", "one one one\n\ntwo two two\n\n" + words, 40, "one one one\n\ntwo two two\n\n" + note},
		{"in a fence", "```go\na\nb\nc\n" + words + "\n```\n", 40, "```go\na\nb\nc\nword word word\n```\n\n" + note},
		{"in a comment", "<!-- a\nb\n" + words + "-->", 30, "<!-- a\nb\nword\n-->\n\n" + note},
		{"in details", "<details>\n\nabcdefghijklmn\n\n" + words, 50, "<details>\n\nabcdefghijklmn\n\n</details>\n\n" + note},
		{"in a list", "- a\n\n  ```\n  x\n  " + words, 30, "- a\n\n  ```\n  x\n\n" + note},
		{"no spaces", strings.Repeat("é", 100), 20, strings.Repeat("é", 11) + "\n\n" + note},
		{"only the note", words, 8, note},
		{"not even the note", words, 3, "*(c"},
	} {
		got, cut := Cut(tt.in, tt.max, note)
		if got != tt.want || cut != (tt.in != tt.want) {
			t.Errorf("%s: Cut = %q, %v, want %q", tt.name, got, cut, tt.want)
		}
	}
}

// TestUTF16PrefixDividesNothing asserts for each limit that the prefix divides neither a character
// as people see it nor a reference, and that it is shorter than the limit by less than one such
// character or reference.
func TestUTF16PrefixDividesNothing(t *testing.T) {
	for _, unit := range []string{"é", "e\u0301", "👩‍👩‍👧‍👦", "🇩🇪", "👍🏽", "☀️", "#️⃣", "각", "नि", "&amp;", "&#x41;", "&CounterClockwiseContourIntegral;"} {
		for _, before := range []string{"", "a", "ä", " "} {
			s := before + strings.Repeat(unit, 100)
			for n := range UTF16Len(s) + 1 {
				got := UTF16Prefix(s, n)
				if rest, ok := strings.CutPrefix(got, before); n >= UTF16Len(before) && (!ok || strings.ReplaceAll(rest, unit, "") != "") {
					t.Fatalf("the first %d units of %q divide %q: …%q", n, s[:20], unit, got[max(0, len(got)-30):])
				}
				if lost := n - UTF16Len(got); lost < 0 || lost >= UTF16Len(unit) {
					t.Fatalf("the first %d units of %q lack %d", n, s[:20], lost)
				}
			}
		}
	}
	// In any text, at most maxMoved units are left out.
	for _, s := range []string{strings.Repeat("a&b", 100), strings.Repeat("&amp", 100), "e" + strings.Repeat("\u0301", 1000), strings.Repeat("漢", 1000), strings.Repeat("\xff", 100)} {
		for n := range len(s) / 3 {
			if got := UTF16Prefix(s, n); UTF16Len(got) < n-maxMoved || UTF16Len(got) > n {
				t.Errorf("the first %d units of %.20q have %d", n, s, UTF16Len(got))
			}
		}
	}
}

func TestCutLeavesTheNoteVisible(t *testing.T) {
	const note = "(the rest was cut)"
	g := generator{seed: 7}
	for range 3000 {
		md := g.document() + "\n" + g.document() + "<details>\n\n" + g.document() + g.document()
		limit := 60 + len(md)/3
		out, cut := Cut(md, limit, note)
		if n := UTF16Len(out); n > limit {
			t.Fatalf("Cut(%q, %d): %d units", md, limit, n)
		}
		if !cut {
			continue
		}
		doc := Scan(out)
		last := &doc.Blocks[len(doc.Blocks)-1]
		if last.Kind != ParagraphBlock || last.Depth != 0 || doc.Source[last.Start:last.End] != note {
			t.Fatalf("Cut(%q, %d) = %q: the note is not a paragraph of its own", md, limit, out)
		}
		if strings.Contains(CloseOpen(out), "</details>") {
			t.Fatalf("Cut(%q, %d) = %q: a <details> is open", md, limit, out)
		}
	}
}

func TestCutHostile(t *testing.T) {
	for _, opener := range []string{"<details>", "<details>\n\n", "```\n", "````````````````````", "<!--", "> ", "- ", "😀", "\n", " "} {
		out, cut := Cut(strings.Repeat(opener, 20000), 10000, "note")
		if n := UTF16Len(out); n > 10000 || !cut || !strings.HasSuffix(out, "note") {
			t.Errorf("%q: %d units, cut %v, end %q", opener, n, cut, out[max(0, len(out)-10):])
		}
	}
}

// TestCloseOpenIsLinear asserts that nothing is left open in 300 kB of tags; a search through all
// open elements for each of them would take minutes.
func TestCloseOpenIsLinear(t *testing.T) {
	for _, tags := range []string{"<b>", "<td>", "<table>", "<h1>", "<p>", "<li>", "</x>", "<b></x>", "<li></div>", "<b>\n\n</x>\n\n", "<p><rt></p>"} {
		for _, before := range []string{"", "<b>", "<table>", strings.Repeat("<b>", 1000)} {
			text := before + strings.Repeat(tags, 300_000/len(tags))
			if again := CloseOpen(text + CloseOpen(text)); again != "" {
				t.Errorf("many %q after %.10q: %d bytes are missing", tags, before, len(again))
			}
		}
	}
}

func TestCloseOpen(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{"", ""},
		{"text", ""},
		{"```\na\n```", ""},
		{"```\na\n", "\n```"},
		{"~~~~go\n```", "\n~~~~"},
		{"> ```\n> a", ""},
		{"<PRE>\na", "\n</pre>"},
		{"<!-- a", "\n-->"},
		{"<details>\n<summary>x</summary>\n\n`<details>`", "\n\n</details>"},
		{"a <details> b </details> </details>", ""},
		{"<details>\n\n```\nx", "\n```\n\n</details>"},
		{"<div>\n\nx\n", "\n\n</div>"},
		{"<div\nid=x>\n\nx", "\n\n</div>"},
		{"> <div>\n> x", "\n\n</div>\n\n</blockquote>"},
		{"x <del>y", "\n\n</del>"},
		{"<h1>x", "\n\n</h1>"},
		{"<table>\n<tr><td>x", "\n\n</td>\n\n</tr>\n\n</table>"},
		{"<table><tr><td>x<tr><td>y</table>", ""},
		{"<details><summary>x", "\n\n</summary>\n\n</details>"},
		{"<details><table><td></details>", "\n\n</td>\n\n</table>\n\n</details>"},
		{"<details><td></details>", "\n\n</td>\n\n</details>"},
		{"<a href=x>y", "\n\n</a>"},
		{"x <sub>y</sub> z<br>", ""},
		{"<b><i>x</b></i>", "\n\n</b>"},
		{"<div><p>x</div>", ""},
		{"<ul><li>x<li>y</ul>", ""},
		{"- <table>\n", "\n\n</table>\n\n</li>\n\n</ul>"},
		{"# <s>x", "\n\n</s>\n\n</h1>"},
		{"`<div>` &lt;div> <!-- <div> -->", ""},
		{"<div a='<b>'></div>", ""},
		{"</div></b></p>", ""},
		{"<pre>\n<b>x", "\n</pre>\n\n</b>\n\n</pre>"},
	} {
		if got := CloseOpen(tt.in); got != tt.want {
			t.Errorf("CloseOpen(%q) = %q, want %q", tt.in, got, tt.want)
		}
	}
}
