// Package cli is the command line: the commands, their flags, their exit codes and what a
// person reads.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/agent-airlock/airlock/internal/action"
	"github.com/agent-airlock/airlock/internal/command"
	"github.com/agent-airlock/airlock/internal/crash"
	"github.com/agent-airlock/airlock/internal/doors"
	"github.com/agent-airlock/airlock/internal/exitcode"
	"github.com/agent-airlock/airlock/internal/text"
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
	// Version is the released version, or "" in a development build.
	Version string
}

// Enter is the first act of a process. For the action it takes the token out of the
// environment (rule R5), for which the program runs a second time. The other commands
// read GITHUB_TOKEN as other tools do. A process that was started to become a program of
// a pull request becomes it, and Enter does not return.
func Enter(args, environ []string) (action.Secrets, error) {
	command.EnterChild(args)
	if len(args) < 2 || args[1] != "action" {
		return action.Secrets{}, nil
	}
	return action.Enter(environ, args)
}

// Main runs one command line and returns the process's exit code.
func Main(ctx context.Context, args []string, env Environment) int {
	env.Stdout = doors.ResultWriter{Name: "standard output", Writer: env.Stdout}
	root := newRoot(env)
	root.SetArgs(args)
	err := crash.Try(func() error { return root.ExecuteContext(ctx) })
	if err == nil {
		return exitcode.Clean
	}
	var exit *exitcode.Error
	var writing *doors.WriteError
	switch {
	case errors.As(err, &exit):
	case crash.Is(err):
		exit = &exitcode.Error{Code: exitcode.Failed, Err: err}
	case errors.As(err, &writing):
		exit = &exitcode.Error{Code: exitcode.Failed, Err: err}
	default:
		exit = &exitcode.Error{Code: exitcode.Usage, Err: err}
	}
	if exit.Err != nil && !readerIsGone(exit.Err) {
		for line := range strings.SplitSeq(exit.Err.Error(), "\n") {
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
each line, holds it against the owner's policy, and performs what is left through
the GitHub API.

Exit codes: 0 if all was done, staged or planned; 1 if something was rejected,
denied, dropped, skipped or failed; 2 for wrong usage or configuration, or input
that is not there; 3 if Airlock itself failed, or the API did before any item could
be judged, or the results could not be written.`,
		Example: `  airlock instructions --config policy.yml              what to put into the agent's prompt
  airlock validate --config policy.yml agent.ndjson     is everything well formed?
  airlock apply --dry-run --config policy.yml --input agent.ndjson --event event.json
  airlock collect --input agent.ndjson | airlock apply --config policy.yml`,
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.Version = versionOf(env)
	root.SetVersionTemplate("airlock {{.Version}}\n")
	root.DisableFlagsInUseLine = true
	root.DisableSuggestions = true // unknownCommand makes them
	root.Args = unknownCommand
	root.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	root.SetFlagErrorFunc(flagError)
	root.SetIn(env.Stdin)
	root.SetOut(env.Stdout)
	root.SetErr(env.Stderr)
	root.AddCommand(newCollect(env), newApply(env), newCheck(env), newVerify(env), newLoop(env), newValidate(env), newSanitize(env), newInstructions(env), newMCP(env), newAction(env),
		newSchema(env), newVersion(env))
	root.AddCommand(newAgents(env), newRuns(env), newServe(env), newRunner(env), newToken(env), newBuiltIn(env))
	return root
}

// unknownCommand returns an error for what is not a command, with the one that may be meant.
func unknownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var names []string
	for _, c := range cmd.Commands() {
		names = append(append(names, c.Name()), c.Aliases...)
	}
	meant := ""
	if near := text.Nearest(args[0], names); near != "" {
		meant = fmt.Sprintf("; did you mean %q?", near)
	}
	return fmt.Errorf("unknown command %q%s ('%s --help' lists the commands)", args[0], meant, cmd.CommandPath())
}

// flagError describes in plain words what is wrong with a flag, instead of in those of the
// functions that parse it, and where to look.
func flagError(cmd *cobra.Command, err error) error {
	words := err.Error()
	for _, read := range []struct{ by, instead string }{
		{": strconv.ParseInt: ", "give a whole number"}, {": strconv.ParseBool: ", "give true or false, or the flag alone"},
		{": time: ", "give a time with its unit, such as 300s or 5m"},
	} {
		if head, _, ok := strings.Cut(words, read.by); ok {
			words = head + ": " + read.instead
		}
	}
	if name, ok := strings.CutPrefix(words, "unknown flag: --"); ok {
		var names []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
		if near := text.Nearest(name, names); near != "" {
			words += "; did you mean --" + near + "?"
		}
	}
	return fmt.Errorf("%s ('%s --help' lists the flags)", words, cmd.CommandPath())
}
