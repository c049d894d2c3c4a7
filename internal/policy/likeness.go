package policy

import (
	"strings"
	"unicode"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// likeness returns a form of a text that it has in common with texts that look the same or nearly
// so. In the form, letters are small, plain and without marks, white space is blanks, and invisible
// characters are left out. It has Latin letters for letters of other scripts with the same shape.
// It is only for refusing: two texts with the same likeness may be different ones.
func likeness(s string) string {
	if strings.IndexFunc(s, func(r rune) bool { return r > unicode.MaxASCII }) < 0 {
		s = strings.ToLower(s) // which is all that folding does to it
	} else {
		s = cases.Fold().String(norm.NFKD.String(s))
	}
	return strings.Map(func(r rune) rune {
		switch {
		case r > unicode.MaxASCII && unicode.In(r, unicode.Mn, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector):
			return -1
		case unicode.IsSpace(r):
			return ' '
		}
		if latin, ok := sameShape[r]; ok {
			return latin
		}
		return r
	}, s)
}

// sameShape maps small letters and punctuation to the Latin letter or ASCII character that they look
// like. Most of these pairs are in Unicode's list of confusable characters (UTS #39), as small
// letters or as capitals. Letters of most dead scripts are left out.
var sameShape = func() map[rune]rune {
	shapes := map[rune]rune{}
	for latin, alike := range map[rune]string{
		'a': "аαɑ", 'b': "ьƅ", 'c': "сϲ", 'd': "ԁ", 'e': "еҽ", 'f': "ғẝ", 'g': "ɡց", 'h': "һհ", 'i': "іɩιıⅰ", 'j': "јϳ", 'k': "кκ", 'l': "ӏⅼ|",
		'm': "м", 'n': "ոп", 'o': "оοօס", 'p': "рρ", 'q': "ԛզ", 'r': "гⲅ", 's': "ѕꜱ", 't': "тτ", 'u': "υսц", 'v': "νѵ", 'w': "ԝωѡ", 'x': "хχ", 'y': "уγү", 'z': "ᴢ",
		'-': "‐‑‒–—−", '/': "⁄∕", '.': "․", ':': "։∶",
	} {
		for _, r := range alike {
			shapes[r] = latin
		}
	}
	return shapes
}()
