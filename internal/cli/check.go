package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/agent-airlock/airlock/internal/phase"
)

type checkFlags struct {
	input, dir, base, config, findings, sarif string
	changed                                   []string
	language, format, lint, build, test       string
	informational, passEnv                    []string
	maxRetries                                int
	skipBuild, skipTests, checkOnly, newOnly  bool
	allowCredentials                          bool
	timeLimit                                 time.Duration
	json                                      bool
	event, eventName                          string

	given func(flag string) bool
}

func newCheck(w World) *cobra.Command {
	var f checkFlags
	cmd := &cobra.Command{
		Use:   "check",
		Short: "Validate the changed files: formatter, linter, build, tests and two reviews",
		Long: `Run the six checks of phase validation on what changed, and say how they ended.

Without --input and --changed-files, what changed is what the work tree holds
beyond the default branch, committed or not; --base names another branch, tag or
commit. The language and its commands are found out from the project's own files;
the flags, the configuration's key "checks", or the fields of --input override them.

A failing formatter or linter is fixed in place and checked again, up to three
times; --check-only changes nothing, and has fixes make suggestions in a copy. As
root the commands run as a user that owns nothing, in a copy, and nothing is
changed. On a runner they do not run as any other user who has credentials there,
such as a token or those of a checkout.

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
		return runCheck(cmd.Context(), w, f)
	}
	flags := cmd.Flags()
	flags.StringVar(&f.input, "input", "", "the input of phase validation as JSON; - is standard input")
	flags.StringVar(&f.dir, "dir", ".", "the project's folder")
	flags.StringSliceVar(&f.changed, "changed-files", nil, "the changed files, relative to --dir (default: what git says)")
	flags.StringVar(&f.base, "base", "", "the branch, tag or commit to compare with (default: the event's base, else the default branch)")
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
	flags.BoolVar(&f.checkOnly, "check-only", false, "change no file: fixes run in a copy, for suggestions")
	flags.BoolVar(&f.newOnly, "new-only", false, "let only findings on changed lines fail formatter, linter and reviews (default: for pull request events)")
	flags.StringSliceVar(&f.informational, "informational", nil, "checks whose failure does not fail the whole, such as code-review")
	flags.StringSliceVar(&f.passEnv, "pass-env", nil, "names of variables that the commands get beside the usual ones")
	flags.BoolVar(&f.allowCredentials, "allow-credentials", false, "on a runner, run the commands although they can use the job's credentials")
	flags.DurationVar(&f.timeLimit, "time-limit", phase.DefaultTimeLimit, "the time that one command has")
	flags.BoolVar(&f.json, "json", false, "print the result as JSON also to a terminal")
	flags.StringVar(&f.event, "event", "", "the webhook payload of the event (default: GITHUB_EVENT_PATH)")
	flags.StringVar(&f.eventName, "event-name", "", "the event's name (default: GITHUB_EVENT_NAME, else inferred from the payload)")
	return cmd
}

func runCheck(ctx context.Context, w World, f checkFlags) error {
	cfg, err := loadConfig(w, f.config)
	if err != nil {
		return err
	}
	g, err := newGate(cfg, serverHost(w.Getenv), false, scannerFromEnv(w))
	if err != nil {
		return err
	}
	checks, err := f.override(cfg.Checks)
	if err != nil {
		return usageError(err)
	}
	v, release, err := f.prepare(ctx, w, g, checks)
	if release != nil {
		defer release()
	}
	var invalid *phase.InvalidInput
	if errors.As(err, &invalid) {
		return refuseInput(w, invalid, false)
	}
	if err != nil {
		return err
	}
	width := func() int { return 0 }
	if w.Getenv("TERM") != "dumb" { // whose lines do not move
		width = func() int { return terminalWidth(w.Stderr) }
	}
	progress := startProgress(w.Stderr, g.words, width)
	v.tell = progress.tell
	doc, err := v.run(ctx)
	progress.end()
	if errors.As(err, &invalid) {
		return refuseInput(w, invalid, len(v.input.ChangedFiles)+len(v.outside) == 0)
	}
	if err != nil {
		return err
	}
	if err := f.write(w, doc, g); err != nil {
		return failedError(fmt.Errorf("the results cannot be written: %w", err))
	}
	if doc.Failed() {
		return findings()
	}
	return nil
}
