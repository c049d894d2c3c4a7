// Package text writes numbers and foreign text as people read them: counts, sizes, and
// texts that fit into one line of a message.
package text

import (
	"strings"
	"unicode"
)

// OneLine returns s as one line that is safe to show: every run of white space, line
// breaks and control characters becomes one space, spaces at both ends are removed, and
// so are bidirectional controls and invalid UTF-8, so that nothing of it acts on a
// terminal or a log. The characters that join emoji and scripts stay.
func OneLine(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	pendingSpace := false
	for _, r := range strings.ToValidUTF8(s, "") {
		switch {
		case unicode.Is(unicode.Bidi_Control, r):
		case unicode.IsSpace(r), unicode.IsControl(r), r == '\u2028', r == '\u2029':
			pendingSpace = b.Len() > 0
		default:
			if pendingSpace {
				b.WriteByte(' ')
				pendingSpace = false
			}
			b.WriteRune(r)
		}
	}
	return b.String()
}

// Truncate returns s if it has at most n characters (Unicode code points), otherwise its
// first n followed by "…". It looks at no more of s than it returns.
func Truncate(s string, n int) string {
	for i := range s {
		if n <= 0 {
			return s[:i] + "…"
		}
		n--
	}
	return s
}

// IsBlank reports whether s is empty or nothing but white space.
func IsBlank(s string) bool { return strings.TrimSpace(s) == "" }
