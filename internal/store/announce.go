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

// Listen calls wake once when it has begun, and whenever somebody announces on a channel, until ctx
// ends or its connection, which is one of its own, breaks. Several announcements may lead to one
// call. Announcements to which nobody listens are lost, so that a caller must also look by itself
// from time to time. In a SQLite store, Listen only waits for ctx.
func (s *Store) Listen(ctx context.Context, channel string, wake func()) error {
	if s.pool == nil {
		<-ctx.Done()
		return context.Cause(ctx)
	}
	conn, err := pgx.ConnectConfig(ctx, s.pool.Config().ConnConfig)
	if err != nil {
		return s.Explain(err)
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseTimeout)
		defer cancel()
		_ = conn.Close(ctx)
	}()
	if _, err := (postgresConn{conn, s.Explain}).Exec(ctx, `LISTEN `+pgx.Identifier{"airlock_" + channel}.Sanitize()); err != nil {
		return s.Explain(err)
	}
	wake()
	for {
		quiet, cancel := context.WithTimeout(ctx, listenCheck)
		_, err := conn.WaitForNotification(quiet)
		cancel()
		if err == nil {
			wake()
			continue
		}
		if ctx.Err() == nil && quiet.Err() != nil { // nobody has announced anything: does it still work?
			_, err = (postgresConn{conn, s.Explain}).Exec(ctx, `SELECT 1`)
		}
		if err != nil {
			return s.Explain(err)
		}
	}
}

// listenCheck is the time without an announcement after which Listen checks its connection.
const listenCheck = 30 * time.Second
