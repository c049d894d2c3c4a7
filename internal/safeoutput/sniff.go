package safeoutput

import (
	"bytes"
	"unicode/utf8"
)

// sniffSize is how much of a file is looked at to tell its kind.
const sniffSize = 4096

// isText reports whether the beginning of a file can be text. What begins with
// an object is text, whatever it holds.
func isText(head []byte) bool {
	head = bytes.ReplaceAll(head, []byte{0}, nil)
	if t := trim(head); len(t) == 0 || t[0] == '{' {
		return true
	}
	bad := 0
	for i := 0; i < len(head); {
		r, n := utf8.DecodeRune(head[i:])
		cut := len(head)-i < utf8.UTFMax && len(head) > sniffSize-utf8.UTFMax
		if r == utf8.RuneError && n == 1 && !cut || r < ' ' && r != '\t' && r != '\n' && r != '\r' && r != '\f' && r != 0x1b || r == 0x7f {
			bad++
		}
		i += n
	}
	return bad*10 <= len(head)
}

// isUTF16 reports whether the beginning of a file is UTF-16: by its byte order
// mark, or by a NUL at every other one of the first eight bytes.
func isUTF16(head []byte) bool {
	if bytes.HasPrefix(head, []byte("\xff\xfe")) || bytes.HasPrefix(head, []byte("\xfe\xff")) {
		return true
	}
	if len(head) < 8 {
		return false
	}
	var zeros [2]int
	for i, c := range head[:8] {
		if c == 0 {
			zeros[i%2]++
		}
	}
	return zeros[0]+zeros[1] == 4 && zeros[0] != zeros[1] && (zeros[0] == 0 || zeros[1] == 0)
}

// isDocument reports whether a file begins like the document that collect
// writes: an object whose first key is "items" or "errors" and holds a list, or
// null in its place.
func isDocument(head []byte) bool {
	t := trim(head)
	if len(t) == 0 || t[0] != '{' {
		return false
	}
	t = trim(t[1:])
	for _, key := range []string{`"items"`, `"errors"`} {
		if rest, ok := bytes.CutPrefix(t, []byte(key)); ok {
			rest = trim(rest)
			if len(rest) < 1 || rest[0] != ':' {
				return false
			}
			rest = trim(rest[1:])
			return len(rest) > 0 && (rest[0] == '[' || bytes.HasPrefix(rest, []byte("null")))
		}
	}
	return false
}
