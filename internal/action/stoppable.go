package action

import (
	"errors"
	"io"
)

// ErrStopped is why a command that waited for its input did nothing.
var ErrStopped = errors.New("interrupted before anything was done; run it again")

// Stoppable is a reader of In that fails with ErrStopped when Stopped is closed: a read of standard
// input goes on until somebody writes there.
type Stoppable struct {
	In      io.Reader       // required
	Stopped <-chan struct{} // required
}

// Read implements io.Reader. After it has returned ErrStopped, the read of In may still go on, but
// it does not write to p.
func (s Stoppable) Read(p []byte) (int, error) {
	type result struct {
		n   int
		err error
	}
	own, done := make([]byte, min(len(p), 64<<10)), make(chan result, 1)
	go func() {
		n, err := s.In.Read(own)
		done <- result{n, err}
	}()
	select {
	case r := <-done:
		return copy(p, own[:r.n]), r.err
	case <-s.Stopped:
		return 0, ErrStopped
	}
}
