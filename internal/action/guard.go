package action

import (
	"crypto/rand"
	"io"
	"sync"
)

// Guard passes on output that strangers can influence, such as that of a
// program, so that the runner takes no command from it: it stands between
// stop-commands and a random word that ends it.
//
// The runner keeps one such word for both streams of a step and reads the
// streams independently. A guard is therefore the only way to the log while it
// is open: both streams of the program are given to the same guard, and what
// the Runner itself has to say waits until the guard is closed.
type Guard struct {
	r    *Runner
	word string

	mu      sync.Mutex
	open    bool // the stop-commands line has been written
	closed  bool
	midline bool
}

// Guard returns a guard; it must be closed. Where no runner reads the log, it
// passes everything on as it is.
func (r *Runner) Guard() *Guard { return &Guard{r: r, word: "airlock-" + rand.Text()} }

// Write implements io.Writer.
func (g *Guard) Write(p []byte) (int, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return 0, io.ErrClosedPipe
	}
	if len(p) == 0 {
		return 0, nil
	}
	g.r.mu.Lock()
	defer g.r.mu.Unlock()
	if !g.open {
		g.open = true
		if err := g.begin(); err != nil {
			return 0, err
		}
	}
	g.midline = p[len(p)-1] != '\n'
	return g.r.w.Write(p)
}

// begin stops the runner's commands. One word is in force at a time: guards
// that overlap share the first one's.
func (g *Guard) begin() error {
	g.r.guards++
	if !g.r.env.OnRunner || g.r.guards > 1 {
		return nil
	}
	g.r.word = g.word
	_, err := io.WriteString(g.r.w, "::stop-commands::"+g.word+"\n")
	return err
}

// Close ends the guarded output and lets the runner read commands again. What
// the Runner wanted to say meanwhile follows.
func (g *Guard) Close() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return nil
	}
	g.closed = true
	if !g.open {
		return nil
	}
	g.r.mu.Lock()
	defer g.r.mu.Unlock()
	if g.midline {
		if _, err := io.WriteString(g.r.w, "\n"); err != nil {
			return err
		}
	}
	g.r.guards--
	if g.r.guards > 0 {
		return nil
	}
	if g.r.env.OnRunner {
		if _, err := io.WriteString(g.r.w, "::"+g.r.word+"::\n"); err != nil {
			return err
		}
	}
	kept := g.r.kept
	g.r.kept = nil
	for _, line := range kept {
		if _, err := io.WriteString(g.r.w, line+"\n"); err != nil {
			return err
		}
	}
	return nil
}
