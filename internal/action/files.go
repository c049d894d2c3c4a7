package action

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
	"time"

	"github.com/agent-airlock/airlock/internal/nofollow"
	"github.com/agent-airlock/airlock/internal/text"
)

// FileError describes to the user why a file cannot be read or written.
type FileError struct {
	Path    string
	Problem string // "is a link", "does not exist", ...
	Advice  string // what to do
	Err     error  // the cause, if any
}

// Error implements error.
func (e *FileError) Error() string {
	s := e.Path + " " + e.Problem
	if e.Advice != "" {
		s += ": " + e.Advice
	}
	return s
}

// Unwrap returns the cause.
func (e *FileError) Unwrap() error { return e.Err }

// Unlimited turns off the limit for opening a file: the code that reads it has its own limit, and
// reports what it left out.
const Unlimited = 1 << 62

// ErrTooLarge is the cause when a file is larger than its limit.
var ErrTooLarge = errors.New("file too large")

// File is an ordinary file, or standard input, that is open for reading. Reading
// more than its limit is an error.
type File struct {
	ModTime time.Time
	path    string
	f       io.ReadCloser
	left    int64 // bytes that may still be read
	limit   int64
}

// Read implements io.Reader.
func (f *File) Read(p []byte) (int, error) {
	if int64(len(p)) > f.left+1 {
		p = p[:f.left+1] // one more, to distinguish the end from the limit
	}
	n, err := f.f.Read(p)
	if int64(n) > f.left {
		n = int(f.left)
		f.left = 0
		return n, tooLarge(f.path, f.limit)
	}
	f.left -= int64(n)
	return n, err
}

// ReadAll reads the rest of the file.
func (f *File) ReadAll() ([]byte, error) { return io.ReadAll(f) }

// Close closes the file.
func (f *File) Close() error { return f.f.Close() }

func tooLarge(path string, limit int64) error {
	return &FileError{path, fmt.Sprintf("is larger than %s", text.Bytes(limit)), "split it, or check what wrote it", ErrTooLarge}
}

// OpenUserFile opens a file that the user of the command line named: "-" is stdin,
// whatever that is, unless stdin is nil. Links are followed, because the user named
// them, and must lead to an ordinary file.
func OpenUserFile(path string, stdin io.Reader, limit int64) (*File, error) {
	if path == "" {
		return nil, errors.New("no file is named")
	}
	if path == "-" && stdin != nil {
		return &File{path: "standard input", f: io.NopCloser(stdin), left: limit, limit: limit}, nil
	}
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, explain(path, err)
	}
	info, err := f.Stat()
	if err != nil {
		_ = f.Close()
		return nil, explain(path, err)
	}
	if err := checkOrdinary(path, info); err != nil {
		_ = f.Close()
		return nil, err
	}
	return opened(path, f, info, limit)
}

// opened wraps an open ordinary file; one that is too large already is refused.
func opened(path string, f *os.File, info fs.FileInfo, limit int64) (*File, error) {
	if info.Size() > limit {
		_ = f.Close()
		return nil, tooLarge(path, limit)
	}
	return &File{ModTime: info.ModTime(), path: path, f: f, left: limit, limit: limit}, nil
}

// checkOrdinary returns an error unless the file is an ordinary one.
func checkOrdinary(path string, info fs.FileInfo) error {
	if info.Mode().IsRegular() {
		return nil
	}
	return notOrdinary(path, info.Mode().Type())
}

func notOrdinary(path string, kind fs.FileMode) *FileError {
	e := &FileError{Path: path, Problem: "is a " + text.FileKind(kind), Advice: "name an ordinary file"}
	switch kind {
	case fs.ModeDir:
		e.Advice = "name a file in it"
	case fs.ModeSymlink:
		e.Problem, e.Advice = "is a link", "links are not followed here; give the path of the file itself"
	case fs.ModeNamedPipe:
		e.Advice = "write its text into a file first; on the command line, '-' is standard input"
	}
	return e
}

// explain turns an error of the system, or of nofollow, into a FileError.
func explain(path string, err error) error {
	if kind, ok := errors.AsType[*nofollow.KindError](err); ok {
		return notOrdinary(path, kind.Found)
	}
	e := &FileError{Path: path, Err: err}
	switch {
	case errors.Is(err, nofollow.ErrChanged):
		e.Problem, e.Advice = "was replaced while it was opened", "make sure that nothing else writes it"
	case errors.Is(err, fs.ErrNotExist):
		e.Problem, e.Advice = "does not exist", "check the path, and that the step before wrote it"
	case errors.Is(err, fs.ErrPermission):
		e.Problem, e.Advice = "may not be accessed", "check its permissions"
	case errors.Is(err, syscall.ENOTDIR):
		e.Problem, e.Advice = "leads through something that is not a directory", "check the path"
	default:
		e.Problem = "cannot be used"
		if pathErr, ok := errors.AsType[*fs.PathError](err); ok {
			err = pathErr.Err
		}
		e.Advice = err.Error()
	}
	return e
}

// IsDirectory reports whether there is a directory of that name.
func IsDirectory(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}
