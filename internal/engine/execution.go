package engine

import (
	"context"
	"errors"
	"time"

	"github.com/dbos-inc/dbos-transact-golang/dbos"

	"github.com/agent-airlock/airlock/internal/crash"
	"github.com/agent-airlock/airlock/internal/store"
)

// topic is where messages of Send wait for Receive.
const topic = "in"

// body is a workflow as the engine registers it.
type body struct {
	engine *Engine
	Workflow
}

// ConfigName distinguishes the workflows, which are all the same method.
func (b *body) ConfigName() string { return b.Name }

func (b *body) run(ctx dbos.Context, input string) (string, error) {
	id, err := dbos.GetWorkflowID(ctx)
	if err != nil {
		return "", err
	}
	b.engine.begun.Store(id, true)
	defer b.engine.begun.Delete(id)
	err = b.Run(&Execution{ctx: ctx, engine: b.engine, id: id}, input)
	if err != nil && (ctx.Err() != nil || b.engine.GiveUp(err)) {
		// It has not failed. Because the error wraps that of ctx, the next engine resumes it.
		<-ctx.Done()
		return "", errors.Join(ctx.Err(), err)
	}
	return "", err
}

// Execution is a running workflow, as its function sees it. Only Transaction, Step and
// Receive may have effects or read what changes, such as the time.
type Execution struct {
	ctx    dbos.Context
	engine *Engine
	id     string
}

// ID returns the workflow's id.
func (x *Execution) ID() string { return x.id }

// Transaction runs do in a transaction, once: its result is recorded in the same transaction, and
// returned instead if the workflow is replayed. An error is recorded, too, after the transaction
// was rolled back. The result is kept as JSON.
func Transaction[T any](x *Execution, name string, do func(ctx context.Context, tx store.Tx) (T, error)) (T, error) {
	return dbos.RunAsTransaction(x.ctx, x.engine.data, func(ctx context.Context, tx dbos.Tx) (T, error) {
		return withoutTrouble(x, func() (T, error) { return do(ctx, engineTx{tx}) })
	}, dbos.WithStepName(name))
}

// Step runs do and records its result, which is returned instead if the workflow is replayed. If
// the process is killed before the result is recorded, do runs again, so its effects must be
// idempotent. The context of do ends with the engine. The result is kept as JSON.
func Step[T any](x *Execution, name string, do func(ctx context.Context) (T, error)) (T, error) {
	return dbos.RunAsStep(x.ctx, func(ctx context.Context) (T, error) {
		return withoutTrouble(x, func() (T, error) { return do(ctx) })
	}, dbos.WithStepName(name))
}

// withoutTrouble calls do, and makes a panic an error. An error about lasting trouble with the
// store ends the engine before the error can be recorded as a result.
func withoutTrouble[T any](x *Execution, do func() (T, error)) (result T, err error) {
	err = crash.Try(func() error { result, err = do(); return err })
	if x.engine.GiveUp(err) {
		<-x.ctx.Done()
	}
	return result, err
}

// Receive waits for a message of Send. ok is false if none came in time. Time also
// passes while no process runs the workflow.
func (x *Execution) Receive(wait time.Duration) (message string, ok bool, err error) {
	message, err = dbos.Recv[string](x.ctx, topic, wait)
	if errors.Is(err, dbos.ErrTimeout) {
		return "", false, nil
	}
	return message, err == nil, err
}

// engineTx implements store.Tx with a transaction of the engine.
type engineTx struct{ tx dbos.Tx }

func (t engineTx) Native() any { return t.tx }

func (t engineTx) Exec(ctx context.Context, statement string, args ...any) (int64, error) {
	r, err := t.tx.Exec(ctx, statement, args...)
	if err != nil {
		return 0, err
	}
	return r.RowsAffected()
}

func (t engineTx) QueryRow(ctx context.Context, query string, args ...any) store.Row {
	return engineRow{t.tx.QueryRow(ctx, query, args...)}
}

func (t engineTx) Query(ctx context.Context, each func(store.Row) error, query string, args ...any) error {
	rows, err := t.tx.Query(ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	return store.EachRow(rows, each)
}

type engineRow struct{ row dbos.Row }

func (r engineRow) Scan(into ...any) error {
	err := r.row.Scan(into...)
	if errors.Is(err, dbos.ErrNoRows) {
		return store.ErrNotFound
	}
	return err
}
