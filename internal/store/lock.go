package store

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"time"
)

// Lock takes a lock that no two processes hold at once, nor two stores of one process.
// It does not wait: if it is held, the error is ErrLocked. The lock is free again when
// release is called, the store is closed, or the process ends, however that happens.
func (s *Store) Lock(ctx context.Context, name string) (release func(), err error) {
	var l heldLock
	if s.pool != nil {
		l, err = s.lockPostgres(ctx, name)
	} else {
		l, err = lockFile(s.path+".lock", lockKey(name))
	}
	if errors.Is(err, ErrLocked) {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if err != nil {
		return nil, s.Explain(err)
	}
	s.mu.Lock()
	s.locks[name] = l
	s.mu.Unlock()
	return func() {
		s.mu.Lock()
		held := s.locks[name] != nil
		delete(s.locks, name)
		s.mu.Unlock()
		if held {
			l.free()
		}
	}, nil
}

// heldLock is a lock that this process has taken.
type heldLock interface {
	// hold returns nil if nobody else can have had the lock since it was taken, and ErrLost if
	// somebody has or may have had it. It waits while the database does not answer.
	hold(ctx context.Context) error
	free()
}

// Hold returns nil once it is certain that nobody else has had a lock of this store since this
// process took it; then it is safe to do what only the lock's holder may. A lock on PostgreSQL
// goes with a connection: where that was interrupted, the lock is taken again, and the error is
// ErrLost if another process was faster. A lock of a SQLite store is lost with its file. While the
// database does not answer, Hold waits until ctx ends; see ReportWaits.
func (s *Store) Hold(ctx context.Context) error {
	s.mu.Lock()
	held := slices.Collect(maps.Values(s.locks))
	s.mu.Unlock()
	for _, l := range held {
		if err := l.hold(ctx); err != nil {
			return s.Explain(err)
		}
	}
	return nil
}

// ReportWaits makes Hold call report with the reason when Hold has waited for some seconds for a
// database that does not answer, and with nil when that wait is over. Call it before any Hold. report
// is called by one goroutine at a time for each lock.
func (s *Store) ReportWaits(report func(error)) { s.waits = report }

// ErrLost reports that another process has taken a lock which this one had, or can take it, because
// the file of the locks was removed.
var ErrLost = errors.New("another process has taken over: the connection to the store was interrupted, or the file of its locks was removed; what was recorded is not lost, and this process does nothing more")

// IsLocked reports whether somebody holds a lock.
func (s *Store) IsLocked(ctx context.Context, name string) (bool, error) {
	if s.pool != nil { // without a connection of its own, which taking the lock would need
		var held bool
		err := s.QueryRow(ctx, `SELECT EXISTS (SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND granted AND objsubid = 1
			AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
			AND classid::bigint = $1 AND objid::bigint = $2)`, lockKey(name)>>32, lockKey(name)&0xffffffff).Scan(&held)
		return held, err
	}
	release, err := s.Lock(ctx, name)
	if errors.Is(err, ErrLocked) {
		return true, nil
	}
	if err == nil {
		release()
	}
	return false, err
}

// LockSoon is LockWithin for a second. A lock may become free that late: if a process was killed
// while it started a child, the child has the locks until its program begins.
func (s *Store) LockSoon(ctx context.Context, name string) (release func(), err error) {
	return s.LockWithin(ctx, name, time.Second)
}

// LockWithin is Lock, but waits until the lock is free, for at most limit.
func (s *Store) LockWithin(ctx context.Context, name string, limit time.Duration) (release func(), err error) {
	pause := time.NewTicker(50 * time.Millisecond)
	defer pause.Stop()
	for deadline := time.Now().Add(limit); ; {
		release, err = s.Lock(ctx, name)
		if !errors.Is(err, ErrLocked) || !time.Now().Before(deadline) {
			return release, err
		}
		select {
		case <-pause.C:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// lockKey returns the number that stands for a lock's name: positive, because it is an
// offset of a file.
func lockKey(name string) int64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte("airlock " + name))
	return int64(h.Sum64() >> 2)
}
