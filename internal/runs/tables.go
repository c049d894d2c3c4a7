package runs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/agent-airlock/airlock/internal/store"
)

// Tables are the tables of runs.
var Tables = store.Schema{Package: "runs", Steps: []store.Step{store.Both(`
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
)`)}}

const selectRuns = `SELECT id, agent, agent_version, blueprint, parameters, status, attempt, created, started, deadline, ended, error FROM runs`

func scan(row store.Row) (Run, error) {
	var r Run
	var blueprint, parameters string
	var created int64
	var started, deadline, ended *int64
	var failure *string
	err := row.Scan(&r.ID, &r.AgentName, &r.AgentVersion, &blueprint, &parameters, &r.Status, &r.Attempt, &created, &started, &deadline, &ended, &failure)
	if err != nil {
		return r, err
	}
	r.Parameters, r.CreatedAt = json.RawMessage(parameters), time.UnixMilli(created).UTC()
	r.StartedAt, r.EndedAt = timeOf(started), timeOf(ended)
	if failure != nil {
		err = json.Unmarshal([]byte(*failure), &r.Error)
	}
	return r, errors.Join(err, json.Unmarshal([]byte(blueprint), &r.blueprint))
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

// NotFoundError says that there is no such run, or no longer.
type NotFoundError struct{ ID string }

// Error implements error.
func (e *NotFoundError) Error() string {
	return fmt.Sprintf("there is no run %q; results are deleted some time after their end", e.ID)
}

// change sets columns of a run, among them its status, and records the event. It reports
// false, without any change, unless the condition holds. set and condition are SQL; their
// parameters are counted from $3.
func change(ctx context.Context, tx store.Tx, now, id string, to Status, set, condition string, args ...any) (bool, error) {
	var n int64
	err := tx.QueryRow(ctx, `UPDATE runs SET status = $2, events = events + 1`+set+` WHERE id = $1 AND `+condition+` RETURNING events`, append([]any{id, string(to)}, args...)...).Scan(&n)
	if errors.Is(err, store.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	_, err = tx.Exec(ctx, `INSERT INTO run_events (run, n, status, at) VALUES ($1, $2, $3, `+now+`)`, id, n, string(to))
	return err == nil, err
}

// notEnded is the condition of a run that has not ended.
const notEnded = `status IN ('pending', 'running', 'stopping')`

// outcome is how a run ended. Its JSON is what the engine records of the step.
type outcome struct {
	Status  Status          `json:"status"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   *Error          `json:"error,omitempty"`
	Attempt int             `json:"attempt,omitempty"`
}

// end records how a run ended, once: it reports false if it has ended already.
func (o outcome) end(ctx context.Context, tx store.Tx, now, id string) (bool, error) {
	var result, failure any
	if o.Result != nil {
		result = string(o.Result)
	}
	if o.Error != nil {
		raw, err := json.Marshal(o.Error)
		if err != nil {
			return false, err
		}
		failure = string(raw)
	}
	return change(ctx, tx, now, id, o.Status, `, ended = `+now+`, result = $3, error = $4`, notEnded, result, failure)
}
