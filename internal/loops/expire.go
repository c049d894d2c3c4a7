package loops

import (
	"context"
	"time"

	"github.com/agent-airlock/airlock/internal/store"
)

// expireBatch is how many loops Expire looks at in one go.
const expireBatch = 100

// Expire deletes loops that have ended and delivered all messages, together with the messages,
// after the time retention. This time begins when Expire first finds a loop in that state. The
// number of the last loop of each pull request is kept, so that no later loop has the ids of an
// earlier one.
func (b *Book) Expire(ctx context.Context, retention time.Duration) error {
	now := b.store.Now()
	if _, err := b.store.Exec(ctx, `UPDATE loops SET ended = `+now+` WHERE ended = 0 AND outcome <> '' AND NOT EXISTS (SELECT 1 FROM messages WHERE loop = loops.id AND delivered = 0)`); err != nil {
		return err
	}
	for {
		ids, err := store.List(ctx, b.store, store.ScanOne[string],
			`SELECT id FROM loops WHERE ended > 0 AND ended < `+now+` - $1 ORDER BY ended LIMIT $2`, retention.Milliseconds(), expireBatch)
		if err != nil {
			return err
		}
		for _, id := range ids {
			if err := b.forget(ctx, id); err != nil {
				return err
			}
			if err := b.store.Transact(ctx, func(tx store.Tx) error { return remove(ctx, tx, id) }); err != nil {
				return err
			}
		}
		if len(ids) < expireBatch {
			return nil
		}
	}
}

// remove deletes a loop that has ended.
func remove(ctx context.Context, tx store.Tx, id string) error {
	for _, statement := range []string{
		`INSERT INTO loop_numbers (repository, issue, ordinal) SELECT repository, issue, ordinal FROM loops WHERE id = $1
			ON CONFLICT (repository, issue) DO UPDATE SET ordinal = CASE WHEN excluded.ordinal > loop_numbers.ordinal THEN excluded.ordinal ELSE loop_numbers.ordinal END`,
		`DELETE FROM messages WHERE loop = $1`, `DELETE FROM inbox WHERE loop = $1`, `DELETE FROM loop_results WHERE loop = $1`, `DELETE FROM loops WHERE id = $1`,
	} {
		if _, err := tx.Exec(ctx, statement, id); err != nil {
			return err
		}
	}
	return nil
}
