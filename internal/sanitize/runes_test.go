package sanitize

import (
	"testing"
	"unicode"
	"unicode/utf8"
)

// TestRuneClasses compares the classes that are derived from Unicode's tables
// with a list of the characters that are not plain. A new version of Unicode that
// differs shows here.
func TestRuneClasses(t *testing.T) {
	want := map[rune]runeClass{}
	for _, r := range []struct {
		first, last rune
		class       runeClass
	}{
		{0x80, 0x9f, classC1},
		{0xad, 0xad, classInvisible},       // soft hyphen
		{0x34f, 0x34f, classContext},       // combining grapheme joiner
		{0x61c, 0x61c, classBidiMark},      // Arabic letter mark
		{0x115f, 0x1160, classContext},     // Hangul fillers
		{0x17b4, 0x17b5, classInvisible},   // Khmer inherent vowels
		{0x180b, 0x180f, classContext},     // Mongolian selectors and vowel separator
		{0x200b, 0x200b, classInvisible},   // zero width space
		{0x200c, 0x200d, classContext},     // zero width non-joiner and joiner
		{0x200e, 0x200f, classBidiMark},    // left-to-right and right-to-left mark
		{0x202a, 0x202e, classBidi},        // embeddings and overrides
		{0x2060, 0x2065, classInvisible},   // word joiner, invisible operators
		{0x2028, 0x2029, classSeparator},   // line and paragraph separator
		{0x2066, 0x2069, classIsolate},     // isolates
		{0x206a, 0x206f, classInvisible},   // deprecated formatting characters
		{0x3164, 0x3164, classInvisible},   // Hangul filler
		{0xfdd0, 0xfdef, classInvisible},   // noncharacters
		{0xfe00, 0xfe0f, classContext},     // variation selectors
		{0xfeff, 0xfeff, classInvisible},   // byte order mark
		{0xffa0, 0xffa0, classInvisible},   // halfwidth Hangul filler
		{0xfff0, 0xfffb, classInvisible},   // reserved, interlinear annotation
		{0x1bca0, 0x1bca3, classInvisible}, // shorthand format controls
		{0x1d173, 0x1d17a, classInvisible}, // musical beams, ties, slurs and phrases
		{0xe0000, 0xe007f, classContext},   // tags
		{0xe0080, 0xe00ff, classInvisible}, // reserved
		{0xe0100, 0xe01ef, classContext},   // variation selectors supplement
		{0xe01f0, 0xe0fff, classInvisible}, // reserved
	} {
		for c := r.first; c <= r.last; c++ {
			want[c] = r.class
		}
	}
	for plane := rune(0); plane <= unicode.MaxRune; plane += 0x10000 {
		want[plane|0xfffe], want[plane|0xffff] = classInvisible, classInvisible // noncharacters
	}
	table := runeClasses()
	for r := rune(-1); r <= unicode.MaxRune; r++ {
		if got := table.classOf(r); got != want[r] {
			t.Errorf("U+%04X: class %d, want %d", r, got, want[r])
		}
	}
}

// TestLeadBytes compares what the first byte says with the decoded character.
func TestLeadBytes(t *testing.T) {
	table := runeClasses()
	counts := map[uint8]int{}
	for c := range 256 {
		counts[table.lead[c]]++
		switch table.lead[c] {
		case leadPlain, leadControl:
			if c >= 0x80 || (table.lead[c] == leadPlain) != (c >= ' ' && c != 0x7f || c == '\t' || c == '\n') {
				t.Errorf("%#x: %d", c, table.lead[c])
			}
		case leadTwo, leadThree:
			for b := range 0x40 * 0x40 {
				s := []byte{byte(c), byte(b>>6) | 0x80, byte(b)&0x3f | 0x80}
				if table.lead[c] == leadTwo {
					s = s[:2]
				}
				if r, size := utf8.DecodeRune(s); size != len(s) || table.classOf(r) != classPlain {
					t.Fatalf("%x: %U", s, r)
				}
			}
		}
	}
	// Most of Latin, Greek, Cyrillic and Hebrew, and of the ideographs and Hangul.
	if counts[leadTwo] != 27 || counts[leadThree] != 10 {
		t.Errorf("%v bytes are known, want 27 of two-byte and 10 of three-byte characters", counts)
	}
}
