package phase

import (
	"context"
	"maps"
	"path/filepath"
	"slices"
	"sync"
)

// scratch is the copy of the repository in which commands that write run, where the
// working directory is kept. It is made when the first of them is to run.
type scratch struct {
	mu    sync.Mutex
	asked bool
	leave []string // names of folders that none of them needs
	at    *engine  // it runs commands there, and judges nothing
	why   error    // why there is no copy
}

// writable returns the engine of the place where commands may write and nothing is
// kept: e itself, or one in the copy. It is nil where there is no such place, and why
// says the reason.
func (e *engine) writable(ctx context.Context) (at *engine, why error) {
	if e.config.Scratch {
		return e, nil
	}
	s := &e.scratch
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.asked && e.world.Copy != nil {
		s.asked = true
		s.at, s.why = e.copied(ctx)
	}
	return s.at, s.why
}

func (e *engine) copied(ctx context.Context) (*engine, error) {
	made, err := e.world.Copy(ctx, e.scratch.leave)
	if err != nil {
		return nil, err
	}
	at := &engine{job: e.job, config: e.config, world: e.world, prefix: e.prefix, repository: made.Repository}
	at.world.Run, at.dir = made.Run, filepath.Join(made.Repository, filepath.FromSlash(e.prefix))
	if at.project, err = openProject(at.dir); err != nil {
		return nil, err
	}
	return at, nil
}

// close lets go of the folders that are open.
func (e *engine) close() {
	_ = e.project.at.Close() // it was only read
	if at := e.scratch.at; at != nil {
		_ = at.project.at.Close()
	}
}

// unneeded returns the names of folders which hold tools, and are large, that none of
// the fixes needs which may run: those of languages whose own fixes are not among
// them. A command of the owner's may need anything.
func unneeded(roots []*rootRun) []string {
	left := map[string]Language{"node_modules": JavaScript, ".venv": Python}
	for _, r := range roots {
		for _, w := range r.runs {
			if !w.style() || w.out.Status != Fail || w.way.fix.line == "" {
				continue
			}
			if w.way.fix.line == w.way.check.line {
				return nil
			}
			maps.DeleteFunc(left, func(_ string, l Language) bool { return l == r.language.family() })
		}
	}
	return slices.Sorted(maps.Keys(left))
}
