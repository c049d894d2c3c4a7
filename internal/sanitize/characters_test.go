package sanitize

import (
	"strings"
	"testing"
	"testing/quick"
	"unicode/utf8"
)

func TestCharacters(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		{"nothing", "plain\ttext\nline", "plain\ttext\nline"},
		{"line ends", "a\r\nb\rc\n", "a\nb\nc\n"},
		{"controls", "a\x00b\x08c\x7fd\u0085e", "abcde"},
		{"invalid", "a\xffb\xc3c\xe2\x80", "abc"},
		{"surrogates", "a\xed\xa0\x80b", "ab"},
		{"no new character arises", "\xe2\xff\x80\x8b", ""},
		{"colour", "\x1b[1;31mred\x1b[0m", "red"},
		{"title sequence", "\x1b]0;title\x07text", "text"},
		{"link sequence", "\x1b]8;;https://x\x1b\\text\x1b]8;;\x1b\\", "text"},
		{"one-byte introducer", "\u009b31mred", "red"},
		{"string without an end", "\x1b]0;kept\nnext", "0;kept\nnext"},
		{"charset", "\x1b(Btext", "text"},
		{"ESC before text", "\x1b\u00e9", "é"},
		{"bidirectional", "a\u202eb\u2066c\u200ed\u061ce", "abcde"},
		{"zero width", "a\u200bb\u2060c\ufeffd\u00ade", "abcde"},
		{"tags", "a\U000e0041\U000e007fb", "ab"},
		{"flags", "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f", "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f"},
		{"no flag", "🏴\U000e0067\U000e0062\U000e007f!", "🏴!"},
		{"family", "👨\u200d👩\u200d👧", "👨\u200d👩\u200d👧"},
		{"heart on fire", "❤\ufe0f\u200d🔥", "❤\ufe0f\u200d🔥"},
		{"skin tone", "🧑🏿\u200d🚀", "🧑🏿\u200d🚀"},
		{"keycaps", "1\ufe0f\u20e3 #\ufe0f\u20e3", "1\ufe0f\u20e3 #\ufe0f\u20e3"},
		{"selector after a digit", "1\ufe0f2", "12"},
		{"anchor of a heading with an emoji", "[⚙\ufe0f Usage](#\ufe0f-usage)", "[⚙\ufe0f Usage](#\ufe0f-usage)"},
		{"selector after a number sign", "#\ufe0f1 #\ufe0f", "#1 #"},
		{"joiner in Latin", "a\u200db\u200cc", "abc"},
		{"Persian", "می\u200cخواهم", "می\u200cخواهم"},
		{"Persian suffix on Latin", "CSS\u200cها", "CSS\u200cها"},
		{"Hindi", "क्\u200dष क्\u200cष", "क्\u200dष क्\u200cष"},
		{"two joiners", "می\u200c\u200cخ", "می\u200cخ"},
		{"Arabic final form", "ه\u200d", "ه\u200d"},
		{"Mongolian", "ᠠ\u180eᠠ\u180b", "ᠠ\u180eᠠ\u180b"},
		{"ideographic variant", "葛\U000e0100 a\U000e0100", "葛\U000e0100 a"},
		{"no folding", "ﬁ Ａ ² e\u0301 ſ", "ﬁ Ａ ² e\u0301 ſ"},
		{"marks in Arabic", "استخدم \u200eC++\u200f هنا (\u061c12\u061c).", "استخدم \u200eC++\u200f هنا (\u061c12\u061c)."},
		{"mark at the end of a line", "שלום\nAPI (v2)\u200f\nעולם", "שלום\nAPI (v2)\u200f\nעולם"},
		{"marks in Latin", "a \u200f b\u200e!", "a  b!"},
		{"marks within words", "של\u200fום sa\u200efe אב\u200eAB", "שלום safe אב\u200eAB"},
		{"runs of marks", "שלום\u200f\u200e\u200f \u200e\u200e1", "שלום\u200f \u200e1"},
		{"more marks than letters", "א " + strings.Repeat("\u200e ", 5), "א \u200e     "},
		{"isolates", "הקובץ \u2066main.go\u2069 נמחק, \u2068x\u2069", "הקובץ \u2066main.go\u2069 נמחק, \u2068x\u2069"},
		{"nested isolates", "אבגד \u2067א \u2066b\u2069\u2069", "אבגד \u2067א \u2066b\u2069\u2069"},
		{"isolates that do not end", "אב \u2067a \u2066b\u2069", "אב a \u2066b\u2069"},
		{"isolates over lines", "אבגד \u2067a\nb\u2069", "אבגד a\nb"},
		{"ends without isolates", "אבגד\u2069 \u2069a", "אבגד a"},
		{"isolates in Latin", "a \u2067b\u2069", "a b"},
		{"overrides and embeddings in Hebrew", "שלום \u202eabc\u202c \u202ba\u202c", "שלום abc a"},
		{"registered variants", "∩\ufe00 、\ufe01 辻\U000e0100 劳\ufe00", "∩\ufe00 、\ufe01 辻\U000e0100 劳\ufe00"},
		{"variants that nothing has", "∩\ufe01 辻\ufe03 葛\U000e0120 က\ufe02", "∩ 辻 葛 က"},
		{"more variants than a short text may have", strings.Repeat("葛\U000e0101", 8), strings.Repeat("葛\U000e0101", 4) + "葛葛葛葛"},
		{"fillers", "a\u3164b\uffa0c\u2062d\u2800", "abcd\u2800"},
		{"line separators", "a\u2028b\u2029c", "a b c"},
		{"noncharacters", "a\ufffe\U0001ffffb", "ab"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var n noter
			if got := characters(tt.in, &n); got != tt.want {
				t.Errorf("got  %q\nwant %q", got, tt.want)
			}
			if (tt.in != tt.want) != (len(n.list()) > 0) && !strings.ContainsRune(tt.in, '\r') {
				t.Errorf("notes %v", n.list())
			}
		})
	}
}

// TestCharactersTwice asserts of random texts that the result is valid UTF-8 and does not change when
// it is cleaned again.
func TestCharactersTwice(t *testing.T) {
	pieces := []string{
		"a", " ", "\n", "\r", "\x1b[", "\x1b]", "\x07", "m", ";", "\u200b", "\u200c", "\u200d", "\ufe0f", "\ufe0e", "👨", "🏴", "❤", "ی", "क", "्",
		"\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f", "\U000e0041", "\u202e", "\xff", "\xe2\x80", "1", "#", "\u20e3", "葛", "\U000e0100", "ᠠ", "\u180e", "\u034f", "\u0301", "\u1160", "ᄀ",
		"\u200e", "\u200f", "\u061c", "\u2066", "\u2067", "\u2068", "\u2069", "א", "ب", "x", "\u2028", "\U000e0110",
	}
	check := func(choice []uint8) bool {
		var b strings.Builder
		for _, c := range choice {
			b.WriteString(pieces[int(c)%len(pieces)])
		}
		var n noter
		once := characters(b.String(), &n)
		return utf8.ValidString(once) && characters(once, &n) == once
	}
	if err := quick.Check(check, &quick.Config{MaxCount: 20000}); err != nil {
		t.Error(err)
	}
}

func TestCharactersDoNotAllocate(t *testing.T) {
	var n noter
	for _, text := range []string{"Plain prose, nothing else.", "Größe 缓存 тест", "👨\u200d👩\u200d👧 می\u200cخواهم"} {
		if allocs := testing.AllocsPerRun(50, func() { characters(text, &n) }); allocs > 0 {
			t.Errorf("%q: %v allocations", text, allocs)
		}
	}
}
