package jsonrepair

import (
	"unicode"
	"unicode/utf8"
)

// skip moves pos over white space and comments, and leaves out of the output
// what JSON does not know.
func (f *fixer) skip() error {
	for f.pos < len(f.in) {
		from := f.pos
		c := f.in[from]
		if c == ' ' || c == '\t' || c == '\n' || c == '\r' {
			f.pos++
			continue
		}
		kind := OddSpace
		if width := oddSpace(f.in[from:]); width > 0 {
			f.pos += width
			if c < 0x80 {
				kind = ControlCharacter
			}
		} else if isComment(f.in[from:]) {
			kind = Comment
			end := f.commentEnd(from)
			switch {
			case end < 0 && (len(f.stack) > 0 || isBlock(f.in[from:])):
				return openComment(from)
			case end < 0:
				end = len(f.in)
			}
			f.pos = end
		} else {
			return nil
		}
		f.note(kind, from)
		if from >= f.done { // else it is left out already
			f.replace(from, f.pos, "")
		}
	}
	return nil
}

// oddSpace returns the width of what is at the start of in if it is a control
// character, a terminal's control sequence (ECMA-48: ESC [, parameters, a
// letter) or white space that JSON does not know, else 0.
func oddSpace(in []byte) int {
	c := in[0]
	if c == 0x1B && len(in) > 1 && in[1] == '[' {
		end := 2
		for end < len(in) && (in[end] >= '0' && in[end] <= '9' || in[end] == ';' || in[end] == '?') {
			end++
		}
		if end < len(in) && isLetter(in[end]) {
			return end + 1
		}
	}
	if c < 0x80 {
		if c < ' ' && c != '\t' && c != '\n' && c != '\r' || c == 0x7F {
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

// isComment reports whether a comment starts at the start of in. A # starts one
// only before white space, so that "#12" does not.
func isComment(in []byte) bool {
	switch {
	case in[0] == '#':
		return len(in) == 1 || in[1] <= ' ' || in[1] == '#'
	case in[0] != '/' || len(in) == 1:
		return false
	}
	return in[1] == '/' || in[1] == '*'
}

func isBlock(comment []byte) bool { return len(comment) > 1 && comment[1] == '*' && comment[0] == '/' }

// commentEnd returns where the comment at p ends, or -1 if the input ends first.
func (f *fixer) commentEnd(p int) int {
	end := 0
	if isBlock(f.in[p:]) {
		end = f.find(&f.look.block, p+2, "*/") + 2
	} else {
		end = f.find(&f.look.line, p, "\n") + 1
	}
	if end > len(f.in) {
		return -1
	}
	return end
}
