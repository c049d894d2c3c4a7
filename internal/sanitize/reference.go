package sanitize

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

func isRepoByte(c byte) bool { return isAlnum(c) || c == '-' || c == '_' || c == '.' || c == '/' }

func isClosingWord(w string) bool {
	switch w {
	case "close", "closes", "closed", "fix", "fixes", "fixed", "resolve", "resolves", "resolved":
		return true
	}
	return false
}

func skipSpaceBack(b []byte, k int) int {
	for k > 0 {
		if c := b[k-1]; c < utf8.RuneSelf {
			if c != ' ' && c != '\n' && c != '\t' {
				return k
			}
			k--
			continue
		}
		r, size := utf8.DecodeLastRune(b[:k])
		if !unicode.IsSpace(r) {
			return k
		}
		k -= size
	}
	return k
}

// issueURLAt tells whether an http or https address of an issue stands around
// the colon at i, and where it starts.
func issueURLAt(b []byte, i int) (start int, ok bool) {
	if i+3 > len(b) || b[i+1] != '/' || b[i+2] != '/' {
		return 0, false
	}
	start = i
	for start > 0 && i-start < 5 && isAlpha(b[start-1]) {
		start--
	}
	switch scheme := strings.ToLower(string(b[start:i])); {
	case strings.HasSuffix(scheme, "https"):
		start = i - 5
	case strings.HasSuffix(scheme, "http"):
		start = i - 4
	default:
		return 0, false
	}
	return start, isIssuePath(b[i+3:])
}

// isIssuePath tells that rest is "host/owner/repo/issues/1" or the like.
func isIssuePath(rest []byte) bool {
	for range 3 {
		k := 0
		for k < len(rest) && rest[k] != '/' && rest[k] > ' ' && k < 256 {
			k++
		}
		if k == 0 || k == len(rest) || rest[k] != '/' {
			return false
		}
		rest = rest[k+1:]
	}
	for _, kind := range [...]string{"issues/", "pull/", "pulls/", "discussions/"} {
		if len(rest) > len(kind) && strings.EqualFold(string(rest[:len(kind)]), kind) {
			return isDigit(rest[len(kind)])
		}
	}
	return false
}
