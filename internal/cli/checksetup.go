package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"

	"github.com/agent-airlock/airlock/internal/action"
	"github.com/agent-airlock/airlock/internal/config"
	"github.com/agent-airlock/airlock/internal/event"
)

// prepare sets a validation up. release, unless nil, undoes what was set up, also
// after an error.
func (f checkFlags) prepare(ctx context.Context, w World, g *gate, checks config.Checks) (v validation, release func(), err error) {
	if f.input != "" && (f.given("changed-files") || f.given("dir")) {
		return v, nil, usageError(errors.New("--input names the folder and its changed files already: leave out --dir and --changed-files"))
	}
	if err := f.canWrite(); err != nil {
		return v, nil, usageError(err)
	}
	ev, err := f.theEvent(w)
	if err != nil {
		return v, nil, err
	}
	in, err := f.read(w, checks)
	if err != nil {
		return v, nil, err
	}
	root, cloned := findRoot(in.WorkingDirectory)
	src := changedSource{root: root, cloned: cloned, ev: ev, base: f.base, log: progress(w), exclude: belowDir(root, ".", f.findings, f.sarif, os.TempDir())}
	if cloned {
		src.git = openGit(ctx, root, w.Getenv("PATH"), ev, progress(w))
	}
	release = src.git.close
	conn := connectFromEnv(w)
	if src.client, err = conn.open(); err != nil {
		return v, release, err
	}
	dir, err := filepath.Rel(root, in.WorkingDirectory)
	if err != nil {
		return v, release, failedError(err)
	}
	dir = filepath.ToSlash(dir)
	if in.ChangedFiles != nil || f.input != "" {
		src.paths = []string{}
		for _, name := range in.ChangedFiles {
			src.paths = append(src.paths, path.Join(dir, name))
		}
	}
	set, err := src.find(ctx)
	if err != nil {
		return v, release, err
	}
	v = newValidation(w, g, checks, in, root, dir, set)
	v.beside.allowed = f.allowCredentials
	v.phase.CheckOnly = v.phase.CheckOnly || f.checkOnly
	v.about(ev)
	return v, release, nil
}

// about tells a validation which event it is about. Of a pull request only what it
// changes may fail the style checks and reviews, unless somebody decided otherwise.
func (v *validation) about(ev event.Event) {
	newOnly := knowsCommits(ev)
	if v.checks.NewOnly != nil {
		newOnly = *v.checks.NewOnly
	}
	v.phase.NewOnly = newOnly && v.set.diff
	v.repository = ev.Repo.FullName()
	if ev.IsPull {
		v.number = ev.Number
	}
}

// canWrite tells beforehand what would otherwise be told when all checks have run.
func (f checkFlags) canWrite() error {
	if f.findings != "" && f.sarif != "" && filepath.Clean(f.findings) == filepath.Clean(f.sarif) {
		return fmt.Errorf("--findings and --sarif name the same file, %s: give each its own", f.sarif)
	}
	for flag, name := range map[string]string{"--findings": f.findings, "--sarif": f.sarif} {
		if name == "" {
			continue
		}
		if isFolder(name) {
			return fmt.Errorf("%s: %s is a folder: name a file in it", flag, name)
		}
		if dir := filepath.Dir(name); !isFolder(dir) {
			return fmt.Errorf("%s: %s cannot be created: there is no folder %s, make it first", flag, name, dir)
		}
	}
	return nil
}

func isFolder(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}

// theEvent is the event that the user names, or that of the workflow run; the zero
// event where there is none.
func (f checkFlags) theEvent(w World) (event.Event, error) {
	env := eventEnv(w, f.event, f.eventName, "")
	if env.EventPath == "" {
		return event.Event{}, nil
	}
	ev, _, err := action.LoadEvent(env)
	if err != nil {
		return ev, usageError(err)
	}
	return ev, nil
}
