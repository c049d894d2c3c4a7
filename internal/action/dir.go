package action

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agent-airlock/airlock/internal/nofollow"
)

// Dir is a directory whose content others may change at the same time, such as the
// workspace: below it no link is followed, in any part of a path.
type Dir struct{ root *os.Root }

// OpenDir opens the directory.
func OpenDir(path string) (*Dir, error) {
	if path == "" {
		return nil, errors.New("no directory is given: GITHUB_WORKSPACE is not set")
	}
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, explain(path, err)
	}
	return &Dir{root}, nil
}

// Close closes the directory.
func (d *Dir) Close() error { return d.root.Close() }

// Open opens an ordinary file below the directory, without blocking; limit is how
// many bytes it may have. The name is relative to the directory, or absolute and
// inside it.
func (d *Dir) Open(name string, limit int64) (*File, error) {
	parent, base, err := d.walk(name)
	if err != nil {
		return nil, err
	}
	defer parent.Close()
	f, info, err := nofollow.Open(parent, base, os.O_RDONLY)
	if err != nil {
		return nil, explain(name, err)
	}
	return opened(name, f, info, limit)
}

// Read reads an ordinary file below the directory; see Open.
func (d *Dir) Read(name string, limit int64) ([]byte, error) {
	f, err := d.Open(name, limit)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.ReadAll()
}

// walk opens the directory of the named file, one part of the path at a time, so
// that none of them is a link.
func (d *Dir) walk(name string) (parent *os.Root, base string, err error) {
	rel, err := d.relative(name)
	if err != nil {
		return nil, "", err
	}
	parts := strings.Split(filepath.ToSlash(rel), "/")
	if parent, err = d.root.OpenRoot("."); err != nil {
		return nil, "", explain(name, err)
	}
	for i, part := range parts[:len(parts)-1] {
		next, err := enter(parent, part, strings.Join(parts[:i+1], "/"))
		_ = parent.Close()
		if err != nil {
			return nil, "", err
		}
		parent = next
	}
	return parent, parts[len(parts)-1], nil
}

// enter opens a directory in parent, and refuses a link to one. Errors call it shownName.
func enter(parent *os.Root, name, shownName string) (*os.Root, error) {
	dir, err := nofollow.OpenDir(parent, name)
	kind, isOther := errors.AsType[*nofollow.KindError](err)
	switch {
	case isOther && kind.Found == fs.ModeSymlink:
		return nil, &FileError{shownName, "is a link", "links are not followed here; give the path of the directory itself", nil}
	case isOther:
		return nil, &FileError{shownName, "is not a directory", "check the path", nil}
	case err != nil:
		return nil, explain(shownName, err)
	}
	return dir, nil
}

// relative returns the name below the directory.
func (d *Dir) relative(name string) (string, error) {
	rel := filepath.Clean(name)
	if filepath.IsAbs(name) {
		base, err := filepath.Abs(d.root.Name())
		if err == nil {
			rel, err = filepath.Rel(base, rel)
		}
		if err != nil {
			return "", explain(name, err)
		}
	}
	if name == "" {
		return "", errors.New("no file is named")
	}
	if !filepath.IsLocal(rel) {
		return "", &FileError{name, "lies outside of " + d.root.Name(), "give a path inside it; other paths of the runner are not visible in a container", nil}
	}
	if rel == "." {
		return "", &FileError{name, "is a directory", "name a file in it", nil}
	}
	return rel, nil
}

// Mkdir makes a directory below this one, unless it exists: mode 0755 less the
// umask and, when this process is root, with the owner of the directory above. A
// link of that name is refused.
func (d *Dir) Mkdir(name string) error {
	parent, base, err := d.walk(name)
	if err != nil {
		return err
	}
	defer parent.Close()
	err = parent.Mkdir(base, 0o755)
	existed := errors.Is(err, fs.ErrExist)
	if err != nil && !existed {
		return explain(name, err)
	}
	dir, err := enter(parent, base, name)
	if err != nil {
		return err
	}
	defer dir.Close()
	if existed {
		return nil
	}
	info, err := parent.Stat(".")
	if err != nil {
		return explain(name, err)
	}
	f, err := dir.OpenFile(".", os.O_RDONLY, 0)
	if err != nil {
		return explain(name, err)
	}
	defer f.Close()
	return giveTo(f, info)
}

// List returns the names of everything but directories in a directory below this one, sorted. More
// than limit entries are an error. Links in the path are not followed.
func (d *Dir) List(name string, limit int) ([]string, error) {
	parent, base, err := d.walk(name)
	if err != nil {
		return nil, err
	}
	defer parent.Close()
	dir, err := enter(parent, base, name)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	f, err := dir.Open(".")
	if err != nil {
		return nil, explain(name, err)
	}
	defer f.Close()
	entries, err := f.ReadDir(limit + 1)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, explain(name, err)
	}
	if len(entries) > limit {
		return nil, &FileError{name, fmt.Sprintf("has more than %d entries", limit), "look at it yourself", nil}
	}
	var names []string
	for _, e := range entries {
		if !e.IsDir() {
			names = append(names, e.Name())
		}
	}
	slices.Sort(names)
	return names, nil
}
