// Package cli is the command line: the commands, their flags, their exit codes and what a
// person reads.
package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agent-airlock/airlock/internal/action"
	"github.com/agent-airlock/airlock/internal/crash"
	"github.com/agent-airlock/airlock/internal/doors"
	"github.com/agent-airlock/airlock/internal/exitcode"
	"github.com/agent-airlock/airlock/internal/terminal"
	"github.com/agent-airlock/airlock/internal/text"
	"github.com/agent-airlock/airlock/internal/usage"
)

// Environment is everything of the process that a command may touch; a test passes its
// own.
type Environment struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Getenv         func(string) string
	// Environ is the entire environment, as os.Environ returns it, for programs that
	// are started.
	Environ []string
	// Secrets are what was taken out of the environment before anything else.
	Secrets action.Secrets
	Version string // of this program; required
	Commit  string // the commit of the released actions, "" if it is not known

	stopped <-chan struct{} // closed when a signal stops the program; set by Main
}

// Enter is the first act of a process. For the action it takes the token out of the environment
// (rule R5), and runs the program a second time to do so. The other commands read GITHUB_TOKEN as
// other tools do. No core file of any command can contain it. On Linux, other programs of the user
// cannot read the memory of action, apply and doctor. They can read the memory of commands that run
// a pull request's code: Linux does not let a process whose memory is closed to others start a
// program in a network of its own, unless the user is root.
func Enter(args, environ []string) (action.Secrets, error) {
	if err := action.NoCoreFiles(); err != nil {
		return action.Secrets{}, err
	}
	command := ""
	if len(args) > 1 {
		command = args[1]
	}
	switch command {
	case "action":
		return action.Enter(environ, args)
	case "apply", "doctor":
		return action.Secrets{}, action.CloseToOthers()
	}
	return action.Secrets{}, nil
}

// Main runs one command line and returns the process's exit code.
func Main(ctx context.Context, args []string, env Environment) int {
	env.stopped = ctx.Done()
	if terminal.Is(env.Stdout) {
		env.Stdout = terminal.Safe(env.Stdout)
	}
	stdout := &doors.ResultWriter{Name: "standard output", Writer: env.Stdout}
	env.Stdout = stdout
	root := newRoot(env)
	root.SetArgs(args)
	err := crash.Try(func() error { return root.ExecuteContext(ctx) })
	if err == nil || errors.Is(err, exitcode.ErrFindings) {
		err = cmp.Or(stdout.Lost(), err)
	}
	if err == nil {
		return exitcode.Clean
	}
	var exit *exitcode.Error
	var writing *doors.WriteError
	switch {
	case errors.Is(err, action.ErrStopped):
		exit = &exitcode.Error{Code: exitcode.Failed, Err: action.ErrStopped}
	case errors.As(err, &exit):
	case crash.Is(err), errors.As(err, &writing):
		exit = &exitcode.Error{Code: exitcode.Failed, Err: err}
	default:
		exit = &exitcode.Error{Code: exitcode.Usage, Err: err}
	}
	if exit.Err != nil && !readerIsGone(exit.Err) {
		for line := range strings.SplitSeq(text.SafeLines(env.mask(exitcode.Explain(exit.Err))), "\n") {
			fmt.Fprintf(env.Stderr, "airlock: %s\n", line)
		}
	}
	return exit.Code
}

func newRoot(env Environment) *cobra.Command {
	root := &cobra.Command{
		Use:   "airlock",
		Short: "The gate between AI agents and a repository",
		Long: `Airlock is the gate between AI agents and a repository.

An agent writes down what it wants as lines of JSON. Airlock validates and cleans
each line, checks it against the owner's policy, and performs what is left through
the GitHub API.

Exit codes: 0 if all was done, staged or planned; 1 if something was rejected,
denied, dropped, skipped or failed; 2 for wrong usage or configuration, or input
that is not there; 3 if Airlock itself failed, or the API did before any item could
be judged, or the results could not be written.`,
		Example: `  airlock init                                          workflows and a policy, by three questions
  airlock doctor                                        what in them would fail, and how to mend it
  airlock check                                         what a pull request's checks would say
  airlock instructions --config policy.yml              what to put into the agent's prompt
  airlock validate --config policy.yml agent.ndjson     is everything well formed?
  airlock apply --dry-run --config policy.yml --input agent.ndjson --event event.json
  airlock collect --input agent.ndjson | airlock apply --config policy.yml`,
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.Version = env.Version
	root.SetVersionTemplate("airlock {{.Version}}\n")
	root.SetIn(env.Stdin)
	root.SetOut(env.Stdout)
	root.SetErr(env.Stderr)
	root.AddCommand(newInit(env), newDoctor(env), newMan(env), newCollect(env), newApply(env), newCheck(env), newVerify(env), newLoop(env), newValidate(env), newSanitize(env), newInstructions(env), newMCP(env), newAction(env),
		newSchema(env), newVersion(env))
	root.AddCommand(newAgents(env), newRuns(env), newServe(env), newRunner(env), newToken(env), newBuiltIn(env))
	takeLines(root)
	usage.Explain(root)
	return root
}
