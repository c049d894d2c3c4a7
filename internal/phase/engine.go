package phase

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"strings"
	"sync"
)

// engine is one validation at work.
type engine struct {
	job        Job
	config     Config
	world      World
	dir        string // absolute: the working directory
	repository string // absolute
	prefix     string // of dir in the repository, slash-separated, "." for none
	files      []string
	lines      changedLines
	project    *project
	scratch    scratch
	cores      chan struct{} // holds one for each root that is worked on
	pioneers   pioneers
	runners    map[string]Runner // of the roots' commands, by their folders; others' is World.Run

	mu   sync.Mutex
	lost []MissingTool
}

// Validate runs the six checks. The error is the context's, an *InvalidInput
// when no language can be told, or ours; whatever the project's commands do is
// in the result.
func Validate(ctx context.Context, job Job, config Config, world World) (Result, error) {
	start := world.Now()
	e, err := newEngine(job, config, world)
	if err != nil {
		return Result{}, err
	}
	defer e.close()
	found, err := e.roots()
	if err != nil {
		return Result{}, err
	}
	var roots []*rootRun
	for _, p := range e.project.plan(job.Input, found) {
		roots = append(roots, &rootRun{rootPlan: p})
	}
	lanes := e.lanes(roots)
	if err := e.eachRoot(ctx, lanes, e.runRoot); err != nil {
		return Result{}, err
	}
	var result Result
	if result.Reviews, err = e.reviews(ctx); err != nil {
		return Result{}, err
	}
	if e.suggests() {
		e.scratch.leave = unneeded(roots)
		if err := e.eachRoot(ctx, lanes, e.suggest); err != nil {
			return Result{}, err
		}
	}
	for _, r := range roots {
		result.Roots = append(result.Roots, r.result())
	}
	result.Missing = e.lost
	result.Output = combine(result, config.Informational)
	result.Output.Time = world.Now().Sub(start).Milliseconds()
	return result, nil
}

func newEngine(job Job, config Config, world World) (*engine, error) {
	if world.Run == nil || world.Now == nil || world.Wait == nil {
		return nil, errors.New("phase: a World needs Run, Now and Wait")
	}
	config.TimeLimit = cmp.Or(config.TimeLimit, DefaultTimeLimit)
	config.RetryDelay = cmp.Or(config.RetryDelay, DefaultRetryDelay)
	e := &engine{job: job, config: config, world: world, dir: job.Input.WorkingDirectory}
	e.repository = cmp.Or(job.Repository, e.dir)
	rel, err := filepath.Rel(e.repository, e.dir)
	if e.prefix = filepath.ToSlash(rel); err != nil || e.prefix == ".." || strings.HasPrefix(e.prefix, "../") {
		return nil, fmt.Errorf("the working directory %s does not lie in the repository %s", e.dir, e.repository)
	}
	for _, f := range job.Input.ChangedFiles {
		e.files = append(e.files, path.Join(e.prefix, f))
	}
	e.lines = changedLinesOf(job.Diff, e.files)
	e.cores, e.pioneers.ended, e.runners = make(chan struct{}, max(world.Cores, 1)), map[pioneer]chan struct{}{}, map[string]Runner{}
	e.project, err = openProject(e.dir)
	return e, err
}

// roots returns what the owner lists, or what is found.
func (e *engine) roots() ([]root, error) {
	if len(e.config.Roots) > 0 {
		return e.project.listed(e.job.Input, e.config.Roots, e.prefix)
	}
	found := e.project.roots(e.job.Input)
	if len(found) == 0 {
		return nil, &InvalidInput{[]string{cannotDetect}}
	}
	return found, nil
}

// retries is how often a fix may be tried.
func (e *engine) retries() int {
	if e.config.CheckOnly {
		return 0
	}
	return e.job.Input.MaxRetries
}

func (e *engine) runRoot(ctx context.Context, r *rootRun) error {
	if e.suggests() {
		r.began = e.project.stamps(r.files)
	}
	for _, p := range r.plans {
		end := e.turn(ctx, r.root, p.check)
		w, err := e.check(ctx, r.root, p)
		end()
		if err != nil {
			return err
		}
		r.runs = append(r.runs, w)
	}
	return nil
}

func (r *rootRun) result() RootResult {
	result := RootResult{Dir: r.dir, Language: r.language}
	for _, w := range r.runs {
		result.Checks = append(result.Checks, w.out)
	}
	return result
}

func (e *engine) tell(ev Event) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.world.Progress != nil {
		e.world.Progress(ev)
	}
}

// miss notes a missing tool, each once.
func (e *engine) miss(m MissingTool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, l := range e.lost {
		if l.Tool == m.Tool {
			return
		}
	}
	e.lost = append(e.lost, m)
}
