package markdown

import (
	"strings"
	"testing"
)

func TestCodeSpan(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{"", ""},
		{"a", "`a`"},
		{"a`b", "``a`b``"},
		{"`", "`` ` ``"},
		{" ", "` `"},
		{" a ", "`  a  `"},
		{"a\r\nb\nc", "`a b c`"},
		{"@octocat", "`@octocat`"},
	} {
		if got := CodeSpan(tt.in); got != tt.want {
			t.Errorf("CodeSpan(%q) = %q, want %q", tt.in, got, tt.want)
		}
	}
}

func TestFence(t *testing.T) {
	for _, tt := range []struct{ info, body, want string }{
		{"go", "x := 1\n", "```go\nx := 1\n```"},
		{"", "", "```\n```"},
		{"a`b\nc", "```\nx\n```", "````abc\n```\nx\n```\n````"},
	} {
		if got := Fence(tt.info, tt.body); got != tt.want {
			t.Errorf("Fence(%q, %q) = %q, want %q", tt.info, tt.body, got, tt.want)
		}
	}
}

func TestTable(t *testing.T) {
	got := Table([]string{"kind", "count"}, [][]string{{"a|b", "1"}, {`x\|y`}, {"p\r\nq", "2", "3"}})
	want := "| kind | count |  |\n| --- | --- | --- |\n| a\\|b | 1 |  |\n| x\\\\|y |  |  |\n| p<br>q | 2 | 3 |\n"
	if got != want {
		t.Errorf("Table:\n%s\nwant:\n%s", got, want)
	}
	if got := Table(nil, nil); got != "" {
		t.Errorf("empty table: %q", got)
	}
}

func TestEscapeText(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{"", ""},
		{"  plain text.  ", "plain text."},
		{"# heading", `\# heading`},
		{"1. item", `1\. item`},
		{"- item", `\- item`},
		{"a\nb\tc", "a b c"},
		{"a*b_c d_e _f_", `a\*b_c d_e \_f\_`},
		{"<b>&amp;", `\<b\>&amp;amp;`},
		{"see https://a.example and www.b.example", `see https\://a.example and www\.b.example`},
		{"[x](y) `z` a|b", "\\[x\\](y) \\`z\\` a\\|b"},
		{"nul\x00", "nul\uFFFD"},
	} {
		if got := EscapeText(tt.in); got != tt.want {
			t.Errorf("EscapeText(%q) = %q, want %q", tt.in, got, tt.want)
		}
	}
}

func TestEscapeHTML(t *testing.T) {
	in := " apps/[id]/_x_\n~`*\\ <b>&amp; "
	if got, want := EscapeHTML(in), "apps/[id]/_x_ ~`*\\ &lt;b&gt;&amp;amp;"; got != want {
		t.Errorf("EscapeHTML(%q) = %q, want %q", in, got, want)
	}
}

func TestMarker(t *testing.T) {
	m := Marker("00ff")
	if m != "<!-- airlock:v1 key=00ff -->" {
		t.Fatalf("Marker = %q", m)
	}
	for _, bad := range []string{"", "00FF", "x", "0 -->"} {
		if got := Marker(bad); got != "" {
			t.Errorf("Marker(%q) = %q, want empty", bad, got)
		}
	}
	for _, tt := range []struct {
		body, key string
		ok        bool
	}{
		{"text\n\n" + m, "00ff", true},
		{"text\r\n" + m + "\r\n\n", "00ff", true},
		{m, "00ff", true},
		{"text " + m, "", false},
		{m + "\ntext", "", false},
		{"> " + m, "", false},
		{"", "", false},
		{"<!-- airlock:v1 key= -->", "", false},
		{"text\n\n" + MarkerOf(IslandEnd, "00ff"), "", false},
	} {
		key, ok := LastLineMarker(tt.body)
		if key != tt.key || ok != tt.ok {
			t.Errorf("LastLineMarker(%q) = %q, %v", tt.body, key, ok)
		}
	}
}

func TestLineMarker(t *testing.T) {
	for _, kind := range []MarkerKind{MarksText, IslandStart, IslandEnd} {
		m := MarkerOf(kind, "00ff")
		for _, line := range []string{m, m + "\r\n", m + "  "} {
			if got, key, ok := LineMarker(line); got != kind || key != "00ff" || !ok {
				t.Errorf("LineMarker(%q) = %q, %q, %v", line, got, key, ok)
			}
		}
		for _, line := range []string{" " + m, "> " + m, m + " x", m + "\n" + m, strings.ToUpper(m)} {
			if _, key, ok := LineMarker(line); ok {
				t.Errorf("LineMarker(%q) = %q", line, key)
			}
		}
	}
}

func TestStripMarkers(t *testing.T) {
	m := Marker("ab")
	for _, tt := range []struct{ in, want string }{
		{"text", "text"},
		{"a" + m + "b", "ab"},
		{"<!-- airlock:v1 key=" + m + "ab -->", ""},
		{"<!-- airlock:v1 <!-- airlock:v1 key=ab -->key=ab -->", ""},
		{"<!-- other airlock:v1 -->", "<!-- other airlock:v1 -->"},
		{"a" + MarkerOf(IslandStart, "ab") + "b" + MarkerOf(IslandEnd, "ab") + "c", "abc"},
		{"<!-- airlock:v1 isl" + m + "and=ab -->x", "x"},
		{"<!-- airlock:v1 " + strings.Repeat("key=", 100) + " -->", "<!-- airlock:v1 " + strings.Repeat("key=", 100) + " -->"},
	} {
		if got := StripMarkers(tt.in); got != tt.want {
			t.Errorf("StripMarkers(%q) = %q, want %q", tt.in, got, tt.want)
		}
	}
}

func TestUTF16Len(t *testing.T) {
	for s, want := range map[string]int{"": 0, "abc": 3, "é": 1, "a😀b": 4, "\xff": 1} {
		if got := UTF16Len(s); got != want {
			t.Errorf("UTF16Len(%q) = %d, want %d", s, got, want)
		}
	}
}
