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

// objectStore is what was in the directories of a clone's objects when they were first looked
// at.
type objectStore struct {
	seen  time.Time
	files []storeFile
}

// storeFile is a pack or a single object.
type storeFile struct {
	dir, name string // the object directory, and the path below it
	info      fs.FileInfo
}

// inspectStore lists the files in object directories that git may open. It returns an error
// if one of them is not an ordinary file: git would wait for the other end of a FIFO, and read
// a device without end.
func inspectStore(dirs []string) (*objectStore, error) {
	s := &objectStore{seen: time.Now()}
	for _, dir := range dirs {
		subs, err := s.inspect(dir, ".")
		if err != nil {
			return nil, err
		}
		for _, sub := range subs {
			if sub != "pack" && sub != "info" && len(sub) != 2 {
				continue
			}
			below, err := s.inspect(dir, sub)
			if err == nil && sub == "info" && slices.Contains(below, filepath.Join("info", "commit-graphs")) {
				_, err = s.inspect(dir, filepath.Join("info", "commit-graphs"))
			}
			if err != nil {
				return nil, err
			}
		}
	}
	return s, nil
}

// inspect looks at what is in a directory below an object directory, and returns the
// directories in it.
func (s *objectStore) inspect(dir, sub string) (subs []string, err error) {
	entries, err := os.ReadDir(filepath.Join(dir, sub))
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
			info, err = os.Stat(filepath.Join(dir, name))
		}
		switch {
		case err != nil:
			return nil, fmt.Errorf("the objects of the clone cannot be read: %w", err)
		case info.IsDir():
			subs = append(subs, name)
		case !info.Mode().IsRegular():
			return nil, fmt.Errorf("%s is not an ordinary file: remove it from the clone, or check the repository out again", filepath.Join(dir, name))
		case !strings.HasPrefix(sub, "info"):
			s.files = append(s.files, storeFile{dir, name, info})
		}
	}
	return subs, nil
}

// restore gives the files back the times that git has changed since. Instead of writing an
// object that it can borrow, git marks the borrowed file as used, by its time.
func (s *objectStore) restore() error {
	var failed error
	byDir := slices.Clone(s.files)
	for len(byDir) > 0 {
		dir := byDir[0].dir
		n := slices.IndexFunc(byDir, func(f storeFile) bool { return f.dir != dir })
		if n < 0 {
			n = len(byDir)
		}
		if root, err := os.OpenRoot(dir); err == nil { // otherwise it was removed
			for _, f := range byDir[:n] {
				failed = errors.Join(failed, f.restore(root, s.seen))
			}
			_ = root.Close()
		}
		byDir = byDir[n:]
	}
	return failed
}

// restore gives a file back its time of modification, if nothing but that time has changed, and
// the new one is after the given time.
func (f storeFile) restore(root *os.Root, after time.Time) error {
	// Times of files may lag behind the clock by its granularity.
	const granularity = 20 * time.Millisecond
	now, err := root.Lstat(f.name)
	if err != nil || !os.SameFile(now, f.info) || now.Size() != f.info.Size() ||
		now.ModTime().Equal(f.info.ModTime()) || now.ModTime().Before(after.Add(-granularity)) {
		return nil
	}
	return root.Chtimes(f.name, time.Time{}, f.info.ModTime())
}
