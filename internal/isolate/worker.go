package isolate

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"

	"github.com/agent-airlock/airlock/internal/command"
)

// Worker is a part of a sandbox: its programs run one after the other, and beside those of
// the sandbox's other workers.
type Worker struct {
	sandbox *Sandbox
	folders []string // relative to the sandbox's directory
	user    *user    // nil where nothing is apart
	mu      sync.Mutex
}

// Split splits the sandbox into workers: lists of folders, absolute, none in another. Where
// the sandbox is apart, each worker has a user of its own, who owns its folders while
// programs of workers run, and a home of its own. All of them have one group, which may
// write the whole workspace, so that a program can still write into another's folder.
// A sandbox can be split once. After an error, it is as it was.
func (r *Sandbox) Split(ctx context.Context, folders [][]string) ([]*Worker, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.workers != nil {
		return nil, errors.New("the sandbox is split already")
	}
	workers := make([]*Worker, len(folders))
	for i, list := range folders {
		workers[i] = &Worker{sandbox: r}
		for _, dir := range list {
			rel, err := filepath.Rel(r.dir, dir)
			if err != nil || !filepath.IsLocal(rel) {
				return nil, fmt.Errorf("the folder %s does not lie in the workspace", dir)
			}
			workers[i].folders = append(workers[i].folders, rel)
		}
	}
	if r.apart && len(workers) > 0 {
		if err := r.prepareWorkers(ctx, workers); err != nil {
			return nil, err
		}
	}
	r.workers = workers
	return workers, nil
}

// Run runs a program as Sandbox.Run does, while others may run in the sandbox's other workers.
func (l *Worker) Run(ctx context.Context, spec command.Spec) (command.Result, error) {
	if !l.sandbox.apart {
		return l.sandbox.Run(ctx, spec)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.sandbox.enter(ctx); err != nil {
		return command.Result{ExitCode: -1}, err
	}
	defer l.sandbox.mu.RUnlock()
	return l.sandbox.runAs(ctx, l.user, spec)
}

// enter returns with r.mu held for reading and the workers' folders their users', or
// with an error.
func (r *Sandbox) enter(ctx context.Context) error {
	for {
		r.mu.RLock()
		if r.split {
			return nil
		}
		r.mu.RUnlock()
		r.mu.Lock()
		err := r.divide(ctx)
		r.mu.Unlock()
		if err != nil {
			return err
		}
	}
}

// divide gives the workers' folders to their users. The caller holds r.mu for writing.
func (r *Sandbox) divide(ctx context.Context) error {
	if r.split {
		return nil
	}
	for _, l := range r.workers {
		if err := r.hand(ctx, l.folders, l.user); err != nil {
			return fmt.Errorf("giving folders to the user who works in them: %w", err)
		}
	}
	r.split = true
	return nil
}

// unite gives all of the workspace to the sandbox's own user. The caller holds r.mu for
// writing.
func (r *Sandbox) unite(ctx context.Context) error {
	if !r.split {
		return nil
	}
	for _, l := range r.workers {
		if err := r.hand(ctx, l.folders, r.users[0]); err != nil {
			return fmt.Errorf("giving folders to the user who works in them: %w", err)
		}
	}
	r.split = false
	return nil
}
