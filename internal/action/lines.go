package action

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
	"time"
)

// Lines is a file of lines to which several processes append: the tools of an agent's
// jobs, and the agent itself. Each line is written in full or not at all. The methods may be
// called by one goroutine at a time.
type Lines struct {
	path string
	seen int64 // how many bytes of the file the calls of Update have read
	// previous is the file that was seen, so that another file in its place is noticed.
	previous os.FileInfo
}

// NewLines returns the file of lines at a path. The first call of Update makes the file; one
// that exists already must be an ordinary file and not a link.
func NewLines(path string) *Lines { return &Lines{path: path} }

// Path returns the file's path.
func (l *Lines) Path() string { return l.path }

const (
	// lockWait is how long Update waits for another process that is appending, which
	// takes it milliseconds.
	lockWait = 10 * time.Second
	lockPoll = 5 * time.Millisecond
	// maxLines is the size of the largest file of lines that is read, in bytes.
	maxLines = 512 << 20
)

// Update calls add with the lines that were added since the last call of add without an error,
// including those that Update appended. It appends the line that add returns, unless that is nil.
// The file is locked until then, so that no other process can append a line after add has read the
// lines.
//
// complete is set when add gets every line of the file: until a call of add has had no error, and
// when the file was replaced or has become shorter. An unfinished last line is not among them, and
// is ended before a line is appended. Update returns an error of add unchanged.
func (l *Lines) Update(ctx context.Context, add func(lines io.Reader, complete bool) (line []byte, err error)) error {
	f, info, err := l.open(ctx)
	if err != nil {
		return err
	}
	defer f.Close() // which unlocks it
	complete := l.previous == nil || !os.SameFile(l.previous, info) || info.Size() < l.seen
	if complete {
		l.previous, l.seen = nil, 0 // so that the next call gets every line, too, if add returns an error
	}
	end, err := lastNewline(f, l.seen, info.Size())
	if err != nil {
		return explain(l.path, err)
	}
	line, err := add(io.NewSectionReader(f, l.seen, end-l.seen), complete)
	if err != nil {
		return err
	}
	l.previous, l.seen = info, end
	if line == nil {
		return nil
	}
	appended := make([]byte, 0, len(line)+2)
	if end < info.Size() {
		appended = append(appended, '\n') // ends what somebody has left unfinished
	}
	appended = append(append(appended, line...), '\n')
	if _, err := f.WriteAt(appended, info.Size()); err != nil {
		// No part of a line that does not fit stays in the file.
		return errors.Join(explain(l.path, err), f.Truncate(info.Size()))
	}
	return nil
}

// open opens and locks the file.
func (l *Lines) open(ctx context.Context) (*os.File, os.FileInfo, error) {
	// Opening what is not an ordinary file fails as well, but says less.
	if info, err := os.Lstat(l.path); err == nil && !info.Mode().IsRegular() {
		return nil, nil, checkOrdinary(l.path, info)
	}
	f, err := os.OpenFile(l.path, os.O_RDWR|os.O_CREATE|syscall.O_NONBLOCK|openNofollow, 0o644)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, &FileError{l.path, "is in a directory that does not exist", "make the directory, or name another file", err}
	}
	if err != nil {
		return nil, nil, explain(l.path, err)
	}
	if err := l.lock(ctx, f); err != nil {
		_ = f.Close()
		return nil, nil, err
	}
	info, err := f.Stat()
	if err == nil {
		err = checkOrdinary(l.path, info)
	}
	if err == nil && info.Size() > maxLines {
		err = tooLarge(l.path, maxLines)
	}
	if err != nil {
		_ = f.Close()
		return nil, nil, err
	}
	return f, info, nil
}

func (l *Lines) lock(ctx context.Context, f *os.File) error {
	deadline := time.NewTimer(lockWait)
	defer deadline.Stop()
	for {
		ok, err := tryLock(f)
		if err != nil {
			return explain(l.path, err)
		}
		if ok {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-deadline.C:
			return &FileError{l.path, fmt.Sprintf("has been locked by another process for %s", lockWait), "end that process, and try again", nil}
		case <-time.After(lockPoll):
		}
	}
}

// lastNewline returns the offset after the last newline between two offsets of a file, or
// the lower one of these if there is none.
func lastNewline(f io.ReaderAt, from, to int64) (int64, error) {
	const step = 64 << 10
	buf := make([]byte, min(step, to-from))
	for end := to; end > from; {
		begin := max(from, end-step)
		part := buf[:end-begin]
		if _, err := f.ReadAt(part, begin); err != nil {
			return 0, err
		}
		if i := bytes.LastIndexByte(part, '\n'); i >= 0 {
			return begin + int64(i) + 1, nil
		}
		end = begin
	}
	return from, nil
}
