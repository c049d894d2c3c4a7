package cli

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/term"
)

// sink is where a result goes. Its errors are told from those of what is read.
type sink struct {
	name string // "" where the errors of w name it
	w    io.Writer
}

// Write implements io.Writer.
func (s sink) Write(p []byte) (int, error) {
	n, err := s.w.Write(p)
	if err != nil {
		err = &outputError{s.name, err}
	}
	return n, err
}

// outputError is why a result could not be written.
type outputError struct {
	name string
	err  error
}

func (e *outputError) Error() string {
	if e.name == "" {
		return e.err.Error()
	}
	var pe *fs.PathError
	if errors.As(e.err, &pe) {
		return e.name + ": " + pe.Err.Error()
	}
	return e.name + ": " + e.err.Error()
}

func (e *outputError) Unwrap() error { return e.err }

// closedReader reports whether the reader of a pipe went away, as head does when it
// has seen enough: there is nobody to tell.
func closedReader(err error) bool {
	var out *outputError
	return errors.As(err, &out) && errors.Is(out.err, syscall.EPIPE)
}

// terminalWidth is how many columns a person sees of what is written to w; 0 where w
// is no terminal. A terminal that does not say has 80, as most.
func terminalWidth(w io.Writer) int {
	if !isTerminal(w) {
		return 0
	}
	if s, ok := w.(sink); ok {
		w = s.w
	}
	if width, _, err := term.GetSize(int(w.(*os.File).Fd())); err == nil && width > 0 {
		return width
	}
	return 80
}

// isTerminal reports whether a person sees what is written to w as it is written.
func isTerminal(w io.Writer) bool {
	if s, ok := w.(sink); ok {
		w = s.w
	}
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
