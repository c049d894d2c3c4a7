package runs

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/agent-airlock/airlock/internal/agents"
	"github.com/agent-airlock/airlock/internal/crash"
	"github.com/agent-airlock/airlock/internal/store"
)

// WorkerConfig is how runs are carried out.
type WorkerConfig struct {
	Concurrency int // required: the largest number of runs at the same time
	// Tags are what this worker can do: it takes runs that need no other tags.
	Tags []string
	// Environ is the environment of agents, as NAME=value.
	Environ []string
	Dir     string // required: the directory that agents are started in
	// BuiltIn returns the command of an agent that is built in, a program and its arguments, and
	// what its environment has in addition. Like that of any other agent, the program reads
	// parameters and prints JSON. It is required if there are such agents.
	BuiltIn func(name string) (argv, environ []string)
	// Mask hides secrets in what agents print, before it is kept. It is called with complete lines,
	// but with parts of lines that are longer than 64 KiB.
	Mask func(text string) string // required
	// MaskKnown hides in results only the values that must never leave the server.
	MaskKnown func(text string) string // required
	Log       *slog.Logger             // required
	// Lease is the time after which other workers may take the runs of one that has given no sign
	// of life; 0 means DefaultLease.
	Lease time.Duration
}

// Worker takes runs from a store and carries them out.
type Worker struct {
	WorkerConfig
	store     *store.Store
	validator *agents.Validator
	changed   func(id string) // is called when a run has changed; set by New

	wake   chan struct{}
	heard  chan struct{} // another process has announced that there may be something to do
	ended  chan struct{} // is closed when the worker has ended
	cancel context.CancelFunc

	mu       sync.Mutex
	active   map[string]context.CancelCauseFunc // by run
	idle     chan struct{}                      // is closed when nothing is active any more; nil unless draining
	draining bool
}

// NewWorker returns a worker of a store that was opened with Tables. It works from Start on.
func NewWorker(s *store.Store, cfg WorkerConfig) *Worker {
	if cfg.Lease == 0 {
		cfg.Lease = DefaultLease
	}
	cfg.Tags = slices.Compact(slices.Sorted(slices.Values(cfg.Tags)))
	return &Worker{
		WorkerConfig: cfg, store: s, validator: &agents.Validator{}, changed: func(string) {},
		wake: make(chan struct{}, 1), heard: make(chan struct{}, 1), active: map[string]context.CancelCauseFunc{},
	}
}

// Start begins to take runs, also those of a previous worker that was killed. The error is
// ErrRunning if another process has a worker for the same SQLite store. The caller calls Close.
func (w *Worker) Start(ctx context.Context) error {
	if w.store.Postgres() == nil {
		_, err := w.store.LockSoon(ctx, "worker")
		if errors.Is(err, store.ErrLocked) {
			return ErrRunning
		}
		if err != nil {
			return err
		}
	}
	name, err := w.join(ctx)
	if err != nil {
		return err
	}
	ctx, w.cancel = context.WithCancel(context.WithoutCancel(ctx)) // so that runs can be drained
	w.ended = make(chan struct{})
	go w.work(ctx, name)
	return nil
}

// Close stops the runs that the worker still has. Other workers, or the next one, take them.
func (w *Worker) Close() {
	if w.cancel == nil {
		return
	}
	w.cancel()
	<-w.ended
}

// Drain takes no further run, and waits until the current ones have ended, or ctx has.
func (w *Worker) Drain(ctx context.Context) {
	w.mu.Lock()
	w.draining = true
	idle := make(chan struct{})
	if len(w.active) == 0 {
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

// wakeUp makes the worker look for runs at once.
func (w *Worker) wakeUp() { signal(w.wake) }

// leaveWithin bounds how long a worker tries to leave a store that does not answer.
const leaveWithin = 5 * time.Second

// work takes runs until ctx ends. A worker that has lost its lease begins again, under
// another name, when the store can be reached.
func (w *Worker) work(ctx context.Context, name string) {
	defer close(w.ended)
	for {
		w.workAs(ctx, name)
		if ctx.Err() != nil {
			leaving, cancel := context.WithTimeout(context.WithoutCancel(ctx), leaveWithin)
			defer cancel()
			if err := w.leave(leaving, name); err != nil {
				w.Log.Warn("what this worker was running is free for others when its lease has run out", "worker", name, "error", err)
			}
			return
		}
		for ctx.Err() == nil {
			var err error
			if name, err = w.join(ctx); err == nil {
				w.Log.Info("this worker takes runs again", "worker", name)
				break
			}
			sleep(ctx, time.Second)
		}
	}
}

// takeInterval is the interval at which a worker queries the store for runs to take and to stop,
// in addition to when it is woken.
//
// An announcement by another process wakes it as well, but not during the pause after an
// announcement that led to nothing. The pause is firstPause, doubles with each further such
// announcement in a row, and is at most takeInterval. Without it, each of many idle workers would
// query the store for every new run. It begins short, because a single worker also receives late
// announcements of runs that it has taken already, and should still take the next run soon.
const (
	takeInterval = 100 * time.Millisecond
	firstPause   = 3 * time.Millisecond
)

// workAs takes runs under a name until ctx ends or the lease is lost. It returns when all runs that
// it has taken have ended.
func (w *Worker) workAs(ctx context.Context, name string) {
	ctx, lost := context.WithCancel(ctx)
	defer lost()
	var all sync.WaitGroup
	defer all.Wait()
	all.Go(func() { defer lost(); w.keepAlive(ctx, name) })
	all.Go(func() { w.listen(ctx) })
	tick := time.NewTicker(takeInterval)
	defer tick.Stop()
	failing, announced := false, false
	pause := time.Duration(0) // after an announcement that led to nothing
	for ctx.Err() == nil {
		var taken []taken
		var err error
		if free := w.free(); free > 0 {
			taken, err = w.takeRuns(ctx, name, free)
		}
		for _, t := range taken {
			own := w.enter(ctx, t.ID)
			all.Go(func() {
				defer w.leaveRun(t.ID)
				w.carryOut(ctx, own, name, t)
			})
		}
		if err == nil {
			err = w.review(ctx, name, failing)
		}
		if err != nil && ctx.Err() == nil && !failing {
			w.Log.Warn("runs cannot be taken from the store: trying again", "error", err)
		}
		failing = err != nil
		switch {
		case len(taken) > 0:
			pause = 0
		case announced:
			pause = min(max(2*pause, firstPause), takeInterval)
		}
		announced = w.await(ctx, tick.C, pause)
	}
}

// await waits until ctx ends or there may be something to do, and reports whether another
// process has announced that. It ignores announcements until the pause is over.
func (w *Worker) await(ctx context.Context, tick <-chan time.Time, pause time.Duration) (announced bool) {
	var heard chan struct{}
	over := time.After(pause)
	for {
		select {
		case <-ctx.Done():
			return false
		case <-w.wake:
			return false
		case <-tick:
			return false
		case <-over:
			heard = w.heard
		case <-heard:
			return true
		}
	}
}

// free returns how many runs the worker can take.
func (w *Worker) free() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.draining {
		return 0
	}
	return w.Concurrency - len(w.active)
}

// enter counts a run and returns its context.
func (w *Worker) enter(ctx context.Context, id string) context.Context {
	w.mu.Lock()
	defer w.mu.Unlock()
	own, cancel := context.WithCancelCause(ctx)
	w.active[id] = cancel
	return own
}

func (w *Worker) leaveRun(id string) {
	w.mu.Lock()
	w.active[id](nil)
	delete(w.active, id)
	if len(w.active) == 0 && w.idle != nil {
		close(w.idle)
		w.idle = nil
	}
	w.mu.Unlock()
	w.wakeUp()
}

// errStopped ends an agent because its run is to be stopped.
var errStopped = errors.New("the run is to be stopped")

// review ends the agents of runs that are to be stopped. It releases runs that the store gives to
// this worker but the worker does not know, because the store's answer was lost when it took them.
// It queries the store only while the worker has runs, or after a failure of the store.
func (w *Worker) review(ctx context.Context, name string, failed bool) error {
	w.mu.Lock()
	none := len(w.active) == 0
	w.mu.Unlock()
	if none && !failed {
		return nil
	}
	var lost []string
	err := w.store.Query(ctx, func(row store.Row) error {
		var id string
		var status Status
		if err := row.Scan(&id, &status); err != nil {
			return err
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		cancel := w.active[id]
		switch {
		case cancel == nil:
			lost = append(lost, id)
		case status == Stopping:
			cancel(errStopped)
		}
		return nil
	}, `SELECT id, status FROM runs WHERE worker = $1 AND ended IS NULL`, name)
	for _, id := range lost {
		if err == nil {
			_, err = w.store.Exec(ctx, `UPDATE runs SET worker = NULL WHERE id = $1 AND worker = $2 AND ended IS NULL`, id, name)
		}
	}
	return err
}

// carryOut carries out a run and records how it ended, unless the worker ends before. life
// is the worker's context, and ctx the run's.
func (w *Worker) carryOut(life, ctx context.Context, name string, t taken) {
	w.changed(t.ID)
	var out outcome
	err := crash.Try(func() (err error) { out, err = w.exec(ctx, t); return err })
	switch {
	case errors.Is(context.Cause(ctx), errStopped):
		out = outcome{Status: Stopped}
	case ctx.Err() != nil:
		return // it is released by leave, or when the lease has run out
	case err != nil:
		out = failed("internal", "the run could not be carried out: "+err.Error())
	}
	w.record(life, name, t.ID, out)
	w.changed(t.ID)
}

// record records how a run ended. As long as the store cannot take it, it tries again,
// until the worker's context ends. A result that the store refuses becomes a failure.
func (w *Worker) record(life context.Context, name, id string, out outcome) {
	for pause, logged := 50*time.Millisecond, false; ; pause = min(2*pause, 5*time.Second) {
		attempt, cancel := context.WithTimeout(life, backgroundWithin)
		err := out.end(attempt, w.store, id, `worker = $5`, name)
		cancel()
		if err == nil {
			return
		}
		if store.Trouble(err) == "" && out.Status == Completed {
			out = failed("internal", "the result could not be recorded: "+err.Error())
		}
		if !logged {
			w.Log.Warn("how a run ended cannot be recorded yet", "run", id, "error", err)
			logged = true
		}
		if !sleep(life, pause) {
			return
		}
	}
}
