package sanitize

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// closing is a closing word with its reference in a flat text.
type closing struct {
	ref   int  // offset of the reference's first byte
	inert bool // a markZWSP stands before it, at zwsp
	zwsp  int
	word  string // in lower case
}

// squeezed is a flat text without the marks that vanish, and where each of
// its bytes comes from.
type squeezed struct {
	text []byte
	from offsets // of text, in the flat text
}

// mayClose tells quickly that text may hold a reference.
func mayClose(text string) bool {
	for i := 0; i < len(text); i++ {
		if contents[text[i]]&hasRef == 0 {
			continue
		}
		switch k := i + 1; text[i] {
		case markIssue:
			return true
		case '#':
			for k < len(text) && (isSqueezed(text[k]) || text[k] == markZWSP) {
				k++
			}
			if k < len(text) && isDigit(text[k]) {
				return true
			}
		case '-':
			if i > 0 && (text[i-1]|0x20 == 'h' || isSqueezed(text[i-1]) || text[i-1] == markZWSP) {
				return true
			}
		case ':':
			if k < len(text) && (text[k] == '/' || isSqueezed(text[k]) || text[k] == markZWSP) {
				return true
			}
		}
	}
	return false
}

// findClosing calls found for each reference in text that a closing word
// precedes. With squeeze it looks through emphasis marks, brackets and tags.
func findClosing(text string, squeeze bool, q *squeezed, found func(closing)) {
	if !mayClose(text) {
		return
	}
	q.fill(text, squeeze)
	b := q.text
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case '#':
			if i+1 < len(b) && isDigit(b[i+1]) {
				q.hash(text, i, found)
			}
		case '-':
			if i >= 2 && i+1 < len(b) && isDigit(b[i+1]) && b[i-1]|0x20 == 'h' && b[i-2]|0x20 == 'g' {
				q.reference(text, i-2, found)
			}
		case ':':
			if start, ok := issueURLAt(b, i); ok {
				q.reference(text, start, found)
			}
		case markIssue:
			q.reference(text, i, found)
		}
	}
}

// fill squeezes text. The letters that case-insensitive matching of Unicode
// folds into ASCII (long s, the ligatures of f) are folded here.
func (q *squeezed) fill(text string, squeeze bool) {
	q.text = q.text[:0]
	q.from.reset()
	from := 0
	for i := 0; i < len(text); i++ {
		c := text[i]
		if c != markZWSP && c != 0xc5 && c != 0xef && !(squeeze && isSqueezed(c)) {
			continue
		}
		fold := ""
		switch {
		case c == 0xc5 && strings.HasPrefix(text[i:], "ſ"):
			fold = "s"
		case c == 0xef && strings.HasPrefix(text[i:], "ﬁ"):
			fold = "fi"
		case c >= 0x80:
			continue
		}
		q.put(text[from:i], from, true)
		q.put(fold, i, false)
		from = i + 1
		if fold != "" {
			from += len(fold) // both letters are one byte longer than what they fold to
		}
		i = from - 1
	}
	q.put(text[from:], from, true)
}

func (q *squeezed) put(text string, from int, literal bool) {
	if text != "" {
		q.from.add(len(q.text), from, literal)
		q.text = append(q.text, text...)
	}
}

// hash handles a # before a digit: "#1", "repo#1" or "owner/repo#1".
func (q *squeezed) hash(text string, i int, found func(closing)) {
	start, slashes := i, 0
	for start > 0 && isRepoByte(q.text[start-1]) {
		if q.text[start-1] == '/' {
			if slashes++; slashes > 1 { // a path is no repository
				break
			}
		}
		start--
	}
	whole := start
	for start < i && !isAlnum(q.text[start]) {
		start++ // a repository's name begins with a letter or digit
	}
	if q.word(start) == "" && whole < i && q.text[whole] != '/' && q.text[i-1] != '/' {
		start = whole // or with what else a name may hold, behind a closing word
	}
	if start < i && q.text[i-1] != '/' {
		q.reference(text, start, found)
	}
	q.reference(text, i, found) // "fixes#1", also where "fixes" could be a repository
}

// reference reports the reference at start if a closing word precedes it.
func (q *squeezed) reference(text string, start int, found func(closing)) {
	word := q.word(start)
	if word == "" {
		return
	}
	ref := q.from.of(start)
	k := ref - 1
	for k >= 0 && isSqueezed(text[k]) {
		k--
	}
	found(closing{ref: ref, inert: k >= 0 && text[k] == markZWSP, zwsp: k, word: word})
}

// word returns the closing word before offset end, in lower case, with blanks
// and colons between; "" when there is none.
func (q *squeezed) word(end int) string {
	b := q.text
	k := skipSpaceBack(b, end)
	for k > 0 && b[k-1] == ':' {
		k = skipSpaceBack(b, k-1)
	}
	start := k
	for start > 0 && k-start < 9 && isAlpha(b[start-1]) {
		start--
	}
	for ; k-start >= 3; start++ {
		w := strings.ToLower(string(b[start:k]))
		if isClosingWord(w) {
			if start > 0 && isAlnum(b[start-1]) && q.from.of(start)-q.from.of(start-1) == 1 {
				return "" // the end of a longer word
			}
			return w
		}
	}
	return ""
}

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
