package secrets

import (
	"strings"
	"unicode/utf16"
)

// fewestWide is the least number of characters in UTF-16 that are read as a text.
const fewestWide = 6

// scanWide returns the hits in the parts of a text that are in UTF-16: ASCII characters with a
// zero byte before or after each. Such a part needs no byte order mark, and may be anywhere in a
// file of another kind.
func (s *Scanner) scanWide(path, text string, depth int) []Hit {
	var hits []Hit
	for at := 0; at < len(text); {
		zero := strings.IndexByte(text[at:], 0)
		if zero < 0 {
			break
		}
		start, end, plain := wideRun(text, at, at+zero)
		at = max(end, at+zero+1)
		if len(plain) < fewestWide {
			continue
		}
		for _, h := range s.find(path, string(plain), depth+1) {
			h.Start, h.End, h.Encoded = start+2*h.Start, min(end, start+2*h.End), true
			hits = append(hits, h)
		}
	}
	return hits
}

// wideRun returns the run of UTF-16 whose first zero byte is at the offset zero: the run's offsets,
// and its characters in ASCII. The run does not begin before the offset given by from.
func wideRun(text string, from, zero int) (start, end int, plain []byte) {
	start = zero
	if zero > from && wideByte(text[zero-1]) { // little-endian
		start--
	}
	char := 1 - (zero - start) // where the character is in its pair
	for end = start; end+1 < len(text) && text[end+1-char] == 0 && wideByte(text[end+char]); end += 2 {
		plain = append(plain, text[end+char])
	}
	// Big-endian text after other text is read as little-endian, shifted by one byte: the last
	// byte of the other text became a character, and the last character of the run is missing. It
	// is added here. After 0xFE, the end of a byte order mark, the text is really little-endian.
	if isShifted := start > from && char == 0 && text[start-1] != 0xFE; isShifted && end < len(text) && wideByte(text[end]) {
		plain = append(plain, text[end])
		end++
	}
	return start, end, plain
}

// wideByte reports whether a byte is a printable character of ASCII, or blank.
func wideByte(c byte) bool {
	return c >= ' ' && c < 0x7f || c == '\n' || c == '\r' || c == '\t'
}

// wideForms returns a text in UTF-16: first little-endian, then big-endian.
func wideForms(text string) []string {
	var little, big []byte
	for _, unit := range utf16.Encode([]rune(text)) {
		little = append(little, byte(unit), byte(unit>>8))
		big = append(big, byte(unit>>8), byte(unit))
	}
	return []string{string(little), string(big)}
}
