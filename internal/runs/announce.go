package runs

import (
	"context"
	"sync"
	"time"

	"github.com/agent-airlock/airlock/internal/store"
)

// channel is the PostgreSQL channel by which workers of other processes learn that there may be
// something to do: a run that waits, or one to be stopped.
const channel = "runs"

// announceWithin bounds one announcement.
const announceWithin = 5 * time.Second

// announcer sends announcements in a goroutine of its own, so that no request waits for them. All
// announcements that are requested while one is sent become a single one. They are not part of a
// transaction, because PostgreSQL serialises the commits of transactions that announce.
type announcer struct {
	asked chan struct{}
	stop  chan struct{}
	ended sync.WaitGroup
}

func newAnnouncer(s *store.Store) *announcer {
	a := &announcer{asked: make(chan struct{}, 1), stop: make(chan struct{})}
	send := func() {
		ctx, cancel := context.WithTimeout(context.Background(), announceWithin)
		defer cancel()
		_ = s.Announce(ctx, channel) // workers that miss it find the run by polling
	}
	a.ended.Go(func() {
		for {
			select {
			case <-a.asked:
				send()
			case <-a.stop:
				if len(a.asked) > 0 {
					send()
				}
				return
			}
		}
	})
	return a
}

func (a *announcer) announce() { signal(a.asked) }

// signal puts a value into a channel with room for one, unless it contains one that nobody has
// received yet.
func signal(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// close ends the announcer after the announcements that were requested.
func (a *announcer) close() {
	close(a.stop)
	a.ended.Wait()
}

// listen wakes the worker when others announce, until ctx ends.
func (w *Worker) listen(ctx context.Context) {
	for warned := false; ; warned = true {
		err := w.store.Listen(ctx, channel, func() { signal(w.heard) })
		if ctx.Err() != nil {
			return
		}
		if !warned {
			w.Log.Warn("this worker hears of runs only when it looks for them, ten times a second", "error", err)
		}
		sleep(ctx, time.Second)
	}
}
