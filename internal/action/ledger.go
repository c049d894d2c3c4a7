package action

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// Ledger records with which items a process of a workflow run has begun. A script can try again
// within one attempt of its job, and so can a person in a terminal: the second process must not
// take what GitHub does not list yet for what was never written. Its records are empty files.
type Ledger struct {
	dirs   []string // the first in which a file can be made has the records
	caches []string // likewise, made where they are not there
	scope  string
}

// ledgerPrefix begins the names of the records.
const ledgerPrefix = "airlock-begun-"

// ledgerLife is how long a record counts: longer than any process that may still be at work.
const ledgerLife = 24 * time.Hour

// LedgerOf returns the ledger in the runner's temporary directory, which lives as long as the job.
// A container of an action may not have it (actions/runner, issue 1984), but shares its home
// directory with those of other steps. In a terminal the ledger is in the user's cache directory.
// Where there is nothing of these, nothing is recorded.
func LedgerOf(env Env, getenv func(string) string) Ledger {
	l := Ledger{scope: env.APIURL}
	if env.OnRunner {
		l.dirs = []string{env.Temp, getenv("HOME")}
		return l
	}
	for _, cache := range [][]string{{getenv("XDG_CACHE_HOME")}, {getenv("HOME"), ".cache"}, {getenv("LocalAppData")}} {
		if dir := filepath.Join(append(cache, "airlock")...); cache[0] != "" && filepath.IsAbs(dir) {
			l.caches = append(l.caches, dir)
		}
	}
	return l
}

// Begin records for each key, such as that of an item, that this process begins with it, and
// reports whether another process has begun with one of them before. After an error that is not
// known.
func (l Ledger) Begin(keys []string) (before bool, err error) {
	if len(keys) == 0 {
		return false, nil
	}
	for i, dir := range slices.Concat(l.dirs, l.caches) {
		if i >= len(l.dirs) {
			_ = os.MkdirAll(dir, 0o700) // record reports what cannot be used
			forget(dir)
		}
		if before, err = l.record(dir, keys); !isUnusable(err) {
			return before, err
		}
	}
	return false, nil
}

// record is Begin in a directory.
func (l Ledger) record(dir string, keys []string) (before bool, err error) {
	owner, err := os.Stat(dir)
	if err != nil {
		return false, err
	}
	for _, key := range keys {
		sum := sha256.Sum256([]byte(l.scope + "\x00" + key))
		f, err := os.OpenFile(filepath.Join(dir, ledgerPrefix+hex.EncodeToString(sum[:16])), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		switch {
		case errors.Is(err, fs.ErrExist):
			before = true
		case err != nil:
			return before, err
		default:
			if err := errors.Join(giveTo(f, owner), f.Close()); err != nil {
				return before, err
			}
		}
	}
	return before, nil
}

// isUnusable reports whether an error means that this process can make no files in a directory, in
// contrast to what may be different the next time, such as a disk that is full.
func isUnusable(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) || errors.Is(err, syscall.ENOTDIR)
}

// forget removes the records that do not count any more.
func forget(dir string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		if info, err := e.Info(); err == nil && strings.HasPrefix(e.Name(), ledgerPrefix) && time.Since(info.ModTime()) > ledgerLife {
			_ = os.Remove(filepath.Join(dir, e.Name()))
		}
	}
}
