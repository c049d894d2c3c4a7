// Package phase is phase validation (spec 000): which language and which commands a
// project has, the six checks in their order with their retries, and one output that
// reports how they ended.
//
// What a check finds is data; an error means that the validation itself could not go on.
// Nothing here starts a process or reads a clock by itself: both are passed in.
package phase

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/agent-airlock/airlock/internal/changes"
	"github.com/agent-airlock/airlock/internal/command"
	"github.com/agent-airlock/airlock/internal/finding"
)

// Defaults of a Config.
const (
	DefaultTimeLimit  = 300 * time.Second // of one command
	DefaultRetryDelay = 2 * time.Second   // between a fix and the next attempt
)

// Job is what to validate.
type Job struct {
	Input Input // required
	// Repository is the absolute path of the repository's root, at or above the input's
	// working directory; "" if it is that directory. Findings name their files relative to
	// it.
	Repository string
	// Diff is what changed, with paths relative to Repository. Without it, every line of a
	// changed file counts as changed.
	Diff []changes.ChangedFile
	// Stamps, if not nil, returns when a file of Repository was last written, and its size in
	// bytes, both as of shortly before the validation. It saves looking at each file before the
	// first command.
	// ok is false for a file of which they are not known. It must be safe for concurrent use.
	Stamps func(path string) (modified time.Time, size int64, ok bool)
}

// Config is what the owner decides.
type Config struct {
	// CheckOnly runs fixes, and commands that are known to write, only in a copy that nobody keeps.
	CheckOnly bool
	// Scratch reports that the working directory is a copy that nobody keeps, and so Deps.Copy is
	// not needed. With CheckOnly, a formatter that only writes runs in this copy or in that of
	// Deps.Copy, and is judged by the files that it changes.
	Scratch bool
	// Suggest, with CheckOnly, runs the fix of a failed formatter or linter once in a copy, at the
	// very end. Its edits of changed files become suggestions of the findings. If a formatter's
	// finding names only the file, one finding for each edit replaces it, because NewOnly has to
	// tell old lines from new ones.
	Suggest bool
	// ReviewsOnly runs only the two reviews, which need no language. Build and tests are skipped.
	// Formatter and linter pass, because the output has no status for a skipped one.
	ReviewsOnly bool
	// NewOnly fails the formatter, the linter and the reviews only for findings on changed
	// lines, if all of the output could be read.
	NewOnly bool
	// Informational are checks whose failure does not fail the validation.
	Informational []Check
	// Only, if not nil, are the checks that run. Of the others, reviews are skipped, and the rest
	// has no CheckResult, and so the Output need not conform to its schema. But if no language is
	// known, or ReviewsOnly is set, all checks have a CheckResult.
	Only []Check
	// Test, if not "", runs only the tests of that name instead of all. A root without such a
	// test has NoTests set.
	Test string
	// Roots, if any, are validated instead of the roots that are found. A changed file that
	// is in none of them is only reviewed.
	Roots      []Root
	TimeLimit  time.Duration // of one command; 0: DefaultTimeLimit
	RetryDelay time.Duration // 0: DefaultRetryDelay
}

// Runner runs a command as command.Run does. It decides as which user, and where.
type Runner func(ctx context.Context, spec command.Spec) (command.Result, error)

// Copy is a copy of the repository that nobody keeps.
type Copy struct {
	Repository string // absolute
	Run        Runner // of commands that work in it
}

// Reviewer reviews the changed files. An error means that it could not review them, or
// not all; it is then asked again. What it found counts in any case.
type Reviewer func(ctx context.Context, r ReviewRequest) ([]finding.Finding, error)

// ReviewRequest is what a reviewer looks at.
type ReviewRequest struct {
	Repository string   // the absolute path of the root
	Files      []string // the changed files, relative to the root, slash-separated
	Diff       []changes.ChangedFile
}

// Deps are what a validation is given from outside.
type Deps struct {
	Run  Runner                                           // required
	Now  func() time.Time                                 // required
	Wait func(ctx context.Context, d time.Duration) error // required; returns early with the context's error
	Env  []string                                         // the commands' environment, as NAME=value, to which Run may add
	// Getenv returns a variable that Run adds to Env, "" if it adds none of that name. It may
	// be nil, if Run adds none.
	Getenv func(name string) string
	// Reports is the absolute path of a directory outside of the repository, below which each
	// run of tests gets a directory for the reports that its runner writes. Whoever runs the
	// commands may enter it. If it is "", no runner is asked for a report. Whoever provides it
	// removes it when the validation is over.
	Reports string
	// Cores is the number of roots that are worked on at the same time; 0: one. For more than one,
	// Workers is called once, before the first command, with a group of directories for each
	// worker. They are absolute, and none is inside another one. Workers returns a Runner for each
	// group, which runs one command at a time. If Workers is nil, or returns nil, all commands run
	// one after the other.
	Cores   int
	Workers func(groups [][]string) []Runner
	// Copy copies the repository as it is now, without the directories whose name is
	// excluded. It is called once at most, only with Config.CheckOnly and without
	// Config.Scratch, and only before a command that writes. An error explains to people why
	// there can be no copy, and so no suggestions. Whoever provides it removes the copy when
	// the validation is over. It may be nil.
	Copy func(ctx context.Context, excluded []string) (Copy, error)
	// Mask masks the secrets in what commands print, before a few lines of it are chosen. If it is
	// nil, all lines stay as they are.
	Mask func(string) string
	// A review that is nil passes without having looked, and its result notes that.
	CodeReview, SecurityReview Reviewer
	Progress                   func(Event) // one call at a time; may be nil
}

// Event is one step of a running check.
type Event struct {
	Root    string // relative to the working directory, "." for itself
	Check   Check
	Command string
	Retries int
	Status  Status        // "" while the check goes on
	NotRun  NotRun        // why it passes although nothing has run
	Elapsed time.Duration // since the check began
}

// engine is one running validation.
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
	copy       lazyCopy
	cores      chan struct{} // contains one element for each root that is worked on
	pins       *pins
	runners    map[string]Runner // of the roots, by their directories; the others use Deps.Run
	started    atomic.Bool       // a command may have written

	mu      sync.Mutex
	missing []MissingTool
	fixed   map[string]FixedFile
	first   map[firstRun]chan struct{} // closed when it has ended
}

// Validate runs the six checks. The error is the context's, an *InvalidInput, or a failure of Airlock
// itself; whatever the project's commands do is in the result. With an *InvalidInput whose
// NoLanguage is true, the result is that of the reviews, which need no language; the other
// checks have failed. With any other error the result is empty.
func Validate(ctx context.Context, job Job, config Config, deps Deps) (Result, error) {
	if deps.Run == nil || deps.Now == nil || deps.Wait == nil {
		return Result{}, errors.New("phase: Deps.Run, Now and Wait are required")
	}
	start := deps.Now()
	e, err := newEngine(job, config, deps)
	if err != nil {
		return Result{}, err
	}
	defer e.close()
	var result Result
	roots, err := e.plan()
	var invalid *InvalidInput
	if err != nil && !(errors.As(err, &invalid) && invalid.NoLanguage()) {
		return Result{}, err
	}
	e.restrict(roots)
	workers := e.workers(roots)
	if err := e.eachRoot(ctx, workers, e.runRoot); err != nil {
		return Result{}, err
	}
	if result.Reviews, err = e.reviews(ctx); err != nil {
		return Result{}, err
	}
	if e.suggests() {
		e.copy.excluded = unneeded(roots)
		if err := e.eachRoot(ctx, workers, e.suggest); err != nil {
			return Result{}, err
		}
	}
	if len(roots) == 0 {
		result.Roots = []RootResult{notRun(invalid)}
	}
	for _, r := range roots {
		rootResult := RootResult{Dir: r.dir, Language: r.language}
		for _, w := range r.runs {
			rootResult.Checks = append(rootResult.Checks, w.out)
		}
		result.Roots = append(result.Roots, rootResult)
	}
	result.Missing = e.missing
	for _, name := range slices.Sorted(maps.Keys(e.fixed)) {
		result.Fixed = append(result.Fixed, e.fixed[name])
	}
	result.Output = combine(result, config.Informational)
	result.Output.Time = deps.Now().Sub(start).Milliseconds()
	if invalid != nil {
		return result, invalid
	}
	return result, nil
}

// plan plans the checks of the roots. There are none if only the reviews run.
func (e *engine) plan() ([]*rootRun, error) {
	if e.config.ReviewsOnly {
		return nil, nil
	}
	found, err := e.roots()
	if err != nil {
		return nil, err
	}
	return e.project.plan(e.job.Input, found), nil
}

// notRun returns the result of the checks that run commands where none has run: because the
// language is not known, or because nobody asked.
func notRun(invalid *InvalidInput) RootResult {
	result := RootResult{Dir: "."}
	for _, check := range []Check{Formatter, Linter, Build, Tests} {
		c := CheckResult{Check: check, ExitCode: -1, Status: Fail}
		switch {
		case invalid != nil && check == Formatter:
			c.Problems = invalid.Problems
		case invalid != nil:
		case check == Formatter || check == Linter:
			c.Status, c.NotRun, c.ExitCode = Pass, NotAsked, 0
			c.Notes = []string{onlyReviews}
		default:
			c.Status, c.ExitCode, c.Notes = Skipped, 0, []string{onlyReviews}
		}
		result.Checks = append(result.Checks, c)
	}
	return result
}

// onlyReviews is why nothing else runs.
const onlyReviews = "reviews-only is set: the reviews alone run"

func newEngine(job Job, config Config, deps Deps) (*engine, error) {
	config.TimeLimit = cmp.Or(config.TimeLimit, DefaultTimeLimit)
	config.RetryDelay = cmp.Or(config.RetryDelay, DefaultRetryDelay)
	e := &engine{
		job: job, config: config, deps: deps,
		dir:        job.Input.WorkingDirectory,
		repository: cmp.Or(job.Repository, job.Input.WorkingDirectory),
		cores:      make(chan struct{}, max(deps.Cores, 1)),
		first:      map[firstRun]chan struct{}{},
		pins:       &pins{found: map[string]pinnedManager{}},
		runners:    map[string]Runner{},
		fixed:      map[string]FixedFile{},
	}
	rel, err := filepath.Rel(e.repository, e.dir)
	e.prefix = filepath.ToSlash(rel)
	if err != nil || e.prefix == ".." || strings.HasPrefix(e.prefix, "../") {
		return nil, fmt.Errorf("the working directory %s is not in the repository %s", e.dir, e.repository)
	}
	for _, f := range job.Input.ChangedFiles {
		e.files = append(e.files, path.Join(e.prefix, f))
	}
	e.lines = changedLinesOf(job.Diff, e.files)
	if e.project, err = openIn(e.repository, e.prefix); err != nil {
		return nil, err
	}
	e.project.changed, e.project.diff = e.files, job.Diff
	return e, nil
}

// knownStamps returns a function for the stamps of files that are known without looking at them.
// It is nil if Job.Stamps is, or if a command may have written since.
func (e *engine) knownStamps() func(string) (stamp, bool) {
	if e.job.Stamps == nil || e.started.Load() {
		return nil
	}
	prefix := e.prefix + "/"
	if e.prefix == "." {
		prefix = ""
	}
	return func(name string) (stamp, bool) {
		modified, size, ok := e.job.Stamps(prefix + name)
		return stamp{modified.UnixNano(), size}, ok
	}
}

// close closes the directories that are open.
func (e *engine) close() {
	e.project.close()
	if c := e.copy.engine; c != nil {
		c.project.close()
	}
}

// roots returns the roots that the owner lists, otherwise those that are found.
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

// restrict leaves only what Config.Only and Config.Test ask for.
func (e *engine) restrict(roots []*rootRun) {
	for _, r := range roots {
		if e.config.Only != nil {
			r.plans = slices.DeleteFunc(r.plans, func(p plan) bool { return !slices.Contains(e.config.Only, p.check) })
		}
		for i := range r.plans {
			if e.config.Test != "" && r.plans[i].check == Tests && !r.idle {
				r.plans[i] = e.project.testsNamed(e.config.Test, e.job.Input, r.root)
			}
		}
	}
}

// runRoot does the checks of a root, one after the other.
func (e *engine) runRoot(ctx context.Context, r *rootRun) error {
	if e.suggests() {
		r.began = e.project.stamps(r.files)
	}
	if e.fixesCopy() {
		r.texts = e.project.texts(r.files)
	}
	for _, p := range r.plans {
		end := e.waitForFirst(ctx, r.language, p.check)
		w, err := e.check(ctx, r.root, p, r.runs, 0)
		end()
		if err != nil {
			return err
		}
		r.runs = append(r.runs, w)
		e.collectFixed(r, w)
		if p.check == Linter && !e.config.CheckOnly && len(w.out.Rewritten) > 0 {
			if err := e.formatAgain(ctx, r); err != nil {
				return err
			}
		}
	}
	return nil
}

// formatAgain does the formatter's check of a root again if it has passed. The linter has written
// files since, and seldom as the formatter would. The formatter's retries of both times count
// together. What it then writes is linted again, without another fix, if the linter has passed and
// can check without writing.
func (e *engine) formatAgain(ctx context.Context, r *rootRun) error {
	i := slices.IndexFunc(r.runs, func(w *run) bool { return w.plan.check == Formatter && w.out.Status == Pass && w.out.NotRun == "" })
	if i < 0 {
		return nil
	}
	rewrote, err := e.checkAgain(ctx, r, i, r.runs[i].out.Retries)
	linter := len(r.runs) - 1
	if err != nil || !rewrote || r.runs[linter].out.Status != Pass || r.runs[linter].chosen.writes {
		return err
	}
	retries := r.runs[linter].out.Retries
	_, err = e.checkAgain(ctx, r, linter, e.job.Input.MaxRetries)
	r.runs[linter].out.Retries = retries
	if r.runs[linter].out.Status == Fail {
		r.runs[linter].note("it had passed before the files were formatted again: let the settings of the linter and the formatter agree")
	}
	return err
}

// checkAgain does check i of a root again, as one that has had this number of retries, and reports
// whether it has written files this time.
func (e *engine) checkAgain(ctx context.Context, r *rootRun, i, retries int) (rewrote bool, err error) {
	first := r.runs[i].out
	again, err := e.check(ctx, r.root, r.runs[i].plan, slices.Concat(r.runs[:i], r.runs[i+1:]), retries)
	if err != nil {
		return false, err
	}
	rewrote = len(again.out.Rewritten) > 0
	r.runs[i] = again
	e.collectFixed(r, again)
	again.out.Duration += first.Duration
	again.out.Rewritten = slices.Compact(slices.Sorted(slices.Values(slices.Concat(first.Rewritten, again.out.Rewritten))))
	again.out.Notes = slices.Concat(again.out.Notes, slices.DeleteFunc(first.Notes, func(n string) bool { return slices.Contains(again.out.Notes, n) }))
	return rewrote, nil
}

func (e *engine) progress(ev Event) {
	if e.deps.Progress != nil {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.deps.Progress(ev)
	}
}

// addMissing keeps a missing tool, each once.
func (e *engine) addMissing(m MissingTool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !slices.ContainsFunc(e.missing, func(known MissingTool) bool { return known.Tool == m.Tool }) {
		e.missing = append(e.missing, m)
	}
}
