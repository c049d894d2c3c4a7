// Package nofollow opens files and directories that others may replace at any moment. It looks at
// what a name leads to before it opens it: it follows no link there, waits for no FIFO, and fails
// if it opened something else than it had looked at.
package nofollow

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"

	"github.com/agent-airlock/airlock/internal/text"
)

// Errors of this package, besides KindError. Others are those of package os.
var (
	ErrChanged  = errors.New("it changed while it was opened or read: let the program that writes it end first")
	ErrTooLarge = errors.New("too large")
)

// A KindError reports that a name exists, but that the file has another kind than the caller asked
// for.
type KindError struct {
	Found fs.FileMode // the type of what is there
	want  string      // "a directory"
}

func (e *KindError) Error() string {
	if e.Found.IsRegular() {
		return "it is a file, not " + e.want
	}
	return fmt.Sprintf("it is a %s, not %s", text.FileKind(e.Found), e.want)
}

// Open opens an ordinary file below dir. flag is os.O_RDONLY, os.O_WRONLY or os.O_RDWR, with
// os.O_APPEND to append to it. Where a directory on the way to the file is a link, it is followed
// if it stays below dir.
func Open(dir *os.Root, name string, flag int) (*os.File, fs.FileInfo, error) {
	expected, err := dir.Lstat(name)
	if err != nil {
		return nil, nil, err
	}
	if !expected.Mode().IsRegular() {
		return nil, nil, &KindError{expected.Mode().Type(), "an ordinary file"}
	}
	return openExpected(dir, name, flag, expected)
}

// openExpected opens a file, and fails with ErrChanged if it is not the expected one any more.
func openExpected(dir *os.Root, name string, flag int, expected fs.FileInfo) (*os.File, fs.FileInfo, error) {
	f, err := dir.OpenFile(name, flag|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, err
	}
	opened, err := f.Stat()
	if err == nil && !isSame(opened, expected) {
		err = ErrChanged
	}
	if err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	return f, opened, nil
}

// isSame reports whether both are one file. It compares the types, too, because a new file can have
// the number of a removed file of another type.
func isSame(a, b fs.FileInfo) bool {
	return os.SameFile(a, b) && a.Mode().Type() == b.Mode().Type()
}

// OpenDir opens a directory below dir. Where a directory on the way to it is a link, that is
// followed as by Open.
func OpenDir(dir *os.Root, name string) (*os.Root, error) {
	expected, err := dir.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !expected.IsDir() {
		return nil, &KindError{expected.Mode().Type(), "a directory"}
	}
	return openExpectedDir(dir, name, expected)
}

// openExpectedDir is openExpected for a directory.
func openExpectedDir(dir *os.Root, name string, expected fs.FileInfo) (*os.Root, error) {
	next, err := dir.OpenRoot(name + onlyDir)
	if err != nil {
		return nil, err
	}
	opened, err := next.Stat(".")
	if err == nil && !isSame(opened, expected) {
		err = ErrChanged
	}
	if err != nil {
		return nil, errors.Join(err, next.Close())
	}
	return next, nil
}

// Read opens an ordinary file as Open does, and returns its content. The error is ErrTooLarge
// if it has more than limit bytes, and ErrChanged if it is written to meanwhile.
func Read(dir *os.Root, name string, limit int64) ([]byte, fs.FileInfo, error) {
	f, info, err := Open(dir, name, os.O_RDONLY)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	data, err := readUnchanged(f, info, limit)
	return data, info, err
}

func readUnchanged(f *os.File, before fs.FileInfo, limit int64) ([]byte, error) {
	if before.Size() > limit {
		return nil, fmt.Errorf("%w: it has %s, and at most %s are read", ErrTooLarge, text.Bytes(before.Size()), text.Bytes(limit))
	}
	data := make([]byte, before.Size())
	n, err := io.ReadFull(f, data)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, err
	}
	after, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if n != len(data) || after.Size() != before.Size() || !after.ModTime().Equal(before.ModTime()) {
		return nil, ErrChanged
	}
	return data, nil
}

// OpenPath opens the directory at a path, as os.OpenRoot does, and follows links as it does.
func OpenPath(path string) (*os.Root, error) {
	if path != "" {
		path += onlyDir
	}
	return os.OpenRoot(path)
}

// onlyDir, appended to a path, has the system refuse what is not a directory. Opening a
// FIFO would otherwise wait for its other end.
const onlyDir = "/."
