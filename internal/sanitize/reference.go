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
	rest := b[i+3:]
	for range 3 {
		k := 0
		for k < len(rest) && rest[k] != '/' && rest[k] != ' ' && rest[k] != '\n' && rest[k] != '\t' && k < 256 {
			k++
		}
		if k == 0 || k == len(rest) || rest[k] != '/' {
			return 0, false
		}
		rest = rest[k+1:]
	}
	const longest = len("discussions/1")
	return start, isIssueNumber(string(rest[:min(len(rest), longest)]))
}

// isIssueURL tells that an address is that of an issue or the like.
func isIssueURL(address string) bool {
	scheme, rest := splitScheme(address)
	rest, ok := strings.CutPrefix(rest, "//")
	if !ok || scheme != "https" && scheme != "http" {
		return false
	}
	for range 3 { // host, owner, repository
		var name string
		if name, rest, ok = strings.Cut(rest, "/"); !ok || name == "" {
			return false
		}
	}
	return isIssueNumber(rest)
}

// isIssueNumber tells that path begins like "issues/1".
func isIssueNumber(path string) bool {
	for _, kind := range [...]string{"issues/", "pull/", "pulls/", "discussions/"} {
		if len(path) > len(kind) && strings.EqualFold(path[:len(kind)], kind) {
			return isDigit(path[len(kind)])
		}
	}
	return false
}
