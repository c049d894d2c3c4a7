package runs

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/agent-airlock/airlock/internal/agents"
	"github.com/agent-airlock/airlock/internal/command"
	"github.com/agent-airlock/airlock/internal/engine"
	"github.com/agent-airlock/airlock/internal/store"
)

// The names by which the engine knows runs. They never change, because what was begun by
// one version goes on with the next.
const (
	queue    = "runs"
	workflow = "run"
)

// restarts is how often a run is started again because its worker was killed. One that
// kills its worker each time must not do so forever.
const restarts = 10

// WorkerConfig says how runs are carried out.
type WorkerConfig struct {
	Concurrency int // how many runs at once; required
	// Environ is the environment of agents, as NAME=value.
	Environ []string
	Dir     string // required: the directory that agents are started in
	// BuiltIn returns the command of an agent that is built in: a program and its
	// arguments, which reads parameters and prints JSON as others do, and what its
	// environment has in addition.
	BuiltIn func(name string) (argv, environ []string)
	// Mask hides secrets in what agents print, before it is kept. It gets whole lines.
	Mask func(text string) string
	// MaskKnown hides only the values that must never leave the server, in results.
	MaskKnown func(text string) string
	Log       *slog.Logger
	// Run carries out a command; nil means command.Run.
	Run func(context.Context, command.Spec) (command.Result, error)
}

// Worker carries out runs.
type Worker struct {
	WorkerConfig
	store     *store.Store
	validator *agents.Validator

	mu       sync.Mutex
	active   int
	idle     chan struct{} // is closed when nothing is active any more; nil unless draining
	draining bool
}

// NewWorker returns a worker of a store that was opened with Tables. It works as soon as an
// engine is opened with its Workflow and its Queue.
func NewWorker(s *store.Store, cfg WorkerConfig) *Worker {
	if cfg.Run == nil {
		cfg.Run = command.Run
	}
	return &Worker{WorkerConfig: cfg, store: s, validator: &agents.Validator{}}
}

// Workflow returns what an engine is to be opened with.
func (w *Worker) Workflow() engine.Workflow {
	return engine.Workflow{Name: workflow, Attempts: restarts, Run: w.run}
}

// Queue returns what an engine is to be opened with.
func (w *Worker) Queue() engine.Queue { return engine.Queue{Name: queue, Concurrency: w.Concurrency} }

// run is the workflow of one run. Its shape never changes: see package engine.
func (w *Worker) run(x *engine.Execution, _ string) error {
	id := x.ID()
	begun, err := engine.Transaction(x, "started", func(ctx context.Context, tx store.Tx) (bool, error) {
		r, err := get(ctx, tx, id)
		if err != nil {
			return false, err
		}
		now := w.store.Now()
		return change(ctx, tx, now, id, Running, `, started = `+now+`, deadline = `+now+` + $3`, `status = 'pending'`, r.blueprint.TimeLimit().Milliseconds())
	})
	if err != nil || !begun {
		return err
	}
	out, err := engine.Step(x, "exec", func(ctx context.Context) (outcome, error) {
		if !w.enter() {
			<-ctx.Done() // the run starts again where the engine is opened next
			return outcome{}, context.Cause(ctx)
		}
		defer w.leave()
		return w.exec(ctx, id)
	})
	if err != nil {
		return err
	}
	_, err = engine.Transaction(x, "finished", func(ctx context.Context, tx store.Tx) (bool, error) {
		return out.end(ctx, tx, w.store.Now(), id)
	})
	return err
}

// enter counts a run, unless the worker is draining.
func (w *Worker) enter() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.draining {
		return false
	}
	w.active++
	return true
}

func (w *Worker) leave() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.active--; w.active == 0 && w.idle != nil {
		close(w.idle)
	}
}

// Drain begins no further run, and waits until those that it has begun have ended, or ctx
// has. Those that have not ended then start again elsewhere, or when the engine is opened
// again.
func (w *Worker) Drain(ctx context.Context) {
	w.mu.Lock()
	w.draining = true
	idle := make(chan struct{})
	if w.active == 0 {
		close(idle)
	} else {
		w.idle = idle
	}
	w.mu.Unlock()
	select {
	case <-idle:
	case <-ctx.Done():
	}
}

// errStopped ends an agent because its run is to be stopped.
var errStopped = errors.New("the run is to be stopped")

// watchStop ends the context when the run is to be stopped.
func (w *Worker) watchStop(ctx context.Context, id string, cancel context.CancelCauseFunc) {
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		var status Status
		if err := w.store.QueryRow(ctx, `SELECT status FROM runs WHERE id = $1`, id).Scan(&status); err == nil && status == Stopping {
			cancel(errStopped)
			return
		}
	}
}
