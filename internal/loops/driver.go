package loops

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/agent-airlock/airlock/internal/crash"
	"github.com/agent-airlock/airlock/internal/engine"
	"github.com/agent-airlock/airlock/internal/fixloop"
	"github.com/agent-airlock/airlock/internal/store"
)

// workflow is the name of the workflow that drives a loop. The order of its steps must never
// change: see package engine.
const workflow = "loop"

// patience is how long a loop without a deadline waits before it looks at its state by itself.
const patience = 24 * time.Hour

// Hands do a loop's work and deliver its messages. The driver may call both methods, for one
// loop or for several, at the same time. The context ends when the driver is closed.
type Hands interface {
	// Work does the work w, whose Kind is never fixloop.WorkNone, and returns the event with the
	// outcome. send sends the loop an earlier event, at most one of each type. After a crash the
	// same work may be asked for again, and must be harmless then. ok is false where the
	// outcome comes from elsewhere, such as from a person who decides. The context also ends when
	// the loop no longer needs the outcome.
	Work(ctx context.Context, l Loop, w fixloop.Work, send func(fixloop.Event) error) (e fixloop.Event, ok bool)
	// Deliver delivers a message to its recipients, at least once.
	Deliver(ctx context.Context, l Loop, m fixloop.Message) error
}

// Config describes a driver.
type Config struct {
	// Name is the name of the engine's executor, and of the queue of the loops to drive. For a
	// driver of one loop, it is OfOne of the loop's ID.
	Name string // required
	// Hands returns the hands that work for these loops.
	Hands  func(*Book) Hands // required
	Logger *slog.Logger      // required
	// Waits, unless it is nil, is called when the driver has waited for some seconds for a database
	// that does not answer. Its argument is the reason. When the driver goes on, Waits is called
	// with nil.
	Waits func(error)
	// Poll is the time between two looks at the queue; 0 for the engine's default.
	Poll time.Duration
}

// OfOne returns the name of a driver that drives one loop only.
func OfOne(id string) string { return "loop " + id }

// Driver drives loops until it is closed.
type Driver struct {
	*Book
	hands Hands
	log   *slog.Logger
	base  context.Context
	stop  context.CancelFunc
	wg    sync.WaitGroup

	mu      sync.Mutex
	working map[string]*job // by the loop's ID
	carried map[string]bool // the loops whose workflows have begun here
	turned  chan struct{}   // closed, and replaced, when a workflow has taken a turn
}

// job is work under way.
type job struct {
	key  string
	stop context.CancelFunc
}

// Open opens a driver on a store. From then on the driver owns the store, and closes it, also if the
// error is not nil.
func Open(ctx context.Context, st *store.Store, cfg Config) (*Driver, error) {
	d := &Driver{Book: NewBook(st), log: cfg.Logger, working: map[string]*job{}, carried: map[string]bool{}, turned: make(chan struct{})}
	d.base, d.stop = context.WithCancel(ctx)
	st.ReportWaits(cfg.Waits)
	// The workflows that a killed process left begin before engine.Open returns.
	opened := make(chan struct{})
	e, err := engine.Open(ctx, st, engine.Config{
		Executor: cfg.Name, Logger: cfg.Logger,
		Queues: []engine.Queue{{Name: cfg.Name, Poll: cfg.Poll}},
		Workflows: []engine.Workflow{{Name: workflow, Run: func(x *engine.Execution, id string) error {
			select {
			case <-opened:
				return d.carry(x, id)
			case <-d.base.Done():
				return context.Cause(d.base)
			}
		}}},
	})
	if err != nil {
		d.stop()
		return nil, err
	}
	d.engine = e
	d.hands = cfg.Hands(d.Book)
	close(opened)
	if st.Postgres() != nil {
		d.wg.Go(d.watch)
	}
	return d, nil
}

// watchPause is the time between two checks that no other driver has taken over.
const watchPause = time.Second

// watch ends the driver when another one has taken over, which can happen while the connection to
// the database is interrupted. After looksTillAlone checks, it calls takeUp.
func (d *Driver) watch() {
	for looks := 1; sleep(d.base, watchPause) == nil; looks++ {
		if !d.isCurrent(d.base) {
			return
		}
		if looks == looksTillAlone {
			d.takeUp()
		}
	}
}

// looksTillAlone is the number of checks after which a driver that this one has replaced has
// certainly ended. Until then the old one may take workflows, or messages to them, which this one
// then does not see.
const looksTillAlone = 8

// takeUp begins the workflows that a replaced driver has taken. It also wakes the workflows that
// have begun here, because the old driver may have taken their messages.
func (d *Driver) takeUp() {
	if _, err := d.engine.Recover(); err != nil && d.base.Err() == nil {
		d.log.Warn("the loops that another process left cannot be resumed; start again to resume them", "error", err)
	}
	d.mu.Lock()
	carried := slices.Collect(maps.Keys(d.carried))
	d.mu.Unlock()
	for _, id := range carried {
		err := d.store.Transact(d.base, func(tx store.Tx) error { return d.engine.Send(tx, workflowID(id), "wake", "look/"+rand.Text()) })
		if err != nil && !errors.Is(err, engine.ErrNoWorkflow) && d.base.Err() == nil {
			d.log.Warn("a loop cannot be woken", "loop", id, "error", err)
		}
	}
}

// isCurrent reports whether this driver can go on. If another driver has taken over, it cannot, and
// isCurrent ends the engine.
func (d *Driver) isCurrent(ctx context.Context) bool {
	err := d.store.Hold(ctx)
	return err == nil || !d.engine.GiveUp(err) && ctx.Err() == nil
}

// Close stops the work under way and closes the engine and the store. The next driver with the
// same name resumes loops that are open.
func (d *Driver) Close() {
	d.stop()
	d.wg.Wait()
	d.engine.Close()
}

// Wait returns when a loop has ended, or when it waits for a person and untilDecision is
// set. In both cases it first waits until all messages of the loop are delivered. After the
// loop's end the engine forgets what it knows of the loop; the store keeps it.
func (d *Driver) Wait(ctx context.Context, id string, untilDecision bool) (Loop, error) {
	for {
		d.mu.Lock()
		turned := d.turned
		d.mu.Unlock()
		l, err := d.Get(ctx, id)
		if err != nil {
			return l, err
		}
		delivered, err := allDelivered(ctx, d.store, id)
		if err != nil {
			return l, err
		}
		switch {
		case l.State.Outcome() != fixloop.Running && delivered:
			return l, d.end(ctx, id)
		case untilDecision && delivered && l.State.Work().Kind == fixloop.WorkDecide:
			return l, nil
		}
		select {
		case <-ctx.Done():
			return l, context.Cause(ctx)
		case <-d.engine.Done():
			return l, d.engine.Cause()
		case <-turned:
		}
	}
}

// end waits for the end of a loop's workflow and forgets it.
func (d *Driver) end(ctx context.Context, id string) error {
	state, err := d.engine.Wait(ctx, workflowID(id))
	if err != nil && !errors.Is(err, engine.ErrNoWorkflow) {
		return err
	}
	if state.Err != nil {
		d.log.Warn("the loop's workflow ended with an error", "loop", id, "error", state.Err)
	}
	return d.forget(ctx, id)
}

// turn is what the workflow has to do next.
type turn struct {
	Deliver []int // numbers of messages
	Final   bool
	Due     time.Time // zero: no timer runs
}

// carry is the workflow of a loop: it looks at the timer, delivers, makes sure that the work is
// under way, and waits.
func (d *Driver) carry(x *engine.Execution, id string) error {
	d.mu.Lock()
	d.carried[id] = true
	d.mu.Unlock()
	for {
		next, err := engine.Transaction(x, "turn", func(ctx context.Context, tx store.Tx) (turn, error) { return d.turn(ctx, tx, id) })
		if err != nil {
			return err
		}
		for _, n := range next.Deliver {
			problem, err := engine.Step(x, "deliver", func(ctx context.Context) (string, error) { return d.deliver(ctx, id, n) })
			if err != nil {
				return err
			}
			if _, err := engine.Transaction(x, "delivered", func(ctx context.Context, tx store.Tx) (bool, error) {
				return true, d.delivered(ctx, tx, id, n, problem)
			}); err != nil {
				return err
			}
		}
		if len(next.Deliver) > 0 {
			continue // a message that could not be delivered has changed the state
		}
		d.announce()
		if next.Final {
			return nil
		}
		d.ensureWork(id)
		wait := patience
		if !next.Due.IsZero() {
			wait = max(time.Until(next.Due), 0) + time.Millisecond // the engine rounds down to milliseconds
		}
		if _, _, err := x.Receive(wait); err != nil {
			return err
		}
	}
}

// announce wakes all callers of Wait.
func (d *Driver) announce() {
	d.mu.Lock()
	defer d.mu.Unlock()
	close(d.turned)
	d.turned = make(chan struct{})
}

// turn lets the deadlines of the loop that have passed take effect, and returns what to do next.
func (d *Driver) turn(ctx context.Context, tx store.Tx, id string) (turn, error) {
	l, err := d.locked(ctx, tx, id)
	if err != nil {
		return turn{}, err
	}
	state := l.State
	for due := state.Deadline(); !due.IsZero() && !time.Now().Before(due); due = state.Deadline() {
		if state, err = d.step(ctx, tx, id, fixloop.Event{Type: fixloop.EventTimer}); err != nil {
			return turn{}, err
		}
	}
	open, err := store.List(ctx, tx, store.ScanOne[int],
		`SELECT n FROM messages WHERE loop = $1 AND delivered = 0 ORDER BY n`, id)
	return turn{Deliver: open, Final: state.Outcome() != fixloop.Running, Due: state.Deadline()}, err
}

// deliver delivers a message. problem is why it cannot be delivered, "" if it was.
func (d *Driver) deliver(ctx context.Context, id string, n int) (problem string, err error) {
	l, err := d.Get(ctx, id)
	if err != nil {
		return "", err
	}
	var body string
	if err := d.store.QueryRow(ctx, `SELECT body FROM messages WHERE loop = $1 AND n = $2`, id, n).Scan(&body); err != nil {
		return "", err
	}
	var m fixloop.Message
	if err := json.Unmarshal([]byte(body), &m); err != nil {
		return "", err
	}
	for attempt := 1; ; attempt++ {
		if err := d.store.Hold(ctx); err != nil {
			return "", err
		}
		err := d.hands.Deliver(ctx, l, m)
		if err == nil {
			return "", nil
		}
		if ctx.Err() != nil {
			return "", err
		}
		if attempt == fixloop.DeliveryAttempts {
			return err.Error(), nil
		}
		d.log.Warn("a message cannot be delivered yet", "message", m.ID, "error", err)
		if err := sleep(ctx, time.Duration(attempt)*2*time.Second); err != nil {
			return "", err
		}
	}
}

// delivered records that a message needs no more delivery. If there was a problem, it sends the
// loop an event about it.
func (d *Driver) delivered(ctx context.Context, tx store.Tx, id string, n int, problem string) error {
	if _, err := tx.Exec(ctx, `UPDATE messages SET delivered = 1 WHERE loop = $1 AND n = $2`, id, n); err != nil || problem == "" {
		return err
	}
	var name string
	if err := tx.QueryRow(ctx, `SELECT id FROM messages WHERE loop = $1 AND n = $2`, id, n).Scan(&name); err != nil {
		return err
	}
	_, err := d.step(ctx, tx, id, fixloop.Event{Type: fixloop.EventUndelivered, Message: name, Attempts: fixloop.DeliveryAttempts, Text: problem})
	if _, refused := errors.AsType[*fixloop.Refused](err); refused {
		return nil
	}
	return err
}

// ensureWork starts the work that the loop waits for, unless it is under way, and stops any
// other work for the loop.
func (d *Driver) ensureWork(id string) {
	l, err := d.Get(d.base, id)
	if err != nil {
		if d.base.Err() == nil {
			d.log.Warn("a loop cannot be read", "loop", id, "error", err)
		}
		return
	}
	w := l.State.Work()
	key := fmt.Sprintf("%s/%d/%d", w.Kind, w.Op, w.Attempt)
	d.mu.Lock()
	defer d.mu.Unlock()
	if current := d.working[id]; current != nil {
		if current.key == key {
			return
		}
		current.stop()
		delete(d.working, id)
	}
	if w.Kind == fixloop.WorkNone || d.base.Err() != nil {
		return
	}
	ctx, stop := context.WithCancel(d.base)
	d.working[id] = &job{key, stop}
	d.wg.Go(func() { d.work(ctx, l, w, key) })
}

// work lets the hands do the work, and applies the outcome to the loop.
func (d *Driver) work(ctx context.Context, l Loop, w fixloop.Work, key string) {
	if !d.isCurrent(ctx) {
		return
	}
	var e fixloop.Event
	ok := false
	if err := crash.Try(func() error {
		e, ok = d.hands.Work(ctx, l, w, func(e fixloop.Event) error { return d.Apply(ctx, l.ID, key+"/"+string(e.Type), e) })
		return nil
	}); err != nil { // its time limit escalates the loop
		d.log.Error("the work of a loop ended with a defect", "loop", l.ID, "error", err)
	}
	for ok && ctx.Err() == nil {
		err := d.Apply(ctx, l.ID, key, e)
		_, refused := errors.AsType[*fixloop.Refused](err)
		switch {
		case err == nil:
			d.ensureWork(l.ID) // before the workflow is woken, to lose no time
			return
		case refused:
			d.log.Info("an answer that the loop no longer waits for", "loop", l.ID, "error", err)
			return
		}
		if d.engine.GiveUp(err) {
			return
		}
		d.log.Warn("the result of work cannot be recorded yet", "loop", l.ID, "error", err)
		_ = sleep(ctx, 5*time.Second)
	}
}

// sleep waits, or returns the context's error.
func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(d):
		return nil
	}
}
