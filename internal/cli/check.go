package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/agent-airlock/airlock/internal/action"
	"github.com/agent-airlock/airlock/internal/checks"
	"github.com/agent-airlock/airlock/internal/config"
	"github.com/agent-airlock/airlock/internal/doors"
	"github.com/agent-airlock/airlock/internal/exitcode"
	"github.com/agent-airlock/airlock/internal/finding"
	"github.com/agent-airlock/airlock/internal/phase"
	"github.com/agent-airlock/airlock/internal/reviewer"
	"github.com/agent-airlock/airlock/internal/terminal"
)

type checkFlags struct {
	eventFlags
	input, dir, base, config, findings, sarif string
	changed                                   []string
	language, format, lint, build, test       string
	informational, passEnv                    []string
	maxRetries                                int
	skipBuild, skipTests, checkOnly, newOnly  bool
	reviewsOnly                               bool
	allowCredentials                          bool
	timeLimit                                 time.Duration
	network, minPrecision                     string
	json                                      bool

	given func(flag string) bool
}

func newCheck(env Environment) *cobra.Command {
	var f checkFlags
	cmd := &cobra.Command{
		Use:   "check",
		Short: "Validate the changed files: formatter, linter, build, tests and two reviews",
		Long: `Run the six checks of phase validation on what changed, and report how they ended.

Without --input and --changed-files, what changed is what the work tree contains
beyond the default branch, committed or not; --base names another branch, tag or
commit, in any way that git takes it (HEAD~2, @{u}, main@{yesterday}). The language and
its commands are found out from the project's own files; the flags, the configuration's
key "checks", or the fields of --input override them.

The formatter and the linter are those that the project's files name
(docs/check-tools.md); where none is named, the check is not configured. What fails
is fixed in the changed files and checked again, up to three times; --check-only
changes nothing, and has fixes make suggestions in a copy. As root the commands run
as a user that owns nothing, in a copy, and what was fixed there is written back. On
a runner, fixes only make suggestions, and the commands do not run as another user
who has credentials there, such as a token or those of a checkout.

The result goes to standard output as one JSON object, unless that is a terminal;
'airlock schema phase-validation-output.json' describes it. --findings writes
everything that was found, with places, for 'airlock apply --findings' and others.
Exit codes: 0 if the checks passed, 1 if one failed, 2 for input that cannot be
validated (its JSON says why), 3 if Airlock itself failed.`,
		Example: `  airlock check
  airlock check --base origin/main --check-only --findings findings.json
  airlock check --dir services/api --changed-files main.go,main_test.go
  echo '{"working_directory":"/src/app","changed_files":["app.py"]}' | airlock check --input -`,
		Args: cobra.NoArgs,
	}
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		f.given = cmd.Flags().Changed
		return runCheck(cmd.Context(), env, f)
	}
	flags := cmd.Flags()
	flags.StringVar(&f.input, "input", "", "the input of phase validation as JSON; - is standard input")
	flags.StringVar(&f.dir, "dir", ".", "the project's directory")
	flags.StringSliceVar(&f.changed, "changed-files", nil, "the changed files, relative to --dir (default: what git says)")
	flags.StringVar(&f.base, "base", "", "the branch, tag, commit or other revision of git to compare with (default: the event's base, else the default branch)")
	flags.StringVar(&f.config, "config", "", configUsage)
	flags.StringVar(&f.findings, "findings", "", "write the findings document to this file")
	flags.StringVar(&f.sarif, "sarif", "", "write the security review's findings to this file as SARIF")
	flags.StringVar(&f.language, "language", "", "javascript, typescript, python, go, rust, ruby or java (default: found out)")
	flags.StringVar(&f.format, "format-command", "", "the command that checks the format")
	flags.StringVar(&f.lint, "lint-command", "", "the command that lints")
	flags.StringVar(&f.build, "build-command", "", "the command that builds")
	flags.StringVar(&f.test, "test-command", "", "the command that runs the tests")
	flags.IntVar(&f.maxRetries, "max-retries", phase.DefaultMaxRetries, "how often a failing formatter or linter is fixed and run again, 0 to 10")
	flags.BoolVar(&f.skipBuild, "skip-build", false, "do not build")
	flags.BoolVar(&f.skipTests, "skip-tests", false, "do not run the tests")
	flags.BoolVar(&f.reviewsOnly, "reviews-only", false, "run the two reviews alone, which need no language and no tool")
	flags.StringVar(&f.minPrecision, "min-precision", "", "the least precision of the rules of both reviews: very-high, high, medium or low (default: as configured, or medium)")
	flags.BoolVar(&f.checkOnly, "check-only", false, "change no file: fixes run in a copy, for suggestions")
	flags.BoolVar(&f.newOnly, "new-only", false, "let only findings on changed lines fail formatter, linter and reviews (default: for pull request events)")
	flags.StringSliceVar(&f.informational, "informational", nil, "checks whose failure does not fail the validation, such as code-review")
	flags.StringSliceVar(&f.passEnv, "pass-env", nil, "names of variables that the commands get in addition to the usual ones")
	flags.BoolVar(&f.allowCredentials, "allow-credentials", false, "on a runner, run the commands although they can use the job's credentials")
	flags.DurationVar(&f.timeLimit, "time-limit", phase.DefaultTimeLimit, "the time that one command has")
	flags.StringVar(&f.network, "network", "open", "what the commands can reach: open, or none but a loopback of their own (Linux)")
	flags.BoolVar(&f.json, "json", false, "print the result as JSON also to a terminal")
	f.eventFlags.add(flags)
	return cmd
}

func runCheck(ctx context.Context, env Environment, f checkFlags) error {
	gate, err := loadGate(env, f.config, false)
	if err != nil {
		return err
	}
	owner, err := f.override(gate.SafeOutputs().Checks)
	if err != nil {
		return exitcode.UsageError(err)
	}
	answer := f.answer(env, gate)
	request, err := f.request(env, owner, answer.Files)
	if err != nil {
		return answer.Write(nil, false, err)
	}
	return answer.Write(request.Validate(ctx, checkDeps(env, gate), func() *checks.Progress {
		width := func() int { return 0 }
		if !terminal.IsDumb(env.Getenv) { // a dumb terminal has no line that moves
			width = func() int { return terminal.Width(env.Stderr) }
		}
		return checks.StartProgress(env.Stderr, gate.OneLine, width)
	}))
}

// answer returns how the flags ask for the results.
func (f checkFlags) answer(env Environment, gate *doors.Gate) checks.Answer {
	a := checks.Answer{Gate: gate, People: env.Stderr, Colour: terminal.ShowsColour(env.Stderr, env.Getenv), Refuse: env.Stdout,
		Files: checks.Files{Findings: f.findings, SARIF: f.sarif, Version: env.Version}}
	if wantsJSON(env, f.json) {
		a.Output = env.Stdout
	}
	return a
}

// checkDeps returns what the checks need of the process.
func checkDeps(env Environment, gate *doors.Gate) checks.Deps {
	_, variable := env.Secrets.Token()
	return checks.Deps{Getenv: env.Getenv, Environ: env.Environ, Scanner: gate.Scanner(), Log: progress(env), TokenVariable: variable}
}

// request returns what to validate, with the owner's configuration.
func (f checkFlags) request(env Environment, owner config.Checks, files checks.Files) (checks.Request, error) {
	if f.input != "" && (f.given("changed-files") || f.given("dir")) {
		return checks.Request{}, exitcode.UsageError(errors.New("--input names the directory and its changed files already: leave out --dir and --changed-files"))
	}
	if err := files.Check(); err != nil {
		return checks.Request{}, exitcode.UsageError(err)
	}
	in, err := f.readInput(env, owner)
	if err != nil {
		return checks.Request{}, err
	}
	return checks.Request{Input: in, Listed: f.input != "", Base: f.base, Checks: owner, Runner: f.runner(env), Version: env.Version,
		Written: []string{f.findings, f.sarif}, PathList: action.PathList(env.Getenv), CheckOnly: f.checkOnly, AllowCredentials: f.allowCredentials}, nil
}

// maxInput is how large the input of phase validation may be, in bytes.
const maxInput = 64 << 20

// readInput returns the input: the JSON that the user names, or what the flags and the
// configuration set. ChangedFiles is nil where nobody names any.
func (f checkFlags) readInput(env Environment, c config.Checks) (phase.Input, error) {
	if f.input == "" {
		return checks.DirectoryInput(f.dir, f.changed, c)
	}
	raw, err := readInput(env, f.input, maxInput)
	if err != nil {
		return phase.Input{}, exitcode.UsageError(err)
	}
	if len(raw) > maxInput {
		return phase.Input{}, exitcode.UsageError(fmt.Errorf("--input: it is larger than %d MiB", maxInput>>20))
	}
	in, err := phase.ReadInput(bytes.TrimSpace(raw))
	if err != nil {
		return in, err
	}
	return f.overrideInput(in, c), nil
}

// overrideInput replaces fields of an input by the flags that were given, and takes those
// that it lacks from the configuration.
func (f checkFlags) overrideInput(in phase.Input, c config.Checks) phase.Input {
	own := checks.ConfiguredInput(c)
	for _, s := range []struct {
		flag         string
		own, setting *string
	}{
		{"format-command", &own.FormatCommand, &in.FormatCommand}, {"lint-command", &own.LintCommand, &in.LintCommand},
		{"build-command", &own.BuildCommand, &in.BuildCommand}, {"test-command", &own.TestCommand, &in.TestCommand},
	} {
		if f.given(s.flag) {
			*s.setting = *s.own
		}
	}
	if f.given("language") {
		in.Language = own.Language
	}
	if f.given("max-retries") {
		in.MaxRetries = own.MaxRetries
	}
	return checks.CompleteInput(in, c)
}

// override replaces the configuration's settings by the flags that were given.
func (f checkFlags) override(c config.Checks) (config.Checks, error) {
	if f.given("language") {
		language, ok := phase.LanguageNamed(f.language)
		if !ok {
			return c, fmt.Errorf("--language: %q is not javascript (js), typescript (ts), python (py), go (golang), rust (rs), ruby (rb) or java", f.language)
		}
		c.Language = language
	}
	err := overrideCommands(f.given, []commandFlag{
		{"format-command", f.format, &c.FormatCommand}, {"lint-command", f.lint, &c.LintCommand},
		{"build-command", f.build, &c.BuildCommand}, {"test-command", f.test, &c.TestCommand},
	})
	if err != nil {
		return c, err
	}
	if f.given("max-retries") {
		if f.maxRetries < 0 || f.maxRetries > 10 {
			return c, fmt.Errorf("--max-retries: %d is not between 0 and 10", f.maxRetries)
		}
		c.MaxRetries = &f.maxRetries
	}
	c.SkipBuild, c.SkipTests = c.SkipBuild || f.skipBuild, c.SkipTests || f.skipTests
	if f.given("reviews-only") {
		c.Phase.ReviewsOnly = f.reviewsOnly
	}
	if f.given("min-precision") {
		least := finding.Precision(f.minPrecision)
		if !slices.Contains(reviewer.Precisions(), least) {
			return c, fmt.Errorf("--min-precision: %q is not very-high, high, medium or low", f.minPrecision)
		}
		c.CodeReview.MinPrecision, c.SecurityReview.MinPrecision = least, least
	}
	if f.given("new-only") {
		c.NewOnly = &f.newOnly
	}
	if f.given("time-limit") {
		if f.timeLimit <= 0 {
			return c, fmt.Errorf("--time-limit: %s must be positive", f.timeLimit)
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
		if err := config.CheckVariable(name); err != nil {
			return c, fmt.Errorf("--pass-env: %q %w", name, err)
		}
	}
	if f.given("network") {
		c.Network = config.Network(f.network)
		if c.Network != config.NetworkOpen && c.Network != config.NetworkNone {
			return c, fmt.Errorf("--network: %q is not open or none", f.network)
		}
	}
	c.PassEnv = slices.Concat(c.PassEnv, f.passEnv)
	return c, nil
}

// commandFlag is a flag for a command that replaces one of the configuration.
type commandFlag struct {
	flag, line string
	setting    *string
}

// overrideCommands replaces the settings whose flags were given.
func overrideCommands(given func(flag string) bool, commands []commandFlag) error {
	for _, c := range commands {
		if !given(c.flag) {
			continue
		}
		if err := phase.CheckCommand(c.line); err != nil {
			return fmt.Errorf("--%s: %w", c.flag, err)
		}
		*c.setting = c.line
	}
	return nil
}
