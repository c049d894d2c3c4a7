package runs

import (
	"context"
	"errors"
	"time"

	"github.com/agent-airlock/airlock/internal/store"
)

// Limits of a group commit: how many runs go into one transaction, and how long the first
// of them waits for others. A transaction costs about as much as what is in it, so that
// together they take half the time.
const (
	batchSize = 64
	batchWait = 2 * time.Millisecond
)

// batcher carries out functions in common transactions.
type batcher struct {
	store *store.Store
	queue chan *member
	ended chan struct{}
}

// member is one function and how it went.
type member struct {
	ctx  context.Context
	do   func(ctx context.Context, tx store.Tx) error
	done chan error
}

func newBatcher(s *store.Store) *batcher {
	b := &batcher{store: s, queue: make(chan *member, batchSize), ended: make(chan struct{})}
	go b.run()
	return b
}

// close ends the batcher after what it was given. Nobody may call transact any more.
func (b *batcher) close() {
	close(b.queue)
	<-b.ended
}

// transact runs do in a transaction that it shares with others. If one of them fails, each
// has a transaction of its own, so that do may run twice.
func (b *batcher) transact(ctx context.Context, do func(ctx context.Context, tx store.Tx) error) error {
	m := &member{ctx, do, make(chan error, 1)}
	select {
	case b.queue <- m:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	return <-m.done // also after ctx has ended: whether it was recorded must be known
}

func (b *batcher) run() {
	defer close(b.ended)
	for first := range b.queue {
		batch := []*member{first}
		timer := time.NewTimer(batchWait)
	collect:
		for len(batch) < batchSize {
			select {
			case m, ok := <-b.queue:
				if !ok {
					break collect
				}
				batch = append(batch, m)
			case <-timer.C:
				break collect
			}
		}
		timer.Stop()
		b.commit(batch)
	}
}

// commitWithin bounds a transaction, so that a store that is locked is an error.
const commitWithin = 30 * time.Second

var errTogether = errors.New("the common transaction failed")

func (b *batcher) commit(batch []*member) {
	ctx, cancel := context.WithTimeout(context.Background(), commitWithin)
	defer cancel()
	err := b.store.Transact(ctx, func(tx store.Tx) error {
		for _, m := range batch {
			if err := m.do(ctx, tx); err != nil {
				return errors.Join(errTogether, err)
			}
		}
		return nil
	})
	if err != nil && len(batch) > 1 {
		for _, m := range batch {
			m.done <- b.store.Transact(m.ctx, func(tx store.Tx) error { return m.do(m.ctx, tx) })
		}
		return
	}
	for _, m := range batch {
		m.done <- err
	}
}
