package terminal

import (
	"fmt"
	"io"
	"unicode"
	"unicode/utf8"
)

// Safe returns a writer to w, a terminal. It shows by its number each character of a text or of
// JSON that would act on the terminal: C1 control characters, DEL and marks of a text's direction.
// Other control characters pass. ESC begins our own colours; in JSON it is always escaped.
func Safe(w io.Writer) io.Writer { return &safe{w: w} }

type safe struct {
	w    io.Writer
	rest []byte // the beginning of a character whose end is not written yet
}

// Unwrap returns the terminal.
func (s *safe) Unwrap() io.Writer { return s.w }

// Write implements io.Writer.
func (s *safe) Write(p []byte) (int, error) {
	in := append(s.rest, p...)
	out := make([]byte, 0, len(in))
	for len(in) > 0 && utf8.FullRune(in) {
		r, size := utf8.DecodeRune(in)
		if r == 0x7f || r >= 0x80 && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)) {
			out = fmt.Appendf(out, `\u%04x`, r)
		} else {
			out = append(out, in[:size]...)
		}
		in = in[size:]
	}
	s.rest = in
	if _, err := s.w.Write(out); err != nil {
		return 0, err
	}
	return len(p), nil
}
