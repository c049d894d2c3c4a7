package engine

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/dbos-inc/dbos-transact-golang/dbos/internals"

	"github.com/agent-airlock/airlock/internal/store"
)

// The engine itself does not notice that an executor has died: what it was running would
// wait for it forever. So each executor with a lease says regularly in the table of
// executors that it lives, and looks for those that no longer do.
//
// Whoever finds one whose lease has run out claims it, has the engine put its workflows
// back into their queues, and removes it. A claim is a lease, too: if its owner dies, the
// next one claims again, and putting back twice does no harm, because what another
// executor has taken since is not the dead one's any more.

// enter adds the executor to the table.
func (e *Engine) enter(ctx context.Context) error {
	_, err := e.store.Exec(ctx, `INSERT INTO executors (id, seen, claimed_by) VALUES ($1, `+e.store.Now()+`, '')`, e.id)
	return err
}

// keepAlive renews the lease and takes over from the dead until ctx ends. If the lease
// cannot be renewed, it ends the engine's contexts well before others take over.
func (e *Engine) keepAlive(ctx context.Context, lease time.Duration, log *slog.Logger) {
	defer close(e.beat)
	tick := time.NewTicker(lease / 6)
	defer tick.Stop()
	renewed := time.Now()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		began := time.Now()
		attempt, cancel := context.WithDeadline(ctx, renewed.Add(lease*2/3))
		alive, err := e.renew(attempt)
		cancel()
		switch {
		case ctx.Err() != nil:
			return
		case err == nil && !alive, time.Since(renewed) >= lease*2/3:
			log.Error("the lease was lost", "executor", e.id, "error", err)
			e.lost(ErrLeaseLost)
			return
		case err != nil:
			log.Warn("the lease cannot be renewed yet", "executor", e.id, "error", err)
			continue
		}
		renewed = began
		if err := e.reap(ctx, lease); err != nil && ctx.Err() == nil {
			log.Warn("looking for executors that have died", "error", err)
		}
	}
}

// renew reports whether the executor still has its lease, and renews it.
func (e *Engine) renew(ctx context.Context) (bool, error) {
	n, err := e.store.Exec(ctx, `UPDATE executors SET seen = `+e.store.Now()+` WHERE id = $1 AND claimed_by = ''`, e.id)
	return n == 1, err
}

// reap puts what dead executors were running back into the queues.
func (e *Engine) reap(ctx context.Context, lease time.Duration) error {
	dead, err := store.List(ctx, e.store, func(r store.Row) (id string, err error) { return id, r.Scan(&id) },
		`UPDATE executors SET claimed_by = $1, seen = `+e.store.Now()+` WHERE seen < `+e.store.Now()+` - $2 RETURNING id`, e.id, lease.Milliseconds())
	if err != nil || len(dead) == 0 {
		return err
	}
	runtime, err := internals.RuntimeOf(e.dbos)
	if err != nil {
		return err
	}
	if _, err := runtime.RecoverPendingWorkflows(dead); err != nil {
		return fmt.Errorf("taking over from %v: %w", dead, err)
	}
	for _, id := range dead {
		if _, err := e.store.Exec(ctx, `DELETE FROM executors WHERE id = $1 AND claimed_by = $2`, id, e.id); err != nil {
			return err
		}
	}
	return nil
}
