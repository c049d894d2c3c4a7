package markdown

import (
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/graphemes"
)

// UTF16Len returns the length of s in UTF-16 code units, the unit of GitHub's
// size limits. A byte that is not valid UTF-8 counts as one, like U+FFFD.
func UTF16Len(s string) int {
	for i := 0; i < len(s); i++ {
		if s[i] >= utf8.RuneSelf {
			return i + nonASCIILen(s[i:])
		}
	}
	return len(s)
}

func nonASCIILen(s string) int {
	n := 0
	for _, r := range s {
		n += utf16.RuneLen(r)
	}
	return n
}

// UTF16Prefix returns the longest prefix with at most n UTF-16 code units that divides neither a
// character as people see it, such as a flag, nor a character reference. It leaves out at most
// maxMoved bytes for this, and divides a longer character.
func UTF16Prefix(s string, n int) string {
	if len(s) <= n { // a character has no more code units than bytes
		return s
	}
	for i, r := range s {
		if n -= utf16.RuneLen(r); n < 0 {
			return s[:endBefore(s, i)]
		}
	}
	return s
}

const (
	// maxMoved is how far a cut is moved, in bytes: more than a family of emoji or the longest
	// character reference takes.
	maxMoved = 64
	// maxNonASCII is how far back a character of ASCII is looked for, in bytes.
	maxNonASCII = 1024
)

// endBefore returns the last offset up to end at which a text may be cut; end itself if there
// is none near it.
func endBefore(s string, end int) int {
	if amp := strings.LastIndexByte(s[max(0, end-maxMoved):end], '&'); amp >= 0 {
		amp += max(0, end-maxMoved)
		if _, length := DecodeEntity(s[amp:]); amp+length > end {
			return amp
		}
	}
	// The search starts at the last ASCII character, because it begins a character as people see
	// it.
	start := max(0, end-maxNonASCII)
	start += max(0, strings.LastIndexFunc(s[start:end], func(r rune) bool { return r < utf8.RuneSelf }))
	for start < end && !utf8.RuneStart(s[start]) {
		start++
	}
	last := start
	characters := graphemes.FromString(s[start:min(len(s), end+maxMoved)])
	for characters.Next() && start+characters.End() <= end {
		last = start + characters.End()
	}
	if end-last > maxMoved {
		return end
	}
	return last
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isAlpha(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

func isAlnum(c byte) bool { return isAlpha(c) || isDigit(c) }

func isSpaceOrTab(c byte) bool { return c == ' ' || c == '\t' }

// isSpace reports whether c is white space in text, to cmark.
func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

// isSpaceChar is isSpace with vertical tab and form feed, which count in tags.
func isSpaceChar(c byte) bool { return c == ' ' || '\t' <= c && c <= '\r' }

func isPunct(c byte) bool {
	return '!' <= c && c <= '/' || ':' <= c && c <= '@' || '[' <= c && c <= '`' || '{' <= c && c <= '~'
}

// isUnicodeSpace reports whether r is a Unicode whitespace character to
// CommonMark, which has fewer of them than unicode.IsSpace.
func isUnicodeSpace(r rune) bool {
	return r == '\t' || r == '\n' || r == '\f' || r == '\r' || unicode.Is(unicode.Zs, r)
}

// isUnicodePunct reports whether r is a punctuation character to CommonMark: any that Unicode calls
// punctuation, and ASCII's other marks, such as "$", which Unicode calls symbols.
func isUnicodePunct(r rune) bool {
	if r < utf8.RuneSelf {
		return isPunct(byte(r))
	}
	return unicode.IsPunct(r)
}

// leadingRun returns the number of c at the start of s.
func leadingRun(s string, c byte) int {
	n := 0
	for n < len(s) && s[n] == c {
		n++
	}
	return n
}

// onlySpaces reports whether s is empty or spaces and tabs.
func onlySpaces(s string) bool {
	for i := 0; i < len(s); i++ {
		if !isSpaceOrTab(s[i]) {
			return false
		}
	}
	return true
}

// trimSpan returns sp without the white space at both ends.
func trimSpan(src string, sp Span) Span {
	for sp.End > sp.Start && isSpace(src[sp.End-1]) {
		sp.End--
	}
	for sp.Start < sp.End && isSpace(src[sp.Start]) {
		sp.Start++
	}
	return sp
}

// skipSpaces returns the offset of the first byte of s, from pos on, that is
// neither space nor tab.
func skipSpaces(s string, pos int) int {
	for pos < len(s) && isSpaceOrTab(s[pos]) {
		pos++
	}
	return pos
}

// skipLineBreak returns the offset after the line break at pos, if there is one.
func skipLineBreak(s string, pos int) int {
	if pos < len(s) && s[pos] == '\r' {
		pos++
	}
	if pos < len(s) && s[pos] == '\n' {
		pos++
	}
	return pos
}

// skipSpacesAndLine skips spaces with at most one line break among them.
func skipSpacesAndLine(s string, pos int) int {
	return skipSpaces(s, skipLineBreak(s, skipSpaces(s, pos)))
}

// skipSpaceChars is skipSpaces for all of isSpaceChar.
func skipSpaceChars(s string, i int) int {
	for i < len(s) && isSpaceChar(s[i]) {
		i++
	}
	return i
}
