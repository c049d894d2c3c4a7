package runs

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/agent-airlock/airlock/internal/agents"
	"github.com/agent-airlock/airlock/internal/store"
)

// Service creates, shows and stops runs. It is safe for concurrent use.
type Service struct {
	registry *agents.Registry
	store    *store.Store
	batch    *batcher
	watcher  *watcher
	announce *announcer
	worker   *Worker // of this process
}

// New returns the service of a store that was opened with Tables. The caller closes the
// service before the store. worker is that of this process; it need not be started. The service and
// the worker wake each other, so that neither has to look into the store for what the other has
// done.
func New(registry *agents.Registry, s *store.Store, worker *Worker) *Service {
	service := &Service{registry: registry, store: s, batch: newBatcher(s), watcher: newWatcher(s), announce: newAnnouncer(s), worker: worker}
	worker.changed = service.watcher.changed
	return service
}

// Close waits until all requests are recorded. No method may be called any more.
func (s *Service) Close() {
	s.batch.close()
	s.announce.close()
	s.watcher.close()
}

// notify wakes everybody who waits for a run, and all workers, because the run has changed.
func (s *Service) notify(id string) {
	s.watcher.changed(id)
	s.worker.wakeUp()
	s.announce.announce()
}

// Request asks for a run.
type Request struct {
	AgentName  string
	Parameters json.RawMessage // nil means {}
	// Needs are tags that a worker must have, in addition to those of the agent.
	Needs []string
	// Key makes the request repeatable: requests with the same key, agent, parameters and needs get
	// the same run. "" for none.
	Key string
}

// MaxKey is how long an idempotency key may be, in bytes.
const MaxKey = 255

// ValidKey reports whether key may be an idempotency key: it has 1 to MaxKey printable characters of
// ASCII.
func ValidKey(key string) bool {
	return key != "" && len(key) <= MaxKey && !strings.ContainsFunc(key, func(c rune) bool { return c < ' ' || c > '~' })
}

// ConflictError reports that an idempotency key was used for another request.
type ConflictError struct{ Key string }

// Error implements error.
func (e *ConflictError) Error() string {
	return fmt.Sprintf("the idempotency key %q was used for a run with another agent, other parameters or other needs: use a new key", e.Key)
}

// Create validates the parameters and records a run; replayed reports that the key's run was there
// already. Nothing is recorded if the error is an *agents.NotFoundError, an *agents.ParameterError,
// an *InvalidNeedsError or a *ConflictError. After any other error the run may have been recorded,
// because the store's answer may have been lost.
func (s *Service) Create(ctx context.Context, q Request) (r Run, replayed bool, err error) {
	if q.Parameters == nil {
		q.Parameters = json.RawMessage(`{}`)
	}
	var digest string
	if q.Key != "" {
		digest = q.digest()
		if r, err = s.byKey(ctx, q.Key, digest); !errors.Is(err, store.ErrNotFound) {
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
	needs, err := needsOf(b, q.Needs)
	if err != nil {
		return r, false, err
	}
	blueprint, err := json.Marshal(b)
	if err != nil {
		return r, false, err
	}
	now := time.Now()
	fresh := Run{ID: newID(now), AgentName: b.Name, AgentVersion: b.Version, Status: Pending, Parameters: q.Parameters, Needs: splitTags(needs), CreatedAt: now.UTC().Truncate(time.Millisecond)}
	changed, err := s.batch.apply(ctx, creation(fresh, string(blueprint), needs, b.TimeLimit(), q.Key, digest))
	if err != nil {
		return r, false, err
	}
	s.notify(fresh.ID)
	if q.Key == "" || changed[0] == 1 {
		return fresh, false, nil
	}
	// The key's run is another one that was recorded meanwhile, or this one if its statements were
	// executed twice.
	r, err = s.byKey(ctx, q.Key, digest)
	return r, err == nil && r.ID != fresh.ID, err
}

// creation returns the statements that record a run. They can be executed twice. If key is that of
// another run, they record no run, and the first statement, which is about the key, changes no row.
func creation(r Run, blueprint, needs string, limit time.Duration, key, digest string) (all []store.Statement) {
	at := r.CreatedAt.UnixMilli()
	if key != "" {
		all = append(all, store.Statement{Text: `INSERT INTO run_keys (key, body, run) VALUES ($1, $2, $3) ON CONFLICT (key) DO NOTHING`, Args: []any{key, digest, r.ID}})
	}
	if needs != "" {
		all = append(all, store.Statement{Text: `INSERT INTO run_queues (needs, used, looked, unserved) VALUES ($1, $2, $2, 0) ON CONFLICT (needs) DO UPDATE SET used = excluded.used`, Args: []any{needs, at}})
	}
	const ifKeyIsOurs = ` WHERE ($2 = '' OR EXISTS (SELECT 1 FROM run_keys WHERE key = $2 AND run = $1))`
	return append(all,
		store.Statement{Text: `INSERT INTO runs (id, agent, agent_version, blueprint, parameters, status, attempt, events, created, needs, time_limit)
SELECT $1, $3, CAST($4 AS BIGINT), $5, $6, 'pending', 0, 1, CAST($7 AS BIGINT), $8, CAST($9 AS BIGINT)` + ifKeyIsOurs + ` ON CONFLICT (id) DO NOTHING`,
			Args: []any{r.ID, key, r.AgentName, r.AgentVersion, blueprint, string(r.Parameters), at, needs, limit.Milliseconds()}},
		store.Statement{Text: `INSERT INTO run_events (run, n, status, at) SELECT $1, 1, 'pending', CAST($3 AS BIGINT)` + ifKeyIsOurs + ` ON CONFLICT (run, n) DO NOTHING`, Args: []any{r.ID, key, at}})
}

// digest identifies the agent, the parameters and the needs. White space, escapes in texts, and the
// order of members and of needs make no difference. Numbers count as they are written, because two
// different ones can be the same as floating-point numbers.
func (q Request) digest() string {
	parameters := jsontext.Value(q.Parameters).Clone()
	if parameters.Canonicalize(jsontext.CanonicalizeRawInts(false), jsontext.CanonicalizeRawFloats(false)) != nil {
		parameters = jsontext.Value(q.Parameters) // it is not valid, and will be refused
	}
	text := q.AgentName + "\n" + string(parameters)
	if len(q.Needs) > 0 {
		needs := slices.Compact(slices.Sorted(slices.Values(q.Needs)))
		text += "\n" + strings.Join(needs, "+")
	}
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// byKey returns the run of an idempotency key, whose request must have the digest. The error is
// store.ErrNotFound if there is none.
func (s *Service) byKey(ctx context.Context, key, digest string) (Run, error) {
	var recorded, id string
	if err := s.store.QueryRow(ctx, `SELECT body, run FROM run_keys WHERE key = $1`, key).Scan(&recorded, &id); err != nil {
		return Run{}, err
	}
	if recorded != digest {
		return Run{}, &ConflictError{key}
	}
	return get(ctx, s.store, id)
}

// Get returns a run. The error may be a *NotFoundError.
func (s *Service) Get(ctx context.Context, id string) (Run, error) {
	r, err := get(ctx, s.store, id)
	if err != nil {
		return r, err
	}
	one := []Run{r}
	err = s.explain(ctx, one)
	return one[0], err
}

// explain sets the StatusReason of those runs that no live worker can take.
func (s *Service) explain(ctx context.Context, list []Run) error {
	waits := func(r Run) bool { return !r.Status.Final() && r.Worker == "" }
	if !slices.ContainsFunc(list, waits) {
		return nil
	}
	live, err := liveTags(ctx, s.store)
	if err != nil {
		return err
	}
	for i, r := range list {
		if waits(r) && !anyServes(live, r.Needs) {
			list[i].StatusReason = noWorker(r.Needs)
		}
	}
	return nil
}

// Filter selects runs. What is zero selects all.
type Filter struct {
	AgentName string
	Status    Status
	Before    string // a run's id: only runs that are older
	Limit     int    // required: the largest number of runs
}

// maxListed is the number of bytes of parameters after which List returns no further run.
const maxListed = 4 << 20

// errEnough ends a query whose further rows are not wanted.
var errEnough = errors.New("enough")

// List returns runs, the newest first, and fewer than the filter's limit if their parameters are
// large. more reports whether there are older ones. To list these, Before is the ID of the last run
// of the list.
func (s *Service) List(ctx context.Context, f Filter) (list []Run, more bool, err error) {
	where, args := []string{"1 = 1"}, []any{}
	for _, c := range []struct{ condition, value string }{{"agent = ", f.AgentName}, {"status = ", string(f.Status)}, {"id < ", f.Before}} {
		if c.value != "" {
			args = append(args, c.value)
			where = append(where, fmt.Sprintf("%s$%d", c.condition, len(args)))
		}
	}
	args = append(args, f.Limit+1)
	size := 0
	err = s.store.Query(ctx, func(row store.Row) error {
		if len(list) == f.Limit || size > maxListed {
			return errEnough
		}
		r, err := scan(row)
		list, size = append(list, r), size+len(r.Parameters)
		return err
	}, `SELECT `+listed+` FROM runs WHERE `+strings.Join(where, " AND ")+fmt.Sprintf(` ORDER BY id DESC LIMIT $%d`, len(args)), args...)
	if more = errors.Is(err, errEnough); err != nil && !more {
		return nil, false, err
	}
	return list, more, s.explain(ctx, list)
}

// EndedError reports that a run has ended, so that it cannot be stopped.
type EndedError struct {
	ID     string
	Status Status
}

// Error implements error.
func (e *EndedError) Error() string {
	return fmt.Sprintf("the run %s has ended already: it is %s", e.ID, e.Status)
}

// Stop asks for a run's end. A waiting run is stopped at once. A running one has the status
// stopping until its process has ended. Stopping it again changes nothing. The error may be a
// *NotFoundError or an *EndedError.
func (s *Service) Stop(ctx context.Context, id string) (Run, error) {
	var r Run
	err := s.store.Transact(ctx, func(tx store.Tx) error {
		now := s.store.Now()
		waited, err := change(ctx, s.store, tx, id, Stopped, `, ended = `+now, `worker IS NULL AND ended IS NULL`)
		if err == nil && !waited {
			_, err = change(ctx, s.store, tx, id, Stopping, ``, `status = 'running'`)
		}
		if err != nil {
			return err
		}
		r, err = get(ctx, tx, id)
		if err == nil && r.Status.Final() && r.Status != Stopped {
			err = &EndedError{id, r.Status}
		}
		return err
	})
	if err == nil {
		s.notify(id)
	}
	return r, err
}

// Watch returns a channel that receives a value soon after the call, and after the run has
// changed; one value may stand for several changes. The caller calls leave.
func (s *Service) Watch(id string) (changes <-chan struct{}, leave func()) {
	return s.watcher.watch(id)
}

// Wait waits until a run has ended or ctx has, and returns it as it is then.
func (s *Service) Wait(ctx context.Context, id string) (Run, error) {
	changes, leave := s.Watch(id)
	defer leave()
	for {
		r, err := s.Get(context.WithoutCancel(ctx), id)
		if err != nil || r.Status.Final() {
			return r, err
		}
		select {
		case <-ctx.Done():
			return s.Get(context.WithoutCancel(ctx), id)
		case <-changes:
		}
	}
}

// Result returns what a run answered, as JSON; nil if it has not completed, or if its result was
// deleted since.
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

// Log returns what a run has written so far, masked, beginning with piece n. next is the number of
// the piece to continue with.
func (s *Service) Log(ctx context.Context, id string, n int64) (text string, next int64, err error) {
	var b strings.Builder
	next = n
	err = s.store.Query(ctx, func(row store.Row) error {
		var piece string
		if err := row.Scan(&next, &piece); err != nil {
			return err
		}
		next++
		b.WriteString(piece)
		return nil
	}, `SELECT n, text FROM run_log WHERE run = $1 AND n >= $2 ORDER BY n`, id, n)
	return b.String(), next, err
}

// Ready returns an error unless the store answers.
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
	}, `SELECT status, count(*) FROM runs WHERE status IN ('pending', 'running', 'stopping') GROUP BY status`)
	return counts, err
}
