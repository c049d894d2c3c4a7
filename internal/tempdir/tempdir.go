// Package tempdir makes temporary directories. On Unix, those of a killed process do not stay for
// ever: they are removed when the next one is made in the same place.
package tempdir

import (
	"cmp"
	"errors"
	"os"
	"path/filepath"
)

// Dir is a temporary directory, which is in use until Close, or until this process ends.
type Dir struct {
	Path string // absolute

	lock   *os.File // nil where the system has no locks
	remove func(string) error
}

// Make makes a directory below parent ("": the system's for temporary files), whose name begins
// with prefix and which only this user may enter. On Unix it contains a file called lock, or
// no-lock if the file system has no locks. remove removes a directory with everything in it; nil is
// os.RemoveAll.
//
// Before that, Make removes up to 100 directories of killed processes: directories with the same
// prefix whose lock nobody has, and directories that are an hour old and have no final name yet.
// They must belong to this user, and nobody else may write to them. Where the system is not a Unix,
// the directories of killed processes stay.
func Make(parent, prefix string, remove func(string) error) (*Dir, error) {
	parent, err := filepath.Abs(cmp.Or(parent, os.TempDir()))
	if err != nil {
		return nil, err
	}
	if remove == nil {
		remove = os.RemoveAll
	}
	path, lock, err := makeTemp(parent, prefix, remove)
	if err != nil {
		return nil, err
	}
	return &Dir{path, lock, remove}, nil
}

// lockName is the name of the file whose lock marks a directory as in use.
const lockName = "lock"

// removeDir removes a directory with everything in it, the lock last. If this process is killed
// meanwhile, the next process finds an unlocked directory and goes on.
func removeDir(path string, remove func(string) error) error {
	entries, err := os.ReadDir(path)
	if err != nil {
		return remove(path)
	}
	for _, e := range entries {
		if e.Name() != lockName {
			err = errors.Join(err, remove(filepath.Join(path, e.Name())))
		}
	}
	if err != nil {
		return err
	}
	return remove(path)
}

// Close removes the directory. d may be nil.
func (d *Dir) Close() error {
	if d == nil {
		return nil
	}
	err := removeDir(d.Path, d.remove)
	if d.lock != nil {
		err = errors.Join(err, d.lock.Close())
		d.lock = nil
	}
	return err
}
