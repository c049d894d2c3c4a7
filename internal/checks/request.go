package checks

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"

	"github.com/agent-airlock/airlock/internal/action"
	"github.com/agent-airlock/airlock/internal/checkreport"
	"github.com/agent-airlock/airlock/internal/config"
	"github.com/agent-airlock/airlock/internal/doors"
	"github.com/agent-airlock/airlock/internal/event"
	"github.com/agent-airlock/airlock/internal/exitcode"
	"github.com/agent-airlock/airlock/internal/phase"
)

// Request asks for a validation of a directory of this machine.
type Request struct {
	// Input has the directory as an absolute path; required.
	Input phase.Input
	// Listed is set if Input lists all changed files, even if there are none. Otherwise, if the
	// list is nil, git or GitHub is asked for them.
	Listed  bool
	Base    string        // a revision to compare with; "" for the event's base, or the default branch
	Checks  config.Checks // the owner's configuration
	Runner  action.Env    // names the workflow run's event, if there is one
	Version string        // of Airlock
	// Written are the files that Airlock writes, which are not changes.
	Written          []string
	CheckOnly        bool
	AllowCredentials bool
}

// Validate finds the changed files, and runs the checks. begin, if not nil, begins to show their
// progress to a person. unchanged reports that no file has changed. The document is that of Run, and
// so is the error if the checks could begin.
func (r Request) Validate(ctx context.Context, deps Deps, begin func() *Progress) (doc *checkreport.Document, unchanged bool, err error) {
	what, release, err := r.prepare(ctx, deps.Getenv, deps.Log)
	defer release()
	if err != nil {
		return nil, false, err
	}
	if begin != nil {
		shown := begin()
		defer shown.Stop()
		deps.Tell, deps.Copied = shown.Report, shown.Copied
	}
	doc, err = Run(ctx, what, deps)
	return doc, len(what.Changes.Files) == 0, err
}

// prepare finds the changed files, and returns the configuration of the validation. release, which
// is never nil, closes what was opened.
func (r Request) prepare(ctx context.Context, getenv func(string) string, log func(string)) (cfg Config, release func(), err error) {
	release = func() {}
	var ev event.Event // the zero event outside of a workflow run
	if r.Runner.EventPath != "" {
		if ev, _, err = action.LoadEvent(r.Runner); err != nil {
			return cfg, release, exitcode.UsageError(err)
		}
	}
	dir, err := filepath.EvalSymlinks(r.Input.WorkingDirectory) // package isolate does not follow links
	if err != nil {
		return cfg, release, exitcode.UsageError(err)
	}
	r.Input.WorkingDirectory = filepath.ToSlash(dir)
	root, cloned := FindRoot(dir)
	src := ChangeSource{Root: root, Cloned: cloned, Event: ev, Base: r.Base, Log: log, Exclude: doors.PathsBelow(root, ".", append(r.Written, os.TempDir())...)}
	if cloned {
		src.Git = doors.OpenLocalGit(ctx, root, action.PathList(getenv), ev, log)
		release = src.Git.Close
	}
	if src.Client, err = doors.EnvironmentConnection(getenv, r.Version).Client(); err != nil {
		return cfg, release, err
	}
	if r.Listed || r.Input.ChangedFiles != nil {
		prefix, err := filepath.Rel(root, dir)
		if err != nil {
			return cfg, release, exitcode.FailedError(err)
		}
		src.Paths = []string{}
		for _, name := range r.Input.ChangedFiles {
			src.Paths = append(src.Paths, path.Join(filepath.ToSlash(prefix), name))
		}
	}
	set, err := src.Find(ctx)
	if err != nil {
		return cfg, release, err
	}
	return Config{Root: root, Changes: set, Checks: r.Checks, Input: r.Input, Event: ev, CheckOnly: r.CheckOnly, AllowCredentials: r.AllowCredentials}, release, nil
}

// DirectoryInput returns the input for a directory that a user names, with the owner's settings.
// changed are the names of changed files, absolute or relative to the directory; nil if none is
// given. The error carries its exit code.
func DirectoryInput(dir string, changed []string, c config.Checks) (phase.Input, error) {
	in := ConfiguredInput(c)
	abs, err := filepath.Abs(dir)
	if err != nil {
		return in, exitcode.UsageError(err)
	}
	if !action.IsDirectory(abs) {
		return in, exitcode.UsageError(fmt.Errorf("--dir: %s is not a directory", dir))
	}
	in.WorkingDirectory = filepath.ToSlash(abs)
	if in.ChangedFiles, err = changedNames(abs, changed); err != nil {
		return in, exitcode.UsageError(err)
	}
	return in, nil
}

// changedNames returns the names of changed files, relative to dir; nil where none is
// given. The error lists each name that does not name a file in it.
func changedNames(dir string, given []string) (names []string, err error) {
	var wrong []error
	for _, name := range given {
		rel := filepath.FromSlash(name)
		if filepath.IsAbs(rel) {
			if r, err := filepath.Rel(dir, rel); err == nil {
				rel = r
			}
		}
		switch {
		case name == "":
			wrong = append(wrong, errors.New("--changed-files: a name is empty; a comma stands between two names"))
		case !filepath.IsLocal(rel) || path.Clean(filepath.ToSlash(rel)) == ".":
			wrong = append(wrong, fmt.Errorf("--changed-files: %q does not name a file in %s", name, dir))
		default:
			names = append(names, path.Clean(filepath.ToSlash(rel)))
		}
	}
	return names, errors.Join(wrong...)
}
