package sanitize

import "strings"

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
