package phase

import (
	"context"
	"path/filepath"
	"strings"
	"sync"
)

// lanesPerCore is how many lanes there are at most for each core: more than one, so
// that a slow root holds up few others.
const lanesPerCore = 4

// lanes spreads the roots over lanes, and sets the Runner of their commands. Roots of
// which one lies in another share files, and are in one lane. The roots are sorted,
// so that an outer one comes right before those in it.
func (e *engine) lanes(roots []*rootRun) [][]*rootRun {
	var groups [][]*rootRun
	for _, r := range roots {
		if n := len(groups) - 1; n >= 0 && under(groups[n][0].dir, r.dir) {
			groups[n] = append(groups[n], r)
			continue
		}
		groups = append(groups, []*rootRun{r})
	}
	n := min(len(groups), lanesPerCore*e.deps.Cores)
	if n < 2 || e.deps.Cores < 2 || e.deps.Workers == nil {
		return [][]*rootRun{roots}
	}
	lanes, folders := make([][]*rootRun, n), make([][]string, n)
	for i, group := range groups {
		lanes[i%n] = append(lanes[i%n], group...)
		folders[i%n] = append(folders[i%n], filepath.Join(e.dir, filepath.FromSlash(group[0].dir)))
	}
	runners := e.deps.Workers(folders)
	if len(runners) != n {
		return [][]*rootRun{roots}
	}
	for i, lane := range lanes {
		for _, r := range lane {
			e.runners[r.dir] = runners[i]
		}
	}
	return lanes
}

// under reports whether dir is outer or lies below it. Roots are sorted, so that
// an outer one comes first.
func under(outer, dir string) bool {
	return outer == "." || dir == outer || strings.HasPrefix(dir, outer+"/")
}

// eachRoot works on the roots: on those of different lanes side by side, as far as
// there are cores.
func (e *engine) eachRoot(ctx context.Context, lanes [][]*rootRun, work func(context.Context, *rootRun) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var wg sync.WaitGroup
	for _, lane := range lanes {
		e.cores <- struct{}{}
		wg.Go(func() {
			defer func() { <-e.cores }()
			for _, r := range lane {
				if err := work(ctx, r); err != nil {
					cancel(err)
					return
				}
			}
		})
	}
	wg.Wait()
	return context.Cause(ctx)
}

// pioneers are checks that run for the first time in a language whose tools fill a
// cache that all roots share. The same checks of other roots wait for them: they
// would do the same work at the same time, for which two Go modules took 1.7 times the
// processor time of one after the other; and Maven's repository takes harm when two fill it at once.
type pioneers struct {
	mu    sync.Mutex
	ended map[pioneer]chan struct{}
}

type pioneer struct {
	language Language
	check    Check
}

// turn returns when a check may begin, and what to call when it has ended. While it
// waits, the core is another root's.
func (e *engine) turn(ctx context.Context, r root, check Check) (end func()) {
	if (r.language != Go && r.language != Java) || check == Formatter {
		return func() {}
	}
	p := &e.pioneers
	p.mu.Lock()
	key := pioneer{r.language, check}
	ended, ok := p.ended[key]
	if !ok {
		ended = make(chan struct{})
		p.ended[key] = ended
	}
	p.mu.Unlock()
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
