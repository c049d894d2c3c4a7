package sanitize

import "unicode"

// runeClass says what the character rules do with a character.
type runeClass int

const (
	classPlain   runeClass = iota // stays
	classContext                  // stays where a script or emoji needs it
	classC1                       // C1 control character
	classBidi                     // bidirectional control (Unicode: Bidi_Control)
	classInvisible
)

func (c runeClass) detail() string {
	if c == classBidi {
		return "bidirectional"
	}
	return "invisible"
}

const (
	zwsp      = '\u200b'
	zwnj      = '\u200c'
	zwj       = '\u200d'
	cgj       = '\u034f'
	blackFlag = '\U0001f3f4'
	tagEnd    = '\U000e007f'
)

// classOf sorts a character. The invisible ones are Unicode's
// Default_Ignorable_Code_Point set, the interlinear annotation characters,
// the deprecated formatting characters and the noncharacters.
func classOf(r rune) runeClass {
	switch {
	case r < 0x80:
		return classPlain
	case r < 0xa0:
		return classC1
	case r < 0x034f:
		if r == 0xad {
			return classInvisible
		}
		return classPlain
	case r < 0x0600:
		if r == cgj {
			return classContext
		}
		return classPlain
	case r < 0x2000:
		switch {
		case r == 0x061c:
			return classBidi
		case r == 0x115f || r == 0x1160:
			return classContext
		case r == 0x17b4 || r == 0x17b5:
			return classInvisible
		case r >= 0x180b && r <= 0x180f:
			return classContext
		}
		return classPlain
	case r < 0x2070:
		switch {
		case r == zwnj || r == zwj:
			return classContext
		case r == 0x200e || r == 0x200f || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069:
			return classBidi
		case r == zwsp || r >= 0x2060:
			return classInvisible
		}
		return classPlain
	case r < 0xfe00:
		if r == 0x3164 || r >= 0xfdd0 && r <= 0xfdef {
			return classInvisible
		}
		return classPlain
	case r < 0x10000:
		switch {
		case r <= 0xfe0f:
			return classContext
		case r == 0xfeff || r == 0xffa0 || r >= 0xfff0 && r <= 0xfffb || r >= 0xfffe:
			return classInvisible
		}
		return classPlain
	case r >= 0xe0000:
		switch {
		case r <= 0xe007f || r >= 0xe0100 && r <= 0xe01ef:
			return classContext
		case r <= 0xe0fff:
			return classInvisible
		}
	case r >= 0x1bca0 && r <= 0x1bca3 || r >= 0x1d173 && r <= 0x1d17a:
		return classInvisible
	}
	if r&0xfffe == 0xfffe {
		return classInvisible
	}
	return classPlain
}

func isTag(r rune) bool { return r >= 0xe0000 && r <= 0xe007f }

func contextDetail(r rune) string {
	if isTag(r) {
		return "tag"
	}
	return "invisible"
}

// flagTags returns the length of the tag sequence of one of the three flag
// emoji (England, Scotland, Wales) at the start of s, or 0.
func flagTags(s string) int {
	for _, f := range [...]string{
		"\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
		"\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f",
		"\U000e0067\U000e0062\U000e0077\U000e006c\U000e0073\U000e007f",
	} {
		if len(s) >= len(f) && s[:len(f)] == f {
			return len(f)
		}
	}
	return 0
}

// keepContextual tells whether r, a joiner, selector or filler, is needed
// between prev (with prev2 before it) and next; -1 stands for none.
func keepContextual(prev2, prev, r, next rune) bool {
	switch r {
	case zwj, zwnj, cgj, 0x115f:
		// Two such characters in a row help nobody.
		if next >= 0 && classOf(next) != classPlain {
			return false
		}
	}
	switch {
	case r == zwj:
		if isEmojiEnd(prev2, prev) && isPictographic(next) {
			return true
		}
		return joinsLetters(prev)
	case r == zwnj:
		return joinsLetters(next) && classOf(prev) == classPlain && (unicode.IsLetter(prev) || unicode.IsMark(prev) || unicode.IsDigit(prev))
	case r == cgj:
		return classOf(prev) == classPlain && unicode.IsMark(prev) && unicode.IsMark(next)
	case r == 0x115f:
		return next >= 0x1160 && next <= 0x11ff
	case r == 0x1160:
		return prev >= 0x1100 && prev <= 0x115e || prev >= 0xa960 && prev <= 0xa97c
	case r >= 0x180b && r <= 0x180f:
		return prev >= 0x1807 && prev <= 0x18aa
	case r == 0xfe0e || r == 0xfe0f:
		if prev == '#' || prev == '*' || prev >= '0' && prev <= '9' {
			return r == 0xfe0f && next == 0x20e3
		}
		return isPictographic(prev) || isTextSymbol(prev)
	case r >= 0xfe00 && r <= 0xfe0d:
		return isIdeograph(prev) || prev >= 0x2190 && prev <= 0x2aff || prev >= 0x1000 && prev <= 0x109f ||
			prev >= 0xa840 && prev <= 0xa877 || prev >= 0xaa60 && prev <= 0xaa7f || prev >= 0x10ac0 && prev <= 0x10aff ||
			prev >= 0x3000 && prev <= 0x303f || prev >= 0xff00 && prev <= 0xff60
	case r >= 0xe0100 && r <= 0xe01ef:
		return isIdeograph(prev)
	}
	return false
}

// isEmojiEnd tells that an emoji that can be joined ends with prev.
func isEmojiEnd(prev2, prev rune) bool {
	if prev == 0xfe0f {
		return isPictographic(prev2)
	}
	return isPictographic(prev) || prev >= 0x1f3fb && prev <= 0x1f3ff
}

func isIdeograph(r rune) bool {
	return r >= 0x3400 && r <= 0x9fff || r >= 0xf900 && r <= 0xfaff || r >= 0x20000 && r <= 0x3ffff
}

// isTextSymbol tells of symbols with a text and an emoji form outside of
// isPictographic.
func isTextSymbol(r rune) bool { return r >= 0x2190 && r <= 0x2bff || r == 0x3030 || r == 0x303d }

// isPictographic approximates Unicode's Extended_Pictographic: exact below
// U+3300, whole blocks above.
func isPictographic(r rune) bool {
	switch {
	case r < 0x203c:
		return r == 0xa9 || r == 0xae
	case r < 0x2600:
		switch r {
		case 0x203c, 0x2049, 0x2122, 0x2139, 0x21a9, 0x21aa, 0x231a, 0x231b, 0x2328, 0x2388, 0x23cf, 0x24c2,
			0x25aa, 0x25ab, 0x25b6, 0x25c0, 0x25fb, 0x25fc, 0x25fd, 0x25fe:
			return true
		}
		return r >= 0x2194 && r <= 0x2199 || r >= 0x23e9 && r <= 0x23f3 || r >= 0x23f8 && r <= 0x23fa
	case r < 0x27c0:
		return r <= 0x2712 || r == 0x2714 || r == 0x2716 || r == 0x271d || r == 0x2721 || r == 0x2728 ||
			r == 0x2733 || r == 0x2734 || r == 0x2744 || r == 0x2747 || r == 0x274c || r == 0x274e ||
			r >= 0x2753 && r <= 0x2757 || r >= 0x2763 && r <= 0x2767 || r >= 0x2795 && r <= 0x2797 ||
			r == 0x27a1 || r == 0x27b0 || r == 0x27bf
	case r < 0x1f000:
		switch r {
		case 0x2934, 0x2935, 0x2b05, 0x2b06, 0x2b07, 0x2b1b, 0x2b1c, 0x2b50, 0x2b55, 0x3030, 0x303d, 0x3297, 0x3299:
			return true
		}
		return false
	}
	return r <= 0x1faff && !(r >= 0x1f3fb && r <= 0x1f3ff)
}

// joinsLetters tells that r belongs to a script whose letters change their
// shape with a joiner: Arabic and its relatives, Mongolian, and the scripts of
// India and South-East Asia.
func joinsLetters(r rune) bool {
	switch {
	case r < 0x0600:
		return false
	case r < 0x0900: // Arabic, Syriac, Thaana, N'Ko, Mandaic
		return unicode.IsLetter(r) || unicode.IsMark(r)
	case r < 0x0e00: // Devanagari to Sinhala
		return unicode.IsLetter(r) || unicode.IsMark(r)
	case r >= 0x0e80 && r < 0x10a0, r >= 0x1700 && r < 0x18b0, r >= 0x1900 && r < 0x1c50, r >= 0x1cd0 && r < 0x1d00,
		r >= 0xa800 && r < 0xa8e0, r >= 0xa8e0 && r < 0xaae0, r >= 0xaae0 && r < 0xac00,
		r >= 0xfb50 && r < 0xfe00, r >= 0xfe70 && r < 0xff00, r >= 0x10a00 && r < 0x12000, r >= 0x1e900 && r < 0x1e960:
		return unicode.IsLetter(r) || unicode.IsMark(r)
	}
	return false
}
