package markdown

import "strings"

// Tag is a tag as a browser reads it.
type Tag struct {
	Start, End int    // offsets in the text that was read
	Name       string // in lower case
	Closing    bool
	Attributes []Attribute
}

// Attribute is one attribute. Its offsets include the value but not the blank
// before the name.
type Attribute struct {
	Start, End int
	Name       string // in lower case
	Value      string // as written, without quotes
	ValueStart int
}

func isHTMLSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\f' || c == '\r' }

// IsTagStart reports whether a tag begins at the < at s[i], to a browser.
func IsTagStart(s string, i int) bool {
	rest := strings.TrimPrefix(s[i+1:], "/")
	return rest != "" && isAlpha(rest[0])
}

// ParseTag reads the tag that begins at s[i] by the rules of the tokenizer in the HTML standard. It
// reuses the memory of attributes. If the text ends within the tag, ok is false, and limit is the
// offset of the quotation mark that is not closed, or the length of the text if there is none.
func ParseTag(s string, i int, attributes []Attribute) (tag Tag, limit int, ok bool) {
	tag = Tag{Start: i, Attributes: attributes[:0]}
	k := i + 1
	if s[k] == '/' {
		tag.Closing = true
		k++
	}
	first := k
	for k < len(s) && !isHTMLSpace(s[k]) && s[k] != '/' && s[k] != '>' {
		k++
	}
	tag.Name = strings.ToLower(s[first:k])
	for {
		for k < len(s) && (isHTMLSpace(s[k]) || s[k] == '/') {
			k++
		}
		if k == len(s) {
			return tag, k, false
		}
		if s[k] == '>' {
			tag.End = k + 1
			return tag, 0, true
		}
		a := Attribute{Start: k}
		k++ // the first character of a name may also be =
		for k < len(s) && !isHTMLSpace(s[k]) && s[k] != '/' && s[k] != '>' && s[k] != '=' {
			k++
		}
		a.Name = strings.ToLower(s[a.Start:k])
		a.End = k
		for k < len(s) && isHTMLSpace(s[k]) {
			k++
		}
		if k < len(s) && s[k] == '=' {
			k++
			for k < len(s) && isHTMLSpace(s[k]) {
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
				a.Value, a.ValueStart = s[k+1:k+1+j], k+1
				k += j + 2
			} else {
				v := k
				for k < len(s) && !isHTMLSpace(s[k]) && s[k] != '>' {
					k++
				}
				a.Value, a.ValueStart = s[v:k], v
			}
			a.End = k
		}
		tag.Attributes = append(tag.Attributes, a)
	}
}

// CommentEnd returns the end of the comment that begins at s[i] ("<!--"), to
// browsers, or -1.
func CommentEnd(s string, i int) int {
	k := i + len("<!--")
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
