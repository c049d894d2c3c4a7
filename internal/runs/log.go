package runs

import (
	"bytes"
	"context"
	"strings"
	"sync"
	"time"

	"github.com/agent-airlock/airlock/internal/store"
)

const (
	// maxLog is how much of what a run writes is kept, in bytes.
	maxLog = 1 << 20
	// flushEvery is how often what was written becomes visible.
	flushEvery = 500 * time.Millisecond
	// maxLine is after how many bytes a line is taken apart.
	maxLine = 64 << 10
)

// logWriter keeps what an agent writes in pieces of whole lines, masked. A store that
// fails never holds the agent up: then what it wrote is lost, and Close says so.
type logWriter struct {
	store *store.Store
	run   string
	mask  func(string) string

	mu      sync.Mutex
	pending []byte // whole lines
	kept    int    // bytes
	full    bool
	err     error

	streams []*lineWriter
	stop    chan struct{}
	done    chan struct{}
}

func newLogWriter(s *store.Store, run string, mask func(string) string) *logWriter {
	l := &logWriter{store: s, run: run, mask: mask, stop: make(chan struct{}), done: make(chan struct{})}
	go l.flushRegularly()
	return l
}

// stream returns a writer for one of the agent's streams, whose lines stay whole. It is
// written to by one goroutine, and not after Close.
func (l *logWriter) stream() *lineWriter {
	w := &lineWriter{log: l}
	l.streams = append(l.streams, w)
	return w
}

// lineWriter passes on whole lines.
type lineWriter struct {
	log  *logWriter
	line []byte
}

// Write implements io.Writer; it never fails.
func (w *lineWriter) Write(p []byte) (int, error) {
	w.line = append(w.line, p...)
	end := bytes.LastIndexByte(w.line, '\n') + 1
	if end == 0 && len(w.line) >= maxLine {
		end = len(w.line)
	}
	if end > 0 {
		w.log.add(w.line[:end])
		w.line = append(w.line[:0], w.line[end:]...)
	}
	return len(p), nil
}

const logIsFull = "\n[what follows is left out: the log keeps 1 MiB]\n"

// add keeps lines until the log is full.
func (l *logWriter) add(lines []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.full {
		return
	}
	if room := maxLog - l.kept; len(lines) > room {
		lines, l.full = lines[:room], true
	}
	l.kept += len(lines)
	l.pending = append(l.pending, lines...)
}

// Close keeps what has not been kept yet, and returns why something was not.
func (l *logWriter) Close() error {
	for _, w := range l.streams {
		if len(w.line) > 0 {
			l.add(append(w.line, '\n'))
		}
	}
	close(l.stop)
	<-l.done
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.full {
		l.pending = append(l.pending, logIsFull...)
	}
	l.flush()
	return l.err
}

func (l *logWriter) flushRegularly() {
	defer close(l.done)
	tick := time.NewTicker(flushEvery)
	defer tick.Stop()
	for {
		select {
		case <-l.stop:
			return
		case <-tick.C:
			l.mu.Lock()
			l.flush()
			l.mu.Unlock()
		}
	}
}

// flush writes the pending lines as one piece. The caller has the lock.
func (l *logWriter) flush() {
	if len(l.pending) == 0 || l.err != nil {
		return
	}
	// PostgreSQL keeps no NUL in a text.
	piece := strings.ReplaceAll(l.mask(strings.ToValidUTF8(string(l.pending), "\uFFFD")), "\x00", "\uFFFD")
	l.pending = nil
	ctx, cancel := context.WithTimeout(context.Background(), commitWithin)
	defer cancel()
	_, l.err = l.store.Exec(ctx, `INSERT INTO run_log (run, n, text) SELECT $1, COALESCE(max(n), 0) + 1, $2 FROM run_log WHERE run = $1`, l.run, piece)
}
