package sanitize

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"
)

// closing is a closing word with its reference in a flat text.
type closing struct {
	ref   int    // offset of the reference
	inert bool   // a markZWSP is before it
	zwsp  int    // offset of the markZWSP, if inert is set
	word  string // in lower case
	www   bool   // the reference is an address without a scheme
}

// squeezed is a flat text without the bytes that fill leaves out. It knows the offset of each of its
// bytes in the flat text.
type squeezed struct {
	text []byte
	from offsets
}

// mayClose reports quickly whether text may contain a reference.
func mayClose(text string) bool {
	for i := 0; i < len(text); i++ {
		if contents[text[i]]&hasRef == 0 {
			continue
		}
		switch k := i + 1; text[i] {
		case markIssue:
			return true
		case '#':
			for k < len(text) && isGone(text[k]) {
				k++
			}
			if k < len(text) && isDigit(text[k]) {
				return true
			}
		case '-':
			if i > 0 && (text[i-1]|0x20 == 'h' || isGone(text[i-1])) {
				return true
			}
		case ':':
			if k < len(text) && (text[k] == '/' || isGone(text[k])) {
				return true
			}
		}
	}
	return mayHaveWWW(text)
}

// isGone reports whether a reader of closing words does not see a byte.
func isGone(c byte) bool { return vanishes(c) || c == markZWSP }

// mayHaveWWW reports quickly whether a text may have an address that begins with "www." and has a
// path.
func mayHaveWWW(text string) bool {
	mayBeW := func(c byte) bool { return c|0x20 == 'w' || isGone(c) }
	for i := indexFrom(text, ".", 0); i < len(text); i = indexFrom(text, ".", i+1) {
		if i >= len("www") && mayBeW(text[i-1]) && mayBeW(text[i-2]) {
			return strings.IndexByte(text[i:], '/') >= 0
		}
	}
	return false
}

// findClosing calls found for each reference in text that follows a closing word. If squeeze
// is set, it ignores the bytes that vanish.
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
		case '.': // of "www.", which some readers link after a tag, too
			if i >= 3 && hasWWW(string(b[i-3:min(len(b), i+2)])) && leadsToIssue(b[i+1:]) {
				q.reference(text, i-3, func(c closing) {
					c.www = true
					found(c)
				})
			}
		case markIssue:
			q.reference(text, i, found)
		}
	}
}

// fill sets q to text without each markZWSP and, if squeeze is set, without the bytes that vanish.
// It replaces the characters that Unicode's case-insensitive matching folds to letters of closing
// words: the long s and the ligature fi.
func (q *squeezed) fill(text string, squeeze bool) {
	q.text = q.text[:0]
	q.from.reset(0, len(text))
	from := 0
	for i := 0; i < len(text); i++ {
		c := text[i]
		if c != markZWSP && c != "ſ"[0] && c != "ﬁ"[0] && !(squeeze && vanishes(c)) {
			continue
		}
		size, folded := 1, ""
		if c >= utf8.RuneSelf {
			switch {
			case strings.HasPrefix(text[i:], "ſ"):
				size, folded = len("ſ"), "s"
			case strings.HasPrefix(text[i:], "ﬁ"):
				size, folded = len("ﬁ"), "fi"
			default:
				continue
			}
		}
		q.add(text[from:i], from, true)
		q.add(folded, i, false)
		from = i + size
		i = from - 1
	}
	q.add(text[from:], from, true)
}

func (q *squeezed) add(text string, from int, literal bool) {
	if text != "" {
		q.from.add(len(q.text), from, literal)
		q.text = append(q.text, text...)
	}
}

// hash handles the # at i, before a digit: "#1", "repo#1" or "owner/repo#1".
func (q *squeezed) hash(text string, i int, found func(closing)) {
	start, slashes := i, 0
	for start > 0 && isRepoByte(q.text[start-1]) {
		if q.text[start-1] == '/' {
			if slashes++; slashes > 1 { // a path, not a repository
				break
			}
		}
		start--
	}
	longest := start
	for start < i && !isAlnum(q.text[start]) {
		start++ // the name of a repository begins with a letter or digit
	}
	if q.closingWord(start) == "" && longest < i && q.text[longest] != '/' && q.text[i-1] != '/' {
		start = longest // without a closing word there, try all that looks like a name
	}
	if start < i && q.text[i-1] != '/' {
		q.reference(text, start, found)
	}
	q.reference(text, i, found) // "fixes#1", even where "fixes" could be a repository
}

// reference reports the reference at start if it follows a closing word.
func (q *squeezed) reference(text string, start int, found func(closing)) {
	word := q.closingWord(start)
	if word == "" {
		return
	}
	ref := q.from.source(start)
	k := ref - 1
	for k >= 0 && vanishes(text[k]) {
		k--
	}
	found(closing{ref: ref, inert: k >= 0 && text[k] == markZWSP, zwsp: k, word: word})
}

// closingWords are the words with which GitHub closes an issue.
var closingWords = [...]string{"close", "closes", "closed", "fix", "fixes", "fixed", "resolve", "resolves", "resolved"}

// asClosingWord returns word, which must have only ASCII letters, in lower case if it is a closing
// word, and "" otherwise.
func asClosingWord(word string) string {
	for _, closing := range closingWords {
		if len(word) == len(closing) && word[0]|0x20 == closing[0] && strings.EqualFold(word, closing) {
			return closing
		}
	}
	return ""
}

// closingWord returns the closing word before offset end, in lower case; "" if
// there is none. Blanks and colons may be between.
func (q *squeezed) closingWord(end int) string {
	const shortest, longest = len("fix"), len("resolves")
	b := q.text
	k := trimSpaceRight(b, end)
	for k > 0 && b[k-1] == ':' {
		k = trimSpaceRight(b, k-1)
	}
	start := k
	for start > 0 && k-start < longest && isAlpha(b[start-1]) {
		start--
	}
	for ; k-start >= shortest; start++ {
		if word := asClosingWord(string(b[start:k])); word != "" {
			if start > 0 && isAlnum(b[start-1]) && q.from.source(start)-q.from.source(start-1) == 1 {
				return "" // the end of a longer word
			}
			return word
		}
	}
	return ""
}

func isRepoByte(c byte) bool { return isNameByte(c) || c == '.' || c == '/' }

// trimSpaceRight returns the length of b[:k] without the white space at its end.
func trimSpaceRight(b []byte, k int) int {
	for k > 0 && (b[k-1] == ' ' || b[k-1] == '\n' || b[k-1] == '\t') {
		k--
	}
	if k > 0 && b[k-1] >= utf8.RuneSelf { // the library takes longer
		k = len(bytes.TrimRightFunc(b[:k], unicode.IsSpace))
	}
	return k
}

// issueURLAt returns the start of the issue's http or https address that has its first colon
// at i.
func issueURLAt(b []byte, i int) (start int, ok bool) {
	if i+3 > len(b) || b[i+1] != '/' || b[i+2] != '/' {
		return 0, false
	}
	start = i
	for start > 0 && i-start < len("https") && isAlpha(b[start-1]) {
		start--
	}
	switch scheme := strings.ToLower(string(b[start:i])); {
	case scheme == "https":
	case strings.HasSuffix(scheme, "http"):
		start = i - len("http")
	default:
		return 0, false
	}
	return start, leadsToIssue(b[i+3:])
}

// leadsToIssue reports whether a host and the path of an issue follow.
func leadsToIssue(rest []byte) bool {
	for range 3 { // host, owner, repository
		const longest = 256
		k := bytes.IndexAny(rest[:min(len(rest), longest+1)], "/ \n\t")
		if k <= 0 || rest[k] != '/' {
			return false
		}
		rest = rest[k+1:]
	}
	const longest = len("discussions/1")
	return isIssuePath(string(rest[:min(len(rest), longest)]))
}

// isIssueURL reports whether an address is that of an issue, pull request or
// discussion.
func isIssueURL(address string) bool {
	if address == "" || address[0]|0x20 != 'h' {
		return false
	}
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
	return isIssuePath(rest)
}

// isIssuePath reports whether path begins like "issues/1".
func isIssuePath(path string) bool {
	for _, kind := range [...]string{"issues/", "pull/", "pulls/", "discussions/"} {
		if len(path) > len(kind) && strings.EqualFold(path[:len(kind)], kind) {
			return isDigit(path[len(kind)])
		}
	}
	return false
}
