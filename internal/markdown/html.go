package markdown

import "strings"

// isBlockTag reports whether a tag of this name, in lower case, starts an HTML block of kind 6.
func isBlockTag(name string) bool {
	switch name {
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

// htmlBlockStart returns the kind, 1 to 7, of the HTML block that a line, which
// starts with <, opens; 0 for none. One of kind 7 cannot interrupt a paragraph.
func htmlBlockStart(s string, inParagraph bool) int {
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
		if beginsCDATA(s[1:]) {
			return 5
		}
		return 0
	}
	i := 1
	if s[1] == '/' {
		i = 2
	}
	start := i
	for i < len(s) && isAlnum(s[i]) {
		i++
	}
	name := strings.ToLower(s[start:i])
	ends := i == len(s) || isSpaceChar(s[i]) || s[i] == '>'
	if ends && start == 1 && isRawTextTag(name) {
		return 1
	}
	if (ends || strings.HasPrefix(s[i:], "/>")) && isBlockTag(name) {
		return 6
	}
	if !inParagraph && isHTMLBlock7(s) {
		return 7
	}
	return 0
}

// beginsCDATA reports whether s, the text after a <, begins a CDATA section, in letters of any case.
func beginsCDATA(s string) bool {
	const start = "![CDATA["
	return len(s) >= len(start) && strings.EqualFold(s[:len(start)], start)
}

// isRawTextTag reports whether a start tag of this name, in lower case, starts an HTML block of
// kind 1, and an end tag of this name ends one.
func isRawTextTag(name string) bool { return name == "script" || name == "pre" || name == "style" }

// isHTMLBlock7 reports whether a line is one complete open or closing tag.
func isHTMLBlock7(s string) bool {
	n := scanTag(s[1:])
	return n > 0 && strings.Trim(s[1+n:], "\t\f ") == ""
}

// htmlBlockEnds reports whether a line meets the end condition of a block of the
// given kind. It is false for kinds 6 and 7, which end at an empty line.
func htmlBlockEnds(kind int, line string) bool {
	switch kind {
	case 1:
		for {
			i := strings.Index(line, "</")
			if i < 0 {
				return false
			}
			line = line[i+2:]
			if n := strings.IndexByte(line[:min(len(line), 7)], '>'); n >= 0 && isRawTextTag(strings.ToLower(line[:n])) {
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

// scanTag returns the length of the open or closing tag that s, the text after a
// <, starts with, or 0. It stops at the first byte that cannot be part of the tag.
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
		case !spaced || !isAlpha(s[i]) && s[i] != '_' && s[i] != ':':
			return 0
		}
		for i < len(s) && (isAlnum(s[i]) || strings.IndexByte("_:.-", s[i]) >= 0) {
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

// tagName returns the length of the tag name at the start of s, or 0.
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

// htmlMemo remembers which searches found nothing up to the end of a leaf, and where its last > is.
type htmlMemo struct {
	noComment, noInstruction, noDeclaration, noCDATA bool

	lastGT  int // offset of the last > in the leaf, -1 if there is none
	knowsGT bool
}

// angle reads the autolink or raw HTML that starts with the < at p.pos, if there
// is one.
func (p *inlineParser) angle() (InlineKind, int32) {
	rest := p.text[p.pos+1:]
	if n := scanAngleURL(rest); n > 0 {
		return p.angleLink(AngleURL, n)
	}
	if n := scanAngleEmail(rest); n > 0 {
		return p.angleLink(AngleEmail, n)
	}
	n := 0
	if rest != "" {
		switch c := rest[0]; {
		case c == '!':
			n = p.scanBang(rest)
		case c == '?':
			n = p.scanInstruction(rest)
		case c == '/' || isAlpha(c):
			if !p.html.knowsGT {
				p.html.lastGT, p.html.knowsGT = strings.LastIndexByte(p.text, '>'), true
			}
			if p.pos < p.html.lastGT {
				n = scanTag(rest)
			}
		}
	}
	if n == 0 {
		return 0, 0
	}
	p.pos += 1 + n
	return HTMLNode, 0
}

// scanInstruction returns the length of the processing instruction at the start
// of rest, which begins with the ? after a <.
func (p *inlineParser) scanInstruction(rest string) int {
	n := leadingRun(rest, '?')
	if n%2 == 0 && n < len(rest) && rest[n] == '>' {
		return n + 1
	}
	return runEnd(rest, n, '?', 2, 1, &p.html.noInstruction)
}

// runEnd returns the end of a processing instruction or CDATA section: after the
// > that follows a run of c of length want modulo mod. cmark reads such runs in
// groups, so that ??> does not end an instruction. *none means that no end
// follows in the leaf.
func runEnd(s string, from int, c byte, mod, want int, none *bool) int {
	for i := from; !*none; i++ {
		n := strings.IndexByte(s[i:], c)
		if n < 0 {
			break
		}
		i += n
		n = leadingRun(s[i:], c)
		i += n
		if i == len(s) {
			break
		}
		if n%mod == want && s[i] == '>' {
			return i + 1
		}
	}
	*none = true
	return 0
}

// scanBang returns the length of the comment, declaration or CDATA section at
// the start of rest, which begins with the ! after a <.
func (p *inlineParser) scanBang(rest string) int {
	switch {
	case strings.HasPrefix(rest, "!--"):
		return p.scanComment(rest)
	case len(rest) > 1 && 'A' <= rest[1] && rest[1] <= 'Z':
		i := 1
		for i < len(rest) && 'A' <= rest[i] && rest[i] <= 'Z' {
			i++
		}
		if i == len(rest) || !isSpaceChar(rest[i]) || p.html.noDeclaration {
			return 0
		}
		if end := strings.IndexByte(rest[i:], '>'); end >= 0 {
			return i + end + 1
		}
		p.html.noDeclaration = true
	case beginsCDATA(rest):
		return runEnd(rest, len("![CDATA["), ']', 3, 2, &p.html.noCDATA)
	}
	return 0
}

// scanComment returns the length of a comment: its text does not contain --,
// start with > or ->, or end with -.
func (p *inlineParser) scanComment(rest string) int {
	body := rest[len("!--"):]
	if strings.HasPrefix(body, "-->") {
		return len("!---->")
	}
	if strings.HasPrefix(body, ">") || strings.HasPrefix(body, "->") || p.html.noComment {
		return 0
	}
	n := strings.Index(body, "--")
	if n < 0 {
		p.html.noComment = true
		return 0
	}
	if n == 0 || n+2 >= len(body) || body[n+2] != '>' {
		return 0
	}
	return len("!--") + n + len("-->")
}
