// Package cli is the command line: the commands, how they are wired, their exit
// codes and the words a person reads.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/agent-airlock/airlock/internal/action"
)

// World is everything of the process that a command may touch; a test passes its own.
type World struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Getenv         func(string) string
	// Secrets are what was taken out of the environment before anything else.
	Secrets action.Secrets
	// Version is the released version, or "" in a development build.
	Version string
}

// Enter is the first act of a process: the action's token leaves the environment
// (rule R5), for which the program runs a second time. The other commands read
// GITHUB_TOKEN as other tools do.
func Enter(args, environ []string) (action.Secrets, error) {
	if len(args) < 2 || args[1] != "action" {
		return action.Secrets{}, nil
	}
	return action.Enter(environ, args)
}

// Main runs one command line and returns the process's exit code.
func Main(ctx context.Context, args []string, w World) int {
	root := newRoot(w)
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return ExitClean
	}
	var exit *exitError
	if !errors.As(err, &exit) {
		exit = usageError(err)
	}
	if exit.err != nil {
		fmt.Fprintf(w.Stderr, "airlock: %v\n", exit.err)
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
the GitHub API.`,
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.CompletionOptions.DisableDefaultCmd = true
	root.SetIn(w.Stdin)
	root.SetOut(w.Stdout)
	root.SetErr(w.Stderr)
	root.AddCommand(newCollect(w), newApply(w), newValidate(w), newSanitize(w), newInstructions(w), newAction(w),
		newSchema(w), newVersion(w))
	return root
}
