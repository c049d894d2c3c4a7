//go:build unix

package tempdir

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// newPrefix begins the names of directories that are not locked yet.
const newPrefix = "airlock-new-"

// tryLock takes the lock of an open file, or returns an error. Tests replace it.
var tryLock = func(f *os.File) error { return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) }

// makeTemp makes a private directory, and removes those of killed processes. The lock marks the new
// directory as in use while this process lives.
func makeTemp(parent, prefix string, remove func(string) error) (dir string, lock *os.File, err error) {
	removeAbandoned(parent, prefix, remove)
	made, err := os.MkdirTemp(parent, newPrefix)
	if err != nil {
		return "", nil, err
	}
	lock, err = os.OpenFile(filepath.Join(made, lockName), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		_ = os.RemoveAll(made)
		return "", nil, err
	}
	if tryLock(lock) != nil {
		// This file system has no locks. With another name, the file keeps others from removing the
		// directory: they find no lock that is free, and a directory that is not empty.
		_ = os.Rename(lock.Name(), filepath.Join(made, "no-lock"))
	}
	dir = filepath.Join(parent, prefix+strings.TrimPrefix(filepath.Base(made), newPrefix))
	if err := os.Rename(made, dir); err != nil {
		_ = lock.Close()
		_ = os.RemoveAll(made)
		return "", nil, err
	}
	return dir, lock, nil
}

// maxAbandoned is how many directories one call of Make removes at most. An empty directory whose
// name begins with the prefix does not count.
const maxAbandoned = 100

// removeAbandoned removes the directories that killed processes left: only directories of this
// user, to which nobody else may write, and whose lock is free. Instead of a free lock, a directory
// with a name that says that it is not locked yet must be an hour old. Links are not followed.
func removeAbandoned(parent, prefix string, remove func(string) error) {
	entries, err := os.ReadDir(parent)
	if err != nil {
		return
	}
	removed := 0
	for _, e := range entries {
		named, isNew := strings.HasPrefix(e.Name(), prefix), strings.HasPrefix(e.Name(), newPrefix)
		if !e.IsDir() || !named && !isNew {
			continue
		}
		if removeIfAbandoned(filepath.Join(parent, e.Name()), named, isNew, remove) {
			removed++
		}
		if removed == maxAbandoned {
			return
		}
	}
}

// removeIfAbandoned removes a directory if its process has ended, and reports whether the attempt
// counts for maxAbandoned. named reports whether the directory's name begins with the prefix; isNew,
// whether it begins with newPrefix.
func removeIfAbandoned(path string, named, isNew bool, remove func(string) error) bool {
	info, err := os.Lstat(path)
	if err != nil || !isOwn(info) {
		return false
	}
	age := time.Since(info.ModTime())
	if isNew && age < time.Hour {
		return false
	}
	if named {
		lock, err := os.OpenFile(filepath.Join(path, lockName), os.O_RDWR|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
		if errors.Is(err, fs.ErrNotExist) && age > time.Minute {
			_ = os.Remove(path) // succeeds if it is empty: its process was killed when only that was left to remove
		}
		if err != nil {
			return false
		}
		defer lock.Close() // after the directory is gone
		if tryLock(lock) != nil {
			return false
		}
	}
	_ = removeDir(path, remove)
	return true
}

// isOwn reports whether a directory belongs to this user, and others may at most pass through it.
func isOwn(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && info.IsDir() && info.Mode().Perm()&^0o011 == 0o700 && int(stat.Uid) == os.Geteuid()
}
