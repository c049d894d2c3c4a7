package access

import (
	"context"
	"crypto/rand"
	"errors"
	"time"

	"github.com/agent-airlock/airlock/internal/store"
)

const (
	// SessionLife is how long a session lasts after somebody signed in.
	SessionLife = 12 * time.Hour
	// maxSessions is how many sessions a token can have at once; a further one ends the
	// oldest.
	maxSessions = 100
)

// SignIn begins a session for the holder of a token, and returns the session's secret, which
// stands for the token for SessionLife; ok is false if there is no such token. The session
// ends earlier with SignOut, and when the token is revoked.
func (t *Tokens) SignIn(ctx context.Context, token string) (secret string, g Grant, ok bool, err error) {
	g, ok, err = t.Check(ctx, token)
	if err != nil || !ok {
		return "", g, false, err
	}
	secret = rand.Text() + rand.Text()
	err = t.store.Transact(ctx, func(tx store.Tx) error {
		if _, err := tx.Exec(ctx, `DELETE FROM sessions WHERE expires <= `+t.store.Now()); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, `DELETE FROM sessions WHERE token = $1 AND hash NOT IN (SELECT hash FROM sessions WHERE token = $1 ORDER BY expires DESC, hash LIMIT $2)`, hash(token), maxSessions-1); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, `INSERT INTO sessions (hash, token, expires) VALUES ($1, $2, `+t.store.Now()+` + $3)`, hash(secret), hash(token), SessionLife.Milliseconds())
		return err
	})
	return secret, g, err == nil, err
}

// CheckSession returns what a session's token allows; ok is false if there is no such session, or
// if it has ended.
func (t *Tokens) CheckSession(ctx context.Context, secret string) (g Grant, ok bool, err error) {
	if secret == "" {
		return g, false, nil
	}
	var token string
	err = t.store.QueryRow(ctx, `SELECT token FROM sessions WHERE hash = $1 AND expires > `+t.store.Now(), hash(secret)).Scan(&token)
	if errors.Is(err, store.ErrNotFound) {
		return g, false, nil
	}
	if err != nil {
		return g, false, err
	}
	known, err := t.load(ctx)
	g, ok = known[token]
	g.session = hash(secret)
	return g, ok, err
}

// loadSessions returns the sessions that have not ended, by their hashes.
func (t *Tokens) loadSessions(ctx context.Context) (map[string]bool, error) {
	return current(ctx, t, &t.sessions, func(r store.Row) (key string, open bool, err error) {
		err = r.Scan(&key)
		return key, true, err
	}, `SELECT hash FROM sessions WHERE expires > `+t.store.Now())
}

// SignOut ends a session, if there is one.
func (t *Tokens) SignOut(ctx context.Context, secret string) error {
	_, err := t.store.Exec(ctx, `DELETE FROM sessions WHERE hash = $1`, hash(secret))
	t.forget()
	return err
}
