package sanitize

import (
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/rangetable"
)

// runeClass is what the character rules do with a character.
type runeClass uint8

const (
	classPlain     runeClass = iota // stays
	classContext                    // stays where a script or an emoji needs it
	classC1                         // C1 control character: removed
	classBidiMark                   // mark of a direction: stays where right-to-left text needs it
	classIsolate                    // begins or ends an isolate: a pair stays where such text needs it
	classBidi                       // other bidirectional control: removed
	classSeparator                  // U+2028 or U+2029, a line break to some readers: becomes a space
	classInvisible                  // removed
)

// detail names the class in a note.
func (c runeClass) detail() string {
	switch c {
	case classBidi, classBidiMark, classIsolate:
		return "bidirectional"
	case classSeparator:
		return "line-separator"
	}
	return "invisible"
}

// depends reports whether the characters around one of this class decide if it stays.
func (c runeClass) depends() bool {
	return c == classContext || c == classBidiMark || c == classIsolate
}

const (
	zwsp      = '\u200b' // zero width space
	zwnj      = '\u200c' // zero width non-joiner
	zwj       = '\u200d' // zero width joiner
	lrm       = '\u200e' // left-to-right mark
	rlm       = '\u200f' // right-to-left mark
	alm       = '\u061c' // Arabic letter mark
	lri       = '\u2066' // left-to-right isolate, the first of the isolates
	pdi       = '\u2069' // pop directional isolate, which ends one
	cgj       = '\u034f' // combining grapheme joiner
	choseong  = '\u115f' // Hangul filler in the place of a leading consonant
	jungseong = '\u1160' // Hangul filler in the place of a vowel
	blackFlag = '\U0001f3f4'
)

// What the first byte of a character says about its class.
const (
	leadUnknown uint8 = iota // the character has to be decoded
	leadPlain                // ASCII that stays
	leadControl              // ASCII that is removed
	leadTwo                  // two bytes: plain, whatever the second one is
	leadThree                // three bytes: plain, whatever the other two are
)

// runeTable has the class of every character, in pages of 256.
type runeTable struct {
	lead  [256]uint8
	page  [(unicode.MaxRune + 1) / 256]uint8 // index in pages
	pages [][256]runeClass                   // the first one is all plain
}

// runeClasses returns the table. It is built when it is first needed.
var runeClasses = sync.OnceValue(newRuneTable)

// newRuneTable derives the classes from Unicode's properties. Apart from C1 controls and
// separators, the characters that are not plain are those of Default_Ignorable_Code_Point, the
// interlinear annotation characters (U+FFF9 to U+FFFB), and the noncharacters. Package unicode
// lacks the property, so it is derived as in DerivedCoreProperties.txt.
func newRuneTable() *runeTable {
	t := &runeTable{pages: make([][256]runeClass, 1)}
	for _, ignorable := range []*unicode.RangeTable{
		unicode.Cf, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector, unicode.Noncharacter_Code_Point,
	} {
		rangetable.Visit(ignorable, func(r rune) {
			switch {
			case unicode.Is(unicode.Prepended_Concatenation_Mark, r):
			case r >= 0x13430 && r <= 0x1343f: // these arrange Egyptian hieroglyphs
			case r == lrm || r == rlm || r == alm:
				t.set(r, classBidiMark)
			case r >= lri && r <= pdi:
				t.set(r, classIsolate)
			case unicode.Is(unicode.Bidi_Control, r):
				t.set(r, classBidi)
			case unicode.In(r, unicode.Join_Control, unicode.Variation_Selector), isTag(r),
				r == cgj, r == choseong, r == jungseong, r == 0x180e: // the last one separates Mongolian vowels
				t.set(r, classContext)
			default:
				t.set(r, classInvisible)
			}
		})
	}
	t.set('\u2028', classSeparator)
	t.set('\u2029', classSeparator)
	for r := rune(0x80); r < 0xa0; r++ {
		t.set(r, classC1)
	}
	for c := range rune(256) {
		switch {
		case c == '\n' || c == '\t' || c >= 0x20 && c < 0x7f:
			t.lead[c] = leadPlain
		case c < 0x80:
			t.lead[c] = leadControl
		case c >= 0xc2 && c <= 0xdf && t.allPlain(c&0x1f<<6, c&0x1f<<6|0x3f):
			t.lead[c] = leadTwo
		case c >= 0xe1 && c <= 0xef && c != 0xed && t.allPlain(c&0xf<<12, c&0xf<<12|0xfff): // 0xe0 and 0xed may begin invalid UTF-8
			t.lead[c] = leadThree
		}
	}
	return t
}

func (t *runeTable) set(r rune, class runeClass) {
	page := &t.page[r/256]
	if *page == 0 {
		*page = uint8(len(t.pages))
		t.pages = append(t.pages, [256]runeClass{})
	}
	t.pages[*page][r%256] = class
}

func (t *runeTable) allPlain(first, last rune) bool {
	for r := first; r <= last; r++ {
		if t.classOf(r) != classPlain {
			return false
		}
	}
	return true
}

// classOf returns the class of r. ASCII counts as plain, although the rules remove some of it. So
// does -1, which stands for no character.
func (t *runeTable) classOf(r rune) runeClass {
	if r < utf8.RuneSelf {
		return classPlain
	}
	return t.pages[t.page[r/256]][r%256]
}

// isTag reports whether r lies in the block of tag characters.
func isTag(r rune) bool { return r >= 0xe0000 && r <= 0xe007f }

// contextDetail returns what a note calls a character whose surroundings decide if it stays.
func contextDetail(r rune) string {
	if isTag(r) {
		return "tag"
	}
	return runeClasses().classOf(r).detail()
}

// flagTags returns the length of the tag sequence of one of the three flag
// emoji (England, Scotland, Wales) at the start of s, or 0.
func flagTags(s string) int {
	for _, flag := range [...]string{
		"\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
		"\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f",
		"\U000e0067\U000e0062\U000e0077\U000e006c\U000e0073\U000e007f",
	} {
		if strings.HasPrefix(s, flag) {
			return len(flag)
		}
	}
	return 0
}

// keepContextual reports whether r, a character of classContext, is needed
// between prev (with prev2 before it) and next; -1 stands for no character.
func (t *runeTable) keepContextual(prev2, prev, r, next rune) bool {
	switch r {
	case zwj, zwnj, cgj, choseong:
		// Two such characters in a row help nobody.
		if t.classOf(next) != classPlain {
			return false
		}
	}
	switch {
	case r == zwj:
		return isEmojiEnd(prev2, prev) && unicode.Is(pictographic, next) || joinsLetters(prev)
	case r == zwnj:
		return joinsLetters(next) && t.classOf(prev) == classPlain && unicode.In(prev, unicode.L, unicode.M, unicode.Nd)
	case r == cgj:
		return t.classOf(prev) == classPlain && unicode.IsMark(prev) && unicode.IsMark(next)
	case r == choseong:
		return next >= 0x1160 && next <= 0x11ff
	case r == jungseong:
		return prev >= 0x1100 && prev <= 0x115e || prev >= 0xa960 && prev <= 0xa97c
	case r >= 0x180b && r <= 0x180f:
		return prev >= 0x1807 && prev <= 0x18aa
	case r == 0xfe0e || r == 0xfe0f:
		if prev == '#' || prev == '*' || prev >= '0' && prev <= '9' {
			// A keycap, or the anchor that GitHub makes of a heading such as "⚙️ Usage".
			return r == 0xfe0f && (next == 0x20e3 || prev == '#' && next == '-')
		}
		return unicode.Is(pictographic, prev) || prev >= 0x2190 && prev <= 0x2bff
	// The standard has three variants of an ideograph at most, two of punctuation
	// and one of other characters. Few ideographs have more than 32 registered ones.
	case r == 0xfe00:
		return unicode.Is(ideographs, prev) || unicode.Is(standardVariants, prev)
	case r == 0xfe01 && unicode.Is(standardVariants, prev):
		return prev >= 0x3000 && prev <= 0x303f || prev >= 0xff00
	case r == 0xfe01, r == 0xfe02, r >= 0xe0100 && r <= 0xe011f:
		return unicode.Is(ideographs, prev)
	}
	return false
}

// isVariant reports whether r selects a variant of a character that is not an emoji.
func isVariant(r rune) bool { return r >= 0xfe00 && r <= 0xfe0d || r >= 0xe0100 && r <= 0xe01ef }

// isEmojiEnd reports whether an emoji that can be joined ends with prev.
func isEmojiEnd(prev2, prev rune) bool {
	if prev == 0xfe0f {
		return unicode.Is(pictographic, prev2)
	}
	return unicode.Is(pictographic, prev) || prev >= 0x1f3fb && prev <= 0x1f3ff
}

// joinsLetters reports whether r is a letter or mark of a script whose letters
// change their shape with a joiner.
func joinsLetters(r rune) bool {
	return unicode.Is(joiningScripts, r) && unicode.In(r, unicode.L, unicode.M)
}

// The tables below are blocks, in which later versions of Unicode may assign
// more characters, and a property of emoji. Neither package unicode nor x/text
// has them.
var (
	// joiningScripts has the blocks of Arabic and its relatives, of Mongolian,
	// and of the scripts of India and South-East Asia.
	joiningScripts = &unicode.RangeTable{
		R16: []unicode.Range16{
			{0x0600, 0x0dff, 1}, // Arabic, Syriac, Thaana, N'Ko, Mandaic, Devanagari to Sinhala
			{0x0e80, 0x109f, 1}, // Lao, Tibetan, Myanmar
			{0x1700, 0x18af, 1}, // Tagalog to Mongolian
			{0x1900, 0x1c4f, 1}, // Limbu to Lepcha
			{0x1cd0, 0x1cff, 1}, // Vedic extensions
			{0xa800, 0xabff, 1}, // Syloti Nagri to Meetei Mayek
			{0xfb50, 0xfdff, 1}, // Arabic presentation forms A
			{0xfe70, 0xfeff, 1}, // Arabic presentation forms B
		},
		R32: []unicode.Range32{
			{0x10a00, 0x11fff, 1}, // Kharoshthi to Tamil supplement
			{0x1e900, 0x1e95f, 1}, // Adlam
		},
	}
	// ideographs has the blocks of CJK ideographs.
	ideographs = &unicode.RangeTable{
		R16: []unicode.Range16{{0x3400, 0x9fff, 1}, {0xf900, 0xfaff, 1}},
		R32: []unicode.Range32{{0x20000, 0x3ffff, 1}},
	}
	// standardVariants has the blocks with other characters to which
	// StandardizedVariants.txt gives variants.
	standardVariants = &unicode.RangeTable{
		R16: []unicode.Range16{
			{0x1000, 0x109f, 1}, // Myanmar
			{0x2190, 0x2aff, 1}, // arrows to mathematical operators
			{0x3000, 0x303f, 1}, // CJK punctuation
			{0xa840, 0xa877, 1}, // Phags-pa
			{0xaa60, 0xaa7f, 1}, // Myanmar extended A
			{0xff00, 0xff60, 1}, // fullwidth forms
		},
		R32: []unicode.Range32{{0x10ac0, 0x10aff, 1}}, // Manichaean
	}
	// pictographic approximates Extended_Pictographic. Below U+3300 it has in addition
	// a few symbols between those of the property: U+2606, U+2613, U+2686 to U+268F,
	// U+2706, U+2707 and U+2756. Above, it has entire blocks without the skin tones.
	pictographic = &unicode.RangeTable{
		R16: []unicode.Range16{
			{0xa9, 0xa9, 1}, {0xae, 0xae, 1}, {0x203c, 0x203c, 1}, {0x2049, 0x2049, 1}, {0x2122, 0x2122, 1}, {0x2139, 0x2139, 1},
			{0x2194, 0x2199, 1}, {0x21a9, 0x21aa, 1}, {0x231a, 0x231b, 1}, {0x2328, 0x2328, 1}, {0x2388, 0x2388, 1},
			{0x23cf, 0x23cf, 1}, {0x23e9, 0x23f3, 1}, {0x23f8, 0x23fa, 1}, {0x24c2, 0x24c2, 1}, {0x25aa, 0x25ab, 1},
			{0x25b6, 0x25b6, 1}, {0x25c0, 0x25c0, 1}, {0x25fb, 0x25fe, 1}, {0x2600, 0x2712, 1}, {0x2714, 0x2714, 1},
			{0x2716, 0x2716, 1}, {0x271d, 0x271d, 1}, {0x2721, 0x2721, 1}, {0x2728, 0x2728, 1}, {0x2733, 0x2734, 1},
			{0x2744, 0x2744, 1}, {0x2747, 0x2747, 1}, {0x274c, 0x274c, 1}, {0x274e, 0x274e, 1}, {0x2753, 0x2757, 1},
			{0x2763, 0x2767, 1}, {0x2795, 0x2797, 1}, {0x27a1, 0x27a1, 1}, {0x27b0, 0x27b0, 1}, {0x27bf, 0x27bf, 1},
			{0x2934, 0x2935, 1}, {0x2b05, 0x2b07, 1}, {0x2b1b, 0x2b1c, 1}, {0x2b50, 0x2b50, 1}, {0x2b55, 0x2b55, 1},
			{0x3030, 0x3030, 1}, {0x303d, 0x303d, 1}, {0x3297, 0x3297, 1}, {0x3299, 0x3299, 1},
		},
		R32: []unicode.Range32{{0x1f000, 0x1f3fa, 1}, {0x1f400, 0x1faff, 1}},
	}
)
