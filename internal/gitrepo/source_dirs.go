package gitrepo

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"sort"
	"strings"
)

// errChanged is returned for what became something else while it was opened.
var errChanged = errors.New("it changed while it was read: let what writes it end first")

// errNotDir is returned for a path through what is no directory.
var errNotDir = fmt.Errorf("a directory above it is a link or a file: %w", errChanged)

// dirs opens the directories of somebody else's work tree: each through the
// handle of its parent and never through a link, so that nothing which happens
// there meanwhile leads out of the directory that was meant.
type dirs struct {
	root *os.Root
	open []openDir // from the root down
}

type openDir struct {
	name string
	root *os.Root
}

func newDirs(dir string) (*dirs, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("the work tree cannot be opened: %w", err)
	}
	return &dirs{root: root}, nil
}

// Close closes every handle.
func (d *dirs) Close() {
	d.keep(0)
	_ = d.root.Close()
}

func (d *dirs) keep(n int) {
	for len(d.open) > n {
		_ = d.open[len(d.open)-1].root.Close()
		d.open = d.open[:len(d.open)-1]
	}
}

// at returns the handle of a directory, "" or "a/b", until the next call. It is
// cheap for directories near the one before.
func (d *dirs) at(dir string) (*os.Root, error) {
	var parts []string
	if dir != "" {
		parts = strings.Split(dir, "/")
	}
	n := 0
	for n < len(parts) && n < len(d.open) && parts[n] == d.open[n].name {
		n++
	}
	d.keep(n)
	here := d.root
	if n > 0 {
		here = d.open[n-1].root
	}
	for _, name := range parts[n:] {
		next, err := enter(here, name)
		if err != nil {
			return nil, err
		}
		d.open = append(d.open, openDir{name, next})
		here = next
	}
	return here, nil
}

// enter opens a directory below another, which must not be a link.
func enter(here *os.Root, name string) (*os.Root, error) {
	before, err := here.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !before.IsDir() {
		return nil, errNotDir
	}
	next, err := here.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	after, err := next.Stat(".")
	if err == nil && !os.SameFile(before, after) {
		err = errChanged
	}
	if err != nil {
		return nil, errors.Join(err, next.Close())
	}
	return next, nil
}

// list returns what is in a directory, by name.
func (d *dirs) list(dir string, limit int) ([]fs.DirEntry, error) {
	here, err := d.at(dir)
	if err != nil {
		return nil, err
	}
	f, err := here.Open(".")
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
			return nil, fmt.Errorf("%w: there are more than %d files", ErrTooLarge, maxWorkFiles)
		case err == io.EOF || err == nil && len(some) == 0:
			sort.Slice(all, func(i, j int) bool { return all[i].Name() < all[j].Name() })
			return all, nil
		case err != nil:
			return nil, err
		}
	}
}

// lstat says what a name is, as it is now.
func (d *dirs) lstat(name string) (fs.FileInfo, error) {
	here, err := d.at(parent(name))
	if err != nil {
		return nil, err
	}
	return here.Lstat(path.Base(name))
}

// file opens an ordinary file, without blocking and not through a link.
func (d *dirs) file(name string) (*os.File, fs.FileInfo, error) {
	here, err := d.at(parent(name))
	if err != nil {
		return nil, nil, err
	}
	base := path.Base(name)
	before, err := here.Lstat(base)
	if err != nil {
		return nil, nil, err
	}
	if !before.Mode().IsRegular() {
		return nil, nil, errChanged
	}
	f, err := here.OpenFile(base, os.O_RDONLY|openNonblock, 0)
	if err != nil {
		return nil, nil, err
	}
	after, err := f.Stat()
	if err == nil && !os.SameFile(before, after) {
		err = errChanged
	}
	if err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	return f, after, nil
}

// link reads the target of a link, as data.
func (d *dirs) link(name string) (string, error) {
	here, err := d.at(parent(name))
	if err != nil {
		return "", err
	}
	return here.Readlink(path.Base(name))
}

// parent is the directory that a path is in, "" for the top.
func parent(name string) string {
	i := strings.LastIndexByte(name, '/')
	if i < 0 {
		return ""
	}
	return name[:i]
}
