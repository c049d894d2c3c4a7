// Command airlock is the gate between AI agents and a repository.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/agent-airlock/airlock/internal/cli"
	"github.com/agent-airlock/airlock/internal/exitcode"
)

// version and commit are set by the release build; a plain build reports what the module
// knows.
var version, commit string

func main() {
	secrets, err := cli.Enter(os.Args, os.Environ())
	if err != nil {
		fmt.Fprintf(os.Stderr, "airlock: %v\n", err)
		os.Exit(exitcode.Failed)
	}
	// A log that nobody reads any more must not kill the program between two writes
	// to GitHub.
	signal.Ignore(syscall.SIGPIPE)
	stopSignals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // nohup ignores it
		stopSignals = append(stopSignals, syscall.SIGHUP)
	}
	ctx, stop := signal.NotifyContext(context.Background(), stopSignals...)
	defer stop()
	context.AfterFunc(ctx, func() { signal.Reset(os.Interrupt) }) // a second Ctrl-C kills the program at once
	os.Exit(cli.Main(ctx, os.Args[1:], cli.Environment{
		Stdin:   os.Stdin,
		Stdout:  os.Stdout,
		Stderr:  os.Stderr,
		Getenv:  os.Getenv,
		Environ: os.Environ(),
		Secrets: secrets,
		Version: version,
		Commit:  commit,
	}))
}
