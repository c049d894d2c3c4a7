// Command airlock is the gate between AI agents and a repository.
package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"github.com/agent-airlock/airlock/internal/cli"
	"github.com/agent-airlock/airlock/internal/exitcode"
)

// version and commit are set by the release build; a plain build reports what the Go toolchain
// recorded.
var version, commit string

// identity returns the version and the commit of this program.
func identity() (string, string) {
	version, commit := version, commit
	info, ok := debug.ReadBuildInfo()
	if version == "" && commit == "" && ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				commit = s.Value
			}
		}
	}
	if version == "" && ok && info.Main.Version != "(devel)" {
		version = info.Main.Version
	}
	return cmp.Or(version, "devel"), commit
}

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
	version, commit := identity()
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
