package markdown

import (
	"html"
	"strings"
	"unicode/utf8"
)

const (
	maxEntityDigits = 8
	maxEntityName   = 31
)

// DecodeEntity decodes the character reference at the start of s as Markdown
// does: the semicolon is required, a number has at most eight digits, and a name
// is one of HTML's. n is the length of the reference, 0 if there is none.
func DecodeEntity(s string) (text string, n int) {
	if len(s) < 3 || s[0] != '&' {
		return "", 0
	}
	if s[1] == '#' {
		return decodeNumber(s)
	}
	i := 1
	for i < len(s) && i <= maxEntityName && isAlnum(s[i]) {
		i++
	}
	if i < 3 || i == len(s) || s[i] != ';' {
		return "", 0
	}
	switch s[1:i] {
	case "amp":
		return "&", i + 1
	case "lt":
		return "<", i + 1
	case "gt":
		return ">", i + 1
	case "quot":
		return `"`, i + 1
	case "semi":
		return ";", i + 1
	}
	text = html.UnescapeString(s[:i+1])
	// Package html keeps an unknown name, and also decodes the beginning of one. In both cases the
	// semicolon is left over.
	if strings.HasSuffix(text, ";") {
		return "", 0
	}
	return text, i + 1
}

func decodeNumber(s string) (text string, n int) {
	i, base, r := 2, rune(10), rune(0)
	if s[2] == 'x' || s[2] == 'X' {
		i, base = 3, 16
	}
	start := i
	for ; i < len(s) && i-start <= maxEntityDigits; i++ {
		c := s[i]
		var digit rune
		switch {
		case isDigit(c):
			digit = rune(c - '0')
		case base == 16 && 'a' <= c|0x20 && c|0x20 <= 'f':
			digit = rune(c|0x20-'a') + 10
		default:
			digit = -1
		}
		if digit < 0 {
			break
		}
		r = min(r*base+digit, 0x110000)
	}
	if i == start || i-start > maxEntityDigits || i == len(s) || s[i] != ';' {
		return "", 0
	}
	switch {
	case r == 0:
		return "\uFFFD", i + 1
	case r < utf8.RuneSelf:
		return string([]byte{byte(r)}), i + 1 // takes no memory, unlike string(r)
	case r == zwsp:
		return string(zwsp), i + 1
	}
	return string(r), i + 1 // U+FFFD if there is no such character
}

// zwsp is the zero width space: most references in cleaned texts are to it.
const zwsp = '\u200b'

// decode decodes the character references of s if marks is "&" or "&\", and removes the backslashes
// of its escapes if marks is "\" or "&\".
func decode(s, marks string) string {
	if !strings.ContainsAny(s, marks) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	for i := 0; i < len(s); i++ {
		if s[i] == '&' && marks[0] == '&' {
			if text, n := DecodeEntity(s[i:]); n > 0 {
				b.WriteString(text)
				i += n - 1
				continue
			}
		}
		if s[i] == '\\' && marks[len(marks)-1] == '\\' && i+1 < len(s) && isPunct(s[i+1]) {
			i++
		}
		b.WriteByte(s[i])
	}
	return b.String()
}
