package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path"
	"path/filepath"

	"github.com/agent-airlock/airlock/internal/config"
	"github.com/agent-airlock/airlock/internal/phase"
)

// maxInput is how large the input of phase validation may be.
const maxInput = 64 << 20

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
		if in.ChangedFiles, err = changedNames(dir, f.changed); err != nil {
			return in, usageError(err)
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

// changedNames returns the names of changed files, relative to dir; nil where none is
// given. The error tells of each name that is none of a file in it.
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
			wrong = append(wrong, fmt.Errorf("--changed-files: %q is no file in %s", name, dir))
		default:
			names = append(names, path.Clean(filepath.ToSlash(rel)))
		}
	}
	return names, errors.Join(wrong...)
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
		if !f.given(name) {
			continue
		}
		if err := phase.CheckCommand(*to.from); err != nil {
			return c, fmt.Errorf("--%s: %w", name, err)
		}
		*to.to = *to.from
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
	for _, name := range f.passEnv {
		if why := config.NoVariable(name); why != "" {
			return c, fmt.Errorf("--pass-env: %q %s", name, why)
		}
	}
	c.PassEnv = append(c.PassEnv[:len(c.PassEnv):len(c.PassEnv)], f.passEnv...)
	return c, nil
}
