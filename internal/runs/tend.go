package runs

import (
	"context"
	"log/slog"
	"time"

	"github.com/agent-airlock/airlock/internal/engine"
	"github.com/agent-airlock/airlock/internal/store"
)

const (
	tendEvery = 10 * time.Second
	tendBatch = 500
)

// Tend does what nobody asks for, until ctx ends: it ends runs that the engine has given
// up, and deletes those that ended longer ago than retention (0: never).
func (s *Service) Tend(ctx context.Context, retention time.Duration, log *slog.Logger) {
	tick := time.NewTicker(tendEvery)
	defer tick.Stop()
	for {
		if err := s.reconcile(ctx); err != nil && ctx.Err() == nil {
			log.Warn("looking for runs that were given up", "error", err)
		}
		if retention > 0 {
			if err := s.expire(ctx, retention); err != nil && ctx.Err() == nil {
				log.Warn("deleting old runs", "error", err)
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// reconcile ends runs whose workflow has ended without their end: their worker was killed
// too often, or failed itself.
func (s *Service) reconcile(ctx context.Context) error {
	ids, err := store.List(ctx, s.store, scanID, `SELECT id FROM runs WHERE status IN ('running', 'stopping') ORDER BY id LIMIT $1`, tendBatch)
	if err != nil || len(ids) == 0 {
		return err
	}
	states, err := s.engine.States(ids...)
	if err != nil {
		return err
	}
	for _, id := range ids {
		state, known := states[id]
		if known && !state.Status.Final() {
			continue
		}
		out := failed("worker_lost", "the worker of the run was lost, and it was not started again")
		if state.Status == engine.Exhausted {
			out = failed("worker_lost", "the worker of the run was lost each time that it was started")
		}
		if state.Err != nil {
			out = failed("internal", "the run could not be carried out: "+state.Err.Error())
		}
		// A workflow that is done has ended its run in the same moment.
		if err := s.store.Transact(ctx, func(tx store.Tx) error { _, err := out.end(ctx, tx, s.store.Now(), id); return err }); err != nil {
			return err
		}
	}
	return nil
}

// expire deletes runs that ended long ago, with all that belongs to them.
func (s *Service) expire(ctx context.Context, retention time.Duration) error {
	for {
		ids, err := store.List(ctx, s.store, scanID, `SELECT id FROM runs WHERE ended < `+s.store.Now()+` - $1 LIMIT $2`, retention.Milliseconds(), tendBatch)
		if err != nil || len(ids) == 0 {
			return err
		}
		if err := s.engine.Delete(ids...); err != nil {
			return err
		}
		err = s.store.Transact(ctx, func(tx store.Tx) error {
			for _, id := range ids {
				for _, statement := range []string{`DELETE FROM run_events WHERE run = $1`, `DELETE FROM run_log WHERE run = $1`, `DELETE FROM run_keys WHERE run = $1`, `DELETE FROM runs WHERE id = $1`} {
					if _, err := tx.Exec(ctx, statement, id); err != nil {
						return err
					}
				}
			}
			return nil
		})
		if err != nil || len(ids) < tendBatch {
			return err
		}
	}
}

func scanID(r store.Row) (id string, err error) { return id, r.Scan(&id) }
