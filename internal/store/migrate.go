package store

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// Schema is the tables of one package. The package that owns rows declares its schema
// and the program passes all of them to Open:
//
//	var Schema = store.Schema{Package: "loops", Steps: []store.Step{
//		store.Both(`CREATE TABLE loops (id TEXT PRIMARY KEY, …)`),
//		{SQLite: `…`, Postgres: `…`}, // where the databases differ
//	}}
//
// A step that has been released never changes: what comes later is a new step at the
// end. Open runs the steps that a store lacks, each package's in one transaction, and
// refuses a store that has more steps than the program knows. A package that Open is not
// given keeps its tables.
type Schema struct {
	Package string
	Steps   []Step
}

// Step is one change of a package's tables, as statements that ';' separates.
type Step struct{ SQLite, Postgres string }

// Both returns a step whose statements are the same for both databases.
func Both(statements string) Step { return Step{SQLite: statements, Postgres: statements} }

const createVersions = `CREATE TABLE IF NOT EXISTS airlock_versions (package TEXT PRIMARY KEY, version BIGINT NOT NULL)`

// migrateWithin bounds how long changes of tables take. They may have to go through all rows, or
// wait for another process that does.
const migrateWithin = time.Hour

// migrate brings the tables up to date. A store that is up to date is only read.
func (s *Store) migrate(ctx context.Context) error {
	versions, err := s.versions(ctx)
	if err != nil {
		return err
	}
	behind := false
	for _, schema := range s.schemas {
		if err := s.compatible(schema, versions[schema.Package]); err != nil {
			return err
		}
		behind = behind || versions[schema.Package] < int64(len(schema.Steps))
	}
	if !behind {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, migrateWithin)
	defer cancel()
	for _, schema := range s.schemas {
		if err := s.Transact(ctx, func(tx Tx) error { return s.upgrade(ctx, tx, schema) }); err != nil {
			return err
		}
	}
	return nil
}

// CheckVersion returns ErrNewer if a newer Airlock has changed the tables since the store was opened.
func (s *Store) CheckVersion(ctx context.Context) error {
	versions, err := s.versions(ctx)
	if err != nil {
		return s.Explain(err)
	}
	for _, schema := range s.schemas {
		if err := s.compatible(schema, versions[schema.Package]); err != nil {
			return err
		}
	}
	return nil
}

// versions returns how many steps each package's tables have taken.
func (s *Store) versions(ctx context.Context) (map[string]int64, error) {
	versions := map[string]int64{}
	read := func(r Row) error {
		var name string
		var version int64
		err := r.Scan(&name, &version)
		versions[name] = version
		return err
	}
	const query = `SELECT package, version FROM airlock_versions`
	if s.pool != nil { // without preparing the query, which would be another round trip
		var server *pgconn.PgError
		err := s.Query(ctx, read, query, pgx.QueryExecModeExec)
		if errors.As(err, &server) && server.Code == undefinedTable {
			err = nil
		}
		return versions, err
	}
	var n int64
	if err := s.QueryRow(ctx, `SELECT count(*) FROM sqlite_schema WHERE name = 'airlock_versions'`).Scan(&n); err != nil || n == 0 {
		return versions, err
	}
	return versions, s.Query(ctx, read, query)
}

// undefinedTable is the SQLSTATE of a table that is not there.
const undefinedTable = "42P01"

// compatible returns ErrNewer if the tables have more steps than the schema.
func (s *Store) compatible(schema Schema, version int64) error {
	if version <= int64(len(schema.Steps)) {
		return nil
	}
	return fmt.Errorf("%w: its tables of %s have version %d, and this Airlock knows up to %d: update Airlock, or name another store", ErrNewer, schema.Package, version, len(schema.Steps))
}

// upgrade runs the steps that a package's tables lack. Several processes may do so at
// once: one runs them, the others find them done.
func (s *Store) upgrade(ctx context.Context, tx Tx, schema Schema) error {
	if s.pool != nil {
		if _, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock($1)`, lockKey("migrate")); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, `CREATE SCHEMA IF NOT EXISTS airlock`); err != nil {
			return err
		}
	}
	if _, err := tx.Exec(ctx, createVersions); err != nil {
		return err
	}
	var version int64
	err := tx.QueryRow(ctx, `SELECT version FROM airlock_versions WHERE package = $1`, schema.Package).Scan(&version)
	if err != nil && !errors.Is(err, ErrNotFound) {
		return err
	}
	if err := s.compatible(schema, version); err != nil {
		return err
	}
	for i := version; i < int64(len(schema.Steps)); i++ {
		statements := schema.Steps[i].SQLite
		if s.pool != nil {
			statements = schema.Steps[i].Postgres
		}
		for statement := range strings.SplitSeq(statements, ";") {
			if strings.TrimSpace(statement) == "" {
				continue
			}
			if _, err := tx.Exec(ctx, statement); err != nil {
				return fmt.Errorf("step %d of the tables of %s: %w", i+1, schema.Package, err)
			}
		}
	}
	_, err = tx.Exec(ctx, `INSERT INTO airlock_versions (package, version) VALUES ($1, $2) ON CONFLICT (package) DO UPDATE SET version = excluded.version`, schema.Package, len(schema.Steps))
	return err
}
