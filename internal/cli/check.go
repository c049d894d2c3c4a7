package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/agent-airlock/airlock/internal/action"
	"github.com/agent-airlock/airlock/internal/checks"
	"github.com/agent-airlock/airlock/internal/phase"
	"github.com/agent-airlock/airlock/internal/terminal"
)

type checkFlags struct {
	event action.Named
	checks.LocalRequest
	checks.Files
	config string
	json   bool
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
changes nothing, and has fixes make suggestions in a copy. As root on Linux the
commands run as a user that owns nothing, in a copy, and what was fixed there is
written back. On a runner, fixes only make suggestions, and without such a user the
commands do not run if they could use credentials, such as a token or those of a
checkout.

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
		RunE: func(cmd *cobra.Command, _ []string) error { return runCheck(cmd.Context(), env, f) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.Input, "input", "", "the input of phase validation as JSON; - is standard input")
	optional(flags, flags.StringVar, &f.Dir, "dir", ".", "the project's directory")
	optional(flags, flags.StringSliceVar, &f.Changed, "changed-files", nil, "the changed files, relative to --dir (default: what git says)")
	flags.StringVar(&f.Base, "base", "", "the branch, tag, commit or other revision of git to compare with (default: the event's base, otherwise the default branch)")
	flags.StringVar(&f.config, "config", "", configUsage)
	flags.StringVar(&f.Findings, "findings", "", "write the findings document to this file")
	flags.StringVar(&f.SARIF, "sarif", "", "write the security review's findings to this file as SARIF")
	optional(flags, flags.StringVar, &f.Language, "language", "", "javascript, typescript, python, go, rust, ruby or java (default: detected)")
	optional(flags, flags.StringVar, &f.FormatCommand, "format-command", "", "the command that checks the format")
	optional(flags, flags.StringVar, &f.LintCommand, "lint-command", "", "the command that lints")
	optional(flags, flags.StringVar, &f.BuildCommand, "build-command", "", "the command that builds")
	optional(flags, flags.StringVar, &f.TestCommand, "test-command", "", "the command that runs the tests")
	optional(flags, flags.IntVar, &f.MaxRetries, "max-retries", phase.DefaultMaxRetries, "how often a failing formatter or linter is fixed and run again, 0 to 10")
	flags.BoolVar(&f.SkipBuild, "skip-build", false, "do not build")
	flags.BoolVar(&f.SkipTests, "skip-tests", false, "do not run the tests")
	optional(flags, flags.BoolVar, &f.ReviewsOnly, "reviews-only", false, "run the two reviews alone, which need no language and no tool")
	optional(flags, flags.StringVar, &f.MinPrecision, "min-precision", "", "the least precision of the rules of both reviews: very-high, high, medium or low (default: as configured, or medium)")
	flags.BoolVar(&f.CheckOnly, "check-only", false, "change no file: fixes run in a copy, for suggestions")
	optional(flags, flags.BoolVar, &f.NewOnly, "new-only", false, "let only findings on changed lines fail formatter, linter and reviews (default: for pull request events)")
	flags.StringSliceVar(&f.Informational, "informational", nil, "checks whose failure does not fail the validation, such as code-review")
	flags.StringSliceVar(&f.PassEnv, "pass-env", nil, "names of variables that the commands get in addition to the usual ones")
	flags.BoolVar(&f.AllowCredentials, "allow-credentials", false, "on a runner, run the commands although they can use the job's credentials")
	optional(flags, flags.DurationVar, &f.TimeLimit, "time-limit", phase.DefaultTimeLimit, "the time that one command has")
	optional(flags, flags.StringVar, &f.Network, "network", "open", "what the commands can reach: open (everything) or none (only a loopback of their own; Linux)")
	flags.BoolVar(&f.json, "json", false, "print the result as JSON also to a terminal")
	addEventFlags(flags, &f.event)
	return cmd
}

func runCheck(ctx context.Context, env Environment, f checkFlags) error {
	gate, err := env.gate(f.config)
	if err != nil {
		return err
	}
	f.Version = env.Version
	answer := checks.Answer{Gate: gate, People: env.Stderr, Colour: terminal.ShowsColour(env.Stderr, env.Getenv), Refuse: env.Stdout, Files: f.Files}
	if env.wantsJSON(f.json) {
		answer.Output = env.Stdout
	}
	return f.Validate(ctx, answer, checks.LocalDeps{
		Deps: env.checkDeps(), Runner: f.event.Env(env.Getenv), Version: env.Version, Read: env.read,
		Begin: func() *checks.Progress {
			width := func() int { return 0 }
			if !terminal.IsDumb(env.Getenv) { // a dumb terminal cannot rewrite a line
				width = func() int { return terminal.Width(env.Stderr) }
			}
			return checks.StartProgress(env.Stderr, gate.OneLine, width)
		},
	})
}

// checkDeps returns what the checks need of the process; the scanner comes from the gate.
func (env Environment) checkDeps() checks.Deps {
	return checks.Deps{Getenv: env.Getenv, Environ: env.Environ, Log: env.progress()}
}
