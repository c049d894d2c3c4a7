package gitrepo

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// objectStore lists the files in the directories of a clone's objects, as they were at first.
type objectStore struct {
	seen time.Time
	dirs []objectDir
}

// objectDir is a directory of objects: the clone's own, or one from which it borrows objects.
type objectDir struct {
	path  string
	files []objectFile
}

// objectFile is a pack or a single object.
type objectFile struct {
	name string // its path in the objectDir
	info fs.FileInfo
}

// inspectStore looks at the files that git may open in object directories, and lists the packs and
// objects. It returns an error if a file is not an ordinary one: git would wait for the other end
// of a FIFO, and read a device without end.
func inspectStore(paths []string) (*objectStore, error) {
	s := &objectStore{seen: time.Now()}
	for _, path := range paths {
		dir := objectDir{path: path}
		if err := dir.inspectAll(); err != nil {
			return nil, err
		}
		s.dirs = append(s.dirs, dir)
	}
	return s, nil
}

// inspectAll inspects the directories in which git keeps files.
func (d *objectDir) inspectAll() error {
	subs, err := d.inspect(".")
	if err != nil {
		return err
	}
	for _, sub := range subs {
		if sub != "pack" && sub != "info" && len(sub) != 2 {
			continue
		}
		below, err := d.inspect(sub)
		if err != nil {
			return err
		}
		if graphs := filepath.Join("info", "commit-graphs"); slices.Contains(below, graphs) {
			if _, err := d.inspect(graphs); err != nil {
				return err
			}
		}
	}
	return nil
}

// inspect adds the packs and objects in the directory sub below d to d.files. It returns the
// directories in sub.
func (d *objectDir) inspect(sub string) (subs []string, err error) {
	entries, err := os.ReadDir(filepath.Join(d.path, sub))
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		name := filepath.Join(sub, e.Name())
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue // it was temporary
		}
		if err == nil && info.Mode().Type() == fs.ModeSymlink {
			info, err = os.Stat(filepath.Join(d.path, name))
		}
		switch {
		case err != nil:
			return nil, fmt.Errorf("the objects of the clone cannot be read: %w", err)
		case info.IsDir():
			subs = append(subs, name)
		case !info.Mode().IsRegular():
			return nil, fmt.Errorf("%s is not an ordinary file: remove it from the clone, or check the repository out again", filepath.Join(d.path, name))
		case !strings.HasPrefix(sub, "info"):
			d.files = append(d.files, objectFile{name, info})
		}
	}
	return subs, nil
}

// restore resets the times of the files that git has changed since. Instead of writing an object
// that it can borrow, git marks the borrowed file as used, by its time.
func (s *objectStore) restore() error {
	var failed error
	for _, dir := range s.dirs {
		root, err := os.OpenRoot(dir.path)
		if err != nil {
			continue // it was removed
		}
		for _, f := range dir.files {
			failed = errors.Join(failed, f.restore(root, s.seen))
		}
		_ = root.Close()
	}
	return failed
}

// restore resets a file's time of modification, if nothing else has changed and the new time is
// after the given one. For a link that is the time of the file that it leads to, as it is for git.
func (f objectFile) restore(root *os.Root, after time.Time) error {
	now, err := root.Lstat(f.name)
	if err != nil || now.Mode().Type() == fs.ModeSymlink { // an error, too, where a directory is a link that leads out of root
		path, err := filepath.EvalSymlinks(filepath.Join(root.Name(), f.name))
		if err != nil {
			return nil // it was removed
		}
		if root, err = os.OpenRoot(filepath.Dir(path)); err != nil {
			return nil
		}
		defer root.Close()
		f.name = filepath.Base(path)
		now, err = root.Lstat(f.name)
		if err != nil {
			return nil
		}
	}
	if !os.SameFile(now, f.info) || now.Size() != f.info.Size() {
		return nil // it is another file now
	}
	// Times of files may lag behind the clock by its granularity.
	const granularity = 20 * time.Millisecond
	if now.ModTime().Equal(f.info.ModTime()) || now.ModTime().Before(after.Add(-granularity)) {
		return nil
	}
	return root.Chtimes(f.name, time.Time{}, f.info.ModTime())
}
