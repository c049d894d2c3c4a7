package runs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/agent-airlock/airlock/internal/store"
	"github.com/agent-airlock/airlock/internal/text"
)

// Tables are the tables of runs. Durations are in milliseconds, and times in milliseconds since 1970.
var Tables = store.Schema{Package: "runs", Steps: []store.Step{
	// events is the number of a run's events, and deadline when its time limit ends. A key's body is
	// the digest of the request.
	store.Both(`
CREATE TABLE runs (
	id TEXT PRIMARY KEY,
	agent TEXT NOT NULL,
	agent_version BIGINT NOT NULL,
	blueprint TEXT NOT NULL,
	parameters TEXT NOT NULL,
	status TEXT NOT NULL,
	attempt BIGINT NOT NULL,
	events BIGINT NOT NULL,
	created BIGINT NOT NULL,
	started BIGINT,
	deadline BIGINT,
	ended BIGINT,
	result TEXT,
	error TEXT
);
CREATE INDEX runs_by_agent ON runs (agent, id);
CREATE INDEX runs_by_status ON runs (status, id);
CREATE INDEX runs_by_end ON runs (ended);
CREATE TABLE run_keys (
	key TEXT PRIMARY KEY,
	body TEXT NOT NULL,
	run TEXT NOT NULL
);
CREATE INDEX run_keys_by_run ON run_keys (run);
CREATE TABLE run_events (
	run TEXT NOT NULL,
	n BIGINT NOT NULL,
	status TEXT NOT NULL,
	at BIGINT NOT NULL,
	PRIMARY KEY (run, n)
);
CREATE TABLE run_log (
	run TEXT NOT NULL,
	n BIGINT NOT NULL,
	text TEXT NOT NULL,
	PRIMARY KEY (run, n)
)`),
	// needs and tags are joined by '+'. expired is 1 after a run's result and log were deleted.
	// run_queues has a row for each set of needs. Its column used is when a run with these needs was
	// last created, looked is when Tend last looked for a worker that can take such a run, and
	// unserved is for how long there had been no such worker at that time.
	store.Both(`
ALTER TABLE runs ADD COLUMN needs TEXT NOT NULL DEFAULT '';
ALTER TABLE runs ADD COLUMN time_limit BIGINT NOT NULL DEFAULT 3600000;
ALTER TABLE runs ADD COLUMN worker TEXT;
ALTER TABLE runs ADD COLUMN restarts BIGINT NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN expired BIGINT NOT NULL DEFAULT 0;
CREATE INDEX runs_to_expire ON runs (ended) WHERE expired = 0 AND ended IS NOT NULL;
CREATE INDEX runs_to_take ON runs (needs, id) WHERE worker IS NULL AND ended IS NULL;
CREATE INDEX runs_of_worker ON runs (worker) WHERE worker IS NOT NULL AND ended IS NULL;
CREATE TABLE run_workers (
	id TEXT PRIMARY KEY,
	tags TEXT NOT NULL,
	concurrency BIGINT NOT NULL,
	lease BIGINT NOT NULL,
	started BIGINT NOT NULL,
	seen BIGINT NOT NULL
);
CREATE TABLE run_queues (
	needs TEXT PRIMARY KEY,
	used BIGINT NOT NULL,
	looked BIGINT NOT NULL,
	unserved BIGINT NOT NULL
);
INSERT INTO run_queues (needs, used, looked, unserved) VALUES ('', 0, 0, 0)`),
	// If the index contained runs that have not ended, PostgreSQL would use it for the waiting
	// runs, and sort all of them to find the oldest.
	store.Both(`
DROP INDEX runs_by_end;
CREATE INDEX runs_by_end ON runs (ended) WHERE ended IS NOT NULL`)}}

const columns = `id, agent, agent_version, blueprint, parameters, status, attempt, needs, worker, restarts, created, started, ended, error`

// listed are the columns of a run that is only shown, without its blueprint, which is large.
const listed = `id, agent, agent_version, '{}', parameters, status, attempt, needs, worker, restarts, created, started, ended, error`

const selectRuns = `SELECT ` + columns + ` FROM runs`

// scan reads the columns of a run, and more columns after them.
func scan(row store.Row, more ...any) (Run, error) {
	var r Run
	var blueprint, parameters, needs string
	var worker, failure *string
	var created int64
	var started, ended *int64
	err := row.Scan(append([]any{&r.ID, &r.AgentName, &r.AgentVersion, &blueprint, &parameters, &r.Status, &r.Attempt, &needs, &worker, &r.restarts, &created, &started, &ended, &failure}, more...)...)
	if err != nil {
		return r, err
	}
	r.Needs = splitTags(needs)
	if worker != nil {
		r.Worker = *worker
	}
	r.Parameters, r.CreatedAt = json.RawMessage(parameters), time.UnixMilli(created).UTC()
	r.StartedAt, r.EndedAt = timeOf(started), timeOf(ended)
	if failure != nil {
		err = json.Unmarshal([]byte(*failure), &r.Error)
	}
	err = errors.Join(err, json.Unmarshal([]byte(blueprint), &r.blueprint))
	return r, err
}

func timeOf(ms *int64) *time.Time {
	if ms == nil {
		return nil
	}
	t := time.UnixMilli(*ms).UTC()
	return &t
}

func get(ctx context.Context, q store.Querier, id string) (Run, error) {
	r, err := scan(q.QueryRow(ctx, selectRuns+` WHERE id = $1`, id))
	if errors.Is(err, store.ErrNotFound) {
		return r, &NotFoundError{id}
	}
	return r, err
}

// NotFoundError reports that there is no such run, or no longer.
type NotFoundError struct{ ID string }

// Error implements error.
func (e *NotFoundError) Error() string {
	if !IsID(e.ID) {
		return fmt.Sprintf("there is no run %q: the id of a run has the form that 'airlock runs list', GET /runs and the tool list_runs show", text.Truncate(e.ID, 100))
	}
	return fmt.Sprintf("there is no run %q; runs are deleted some time after they have ended", text.Truncate(e.ID, 100))
}

// change sets columns of a run, among them its status, and records the event. It reports
// false, without any change, unless the condition holds. set, which begins with a comma or is "",
// and condition are SQL; their parameters are counted from $3. q is a transaction of the
// store; for PostgreSQL, where this is one statement, it may be the store itself.
func change(ctx context.Context, s *store.Store, q store.Querier, id string, to Status, set, condition string, args ...any) (bool, error) {
	update := `UPDATE runs SET status = $2, events = events + 1` + set + ` WHERE id = $1 AND ` + condition + ` RETURNING events`
	args = append([]any{id, string(to)}, args...)
	if s.Postgres() != nil {
		n, err := q.Exec(ctx, `WITH changed AS (`+update+`) INSERT INTO run_events (run, n, status, at) SELECT $1, events, $2, `+s.Now()+` FROM changed`, args...)
		return n == 1, err
	}
	var n int64
	err := q.QueryRow(ctx, update, args...).Scan(&n)
	if errors.Is(err, store.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	_, err = q.Exec(ctx, `INSERT INTO run_events (run, n, status, at) VALUES ($1, $2, $3, `+s.Now()+`)`, id, n, string(to))
	return err == nil, err
}

// outcome is how a run ended.
type outcome struct {
	Status Status
	Result json.RawMessage
	Error  *Error
}

// end records how a run ended, once: it changes nothing if the run has ended already, or if the
// condition, which is SQL, does not hold. The condition's parameters are counted from $5.
func (o outcome) end(ctx context.Context, s *store.Store, id, condition string, args ...any) error {
	var result, failure any
	if o.Result != nil {
		result = string(o.Result)
	}
	if o.Error != nil {
		raw, err := json.Marshal(o.Error)
		if err != nil {
			return err
		}
		failure = string(raw)
	}
	args = append([]any{result, failure}, args...)
	end := func(q store.Querier) error {
		_, err := change(ctx, s, q, id, o.Status, `, ended = `+s.Now()+`, result = $3, error = $4`, `ended IS NULL AND `+condition, args...)
		return err
	}
	if s.Postgres() != nil {
		return end(s)
	}
	return s.Transact(ctx, func(tx store.Tx) error { return end(tx) })
}
