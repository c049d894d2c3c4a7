package cli

import (
	"cmp"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/agent-airlock/airlock/internal/engine"
	"github.com/agent-airlock/airlock/internal/loopwork"
	"github.com/agent-airlock/airlock/internal/terminal"
)

// loopFlags are the flags that every command about loops has.
type loopFlags struct {
	loopwork.Key
	json bool
}

func newLoop(env Environment) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "loop",
		Short: "Ask for fixes of what the checks find, check again, and escalate what nobody can fix",
		Long: `A fix loop runs the checks on a pull request's work tree and asks a fixer, a command
or a person, to mend what they find. Then they run again, until all pass, or a person
has to decide: after five iterations, without progress, or when time is up.

The loop is kept in a store, and goes on where it was after a crash or an interruption.`,
		Example: `  airlock loop start --issue 7 --fixer "claude -p" --pass-env ANTHROPIC_API_KEY
  airlock loop status
  airlock loop decide --issue 7 extend 2`,
	}
	cmd.AddCommand(newLoopStart(env), newLoopStatus(env), newLoopDecide(env), newLoopLog(env))
	return cmd
}

func (f *loopFlags) register(cmd *cobra.Command) {
	f.add(cmd.Flags())
	cmd.Flags().StringVar(&f.Dir, "dir", ".", loopDirUsage)
}

// loopDirUsage explains the flag --dir. The command that starts a loop registers this flag itself,
// because it has to know whether it was given.
const loopDirUsage = "the project's directory"

// add registers all flags but --dir.
func (f *loopFlags) add(flags *pflag.FlagSet) {
	flags.IntVar(&f.Issue, "issue", 0, "the pull request's number; 0 where there is none")
	flags.StringVar(&f.Repository, "repo", "", "the repository, OWNER/NAME (default: GITHUB_REPOSITORY, otherwise the work tree's directory)")
	flags.StringVar(&f.Store, "store", "", storeUsage)
	flags.BoolVar(&f.json, "json", false, "print JSON also to a terminal")
}

// registerOrdinal registers the flag that names one of several loops of a pull request.
func (f *loopFlags) registerOrdinal(cmd *cobra.Command) {
	cmd.Flags().IntVar(&f.Ordinal, "ordinal", 0, "which of the pull request's loops, counted from 1 (default: the newest)")
}

func newLoopStatus(env Environment) *cobra.Command {
	var f loopFlags
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Show where a loop is, or list all loops of the store",
		Example: `  airlock loop status --issue 7
  airlock loop status --json | jq '.loops[] | select(.waits_for == "decide").issue'`,
		Args: cobra.NoArgs,
	}
	f.register(cmd)
	f.registerOrdinal(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if !cmd.Flags().Changed("issue") {
			list, err := f.List(cmd.Context(), env.Getenv)
			if err != nil {
				return err
			}
			if env.wantsJSON(f.json) {
				return env.printJSON(list.Document())
			}
			return list.Text(env.Stdout, env.Stderr)
		}
		status, err := f.Status(cmd.Context(), env.Getenv)
		if err != nil {
			return err
		}
		if env.wantsJSON(f.json) {
			return env.printJSON(status.Document())
		}
		return status.Text(env.Stdout)
	}
	return cmd
}

func newLoopDecide(env Environment) *cobra.Command {
	var f loopFlags
	var by string
	cmd := &cobra.Command{
		Use:   "decide fixed|extend [N]|skip|abort|retry",
		Short: "Decide about a loop that was escalated",
		Long: `Decide about a loop that was escalated:

  fixed       a person has mended the code: check it
  extend [N]  allow N more iterations (3 unless given)
  skip        end the loop with known issues
  abort       end the loop
  retry       check the unchanged code again

A loop that waits for a person's fix takes "fixed", and any open loop takes "abort".

Exit codes: 0 if the decision was recorded, 1 if there is nothing to decide (any more),
2 for wrong usage.`,
		Example: `  airlock loop decide --issue 7 extend 2
  airlock loop decide --issue 7 fixed`,
		Args: cobra.RangeArgs(1, 2),
	}
	f.register(cmd)
	cmd.Flags().StringVar(&by, "by", "", "who decides, for the log (default: USER)")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		decision, err := loopwork.ParseDecision(args, cmp.Or(by, env.Getenv("USER")))
		if err != nil {
			return err
		}
		status, err := f.Decide(cmd.Context(), env.Getenv, decision, engine.ErrorLog(env.Stderr))
		if err != nil {
			return err
		}
		fmt.Fprintln(env.Stderr, status.NextStep())
		if env.wantsJSON(f.json) {
			return env.printJSON(status.Document())
		}
		return nil
	}
	return cmd
}

func newLoopLog(env Environment) *cobra.Command {
	var f loopFlags
	var format string
	cmd := &cobra.Command{
		Use:   "log",
		Short: "Print a loop's communication log",
		Long: `Print the full communication log of a loop, with what it adds up to: as Markdown in the
form of the protocol, as JSON, as a sequence diagram that GitHub draws (Mermaid), or
as a timeline for a terminal.`,
		Example: `  airlock loop log --issue 7
  airlock loop log --issue 7 --format mermaid >> "$GITHUB_STEP_SUMMARY"`,
		Args: cobra.NoArgs,
	}
	f.register(cmd)
	f.registerOrdinal(cmd)
	cmd.Flags().StringVar(&format, "format", "markdown", "markdown, json, mermaid or timeline")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if f.json {
			format = "json"
		}
		log, err := f.Log(cmd.Context(), env.Getenv)
		if err != nil {
			return err
		}
		return loopwork.WriteLog(env.Stdout, log, format, terminal.Width(env.Stdout))
	}
	return cmd
}
