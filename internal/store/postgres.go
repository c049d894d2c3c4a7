package store

import (
	"context"
	"errors"
	"fmt"
	"net/url"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// openPostgres returns the store in a database. It does not wait until it has reached the database.
// Airlock's tables are in the database's schema "airlock", apart from those of the engine
// that shares the database.
func openPostgres(ctx context.Context, location string) (*Store, error) {
	s := &Store{name: "PostgreSQL"}
	if u, err := url.Parse(location); err == nil {
		s.name = (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
	}
	cfg, err := pgxpool.ParseConfig(location)
	if err != nil {
		// pgx masks a password in its message, but not all that may be in a URL.
		return nil, fmt.Errorf("the store %s: its URL cannot be read: write it as postgres://USER:PASSWORD@HOST:PORT/DATABASE", s.name)
	}
	cfg.ConnConfig.RuntimeParams["search_path"] = "airlock"
	cfg.ConnConfig.RuntimeParams["application_name"] = "airlock"
	if cfg.ConnConfig.ConnectTimeout == 0 {
		cfg.ConnConfig.ConnectTimeout = answerWithin
	}
	if s.pool, err = pgxpool.NewWithConfig(ctx, cfg); err != nil {
		return nil, s.Explain(err)
	}
	s.Querier = postgresConn{s.pool, s.explainTrouble}
	s.begin = func(ctx context.Context) (finisher, error) {
		ctx, cancel := withDeadline(ctx)
		defer cancel()
		tx, err := s.pool.BeginTx(ctx, pgx.TxOptions{})
		return postgresTx{postgresConn{tx, s.explainTrouble}, tx}, err
	}
	return s, nil
}

// unreachable explains why a store could not be opened, which may be that its database cannot be
// reached.
func (s *Store) unreachable(err error) error {
	var connect *pgconn.ConnectError
	isUnreachable := errors.As(err, &connect) || Trouble(err) == Unreachable
	if s.pool == nil || !isUnreachable {
		return s.Explain(err)
	}
	return fmt.Errorf("the store %s cannot be reached: %w: %s", s.name, withoutURL(err), connectHint(err, "start the database, or correct --store"))
}

// tooManyConnections is the SQLSTATE of a server that has no connection left.
const tooManyConnections = "53300"

// connectHint returns what to do about a server that accepts no connection. It returns fallback
// unless the server has too many connections.
func connectHint(err error, fallback string) string {
	var server *pgconn.PgError
	if errors.As(err, &server) && server.Code == tooManyConnections {
		return "raise max_connections of the database, or lower pool_max_conns in the URLs of those who use it"
	}
	return fallback
}

// pipeline is Apply for PostgreSQL, where statements that are sent together are one
// transaction.
func (s *Store) pipeline(ctx context.Context, statements []Statement) (changed []int64, err error) {
	ctx, cancel := withDeadline(ctx)
	defer cancel()
	var batch pgx.Batch
	for _, statement := range statements {
		batch.Queue(statement.Text, statement.Args...)
	}
	results := s.pool.SendBatch(ctx, &batch)
	for range statements {
		tag, err := results.Exec()
		if err != nil {
			_ = results.Close() // it repeats the error
			return nil, err
		}
		changed = append(changed, tag.RowsAffected())
	}
	return changed, results.Close()
}

// withoutURL returns the innermost error, because errors that pgx puts around it repeat the user
// and the database. If there are several errors, such as one for each address or with TLS and
// without, it returns the last.
func withoutURL(err error) error {
	for {
		inner := errors.Unwrap(err)
		if several, ok := err.(interface{ Unwrap() []error }); ok {
			all := several.Unwrap()
			inner = all[len(all)-1]
		}
		if inner == nil {
			return err
		}
		err = inner
	}
}
