package runs

import (
	"context"
	"crypto/rand"
	"errors"
	"os"
	"regexp"
	"strings"
	"time"

	"github.com/agent-airlock/airlock/internal/store"
)

// Each worker has a row in run_workers, and regularly records there that it is alive, by the
// database's clock. Its runs belong to it as long as its lease lasts. After that, any other worker
// releases them, so that workers take them again.
//
// A SQLite store has one worker, which holds a lock as long as its process lives. The next
// worker releases the runs of an earlier one when it starts, and the lease only shows whether
// there is a worker.

// DefaultLease is how long workers wait for a sign of life of another one before they take over
// its runs.
const DefaultLease = 15 * time.Second

// ErrRunning reports that another process carries out the runs of a SQLite store.
var ErrRunning = errors.New("another process carries out its runs")

// join adds the worker to those of the store under a new name. The error may be store.ErrNewer.
func (w *Worker) join(ctx context.Context) (name string, err error) {
	if err := w.store.CheckVersion(ctx); err != nil {
		return "", err
	}
	host, _ := os.Hostname()
	host = strings.Trim(regexp.MustCompile(`[^A-Za-z0-9.-]+`).ReplaceAllString(host, "-"), "-")
	name = strings.Trim(host[:min(len(host), 63)]+"-"+strings.ToLower(rand.Text()[:12]), "-")
	insert := func(q store.Querier) error {
		_, err := q.Exec(ctx, `INSERT INTO run_workers (id, tags, concurrency, lease, started, seen) VALUES ($1, $2, $3, $4, `+w.store.Now()+`, `+w.store.Now()+`)`,
			name, strings.Join(w.Tags, "+"), w.Concurrency, w.Lease.Milliseconds())
		return err
	}
	if w.store.Postgres() != nil {
		return name, insert(w.store)
	}
	return name, w.store.Transact(ctx, func(tx store.Tx) error { // nobody else is a worker
		if _, err := tx.Exec(ctx, `DELETE FROM run_workers`); err != nil {
			return err
		}
		if err := releaseOrphans(ctx, tx); err != nil {
			return err
		}
		return insert(tx)
	})
}

// leave removes the worker, and releases the runs that it has not ended.
func (w *Worker) leave(ctx context.Context, name string) error {
	return w.store.Transact(ctx, func(tx store.Tx) error {
		if _, err := tx.Exec(ctx, `UPDATE runs SET worker = NULL WHERE worker = $1 AND ended IS NULL`, name); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, `DELETE FROM run_workers WHERE id = $1`, name)
		return err
	})
}

// keepAlive renews the lease, and releases the runs of dead workers, until ctx ends. It returns early
// if the lease is lost: another worker has removed this one, or, unless the store is SQLite, it
// could not be renewed for two thirds of its time. It also returns if a newer Airlock has changed
// the tables, because its workers may record in another way which worker carries out a run.
func (w *Worker) keepAlive(ctx context.Context, name string) {
	tick := time.NewTicker(w.Lease / 6)
	defer tick.Stop()
	patience := w.Lease * 2 / 3
	renewed := time.Now()
	exclusive := w.store.Postgres() == nil // nobody can take over
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		began, deadline := time.Now(), renewed.Add(patience)
		if exclusive {
			deadline = began.Add(w.Lease)
		}
		attempt, cancel := context.WithDeadline(ctx, deadline)
		member, err := w.renew(attempt, name)
		cancel()
		isRemoved := err == nil && !member
		isLate := !exclusive && time.Since(renewed) >= patience
		switch {
		case ctx.Err() != nil:
			return
		case isRemoved, isLate:
			w.Log.Error("this worker gave no sign of life in time: it ends its runs, and others take them", "worker", name, "error", err)
			return
		case err != nil:
			w.Log.Warn("the worker's lease cannot be renewed yet", "worker", name, "error", err)
			continue
		}
		renewed = began
		checking, cancel := context.WithTimeout(ctx, w.Lease/6)
		err = w.store.CheckVersion(checking)
		cancel()
		if errors.Is(err, store.ErrNewer) {
			w.Log.Error("this worker ends its runs and takes no further ones", "worker", name, "error", err)
			return
		}
		if exclusive {
			continue
		}
		// Releasing others' runs on a slow store must not cost this worker its own lease.
		others, cancel := context.WithTimeout(ctx, w.Lease/6)
		if err := reap(others, w.store); err != nil && ctx.Err() == nil {
			w.Log.Warn("looking for workers that have died", "error", err)
		}
		cancel()
	}
}

// renew records that the worker is alive, and reports whether it still is a worker.
func (w *Worker) renew(ctx context.Context, name string) (bool, error) {
	n, err := w.store.Exec(ctx, `UPDATE run_workers SET seen = `+w.store.Now()+` WHERE id = $1`, name)
	return n == 1, err
}

// reap removes workers whose lease has run out, and releases what they were running.
func reap(ctx context.Context, s *store.Store) error {
	return s.Transact(ctx, func(tx store.Tx) error {
		if _, err := tx.Exec(ctx, `DELETE FROM run_workers WHERE seen + lease < `+s.Now()); err != nil {
			return err
		}
		return releaseOrphans(ctx, tx)
	})
}

// releaseOrphans releases the runs of workers without a row, and counts how often each run has lost
// its worker.
func releaseOrphans(ctx context.Context, tx store.Tx) error {
	_, err := tx.Exec(ctx, `UPDATE runs SET worker = NULL, restarts = restarts + 1 WHERE worker IS NOT NULL AND ended IS NULL AND NOT EXISTS (SELECT 1 FROM run_workers w WHERE w.id = runs.worker)`)
	return err
}

// WorkerState is a worker as the API shows it.
type WorkerState struct {
	ID          string    `json:"id"`
	Tags        []string  `json:"tags"`
	Concurrency int       `json:"concurrency"`
	Running     int       `json:"running"` // runs
	StartedAt   time.Time `json:"started_at"`
	SeenAt      time.Time `json:"seen_at"`
	// Live reports whether it has given a sign of life in time.
	Live bool `json:"live"`
}

// Workers returns all workers, in the order of their ids.
func (s *Service) Workers(ctx context.Context) ([]WorkerState, error) {
	return store.List(ctx, s.store, func(row store.Row) (WorkerState, error) {
		state := WorkerState{Tags: []string{}}
		var tags string
		var started, seen, live int64
		err := row.Scan(&state.ID, &tags, &state.Concurrency, &state.Running, &started, &seen, &live)
		state.Tags = append(state.Tags, splitTags(tags)...)
		state.StartedAt, state.SeenAt, state.Live = time.UnixMilli(started).UTC(), time.UnixMilli(seen).UTC(), live == 1
		return state, err
	}, `SELECT id, tags, concurrency, (SELECT count(*) FROM runs WHERE worker = w.id AND ended IS NULL), started, seen, CASE WHEN seen + lease >= `+s.store.Now()+` THEN 1 ELSE 0 END FROM run_workers w ORDER BY id`)
}

// liveTags returns the tags of each live worker.
func liveTags(ctx context.Context, s *store.Store) ([][]string, error) {
	return store.List(ctx, s, func(row store.Row) ([]string, error) {
		var tags string
		err := row.Scan(&tags)
		return splitTags(tags), err
	}, `SELECT tags FROM run_workers WHERE seen + lease >= `+s.Now())
}
