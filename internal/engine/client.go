package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/dbos-inc/dbos-transact-golang/dbos"

	"github.com/agent-airlock/airlock/internal/store"
)

// Request is a workflow to be run.
type Request struct {
	Queue, Workflow string
	ID              string // a second request with the same id is the same workflow
	Input           string
}

// Enqueue asks for a workflow to be run, as part of a transaction of the store.
func (e *Engine) Enqueue(tx store.Tx, r Request) error {
	_, err := dbos.Enqueue[string](e.dbos, r.Queue, r.Workflow, r.Input, dbos.WithEnqueueWorkflowID(r.ID),
		dbos.WithEnqueueConfigName(r.Workflow), dbos.WithEnqueueTransaction(tx.Native()))
	return err
}

// Send sends a workflow a message, as part of a transaction of the store. A second message with the
// same key is dropped. The error is ErrNoWorkflow if there is no such workflow.
func (e *Engine) Send(tx store.Tx, to, message, key string) error {
	err := dbos.Send(e.dbos, to, message, topic, dbos.WithIdempotencyKey(key), dbos.WithSendTransaction(tx.Native()))
	if errors.Is(err, dbos.ErrNonExistentWorkflow) {
		return fmt.Errorf("%s: %w", to, ErrNoWorkflow)
	}
	return err
}

// ErrNoWorkflow reports that the engine does not know a workflow, or has forgotten it.
var ErrNoWorkflow = errors.New("there is no such workflow")

// Status is how far a workflow has come.
type Status string

// The statuses of a workflow. The last four are final.
const (
	Waiting   Status = "waiting" // in its queue
	Running   Status = "running"
	Done      Status = "done"
	Failed    Status = "failed" // its function returned an error
	Cancelled Status = "cancelled"
	Exhausted Status = "exhausted" // its process was killed too often
)

// Final reports whether nothing comes after the status.
func (s Status) Final() bool { return s != Waiting && s != Running }

var statuses = map[dbos.WorkflowStatusType]Status{
	dbos.WorkflowStatusPending: Running, dbos.WorkflowStatusEnqueued: Waiting, dbos.WorkflowStatusDelayed: Waiting,
	dbos.WorkflowStatusSuccess: Done, dbos.WorkflowStatusError: Failed, dbos.WorkflowStatusCancelled: Cancelled,
	dbos.WorkflowStatusMaxRecoveryAttemptsExceeded: Exhausted,
}

// State is what the engine knows of a workflow.
type State struct {
	Status   Status
	Executor string // who runs it, or ran it last
	Attempts int    // how often it was begun
	Err      error  // why it failed
}

// States returns the states of workflows by their ids; one that the engine does not know
// is missing. It must not be called in a transaction.
func (e *Engine) States(ids ...string) (map[string]State, error) {
	list, err := dbos.ListWorkflows(e.dbos, dbos.WithFilterWorkflowIDs(ids...), dbos.WithFilterLoadInput(false), dbos.WithFilterLoadOutput(true)) // an error is an output
	if err != nil {
		return nil, err
	}
	states := map[string]State{}
	for _, w := range list {
		states[w.ID] = State{Status: statuses[w.Status], Executor: w.ExecutorID, Attempts: w.Attempts, Err: w.Error}
	}
	return states, nil
}

// Wait waits until a workflow has ended, and returns how.
func (e *Engine) Wait(ctx context.Context, id string) (State, error) {
	look := time.NewTicker(100 * time.Millisecond)
	defer look.Stop()
	for {
		states, err := e.States(id)
		if err != nil {
			return State{}, err
		}
		state, ok := states[id]
		if !ok {
			return State{}, fmt.Errorf("%s: %w", id, ErrNoWorkflow)
		}
		if state.Status.Final() {
			return state, nil
		}
		select {
		case <-ctx.Done():
			return State{}, context.Cause(ctx)
		case <-look.C:
		}
	}
}

// Recover puts back into their queues the workflows that run under the executor's name, but not in
// this engine. It returns how many there were. An earlier engine of that name took them after Open,
// before it noticed that this one had replaced it.
func (e *Engine) Recover() (int, error) {
	running, err := dbos.ListWorkflows(e.dbos, dbos.WithFilterStatus(dbos.WorkflowStatusPending), dbos.WithFilterExecutorIDs(e.id), dbos.WithFilterLoadInput(false), dbos.WithFilterLoadOutput(false))
	if err != nil {
		return 0, err
	}
	taken := map[string][]string{} // ids, by the queue
	n := 0
	for _, w := range running {
		if _, here := e.begun.Load(w.ID); !here {
			taken[w.QueueName] = append(taken[w.QueueName], w.ID)
			n++
		}
	}
	for queue, ids := range taken {
		if _, err := dbos.ResumeWorkflows[string](e.dbos, ids, dbos.WithResumeQueue(queue)); err != nil {
			return 0, err
		}
	}
	return n, nil
}

// Cancel ends a workflow as Cancelled unless it has ended. A process that runs it notices
// when its step ends.
func (e *Engine) Cancel(id string) error { return dbos.CancelWorkflow(e.dbos, id) }

// Delete forgets workflows, which must have ended: their ids can be used again.
func (e *Engine) Delete(ids ...string) error {
	if len(ids) == 0 {
		return nil
	}
	return dbos.DeleteWorkflows(e.dbos, ids)
}

// RemoveQueue forgets a queue.
func (e *Engine) RemoveQueue(name string) error { return dbos.DeleteQueue(e.dbos, name) }
