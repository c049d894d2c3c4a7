package cli

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/agent-airlock/airlock/internal/engine"
	"github.com/agent-airlock/airlock/internal/exitcode"
	"github.com/agent-airlock/airlock/internal/fixloop"
	"github.com/agent-airlock/airlock/internal/loops"
	"github.com/agent-airlock/airlock/internal/loopwork"
	"github.com/agent-airlock/airlock/internal/store"
	"github.com/agent-airlock/airlock/internal/terminal"
)

// loopFlags are those that every command about loops has.
type loopFlags struct {
	loopwork.Key
	store string
	json  bool
}

func newLoop(env Environment) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "loop",
		Short: "Have what the checks find mended, checked again, and escalated if it cannot be",
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
	flags := cmd.Flags()
	flags.IntVar(&f.Issue, "issue", 0, "the pull request's number; 0 where there is none")
	flags.StringVar(&f.Repository, "repo", "", "the repository, OWNER/NAME (default: GITHUB_REPOSITORY, else the work tree's directory)")
	flags.StringVar(&f.store, "store", "", storeUsage)
	flags.StringVar(&f.Dir, "dir", ".", "the project's directory")
	flags.BoolVar(&f.json, "json", false, "print JSON also to a terminal")
}

// open opens the store, if there is one.
func (f loopFlags) open(ctx context.Context, env Environment) (*store.Store, error) {
	return store.OpenNamedExisting(ctx, f.store, "airlock loop start", env.Getenv, loops.Schema)
}

// find opens the store and finds the loop that the flags name.
func (f loopFlags) find(ctx context.Context, env Environment) (*store.Store, loops.Loop, error) {
	return f.Find(ctx, env.Getenv, func() (*store.Store, error) { return f.open(ctx, env) })
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
	cmd.Flags().IntVar(&f.Ordinal, "ordinal", 0, "which of the pull request's loops, counted from 1 (default: the newest)")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		ctx := cmd.Context()
		if !cmd.Flags().Changed("issue") {
			return listLoops(ctx, env, f)
		}
		st, l, err := f.find(ctx, env)
		if err != nil {
			return err
		}
		defer st.Close()
		status, err := loops.NewBook(st).Status(ctx, l)
		if err != nil {
			return exitcode.FailedError(err)
		}
		if wantsJSON(env, f.json) {
			return printJSON(env, status.Document())
		}
		return status.Text(env.Stdout)
	}
	return cmd
}

func listLoops(ctx context.Context, env Environment, f loopFlags) error {
	st, err := f.open(ctx, env)
	if err != nil {
		return err
	}
	defer st.Close()
	var filter loops.Filter
	if f.Repository != "" {
		if filter.Repository, err = f.RepositoryName(env.Getenv); err != nil {
			return exitcode.UsageError(err)
		}
	}
	all, err := loops.NewBook(st).Statuses(ctx, filter)
	if err != nil {
		return exitcode.FailedError(err)
	}
	if wantsJSON(env, f.json) {
		documents := make([]loops.Document, len(all))
		for i, s := range all {
			documents[i] = s.Document()
		}
		return printJSON(env, map[string]any{"version": 1, "loops": documents})
	}
	if len(all) == 0 {
		fmt.Fprintf(env.Stderr, "airlock: there is no loop in %s\n", st.Name())
	}
	for _, s := range all {
		if _, err := fmt.Fprintln(env.Stdout, s.Headline()); err != nil {
			return err
		}
	}
	return nil
}

func newLoopDecide(env Environment) *cobra.Command {
	var f loopFlags
	var by string
	cmd := &cobra.Command{
		Use:   "decide fixed|extend [N]|skip|abort|retry",
		Short: "Decide about a loop that was escalated",
		Long: `Decide about a loop that was escalated: fixed checks what a person has mended, extend
allows more iterations (3, or N), skip ends the loop with known issues, abort ends it,
retry checks the unchanged code again. A loop that waits for a person's fix takes
fixed, and any open loop takes abort.

Exit codes: 0 if the decision was taken in, 1 if there is nothing to decide, or not any
more, 2 for wrong usage.`,
		Example: `  airlock loop decide --issue 7 extend 2
  airlock loop decide --issue 7 fixed`,
		Args: cobra.RangeArgs(1, 2),
	}
	f.register(cmd)
	cmd.Flags().StringVar(&by, "by", "", "who decides, for the log (default: USER)")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		e := fixloop.Event{Type: fixloop.EventDecision, Decision: fixloop.Decision(args[0]), By: by}
		if by == "" {
			e.By = env.Getenv("USER")
		}
		if len(args) == 2 {
			n, err := strconv.Atoi(args[1])
			if err != nil || n < 1 || e.Decision != fixloop.DecideExtend {
				return exitcode.UsageError(fmt.Errorf("%q does not go with %s: only extend takes a number of iterations, such as 'extend 3'", args[1], args[0]))
			}
			e.N = n
		}
		return decideLoop(cmd.Context(), env, f, e)
	}
	return cmd
}

func decideLoop(ctx context.Context, env Environment, f loopFlags, e fixloop.Event) error {
	st, l, err := f.find(ctx, env)
	if err != nil {
		return err
	}
	status, err := loopwork.Decide(ctx, st, l.ID, e, engine.ErrorLog(env.Stderr))
	if err != nil {
		return err
	}
	fmt.Fprintln(env.Stderr, status.NextStep())
	if wantsJSON(env, f.json) {
		return printJSON(env, status.Document())
	}
	return nil
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
	cmd.Flags().IntVar(&f.Ordinal, "ordinal", 0, "which of the pull request's loops, counted from 1 (default: the newest)")
	cmd.Flags().StringVar(&format, "format", "markdown", "markdown, json, mermaid or timeline")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if f.json {
			format = "json"
		}
		return printLoopLog(cmd.Context(), env, f, format)
	}
	return cmd
}

func printLoopLog(ctx context.Context, env Environment, f loopFlags, format string) error {
	st, l, err := f.find(ctx, env)
	if err != nil {
		return err
	}
	defer st.Close()
	messages, err := loops.NewBook(st).Messages(ctx, l.ID)
	if err != nil {
		return exitcode.FailedError(err)
	}
	log := fixloop.NewLog(l.State, messages, time.Now())
	switch format {
	case "markdown":
		_, err = io.WriteString(env.Stdout, log.Markdown())
	case "mermaid":
		_, err = io.WriteString(env.Stdout, "```mermaid\n"+strings.TrimRight(log.Mermaid(), "\n")+"\n```\n")
	case "timeline":
		width := terminal.Width(env.Stdout)
		if width == 0 {
			width = 80
		}
		err = log.Timeline(env.Stdout, width, time.Now())
	case "json":
		return printJSON(env, log)
	default:
		return exitcode.UsageError(fmt.Errorf("--format: %q is not markdown, json, mermaid or timeline", format))
	}
	if err != nil {
		return exitcode.FailedError(err)
	}
	return nil
}
