// Package loops keeps fix loops in a store and drives them. The new state that the protocol,
// package fixloop, decides on is recorded with its messages in one transaction. The engine runs
// the timers and deliveries, and the driver does the work.
package loops

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/agent-airlock/airlock/internal/engine"
	"github.com/agent-airlock/airlock/internal/fixloop"
	"github.com/agent-airlock/airlock/internal/store"
)

// Schema is the tables of this package, to be passed to store.Open.
var Schema = store.Schema{Package: "loops", Steps: []store.Step{
	// idle is 1 while the loop waits for a person; due is when its timer ends (Unix time in
	// milliseconds), 0 without a timer.
	store.Both(`CREATE TABLE loops (id TEXT PRIMARY KEY, repository TEXT NOT NULL, issue BIGINT NOT NULL, ordinal BIGINT NOT NULL,
			state TEXT NOT NULL, status TEXT NOT NULL, outcome TEXT NOT NULL, idle BIGINT NOT NULL, due BIGINT NOT NULL, settings TEXT NOT NULL);
		CREATE UNIQUE INDEX loops_number ON loops (repository, issue, ordinal);
		CREATE TABLE messages (loop TEXT NOT NULL, n BIGINT NOT NULL, id TEXT NOT NULL, body TEXT NOT NULL, delivered BIGINT NOT NULL, PRIMARY KEY (loop, n));
		CREATE INDEX messages_open ON messages (loop, n) WHERE delivered = 0;
		CREATE TABLE inbox (loop TEXT NOT NULL, key TEXT NOT NULL, PRIMARY KEY (loop, key));
		CREATE TABLE loop_results (loop TEXT NOT NULL, key TEXT NOT NULL, body TEXT NOT NULL, PRIMARY KEY (loop, key))`),
	// ended is the time when Expire first found the loop ended and all its messages delivered; 0
	// before. loop_numbers has the highest ordinal of a pull request's deleted loops.
	store.Both(`ALTER TABLE loops ADD COLUMN ended BIGINT NOT NULL DEFAULT 0;
		CREATE INDEX loops_ended ON loops (ended);
		CREATE TABLE loop_numbers (repository TEXT NOT NULL, issue BIGINT NOT NULL, ordinal BIGINT NOT NULL, PRIMARY KEY (repository, issue))`),
	// asked identifies the request that used the key; '' if that is not known.
	store.Both(`ALTER TABLE inbox ADD COLUMN asked TEXT NOT NULL DEFAULT ''`),
}}

// Book is the loops of a store.
type Book struct {
	store  *store.Store
	engine *engine.Engine // nil: the book is only read
}

// NewBook returns the loops of a store with this package's Schema, to be read.
func NewBook(st *store.Store) *Book { return &Book{store: st} }

// NewWritable returns the loops of an engine's store.
func NewWritable(e *engine.Engine) *Book {
	return &Book{store: e.Store(), engine: e}
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

// selectLoops begins the queries whose rows scan reads.
const selectLoops = `SELECT id, state, settings FROM loops `

func scan(r store.Row) (Loop, error) {
	var l Loop
	var state, settings string
	if err := r.Scan(&l.ID, &state, &settings); err != nil {
		return l, err
	}
	l.Settings = json.RawMessage(settings)
	err := json.Unmarshal([]byte(state), &l.State)
	return l, err
}

// Find returns a loop of a pull request: that with the ordinal, or the newest if it is 0.
func (b *Book) Find(ctx context.Context, repository string, issue, ordinal int) (Loop, error) {
	if ordinal > 0 {
		return find(ctx, b.store, `WHERE repository = $1 AND issue = $2 AND ordinal = $3`, repository, issue, ordinal)
	}
	return find(ctx, b.store, newest, repository, issue)
}

// Get returns the loop with an ID.
func (b *Book) Get(ctx context.Context, id string) (Loop, error) {
	return find(ctx, b.store, `WHERE id = $1`, id)
}

// newest is the condition of the newest loop of a pull request.
const newest = `WHERE repository = $1 AND issue = $2 ORDER BY ordinal DESC LIMIT 1`

// find returns the loop that meets a condition, which is SQL from WHERE on.
func find(ctx context.Context, q store.Querier, condition string, args ...any) (Loop, error) {
	l, err := scan(q.QueryRow(ctx, selectLoops+condition, args...))
	if errors.Is(err, store.ErrNotFound) {
		return l, ErrNoLoop
	}
	return l, err
}

// Filter selects loops. A zero field selects all.
type Filter struct {
	Repository string
	Open       bool   // only those that have not ended
	Decide     bool   // only those that wait for a person's decision
	After      string // only loops that List returns after this ID, whose loop may have been deleted
	Limit      int    // the largest number of loops
}

// List returns loops in the order of their repositories. In a repository, the highest issue number
// comes first, and for an issue, the newest loop. The error is ErrNoLoop if After does not have the
// form of an ID.
func (b *Book) List(ctx context.Context, f Filter) ([]Loop, error) {
	where, args := []string{"1 = 1"}, []any{}
	add := func(condition string, values ...any) {
		for _, v := range values {
			args = append(args, v)
			condition = strings.Replace(condition, "?", fmt.Sprintf("$%d", len(args)), 1)
		}
		where = append(where, condition)
	}
	if f.Repository != "" {
		add(`repository = ?`, f.Repository)
	}
	if f.Open || f.Decide {
		add(`outcome = ''`)
	}
	if f.Decide {
		add(`idle = 1`)
	}
	if f.After != "" {
		repository, issue, ordinal, ok := parseID(f.After)
		if !ok {
			return nil, ErrNoLoop
		}
		add(`(repository > ? OR repository = ? AND (issue < ? OR issue = ? AND ordinal < ?))`, repository, repository, issue, issue, ordinal)
	}
	query := selectLoops + `WHERE ` + strings.Join(where, " AND ") + ` ORDER BY repository, issue DESC, ordinal DESC`
	if f.Limit > 0 {
		args = append(args, f.Limit)
		query += fmt.Sprintf(` LIMIT $%d`, len(args))
	}
	return store.List(ctx, b.store, scan, query, args...)
}

// parseID returns the parts of a loop's ID, as NextID puts them together.
func parseID(id string) (repository string, issue, ordinal int, ok bool) {
	sign := strings.LastIndexByte(id, '#')
	if sign < 0 {
		return "", 0, 0, false
	}
	number, last, _ := strings.Cut(id[sign+1:], ".")
	issue, issueErr := strconv.Atoi(number)
	ordinal, ordinalErr := strconv.Atoi(last)
	return id[:sign], issue, ordinal, issueErr == nil && ordinalErr == nil
}

// Messages returns the messages of a loop, oldest first.
func (b *Book) Messages(ctx context.Context, id string) ([]fixloop.Message, error) {
	return store.List(ctx, b.store, func(r store.Row) (m fixloop.Message, err error) {
		var body string
		if err := r.Scan(&body); err != nil {
			return m, err
		}
		err = json.Unmarshal([]byte(body), &m)
		return m, err
	}, `SELECT body FROM messages WHERE loop = $1 ORDER BY n`, id)
}

// IsOpen reports whether a driver has something to do for a loop: it has not ended, or has
// messages that were not delivered.
func (b *Book) IsOpen(ctx context.Context, l Loop) (bool, error) { return isOpen(ctx, b.store, l) }

func isOpen(ctx context.Context, q store.Querier, l Loop) (bool, error) {
	delivered, err := allDelivered(ctx, q, l.ID)
	return l.ID != "" && (l.State.Outcome() == fixloop.Running || !delivered), err
}

// allDelivered reports whether all messages of a loop have been delivered.
func allDelivered(ctx context.Context, q store.Querier, id string) (bool, error) {
	var pending int
	err := q.QueryRow(ctx, `SELECT count(*) FROM messages WHERE loop = $1 AND delivered = 0`, id).Scan(&pending)
	return pending == 0, err
}

// Start returns the newest loop of a pull request, with new settings, if this loop is open.
// Otherwise it opens the next loop, whatever l.Ordinal is. For the ID of a loop, queue returns the
// queue of the engine that will drive the loop.
func (b *Book) Start(ctx context.Context, l fixloop.Loop, settings json.RawMessage, queue func(id string) string) (loop Loop, opened bool, err error) {
	var last Loop
	err = b.store.Transact(ctx, func(tx store.Tx) error {
		var err error
		last, err = find(ctx, tx, newest, l.Repository, l.Issue)
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
		loop, err = b.openNext(ctx, tx, l, last.State.Loop().Ordinal, settings, queue)
		opened = err == nil
		return err
	})
	switch {
	case err == nil && opened && last.ID != "":
		err = b.forget(ctx, last.ID) // its driver may have been killed before it could
	case err == nil && !opened:
		err = b.revive(ctx, loop.ID, queue)
	}
	return loop, opened, err
}

// openNext opens the loop with the next ordinal: after last, and after the ordinals of deleted
// loops.
func (b *Book) openNext(ctx context.Context, tx store.Tx, l fixloop.Loop, last int, settings json.RawMessage, queue func(id string) string) (loop Loop, err error) {
	var deleted int
	err = tx.QueryRow(ctx, `SELECT ordinal FROM loop_numbers WHERE repository = $1 AND issue = $2`, l.Repository, l.Issue).Scan(&deleted)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return loop, err
	}
	last = max(last, deleted)
	l.Ordinal = last + 1
	state, err := fixloop.New(l)
	if err != nil {
		return loop, err
	}
	loop = Loop{ID: NextID(l.Repository, l.Issue, last), State: state, Settings: settings}
	if _, err := tx.Exec(ctx, `INSERT INTO loops (id, repository, issue, ordinal, state, status, outcome, idle, due, settings) VALUES ($1, $2, $3, $4, '', '', '', 0, 0, $5)`,
		loop.ID, l.Repository, l.Issue, l.Ordinal, string(settings)); err != nil {
		return loop, err
	}
	if err := save(ctx, tx, loop.ID, state, nil, 0); err != nil {
		return loop, err
	}
	return loop, b.engine.Enqueue(tx, engine.Request{Queue: queue(loop.ID), Workflow: workflow, ID: workflowID(loop.ID), Input: loop.ID})
}

// revive begins the workflow of an open loop again if it is gone, or has ended because of a defect
// or because an earlier version was interrupted. Nothing is lost: the state of the loop is in this
// package's own tables.
func (b *Book) revive(ctx context.Context, id string, queue func(id string) string) error {
	name := workflowID(id)
	states, err := b.engine.States(name)
	if err != nil {
		return err
	}
	state, known := states[name]
	if known && !state.Status.Final() {
		return nil
	}
	if known {
		if err := b.engine.Delete(name); err != nil {
			return err
		}
	}
	return b.store.Transact(ctx, func(tx store.Tx) error {
		return b.engine.Enqueue(tx, engine.Request{Queue: queue(id), Workflow: workflow, ID: name, Input: id})
	})
}

// forget removes what only the driver of a loop needed. The loop has ended.
func (b *Book) forget(ctx context.Context, id string) error {
	name := workflowID(id)
	states, err := b.engine.States(name)
	if err != nil {
		return err
	}
	state, known := states[name]
	if known && !state.Status.Final() {
		if err := b.engine.Cancel(name); err != nil {
			return err
		}
	}
	if known {
		if err := b.engine.Delete(name); err != nil {
			return err
		}
	}
	_, err = b.store.Exec(ctx, `DELETE FROM loop_results WHERE loop = $1`, id)
	return errors.Join(err, b.engine.RemoveQueue(OfOne(id)))
}

// NextID returns the ID of the loop after the one with the ordinal last. If last is 0, that is the
// first loop.
func NextID(repository string, issue, last int) string {
	return repository + "#" + strconv.Itoa(issue) + "." + strconv.Itoa(last+1)
}

// Apply sends a loop an event, once for each key, and wakes its driver. The error is a
// *fixloop.Refused if the event is not possible now: then nothing has changed.
func (b *Book) Apply(ctx context.Context, id, key string, e fixloop.Event) error {
	return b.ApplyAsked(ctx, id, key, "", e)
}

// ConflictError reports that a key was used to ask a loop for something else.
type ConflictError struct{ Loop string }

// Error implements error.
func (e *ConflictError) Error() string {
	return fmt.Sprintf("the idempotency key was used for another request to %s: use a new key", e.Loop)
}

// ApplyAsked is Apply of an event that somebody asked for under a key. asked identifies the request.
// The error is a *ConflictError if the key was used for another one.
func (b *Book) ApplyAsked(ctx context.Context, id, key, asked string, e fixloop.Event) error {
	return b.store.Transact(ctx, func(tx store.Tx) error {
		applied, err := tx.Exec(ctx, `INSERT INTO inbox (loop, key, asked) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`, id, key, asked)
		if err != nil {
			return err
		}
		if applied == 0 {
			return sameRequest(ctx, tx, id, key, asked)
		}
		if _, err := b.step(ctx, tx, id, e); err != nil {
			return err
		}
		err = b.engine.Send(tx, workflowID(id), "wake", key)
		if errors.Is(err, engine.ErrNoWorkflow) { // the loop has ended, and its workflow was forgotten
			return nil
		}
		return err
	})
}

// sameRequest returns a *ConflictError unless a key was used for the same request, or for one that is
// not known.
func sameRequest(ctx context.Context, tx store.Tx, id, key, asked string) error {
	var before string
	err := tx.QueryRow(ctx, `SELECT asked FROM inbox WHERE loop = $1 AND key = $2`, id, key).Scan(&before)
	if err == nil && before != asked && before != "" {
		err = &ConflictError{id}
	}
	return err
}

// step takes a step of a loop in a transaction, and returns the next state.
func (b *Book) step(ctx context.Context, tx store.Tx, id string, e fixloop.Event) (fixloop.State, error) {
	l, err := b.locked(ctx, tx, id)
	if err != nil {
		return fixloop.State{}, err
	}
	next, messages, _, err := fixloop.Step(l.State, e, time.Now())
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
	condition := `WHERE id = $1`
	if b.store.Postgres() != nil {
		condition += ` FOR UPDATE`
	}
	return find(ctx, tx, condition, id)
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

// Keep records the result of a part of a loop's work, before it has any effect. If a result was
// kept under the key before, it stays and is returned.
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

// workflowID returns the id of the workflow that carries a loop.
func workflowID(id string) string { return "loop " + id }
