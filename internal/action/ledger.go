package action

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/agent-airlock/airlock/internal/filelock"
)

// Ledger records with which items a process of a workflow run has begun. A script can try again
// within one attempt of its job, and so can a person in a terminal. The second process must know
// that there was a first one, whose changes are on GitHub even if GitHub does not list them yet.
// And it must not work while the first one does. The records are empty files; a lock on another
// file lasts as long as the process works.
type Ledger struct {
	// The records are in the first of these directories in which a file can be made. The caches,
	// which come last, are themselves made where they are missing.
	dirs, caches []string
	scope        string // distinguishes the keys of different servers
}

// ErrAtWork reports that another process is at work with the same keys.
var ErrAtWork = errors.New("another process is at work with the same items of this attempt of the workflow run; run this again when it has ended, and what it wrote is found; processes that are to work side by side each need a name of their own (input \"name\", or --name)")

// ledgerPrefix begins the names of the records.
const ledgerPrefix = "airlock-begun-"

// ledgerLocks is the name of the file whose bytes are locked, one for each key.
const ledgerLocks = "airlock-at-work"

// ledgerLife is how long a record in a cache directory counts: longer than any process that may still
// be at work.
const ledgerLife = 24 * time.Hour

// LedgerOf returns the ledger in the runner's temporary directory, which lives as long as the job.
// A container of an action may not have it (actions/runner, issue 1984), but shares its home
// directory with those of other steps. In a terminal the ledger is in the user's cache directory.
// Without any of these directories, nothing is recorded.
func LedgerOf(env Env, getenv func(string) string) Ledger {
	l := Ledger{scope: env.APIURL}
	if env.OnRunner {
		l.dirs = []string{env.Temp, getenv("HOME")}
		return l
	}
	for _, cache := range []string{getenv("XDG_CACHE_HOME"), filepath.Join(getenv("HOME"), ".cache"), getenv("LocalAppData")} {
		if filepath.IsAbs(cache) { // otherwise the variable is not set, or is of no use
			l.caches = append(l.caches, filepath.Join(cache, "airlock"))
		}
	}
	return l
}

// Begin records for each key, such as that of an item, that this process begins with it, and
// reports whether another process has begun with one of them before. The error is ErrAtWork if that
// process has not called end yet; after any other error, what was begun before is not known. Where
// the file system has no locks, a process counts as ended.
func (l Ledger) Begin(keys []string) (before bool, end func(), err error) {
	end = func() {}
	if len(keys) == 0 {
		return false, end, nil
	}
	sums := make([][sha256.Size]byte, len(keys))
	for i, key := range keys {
		sums[i] = sha256.Sum256([]byte(l.scope + "\x00" + key))
	}
	for i, dir := range slices.Concat(l.dirs, l.caches) {
		if i >= len(l.dirs) {
			_ = os.MkdirAll(dir, 0o700) // record reports what cannot be used
			forget(dir)
		}
		if before, end, err = l.begin(dir, sums); !isUnusable(err) {
			return before, end, err
		}
	}
	return false, end, nil
}

// begin is Begin in a directory.
func (l Ledger) begin(dir string, sums [][sha256.Size]byte) (before bool, end func(), err error) {
	end = func() {}
	owner, err := os.Stat(dir)
	if err != nil {
		return false, end, err
	}
	if locks := openLocks(dir, owner); locks != nil {
		if isAtWork(locks, sums) {
			_ = locks.Close()
			return false, end, ErrAtWork
		}
		end = func() { _ = locks.Close() }
	}
	before, err = record(dir, owner, sums)
	return before, end, err
}

// openLocks opens the file of the locks; nil where that cannot be done. It follows no link, because
// others may be able to write in the directory.
func openLocks(dir string, owner fs.FileInfo) *os.File {
	name := filepath.Join(dir, ledgerLocks)
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err == nil {
		_ = giveTo(f, owner) // a user who cannot open the file works without it
		return f
	}
	if f, err = os.OpenFile(name, os.O_RDWR|openNofollow|syscall.O_NONBLOCK, 0); err != nil {
		return nil
	}
	return f
}

// isAtWork locks a byte for each key, and reports whether another process has locked one of them. It
// locks them in the order of their offsets, so that of several processes one gets all of its bytes.
func isAtWork(locks *os.File, sums [][sha256.Size]byte) bool {
	var places []int64
	for _, sum := range sums {
		places = append(places, int64(binary.BigEndian.Uint64(sum[:])>>2)) // beyond 1<<62 some systems have no place
	}
	slices.Sort(places)
	for _, place := range slices.Compact(places) {
		if err := filelock.TryLock(locks, place); err != nil {
			return errors.Is(err, filelock.ErrHeld)
		}
	}
	return false
}

// record makes the records in a directory, and reports whether one of them was there.
func record(dir string, owner fs.FileInfo, sums [][sha256.Size]byte) (before bool, err error) {
	for _, sum := range sums {
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

// isUnusable reports whether an error means that this process can make no files in a directory. An
// error that may be gone the next time, such as that of a full disk, does not count.
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
