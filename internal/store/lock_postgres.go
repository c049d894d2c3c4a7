package store

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
)

// The times of a lock on PostgreSQL.
const (
	// releaseTimeout bounds how long a release waits for a server that no longer answers; closing
	// the connection frees the lock all the same.
	releaseTimeout = 5 * time.Second
	// aliveTimeout is how long the server may take to answer on the lock's connection before that
	// counts as interrupted.
	aliveTimeout = 5 * time.Second
	// quietWait is how long hold waits for the server before it reports the wait.
	quietWait = 3 * time.Second
	// retakePause is the time between two attempts to take a lock again.
	retakePause = 200 * time.Millisecond
)

// lockSchema is the table of the last holder of each lock on PostgreSQL, until that holder releases
// it. The lock itself does not show whether somebody else had it while its connection was
// interrupted.
var lockSchema = Schema{Package: "locks", Steps: []Step{{Postgres: `CREATE TABLE lock_holders (name TEXT PRIMARY KEY, holder TEXT NOT NULL)`}}}

// postgresLock is an advisory lock on a connection of its own. When the process ends, so does the
// connection, and the database frees the lock.
type postgresLock struct {
	store        *Store
	name, holder string

	mu      sync.Mutex
	conn    *pgx.Conn // that took the lock the last time
	backend backend   // conn's
	lost    bool
}

// backend is a connection as the server knows it: its process, and when that began.
type backend struct {
	pid   int64
	began time.Time
}

// lockPostgres takes a lock.
func (s *Store) lockPostgres(ctx context.Context, name string) (*postgresLock, error) {
	l := &postgresLock{store: s, name: name, holder: rand.Text()}
	if err := l.connect(ctx); err != nil {
		return nil, err
	}
	_, err := l.conn.Exec(ctx, `INSERT INTO lock_holders (name, holder) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET holder = excluded.holder`, name, l.holder)
	if err != nil {
		unlockAndClose(l.conn)
		return nil, err
	}
	return l, nil
}

// connect takes the lock on a new connection. The error is ErrLocked if somebody has it.
func (l *postgresLock) connect(ctx context.Context) error {
	conn, err := pgx.ConnectConfig(ctx, l.store.pool.Config().ConnConfig)
	if err != nil {
		return err
	}
	var got bool
	var own backend
	err = conn.QueryRow(ctx, `SELECT pg_try_advisory_lock($1), pid, backend_start FROM pg_stat_activity WHERE pid = pg_backend_pid()`, lockKey(l.name)).
		Scan(&got, &own.pid, &own.began)
	if err == nil && !got {
		err = ErrLocked
	}
	if err != nil {
		unlockAndClose(conn)
		return err
	}
	l.conn, l.backend = conn, own
	return nil
}

// unlockAndClose frees the lock that a connection may have and closes it, also where the server
// does not answer. It unlocks first, because a server notices a closed connection some time after
// the client has gone on: until then the lock would seem to be held.
func unlockAndClose(conn *pgx.Conn) {
	ctx, cancel := context.WithTimeout(context.Background(), releaseTimeout)
	defer cancel()
	if !conn.IsClosed() {
		_, _ = conn.Exec(ctx, `SELECT pg_advisory_unlock_all()`)
	}
	_ = conn.Close(ctx)
}

// hold implements heldLock: the lock is held as long as its connection answers. Where the
// connection does not, hold takes the lock again.
func (l *postgresLock) hold(ctx context.Context) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	wait := l.store.beginWait()
	defer wait.end()
	for !l.lost && !l.alive(ctx) {
		err := l.retake(ctx)
		if err == nil {
			return nil
		}
		if errors.Is(err, ErrLost) {
			l.lost = true
			break
		}
		wait.note(err)
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(retakePause):
		}
	}
	if l.lost {
		return fmt.Errorf("%s: %w", l.name, ErrLost)
	}
	return nil
}

// wait is one wait of hold for the server.
type wait struct {
	store *Store
	timer *time.Timer // reports that the wait is long

	mu       sync.Mutex
	why      error // the newest reason
	reported bool
	over     bool
}

// errNoAnswer is the reason of a wait in which not even an error came.
var errNoAnswer = fmt.Errorf("there is no answer: %w", context.DeadlineExceeded)

// beginWait begins a wait, which is reported if it lasts.
func (s *Store) beginWait() *wait {
	w := &wait{store: s, why: errNoAnswer}
	if s.waits != nil {
		w.timer = time.AfterFunc(quietWait, func() {
			w.mu.Lock()
			defer w.mu.Unlock()
			if w.over {
				return
			}
			w.reported = true
			s.waits(s.Explain(w.why))
		})
	}
	return w
}

func (w *wait) note(why error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.why = why
}

// end ends the wait. If the wait was reported, its end is reported as well.
func (w *wait) end() {
	if w.timer == nil || w.timer.Stop() {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.over = true
	if w.reported {
		w.store.waits(nil)
	}
}

// alive reports whether the connection answers.
func (l *postgresLock) alive(ctx context.Context) bool {
	if l.conn.IsClosed() {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, aliveTimeout)
	defer cancel()
	return l.conn.Ping(ctx) == nil
}

// retake takes the lock again after its connection was interrupted. The error is ErrLost if somebody
// else has the lock, or had it meanwhile. After any other error it has to be tried again.
func (l *postgresLock) retake(ctx context.Context) error {
	unlockAndClose(l.conn)
	before := l.backend
	err := l.connect(ctx)
	if err != nil && !errors.Is(err, ErrLocked) {
		return err
	}
	var holder string
	row := l.store.QueryRow(ctx, `SELECT holder FROM lock_holders WHERE name = $1`, l.name)
	if scanErr := row.Scan(&holder); scanErr != nil && !errors.Is(scanErr, ErrNotFound) {
		unlockAndClose(l.conn) // the next try takes the lock again
		return scanErr
	}
	if holder != l.holder {
		unlockAndClose(l.conn)
		return ErrLost
	}
	if err != nil { // our own old connection has it, unless another process has just taken it
		_, _ = l.store.Exec(ctx, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid = $1 AND backend_start = $2`, before.pid, before.began)
	}
	return err
}

// free implements heldLock.
func (l *postgresLock) free() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.conn.IsClosed() {
		ctx, cancel := context.WithTimeout(context.Background(), releaseTimeout)
		defer cancel()
		_, _ = l.conn.Exec(ctx, `DELETE FROM lock_holders WHERE name = $1 AND holder = $2`, l.name, l.holder)
	}
	unlockAndClose(l.conn)
}
