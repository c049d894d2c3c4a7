//go:build unix

package gitrepo

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// The names of directories of repositories, and of those that are not locked yet.
const (
	tempPrefix    = "airlock-git-"
	newTempPrefix = "airlock-new-"
)

// makeTemp makes a private directory for a repository, which the lock marks as in use while
// this process lives, and removes those of processes that were killed.
func makeTemp(parent string) (dir string, lock *os.File, err error) {
	if parent == "" {
		parent = os.TempDir()
	}
	removeAbandoned(parent)
	made, err := os.MkdirTemp(parent, newTempPrefix)
	if err != nil {
		return "", nil, err
	}
	lock, err = os.OpenFile(filepath.Join(made, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		_ = os.RemoveAll(made)
		return "", nil, err
	}
	if syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != nil {
		// This file system has no locks: nobody may take the directory for an abandoned one.
		_ = os.Remove(lock.Name())
	}
	dir = filepath.Join(parent, tempPrefix+strings.TrimPrefix(filepath.Base(made), newTempPrefix))
	if err := os.Rename(made, dir); err != nil {
		_ = lock.Close()
		_ = os.RemoveAll(made)
		return "", nil, err
	}
	return dir, lock, nil
}

// maxAbandoned is how many directories are removed at once.
const maxAbandoned = 100

// removeAbandoned removes the directories of repositories whose process ended without doing so:
// only those of this user, to which nobody else has access, and whose lock is free. Without
// one, they must be an hour old. It follows no links.
func removeAbandoned(parent string) {
	entries, err := os.ReadDir(parent)
	if err != nil {
		return
	}
	removed := 0
	for _, e := range entries {
		named, unlocked := strings.HasPrefix(e.Name(), tempPrefix), strings.HasPrefix(e.Name(), newTempPrefix)
		if !e.IsDir() || !named && !unlocked || removed == maxAbandoned {
			continue
		}
		path := filepath.Join(parent, e.Name())
		info, err := os.Lstat(path)
		if err != nil || !isPrivate(info) || unlocked && time.Since(info.ModTime()) < time.Hour {
			continue
		}
		if named {
			lock, err := os.OpenFile(filepath.Join(path, "lock"), os.O_RDWR|syscall.O_NOFOLLOW|openNonblock, 0)
			if err != nil {
				continue
			}
			err = syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
			defer lock.Close() // after the directory is gone
			if err != nil {
				continue
			}
		}
		_ = os.RemoveAll(path)
		removed++
	}
}

// isPrivate reports whether a directory belongs to this user and is open to nobody else.
func isPrivate(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && info.IsDir() && info.Mode().Perm() == 0o700 && int(stat.Uid) == os.Geteuid()
}
