package policy

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxTitle is GitHub's limit for a title in characters; counted here in UTF-16
// code units, which are never fewer.
const maxTitle = 256

// title puts the prefix before a title, unless it is there already, and cuts
// the whole to GitHub's limit.
func (n *notes) title(prefix, title string) string {
	if !prefixed(prefix, title) {
		title = prefix + title
	}
	cut, was := cutTitle(title)
	if was {
		n.add(RuleTitleLength, "the title was cut to %d characters", maxTitle)
	}
	return cut
}

// prefixed reports whether a title begins with the prefix already. The blank at
// a prefix's end may be missing ("[ai]x"), unless a word would run on ("Fix" is
// no prefix of "Fixed").
func prefixed(prefix, title string) bool {
	if strings.HasPrefix(title, prefix) {
		return true
	}
	bare := strings.TrimSpace(prefix)
	last, _ := utf8.DecodeLastRuneInString(bare)
	return title == bare || !unicode.IsLetter(last) && !unicode.IsDigit(last) && strings.HasPrefix(title, bare)
}

// cutTitle cuts a title to maxTitle UTF-16 code units, the last an ellipsis.
func cutTitle(s string) (string, bool) {
	if len(s) <= maxTitle {
		return s, false
	}
	units, end := 0, 0 // end: where to cut if it proves too long
	for i, r := range s {
		if units <= maxTitle-1 {
			end = i
		}
		units++
		if r > 0xFFFF {
			units++
		}
	}
	if units <= maxTitle {
		return s, false
	}
	return trimJoin(s[:end]) + "…", true
}

// trimJoin removes what would join or space out the ellipsis after a cut.
func trimJoin(s string) string {
	for s != "" {
		r, size := utf8.DecodeLastRuneInString(s)
		if r != ' ' && r != '\u200d' && r != '\ufe0f' {
			break
		}
		s = s[:len(s)-size]
	}
	return s
}
