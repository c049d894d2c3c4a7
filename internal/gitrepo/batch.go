package gitrepo

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"sync"

	"github.com/agent-airlock/airlock/internal/command"
	"github.com/agent-airlock/airlock/internal/text"
)

// batches keeps the processes of git cat-file that wait for the next question about objects. A
// caller takes one of them, or starts another, and gives it back when it has its answers.
type batches struct {
	mu     sync.Mutex
	idle   []*batch
	closed bool
}

// batch is a running git cat-file --batch-command.
type batch struct {
	stdin *os.File
	out   *bufio.Reader // what git prints
	kill  context.CancelFunc
	ended chan struct{} // closed once git has ended, as result and err describe
	// result and err are what command.Run returned.
	result command.Result
	err    error
}

// takeBatch returns a process that waits, or starts one.
func (r *Repo) takeBatch() (*batch, error) {
	r.batches.mu.Lock()
	defer r.batches.mu.Unlock()
	if r.batches.closed {
		return nil, errors.New("the temporary repository is closed")
	}
	if n := len(r.batches.idle); n > 0 {
		b := r.batches.idle[n-1]
		r.batches.idle = r.batches.idle[:n-1]
		return b, nil
	}
	return r.startBatch()
}

// giveBatch lets a process wait for the next question, or ends it if r.batches is closed.
func (r *Repo) giveBatch(b *batch) {
	r.batches.mu.Lock()
	defer r.batches.mu.Unlock()
	if r.batches.closed {
		b.kill()
		<-b.ended // before the directory that it reads is removed
		return
	}
	r.batches.idle = append(r.batches.idle, b)
}

// close ends all processes that wait.
func (l *batches) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	for _, b := range l.idle {
		b.kill()
		<-b.ended
	}
	l.idle = nil
}

// startBatch starts a process. It ends when its standard input is closed: at the latest, when this
// process ends.
func (r *Repo) startBatch() (*batch, error) {
	stdin, questions, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("making a pipe to git: %w", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	answers, stdout := io.Pipe()
	b := &batch{stdin: questions, out: bufio.NewReaderSize(answers, 64<<10), ended: make(chan struct{})}
	b.kill = func() {
		cancel()
		_ = questions.Close()
		_ = answers.Close() // so that git does not wait for a reader
	}
	spec := r.spec(Call{Stdin: stdin}, stdout, "cat-file", "--batch-command="+objectForm, "--buffer")
	go func() {
		b.result, b.err = command.Run(ctx, spec)
		_ = stdin.Close()
		_ = stdout.Close()
		close(b.ended)
	}()
	return b, nil
}

// objectForm is the format in which git writes a header.
const objectForm = "%(objectname) %(objecttype) %(objectsize)"

// header is the first line of an answer about an object. The kind is "" if the object is
// missing.
type header struct {
	oid, kind string
	size      int64
}

// inspect asks git for the kinds and sizes of objects, without their contents, and calls visit for
// each of them in the order of oids.
func (r *Repo) inspect(ctx context.Context, oids []string, visit func(header)) error {
	return r.ask(ctx, "info", oids, func(b *batch) error {
		h, err := b.header()
		if err == nil {
			visit(h)
		}
		return err
	})
}

// contents reads objects, and calls visit for each of them in the order of oids. The data of a
// missing object is nil. The error is ErrTooLarge if the objects have more than maxObjects bytes
// together.
func (r *Repo) contents(ctx context.Context, oids []string, visit func(header, []byte) error) error {
	left := int64(maxObjects)
	return r.ask(ctx, "contents", oids, func(b *batch) error {
		h, err := b.header()
		if err != nil {
			return err
		}
		if h.kind == "" {
			return visit(h, nil)
		}
		if left -= h.size; left < 0 {
			return fmt.Errorf("%w: the objects have more than %s together", ErrTooLarge, text.Bytes(maxObjects))
		}
		data := make([]byte, h.size+1) // with the newline after the content
		if _, err := io.ReadFull(b.out, data); err != nil {
			return errBroken
		}
		if data[h.size] != '\n' {
			return fmt.Errorf("git cat-file answered %s with other content than it announced", h.oid)
		}
		return visit(h, data[:h.size:h.size])
	})
}

// errBroken is the error about an answer that ended before it was complete.
var errBroken = errors.New("git cat-file ended in the middle of an answer")

// header reads the first line of an answer.
func (b *batch) header() (header, error) {
	line, err := b.out.ReadSlice('\n')
	if err != nil {
		return header{}, errBroken
	}
	fields := strings.Fields(string(line))
	switch {
	case len(fields) == 2 && fields[1] == "missing":
		return header{oid: fields[0]}, nil
	case len(fields) == 3:
		size, err := strconv.ParseInt(fields[2], 10, 64)
		if err == nil && size >= 0 {
			return header{fields[0], fields[1], size}, nil
		}
	}
	return header{}, fmt.Errorf("git cat-file answered %q", bytes.TrimSpace(line))
}

// ask sends a process a command for each object, and calls answer to read each answer. After an
// error the process is ended.
func (r *Repo) ask(ctx context.Context, cmd string, oids []string, answer func(*batch) error) error {
	if len(oids) == 0 {
		return nil
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	b, err := r.takeBatch()
	if err != nil {
		return err
	}
	var questions bytes.Buffer
	for _, oid := range oids {
		questions.WriteString(cmd + " " + oid + "\n")
	}
	questions.WriteString("flush\n")
	limited, cancel := context.WithTimeoutCause(ctx, gitTimeout, errSlow)
	defer cancel()
	stop := context.AfterFunc(limited, b.kill)
	defer stop()
	written := make(chan struct{})
	go func() {
		defer close(written)
		_, _ = questions.WriteTo(b.stdin) // a failure shows in the answers
	}()
	for range oids {
		if err = answer(b); err != nil {
			break
		}
	}
	if err == nil && stop() { // neither the caller nor the time limit ended the process
		<-written
		r.giveBatch(b)
		return nil
	}
	b.kill()
	<-written
	<-b.ended
	switch {
	case err == nil: // the context ended only after the last answer
		return nil
	case ctx.Err() != nil:
		return fmt.Errorf("git cat-file was ended: %w", context.Cause(ctx))
	case limited.Err() != nil:
		return fmt.Errorf("git cat-file took longer than %v", gitTimeout)
	case errors.Is(err, errBroken):
		out := Output{ExitCode: b.result.ExitCode, Signal: b.result.Signal, Stderr: b.result.Stderr.String()}
		return cmp.Or(r.outcome(Call{}, "cat-file", out, b.result, b.err), err)
	}
	return err
}

// errSlow is the cause with which a context ends if git takes too long.
var errSlow = errors.New("git took too long")
