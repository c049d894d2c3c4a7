package jsonrepair

import (
	"bytes"
	"unicode"
	"unicode/utf8"
)

// lookahead remembers what was seen ahead of pos, so that looking ahead from
// every quote stays linear in all.
type lookahead struct {
	behind map[int]int // from the start of a comment to what follows it and all that is like it
	line   found       // the next newline
	block  found       // the next end of a block comment
	quote  [4]found    // the next delimiter of each family

	last        [4]int // the last delimiter of each family
	lastKnown   [4]bool
	closer      int // the last } or ]
	closerKnown bool
}

// found is a search's result: no match starts between from and at. At is the
// input's length where there is none.
type found struct {
	from, at int
	known    bool
}

// find returns where what first occurs at or after p, or the input's length.
func (f *fixer) find(memo *found, p int, what string) int {
	if memo.known && p >= memo.from && p <= memo.at {
		return memo.at
	}
	at := len(f.in)
	if p < at {
		if i := bytes.Index(f.in[p:], []byte(what)); i >= 0 {
			at = p + i
		}
	}
	*memo = found{from: p, at: at, known: true}
	return at
}

// next returns the position of the first character at or after p that is
// neither white space nor in a comment. A comment without end counts as text.
func (f *fixer) next(p int) int {
	var comments []int
	for p < len(f.in) {
		c := f.in[p]
		if c == ' ' || c == '\t' || c == '\n' || c == '\r' {
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
		if end, seen := f.look.behind[p]; seen {
			p = end
			break
		}
		end := f.commentEnd(p)
		if end < 0 {
			break
		}
		comments = append(comments, p)
		p = end
	}
	if len(comments) > 0 && f.look.behind == nil {
		f.look.behind = make(map[int]int)
	}
	for _, c := range comments {
		f.look.behind[c] = p
	}
	return p
}

// nextQuote returns where the next unescaped delimiter that closes a string of
// family q stands, at or after p, and its width; -1 for none.
func (f *fixer) nextQuote(q quote, p int) (at, width int) {
	memo := &f.look.quote[q]
	if !memo.known || p < memo.from || p > memo.at {
		*memo = found{from: p, at: f.scanQuote(q, p), known: true}
	}
	if memo.at == len(f.in) {
		return -1, 0
	}
	return memo.at, q.closes(f.in[memo.at:])
}

func (f *fixer) scanQuote(q quote, p int) int {
	for ; p < len(f.in); p++ {
		if f.in[p] == '\\' {
			p++
		} else if q.closes(f.in[p:]) > 0 {
			return p
		}
	}
	return len(f.in)
}

// lastQuote returns where the last character that delimits a string of family q
// stands, or -1.
func (f *fixer) lastQuote(q quote) int {
	l := &f.look
	if !l.lastKnown[q] {
		l.lastKnown[q] = true
		chars := `"`
		switch q {
		case plainSingle:
			chars = `"'`
		case smartDouble:
			chars = `"“”`
		case smartSingle:
			chars = `"'‘’`
		}
		l.last[q] = bytes.LastIndexAny(f.in, chars)
	}
	return l.last[q]
}

// lastCloser returns where the last } or ] stands.
func (f *fixer) lastCloser() int {
	if !f.look.closerKnown {
		f.look.closerKnown = true
		f.look.closer = bytes.LastIndexAny(f.in, "}]")
	}
	return f.look.closer
}

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
