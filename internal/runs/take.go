package runs

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/agent-airlock/airlock/internal/store"
)

// taken is a run that a worker has taken.
type taken struct {
	Run
	remaining time.Duration // of its time limit
}

// takeRuns takes up to n runs that no worker has and that need only tags of this one. Of runs with
// the same needs it takes the oldest. No two workers take the same run. With an error it returns the
// runs that it has taken before.
func (w *Worker) takeRuns(ctx context.Context, name string, n int) ([]taken, error) {
	served, err := queues(ctx, w.store, w.Tags)
	if err != nil {
		return nil, err
	}
	// In a random order, so that no set of needs waits for the others forever.
	rand.Shuffle(len(served), func(i, j int) { served[i], served[j] = served[j], served[i] })
	var all []taken
	for _, needs := range served {
		if len(all) == n {
			break
		}
		batch, err := w.takeOf(ctx, name, needs, n-len(all))
		if err != nil {
			return all, err
		}
		all = append(all, batch...)
	}
	return all, nil
}

// takeOf takes up to n runs with the same needs.
func (w *Worker) takeOf(ctx context.Context, name, needs string, n int) (some []taken, err error) {
	now := w.store.Now()
	pick := func(skip string) string {
		return `picked AS MATERIALIZED (SELECT id FROM runs WHERE worker IS NULL AND ended IS NULL AND needs = $2 ORDER BY id LIMIT $3` + skip + `)`
	}
	take := `UPDATE runs SET worker = $1, attempt = attempt + 1, started = COALESCE(started, ` + now + `), deadline = COALESCE(deadline, ` + now + ` + time_limit),
	events = events + CASE WHEN status = 'pending' THEN 1 ELSE 0 END, status = CASE WHEN status = 'pending' THEN 'running' ELSE status END
WHERE id IN (SELECT id FROM picked) RETURNING ` + columns + `, deadline - ` + now + ` AS remaining`
	const wasPending = `attempt = 1` // of a run that was taken; only then its status has changed
	if w.store.Postgres() != nil {
		some, err = store.List(ctx, w.store, scanTaken, `WITH `+pick(` FOR UPDATE SKIP LOCKED`)+`, taken AS (`+take+`, events),
begun AS (INSERT INTO run_events (run, n, status, at) SELECT id, events, status, `+now+` FROM taken WHERE `+wasPending+`)
SELECT `+columns+`, remaining FROM taken`, name, needs, n)
		if err != nil {
			return nil, err // without those that were read: they may not have been taken
		}
		return some, nil
	}
	var one int64
	err = w.store.QueryRow(ctx, `SELECT 1 FROM runs WHERE worker IS NULL AND ended IS NULL AND needs = $1 LIMIT 1`, needs).Scan(&one)
	if errors.Is(err, store.ErrNotFound) { // no need for a transaction, which would lock the file
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	err = w.store.Transact(ctx, func(tx store.Tx) error {
		some, err = store.List(ctx, tx, scanTaken, `WITH `+pick(``)+` `+take, name, needs, n)
		if err != nil {
			return err
		}
		for _, t := range some {
			if _, err := tx.Exec(ctx, `INSERT INTO run_events (run, n, status, at) SELECT id, events, status, `+now+` FROM runs WHERE id = $1 AND `+wasPending, t.ID); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return some, nil
}

func scanTaken(row store.Row) (t taken, err error) {
	var remaining int64
	t.Run, err = scan(row, &remaining)
	t.remaining = time.Duration(remaining) * time.Millisecond
	return t, err
}
