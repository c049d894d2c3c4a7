// Package terminal reports whether a reader or a writer is a terminal, which a person sees. It also
// reports how wide a terminal is, and whether it shows colours.
package terminal

import (
	"io"
	"os"

	"golang.org/x/term"
)

// Is reports whether a reader or a writer is a terminal, where a person sees output at once. A
// writer that wraps another one, and returns it from Unwrap, counts as that one.
func Is(stream any) bool { return file(stream) != nil }

// file returns the terminal that a stream is, or nil if it is not one.
func file(stream any) *os.File {
	for w, ok := stream.(interface{ Unwrap() io.Writer }); ok; w, ok = stream.(interface{ Unwrap() io.Writer }) {
		stream = w.Unwrap()
	}
	if f, ok := stream.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		return f
	}
	return nil
}

// Width returns how many columns a person sees of what is written to w; 0 where w is not a
// terminal. A terminal that does not report its width counts as 80 columns wide, as most are.
func Width(w io.Writer) int {
	f := file(w)
	if f == nil {
		return 0
	}
	if width, _, err := term.GetSize(int(f.Fd())); err == nil && width > 0 {
		return width
	}
	return 80
}

// ShowsColour reports whether a person sees what is written to w, in a terminal that can show
// colours, and has not declined them with NO_COLOR.
func ShowsColour(w io.Writer, getenv func(string) string) bool {
	return Is(w) && getenv("NO_COLOR") == "" && !IsDumb(getenv)
}

// IsDumb reports whether TERM names a terminal that can show neither colours nor lines that move.
func IsDumb(getenv func(string) string) bool { return getenv("TERM") == "dumb" }
