package runs

import (
	"context"
	"log/slog"
	"time"

	"github.com/agent-airlock/airlock/internal/store"
)

const (
	tendEvery = 10 * time.Second
	tendBatch = 500
	// keepQueue is the time for which a set of needs is remembered after the last run with it was created.
	keepQueue = 24 * time.Hour
)

// Limits are the times after which Tend ends or deletes something. 0 means never.
type Limits struct {
	// Retention is how long a run is kept after its end.
	Retention time.Duration
	// Outputs is how long a run's result and log are kept after its end, if that is less than
	// Retention.
	Outputs time.Duration
	// Unserved is how long runs wait while no live worker can take them. Time in which nobody
	// tends the store does not count.
	Unserved time.Duration
}

// Tend keeps the store in order until ctx ends: it ends runs that nobody can carry out, and deletes
// what is old.
func (s *Service) Tend(ctx context.Context, limits Limits, log *slog.Logger) {
	tick := time.NewTicker(tendEvery)
	defer tick.Stop()
	duties := []struct {
		doing string
		do    func(context.Context, Limits) error
	}{
		{"releasing runs of workers that have died", s.release},
		{"looking for runs that no worker can take", s.endUnserved},
		{"deleting old outputs of runs", s.expireOutputs},
		{"deleting old runs", s.expire},
	}
	for {
		for _, d := range duties {
			if err := d.do(ctx, limits); err != nil && ctx.Err() == nil {
				log.Warn(d.doing, "error", err)
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// release ends the runs that were to be stopped when their worker died. Before that it releases the
// runs of dead workers, as each worker does; in a SQLite store that is left to the next worker.
func (s *Service) release(ctx context.Context, _ Limits) error {
	if s.store.Postgres() != nil {
		if err := reap(ctx, s.store); err != nil {
			return err
		}
	}
	ids, err := store.List(ctx, s.store, store.ScanOne[string], `SELECT id FROM runs WHERE worker IS NULL AND ended IS NULL AND status = 'stopping' LIMIT $1`, tendBatch)
	if err != nil {
		return err
	}
	return s.endAll(ctx, ids, outcome{Status: Stopped})
}

// endAll ends runs that no worker has.
func (s *Service) endAll(ctx context.Context, ids []string, out outcome) error {
	for _, id := range ids {
		if err := out.end(ctx, s.store, id, `worker IS NULL`); err != nil {
			return err
		}
		s.notify(id)
	}
	return nil
}

// endUnserved measures for each set of needs how long no live worker has been able to take its runs.
// If that is too long, it ends the runs that have waited for so long. It forgets old sets of needs.
func (s *Service) endUnserved(ctx context.Context, limits Limits) error {
	live, err := liveTags(ctx, s.store)
	if err != nil {
		return err
	}
	all, err := store.List(ctx, s.store, store.ScanOne[string], `SELECT needs FROM run_queues`)
	if err != nil {
		return err
	}
	now := s.store.Now()
	for _, needs := range all {
		tags := splitTags(needs)
		served := 0
		if anyServes(live, tags) {
			served = 1
		}
		// The time since the last look counts if it is short. In a longer one, nobody tended the store.
		var unserved int64
		err := s.store.QueryRow(ctx, `UPDATE run_queues SET unserved = CASE WHEN $2 = 1 THEN 0 WHEN `+now+` - looked < $3 THEN unserved + `+now+` - looked ELSE unserved END, looked = `+now+` WHERE needs = $1 RETURNING unserved`,
			needs, served, 3*tendEvery.Milliseconds()).Scan(&unserved)
		if err != nil {
			return err
		}
		if limits.Unserved == 0 || unserved < limits.Unserved.Milliseconds() {
			continue
		}
		if err := s.endWaiting(ctx, needs, limits.Unserved); err != nil {
			return err
		}
	}
	_, err = s.store.Exec(ctx, `DELETE FROM run_queues WHERE needs <> '' AND used < `+now+` - $1 AND NOT EXISTS (SELECT 1 FROM runs WHERE runs.needs = run_queues.needs AND runs.worker IS NULL AND runs.ended IS NULL)`, keepQueue.Milliseconds())
	return err
}

// endWaiting ends the runs that wait for a worker and were created at least limit ago. needs are
// theirs, joined as the store has them.
func (s *Service) endWaiting(ctx context.Context, needs string, limit time.Duration) error {
	out := failed("no_worker", "the run waited for "+limit.String()+", and "+noWorker(splitTags(needs)).Message)
	for {
		ids, err := store.List(ctx, s.store, store.ScanOne[string], `SELECT id FROM runs WHERE worker IS NULL AND ended IS NULL AND needs = $1 AND created <= `+s.store.Now()+` - $2 ORDER BY id LIMIT $3`, needs, limit.Milliseconds(), tendBatch)
		if err != nil {
			return err
		}
		if err := s.endAll(ctx, ids, out); err != nil || len(ids) < tendBatch {
			return err
		}
	}
}

// expireOutputs deletes results and logs of runs that ended long ago.
func (s *Service) expireOutputs(ctx context.Context, limits Limits) error {
	return s.forOld(ctx, limits.Outputs, `expired = 0 AND `, `DELETE FROM run_log WHERE run = $1`, `UPDATE runs SET result = NULL, expired = 1 WHERE id = $1`)
}

// expire deletes runs that ended long ago, with all that belongs to them.
func (s *Service) expire(ctx context.Context, limits Limits) error {
	return s.forOld(ctx, limits.Retention, ``, `DELETE FROM run_events WHERE run = $1`, `DELETE FROM run_log WHERE run = $1`, `DELETE FROM run_keys WHERE run = $1`, `DELETE FROM runs WHERE id = $1`)
}

// forOld executes statements for each run that ended longer ago than kept, unless that is 0.
// condition is "", or a condition of the runs in SQL that ends with AND.
func (s *Service) forOld(ctx context.Context, kept time.Duration, condition string, statements ...string) error {
	if kept == 0 {
		return nil
	}
	for {
		ids, err := store.List(ctx, s.store, store.ScanOne[string], `SELECT id FROM runs WHERE `+condition+`ended < `+s.store.Now()+` - $1 LIMIT $2`, kept.Milliseconds(), tendBatch)
		if err != nil || len(ids) == 0 {
			return err
		}
		err = s.store.Transact(ctx, func(tx store.Tx) error {
			for _, id := range ids {
				for _, statement := range statements {
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
