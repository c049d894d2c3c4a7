package store

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
)

// Announce wakes those who listen to a channel in any process. Only PostgreSQL has channels.
func (s *Store) Announce(ctx context.Context, channel string) error {
	if s.pool == nil {
		return nil
	}
	_, err := s.Exec(ctx, `SELECT pg_notify($1, '')`, "airlock_"+channel)
	return err
}

// Listen calls heard once when it has begun, and whenever somebody announces on a channel,
// until ctx ends or its connection, which is one of its own, breaks. Several announcements
// may be one call. Nothing is kept for who does not listen, so that a caller looks for what
// it waits for from time to time as well. In a SQLite store it waits for ctx alone.
func (s *Store) Listen(ctx context.Context, channel string, heard func()) error {
	if s.pool == nil {
		<-ctx.Done()
		return context.Cause(ctx)
	}
	conn, err := pgx.ConnectConfig(ctx, s.pool.Config().ConnConfig)
	if err != nil {
		return s.explain(err)
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseTimeout)
		defer cancel()
		_ = conn.Close(ctx)
	}()
	if _, err := (postgresConn{conn, s.explain}).Exec(ctx, `LISTEN `+pgx.Identifier{"airlock_" + channel}.Sanitize()); err != nil {
		return s.explain(err)
	}
	heard()
	for {
		quiet, cancel := context.WithTimeout(ctx, listenCheck)
		_, err := conn.WaitForNotification(quiet)
		cancel()
		switch {
		case err == nil:
			heard()
			continue
		case ctx.Err() == nil && quiet.Err() != nil:
			_, err = (postgresConn{conn, s.explain}).Exec(ctx, `SELECT 1`)
		}
		if err != nil {
			return s.explain(err)
		}
	}
}

// listenCheck is how often Listen sees whether its connection still passes anything on.
const listenCheck = 30 * time.Second
