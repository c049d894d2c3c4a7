package checks

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/agent-airlock/airlock/internal/checkreport"
	"github.com/agent-airlock/airlock/internal/command"
	"github.com/agent-airlock/airlock/internal/exitcode"
	"github.com/agent-airlock/airlock/internal/isolate"
	"github.com/agent-airlock/airlock/internal/phase"
)

// Place is where the commands of a validation run: a sandbox apart from credentials, or the
// workspace itself; see Open. Close must be called. Commands may be run from several
// goroutines; in a sandbox they wait for each other.
type Place struct {
	validation validation
	sandbox    *isolate.Sandbox
	fixes      *fixCopy
	outbox     string // the directory in which test runners leave reports of their own; "" if there is none
	noOutbox   error  // why there is none
	noWorkers  error  // why there are no workers, so that projects were checked one after the other

	preparing time.Duration // what it took to open the place
}

// Open opens the place where the commands of a validation run. If they could use a credential
// there, it returns an error on a runner, and wherever this process has a token, unless
// cfg.AllowCredentials is set; otherwise it logs a warning. Its errors carry their exit code.
func Open(ctx context.Context, cfg Config, deps Deps) (*Place, error) {
	v, err := newValidation(cfg, deps)
	if err != nil {
		return nil, err
	}
	began := time.Now()
	sandbox, err := v.open(ctx)
	if err != nil {
		return nil, err
	}
	if warning := v.credentials.warning(); warning != "" && !sandbox.Apart() {
		v.deps.Log(warning)
	}
	p := &Place{validation: v, sandbox: sandbox, fixes: &fixCopy{cfg: v.sandbox}}
	p.outbox, p.noOutbox = sandbox.Outbox(v.sandbox.TempDir)
	p.preparing = time.Since(began)
	return p, nil
}

// Close removes what the place is made of. The errors say what could not be removed.
func (p *Place) Close() []error {
	return slices.DeleteFunc([]error{p.fixes.close(), p.sandbox.Close()}, func(err error) bool { return err == nil })
}

// Dir returns the absolute path of the working directory as commands see it.
func (p *Place) Dir() string {
	return filepath.Join(p.sandbox.Dir(), filepath.FromSlash(p.validation.dir))
}

// Apart reports whether commands run as another user in a copy of the workspace.
func (p *Place) Apart() bool { return p.sandbox.Apart() }

// Run runs a program in the working directory, unless spec names another, as
// command.Run does.
func (p *Place) Run(ctx context.Context, spec command.Spec) (command.Result, error) {
	spec.Dir = cmp.Or(spec.Dir, p.Dir())
	return p.sandbox.Run(ctx, spec)
}

// Validate runs some of the six checks. If test is not "", only the tests with that name run.
// What it returns is not masked: see Masker. Its errors carry their exit code.
func (p *Place) Validate(ctx context.Context, only []phase.Check, test string) (phase.Result, error) {
	cfg := p.validation.phase
	cfg.Only, cfg.Test, cfg.Suggest = only, test, false
	if !slices.ContainsFunc(only, func(c phase.Check) bool { return c != phase.CodeReview && c != phase.SecurityReview }) {
		cfg.ReviewsOnly = true // which need no language
	}
	cfg.CheckOnly = cfg.CheckOnly || p.sandbox.Apart()
	result, _, err := p.validate(ctx, cfg)
	return result, err
}

// validate runs the checks, and returns what they and the reviews found.
func (p *Place) validate(ctx context.Context, cfg phase.Config) (phase.Result, reviewDetails, error) {
	v := p.validation
	job := phase.Job{Input: v.Input, Repository: p.sandbox.Dir(), Diff: v.Changes.files()}
	job.Input.WorkingDirectory = p.Dir()
	if cfg.Scratch = p.sandbox.Apart(); !cfg.Scratch {
		job.Stamps = v.Changes.stamps
	}
	reviews, err := newReviews(reviewsConfig{Checks: v.Checks, Scanner: v.deps.Scanner, Changes: v.Changes.Set, Run: p.sandbox.Run})
	if err != nil {
		return phase.Result{}, reviewDetails{}, exitcode.UsageError(err)
	}
	result, err := phase.Validate(ctx, job, cfg, phase.Deps{
		Run: p.sandbox.Run, Now: time.Now, Wait: wait, CodeReview: reviews.codeReview(), SecurityReview: reviews.securityReview(),
		Progress: v.deps.Tell, Workers: func(groups [][]string) []phase.Runner { return p.split(ctx, groups) }, Cores: cmp.Or(v.Checks.MaxParallel, runtime.GOMAXPROCS(0)), Copy: p.fixes.open,
		Reports: p.outbox, Getenv: p.sandbox.Getenv, Mask: v.deps.Scanner.Mask,
	})
	if err != nil {
		err = stopped(ctx, err)
	}
	return result, reviews.details(), err
}

// split makes a worker for each group of directories, so that projects of different groups are
// checked at the same time. In a sandbox, each worker has a user of its own. If there can be no
// workers, split returns none and sets noWorkers.
func (p *Place) split(ctx context.Context, groups [][]string) (runners []phase.Runner) {
	var workers []*isolate.Worker
	workers, p.noWorkers = p.sandbox.Split(ctx, groups)
	for _, w := range workers {
		runners = append(runners, w.Run)
	}
	return runners
}

// Masker returns a function that masks secrets in a text, and replaces the names of the place's
// directories, which differ each time and mean nothing to a reader. Masker knows only the
// directories that exist when it is called, and must not be called while a validation runs.
func (p *Place) Masker() func(string) string {
	list := slices.Concat(p.fixes.names(), p.sandbox.Replacements())
	if p.outbox != "" {
		list = append([]string{p.outbox, "$TMPDIR"}, list...)
	}
	names := strings.NewReplacer(list...)
	return func(text string) string { return names.Replace(p.validation.deps.Scanner.Mask(text)) }
}

// document runs all checks, writes the files that they fixed in a copy back into the workspace, and
// returns what they found. If only the language is not known, it returns both what the reviews
// found and an error.
func (p *Place) document(ctx context.Context) (*checkreport.Document, error) {
	v := p.validation
	result, details, err := p.validate(ctx, v.phase)
	_, invalid := errors.AsType[*phase.InvalidInput](err)
	if err != nil && !(invalid && len(result.Reviews) > 0) {
		return nil, err
	}
	result.Output.Time += p.preparing.Milliseconds()
	result.Missing = append(result.Missing, details.missing...)
	in := checkreport.Input{Result: result, Repository: v.Event.Repo.FullName(), Head: v.Changes.head, Informational: v.phase.Informational,
		Rules: lookup(details.rules), Code: v.Changes.sourceLines(), Place: v.Changes.atHead, Mask: p.Masker()}
	if v.Event.IsPull {
		in.Number = v.Event.Number
	}
	in.Notes = p.fixes.notes()
	if p.noWorkers != nil {
		in.Notes = append(in.Notes, fmt.Sprintf("The projects were checked one after the other: %v.", p.noWorkers))
	}
	if p.noOutbox != nil {
		in.Notes = append(in.Notes, fmt.Sprintf("Test runners were not asked for reports of their own, so that tests are counted by what was printed: %v.", p.noOutbox))
	}
	in.Notes = append(in.Notes, writeBack(v.Root, result.Fixed)...)
	v.addDetails(&in, details, p.sandbox)
	return checkreport.New(in), err
}
