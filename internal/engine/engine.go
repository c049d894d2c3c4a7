// Package engine runs workflows that outlive the process: a step that a workflow has recorded is
// never repeated, and after a crash another process goes on from there. Only this package knows the
// engine, DBOS Transact, so another engine can replace it.
//
// The steps of a workflow have constant names, and come in the same order whenever their recorded
// results are the same, because the engine replays them. Therefore only the steps and transactions
// may change from version to version, never the workflow function itself.
package engine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dbos-inc/dbos-transact-golang/dbos"
	_ "github.com/dbos-inc/dbos-transact-golang/dbos/driver/sqlite" // so that the engine accepts a SQLite store

	"github.com/agent-airlock/airlock/internal/store"
)

// version is the version of the workflows that the engine sees. It is constant: the
// default is a hash of the program, and after an update no process would resume the
// workflows of the previous version.
const version = "1"

// shutdown is how long Close waits for steps to end.
const shutdown = 30 * time.Second

// tablesWithin bounds how long Open waits for other processes that make the engine's tables. The
// engine makes them when it is opened, and fails if another one does so at the same time.
const tablesWithin = time.Minute

// Config describes what a process does with the engine.
type Config struct {
	// Executor names this process among those that run workflows. A lock of the store ensures that
	// only one process has the name, and Open takes over at once what a killed process of that name
	// was running. With "", the engine runs nothing: it enqueues, sends, cancels and deletes.
	Executor string
	// Queues are those that this process takes workflows from. A process must know all
	// workflows that anybody enqueues there.
	Queues    []Queue
	Workflows []Workflow
	Logger    *slog.Logger // required: the engine would print to standard output
}

// Queue is where enqueued workflows wait.
type Queue struct {
	Name string
	// Concurrency is how many of its workflows this process runs at once; 0 for any number.
	Concurrency int
	// Poll is the time between two looks at the queue; 0 for 100 ms.
	Poll time.Duration
}

// Workflow is a function that the engine can run.
type Workflow struct {
	Name string
	// Attempts is how often it is begun again after its process was killed, until it
	// ends as Exhausted; 0 for any number.
	Attempts int
	// Run is the function. If it returns an error, the workflow ends as Failed, unless the
	// engine's end caused the error: then the next engine resumes the workflow.
	Run func(x *Execution, input string) error
}

// Engine is an open engine.
type Engine struct {
	store *store.Store
	dbos  dbos.Context
	data  *dbos.DataSource
	id    string
	base  context.Context // ends with the engine, by its cause
	end   context.CancelCauseFunc
	begun sync.Map // the ids of the workflows that this engine is running
	// closing is set once Close has begun: DBOS then ends its own contexts, before base ends.
	closing atomic.Bool
}

// ErrRunning reports that another process runs the executor's workflows.
var ErrRunning = errors.New("another process is running it")

// Open opens an engine on a store. From then on the engine owns the store, and closes it. ctx
// is the parent of all steps' contexts.
func Open(ctx context.Context, st *store.Store, cfg Config) (*Engine, error) {
	if cfg.Logger == nil {
		return nil, errors.New("engine: no logger is given")
	}
	unsetEnvironment()
	e := &Engine{store: st, id: cfg.Executor}
	e.base, e.end = context.WithCancelCause(ctx)
	if err := e.open(cfg); err != nil {
		e.Close()
		return nil, err
	}
	return e, nil
}

func (e *Engine) open(cfg Config) error {
	if err := e.claim(cfg.Executor); err != nil {
		return err
	}
	ready, err := e.store.LockWithin(e.base, "tables of the engine", tablesWithin)
	if err != nil {
		return err
	}
	defer ready()
	e.dbos, err = dbos.NewContext(e.untilEnd(), dbos.Config{AppName: "airlock", ApplicationVersion: version, ExecutorID: e.id,
		Logger: slog.New(filteredLog{cfg.Logger.Handler(), e}), SQLiteSystemDB: e.store.SQLite(), SystemDBPool: e.store.Postgres()})
	if err != nil {
		return e.failedToOpen(err)
	}
	if cfg.Executor == "" {
		return nil
	}
	if pool := e.store.Postgres(); pool != nil {
		e.data, err = dbos.NewDataSource(e.dbos, pool)
	} else {
		e.data, err = dbos.NewDataSource(e.dbos, e.store.SQLite())
	}
	if err != nil {
		return e.failedToOpen(err)
	}
	if err := e.register(cfg); err != nil {
		return e.failedToOpen(err)
	}
	if err := dbos.Launch(e.dbos); err != nil {
		return e.failedToOpen(err)
	}
	return nil
}

// claim takes the executor's name for this process.
func (e *Engine) claim(executor string) error {
	if executor == "" {
		e.id = "nobody"
		return nil
	}
	_, err := e.store.LockSoon(e.base, lockOf(executor))
	if errors.Is(err, store.ErrLocked) {
		return fmt.Errorf("%s: %w", executor, ErrRunning)
	}
	return err
}

func (e *Engine) failedToOpen(err error) error {
	if store.Trouble(err) != "" {
		return e.store.Explain(err)
	}
	return fmt.Errorf("the engine on the store %s: %w", e.store.Name(), err)
}

// lockOf returns the name of the lock that an executor holds.
func lockOf(executor string) string { return "executor " + executor }

// IsRunning reports whether a process has opened an engine under an executor's name.
func IsRunning(ctx context.Context, st *store.Store, executor string) (bool, error) {
	return st.IsLocked(ctx, lockOf(executor))
}

// register makes the workflows and queues known.
func (e *Engine) register(cfg Config) error {
	for _, w := range cfg.Workflows {
		b := &body{engine: e, Workflow: w}
		dbos.RegisterWorkflow(e.dbos, b.run, dbos.WithWorkflowName(w.Name), dbos.WithInstance(b), dbos.WithMaxRecoveryAttempts(w.Attempts))
	}
	names := []string{"none"} // no name at all would mean every queue
	for _, q := range cfg.Queues {
		options := []dbos.QueueOption{dbos.WithQueueOnConflict(dbos.QueueConflictAlwaysUpdate), dbos.WithQueueBasePollingInterval(100 * time.Millisecond)}
		if q.Poll > 0 {
			options = append(options, dbos.WithQueueBasePollingInterval(q.Poll))
		}
		if q.Concurrency > 0 {
			options = append(options, dbos.WithWorkerConcurrency(q.Concurrency))
		}
		if _, err := dbos.RegisterQueue(e.dbos, q.Name, options...); err != nil {
			return err
		}
		names = append(names, q.Name)
	}
	dbos.ListenQueues(e.dbos, names...)
	return nil
}

// Close ends the contexts of all steps, waits at most 30 seconds until they have returned, and
// closes the engine and its store. Workflows that have not ended go on when their executor's name
// is opened again.
func (e *Engine) Close() {
	e.closing.Store(true)
	if e.dbos != nil {
		_ = dbos.Shutdown(e.dbos, shutdown) // it says in the log what did not end in time
	}
	e.end(nil)
	e.store.Close()
}

// Done is closed when the engine cannot go on: its steps are ending, and the caller has to
// close the engine. Cause returns why.
func (e *Engine) Done() <-chan struct{} { return e.base.Done() }

// Cause returns why the engine cannot go on: the trouble with its store, or the cause with which
// the context that was given to Open ended. It returns nil while the engine can go on.
func (e *Engine) Cause() error { return context.Cause(e.base) }

// GiveUp ends the engine if an error is about lasting trouble with the store, and reports whether
// it is. The next engine resumes the workflows.
func (e *Engine) GiveUp(err error) bool {
	if !e.store.Lasts(err) {
		return false
	}
	e.end(e.store.Explain(err))
	return true
}

// Store returns the store that the engine shares.
func (e *Engine) Store() *store.Store { return e.store }

// unsetEnvironment removes the variables of the engine, which would override settings of Open: the
// version, the executor, and whether to connect to a cloud service.
func unsetEnvironment() {
	for _, entry := range os.Environ() {
		if name, _, _ := strings.Cut(entry, "="); strings.HasPrefix(name, "DBOS__") {
			_ = os.Unsetenv(name)
		}
	}
}
