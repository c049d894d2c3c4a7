// Package phase is phase validation (spec 000): which language and which
// commands a project has, the six checks in their order with their retries, and
// one output that says what is true of them.
//
// What a check noticed is data; an error means that the validation itself could
// not go on. Nothing here starts a process or reads a clock by itself: both are
// passed in.
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
	"time"

	"github.com/agent-airlock/airlock/internal/changes"
	"github.com/agent-airlock/airlock/internal/command"
	"github.com/agent-airlock/airlock/internal/finding"
)

// engine is one validation at work.
type engine struct {
	job        Job
	config     Config
	deps       Deps
	dir        string // absolute: the working directory
	repository string // absolute
	prefix     string // of dir in the repository, slash-separated, "." for none
	files      []string
	lines      changedLines
	project    *project
	scratch    scratch
	cores      chan struct{} // holds one for each root that is worked on
	pioneers   pioneers
	runners    map[string]Runner // of the roots' commands, by their folders; others' is Deps.Run

	mu   sync.Mutex
	lost []MissingTool
}

// Validate runs the six checks. The error is the context's, an *InvalidInput
// when no language can be told, or ours; whatever the project's commands do is
// in the result.
func Validate(ctx context.Context, job Job, config Config, deps Deps) (Result, error) {
	start := deps.Now()
	e, err := newEngine(job, config, deps)
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
	result.Output.Time = deps.Now().Sub(start).Milliseconds()
	return result, nil
}

func newEngine(job Job, config Config, deps Deps) (*engine, error) {
	if deps.Run == nil || deps.Now == nil || deps.Wait == nil {
		return nil, errors.New("phase: a Deps needs Run, Now and Wait")
	}
	config.TimeLimit = cmp.Or(config.TimeLimit, DefaultTimeLimit)
	config.RetryDelay = cmp.Or(config.RetryDelay, DefaultRetryDelay)
	e := &engine{job: job, config: config, deps: deps, dir: job.Input.WorkingDirectory}
	e.repository = cmp.Or(job.Repository, e.dir)
	rel, err := filepath.Rel(e.repository, e.dir)
	if e.prefix = filepath.ToSlash(rel); err != nil || e.prefix == ".." || strings.HasPrefix(e.prefix, "../") {
		return nil, fmt.Errorf("the working directory %s does not lie in the repository %s", e.dir, e.repository)
	}
	for _, f := range job.Input.ChangedFiles {
		e.files = append(e.files, path.Join(e.prefix, f))
	}
	e.lines = changedLinesOf(job.Diff, e.files)
	e.cores, e.pioneers.ended, e.runners = make(chan struct{}, max(deps.Cores, 1)), map[pioneer]chan struct{}{}, map[string]Runner{}
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
	if e.deps.Progress != nil {
		e.deps.Progress(ev)
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

// Limits that hold where a Config does not say.
const (
	DefaultTimeLimit  = 300 * time.Second // of one command
	DefaultRetryDelay = 2 * time.Second   // between a fix and the next try
)

// Job is what to validate.
type Job struct {
	Input Input
	// Repository is the absolute path of the repository's root, at or above the
	// input's working directory, which it is where this is "". Findings name
	// their files relative to it.
	Repository string
	// Diff is what changed, with paths relative to Repository. Without it, every
	// line of a changed file counts as changed.
	Diff []changes.ChangedFile
}

// Config is what the owner decides.
type Config struct {
	// CheckOnly has no fix command run, and no command that is known to write.
	CheckOnly bool
	// Scratch tells that the working directory is a copy that nobody keeps, so that
	// Deps.Copy need not make one. With CheckOnly, a formatter that only writes is run
	// in a copy all the same, and judged by what it changes.
	Scratch bool
	// Suggest has the fix of a formatter or linter that failed run once in a copy, at
	// the very end, where CheckOnly is set, too. What it changes in the changed files
	// becomes the suggestions of findings; where a formatter names only the file, one
	// finding for each run of lines stands in its place, so that NewOnly can tell old
	// lines from new ones.
	Suggest bool
	// NewOnly lets only findings on changed lines fail the formatter, the linter
	// and the reviews, where the output could be read whole.
	NewOnly bool
	// Informational are checks whose failure does not fail the whole.
	Informational []Check
	// Roots, if any, are what is validated in the place of the roots that are found.
	// A changed file that lies in none of them is for the reviews only.
	Roots      []Root
	TimeLimit  time.Duration // of one command; 0: DefaultTimeLimit
	RetryDelay time.Duration // 0: DefaultRetryDelay
}

// Runner runs a command as command.Run does, under whichever identity and in
// whichever place it decides.
type Runner func(ctx context.Context, spec command.Spec) (command.Result, error)

// Copy is a copy of the repository that nobody keeps.
type Copy struct {
	Repository string // absolute
	Run        Runner // of commands that work in it
}

// Reviewer reviews the changed files. An error means that it could not, or not
// wholly; it is asked once more then. What it found all the same counts.
type Reviewer func(ctx context.Context, r ReviewRequest) ([]finding.Finding, error)

// ReviewRequest is what a reviewer looks at.
type ReviewRequest struct {
	Repository string   // the absolute path of the root
	Files      []string // the changed files, relative to the root, slash-separated
	Diff       []changes.ChangedFile
}

// Deps is what the validation uses of the deps.
type Deps struct {
	Run Runner
	// Split makes it possible to work on several roots at the same time. It is called
	// once, before the first command, with lanes: lists of folders, absolute, none
	// in another. It returns a Runner for each lane, which is used for one command at
	// a time, while those of other lanes are at work; or nil, where all commands have
	// to run one after the other, as they do if Split is nil.
	Workers func(groups [][]string) []Runner
	Env     []string // the commands' whole environment, as NAME=value
	// Copy copies the repository as it is now, but for folders of the names in leave.
	// It is called once at most, only with Config.CheckOnly and without Config.Scratch,
	// and only when a command is to run that writes. An error tells why there can be no
	// copy, as it is told to people: there are no suggestions then. Whoever gives it
	// removes the copy when the validation is over. It may be nil.
	Copy func(ctx context.Context, leave []string) (Copy, error)
	// Now tells the time, and Wait waits or returns the context's error.
	Now  func() time.Time
	Wait func(ctx context.Context, d time.Duration) error
	// CodeReview and SecurityReview may be nil: that check then passes without
	// having looked, and the result says so.
	CodeReview, SecurityReview Reviewer
	Progress                   func(Event) // one call at a time; may be nil
	Cores                      int         // how many roots are worked on at the same time; 0: one
}

// Event is one step of a running check.
type Event struct {
	Root    string // relative to the working directory, "." for itself
	Check   Check
	Command string
	Retries int
	// Status is "" while the check goes on.
	Status  Status
	Elapsed time.Duration // since the check began
}
