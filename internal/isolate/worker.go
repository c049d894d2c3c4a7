package isolate

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"

	"github.com/agent-airlock/airlock/internal/command"
)

// Worker is a part of a sandbox. In a sandbox that is apart, its programs run one after the other,
// and at the same time as those of other workers.
type Worker struct {
	sandbox *Sandbox
	dirs    []string // relative to the sandbox's directory
	user    *user    // nil if the sandbox is not apart
	mu      sync.Mutex
}

// Split makes a worker for each group of directories. They are absolute paths, and none
// contains another. In a sandbox that is apart, each worker has its own user and home; the
// user owns the worker's directories while programs of workers run. All these users are in
// one group that may write to the entire workspace copy, so a program can still write to
// the directories of another worker. A sandbox can be split only once. After an error, it
// is not split.
func (s *Sandbox) Split(ctx context.Context, groups [][]string) ([]*Worker, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.workers != nil {
		return nil, errors.New("the sandbox is split already")
	}
	workers := make([]*Worker, len(groups))
	for i, dirs := range groups {
		workers[i] = &Worker{sandbox: s}
		for _, dir := range dirs {
			rel, err := filepath.Rel(s.dir, dir)
			if err != nil || !filepath.IsLocal(rel) {
				return nil, fmt.Errorf("the directory %s does not lie in the workspace", dir)
			}
			workers[i].dirs = append(workers[i].dirs, rel)
		}
	}
	if s.apart && len(workers) > 0 {
		if err := s.addUsers(ctx, workers); err != nil {
			return nil, err
		}
	}
	s.workers = workers
	return workers, nil
}

// Run runs a program as Sandbox.Run does, but programs of other workers may run at the
// same time.
func (w *Worker) Run(ctx context.Context, spec command.Spec) (command.Result, error) {
	if !w.sandbox.apart {
		return w.sandbox.Run(ctx, spec)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.sandbox.lockSplit(ctx); err != nil {
		return command.Result{ExitCode: -1}, err
	}
	defer w.sandbox.mu.RUnlock()
	return w.sandbox.runAs(ctx, w.user, spec)
}

// lockSplit returns with s.mu held for reading and the workers' users owning their
// directories, or with an error and s.mu not held.
func (s *Sandbox) lockSplit(ctx context.Context) error {
	s.splitting.Lock()
	defer s.splitting.Unlock()
	for {
		s.mu.RLock()
		if s.split {
			return nil
		}
		s.mu.RUnlock()
		s.mu.Lock()
		err := s.assign(ctx, true)
		s.mu.Unlock()
		if err != nil {
			return err
		}
	}
}

// assign gives the workers' directories to the workers' users if split is true, otherwise
// to the sandbox's own user. The caller holds s.mu for writing.
func (s *Sandbox) assign(ctx context.Context, split bool) error {
	if s.split == split {
		return nil
	}
	for _, w := range s.workers {
		owner := s.users[0]
		if split {
			owner = w.user
		}
		if err := s.giveDirs(ctx, w.dirs, owner); err != nil {
			return fmt.Errorf("giving directories to the user who works in them: %w", err)
		}
	}
	s.split = split
	return nil
}
