package checks

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/agent-airlock/airlock/internal/action"
	"github.com/agent-airlock/airlock/internal/config"
	"github.com/agent-airlock/airlock/internal/exitcode"
	"github.com/agent-airlock/airlock/internal/finding"
	"github.com/agent-airlock/airlock/internal/phase"
	"github.com/agent-airlock/airlock/internal/reviewer"
)

// LocalRequest is a validation as a user of this machine asks for it. Settings that are nil stay as
// the owner or the project has them. Errors name them as the flags of a command line.
type LocalRequest struct {
	Input   string    // names the input of phase validation, a JSON document; "" for none
	Dir     *string   // the project's directory; nil for the current one
	Changed *[]string // the changed files, absolute or relative to Dir
	Base    string    // a revision to compare with; "" for the event's base, or the default branch

	Language                                              *string
	FormatCommand, LintCommand, BuildCommand, TestCommand *string
	MaxRetries                                            *int
	SkipBuild, SkipTests                                  bool // false: as the owner has it
	ReviewsOnly, NewOnly                                  *bool
	MinPrecision                                          *string
	TimeLimit                                             *time.Duration
	Network                                               *string
	Informational, PassEnv                                []string // in addition to the owner's

	CheckOnly, AllowCredentials bool
}

// LocalDeps are what a LocalRequest needs of the process.
type LocalDeps struct {
	Deps               // required, without Scanner
	Runner  action.Env // required; names the workflow run's event, if there is one
	Version string     // of Airlock
	// Read reads at most limit bytes of a file that the user names, and one more; "-" is standard
	// input. It is required.
	Read  func(name string, limit int64) ([]byte, error)
	Begin func() *Progress // if not nil, begins to show the progress to a person
}

// Validate validates what the user asks for, and answers. Its error carries its exit code.
func (l LocalRequest) Validate(ctx context.Context, answer Answer, deps LocalDeps) error {
	owner, err := l.override(answer.Gate.SafeOutputs().Checks)
	if err != nil {
		return exitcode.UsageError(err)
	}
	request, err := l.request(owner, answer.Files, deps)
	if err != nil {
		return answer.Write(nil, false, err)
	}
	deps.Scanner = answer.Gate.Scanner()
	return answer.Write(request.Validate(ctx, deps.Deps, deps.Begin))
}

// request returns the request, with the owner's configuration as the user overrides it.
func (l LocalRequest) request(owner config.Checks, files Files, deps LocalDeps) (Request, error) {
	if l.Input != "" && (l.Changed != nil || l.Dir != nil) {
		return Request{}, exitcode.UsageError(errors.New("--input names the directory and its changed files already: leave out --dir and --changed-files"))
	}
	if err := files.Check(); err != nil {
		return Request{}, exitcode.UsageError(err)
	}
	in, err := l.input(owner, deps)
	if err != nil {
		return Request{}, err
	}
	return Request{Input: in, Listed: l.Input != "", Base: l.Base, Checks: owner, Runner: deps.Runner, Version: deps.Version,
		Written: []string{files.Findings, files.SARIF}, CheckOnly: l.CheckOnly, AllowCredentials: l.AllowCredentials}, nil
}

// maxInput is how large the input of phase validation may be, in bytes.
const maxInput = 64 << 20

// input returns the input of phase validation. ChangedFiles is nil where nobody names any.
func (l LocalRequest) input(owner config.Checks, deps LocalDeps) (phase.Input, error) {
	if l.Input == "" {
		dir, changed := ".", []string(nil)
		replace(&dir, l.Dir)
		replace(&changed, l.Changed)
		return DirectoryInput(dir, changed, owner)
	}
	raw, err := deps.Read(l.Input, maxInput)
	if err != nil {
		return phase.Input{}, exitcode.UsageError(err)
	}
	if len(raw) > maxInput {
		return phase.Input{}, exitcode.UsageError(fmt.Errorf("--input: it is larger than %d MiB", maxInput>>20))
	}
	in, err := phase.ReadInput(raw)
	if err != nil {
		return in, err
	}
	if l.Language != nil {
		in.Language = owner.Language
	}
	replace(&in.FormatCommand, l.FormatCommand)
	replace(&in.LintCommand, l.LintCommand)
	replace(&in.BuildCommand, l.BuildCommand)
	replace(&in.TestCommand, l.TestCommand)
	replace(&in.MaxRetries, l.MaxRetries)
	return CompleteInput(in, owner), nil
}

// replace replaces a setting by the one that is given, if one is.
func replace[T any](setting, given *T) {
	if given != nil {
		*setting = *given
	}
}

// override returns the owner's configuration, with the settings of the user in place of the owner's
// or, where LocalRequest says so, in addition to them.
func (l LocalRequest) override(c config.Checks) (config.Checks, error) {
	if l.Language != nil {
		language, ok := phase.LanguageNamed(*l.Language)
		if !ok {
			return c, fmt.Errorf("--language: %q is not javascript (js), typescript (ts), python (py), go (golang), rust (rs), ruby (rb) or java", *l.Language)
		}
		c.Language = language
	}
	for _, command := range []struct {
		flag           string
		setting, given *string
	}{
		{"format-command", &c.FormatCommand, l.FormatCommand}, {"lint-command", &c.LintCommand, l.LintCommand},
		{"build-command", &c.BuildCommand, l.BuildCommand}, {"test-command", &c.TestCommand, l.TestCommand},
	} {
		if err := OverrideCommand(command.setting, command.flag, command.given); err != nil {
			return c, err
		}
	}
	if l.MaxRetries != nil {
		if *l.MaxRetries < 0 || *l.MaxRetries > 10 {
			return c, fmt.Errorf("--max-retries: %d is not between 0 and 10", *l.MaxRetries)
		}
		c.MaxRetries = l.MaxRetries
	}
	c.SkipBuild, c.SkipTests = c.SkipBuild || l.SkipBuild, c.SkipTests || l.SkipTests
	replace(&c.Phase.ReviewsOnly, l.ReviewsOnly)
	if l.MinPrecision != nil {
		least := finding.Precision(*l.MinPrecision)
		if !slices.Contains(reviewer.Precisions(), least) {
			return c, fmt.Errorf("--min-precision: %q is not very-high, high, medium or low", *l.MinPrecision)
		}
		c.CodeReview.MinPrecision, c.SecurityReview.MinPrecision = least, least
	}
	c.NewOnly = cmp.Or(l.NewOnly, c.NewOnly)
	if l.TimeLimit != nil {
		if *l.TimeLimit <= 0 {
			return c, fmt.Errorf("--time-limit: %s must be positive", *l.TimeLimit)
		}
		c.Phase.TimeLimit = *l.TimeLimit
	}
	for _, name := range l.Informational {
		check, ok := phase.CheckNamed(name)
		if !ok {
			return c, fmt.Errorf("--informational: %q is not formatter, linter, build, tests, code-review or security-review", name)
		}
		c.Phase.Informational = append(c.Phase.Informational, check)
	}
	for _, name := range l.PassEnv {
		if err := config.CheckVariable(name); err != nil {
			return c, fmt.Errorf("--pass-env: %q %w", name, err)
		}
	}
	if l.Network != nil {
		c.Network = config.Network(*l.Network)
		if c.Network != config.NetworkOpen && c.Network != config.NetworkNone {
			return c, fmt.Errorf("--network: %q is not open or none", *l.Network)
		}
	}
	c.PassEnv = slices.Concat(c.PassEnv, l.PassEnv)
	return c, nil
}

// OverrideCommand replaces a command of the owner's configuration by the one that is given, if one
// is. Its error names the flag.
func OverrideCommand(setting *string, flag string, given *string) error {
	if given == nil {
		return nil
	}
	if err := phase.CheckCommand(*given); err != nil {
		return fmt.Errorf("--%s: %w", flag, err)
	}
	*setting = *given
	return nil
}
