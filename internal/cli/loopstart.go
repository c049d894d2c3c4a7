package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/agent-airlock/airlock/internal/action"
	"github.com/agent-airlock/airlock/internal/doors"
	"github.com/agent-airlock/airlock/internal/engine"
	"github.com/agent-airlock/airlock/internal/exitcode"
	"github.com/agent-airlock/airlock/internal/fixloop"
	"github.com/agent-airlock/airlock/internal/loops"
	"github.com/agent-airlock/airlock/internal/loopwork"
	"github.com/agent-airlock/airlock/internal/store"
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
	start, err := f.start(env)
	if err != nil {
		return exitcode.UsageError(err)
	}
	st, err := store.OpenNamed(ctx, f.store, env.Getenv, loops.Schema)
	if err != nil {
		return err
	}
	_, variable := env.Secrets.Token()
	l, err := start.Run(ctx, st, loopwork.Deps{Getenv: env.Getenv, Environ: env.Environ, PathList: action.PathList(env.Getenv), TokenVariable: variable, Version: env.Version, Progress: env.Stderr, Log: engine.ErrorLog(env.Stderr),
		Gate: func(policy string) (*doors.Gate, error) { return loadGate(env, policy, false) }})
	if err != nil {
		return verify.Refuse(err, env.Stdout, env.Stderr)
	}
	status := loops.Status{Loop: l}
	fmt.Fprintf(env.Stderr, "airlock: %s\n%s\n", status.Headline(), status.NextStep())
	if wantsJSON(env, f.json) {
		if err := printJSON(env, status.Document()); err != nil {
			return err
		}
	}
	if l.State.Outcome() == fixloop.Succeeded {
		return nil
	}
	return exitcode.ErrFindings
}

// start returns what the flags ask for.
func (f loopStartFlags) start(env Environment) (s loopwork.Start, err error) {
	repository, err := f.RepositoryName(env.Getenv)
	if err != nil {
		return s, err
	}
	given := func(flag string, value *string) *string {
		if f.given(flag) {
			return value
		}
		return nil
	}
	s = loopwork.Start{
		Loop: fixloop.Loop{Repository: repository, Issue: f.Issue, Title: f.title,
			Limits: fixloop.Limits{Iterations: f.iterations, Fix: f.fixTime, Validation: f.checkTime, Revalidation: f.checkTime, Grace: f.grace}},
		Given: loopwork.Given{Dir: given("dir", &f.Dir), Base: given("base", &f.base), Policy: given("config", &f.config), Fixer: given("fixer", &f.fixer), Evidence: given("evidence", &f.evidence)},
		Wait:  f.wait,
	}
	if err := s.Check(f.Dir); err != nil {
		return s, err
	}
	if f.given("pass-env") {
		s.Given.PassEnv = &f.passEnv
	}
	if f.given("request") {
		message, err := readMessage(env, "--request", f.request)
		if err != nil {
			return s, err
		}
		s.Given.Request = new(string(message))
	}
	return s, nil
}
