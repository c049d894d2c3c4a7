package runs

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/agent-airlock/airlock/internal/agents"
	"github.com/agent-airlock/airlock/internal/engine"
	"github.com/agent-airlock/airlock/internal/store"
)

// Service creates, shows and stops runs. It is safe for concurrent use.
type Service struct {
	registry *agents.Registry
	engine   *engine.Engine
	store    *store.Store
	batch    *batcher
}

// New returns the service of an engine, whose store was opened with Tables. The caller
// closes the service before the engine.
func New(registry *agents.Registry, e *engine.Engine) *Service {
	return &Service{registry: registry, engine: e, store: e.Store(), batch: newBatcher(e.Store())}
}

// Close waits until what was asked for is recorded. No method may be called any more.
func (s *Service) Close() { s.batch.close() }

// Request asks for a run.
type Request struct {
	AgentName  string
	Parameters json.RawMessage // nil means {}
	// Key makes the request one that can be repeated: the same key with the same agent and
	// parameters is the same run. "" for none.
	Key string
}

// ConflictError says that an idempotency key was used for another request.
type ConflictError struct{ Key string }

// Error implements error.
func (e *ConflictError) Error() string {
	return fmt.Sprintf("the idempotency key %q was used for a run with another agent or other parameters: use a new key", e.Key)
}

// Create validates the parameters and records a run; replayed reports that the key's run
// was there already. Nothing is recorded after an error, which may be an
// *agents.NotFoundError, an *agents.ParameterError or a *ConflictError.
func (s *Service) Create(ctx context.Context, q Request) (r Run, replayed bool, err error) {
	if q.Parameters == nil {
		q.Parameters = json.RawMessage(`{}`)
	}
	var body string
	if q.Key != "" {
		body = q.digest()
		if r, err = s.byKey(ctx, s.store, q.Key, body); !errors.Is(err, store.ErrNotFound) {
			return r, err == nil, err
		}
	}
	b, err := s.registry.Get(ctx, q.AgentName)
	if err != nil {
		return r, false, err
	}
	if err := s.registry.Parameters(b, q.Parameters); err != nil {
		return r, false, err
	}
	blueprint, err := json.Marshal(b)
	if err != nil {
		return r, false, err
	}
	now := time.Now()
	fresh := Run{ID: newID(now), AgentName: b.Name, AgentVersion: b.Version, Status: Pending, Parameters: q.Parameters, CreatedAt: now.UTC().Truncate(time.Millisecond)}
	err = s.batch.transact(ctx, func(ctx context.Context, tx store.Tx) error {
		r, replayed = fresh, false
		if q.Key != "" {
			added, err := tx.Exec(ctx, `INSERT INTO run_keys (key, body, run) VALUES ($1, $2, $3) ON CONFLICT (key) DO NOTHING`, q.Key, body, fresh.ID)
			if err != nil {
				return err
			}
			if added == 0 {
				replayed = true
				r, err = s.byKey(ctx, tx, q.Key, body)
				return err
			}
		}
		at := now.UnixMilli()
		if _, err := tx.Exec(ctx, `INSERT INTO runs (id, agent, agent_version, blueprint, parameters, status, attempt, events, created) VALUES ($1, $2, $3, $4, $5, 'pending', 0, 1, $6)`,
			fresh.ID, b.Name, b.Version, string(blueprint), string(q.Parameters), at); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, `INSERT INTO run_events (run, n, status, at) VALUES ($1, 1, 'pending', $2)`, fresh.ID, at); err != nil {
			return err
		}
		return s.engine.Enqueue(tx, engine.Request{Queue: queue, Workflow: workflow, ID: fresh.ID})
	})
	return r, replayed, err
}

// digest stands for the agent and the parameters, however they are written.
func (q Request) digest() string {
	parameters := jsontext.Value(q.Parameters).Clone()
	if parameters.Canonicalize() != nil {
		parameters = jsontext.Value(q.Parameters) // it is not valid, and will be refused
	}
	sum := sha256.Sum256([]byte(q.AgentName + "\n" + string(parameters)))
	return hex.EncodeToString(sum[:])
}

// byKey returns the run of an idempotency key; store.ErrNotFound if there is none.
func (s *Service) byKey(ctx context.Context, q store.Querier, key, body string) (Run, error) {
	var of, id string
	if err := q.QueryRow(ctx, `SELECT body, run FROM run_keys WHERE key = $1`, key).Scan(&of, &id); err != nil {
		return Run{}, err
	}
	if of != body {
		return Run{}, &ConflictError{key}
	}
	return get(ctx, q, id)
}

// Get returns a run. The error may be a *NotFoundError.
func (s *Service) Get(ctx context.Context, id string) (Run, error) { return get(ctx, s.store, id) }

// Filter selects runs. What is zero selects all.
type Filter struct {
	AgentName string
	Status    Status
	Before    string // a run's id: only runs that are older
	Limit     int    // required: at most so many
}

// List returns runs, the newest first.
func (s *Service) List(ctx context.Context, f Filter) ([]Run, error) {
	where, args := []string{"1 = 1"}, []any{}
	for _, c := range []struct{ condition, value string }{{"agent = ", f.AgentName}, {"status = ", string(f.Status)}, {"id < ", f.Before}} {
		if c.value != "" {
			args = append(args, c.value)
			where = append(where, fmt.Sprintf("%s$%d", c.condition, len(args)))
		}
	}
	args = append(args, f.Limit)
	return store.List(ctx, s.store, scan, selectRuns+` WHERE `+strings.Join(where, " AND ")+fmt.Sprintf(` ORDER BY id DESC LIMIT $%d`, len(args)), args...)
}

// EndedError says that a run has ended, so that it cannot be stopped.
type EndedError struct {
	ID     string
	Status Status
}

// Error implements error.
func (e *EndedError) Error() string {
	return fmt.Sprintf("the run %s has ended already: it is %s", e.ID, e.Status)
}

// Stop asks for a run's end. One that waits is stopped at once, and one that runs is
// stopping until its process has ended. Stopping it again changes nothing. The error may
// be a *NotFoundError or an *EndedError.
func (s *Service) Stop(ctx context.Context, id string) (Run, error) {
	var r Run
	waited := false
	err := s.store.Transact(ctx, func(tx store.Tx) error {
		var err error
		if waited, err = (outcome{Status: Stopped}).stopPending(ctx, tx, s.store.Now(), id); err != nil {
			return err
		}
		if !waited {
			if _, err := change(ctx, tx, s.store.Now(), id, Stopping, ``, `status = 'running'`); err != nil {
				return err
			}
		}
		r, err = get(ctx, tx, id)
		if err == nil && r.Status.Final() && r.Status != Stopped {
			err = &EndedError{id, r.Status}
		}
		return err
	})
	if err == nil && waited {
		err = s.engine.Cancel(id) // so that it does not wait for a worker any more
	}
	return r, err
}

func (o outcome) stopPending(ctx context.Context, tx store.Tx, now, id string) (bool, error) {
	return change(ctx, tx, now, id, o.Status, `, ended = `+now, `status = 'pending'`)
}

// look is how often waiting looks whether something has changed.
const look = 100 * time.Millisecond

// Wait waits until a run has ended or ctx has, and returns it as it is then.
func (s *Service) Wait(ctx context.Context, id string) (Run, error) {
	tick := time.NewTicker(look)
	defer tick.Stop()
	for {
		r, err := get(context.WithoutCancel(ctx), s.store, id)
		if err != nil || r.Status.Final() {
			return r, err
		}
		select {
		case <-ctx.Done():
			return r, nil
		case <-tick.C:
		}
	}
}

// Result returns what a run answered, as JSON; nil if it has not completed.
func (s *Service) Result(ctx context.Context, id string) (json.RawMessage, error) {
	var result *string
	err := s.store.QueryRow(ctx, `SELECT result FROM runs WHERE id = $1`, id).Scan(&result)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return nil, &NotFoundError{id}
	case err != nil || result == nil:
		return nil, err
	}
	return json.RawMessage(*result), nil
}

// Events returns the events of a run after the one with number n.
func (s *Service) Events(ctx context.Context, id string, n int64) ([]Event, error) {
	return store.List(ctx, s.store, func(row store.Row) (Event, error) {
		e := Event{RunID: id}
		var at int64
		err := row.Scan(&e.N, &e.Status, &at)
		e.At = time.UnixMilli(at).UTC()
		return e, err
	}, `SELECT n, status, at FROM run_events WHERE run = $1 AND n > $2 ORDER BY n`, id, n)
}

// Log returns what a run has written so far, masked, from a piece on; next is where the
// following pieces begin.
func (s *Service) Log(ctx context.Context, id string, from int64) (text string, next int64, err error) {
	var b strings.Builder
	next = from
	err = s.store.Query(ctx, func(row store.Row) error {
		var piece string
		if err := row.Scan(&next, &piece); err != nil {
			return err
		}
		next++
		b.WriteString(piece)
		return nil
	}, `SELECT n, text FROM run_log WHERE run = $1 AND n >= $2 ORDER BY n`, id, from)
	return b.String(), next, err
}

// Ready reports whether the store answers.
func (s *Service) Ready(ctx context.Context) error {
	var n int64
	return s.store.QueryRow(ctx, `SELECT 1`).Scan(&n)
}

// Count returns how many runs have each status that is not final.
func (s *Service) Count(ctx context.Context) (map[Status]int64, error) {
	counts := map[Status]int64{Pending: 0, Running: 0, Stopping: 0}
	err := s.store.Query(ctx, func(row store.Row) error {
		var status Status
		var n int64
		err := row.Scan(&status, &n)
		counts[status] = n
		return err
	}, `SELECT status, count(*) FROM runs WHERE `+notEnded+` GROUP BY status`)
	return counts, err
}
