package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"

	sqlite "modernc.org/sqlite"
	sqlitelib "modernc.org/sqlite/lib"
)

// applicationID marks a SQLite file as Airlock's ("Airl" in ASCII), so that a file of
// another program is not taken for an empty store.
const applicationID = 0x4169726c

// openSQLite opens or makes the file, which only its owner can read. It has one
// connection, because SQLite has one writer: with several, writers would wait for each
// other without order and some would fail. A transaction takes the write lock when it
// begins, and waits for those of other processes up to 10 s.
func openSQLite(ctx context.Context, path string) (*Store, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	s := &Store{name: path, path: path}
	if err := prepareFile(path); err != nil {
		return nil, s.explain(err)
	}
	settings := url.Values{"_txlock": {"immediate"}, "_pragma": {"busy_timeout(10000)", "journal_mode(WAL)", "synchronous(NORMAL)", "foreign_keys(ON)"}}
	s.sqlite, err = sql.Open("sqlite", "file:"+(&url.URL{Path: filepath.ToSlash(path)}).EscapedPath()+"?"+settings.Encode())
	if err != nil {
		return nil, s.explain(err)
	}
	s.sqlite.SetMaxOpenConns(1)
	s.sqlite.SetMaxIdleConns(1)
	s.sqlite.SetConnMaxLifetime(0)
	s.Querier = sqliteConn{s.sqlite}
	s.begin = func(ctx context.Context) (finisher, error) {
		tx, err := s.sqlite.BeginTx(ctx, nil)
		return sqliteTx{sqliteConn{tx}, tx}, err
	}
	if err := s.claim(ctx); err != nil {
		s.Close()
		return nil, s.explain(err)
	}
	return s, nil
}

// prepareFile makes the file and its directory unless they are there. SQLite gives the
// files that it puts next to it the same mode.
func prepareFile(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err == nil {
		return file.Close()
	}
	if !errors.Is(err, fs.ErrExist) {
		return err
	}
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return errors.New("it is not a regular file: name another with --store")
	}
	if info.Mode().Perm()&0o077 != 0 {
		return os.Chmod(path, 0o600)
	}
	return nil
}

// claim marks a file that holds nothing yet as a store, and refuses that of another
// program.
func (s *Store) claim(ctx context.Context) error {
	var id int64
	if err := s.QueryRow(ctx, `PRAGMA application_id`).Scan(&id); err != nil || id == applicationID {
		return err
	}
	var tables int64
	if err := s.QueryRow(ctx, `SELECT count(*) FROM sqlite_schema`).Scan(&tables); err != nil {
		return err
	}
	if id != 0 || tables > 0 {
		return errors.New("it is a database of another program: name another file with --store")
	}
	_, err := s.Exec(ctx, fmt.Sprintf(`PRAGMA application_id = %d`, applicationID))
	return err
}

// explain adds the store's name to an error, and what to do about it.
func (s *Store) explain(err error) error {
	if err == nil {
		return nil
	}
	var failed *sqlite.Error
	advice := ""
	if errors.As(err, &failed) {
		switch failed.Code() & 0xff {
		case sqlitelib.SQLITE_BUSY, sqlitelib.SQLITE_LOCKED:
			advice = "; another process has been writing to it for more than 10 s: see which one uses it, and try again"
		case sqlitelib.SQLITE_FULL:
			advice = "; make room on its disk, and try again: nothing that was recorded is lost"
		case sqlitelib.SQLITE_NOTADB:
			advice = "; it is not a store: name another file with --store"
		case sqlitelib.SQLITE_CORRUPT:
			advice = "; it is damaged: restore it from a copy, or name another file with --store"
		case sqlitelib.SQLITE_READONLY, sqlitelib.SQLITE_CANTOPEN, sqlitelib.SQLITE_PERM:
			advice = "; let this user write to the file and its directory, or name another with --store"
		}
	}
	return fmt.Errorf("the store %s: %w%s", s.name, err, advice)
}
