package gitrepo

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"
)

// WorkTree reads files below a directory that others may write to, each through
// the handles of its directories and never through a link. It is not for several
// goroutines at once.
type WorkTree struct{ dirs *dirs }

// OpenWorkTree opens a directory, which itself may be reached by a link.
func OpenWorkTree(dir string) (*WorkTree, error) {
	d, err := newDirs(dir)
	if err != nil {
		return nil, err
	}
	return &WorkTree{d}, nil
}

// Close closes every handle.
func (w *WorkTree) Close() { w.dirs.Close() }

// Lstat says what a slash path is, without following a link. It is fs.ErrNotExist,
// as for git, also where a directory above it is not there, a link or a file.
func (w *WorkTree) Lstat(path string) (fs.FileInfo, error) {
	if err := validPath(path); err != nil {
		return nil, err
	}
	info, err := w.dirs.lstat(path)
	if errors.Is(err, errNotDir) || errors.Is(err, syscall.ENOTDIR) {
		return nil, fmt.Errorf("%s: %w", path, fs.ErrNotExist)
	}
	return info, err
}

// Read reads an ordinary file of at most limit bytes, without blocking.
// ErrTooLarge is returned for a larger one, and an error too for a file that is
// written meanwhile and for what is no file.
func (w *WorkTree) Read(path string, limit int64) ([]byte, error) {
	if err := validPath(path); err != nil {
		return nil, err
	}
	return w.dirs.read(path, limit)
}

// Link returns what a link points to, as data.
func (w *WorkTree) Link(path string) (string, error) {
	if err := validPath(path); err != nil {
		return "", err
	}
	return w.dirs.link(path)
}

func validPath(path string) error {
	if !fs.ValidPath(path) || path == "." {
		return fmt.Errorf("%q is not a path of a repository: %w", path, fs.ErrInvalid)
	}
	return nil
}
