package store

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
	sqlite "modernc.org/sqlite"
	sqlitelib "modernc.org/sqlite/lib"
)

// Kind is what is wrong with a store that cannot carry out a statement now, although the
// statement is right. The same request may succeed later.
type Kind string

// The kinds of trouble.
const (
	Full        Kind = "full"        // no more can be written
	Busy        Kind = "locked"      // another process has been writing for too long
	Unreachable Kind = "unreachable" // the database does not answer, or its file cannot be used
	Damaged     Kind = "damaged"
)

// Trouble returns what is wrong with the store according to an error of a statement or a
// transaction; "" if the error is about something else.
func Trouble(err error) Kind {
	lite, isLite := errors.AsType[*sqlite.Error](err)
	server, isServer := errors.AsType[*pgconn.PgError](err)
	_, isConnect := errors.AsType[*pgconn.ConnectError](err)
	_, isNetwork := errors.AsType[net.Error](err)
	switch {
	case err == nil:
		return ""
	case strings.Contains(err.Error(), fullText): // the engine passes on nothing but the text
		return Full
	case errors.Is(err, errWaited):
		return Busy
	case isLite:
		return sqliteTrouble(lite.Code())
	case isServer:
		return postgresTrouble(server.Code)
	case errors.Is(err, ErrGone), isConnect, isNetwork, errors.Is(err, context.DeadlineExceeded), pgconn.SafeToRetry(err),
		strings.Contains(err.Error(), "conn closed"), strings.Contains(err.Error(), "unexpected EOF"):
		return Unreachable
	}
	return ""
}

// errWaited reports that a transaction on SQLite did not get its turn before its deadline. Each of
// the transactions before it may have waited 10 s for another process.
var errWaited = errors.New("it is locked")

// fullText is how SQLite says that it cannot write any more.
const fullText = "database or disk is full"

func sqliteTrouble(code int) Kind {
	if code == sqlitelib.SQLITE_IOERR_SHMSIZE { // the file next to the store cannot grow
		return Full
	}
	switch code & 0xff {
	case sqlitelib.SQLITE_FULL:
		return Full
	case sqlitelib.SQLITE_BUSY, sqlitelib.SQLITE_LOCKED:
		return Busy
	case sqlitelib.SQLITE_IOERR, sqlitelib.SQLITE_READONLY, sqlitelib.SQLITE_CANTOPEN, sqlitelib.SQLITE_PERM, sqlitelib.SQLITE_INTERRUPT:
		return Unreachable
	case sqlitelib.SQLITE_CORRUPT, sqlitelib.SQLITE_NOTADB:
		return Damaged
	}
	return ""
}

// postgresTrouble reads an SQLSTATE. In most cases, its class is enough: the first two characters.
func postgresTrouble(code string) Kind {
	switch {
	case code == "53100": // disk full
		return Full
	case strings.HasPrefix(code, "40"), code == "55P03": // rolled back, lock not available
		return Busy
	case strings.HasPrefix(code, "08"), strings.HasPrefix(code, "53"), strings.HasPrefix(code, "57"), strings.HasPrefix(code, "58"), code == "25006":
		return Unreachable
	case strings.HasPrefix(code, "XX"):
		return Damaged
	}
	return ""
}

// Lasts reports whether an error of the store is about trouble that does not pass by itself:
// somebody has to see to the disk or the file, or another process has taken over.
func (s *Store) Lasts(err error) bool {
	if errors.Is(err, ErrLost) {
		return true
	}
	switch Trouble(err) {
	case Full, Damaged:
		return true
	case Unreachable: // a PostgreSQL server may come back
		return s.pool == nil && !errors.Is(err, context.DeadlineExceeded)
	}
	return false
}

// explainedError is an error with the text that Explain gives it.
type explainedError struct {
	text string
	err  error
}

func (e *explainedError) Error() string { return e.text }
func (e *explainedError) Unwrap() error { return e.err }

// Explain returns an error that names the store, what is wrong with it and, if that is known, what to
// do about it. err may be nil, or explained already.
func (s *Store) Explain(err error) error {
	if _, explained := errors.AsType[*explainedError](err); err == nil || explained {
		return err
	}
	kind := Trouble(err)
	detail := err
	lite, isLite := errors.AsType[*sqlite.Error](err)
	if isLite && kind != "" {
		detail = lite // what the engine says around it helps nobody
	}
	text := fmt.Sprintf("the store %s: %v", s.name, detail)
	switch {
	case kind == Full:
		text = fmt.Sprintf("the store %s cannot grow, because its disk is full: make room there, and try again; nothing that was recorded is lost", s.name)
	case !isLite && s.pool != nil && kind == Unreachable:
		text = fmt.Sprintf("the store %s does not answer: %v; %s", s.name, withoutURL(err), connectHint(err, "see to the database and the way to it: it is tried again until it answers"))
	case s.pool == nil && kind == Busy:
		text += "; another process has been writing to it for more than 10 s: see which one uses it, and try again"
	case isLite:
		text += sqliteHint(lite.Code(), kind)
	}
	return &explainedError{text, err}
}

// explainTrouble explains an error if it is about trouble with the store.
func (s *Store) explainTrouble(err error) error {
	if Trouble(err) == "" {
		return err
	}
	return s.Explain(err)
}

// sqliteHint returns the end of a message about a file of SQLite: what is wrong and what to do, "" if
// that is not known.
func sqliteHint(code int, kind Kind) string {
	switch {
	case code&0xff == sqlitelib.SQLITE_NOTADB:
		return "; it is not a store: name another file with --store"
	case kind == Damaged:
		return "; it is damaged: restore it from a copy, or name another file with --store"
	case code&0xff == sqlitelib.SQLITE_IOERR:
		return "; its disk fails: see to it, or name another file with --store"
	case kind == Unreachable && code&0xff != sqlitelib.SQLITE_INTERRUPT: // a deadline ended a statement
		return "; let this user write to the file and its directory, or name another with --store"
	}
	return ""
}

// ErrGone reports that the file of a SQLite store is no longer where it was: what would be
// written could not be found again.
var ErrGone = errors.New("its file was removed or replaced while it was open: put it back, or start again")
