package cli

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/agent-airlock/airlock/internal/checks"
	"github.com/agent-airlock/airlock/internal/engine"
	"github.com/agent-airlock/airlock/internal/event"
	"github.com/agent-airlock/airlock/internal/exitcode"
	"github.com/agent-airlock/airlock/internal/fixloop"
	"github.com/agent-airlock/airlock/internal/loops"
	"github.com/agent-airlock/airlock/internal/store"
	"github.com/agent-airlock/airlock/internal/terminal"
)

// loopFlags are those that every command about loops has.
type loopFlags struct {
	issue                  int
	ordinal                int
	repository, dir, store string
	json                   bool
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
	flags.IntVar(&f.issue, "issue", 0, "the pull request's number; 0 where there is none")
	flags.StringVar(&f.repository, "repo", "", "the repository, OWNER/NAME (default: GITHUB_REPOSITORY, else the work tree's directory)")
	flags.StringVar(&f.store, "store", "", storeUsage)
	flags.StringVar(&f.dir, "dir", ".", "the project's directory")
	flags.BoolVar(&f.json, "json", false, "print JSON also to a terminal")
}

// key returns the repository that a loop belongs to, and the root of its work tree.
func (f loopFlags) key(env Environment) (repository, root string, err error) {
	if f.issue < 0 {
		return "", "", fmt.Errorf("--issue: %d is negative; name the pull request by its number, or 0 where there is none", f.issue)
	}
	dir, err := filepath.Abs(f.dir)
	if err != nil {
		return "", "", err
	}
	root, _ = checks.FindRoot(dir)
	if f.repository != "" {
		repo, ok := event.ParseRepo(f.repository)
		if !ok {
			return "", "", fmt.Errorf("--repo: %q does not have the form OWNER/NAME", f.repository)
		}
		return repo.FullName(), root, nil
	}
	if own := ownRepository(env); own != "" {
		return own, root, nil
	}
	return filepath.ToSlash(root), root, nil
}

// open opens the store, if there is one.
func (f loopFlags) open(ctx context.Context, env Environment) (*store.Store, error) {
	return openExisting(ctx, env, f.store, "airlock loop start", loops.Schema)
}

// find opens the store and finds the loop that the flags name.
func (f loopFlags) find(ctx context.Context, env Environment) (*store.Store, loops.Loop, error) {
	repository, _, err := f.key(env)
	if err != nil {
		return nil, loops.Loop{}, exitcode.UsageError(err)
	}
	st, err := f.open(ctx, env)
	if err != nil {
		return nil, loops.Loop{}, err
	}
	l, err := loops.NewBook(st).Find(ctx, repository, f.issue, f.ordinal)
	if err == nil {
		return st, l, nil
	}
	st.Close()
	if errors.Is(err, loops.ErrNoLoop) {
		return nil, l, exitcode.UsageError(fmt.Errorf("%s#%d has no such loop in %s: 'airlock loop status' lists those that there are, 'airlock loop start' begins one", repository, f.issue, st.Name()))
	}
	return nil, l, exitcode.FailedError(err)
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
	cmd.Flags().IntVar(&f.ordinal, "ordinal", 0, "which of the pull request's loops, counted from 1 (default: the newest)")
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
		driven, err := loops.NewBook(st).Driven(ctx, l.ID)
		if err != nil {
			return exitcode.FailedError(err)
		}
		if wantsJSON(env, f.json) {
			return printJSON(env, loops.DocumentOf(l, driven))
		}
		return writeStatus(env.Stdout, l, driven)
	}
	return cmd
}

func listLoops(ctx context.Context, env Environment, f loopFlags) error {
	st, err := f.open(ctx, env)
	if err != nil {
		return err
	}
	defer st.Close()
	repository := ""
	if f.repository != "" {
		if repository, _, err = f.key(env); err != nil {
			return exitcode.UsageError(err)
		}
	}
	book := loops.NewBook(st)
	all, err := book.List(ctx, loops.Filter{Repository: repository})
	if err != nil {
		return exitcode.FailedError(err)
	}
	documents := make([]loops.Document, len(all))
	for i, l := range all {
		driven := false
		if l.State.Outcome() == fixloop.Running {
			if driven, err = book.Driven(ctx, l.ID); err != nil {
				return exitcode.FailedError(err)
			}
		}
		documents[i] = loops.DocumentOf(l, driven)
	}
	if wantsJSON(env, f.json) {
		return printJSON(env, map[string]any{"version": 1, "loops": documents})
	}
	if len(all) == 0 {
		fmt.Fprintf(env.Stderr, "airlock: there is no loop in %s\n", st.Name())
	}
	for _, l := range all {
		if _, err := fmt.Fprintln(env.Stdout, fixloop.NewLog(l.State, nil, time.Now()).Headline()); err != nil {
			return err
		}
	}
	return nil
}

// writeStatus describes a loop to a person: the state first, then the next step.
func writeStatus(w io.Writer, l loops.Loop, driven bool) error {
	var b strings.Builder
	b.WriteString(fixloop.NewLog(l.State, nil, time.Now()).Headline() + "\n")
	for _, c := range l.State.Checks() {
		fmt.Fprintf(&b, "  %-16s %s", c.Check, c.Status)
		switch {
		case c.Like != "":
			b.WriteString(": like " + string(c.Like))
		case c.Error != "":
			b.WriteString(": " + c.Error)
		case c.Count > 0:
			fmt.Fprintf(&b, ": %d failing", c.Count)
		}
		b.WriteString("\n")
	}
	b.WriteString(nextStep(l, driven) + "\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// nextStep describes whose turn it is, until when, and what a person can do.
func nextStep(l loops.Loop, driven bool) string {
	w := l.State.Work()
	issue := strconv.Itoa(l.State.Loop().Issue)
	deadline := ""
	if due := l.State.Deadline(); !due.IsZero() {
		deadline = " until " + due.Local().Format("15:04:05")
	}
	resume := "nobody drives it: 'airlock loop start --issue " + issue + "' goes on"
	if driven {
		resume = "a process drives it"
	}
	switch w.Kind {
	case fixloop.WorkDecide:
		var words []string
		for _, d := range l.State.Decisions() {
			words = append(words, string(d))
		}
		return l.State.Why() + " A person decides: 'airlock loop decide --issue " + issue + " " + words[0] + "', or " + strings.Join(words[1:], ", ") + "; then " + strings.TrimPrefix(resume, "nobody drives it: ")
	case fixloop.WorkNone:
		return "It has ended: 'airlock loop log --issue " + issue + "' shows how."
	case fixloop.WorkFix:
		return "The fixer mends " + w.Request.ID + deadline + "; " + resume
	case fixloop.WorkAcceptance:
		return "The acceptance criteria are verified" + deadline + "; " + resume
	}
	return "The checks run" + deadline + "; " + resume
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
	eng, err := engine.Open(ctx, st, engine.Config{Logger: engineLog(env)})
	if err != nil {
		return exitcode.FailedError(err)
	}
	defer eng.Close()
	book := loops.NewWritable(eng)
	err = book.Apply(ctx, l.ID, "decision/"+rand.Text(), e)
	var refused *fixloop.Refused
	switch {
	case errors.As(err, &refused) && refused.Code == fixloop.CodeInvalid:
		return exitcode.UsageError(errors.New(refused.Why))
	case errors.As(err, &refused):
		return &exitcode.Error{Code: exitcode.Findings, Err: errors.New(refused.Why)}
	case err != nil:
		return exitcode.FailedError(err)
	}
	if l, err = book.Get(ctx, l.ID); err != nil {
		return exitcode.FailedError(err)
	}
	driven, err := book.Driven(ctx, l.ID)
	if err != nil {
		return exitcode.FailedError(err)
	}
	fmt.Fprintln(env.Stderr, nextStep(l, driven))
	if wantsJSON(env, f.json) {
		return printJSON(env, loops.DocumentOf(l, driven))
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
	cmd.Flags().IntVar(&f.ordinal, "ordinal", 0, "which of the pull request's loops, counted from 1 (default: the newest)")
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

// engineLog returns the log of the engine: what a person should know of, on standard error.
func engineLog(env Environment) *slog.Logger {
	return slog.New(slog.NewTextHandler(env.Stderr, &slog.HandlerOptions{Level: slog.LevelError, ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}}))
}
