package jsonrepair

import (
	"bytes"
	"unicode"
	"unicode/utf8"
)

// lookahead remembers what was found ahead of pos, so that looking ahead from
// every quote takes linear time in total.
type lookahead struct {
	nextToken map[int]int    // by the offset of a comment, that of the first token after it
	line      search         // for the next newline
	block     search         // for the next end of a block comment
	quote     [4]search      // for the next delimiter of each family
	last      map[string]int // what lastOf returned
}

// search is the result of a search that began at one offset: the offset of the
// first match, or the length of the input if there is none.
type search struct {
	begin, match int
	done         bool
}

// first returns the offset of the first match at or after p. It calls scan unless p is between
// begin and match of the last search, where there is no other match.
func (s *search) first(p int, scan func(p int) int) int {
	if !s.done || p < s.begin || p > s.match {
		*s = search{begin: p, match: scan(p), done: true}
	}
	return s.match
}

// index returns where the input contains text next, at or after p, or the input's length.
func (f *fixer) index(s *search, p int, text string) int {
	return s.first(p, func(p int) int {
		if p < len(f.in) {
			if i := bytes.Index(f.in[p:], []byte(text)); i >= 0 {
				return p + i
			}
		}
		return len(f.in)
	})
}

// nextQuote returns where the next unescaped delimiter is that closes a string
// of family q, at or after p, and its width; -1 if there is none.
func (f *fixer) nextQuote(q quote, p int) (start, width int) {
	start = f.ahead.quote[q].first(p, func(p int) int {
		for ; p < len(f.in); p++ {
			if f.in[p] == '\\' {
				p++
			} else if q.closes(f.in[p:]) > 0 {
				return p
			}
		}
		return len(f.in)
	})
	if start == len(f.in) {
		return -1, 0
	}
	return start, q.closes(f.in[start:])
}

// lastOf returns where the last one of chars is in the input, or -1.
func (f *fixer) lastOf(chars string) int {
	last, known := f.ahead.last[chars]
	if !known {
		last = bytes.LastIndexAny(f.in, chars)
		if f.ahead.last == nil {
			f.ahead.last = make(map[string]int)
		}
		f.ahead.last[chars] = last
	}
	return last
}

// nextToken returns the position of the first character at or after p that is
// neither JSON's white space, odd space nor in a comment. A comment without an end counts as text.
func (f *fixer) nextToken(p int) int {
	var comments []int
	for p < len(f.in) {
		if isJSONSpace(f.in[p]) {
			p++
			continue
		}
		if width := oddSpace(f.in[p:]); width > 0 {
			p += width
			continue
		}
		if !isComment(f.in[p:]) {
			break
		}
		if token, known := f.ahead.nextToken[p]; known {
			p = token
			break
		}
		end := f.commentEnd(p)
		if end < 0 {
			break
		}
		comments = append(comments, p)
		p = end
	}
	if len(comments) > 0 && f.ahead.nextToken == nil {
		f.ahead.nextToken = make(map[int]int)
	}
	for _, start := range comments {
		f.ahead.nextToken[start] = p
	}
	return p
}

// skipSpace moves pos over white space, odd space and comments, and removes all that JSON does not
// allow.
func (f *fixer) skipSpace() error {
	for f.pos < len(f.in) {
		from := f.pos
		c := f.in[from]
		if isJSONSpace(c) {
			f.pos++
			continue
		}
		kind := OddSpace
		if c < utf8.RuneSelf {
			kind = ControlCharacter
		}
		if width := oddSpace(f.in[from:]); width > 0 {
			f.pos += width
		} else if isComment(f.in[from:]) {
			kind = Comment
			end := f.commentEnd(from)
			if end < 0 {
				if len(f.stack) > 0 || isBlockComment(f.in[from:]) {
					return fail(OpenComment, from, "a comment starts here and takes in the rest of the text")
				}
				end = len(f.in)
			}
			f.pos = end
		} else {
			return nil
		}
		f.note(kind, from)
		if from >= f.copied { // otherwise it is removed already
			f.replace(from, f.pos, "")
		}
	}
	return nil
}

func isJSONSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

// oddSpace returns the width of the odd space that a text begins with: a control
// character, a terminal's control sequence (ECMA-48: ESC [, parameters, a letter)
// or white space that JSON does not allow. It returns 0 if there is none.
func oddSpace(in []byte) int {
	c := in[0]
	if c < utf8.RuneSelf {
		if c == 0x1B && len(in) > 1 && in[1] == '[' {
			end := 2
			for end < len(in) && (in[end] >= '0' && in[end] <= '9' || in[end] == ';' || in[end] == '?') {
				end++
			}
			if end < len(in) && isLetter(in[end]) {
				return end + 1
			}
		}
		if c < ' ' && !isJSONSpace(c) || c == 0x7F {
			return 1
		}
		return 0
	}
	r, width := utf8.DecodeRune(in)
	if unicode.IsSpace(r) || r == '\uFEFF' || r == '\u200B' {
		return width
	}
	return 0
}

// isComment reports whether a text begins with a comment. A # begins one only before white
// space, another # or the end: "#12" is not a comment.
func isComment(in []byte) bool {
	if in[0] == '#' {
		return len(in) == 1 || in[1] <= ' ' || in[1] == '#'
	}
	return in[0] == '/' && len(in) > 1 && (in[1] == '/' || in[1] == '*')
}

func isBlockComment(comment []byte) bool { return bytes.HasPrefix(comment, []byte("/*")) }

// commentEnd returns where the comment at p ends, or -1 if the input ends first.
func (f *fixer) commentEnd(p int) int {
	end := 0
	if isBlockComment(f.in[p:]) {
		end = f.index(&f.ahead.block, p+2, "*/") + 2
	} else {
		end = f.index(&f.ahead.line, p, "\n") + 1
	}
	if end > len(f.in) {
		return -1
	}
	return end
}
