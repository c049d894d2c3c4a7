package text

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// Digest returns eight hexadecimal digits of a hash of s. Added to a shortened text, they keep
// it distinct from other texts that are shortened to the same.
func Digest(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:4])
}

// Slug returns the first n characters of s, with '-' for each that is not an ASCII letter or digit,
// '_', '.' or '-'. If that changes s, a dash, or two if s was cut, and the Digest of s follow.
func Slug(s string, n int) string {
	first := Truncate(s, n)
	slug := strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', strings.ContainsRune("_.-", r):
			return r
		}
		return '-'
	}, first)
	if slug != s || first != s { // the "…" of a text that was cut becomes a dash, and then slug may equal s
		slug += "-" + Digest(s)
	}
	return slug
}
