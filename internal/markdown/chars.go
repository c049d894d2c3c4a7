package markdown

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
