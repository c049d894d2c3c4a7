package checks

import (
	"context"
	"fmt"

	"github.com/agent-airlock/airlock/internal/isolate"
	"github.com/agent-airlock/airlock/internal/phase"
)

// workers let the projects of a repository be checked at the same time, each by a user
// of its own.
type workers struct {
	sandbox *isolate.Sandbox
	err     error // why there are no workers
}

// split returns a function that makes a worker for each group of directories, as
// phase.Deps asks for it.
func (w *workers) split(ctx context.Context) func(groups [][]string) []phase.Runner {
	return func(groups [][]string) (runners []phase.Runner) {
		var split []*isolate.Worker
		split, w.err = w.sandbox.Split(ctx, groups)
		for _, worker := range split {
			runners = append(runners, worker.Run)
		}
		return runners
	}
}

// notes returns why projects were checked one after the other, where they need not have
// been.
func (w *workers) notes() []string {
	if w.err == nil {
		return nil
	}
	return []string{fmt.Sprintf("The projects were checked one after the other: %v.", w.err)}
}
