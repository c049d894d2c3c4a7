package store

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
)

// Lock takes a lock that no two processes hold at once, nor two stores of one process.
// It does not wait: if it is held, the error is ErrLocked. The lock is free again when
// release is called, the store is closed, or the process ends, however that happens.
func (s *Store) Lock(ctx context.Context, name string) (release func(), err error) {
	var free func()
	if s.pool != nil {
		free, err = s.lockPostgres(ctx, name)
	} else {
		free, err = lockFile(s.path+".lock", lockKey(name))
	}
	if errors.Is(err, ErrLocked) {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if err != nil {
		return nil, s.explain(err)
	}
	s.mu.Lock()
	s.locks[name] = free
	s.mu.Unlock()
	return func() {
		s.mu.Lock()
		held := s.locks[name] != nil
		delete(s.locks, name)
		s.mu.Unlock()
		if held {
			free()
		}
	}, nil
}

// lockKey returns the number that stands for a lock's name: positive, because it is an
// offset of a file.
func lockKey(name string) int64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte("airlock " + name))
	return int64(h.Sum64() >> 2)
}

// lockPostgres holds the lock by a connection of its own, which the database frees with
// the connection.
func (s *Store) lockPostgres(ctx context.Context, name string) (func(), error) {
	conn, err := s.pool.Acquire(ctx)
	if err != nil {
		return nil, err
	}
	var got bool
	if err := conn.QueryRow(ctx, `SELECT pg_try_advisory_lock($1)`, lockKey(name)).Scan(&got); err != nil {
		conn.Release()
		return nil, err
	}
	if !got {
		conn.Release()
		return nil, ErrLocked
	}
	own := conn.Hijack()
	return func() { _ = own.Close(context.WithoutCancel(ctx)) }, nil
}
