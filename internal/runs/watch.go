package runs

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/agent-airlock/airlock/internal/store"
)

// pollInterval is the interval at which the watcher queries the store for changes by other processes.
// Changes by this process are reported at once.
const pollInterval = 100 * time.Millisecond

// watcher wakes those who wait for changes of runs. One query serves all of them; while
// nobody waits, it makes none.
type watcher struct {
	store *store.Store

	mu      sync.Mutex
	waiting map[string]map[chan struct{}]bool // by run
	seen    map[string]int64                  // how many events each run had at the last query
	looking bool
	done    sync.WaitGroup
	ctx     context.Context
	cancel  context.CancelFunc
}

func newWatcher(s *store.Store) *watcher {
	w := &watcher{store: s, waiting: map[string]map[chan struct{}]bool{}, seen: map[string]int64{}}
	w.ctx, w.cancel = context.WithCancel(context.Background())
	return w
}

func (w *watcher) close() {
	w.cancel()
	w.done.Wait()
}

// watch implements Service.Watch.
func (w *watcher) watch(id string) (changes <-chan struct{}, leave func()) {
	c := make(chan struct{}, 1)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.waiting[id] == nil {
		w.waiting[id] = map[chan struct{}]bool{}
	}
	w.waiting[id][c] = true
	delete(w.seen, id) // so that the next query reports the run
	if !w.looking && w.ctx.Err() == nil {
		w.looking = true
		w.done.Go(w.run)
	}
	return c, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.waiting[id], c)
		if len(w.waiting[id]) == 0 {
			delete(w.waiting, id)
			delete(w.seen, id)
		}
	}
}

// changed wakes those who wait for a run.
func (w *watcher) changed(id string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.wakeLocked(id)
}

// wakeLocked does what the method changed does, for callers that hold mu.
func (w *watcher) wakeLocked(id string) {
	for c := range w.waiting[id] {
		signal(c)
	}
}

// run queries the store until nobody waits any more.
func (w *watcher) run() {
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	for {
		w.mu.Lock()
		if len(w.waiting) == 0 || w.ctx.Err() != nil {
			w.looking = false
			w.mu.Unlock()
			return
		}
		ids := slices.Collect(maps.Keys(w.waiting))
		w.mu.Unlock()
		w.lookAt(ids)
		select {
		case <-w.ctx.Done():
		case <-tick.C:
		}
	}
}

// lookAt wakes those who wait for runs that have changed, were deleted or are not in seen. If the
// store does not answer, the next query finds the same changes.
func (w *watcher) lookAt(ids []string) {
	ctx, cancel := context.WithTimeout(w.ctx, backgroundWithin)
	defer cancel()
	places, args := make([]string, len(ids)), make([]any, len(ids))
	for i, id := range ids {
		places[i], args[i] = fmt.Sprintf("$%d", i+1), id
	}
	events := map[string]int64{}
	err := w.store.Query(ctx, func(row store.Row) error {
		var id string
		var n int64
		err := row.Scan(&id, &n)
		events[id] = n
		return err
	}, `SELECT id, events FROM runs WHERE id IN (`+strings.Join(places, ", ")+`)`, args...)
	if err != nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, id := range ids {
		n, exists := events[id]
		if before, known := w.seen[id]; !known || n != before || !exists {
			w.wakeLocked(id)
		}
		if w.waiting[id] != nil {
			w.seen[id] = n
		}
	}
}
