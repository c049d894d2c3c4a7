// Command sandbox is the part of the action that runs a pull request's code, for the
// tests of the image: it takes the credentials out of its environment, opens a
// sandbox as the action does, and runs a script in it: "sandbox SCRIPT" as the sandbox's own
// user, "sandbox worker SCRIPT" as the user of the second of two workers.
package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/agent-airlock/airlock/internal/action"
	"github.com/agent-airlock/airlock/internal/command"
	"github.com/agent-airlock/airlock/internal/isolate"
)

func main() {
	code, err := run(context.Background())
	if err != nil {
		fmt.Fprintf(os.Stderr, "sandbox: %v\n", err)
		code = 99
	}
	os.Exit(code)
}

func run(ctx context.Context) (code int, err error) {
	if _, err := action.Enter(os.Environ(), os.Args); err != nil {
		return 0, err
	}
	sandbox, err := isolate.Open(ctx, isolate.Config{
		Workspace: os.Getenv("GITHUB_WORKSPACE"), Credential: true, Environ: os.Environ(), Closed: isolate.RunnerPaths(os.Getenv),
		Identity: &command.Identity{UID: 65532, GID: 65532}, // the same in each run, so that a test can compare
	})
	if err != nil {
		return 0, err
	}
	defer func() {
		if closeErr := sandbox.Close(); err == nil {
			err = closeErr
		}
	}()
	start, script := sandbox.Run, os.Args[1]
	if script == "worker" {
		workers, err := sandbox.Split(ctx, [][]string{{filepath.Join(sandbox.Dir(), "a")}, {filepath.Join(sandbox.Dir(), "b")}})
		if err != nil {
			return 0, err
		}
		start, script = workers[1].Run, os.Args[2]
	}
	res, err := start(ctx, command.Spec{Program: "sh", Args: []string{"-c", script}, Stdout: os.Stdout, Stderr: os.Stderr})
	return res.ExitCode, err
}
