package runs

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/agent-airlock/airlock/internal/store"
)

// Limits of a group commit. A transaction costs about as much as the statements of one caller. Many
// callers that share a transaction therefore take half the time.
const (
	batchSize = 64                   // callers that share a transaction
	batchWait = 2 * time.Millisecond // how long the first of them waits for others
	// batchesAtOnce is how many transactions PostgreSQL is given at once, so that one is
	// filled while another waits for the disk. SQLite has one writer.
	batchesAtOnce = 3
)

// batcher applies statements in common transactions.
type batcher struct {
	store *store.Store
	queue chan *call
	ended sync.WaitGroup

	mu     sync.RWMutex // held to send to the queue, so that the queue is not closed meanwhile
	closed bool
}

// call is the statements of one caller.
type call struct {
	ctx        context.Context
	statements []store.Statement
	done       chan applied
}

// applied is how many rows each statement has changed, or why none has.
type applied struct {
	changed []int64
	err     error
}

func newBatcher(s *store.Store) *batcher {
	b := &batcher{store: s, queue: make(chan *call, batchSize)}
	b.ended.Go(b.run)
	if s.Postgres() != nil {
		for range batchesAtOnce - 1 {
			b.ended.Go(b.run)
		}
	}
	return b
}

// close ends the batcher once it has applied what it was given.
func (b *batcher) close() {
	b.mu.Lock()
	b.closed = true
	close(b.queue)
	b.mu.Unlock()
	b.ended.Wait()
}

// errClosed is the error about a run that is requested after the service was closed, such as by a
// request that outlasts the time in which a server stops.
var errClosed = errors.New("the server stops; nothing was recorded")

// apply does what store.Apply does, in a transaction that other callers may share. If that fails
// because of one caller, each caller gets a transaction of its own.
func (b *batcher) apply(ctx context.Context, statements []store.Statement) (changed []int64, err error) {
	c := &call{ctx, statements, make(chan applied, 1)}
	if err := b.send(c); err != nil {
		return nil, err
	}
	result := <-c.done // also after ctx has ended: whether it was recorded must be known
	return result.changed, result.err
}

// send puts a call into the queue.
func (b *batcher) send(c *call) error {
	b.mu.RLock()
	defer b.mu.RUnlock()
	if b.closed {
		return errClosed
	}
	select {
	case b.queue <- c:
		return nil
	case <-c.ctx.Done():
		return context.Cause(c.ctx)
	}
}

func (b *batcher) run() {
	for first := range b.queue {
		batch := []*call{first}
		over := time.After(batchWait)
	collect:
		for len(batch) < batchSize {
			select {
			case c, ok := <-b.queue:
				if !ok {
					break collect
				}
				batch = append(batch, c)
			case <-over:
				break collect
			}
		}
		b.commit(batch)
	}
}

const (
	// createWithin bounds a transaction that records runs. Callers wait for it, and for them a
	// store that stays locked is an error.
	createWithin = 15 * time.Second
	// backgroundWithin bounds other work in the store, which nobody waits for.
	backgroundWithin = 30 * time.Second
)

// commit applies the statements of a batch, and gives each caller its result.
func (b *batcher) commit(batch []*call) {
	ctx, cancel := context.WithTimeout(context.Background(), createWithin)
	defer cancel()
	var all []store.Statement
	for _, c := range batch {
		all = append(all, c.statements...)
	}
	changed, err := b.store.Apply(ctx, all)
	if err != nil && len(batch) > 1 && store.Trouble(err) == "" {
		for _, c := range batch {
			ctx, cancel := context.WithTimeout(c.ctx, createWithin)
			changed, err := b.store.Apply(ctx, c.statements)
			cancel()
			c.done <- applied{changed, err}
		}
		return
	}
	for _, c := range batch {
		result := applied{err: err}
		if err == nil {
			result.changed, changed = changed[:len(c.statements)], changed[len(c.statements):]
		}
		c.done <- result
	}
}
