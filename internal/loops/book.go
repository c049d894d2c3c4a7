// Package loops keeps fix loops in a store and drives them: what the protocol, package
// fixloop, decides is recorded with its messages in one transaction; the engine sees to
// the timers and the deliveries, and the driver to the work.
package loops

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/agent-airlock/airlock/internal/engine"
	"github.com/agent-airlock/airlock/internal/fixloop"
	"github.com/agent-airlock/airlock/internal/store"
)

// Schema is the tables of this package, to be passed to store.Open.
var Schema = store.Schema{Package: "loops", Steps: []store.Step{
	// idle is 1 while the loop waits for a person, due when its timer is (milliseconds).
	store.Both(`CREATE TABLE loops (id TEXT PRIMARY KEY, repository TEXT NOT NULL, issue BIGINT NOT NULL, ordinal BIGINT NOT NULL,
			state TEXT NOT NULL, status TEXT NOT NULL, outcome TEXT NOT NULL, idle BIGINT NOT NULL, due BIGINT NOT NULL, settings TEXT NOT NULL);
		CREATE UNIQUE INDEX loops_number ON loops (repository, issue, ordinal);
		CREATE TABLE messages (loop TEXT NOT NULL, n BIGINT NOT NULL, id TEXT NOT NULL, body TEXT NOT NULL, delivered BIGINT NOT NULL, PRIMARY KEY (loop, n));
		CREATE INDEX messages_open ON messages (loop, n) WHERE delivered = 0;
		CREATE TABLE inbox (loop TEXT NOT NULL, key TEXT NOT NULL, PRIMARY KEY (loop, key));
		CREATE TABLE loop_results (loop TEXT NOT NULL, key TEXT NOT NULL, body TEXT NOT NULL, PRIMARY KEY (loop, key))`),
}}

// Book is the loops of a store.
type Book struct {
	store  *store.Store
	engine *engine.Engine // nil: the book is only read
	now    func() time.Time
}

// NewBook returns the loops of a store with this package's Schema, to be read.
func NewBook(st *store.Store) *Book { return &Book{store: st, now: time.Now} }

// NewWritable returns the loops of an engine's store.
func NewWritable(e *engine.Engine) *Book {
	return &Book{store: e.Store(), engine: e, now: time.Now}
}

// Loop is one loop as the store has it.
type Loop struct {
	// ID names the loop in the store, such as "owner/name#7.1" for the first of #7.
	ID    string
	State fixloop.State
	// Settings are the driver's, as JSON.
	Settings json.RawMessage
}

// ErrNoLoop reports that there is no such loop.
var ErrNoLoop = errors.New("there is no such loop")

const columns = `SELECT id, state, settings FROM loops `

func scan(r store.Row) (Loop, error) {
	var l Loop
	var state, settings string
	if err := r.Scan(&l.ID, &state, &settings); err != nil {
		return l, err
	}
	l.Settings = json.RawMessage(settings)
	return l, json.Unmarshal([]byte(state), &l.State)
}

// Find returns a loop of a pull request: that with the ordinal, or the newest if it is 0.
func (b *Book) Find(ctx context.Context, repository string, issue, ordinal int) (Loop, error) {
	query, args := columns+`WHERE repository = $1 AND issue = $2 ORDER BY ordinal DESC LIMIT 1`, []any{repository, issue}
	if ordinal > 0 {
		query, args = columns+`WHERE repository = $1 AND issue = $2 AND ordinal = $3`, append(args, ordinal)
	}
	return find(ctx, b.store, query, args...)
}

// Get returns the loop with an ID.
func (b *Book) Get(ctx context.Context, id string) (Loop, error) {
	return find(ctx, b.store, columns+`WHERE id = $1`, id)
}

func find(ctx context.Context, q store.Querier, query string, args ...any) (Loop, error) {
	l, err := scan(q.QueryRow(ctx, query, args...))
	if errors.Is(err, store.ErrNotFound) {
		return l, ErrNoLoop
	}
	return l, err
}

// List returns the loops, newest first; of a repository only, unless it is "".
func (b *Book) List(ctx context.Context, repository string) ([]Loop, error) {
	return store.List(ctx, b.store, scan, columns+`WHERE repository = $1 OR $1 = '' ORDER BY repository, issue DESC, ordinal DESC`, repository)
}

// Messages returns the messages of a loop, oldest first.
func (b *Book) Messages(ctx context.Context, id string) ([]fixloop.Message, error) {
	return store.List(ctx, b.store, func(r store.Row) (m fixloop.Message, err error) {
		var body string
		if err := r.Scan(&body); err != nil {
			return m, err
		}
		return m, json.Unmarshal([]byte(body), &m)
	}, `SELECT body FROM messages WHERE loop = $1 ORDER BY n`, id)
}

// IsOpen reports whether a loop has not ended, or has messages that nobody has been told:
// then a driver has something to do.
func (b *Book) IsOpen(ctx context.Context, l Loop) (bool, error) { return isOpen(ctx, b.store, l) }

func isOpen(ctx context.Context, q store.Querier, l Loop) (bool, error) {
	told, err := told(ctx, q, l.ID)
	return l.ID != "" && (l.State.Outcome() == fixloop.Running || !told), err
}

// told reports whether all messages of a loop have been delivered.
func told(ctx context.Context, q store.Querier, id string) (bool, error) {
	var untold int
	err := q.QueryRow(ctx, `SELECT count(*) FROM messages WHERE loop = $1 AND delivered = 0`, id).Scan(&untold)
	return untold == 0, err
}

// Start returns the newest loop of a pull request with new settings if it is open, and
// otherwise the next one, opened. queue is that of the engine which is to drive it, made
// from the loop's ID. l.Ordinal is set.
func (b *Book) Start(ctx context.Context, l fixloop.Loop, settings json.RawMessage, queue func(id string) string) (loop Loop, opened bool, err error) {
	var last Loop
	err = b.store.Transact(ctx, func(tx store.Tx) error {
		var err error
		last, err = find(ctx, tx, columns+`WHERE repository = $1 AND issue = $2 ORDER BY ordinal DESC LIMIT 1`, l.Repository, l.Issue)
		if err != nil && !errors.Is(err, ErrNoLoop) {
			return err
		}
		open, err := isOpen(ctx, tx, last)
		if err != nil {
			return err
		}
		if open {
			loop = last
			loop.Settings = settings
			_, err = tx.Exec(ctx, `UPDATE loops SET settings = $1 WHERE id = $2`, string(settings), loop.ID)
			return err
		}
		l.Ordinal = last.State.Loop().Ordinal + 1
		state, err := fixloop.New(l)
		if err != nil {
			return err
		}
		loop, opened = Loop{ID: NextID(l.Repository, l.Issue, l.Ordinal-1), State: state, Settings: settings}, true
		if _, err := tx.Exec(ctx, `INSERT INTO loops (id, repository, issue, ordinal, state, status, outcome, idle, due, settings) VALUES ($1, $2, $3, $4, '', '', '', 0, 0, $5)`,
			loop.ID, l.Repository, l.Issue, l.Ordinal, string(settings)); err != nil {
			return err
		}
		if err := save(ctx, tx, loop.ID, state, nil, 0); err != nil {
			return err
		}
		return b.engine.Enqueue(tx, engine.Request{Queue: queue(loop.ID), Workflow: workflow, ID: workflowID(loop.ID), Input: loop.ID})
	})
	if err == nil && opened && last.ID != "" {
		err = b.forget(ctx, last.ID) // its driver may have been killed before it could
	}
	return loop, opened, err
}

// forget removes what only the driver of a loop needed, which has ended.
func (b *Book) forget(ctx context.Context, id string) error {
	states, err := b.engine.States(workflowID(id))
	if err != nil {
		return err
	}
	if state, ok := states[workflowID(id)]; ok {
		if !state.Status.Final() {
			if err := b.engine.Cancel(workflowID(id)); err != nil {
				return err
			}
		}
		if err := b.engine.Delete(workflowID(id)); err != nil {
			return err
		}
	}
	_, err = b.store.Exec(ctx, `DELETE FROM loop_results WHERE loop = $1`, id)
	return errors.Join(err, b.engine.RemoveQueue(OfOne(id)))
}

// NextID returns the ID of the loop that follows the one with an ordinal, 0 for none.
func NextID(repository string, issue, last int) string {
	return repository + "#" + strconv.Itoa(issue) + "." + strconv.Itoa(last+1)
}

// Apply sends a loop an event, once for each key. The error is a *fixloop.Refused if it
// does not fit: then nothing has changed. It wakes whoever drives the loop.
func (b *Book) Apply(ctx context.Context, id, key string, e fixloop.Event) error {
	return b.store.Transact(ctx, func(tx store.Tx) error {
		applied, err := tx.Exec(ctx, `INSERT INTO inbox (loop, key) VALUES ($1, $2) ON CONFLICT DO NOTHING`, id, key)
		if err != nil || applied == 0 {
			return err
		}
		if _, err := b.step(ctx, tx, id, e); err != nil {
			return err
		}
		err = b.engine.Send(tx, workflowID(id), "wake", key)
		if errors.Is(err, engine.ErrNoWorkflow) { // it is final, and forgotten
			return nil
		}
		return err
	})
}

// step takes a step of a loop in a transaction, and returns the next state.
func (b *Book) step(ctx context.Context, tx store.Tx, id string, e fixloop.Event) (fixloop.State, error) {
	l, err := b.locked(ctx, tx, id)
	if err != nil {
		return fixloop.State{}, err
	}
	next, messages, _, err := fixloop.Step(l.State, e, b.now())
	if err != nil {
		return l.State, err
	}
	var n int
	if err := tx.QueryRow(ctx, `SELECT count(*) FROM messages WHERE loop = $1`, id).Scan(&n); err != nil {
		return l.State, err
	}
	return next, save(ctx, tx, id, next, messages, n)
}

// locked returns a loop that nobody else can change before the transaction ends.
func (b *Book) locked(ctx context.Context, tx store.Tx, id string) (Loop, error) {
	query := columns + `WHERE id = $1`
	if b.store.Postgres() != nil {
		query += ` FOR UPDATE`
	}
	return find(ctx, tx, query, id)
}

// save records a state with the messages of its step; n messages came before.
func save(ctx context.Context, tx store.Tx, id string, s fixloop.State, messages []fixloop.Message, n int) error {
	raw, err := json.Marshal(s)
	if err != nil {
		return err
	}
	var idle, due int64
	if s.Work().Kind == fixloop.WorkDecide {
		idle = 1
	}
	if d := s.Deadline(); !d.IsZero() {
		due = d.UnixMilli()
	}
	if _, err := tx.Exec(ctx, `UPDATE loops SET state = $1, status = $2, outcome = $3, idle = $4, due = $5 WHERE id = $6`,
		string(raw), string(s.Status()), string(s.Outcome()), idle, due, id); err != nil {
		return err
	}
	for i, m := range messages {
		body, err := json.Marshal(m)
		if err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, `INSERT INTO messages (loop, n, id, body, delivered) VALUES ($1, $2, $3, $4, 0)`, id, n+i+1, m.ID, string(body)); err != nil {
			return err
		}
	}
	return nil
}

// Keep records what a part of a loop's work came to, before it has any effect. What was
// kept under the key before stays, and is returned.
func (b *Book) Keep(ctx context.Context, id, key, body string) (kept string, err error) {
	err = b.store.Transact(ctx, func(tx store.Tx) error {
		if _, err := tx.Exec(ctx, `INSERT INTO loop_results (loop, key, body) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`, id, key, body); err != nil {
			return err
		}
		return tx.QueryRow(ctx, `SELECT body FROM loop_results WHERE loop = $1 AND key = $2`, id, key).Scan(&kept)
	})
	return kept, err
}

// Kept returns what was kept under a key; ok is false if nothing was.
func (b *Book) Kept(ctx context.Context, id, key string) (body string, ok bool, err error) {
	err = b.store.QueryRow(ctx, `SELECT body FROM loop_results WHERE loop = $1 AND key = $2`, id, key).Scan(&body)
	if errors.Is(err, store.ErrNotFound) {
		return "", false, nil
	}
	return body, err == nil, err
}

// Driven reports whether a driver of this loop alone is at work.
func (b *Book) Driven(ctx context.Context, id string) (bool, error) {
	return engine.IsRunning(ctx, b.store, OfOne(id))
}

// workflowID returns the id of the workflow that carries a loop.
func workflowID(id string) string { return fmt.Sprintf("loop %s", id) }
