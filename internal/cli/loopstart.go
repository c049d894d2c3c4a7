package cli

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/agent-airlock/airlock/internal/engine"
	"github.com/agent-airlock/airlock/internal/exitcode"
	"github.com/agent-airlock/airlock/internal/fixloop"
	"github.com/agent-airlock/airlock/internal/loopwork"
)

func newLoopStart(env Environment) *cobra.Command {
	var f loopFlags
	var start loopwork.Start
	cmd := &cobra.Command{
		Use:   "start",
		Short: "Begin a loop, or go on with the one that is open",
		Long: `Begin the fix loop of a pull request, or go on with the one that is open, also after a
crash; after a loop that has ended, the next one begins. The settings are kept: to go
on, the number is enough.

--fixer is a command that mends what the checks find: it gets the fix request on its
standard input, as Markdown and as JSON, in a copy of the work tree, and what it
changes there is taken over when it ends well. No shell reads the command. It gets the
variables that toolchains need and those that --pass-env names, never GitHub's token.
--request names a validation request (see 'airlock verify'), whose acceptance criteria
are verified after the checks have passed. Those that are not met join the next fix
request; where they cannot be verified, a person decides.

Without --fixer a person mends: with a commit, which is noticed, or in place, and then
'airlock loop decide --issue N fixed'.

The command ends when the loop has ended, or when a person has to decide; --wait waits
for the decision. Progress goes to standard error, the state in the end to standard
output as JSON, unless that is a terminal.
Exit codes: 0 if all checks pass, 1 if the loop ended otherwise or waits for a
decision, 2 for wrong usage, 3 if Airlock itself failed or was interrupted; the loop
stays open then.`,
		Example: `  airlock loop start --issue 7 --fixer "claude -p" --pass-env ANTHROPIC_API_KEY
  airlock loop start --issue 7
  airlock loop start --issue 7 --fixer ./mend.sh --max-iterations 3`,
		Args: cobra.NoArgs,
	}
	flags := cmd.Flags()
	f.add(flags)
	given := &start.Given
	optional(flags, flags.StringVar, &given.Dir, "dir", ".", loopDirUsage)
	optional(flags, flags.StringVar, &given.Fixer, "fixer", "", `the command that mends (default: a person does)`)
	optional(flags, flags.StringSliceVar, &given.PassEnv, "pass-env", nil, "names of variables that the fixer gets, such as its keys")
	optional(flags, flags.StringVar, &given.Base, "base", "", "the branch, tag or commit to compare with (default: the default branch)")
	optional(flags, flags.StringVar, &given.Policy, "config", "", configUsage)
	optional(flags, flags.StringVar, &given.Request, "request", "", "a validation request with acceptance criteria that a new loop has to meet, too; - is standard input")
	optional(flags, flags.StringVar, &given.Evidence, "evidence", "", "keep the evidence of the acceptance criteria as files in this directory")
	flags.StringVar(&start.Title, "title", "", "the pull request's title, for the log")
	flags.IntVar(&start.Limits.Iterations, "max-iterations", 5, "how many iterations a new loop has before it is escalated")
	flags.DurationVar(&start.Limits.Fix, "fix-timeout", 30*time.Minute, "the time that a fix has in a new loop before a reminder")
	flags.DurationVar(&start.Limits.Validation, "check-timeout", 30*time.Minute, "the time that a validation has in a new loop before a reminder")
	flags.DurationVar(&start.Limits.Grace, "grace", 5*time.Minute, "the time from a reminder to the escalation in a new loop")
	flags.BoolVar(&start.Wait, "wait", false, "wait for a person's decision instead of ending")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		start.Key = f.Key
		status, err := start.Run(cmd.Context(), loopwork.Deps{
			Getenv: env.Getenv, Environ: env.Environ, Version: env.Version,
			Gate:     env.gate,
			Progress: env.Stderr, Log: engine.ErrorLog(env.Stderr), Refuse: env.Stdout, Read: env.read,
		})
		if err != nil {
			return err
		}
		if env.wantsJSON(f.json) {
			if err := env.printJSON(status.Document()); err != nil {
				return err
			}
		}
		if status.State.Outcome() == fixloop.Succeeded {
			return nil
		}
		return exitcode.ErrFindings
	}
	return cmd
}
