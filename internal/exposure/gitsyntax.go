package exposure

import (
	"strings"
	"unicode"
)

// gitEntry is one variable of a git configuration.
type gitEntry struct {
	section    string // in lower case
	subsection string
	name       string // in lower case
	value      string // "" also for a variable without "="
	line       int    // where the variable begins, from 1
}

// parseGitConfig reads the syntax of git's configuration files as git does, in one pass. If git
// would reject a line, parseGitConfig keeps the section's name or the variable with which the line
// begins, if there is one, and goes on, because another program may accept the file. bad is the
// number of the first such line, or 0.
func parseGitConfig(text string) (entries []gitEntry, bad int) {
	text = strings.TrimPrefix(text, "\ufeff")
	r := &gitConfigReader{text: strings.ReplaceAll(text, "\r\n", "\n"), line: 1}
	prefix := "" // the section, with a dot at its end
	for {
		line, ok := r.line, true
		c := r.next()
		switch {
		case r.ended:
			return entries, bad
		case gitSpace(c):
			continue
		case c == '#' || c == ';':
			r.skipLine()
		case c == '[':
			prefix, ok = r.header()
		case !letter(c):
			ok = false
		default:
			r.unreadByte()
			var name, value string
			name, value, ok = r.variable()
			entries = append(entries, newGitEntry(prefix+name, value, line))
		}
		if !ok {
			if bad == 0 {
				bad = line
			}
			isAtEnd := r.text[r.pos-1] == '\n'
			if !isAtEnd {
				r.skipLine()
			}
		}
	}
}

// newGitEntry splits a key at its first and its last dot. The subsection between them may
// contain other dots.
func newGitEntry(key, value string, line int) gitEntry {
	e := gitEntry{value: value, line: line, name: key}
	if i := strings.LastIndexByte(key, '.'); i >= 0 {
		e.section, e.name = key[:i], key[i+1:]
	}
	e.section, e.subsection, _ = strings.Cut(e.section, ".")
	e.section, e.name = strings.ToLower(e.section), strings.ToLower(e.name)
	return e
}

// gitConfigReader reads a configuration byte by byte. After its end there are line feeds.
type gitConfigReader struct {
	text      string
	pos, line int
	ended     bool
}

func (r *gitConfigReader) next() byte {
	if r.pos == len(r.text) {
		r.ended = true
		return '\n'
	}
	c := r.text[r.pos]
	r.pos++
	if c == '\n' {
		r.line++
	}
	return c
}

// unreadByte goes back by a byte, which must not be a line feed.
func (r *gitConfigReader) unreadByte() { r.pos-- }

func (r *gitConfigReader) skipLine() {
	for r.next() != '\n' {
	}
}

// header reads what follows a bracket: `name]`, or `name "subsection"]`.
func (r *gitConfigReader) header() (prefix string, ok bool) {
	var name strings.Builder
	c := r.next()
	for ; keyByte(c) || c == '.'; c = r.next() {
		name.WriteByte(byte(unicode.ToLower(rune(c))))
	}
	if c == ']' {
		return name.String() + ".", name.Len() > 0
	}
	divided := false
	for c == ' ' || c == '\t' || c == '\r' {
		c, divided = r.next(), true
	}
	if !divided || c != '"' {
		return name.String() + ".", false
	}
	subsection, closed := r.subsection()
	return name.String() + "." + subsection + ".", closed && r.next() == ']'
}

// subsection reads up to the closing quote. A character after a backslash is taken as it is. closed
// is false if the line ends before the quote.
func (r *gitConfigReader) subsection() (name string, closed bool) {
	var b strings.Builder
	for c := r.next(); c != '"'; c = r.next() {
		if c == '\\' {
			c = r.next()
		}
		if c == '\n' {
			return b.String(), false
		}
		b.WriteByte(c)
	}
	return b.String(), true
}

// variable reads `name`, or `name = value`, and the end of its line.
func (r *gitConfigReader) variable() (name, value string, ok bool) {
	var b strings.Builder
	c := r.next()
	for ; keyByte(c); c = r.next() {
		b.WriteByte(byte(unicode.ToLower(rune(c))))
	}
	for c == ' ' || c == '\t' {
		c = r.next()
	}
	if c == '\n' {
		return b.String(), "", true
	}
	if c != '=' {
		return b.String(), "", false
	}
	value, ok = r.value()
	return b.String(), value, ok
}

// value reads up to the end of the line, or of the lines that a backslash continues. Blanks at both
// ends, and comments, are left out unless they are within quotes. It returns false where the line
// ends within quotes, and after an unknown escape.
func (r *gitConfigReader) value() (string, bool) {
	var b strings.Builder
	length := 0 // of b, without blanks at the end
	for quoted := false; ; {
		c := r.next()
		switch {
		case c == '\n':
			return b.String()[:length], !quoted
		case quoted && c == '"':
			quoted = false
			continue
		case c == '"':
			quoted = true
			length = b.Len()
			continue
		case !quoted && gitSpace(c):
			if b.Len() > 0 {
				b.WriteByte(c)
			}
			continue
		case !quoted && (c == '#' || c == ';'):
			r.skipLine()
			return b.String()[:length], true
		case c == '\\':
			length = b.Len() // blanks before a continued line count
			escaped := r.next()
			if escaped == '\n' {
				continue
			}
			i := strings.IndexByte(`tbn\"`, escaped)
			if i < 0 {
				return b.String()[:length], false
			}
			c = "\t\b\n\\\""[i]
		}
		b.WriteByte(c)
		length = b.Len()
	}
}

func gitSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

func letter(c byte) bool { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' }

func keyByte(c byte) bool { return letter(c) || '0' <= c && c <= '9' || c == '-' }
