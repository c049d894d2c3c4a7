package markdown

import "strings"

// blockTags are the tag names that start an HTML block of kind 6.
func isBlockTag(name string) bool {
	switch strings.ToLower(name) {
	case "address", "article", "aside", "base", "basefont", "blockquote", "body", "caption", "center", "col",
		"colgroup", "dd", "details", "dialog", "dir", "div", "dl", "dt", "fieldset", "figcaption", "figure",
		"footer", "form", "frame", "frameset", "h1", "h2", "h3", "h4", "h5", "h6", "head", "header", "hr", "html",
		"iframe", "legend", "li", "link", "main", "menu", "menuitem", "nav", "noframes", "ol", "optgroup",
		"option", "p", "param", "section", "title", "summary", "table", "tbody", "td", "tfoot", "th",
		"thead", "tr", "track", "ul":
		return true
	}
	return false
}

// longestBlockTag is the length of the longest name in isBlockTag.
const longestBlockTag = len("blockquote")

// htmlBlockStart returns the kind, 1 to 6, of the HTML block that a line, which
// starts with <, opens; 0 for none.
func htmlBlockStart(s string) int {
	switch {
	case len(s) < 2:
		return 0
	case strings.HasPrefix(s, "<!--"):
		return 2
	case s[1] == '?':
		return 3
	case s[1] == '!':
		if len(s) > 2 && 'A' <= s[2] && s[2] <= 'Z' {
			return 4
		}
		if hasPrefixFold(s, "<![cdata[") {
			return 5
		}
		return 0
	}
	i := 1
	if s[1] == '/' {
		i = 2
	}
	start := i
	for i < len(s) && i-start <= longestBlockTag && isAlnum(s[i]) {
		i++
	}
	name := s[start:i]
	ends := i == len(s) || isSpaceChar(s[i]) || s[i] == '>'
	if ends && start == 1 && isRawTextTag(name) {
		return 1
	}
	if (ends || strings.HasPrefix(s[i:], "/>")) && isBlockTag(name) {
		return 6
	}
	return 0
}

func isRawTextTag(name string) bool {
	return strings.EqualFold(name, "script") || strings.EqualFold(name, "pre") || strings.EqualFold(name, "style")
}

// isHTMLBlock7 reports whether a line is one complete open or closing tag.
func isHTMLBlock7(s string) bool {
	n := scanTag(s[1:])
	if n == 0 {
		return false
	}
	return strings.Trim(s[1+n:], "\t\f ") == ""
}

// htmlBlockEnds reports whether a line has the end condition of a block of the
// given kind.
func htmlBlockEnds(kind int, line string) bool {
	switch kind {
	case 1:
		for {
			i := strings.Index(line, "</")
			if i < 0 {
				return false
			}
			line = line[i+2:]
			if n := strings.IndexByte(line[:min(len(line), 7)], '>'); n >= 0 && isRawTextTag(line[:n]) {
				return true
			}
		}
	case 2:
		return strings.Contains(line, "-->")
	case 3:
		return strings.Contains(line, "?>")
	case 4:
		return strings.IndexByte(line, '>') >= 0
	case 5:
		return strings.Contains(line, "]]>")
	}
	return false
}

// hasPrefixFold is strings.HasPrefix without regard to ASCII case; prefix is in
// lower case.
func hasPrefixFold(s, prefix string) bool {
	return len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix)
}

// scanTag returns the length of the open or closing tag at the start of s, the
// text after a <, or 0. It reads no further than the tag can go.
func scanTag(s string) int {
	if s != "" && s[0] == '/' {
		n := tagName(s[1:])
		if n == 0 {
			return 0
		}
		i := skipSpaceChars(s, 1+n)
		if i < len(s) && s[i] == '>' {
			return i + 1
		}
		return 0
	}
	i := tagName(s)
	if i == 0 {
		return 0
	}
	for {
		j := skipSpaceChars(s, i)
		spaced := j > i
		i = j
		switch {
		case i == len(s):
			return 0
		case s[i] == '>':
			return i + 1
		case s[i] == '/':
			if i+1 < len(s) && s[i+1] == '>' {
				return i + 2
			}
			return 0
		case !spaced || !isAttributeStart(s[i]):
			return 0
		}
		for i < len(s) && isAttributeChar(s[i]) {
			i++
		}
		j = skipSpaceChars(s, i)
		if j < len(s) && s[j] == '=' {
			if i = attributeValue(s, skipSpaceChars(s, j+1)); i == 0 {
				return 0
			}
		}
	}
}

// attributeValue returns the end of the attribute value at offset i, or 0.
func attributeValue(s string, i int) int {
	if i == len(s) {
		return 0
	}
	if q := s[i]; q == '"' || q == '\'' {
		n := strings.IndexByte(s[i+1:], q)
		if n < 0 {
			return 0
		}
		return i + n + 2
	}
	start := i
	for i < len(s) && !isSpaceChar(s[i]) && strings.IndexByte("\"'=<>`", s[i]) < 0 {
		i++
	}
	if i == start {
		return 0
	}
	return i
}

func tagName(s string) int {
	if s == "" || !isAlpha(s[0]) {
		return 0
	}
	i := 1
	for i < len(s) && (isAlnum(s[i]) || s[i] == '-') {
		i++
	}
	return i
}

func isAttributeStart(c byte) bool { return isAlpha(c) || c == '_' || c == ':' }

func isAttributeChar(c byte) bool { return isAlnum(c) || c == '_' || c == ':' || c == '.' || c == '-' }

func skipSpaceChars(s string, i int) int {
	for i < len(s) && isSpaceChar(s[i]) {
		i++
	}
	return i
}
