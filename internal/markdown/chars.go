package markdown

import (
	"unicode"
	"unicode/utf8"
)

// UTF16Len returns the length of s in UTF-16 code units, the unit of GitHub's
// size limits. A byte that is not valid UTF-8 counts one, as U+FFFD would.
func UTF16Len(s string) int {
	n := 0
	for i := 0; i < len(s); i++ {
		if s[i] >= 0x80 {
			return n + utf16LenSlow(s[i:])
		}
		n++
	}
	return n
}

func utf16LenSlow(s string) int {
	n := 0
	for _, r := range s {
		n++
		if r >= 0x10000 {
			n++
		}
	}
	return n
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isAlpha(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

func isAlnum(c byte) bool { return isAlpha(c) || isDigit(c) }

func isSpaceOrTab(c byte) bool { return c == ' ' || c == '\t' }

// isSpace reports whether c is what cmark takes for white space in text.
func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

// isSpaceChar is isSpace with vertical tab and form feed, as in tags.
func isSpaceChar(c byte) bool { return c == ' ' || '\t' <= c && c <= '\r' }

func isPunct(c byte) bool {
	return '!' <= c && c <= '/' || ':' <= c && c <= '@' || '[' <= c && c <= '`' || '{' <= c && c <= '~'
}

// runeBefore returns the character that ends at offset i > 0.
func runeBefore(s string, i int) rune {
	r, n := utf8.DecodeLastRuneInString(s[:i])
	if r == utf8.RuneError && n == 1 {
		return '\n'
	}
	return r
}

func isUnicodeSpace(r rune) bool {
	return r == '\t' || r == '\n' || r == '\f' || r == '\r' || unicode.Is(unicode.Zs, r)
}

func isUnicodePunct(r rune) bool {
	if r < utf8.RuneSelf {
		return isPunct(byte(r))
	}
	return unicode.IsPunct(r)
}
