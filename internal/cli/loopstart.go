package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/agent-airlock/airlock/internal/checks"
	"github.com/agent-airlock/airlock/internal/command"
	"github.com/agent-airlock/airlock/internal/config"
	"github.com/agent-airlock/airlock/internal/engine"
	"github.com/agent-airlock/airlock/internal/exitcode"
	"github.com/agent-airlock/airlock/internal/fixer"
	"github.com/agent-airlock/airlock/internal/fixloop"
	"github.com/agent-airlock/airlock/internal/loops"
	"github.com/agent-airlock/airlock/internal/loopwork"
	"github.com/agent-airlock/airlock/internal/phase"
	"github.com/agent-airlock/airlock/internal/store"
	"github.com/agent-airlock/airlock/internal/text"
	"github.com/agent-airlock/airlock/internal/verify"
)

type loopStartFlags struct {
	loopFlags
	fixer, base, config, title string
	request, evidence          string
	passEnv                    []string
	iterations                 int
	fixTime, checkTime, grace  time.Duration
	wait                       bool
	given                      func(flag string) bool
}

func newLoopStart(env Environment) *cobra.Command {
	var f loopStartFlags
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
	f.register(cmd)
	flags := cmd.Flags()
	flags.StringVar(&f.fixer, "fixer", "", `the command that mends (default: a person does)`)
	flags.StringSliceVar(&f.passEnv, "pass-env", nil, "names of variables that the fixer gets, such as its keys")
	flags.StringVar(&f.base, "base", "", "the branch, tag or commit to compare with (default: the default branch)")
	flags.StringVar(&f.config, "config", "", configUsage)
	flags.StringVar(&f.request, "request", "", "a validation request with acceptance criteria that a new loop has to meet, too; - is standard input")
	flags.StringVar(&f.evidence, "evidence", "", "keep the evidence of the acceptance criteria as files in this directory")
	flags.StringVar(&f.title, "title", "", "the pull request's title, for the log")
	flags.IntVar(&f.iterations, "max-iterations", 5, "how many iterations a new loop has before it is escalated")
	flags.DurationVar(&f.fixTime, "fix-timeout", 30*time.Minute, "the time that a fix has in a new loop before a reminder")
	flags.DurationVar(&f.checkTime, "check-timeout", 30*time.Minute, "the time that a validation has in a new loop before a reminder")
	flags.DurationVar(&f.grace, "grace", 5*time.Minute, "the time from a reminder to the escalation in a new loop")
	flags.BoolVar(&f.wait, "wait", false, "wait for a person's decision instead of ending")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		f.given = cmd.Flags().Changed
		return startLoop(cmd.Context(), env, f)
	}
	return cmd
}

func startLoop(ctx context.Context, env Environment, f loopStartFlags) error {
	repository, _, err := f.key(env)
	if err == nil {
		err = f.checkLimits()
	}
	if err == nil {
		err = f.checkDirectory()
	}
	if err != nil {
		return exitcode.UsageError(err)
	}
	st, err := openStore(ctx, env, f.store, loops.Schema)
	if err != nil {
		return err
	}
	id, settings, work, err := f.prepare(ctx, env, st, repository)
	if err != nil {
		st.Close()
		return err
	}
	var hands *loopwork.Hands
	d, err := loops.Open(ctx, st, loops.Config{Executor: loops.OfOne(id), Queue: loops.OfOne(id), Logger: engineLog(env),
		Hands: func(b *loops.Book) loops.Hands { hands = loopwork.New(work, b); return hands },
		Waits: func(why error) { sayWait(env, f.issue, why) }})
	if errors.Is(err, engine.ErrRunning) {
		return exitcode.UsageError(fmt.Errorf("another process drives %s already: 'airlock loop status --issue %d' shows how far it is", id, f.issue))
	}
	if err != nil {
		return exitcode.FailedError(err)
	}
	defer d.Close()
	return f.drive(ctx, env, d, hands, settings, repository)
}

// prepare returns the ID of the loop to begin or to go on with, its settings, and its work.
func (f loopStartFlags) prepare(ctx context.Context, env Environment, st *store.Store, repository string) (id string, settings loopSettings, work loopwork.Config, err error) {
	book := loops.NewBook(st)
	l, err := book.Find(ctx, repository, f.issue, 0)
	if err != nil && !errors.Is(err, loops.ErrNoLoop) {
		return "", settings, work, exitcode.FailedError(err)
	}
	resumed, err := book.IsOpen(ctx, l)
	if err != nil {
		return "", settings, work, exitcode.FailedError(err)
	}
	if !resumed {
		l.ID = loops.NextID(repository, f.issue, l.State.Loop().Ordinal)
	}
	settings, err = f.settings(env, l, resumed)
	if err != nil {
		return "", settings, work, exitcode.UsageError(err)
	}
	if settings.Evidence != "" {
		if err := verify.CheckEvidence(settings.Evidence); err != nil {
			return "", settings, work, err
		}
	}
	if resumed && f.request != "" && !l.State.Loop().Acceptance {
		return "", settings, work, exitcode.UsageError(fmt.Errorf("--request: the open loop has begun without acceptance criteria: end it with 'airlock loop decide --issue %d abort', and start the next one with them", f.issue))
	}
	work, err = settings.work(env, f.wait)
	return l.ID, settings, work, err
}

// sayWait says what the loop waits for, and how to stop, or that it goes on (nil).
func sayWait(env Environment, issue int, why error) {
	if why == nil {
		fmt.Fprintln(env.Stderr, "airlock: the store answers again: the loop goes on")
		return
	}
	fmt.Fprintf(env.Stderr, "airlock: the loop waits: %s; Ctrl-C ends the waiting, the loop stays open, and 'airlock loop start --issue %d' goes on with it\n", text.OneLine(why.Error()), issue)
}

// checkDirectory refuses a directory that is not in a git repository: nobody could tell what
// changed there, so that the loop would be escalated at once.
func (f loopStartFlags) checkDirectory() error {
	dir, err := filepath.Abs(f.dir)
	if err != nil {
		return err
	}
	if _, ok := checks.FindRoot(dir); !ok {
		return fmt.Errorf("%s is not in a git repository: check the pull request out first, or name its clone with --dir", dir)
	}
	return nil
}

// checkLimits refuses limits that the protocol would take for its defaults, or not at all.
func (f loopStartFlags) checkLimits() error {
	if f.iterations < 1 {
		return fmt.Errorf("--max-iterations: %d is not positive: give at least 1", f.iterations)
	}
	for _, limit := range []struct {
		flag string
		time time.Duration
	}{{"fix-timeout", f.fixTime}, {"check-timeout", f.checkTime}, {"grace", f.grace}} {
		if limit.time < time.Second {
			return fmt.Errorf("--%s: %s is too short: give at least 1s", limit.flag, limit.time)
		}
	}
	return nil
}

// drive begins or resumes the loop, and returns how it ended.
func (f loopStartFlags) drive(ctx context.Context, env Environment, d *loops.Driver, hands *loopwork.Hands, settings loopSettings, repository string) error {
	raw, err := json.Marshal(settings)
	if err != nil {
		return exitcode.FailedError(err)
	}
	l, opened, err := d.Start(ctx, fixloop.Loop{Repository: repository, Issue: f.issue, Title: f.title, Acceptance: settings.Request != "",
		Limits: fixloop.Limits{Iterations: f.iterations, Fix: f.fixTime, Validation: f.checkTime, Revalidation: f.checkTime, Grace: f.grace}}, raw, loops.OfOne)
	if err != nil {
		return exitcode.UsageError(err)
	}
	if !opened {
		fmt.Fprintf(env.Stderr, "airlock: going on with %s\n", fixloop.NewLog(l.State, nil, time.Now()).Headline())
		if e, ok := hands.Pushed(l.State.Work()); ok { // a commit that was made meanwhile is the manual fix
			var refused *fixloop.Refused
			if err := d.Apply(ctx, l.ID, "push/"+e.Head, e); err != nil && !errors.As(err, &refused) {
				return exitcode.FailedError(err)
			}
		}
	}
	l, err = d.Wait(ctx, l.ID, !f.wait)
	if ctx.Err() != nil {
		return exitcode.FailedError(fmt.Errorf("interrupted; the loop stays open, and 'airlock loop start --issue %d' goes on", f.issue))
	}
	if err != nil {
		return exitcode.FailedError(fmt.Errorf("%w; the loop stays open, and then 'airlock loop start --issue %d' goes on", err, f.issue))
	}
	fmt.Fprintln(env.Stderr, "airlock: "+fixloop.NewLog(l.State, nil, time.Now()).Headline())
	fmt.Fprintln(env.Stderr, nextStep(l, false))
	if wantsJSON(env, f.json) {
		if err := printJSON(env, loops.DocumentOf(l, false)); err != nil {
			return err
		}
	}
	if l.State.Outcome() == fixloop.Succeeded {
		return nil
	}
	return exitcode.ErrFindings
}

// settings returns what the loop is driven with: the flags, and where they say nothing,
// what the open loop was driven with before.
func (f loopStartFlags) settings(env Environment, l loops.Loop, resumed bool) (s loopSettings, err error) {
	if resumed {
		if s, err = readSettings(l); err != nil {
			return s, err
		}
	}
	if f.given("dir") || s.Dir == "" {
		if s.Dir, err = filepath.Abs(f.dir); err != nil {
			return s, err
		}
	}
	if f.given("base") {
		s.Base = f.base
	}
	if f.given("config") {
		if s.Config, err = filepath.Abs(f.config); err != nil {
			return s, err
		}
	}
	if f.given("fixer") {
		if s.Fixer = nil; strings.TrimSpace(f.fixer) != "" {
			if s.Fixer, err = phase.SplitWords(f.fixer); err != nil {
				return s, fmt.Errorf("--fixer: %w", err)
			}
		}
	}
	if f.given("evidence") {
		if s.Evidence, err = filepath.Abs(f.evidence); err != nil {
			return s, err
		}
	}
	if f.given("request") {
		message, err := readMessage(env, "--request", f.request)
		if err != nil {
			return s, err
		}
		s.Request = string(message)
	}
	if f.given("pass-env") {
		s.PassEnv = f.passEnv
	}
	for _, name := range s.PassEnv {
		if err := cmp.Or(config.CheckVariable(name), fixer.CheckVariable(name)); err != nil {
			return s, fmt.Errorf("--pass-env: %q %w", name, err)
		}
	}
	if len(s.Fixer) > 0 {
		// The command runs in a copy: a path is relative to where the user is now.
		if strings.ContainsRune(s.Fixer[0], filepath.Separator) {
			if s.Fixer[0], err = filepath.Abs(s.Fixer[0]); err != nil {
				return s, err
			}
		}
		if _, err := command.LookPath(s.Fixer[0], env.Getenv("PATH")); err != nil {
			return s, fmt.Errorf("--fixer: %w", err)
		}
	}
	return s, s.workDir()
}
