package sanitize

import "strings"

// htmlTag is a tag as a browser reads it.
type htmlTag struct {
	start, end int // offsets in the text that was read
	name       string
	closing    bool
	attrs      []htmlAttr
}

// htmlAttr is one attribute: the offsets of the whole (without the blank
// before it) and its value as written, without quotes.
type htmlAttr struct {
	start, end int
	name       string
	value      string
	valueAt    int // offset of the value
}

func isHTMLSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\f' || c == '\r' }

// isTagStart tells that a browser begins a tag at s[i].
func isTagStart(s string, i int) bool {
	if i+1 >= len(s) || s[i] != '<' {
		return false
	}
	if s[i+1] == '/' {
		return i+2 < len(s) && isAlpha(s[i+2])
	}
	return isAlpha(s[i+1])
}

// parseTag reads the tag that begins at s[i] by the rules of the HTML
// standard's tokenizer. When the text ends inside of it, ok is false and dead
// is the offset from which nothing more was decided: every tag that begins
// before shares the fate.
func parseTag(s string, i int, attrs []htmlAttr) (tag htmlTag, dead int, ok bool) {
	tag = htmlTag{start: i, attrs: attrs[:0]}
	k := i + 1
	if s[k] == '/' {
		tag.closing = true
		k++
	}
	first := k
	for k < len(s) && !isHTMLSpace(s[k]) && s[k] != '/' && s[k] != '>' {
		k++
	}
	tag.name = strings.ToLower(s[first:k])
	for {
		for k < len(s) && (isHTMLSpace(s[k]) || s[k] == '/') {
			k++
		}
		if k == len(s) {
			return tag, k, false
		}
		if s[k] == '>' {
			tag.end = k + 1
			return tag, 0, true
		}
		a := htmlAttr{start: k}
		for k++; k < len(s) && !isHTMLSpace(s[k]) && s[k] != '/' && s[k] != '>' && s[k] != '='; {
			k++
		}
		a.name = strings.ToLower(s[a.start:k])
		a.end = k
		for k < len(s) && isHTMLSpace(s[k]) {
			k++
		}
		if k < len(s) && s[k] == '=' {
			for k++; k < len(s) && isHTMLSpace(s[k]); {
				k++
			}
			if k == len(s) {
				return tag, k, false
			}
			if q := s[k]; q == '"' || q == '\'' {
				j := strings.IndexByte(s[k+1:], q)
				if j < 0 {
					return tag, k, false
				}
				a.value, a.valueAt = s[k+1:k+1+j], k+1
				k += j + 2
			} else {
				v := k
				for k < len(s) && !isHTMLSpace(s[k]) && s[k] != '>' {
					k++
				}
				a.value, a.valueAt = s[v:k], v
			}
			a.end = k
		}
		tag.attrs = append(tag.attrs, a)
	}
}

// commentEnd returns the end of the comment that begins at s[i] ("<!--") as
// browsers see it, or -1.
func commentEnd(s string, i int) int {
	k := i + 4
	rest := s[k:]
	if strings.HasPrefix(rest, ">") {
		return k + 1
	}
	if strings.HasPrefix(rest, "->") {
		return k + 2
	}
	for {
		j := strings.Index(s[k:], "--")
		if j < 0 {
			return -1
		}
		k += j + 2
		switch {
		case strings.HasPrefix(s[k:], ">"):
			return k + 1
		case strings.HasPrefix(s[k:], "!>"):
			return k + 2
		}
		k-- // the second hyphen may be the first of the next pair
	}
}
