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

	_ "modernc.org/sqlite" // the driver
)

// applicationID marks a SQLite file as Airlock's ("Airl" in ASCII), so that a file of
// another program is not taken for an empty store.
const applicationID = 0x4169726c

// openSQLite opens the file, which only its owner can read, after prepare has made or checked it.
// The store has one connection, because SQLite has one writer: with several, writers would wait for
// each other without order and some would fail. A transaction takes the write lock when it begins,
// and waits for those of other processes up to 10 s.
func openSQLite(ctx context.Context, path string, prepare func(path string) error) (*Store, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	s := &Store{name: path, path: path}
	if err := prepare(path); err != nil {
		if errors.Is(err, ErrAbsent) {
			return nil, err
		}
		return nil, s.Explain(err)
	}
	settings := url.Values{"_txlock": {"immediate"}, "_pragma": {"busy_timeout(10000)", "journal_mode(WAL)", "synchronous(NORMAL)", "foreign_keys(ON)"}}
	s.sqlite, err = sql.Open("sqlite", "file:"+(&url.URL{Path: filepath.ToSlash(path)}).EscapedPath()+"?"+settings.Encode())
	if err != nil {
		return nil, s.Explain(err)
	}
	s.sqlite.SetMaxOpenConns(1)
	s.sqlite.SetMaxIdleConns(1)
	s.sqlite.SetConnMaxLifetime(0)
	file, err := os.Stat(path)
	if err != nil {
		return nil, s.Explain(err)
	}
	inPlace := func() error {
		if now, err := os.Stat(path); err != nil || !os.SameFile(file, now) {
			return s.Explain(ErrGone)
		}
		return nil
	}
	s.Querier = placedConn{sqliteConn{s.sqlite}, inPlace, s.explainTrouble}
	s.begin = func(ctx context.Context) (finisher, error) {
		if err := inPlace(); err != nil {
			return nil, err
		}
		tx, err := s.sqlite.BeginTx(ctx, nil)
		if err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) {
			err = fmt.Errorf("%w: %w", errWaited, err)
		}
		return sqliteTx{sqliteConn{tx}, tx}, err
	}
	if err := s.claim(ctx); err != nil {
		s.Close()
		return nil, s.Explain(err)
	}
	return s, nil
}

// prepareFile makes the file and its directory unless they are there, and checks a file that is.
// SQLite gives its other files the mode of this one.
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
	err = checkFile(path)
	if errors.Is(err, ErrAbsent) { // and yet there is something
		return errors.New("it is a link that leads nowhere: remove the link, or name another with --store")
	}
	return err
}

// checkFile refuses a path that is not that of a regular file, and takes rights on the file from
// everybody but its owner.
func checkFile(path string) error {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w at %s", ErrAbsent, path)
	}
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

// placedConn runs statements as long as the file is in its place. SQLite would continue to use a
// file that was removed, and its records would be lost at the end of the process.
type placedConn struct {
	sqliteConn
	inPlace func() error
	explain func(error) error // explains trouble
}

func (c placedConn) Exec(ctx context.Context, statement string, args ...any) (int64, error) {
	if err := c.inPlace(); err != nil {
		return 0, err
	}
	n, err := c.sqliteConn.Exec(ctx, statement, args...)
	return n, c.explain(err)
}

func (c placedConn) QueryRow(ctx context.Context, query string, args ...any) Row {
	if err := c.inPlace(); err != nil {
		return failedRow{err}
	}
	return explainedRow{c.sqliteConn.QueryRow(ctx, query, args...), c.explain}
}

func (c placedConn) Query(ctx context.Context, each func(Row) error, query string, args ...any) error {
	if err := c.inPlace(); err != nil {
		return err
	}
	return c.explain(c.sqliteConn.Query(ctx, each, query, args...))
}

// explainedRow is a row whose Scan explains trouble.
type explainedRow struct {
	row     Row
	explain func(error) error
}

func (r explainedRow) Scan(into ...any) error { return r.explain(r.row.Scan(into...)) }

// failedRow is the row of a query that was not run.
type failedRow struct{ err error }

func (r failedRow) Scan(...any) error { return r.err }

// claim marks an empty file as a store, and refuses the file of another program.
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

// applySQLite runs statements. It parses statements with the same text once, because parsing takes
// longer than running.
func applySQLite(ctx context.Context, tx *sql.Tx, statements []Statement) (changed []int64, err error) {
	parsed := map[string]*sql.Stmt{}
	for _, statement := range statements {
		stmt, ok := parsed[statement.Text]
		if !ok {
			if stmt, err = tx.PrepareContext(ctx, statement.Text); err != nil {
				return nil, err
			}
			defer stmt.Close()
			parsed[statement.Text] = stmt
		}
		result, err := stmt.ExecContext(ctx, statement.Args...)
		if err != nil {
			return nil, err
		}
		n, err := result.RowsAffected()
		if err != nil {
			return nil, err
		}
		changed = append(changed, n)
	}
	return changed, nil
}
