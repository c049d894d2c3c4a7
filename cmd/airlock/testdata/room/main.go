// Command room is the part of the action that runs a pull request's code, for the
// tests of the image: it takes the credentials out of its environment, opens a
// room as the action does, and runs a script in it.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/agent-airlock/airlock/internal/action"
	"github.com/agent-airlock/airlock/internal/command"
	"github.com/agent-airlock/airlock/internal/isolate"
)

func main() {
	command.EnterChild(os.Args)
	code, err := run(context.Background())
	if err != nil {
		fmt.Fprintf(os.Stderr, "room: %v\n", err)
		code = 99
	}
	os.Exit(code)
}

func run(ctx context.Context) (code int, err error) {
	if _, err := action.Enter(os.Environ(), os.Args); err != nil {
		return 0, err
	}
	room, err := isolate.Open(ctx, isolate.Config{
		Workspace: os.Getenv("GITHUB_WORKSPACE"), Credential: true, Environ: os.Environ(), Closed: isolate.RunnerPaths(os.Getenv),
	})
	if err != nil {
		return 0, err
	}
	res, err := room.Run(ctx, command.Spec{Program: "sh", Args: []string{"-c", os.Args[1]}, Stdout: os.Stdout, Stderr: os.Stderr})
	if closeErr := room.Close(); err == nil {
		err = closeErr
	}
	return res.ExitCode, err
}
