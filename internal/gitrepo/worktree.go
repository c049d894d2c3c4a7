package gitrepo

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"syscall"

	"github.com/agent-airlock/airlock/internal/nofollow"
)

// WorkTree reads files below a directory that others may write to at the same time. It opens each
// directory through the handle of its parent, and never through a link, so others cannot lead it
// out of the directory. Paths have slashes and may contain any other bytes. A WorkTree is not for
// several goroutines at once.
type WorkTree struct {
	root *os.Root
	open []openDir // the directories of the last path, from the top down, root excluded
}

type openDir struct {
	name string
	root *os.Root
}

// errNotDir is returned for a path that leads through a link or a file. It is fs.ErrNotExist,
// because git sees nothing at such a path either.
var errNotDir error = notDirError{}

type notDirError struct{}

func (notDirError) Error() string {
	return "a directory above it is a link or a file: " + nofollow.ErrChanged.Error()
}

func (notDirError) Is(target error) bool { return target == fs.ErrNotExist }

// OpenWorkTree opens a directory, which itself may be reached by a link.
func OpenWorkTree(dir string) (*WorkTree, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("the work tree cannot be opened: %w", err)
	}
	return &WorkTree{root: root}, nil
}

// Reopen opens the same directory again, for another goroutine.
func (w *WorkTree) Reopen() (*WorkTree, error) {
	root, err := w.root.OpenRoot(".")
	if err != nil {
		return nil, fmt.Errorf("the work tree cannot be opened: %w", err)
	}
	return &WorkTree{root: root}, nil
}

// Close closes every handle.
func (w *WorkTree) Close() {
	w.closeAfter(0)
	_ = w.root.Close()
}

// Lstat describes what is at a path, without following a link. The error is
// fs.ErrNotExist also where a directory above it does not exist, is a link or is a file.
func (w *WorkTree) Lstat(path string) (fs.FileInfo, error) {
	parent, base, err := w.parent(path)
	if err != nil {
		return nil, err
	}
	info, err := parent.Lstat(base)
	if errors.Is(err, syscall.ENOTDIR) {
		err = errNotDir
	}
	return info, err
}

// Read reads an ordinary file of at most limit bytes, without blocking. The error is
// ErrTooLarge for a larger one. A file that is written meanwhile is an error.
func (w *WorkTree) Read(path string, limit int64) ([]byte, error) {
	parent, base, err := w.parent(path)
	if err != nil {
		return nil, err
	}
	data, _, err := nofollow.Read(parent, base, limit)
	return data, err
}

// Link returns what a link points to, as data.
func (w *WorkTree) Link(path string) (string, error) {
	parent, base, err := w.parent(path)
	if err != nil {
		return "", err
	}
	return parent.Readlink(base)
}

// List returns what is in a directory, by name; "" is the top. The error is ErrTooLarge
// if there are more than limit entries.
func (w *WorkTree) List(dir string, limit int) ([]fs.DirEntry, error) {
	handle, err := w.dir(dir)
	if err != nil {
		return nil, err
	}
	f, err := handle.Open(".")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var all []fs.DirEntry
	for {
		some, err := f.ReadDir(4096)
		all = append(all, some...)
		switch {
		case len(all) > limit:
			return nil, fmt.Errorf("%w: there are more than %d files", ErrTooLarge, limit)
		case err == io.EOF || err == nil && len(some) == 0:
			slices.SortFunc(all, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
			return all, nil
		case err != nil:
			return nil, err
		}
	}
}

// parent returns the handle of the directory that a path is in, and the last element of the path.
// The handle is valid until the next call.
func (w *WorkTree) parent(name string) (handle *os.Root, base string, err error) {
	for part := range strings.SplitSeq(name, "/") {
		if part == "" || part == "." || part == ".." {
			return nil, "", fmt.Errorf("%q is not a path of a repository: %w", name, fs.ErrInvalid)
		}
	}
	dir := ""
	if i := strings.LastIndexByte(name, '/'); i >= 0 {
		dir = name[:i]
	}
	handle, err = w.dir(dir)
	return handle, path.Base(name), err
}

// dir returns the handle of a directory, such as "" or "a/b", which is valid until the next
// call. It is cheap for directories near the one before.
func (w *WorkTree) dir(dir string) (*os.Root, error) {
	var parts []string
	if dir != "" {
		parts = strings.Split(dir, "/")
	}
	n := 0
	for n < len(parts) && n < len(w.open) && parts[n] == w.open[n].name {
		n++
	}
	w.closeAfter(n)
	handle := w.root
	if n > 0 {
		handle = w.open[n-1].root
	}
	for _, name := range parts[n:] {
		next, err := nofollow.OpenDir(handle, name)
		if _, ok := errors.AsType[*nofollow.KindError](err); ok {
			return nil, errNotDir
		}
		if err != nil {
			return nil, err
		}
		w.open = append(w.open, openDir{name, next})
		handle = next
	}
	return handle, nil
}

// closeAfter closes the handles of all open directories but the first n.
func (w *WorkTree) closeAfter(n int) {
	for _, d := range w.open[n:] {
		_ = d.root.Close()
	}
	w.open = w.open[:n]
}
