// Package verify runs one verification of acceptance criteria: it gives acceptance the
// work tree, the place where commands run, the owner's programs and connections.
package verify

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/agent-airlock/airlock/internal/acceptance"
	"github.com/agent-airlock/airlock/internal/checks"
	"github.com/agent-airlock/airlock/internal/config"
	"github.com/agent-airlock/airlock/internal/doors"
	"github.com/agent-airlock/airlock/internal/exitcode"
	"github.com/agent-airlock/airlock/internal/gitrepo"
)

// Config is what one verification is about.
type Config struct {
	Request acceptance.Request // required
	Trust   acceptance.Trust   // in the author of the request
	// Dir is the absolute path of the work tree; the request's own counts if it is "".
	Dir        string
	Acceptance config.Acceptance // the owner's configuration
	Checks     config.Checks
	// Changes finds out what changed. Its Event is what the verification is about; its Root, Cloned,
	// Git and Log are set here.
	Changes checks.ChangeSource
	// AllowCredentials runs commands although they can use credentials.
	AllowCredentials bool
	// Set is what changed, if that is known already; otherwise Changes finds it out.
	Set      *checks.ChangeSet
	Evidence string // the directory for evidence; with "", Save keeps it
	// Save keeps a file of evidence by its slash-separated name; nil keeps none.
	Save func(name string, data []byte) error
}

// Deps are what a verification needs of the process.
type Deps struct {
	checks.Deps
	Progress func(acceptance.Step)
	Now      func() time.Time // required
}

// NewDeps returns what a verification needs of the process. Its Progress logs the steps.
func NewDeps(given checks.Deps, gate *doors.Gate) Deps {
	show := gate.TerminalText().Line
	return Deps{Deps: given, Now: time.Now, Progress: func(step acceptance.Step) { given.Log(step.Line(show)) }}
}

// Run verifies the criteria of a request. The error carries its exit code: it is about
// the verification itself, never about what was found.
func Run(ctx context.Context, cfg Config, deps Deps) (acceptance.Response, error) {
	w := &worktree{cfg: cfg, deps: deps}
	defer w.close()
	given := w.acceptanceDeps()
	given.Save = cfg.Save
	if cfg.Evidence != "" {
		dir, err := openEvidence(cfg.Evidence)
		if err != nil {
			return acceptance.Response{}, err
		}
		defer dir.close()
		given.Save = dir.save
	}
	r, err := acceptance.Verify(ctx, cfg.Request, settings(cfg), given)
	return r, ended(ctx, err)
}

// Conclude checks what the request claims, and judges the gates for a validator's response. Its
// error is like that of Run.
func Conclude(ctx context.Context, cfg Config, deps Deps, r acceptance.Response) (acceptance.Response, error) {
	w := &worktree{cfg: cfg, deps: deps}
	defer w.close()
	r, err := acceptance.Conclude(ctx, cfg.Request, r, settings(cfg), w.acceptanceDeps())
	return r, ended(ctx, err)
}

// ended returns the error of a verification with its exit code. If the context has ended, that error
// only says that the verification was interrupted.
func ended(ctx context.Context, err error) error {
	switch {
	case ctx.Err() != nil:
		return exitcode.FailedError(errors.New("interrupted; the verification did not end"))
	case err != nil:
		return exitcode.FailedError(err)
	}
	return nil
}

// acceptanceDeps returns what acceptance is given from outside.
func (w *worktree) acceptanceDeps() acceptance.Deps {
	a := w.cfg.Acceptance
	return acceptance.Deps{
		Now: w.deps.Now, Worktree: w.open, Reach: reach, Fetch: fetcher{a.Hosts, w.mask}.fetch, Mask: w.mask, Progress: w.deps.Progress,
		Validator: w.program(a.Validator), Browser: w.program(a.Browser), Judge: w.program(a.Judge),
	}
}

// settings returns what the owner and the user decide.
func settings(cfg Config) acceptance.Config {
	return acceptance.Config{Trust: cfg.Trust, Roots: []string{filepath.ToSlash(cfg.Dir), cfg.Request.Worktree}, Commands: cfg.Acceptance.Commands, StrangersToValidator: cfg.Acceptance.ValidatorForIssues,
		Parallel: cmp.Or(cfg.Checks.MaxParallel, runtime.GOMAXPROCS(0)), JudgeOptional: cfg.Acceptance.JudgeOptional,
		AcceptPartial: cfg.Acceptance.AcceptPartial}
}

// directory returns the work tree's absolute path. Its error is only the reason: the caller puts it
// after words such as "the work tree cannot be used".
func (cfg Config) directory() (string, error) {
	dir := cmp.Or(cfg.Dir, cfg.Request.Worktree)
	if dir == "" {
		return "", errors.New("neither the request (worktree_path) nor the user names one")
	}
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return "", fmt.Errorf("there is no directory %s; it may have been removed", dir)
	case err != nil:
		return "", err
	case !info.IsDir():
		return "", fmt.Errorf("%s is not a directory", dir)
	}
	return filepath.EvalSymlinks(dir)
}

// Directory returns the absolute path of the work tree that the user names with --dir, for Config.Dir.
// If flag is "", the result is "" where the request names a work tree, and the current directory
// otherwise. Its error carries its exit code.
func Directory(flag string, req acceptance.Request) (string, error) {
	if flag == "" && req.Worktree != "" {
		return "", nil
	}
	dir, err := filepath.Abs(flag)
	if err != nil {
		return "", exitcode.UsageError(err)
	}
	if info, err := os.Stat(dir); flag != "" && (err != nil || !info.IsDir()) {
		return "", exitcode.UsageError(fmt.Errorf("--dir: %s is not a directory", flag))
	}
	return dir, nil
}

// Head returns the commit that is checked out in the work tree of a request, "" if there
// is none or it cannot be read.
func Head(cfg Config) string {
	dir, err := cfg.directory()
	if err != nil {
		return ""
	}
	root, cloned := checks.FindRoot(dir)
	if !cloned {
		return ""
	}
	clone, err := gitrepo.Locate(root)
	if err != nil {
		return ""
	}
	head, err := clone.Resolve("HEAD")
	if err != nil {
		return ""
	}
	return head
}
