package store

import (
	"context"
	"errors"
	"fmt"
	"net/url"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// openPostgres connects to a database. Airlock's tables are in its schema "airlock",
// apart from the engine's.
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
	if s.pool, err = pgxpool.NewWithConfig(ctx, cfg); err != nil {
		return nil, s.explain(err)
	}
	if err := s.pool.Ping(ctx); err != nil {
		s.pool.Close()
		return nil, fmt.Errorf("the store %s cannot be reached: %w: start the database, or correct --store", s.name, withoutURL(err))
	}
	s.Querier = postgresConn{s.pool}
	s.begin = func(ctx context.Context) (finisher, error) {
		tx, err := s.pool.BeginTx(ctx, pgx.TxOptions{})
		return postgresTx{postgresConn{tx}, tx}, err
	}
	return s, nil
}

// withoutURL returns the innermost error: pgx's own repeat the user and the database.
func withoutURL(err error) error {
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			return err
		}
		err = inner
	}
}
