package sanitize

import (
	"html"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
)

// ourZWSP is the entity by which things in a body are made inert, in the one
// spelling that this package writes.
const ourZWSP = "&#8203;"

// maxEntity limits where the name of a reference ends, in bytes from its &. The
// longest name of HTML, CounterClockwiseContourIntegral;, has 32.
const maxEntity = 40

// browserEntity decodes the character reference at the start of s as browsers do
// in HTML: the semicolon may be missing, and numbers in the range of C1 mean
// Windows-1252. It returns the text and the length of the reference, 0 if there is
// none.
func browserEntity(s string) (text string, size int) {
	if len(s) < 3 || s[0] != '&' {
		return "", 0
	}
	if s[1] == '#' {
		return browserNumber(s)
	}
	k := 1
	for k < len(s) && k < maxEntity && isAlnum(s[k]) {
		k++
	}
	if k < len(s) && s[k] == ';' {
		decoded := html.UnescapeString(s[:k+1])
		leavesSemicolon := decoded[len(decoded)-1] == ';' && s[:k+1] != "&semi;" // it is not part of a name
		if !leavesSemicolon {
			return decoded, k + 1
		}
	}
	// The names that browsers know without a semicolon have 2 to 6 letters,
	// and none is the beginning of another.
	for n := 3; n <= min(k, 7); n++ {
		if decoded := html.UnescapeString(s[:n]); decoded != s[:n] {
			return decoded, n
		}
	}
	return "", 0
}

func browserNumber(s string) (text string, size int) {
	k, base := 2, rune(10)
	if s[k]|0x20 == 'x' {
		k, base = 3, 16
	}
	first, code := k, rune(0)
	for ; k < len(s); k++ {
		digit := hexDigit(s[k])
		if digit >= base {
			break
		}
		if code <= 0x10ffff {
			code = code*base + digit
		}
	}
	if k == first {
		return "", 0
	}
	if k < len(s) && s[k] == ';' {
		k++
	}
	switch {
	case code == 0, code > 0x10ffff, code >= 0xd800 && code <= 0xdfff:
		code = 0xfffd
	case code >= 0x80 && code <= 0x9f:
		if r := charmap.Windows1252.DecodeByte(byte(code)); r != utf8.RuneError {
			code = r // the five bytes without a meaning stay C1 controls
		}
	}
	return string(code), k
}

// hexDigit returns the value of a digit, 16 for anything else.
func hexDigit(c byte) rune {
	switch {
	case isDigit(c):
		return rune(c - '0')
	case c|0x20 >= 'a' && c|0x20 <= 'f':
		return rune(c|0x20-'a') + 10
	}
	return 16
}

// decodeHTML decodes all references in s as browsers do.
func decodeHTML(s string) string {
	k := strings.IndexByte(s, '&')
	if k < 0 {
		return s
	}
	var b strings.Builder
	b.WriteString(s[:k])
	for k < len(s) {
		if s[k] == '&' {
			if text, size := browserEntity(s[k:]); size > 0 {
				b.WriteString(text)
				k += size
				continue
			}
		}
		b.WriteByte(s[k])
		k++
	}
	return b.String()
}

// hasStray reports whether the character rules would change s.
func hasStray(s string) bool {
	return characters(s, &noter{}) != s
}
