// Package engine runs workflows that outlive the process: what a workflow recorded is
// never repeated, and after a crash another process goes on where it was. It is the only
// package that knows the engine, DBOS Transact, so that this can be exchanged.
//
// A workflow is written in one shape only. Its steps have constant names and always come
// in the same order for the same recorded results, because the engine replays them; so
// all that may change from version to version is in the results of its steps and
// transactions, never in the workflow function itself.
package engine

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/dbos-inc/dbos-transact-golang/dbos"
	_ "github.com/dbos-inc/dbos-transact-golang/dbos/driver/sqlite" // so that the engine accepts a SQLite store

	"github.com/agent-airlock/airlock/internal/store"
)

// version is the version of the workflows that the engine sees. It is constant: the
// default is a hash of the program, and after an update nobody would go on with what the
// version before began.
const version = "1"

// shutdown is how long Close waits for steps to end.
const shutdown = 30 * time.Second

// Schema is the engine's table of executors, to be passed to store.Open.
var Schema = store.Schema{Package: "engine", Steps: []store.Step{
	store.Both(`CREATE TABLE executors (id TEXT PRIMARY KEY, seen BIGINT NOT NULL, claimed_by TEXT NOT NULL)`),
}}

// Config describes what a process does with the engine.
type Config struct {
	// Executor names this process among those that run workflows. Without a Lease it is
	// the name itself: a lock of the store sees to it that one process has it, and Open
	// takes over what a killed process of that name was running, at once. With a Lease
	// each process gets a name of its own that begins so. "" runs nothing: such an engine
	// enqueues, sends, cancels and deletes.
	Executor string
	// Lease is how long the others wait for a sign of life of this process before they
	// take over what it was running, and it theirs. If it cannot renew its lease in time,
	// the contexts of all its steps end, and so does the engine (Lost).
	Lease time.Duration
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
	// Poll is how often the queue is looked at; 0 for every 100 ms.
	Poll time.Duration
}

// Workflow is a function that the engine can run.
type Workflow struct {
	Name string
	// Attempts is how often it is begun again after its process was killed, until it
	// ends as Exhausted; 0 for any number.
	Attempts int
	// Run is the function. It ends the workflow as Failed by an error, except for one
	// that the engine's end caused.
	Run func(x *Execution, input string) error
}

// Engine is an open engine.
type Engine struct {
	store *store.Store
	dbos  dbos.Context
	data  *dbos.DataSource
	id    string
	lost  context.CancelCauseFunc
	base  context.Context
	stop  context.CancelFunc // ends the heartbeat
	beat  chan struct{}      // is closed when the heartbeat has ended
}

// ErrRunning reports that another process runs the executor's workflows.
var ErrRunning = errors.New("another process is running it")

// ErrLeaseLost is the cause why contexts end if the executor could not renew its lease.
var ErrLeaseLost = errors.New("this process gave no sign of life in time, and others take over what it was running")

// Open opens an engine on a store with this package's Schema. From then on the engine
// owns the store, and closes it. ctx is the parent of all steps' contexts.
func Open(ctx context.Context, st *store.Store, cfg Config) (*Engine, error) {
	if cfg.Logger == nil {
		return nil, errors.New("engine: no logger is given")
	}
	unsetEnvironment()
	base, lost := context.WithCancelCause(ctx)
	e := &Engine{store: st, id: cfg.Executor, base: base, lost: lost, stop: func() {}}
	if err := e.open(cfg); err != nil {
		e.Close()
		return nil, err
	}
	return e, nil
}

func (e *Engine) open(cfg Config) error {
	var err error
	switch {
	case cfg.Executor == "":
		e.id = "nobody"
	case cfg.Lease > 0:
		e.id = cfg.Executor + "-" + rand.Text()
	default:
		err = e.lock()
		if errors.Is(err, store.ErrLocked) {
			err = fmt.Errorf("%s: %w", e.id, ErrRunning)
		}
	}
	if err != nil {
		return err
	}
	e.dbos, err = dbos.NewContext(e.base, dbos.Config{AppName: "airlock", ApplicationVersion: version, ExecutorID: e.id,
		Logger: cfg.Logger, SQLiteSystemDB: e.store.SQLite(), SystemDBPool: e.store.Postgres()})
	if err != nil {
		return fmt.Errorf("the engine on the store %s: %w", e.store.Name(), err)
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
		return fmt.Errorf("the engine on the store %s: %w", e.store.Name(), err)
	}
	if err := e.register(cfg); err != nil {
		return fmt.Errorf("the engine on the store %s: %w", e.store.Name(), err)
	}
	if cfg.Lease > 0 {
		if err := e.enter(e.base); err != nil {
			return err
		}
		var heart context.Context
		heart, e.stop = context.WithCancel(e.base)
		e.beat = make(chan struct{})
		go e.keepAlive(heart, cfg.Lease, cfg.Logger)
	}
	if err := dbos.Launch(e.dbos); err != nil {
		return fmt.Errorf("the engine on the store %s: %w", e.store.Name(), err)
	}
	return nil
}

// lockOf returns the name of the lock that an executor without a lease holds.
func lockOf(executor string) string { return "executor " + executor }

// IsRunning reports whether a process has opened an engine under an executor's name,
// without a lease.
func IsRunning(ctx context.Context, st *store.Store, executor string) (bool, error) {
	release, err := st.Lock(ctx, lockOf(executor))
	if errors.Is(err, store.ErrLocked) {
		return true, nil
	}
	if err == nil {
		release()
	}
	return false, err
}

// lock takes the executor's lock. A process that was killed while it started another leaves
// the lock to that one until it has become its program, which a moment's patience covers.
func (e *Engine) lock() error {
	pause := time.NewTicker(50 * time.Millisecond)
	defer pause.Stop()
	for tries := 1; ; tries++ {
		_, err := e.store.Lock(e.base, lockOf(e.id))
		if !errors.Is(err, store.ErrLocked) || tries == 20 {
			return err
		}
		select {
		case <-pause.C:
		case <-e.base.Done():
			return context.Cause(e.base)
		}
	}
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

// Close ends the contexts of all steps, waits until they have returned, and closes the
// engine and its store. Workflows that have not ended go on when their executor's name is
// opened again, or when the lease has run out.
func (e *Engine) Close() {
	e.stop()
	if e.beat != nil {
		<-e.beat
	}
	if e.dbos != nil {
		_ = dbos.Shutdown(e.dbos, shutdown) // it says in the log what did not end in time
	}
	e.lost(nil)
	e.store.Close()
}

// Lost is closed when the executor has lost its lease: its steps are ending, and the
// caller closes the engine. It is never closed without a lease, save by the engine's end.
func (e *Engine) Lost() <-chan struct{} { return e.base.Done() }

// Store returns the store that the engine shares.
func (e *Engine) Store() *store.Store { return e.store }

// unsetEnvironment removes the variables by which the engine's environment overrides
// what Open sets: its version, its executor, and a cloud service to connect to.
func unsetEnvironment() {
	for _, entry := range os.Environ() {
		if name, _, _ := strings.Cut(entry, "="); strings.HasPrefix(name, "DBOS__") {
			_ = os.Unsetenv(name)
		}
	}
}
