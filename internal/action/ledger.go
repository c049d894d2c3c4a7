package action

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Ledger records with which items a process of a workflow run has begun. A script can try again
// within one attempt of its job, and so can a person in a terminal: the second process must not
// take what GitHub does not list yet for what was never written. Its records are empty files.
type Ledger struct {
	dir   string // "" for none
	scope string
}

// ledgerPrefix begins the names of the records.
const ledgerPrefix = "airlock-begun-"

// ledgerLife is how long a record counts: longer than any process that may still be at work.
const ledgerLife = 24 * time.Hour

// LedgerOf returns the ledger in the runner's temporary directory, which lives as long as the job.
// Outside of a runner it is in the user's cache directory; where there is none, nothing is
// recorded.
func LedgerOf(env Env, getenv func(string) string) Ledger {
	l := Ledger{dir: env.Temp, scope: env.APIURL}
	if l.dir != "" || env.OnRunner {
		return l
	}
	for _, cache := range [][]string{{getenv("XDG_CACHE_HOME")}, {getenv("HOME"), ".cache"}, {getenv("LocalAppData")}} {
		dir := filepath.Join(append(cache, "airlock")...)
		if cache[0] != "" && filepath.IsAbs(dir) && os.MkdirAll(dir, 0o700) == nil {
			l.dir = dir
			l.forget()
			return l
		}
	}
	return l
}

// Begin records for each key, such as that of an item, that this process begins with it, and
// reports whether another process has begun with one of them before. After an error that is not
// known.
func (l Ledger) Begin(keys []string) (before bool, err error) {
	if l.dir == "" {
		return false, nil
	}
	for _, key := range keys {
		sum := sha256.Sum256([]byte(l.scope + "\x00" + key))
		f, err := os.OpenFile(filepath.Join(l.dir, ledgerPrefix+hex.EncodeToString(sum[:16])), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		switch {
		case errors.Is(err, fs.ErrExist):
			before = true
		case err != nil:
			return before, err
		default:
			if err := f.Close(); err != nil {
				return before, err
			}
		}
	}
	return before, nil
}

// forget removes the records that do not count any more.
func (l Ledger) forget() {
	entries, err := os.ReadDir(l.dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		if info, err := e.Info(); err == nil && strings.HasPrefix(e.Name(), ledgerPrefix) && time.Since(info.ModTime()) > ledgerLife {
			_ = os.Remove(filepath.Join(l.dir, e.Name()))
		}
	}
}
