package phase

import (
	"context"
	"path/filepath"
	"sync"

	"github.com/agent-airlock/airlock/internal/crash"
)

// workersPerCore is the largest number of workers for each core: more than one, so that a slow
// root delays few others.
const workersPerCore = 4

// workers distributes the roots over workers, and sets the Runner of each root's commands. It
// returns the roots of each worker, which works on them one after the other. A root within
// another one shares files with it, and has the same worker. If there is only one worker, it has
// all roots, and no Runner is set.
func (e *engine) workers(roots []*rootRun) [][]*rootRun {
	var groups [][]*rootRun
	for _, r := range roots { // sorted: an outer root comes right before those in it
		if n := len(groups) - 1; n >= 0 && isIn(groups[n][0].dir, r.dir) {
			groups[n] = append(groups[n], r)
			continue
		}
		groups = append(groups, []*rootRun{r})
	}
	n := min(len(groups), workersPerCore*e.deps.Cores)
	if n < 2 || e.deps.Cores < 2 || e.deps.Workers == nil {
		return [][]*rootRun{roots}
	}
	workers, dirs := make([][]*rootRun, n), make([][]string, n)
	for i, group := range groups {
		workers[i%n] = append(workers[i%n], group...)
		dirs[i%n] = append(dirs[i%n], filepath.Join(e.dir, filepath.FromSlash(group[0].dir)))
	}
	runners := e.deps.Workers(dirs)
	if len(runners) != n {
		return [][]*rootRun{roots}
	}
	for i, worker := range workers {
		for _, r := range worker {
			e.runners[r.dir] = runners[i]
		}
	}
	return workers
}

// eachRoot calls work for each root. As many workers work at the same time as there are cores.
func (e *engine) eachRoot(ctx context.Context, workers [][]*rootRun, work func(context.Context, *rootRun) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var wg sync.WaitGroup
	for _, roots := range workers {
		e.cores <- struct{}{}
		wg.Go(func() {
			defer func() { <-e.cores }()
			for _, r := range roots {
				if err := crash.Try(func() error { return work(ctx, r) }); err != nil {
					cancel(err)
					return
				}
			}
		})
	}
	wg.Wait()
	return context.Cause(ctx)
}

// firstRun is the first run of a check other than the formatter, in a language whose tools fill a
// cache that all roots share. The same check of another root waits for it. Otherwise both would do
// the same work: two Go modules took 1.7 times the processor time. And two processes that fill
// Maven's repository damage it.
type firstRun struct {
	language Language
	check    Check
}

// waitForFirst waits until a check may begin, and returns a function to call when it has
// ended. While it waits, another root may use the core.
func (e *engine) waitForFirst(ctx context.Context, language Language, check Check) (end func()) {
	if language != Go && language != Java || check == Formatter {
		return func() {}
	}
	key := firstRun{language, check}
	e.mu.Lock()
	ended, ok := e.first[key]
	if !ok {
		ended = make(chan struct{})
		e.first[key] = ended
	}
	e.mu.Unlock()
	if !ok {
		return func() { close(ended) }
	}
	<-e.cores
	select {
	case <-ended:
	case <-ctx.Done():
	}
	e.cores <- struct{}{}
	return func() {}
}
