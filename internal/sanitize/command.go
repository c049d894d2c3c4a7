package sanitize

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// commandAt returns the length of a command ("/word", then a blank or the end
// of the line) at the start of s, 0 when there is none.
func commandAt(s string) int {
	if len(s) < 2 || s[0] != '/' || !isAlpha(s[1]) {
		return 0
	}
	k := 2
	for k < len(s) && isNameByte(s[k]) {
		k++
	}
	if k == len(s) {
		return k
	}
	if r, _ := utf8.DecodeRuneInString(s[k:]); unicode.IsSpace(r) {
		return k
	}
	return 0
}

// findCommands calls found for each command that begins a line of the source:
// nothing but blanks, quote marks and list marks stand before it. That is how
// bots read a body that know no Markdown, and those that know some.
func findCommands(src string, found func(start, end int)) {
	for from := 0; ; {
		k := strings.IndexByte(src[from:], '/')
		if k < 0 {
			return
		}
		k += from
		from = k + 1
		size := commandAt(src[k:])
		if size == 0 || !beginsLine(src, k) {
			continue
		}
		found(k, k+size)
	}
}

// beginsLine tells that only blanks, quote marks and list marks stand between
// the start of the line and k. The look back ends at the first other byte, so
// no byte is looked at for two commands.
func beginsLine(src string, k int) bool {
	for k > 0 {
		c := src[k-1]
		switch {
		case c == '\n':
			return true
		case c == ' ', c == '\t', c == '>', c == '-', c == '+', c == '*':
			k--
			continue
		case c == '.' || c == ')':
			j := k - 1
			for j > 0 && isDigit(src[j-1]) && k-j < 12 {
				j--
			}
			if j == k-1 {
				return false
			}
			k = j
			continue
		case c < utf8.RuneSelf:
			return false
		}
		r, size := utf8.DecodeLastRuneInString(src[:k])
		if r == '\u2028' || r == '\u2029' {
			return true
		}
		if !unicode.IsSpace(r) {
			return false
		}
		k -= size
	}
	return true
}
