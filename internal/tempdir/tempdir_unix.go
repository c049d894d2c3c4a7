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

// makeTemp makes a private directory, which the lock marks as in use while this process lives, and
// removes those of processes that were killed.
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
	if syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != nil {
		// This file system has no locks: nobody may take the directory for an abandoned one.
		_ = os.Remove(lock.Name())
	}
	dir = filepath.Join(parent, prefix+strings.TrimPrefix(filepath.Base(made), newPrefix))
	if err := os.Rename(made, dir); err != nil {
		_ = lock.Close()
		_ = os.RemoveAll(made)
		return "", nil, err
	}
	return dir, lock, nil
}

// maxAbandoned is how many directories are removed at once.
const maxAbandoned = 100

// removeAbandoned removes the directories whose process ended without doing so: only those of this
// user, to which nobody else may write, and whose lock is free. Before they are locked, they must
// be an hour old. It follows no links.
func removeAbandoned(parent, prefix string, remove func(string) error) {
	entries, err := os.ReadDir(parent)
	if err != nil {
		return
	}
	removed := 0
	for _, e := range entries {
		named, unlocked := strings.HasPrefix(e.Name(), prefix), strings.HasPrefix(e.Name(), newPrefix)
		if !e.IsDir() || !named && !unlocked || removed == maxAbandoned {
			continue
		}
		path := filepath.Join(parent, e.Name())
		info, err := os.Lstat(path)
		if err != nil || !isOwn(info) || unlocked && time.Since(info.ModTime()) < time.Hour {
			continue
		}
		if named {
			lock, err := os.OpenFile(filepath.Join(path, lockName), os.O_RDWR|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
			if errors.Is(err, fs.ErrNotExist) && time.Since(info.ModTime()) > time.Minute {
				_ = os.Remove(path) // its process was killed at the very end of removing it, if it is empty
			}
			if err != nil {
				continue
			}
			err = syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
			defer lock.Close() // after the directory is gone
			if err != nil {
				continue
			}
		}
		_ = removeDir(path, remove)
		removed++
	}
}

// isOwn reports whether a directory belongs to this user, and others may at most pass through it.
func isOwn(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && info.IsDir() && info.Mode().Perm()&^0o011 == 0o700 && int(stat.Uid) == os.Geteuid()
}
