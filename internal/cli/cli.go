// Package cli is the command line: the commands, how they are wired, their exit
// codes and the words a person reads.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agent-airlock/airlock/internal/action"
	"github.com/agent-airlock/airlock/internal/command"
)

// World is everything of the process that a command may touch; a test passes its own.
type World struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Getenv         func(string) string
	// Environ is the whole environment, as os.Environ returns it, for programs that
	// are started.
	Environ []string
	// Secrets are what was taken out of the environment before anything else.
	Secrets action.Secrets
	// Version is the released version, or "" in a development build.
	Version string
}

// Enter is the first act of a process: the action's token leaves the environment
// (rule R5), for which the program runs a second time. The other commands read
// GITHUB_TOKEN as other tools do. Where the process was started to become a
// program of a pull request, it does, and Enter does not return.
func Enter(args, environ []string) (action.Secrets, error) {
	command.EnterChild(args)
	if len(args) < 2 || args[1] != "action" {
		return action.Secrets{}, nil
	}
	return action.Enter(environ, args)
}

// Main runs one command line and returns the process's exit code.
func Main(ctx context.Context, args []string, w World) int {
	w.Stdout = sink{"standard output", w.Stdout}
	root := newRoot(w)
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return ExitClean
	}
	var exit *exitError
	var out *outputError
	switch {
	case errors.As(err, &exit):
	case errors.As(err, &out):
		exit = failedError(err)
	default:
		exit = usageError(err)
	}
	if exit.err != nil && !closedReader(exit.err) {
		for line := range strings.SplitSeq(exit.err.Error(), "\n") {
			fmt.Fprintf(w.Stderr, "airlock: %s\n", line)
		}
	}
	return exit.code
}

func newRoot(w World) *cobra.Command {
	root := &cobra.Command{
		Use:   "airlock",
		Short: "The gate between AI agents and a repository",
		Long: `Airlock is the gate between AI agents and a repository.

An agent writes down what it wants as lines of JSON. Airlock validates and cleans
each line, holds it against the owner's policy, and performs what is left through
the GitHub API.

Exit codes: 0 if all was done, staged or planned; 1 if something was rejected,
denied, dropped, skipped or failed; 2 for wrong usage or configuration, or input
that is not there; 3 if Airlock itself or the API failed before any item could be
judged, or the results could not be written.`,
		Example: `  airlock instructions --config policy.yml              what to put into the agent's prompt
  airlock validate --config policy.yml agent.ndjson     is everything well formed?
  airlock apply --dry-run --config policy.yml --input agent.ndjson --event event.json
  airlock collect --input agent.ndjson | airlock apply --config policy.yml`,
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.CompletionOptions.DisableDefaultCmd = true
	root.SetFlagErrorFunc(flagError)
	root.SetIn(w.Stdin)
	root.SetOut(w.Stdout)
	root.SetErr(w.Stderr)
	root.AddCommand(newCollect(w), newApply(w), newCheck(w), newValidate(w), newSanitize(w), newInstructions(w), newAction(w),
		newSchema(w), newVersion(w))
	return root
}
