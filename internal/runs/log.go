package runs

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/agent-airlock/airlock/internal/store"
)

const (
	// maxLog is how many bytes of the output of a run are kept, of all attempts together.
	maxLog = 1 << 20
	// flushEvery is the time after which written output becomes visible.
	flushEvery = 500 * time.Millisecond
	// mostHeld is how many bytes of a block in PEM wait for its end.
	mostHeld = 16 << 10
)

// logWriter keeps what an agent writes, masked, in pieces of complete lines. No piece ends within a
// private key, because a part of a secret could not be recognised. Neither a slow store nor one that
// fails delays the agent: what could not be written yet waits in memory, at most maxLog of it. Close
// reports why something could not be kept.
type logWriter struct {
	store *store.Store
	run   string
	mask  func(string) string

	mu      sync.Mutex
	pending []byte // complete lines that flush has not taken yet
	kept    int    // bytes of the earlier log, at most maxLog, and of all lines that were added
	full    bool
	told    bool // the log says already that it is full
	closing bool

	// The following belong to the goroutine that flushes, and to Close after that has ended.
	piece string // what was taken from pending and may not be in the store yet
	last  int64  // the number of the newest piece in the store; 0 for none, -1 if it is not known
	err   error  // why the last try to write piece failed

	streams []*lineWriter
	ctx     context.Context // of what is written to the store
	giveUp  context.CancelFunc
	stop    chan struct{}
	done    chan struct{}
}

// earlierLog is what earlier attempts of a run have left in its log.
type earlierLog struct {
	length int  // in bytes
	isFull bool // its end says that the rest is left out
}

// readEarlierLog returns what is in the log of a run before the attempt.
func readEarlierLog(ctx context.Context, s *store.Store, r Run) (e earlierLog, err error) {
	if r.Attempt == 1 {
		return e, nil
	}
	err = s.Query(ctx, func(row store.Row) error {
		var piece string
		err := row.Scan(&piece)
		e.length += len(piece)
		e.isFull = strings.HasSuffix(piece, logIsFull)
		return err
	}, `SELECT text FROM run_log WHERE run = $1 ORDER BY n`, r.ID)
	return e, err
}

// newLogWriter returns a writer that continues a run's log.
func newLogWriter(s *store.Store, r Run, earlier earlierLog, mask func(string) string) *logWriter {
	l := &logWriter{store: s, run: r.ID, mask: mask, kept: min(earlier.length, maxLog), full: earlier.isFull, told: earlier.isFull, stop: make(chan struct{}), done: make(chan struct{})}
	if r.Attempt > 1 {
		l.last = -1
	}
	l.ctx, l.giveUp = context.WithCancel(context.Background())
	go l.flushRegularly()
	return l
}

// stream returns a writer for one of the agent's streams, whose lines are not mixed with those
// of the other. One goroutine writes to it, and not after Close.
func (l *logWriter) stream() *lineWriter {
	w := &lineWriter{log: l}
	l.streams = append(l.streams, w)
	return w
}

// lineWriter passes complete lines on to the log, and a line that fills it.
type lineWriter struct {
	log  *logWriter
	line []byte
}

// Write implements io.Writer; it never fails.
func (w *lineWriter) Write(p []byte) (int, error) {
	end := bytes.LastIndexByte(p, '\n') + 1 // there is none in what is collected already
	if end > 0 {
		end += len(w.line)
	}
	w.line = append(w.line, p...)
	if end == 0 && len(w.line) > maxLog {
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
	// Replace first, then count: a replacement is longer. PostgreSQL stores no NUL.
	lines = bytes.ReplaceAll(bytes.ToValidUTF8(lines, []byte("\uFFFD")), []byte{0}, []byte("\uFFFD"))
	if room := maxLog - l.kept; len(lines) > room {
		lines, l.full = append(bytes.ToValidUTF8(lines[:room], nil), "…"...), true // the mark of a cut: see secrets.Scanner.Mask
	}
	l.kept += len(lines)
	l.pending = append(l.pending, lines...)
}

// Close keeps what has not been kept yet, and returns why something was not. While the store has
// trouble, it tries again until limit has passed.
func (l *logWriter) Close(limit time.Duration) error {
	for _, w := range l.streams {
		if len(w.line) > 0 {
			l.add(append(w.line, '\n'))
		}
	}
	l.mu.Lock()
	l.closing = true
	if l.full && !l.told {
		l.pending = append(l.pending, logIsFull...)
	}
	l.mu.Unlock()
	patience := time.AfterFunc(limit, l.giveUp)
	defer patience.Stop()
	defer l.giveUp()
	close(l.stop)
	<-l.done
	pause := time.NewTicker(flushEvery / 10)
	defer pause.Stop()
	for {
		for l.flush() {
		}
		if l.err == nil || store.Trouble(l.err) == "" {
			return l.err
		}
		select {
		case <-l.ctx.Done():
			return l.err
		case <-pause.C:
		}
	}
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
			l.flush()
		}
	}
}

// flush writes one piece: the one that could not be written before, or otherwise the pending lines.
// It reports whether it has written one; then there may be another.
func (l *logWriter) flush() bool {
	again := l.piece != ""
	if !again {
		l.mu.Lock()
		end := len(l.pending)
		if !l.closing {
			end = beforeOpenBlock(l.pending)
		}
		piece := string(l.pending[:end])
		l.pending = l.pending[end:]
		l.mu.Unlock()
		if piece == "" {
			return false
		}
		l.piece = l.mask(piece)
	}
	ctx, cancel := context.WithTimeout(l.ctx, backgroundWithin)
	defer cancel()
	if l.err = l.write(ctx, again); l.err != nil {
		return false
	}
	l.piece = ""
	return true
}

// beforeOpenBlock returns the offset of the first line of a block in PEM whose end may still
// follow, or len(lines) if there is none.
func beforeOpenBlock(lines []byte) int {
	begin := bytes.LastIndex(lines, []byte("-----BEGIN "))
	if begin < 0 || len(lines)-begin > mostHeld || bytes.Contains(lines[begin:], []byte("-----END ")) {
		return len(lines)
	}
	begin = bytes.LastIndexByte(lines[:begin], '\n') + 1
	_, block, _ := bytes.Cut(lines[begin:], []byte("\n"))
	for line := range bytes.Lines(block) {
		if !bytes.Contains(line, []byte(": ")) && bytes.ContainsAny(bytes.TrimSpace(line), " \t") {
			return len(lines) // the block has ended
		}
	}
	return begin
}

// write adds the piece to the store. again reports whether the piece may be there already, because
// the answer to an earlier attempt was lost.
func (l *logWriter) write(ctx context.Context, again bool) error {
	var n int64
	if again && l.last >= 0 { // otherwise an equal piece may come from an earlier attempt of the run
		err := l.store.QueryRow(ctx, `SELECT n FROM run_log WHERE run = $1 AND n > $2 AND text = $3`, l.run, l.last, l.piece).Scan(&n)
		if err == nil {
			l.last = n
		}
		if !errors.Is(err, store.ErrNotFound) {
			return err
		}
	}
	err := l.store.QueryRow(ctx, `INSERT INTO run_log (run, n, text) SELECT $1, COALESCE(max(n), 0) + 1, $2 FROM run_log WHERE run = $1 RETURNING n`, l.run, l.piece).Scan(&n)
	if err == nil {
		l.last = n
	}
	return err
}
