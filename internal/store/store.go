// Package store keeps Airlock's own tables in a SQLite file or in PostgreSQL: it opens
// and migrates them, and runs transactions. It knows neither what the tables contain nor
// the engine that shares the database.
package store

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/jackc/pgx/v5/pgxpool"
)

// Store is an open store. Its methods may be used by several goroutines at once; Query,
// Exec and QueryRow run outside of any transaction.
type Store struct {
	Querier
	name   string // as people know it: a path, or a URL without its password
	path   string // of the SQLite file, "" for PostgreSQL
	sqlite *sql.DB
	pool   *pgxpool.Pool
	begin  func(context.Context) (finisher, error)

	schemas []Schema // of the tables that were brought up to date

	mu    sync.Mutex
	locks map[string]heldLock // what Lock has taken, by name
	waits func(error)         // see ReportWaits
}

// Open opens the store at a location: the path of a SQLite file, which is made if there
// is none, or the URL of a PostgreSQL database (postgres://…). Then it brings the tables
// of the schemas up to date. The caller closes the store.
//
// Errors name the store and the next step. ErrNewer is among them.
func Open(ctx context.Context, location string, schemas ...Schema) (*Store, error) {
	return open(ctx, location, prepareFile, schemas)
}

// OpenExisting is Open, but makes no file: without one, the error is ErrAbsent. A
// PostgreSQL database gets the tables that it lacks.
func OpenExisting(ctx context.Context, location string, schemas ...Schema) (*Store, error) {
	return open(ctx, location, checkFile, schemas)
}

// open opens a store. prepare makes or checks the file of a SQLite store before that.
func open(ctx context.Context, location string, prepare func(path string) error, schemas []Schema) (*Store, error) {
	var s *Store
	var err error
	if IsURL(location) {
		s, err = openPostgres(ctx, location)
	} else {
		s, err = openSQLite(ctx, location, prepare)
	}
	if err != nil {
		return nil, err
	}
	s.locks = map[string]heldLock{}
	if s.pool != nil {
		schemas = append(slices.Clip(schemas), lockSchema)
	}
	s.schemas = schemas
	if err := s.migrate(ctx); err != nil {
		s.Close()
		return nil, s.unreachable(err)
	}
	return s, nil
}

// IsURL reports whether a location is a PostgreSQL URL rather than a path.
func IsURL(location string) bool {
	return strings.HasPrefix(location, "postgres://") || strings.HasPrefix(location, "postgresql://")
}

// Close closes the store and gives up its locks. Closing it again does nothing.
func (s *Store) Close() {
	s.mu.Lock()
	held := s.locks
	s.locks = map[string]heldLock{}
	s.mu.Unlock()
	for _, l := range held {
		l.free()
	}
	if s.sqlite != nil {
		_ = s.sqlite.Close()
	}
	if s.pool != nil {
		s.pool.Close()
	}
}

// Name returns the location as people may read it: without a password.
func (s *Store) Name() string { return s.name }

// SQLite returns the database of a SQLite store, which has exactly one connection; nil
// for PostgreSQL. It is for the engine, which shares the database.
func (s *Store) SQLite() *sql.DB { return s.sqlite }

// Postgres returns the connections of a PostgreSQL store; nil for SQLite. It is for the
// engine, which shares the database.
func (s *Store) Postgres() *pgxpool.Pool { return s.pool }

// Now returns the SQL expression for the time by the database's clock, in milliseconds
// since 1970. Where processes of several machines compare times, only this one counts.
func (s *Store) Now() string {
	if s.sqlite != nil {
		return "CAST(unixepoch('subsec') * 1000 AS INTEGER)"
	}
	return "(extract(epoch FROM clock_timestamp()) * 1000)::bigint"
}

// Transact runs do in a transaction, which is committed unless do fails. In it, only tx
// may be used: SQLite has one connection, and the store's own methods would wait for it
// forever.
func (s *Store) Transact(ctx context.Context, do func(tx Tx) error) error {
	tx, err := s.begin(ctx)
	if err != nil {
		return s.Explain(err)
	}
	defer tx.rollback(context.WithoutCancel(ctx))
	if err := do(tx); err != nil {
		return s.explainTrouble(err)
	}
	if err := tx.commit(ctx); err != nil {
		return s.Explain(err)
	}
	return nil
}

// Statement is one statement with its arguments.
type Statement struct {
	Text string
	Args []any
}

// Apply runs statements in one transaction, and returns how many rows each has changed.
// PostgreSQL gets all of them at once, so that they cost one round trip.
func (s *Store) Apply(ctx context.Context, statements []Statement) (changed []int64, err error) {
	if s.pool != nil {
		changed, err = s.pipeline(ctx, statements)
		return changed, s.explainTrouble(err)
	}
	err = s.Transact(ctx, func(tx Tx) error {
		changed, err = applySQLite(ctx, tx.(sqliteTx).tx, statements)
		return err
	})
	return changed, err
}

// ErrNotFound reports that a query has no row. QueryRow's Scan returns it.
var ErrNotFound = sql.ErrNoRows

// ErrAbsent reports that there is no store.
var ErrAbsent = errors.New("there is no store")

// ErrNewer reports that a newer Airlock has written to the store.
var ErrNewer = errors.New("the store is of a newer Airlock")

// ErrLocked reports that another process, or another part of this one, holds a lock.
var ErrLocked = errors.New("the lock is held by another process")
