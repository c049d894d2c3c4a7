package cli

import (
	"errors"
	"io"
)

// errStopped is why a command that waited for its input did nothing.
var errStopped = errors.New("interrupted before anything was done; run it again")

// untilStopped returns a reader of in that fails with errStopped when a signal stops the program: a
// read of standard input goes on until somebody writes there.
func (env Environment) untilStopped(in io.Reader) io.Reader { return stoppable{in, env.stopped} }

type stoppable struct {
	in      io.Reader
	stopped <-chan struct{}
}

// Read implements io.Reader. A read that goes on after it has returned has a buffer of its own.
func (s stoppable) Read(p []byte) (int, error) {
	type result struct {
		n   int
		err error
	}
	own, done := make([]byte, min(len(p), 64<<10)), make(chan result, 1)
	go func() {
		n, err := s.in.Read(own)
		done <- result{n, err}
	}()
	select {
	case r := <-done:
		return copy(p, own[:r.n]), r.err
	case <-s.stopped:
		return 0, errStopped
	}
}
