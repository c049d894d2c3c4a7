package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"

	"github.com/agent-airlock/airlock/internal/action"
	"github.com/agent-airlock/airlock/internal/config"
	"github.com/agent-airlock/airlock/internal/event"
	"github.com/agent-airlock/airlock/internal/phase"
)

// maxInput is how large the input of phase validation may be.
const maxInput = 64 << 20

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
	if src.git != nil {
		release = src.git.close
	}
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
	v.phase.NewOnly = set.diff && (src.pull() && checks.NewOnly == nil || checks.NewOnly != nil && *checks.NewOnly)
	v.repository, v.number = ev.Repo.FullName(), 0
	if ev.IsPull {
		v.number = ev.Number
	}
	return v, release, nil
}

// canWrite tells beforehand what would otherwise be told when all checks have run.
func (f checkFlags) canWrite() error {
	if f.findings != "" && filepath.Clean(f.findings) == filepath.Clean(f.sarif) {
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
	env := action.Snapshot(w.Getenv)
	if f.event != "" {
		env.EventPath = f.event
	}
	if f.eventName != "" {
		env.Event.EventName = f.eventName
	}
	if env.EventPath == "" {
		return event.Event{}, nil
	}
	ev, _, err := action.LoadEvent(env)
	if err != nil {
		return ev, usageError(err)
	}
	return ev, nil
}

// read returns the input: the JSON that the user names, or what the flags and the
// configuration say. ChangedFiles is nil where nobody names any.
func (f checkFlags) read(w World, c config.Checks) (phase.Input, error) {
	if f.input == "" {
		dir, err := filepath.Abs(f.dir)
		if err != nil {
			return phase.Input{}, usageError(err)
		}
		if !isFolder(dir) {
			return phase.Input{}, usageError(fmt.Errorf("--dir: %s is no folder", f.dir))
		}
		in := configured(c)
		in.WorkingDirectory = filepath.ToSlash(dir)
		for _, name := range f.changed {
			in.ChangedFiles = append(in.ChangedFiles, path.Clean(name))
		}
		return in, nil
	}
	file, err := openInput(w, f.input)
	if err != nil {
		return phase.Input{}, usageError(err)
	}
	defer file.Close()
	raw, err := io.ReadAll(io.LimitReader(file, maxInput+1))
	if err != nil {
		return phase.Input{}, usageError(err)
	}
	if len(raw) > maxInput {
		return phase.Input{}, usageError(fmt.Errorf("--input: it is larger than %d MiB", maxInput>>20))
	}
	in, err := phase.ReadInput(bytes.TrimSpace(raw))
	if err != nil {
		return in, err
	}
	return f.onTop(in, c), nil
}

// configured returns an input with what the owner decides.
func configured(c config.Checks) phase.Input {
	in := phase.Input{Language: c.Language, FormatCommand: c.FormatCommand, LintCommand: c.LintCommand, BuildCommand: c.BuildCommand,
		TestCommand: c.TestCommand, MaxRetries: phase.DefaultMaxRetries, SkipBuild: c.SkipBuild, SkipTests: c.SkipTests}
	if c.MaxRetries != nil {
		in.MaxRetries = *c.MaxRetries
	}
	return in
}

// onTop puts the flags that were given in the place of what an input says, and the
// configuration where it says nothing.
func (f checkFlags) onTop(in phase.Input, c config.Checks) phase.Input {
	own := configured(c)
	for _, o := range []struct {
		flag     string
		to, from *string
	}{{"format-command", &in.FormatCommand, &own.FormatCommand}, {"lint-command", &in.LintCommand, &own.LintCommand}, {"build-command", &in.BuildCommand, &own.BuildCommand}, {"test-command", &in.TestCommand, &own.TestCommand}} {
		if f.given(o.flag) || *o.to == "" {
			*o.to = *o.from
		}
	}
	if f.given("language") || in.Language == "" {
		in.Language = own.Language
	}
	if f.given("max-retries") {
		in.MaxRetries = own.MaxRetries
	}
	in.SkipBuild, in.SkipTests = in.SkipBuild || own.SkipBuild, in.SkipTests || own.SkipTests
	return in
}

// override puts the flags that were given in the place of what the configuration
// says.
func (f checkFlags) override(c config.Checks) (config.Checks, error) {
	if f.given("language") {
		language, ok := phase.LanguageNamed(f.language)
		if !ok {
			return c, fmt.Errorf("--language: %q is not javascript (js), typescript (ts), python (py), go (golang), rust (rs), ruby (rb) or java", f.language)
		}
		c.Language = language
	}
	for name, to := range map[string]struct{ from, to *string }{"format-command": {&f.format, &c.FormatCommand}, "lint-command": {&f.lint, &c.LintCommand}, "build-command": {&f.build, &c.BuildCommand}, "test-command": {&f.test, &c.TestCommand}} {
		if f.given(name) {
			*to.to = *to.from
		}
	}
	if f.given("max-retries") {
		if f.maxRetries < 0 || f.maxRetries > 10 {
			return c, fmt.Errorf("--max-retries: %d is not between 0 and 10", f.maxRetries)
		}
		c.MaxRetries = &f.maxRetries
	}
	c.SkipBuild, c.SkipTests = c.SkipBuild || f.skipBuild, c.SkipTests || f.skipTests
	if f.given("new-only") {
		c.NewOnly = &f.newOnly
	}
	if f.given("time-limit") {
		if f.timeLimit <= 0 {
			return c, fmt.Errorf("--time-limit: %s is no time to run in", f.timeLimit)
		}
		c.Phase.TimeLimit = f.timeLimit
	}
	for _, name := range f.informational {
		check, ok := phase.CheckNamed(name)
		if !ok {
			return c, fmt.Errorf("--informational: %q is not formatter, linter, build, tests, code-review or security-review", name)
		}
		c.Phase.Informational = append(c.Phase.Informational, check)
	}
	c.PassEnv = append(c.PassEnv[:len(c.PassEnv):len(c.PassEnv)], f.passEnv...)
	return c, nil
}
