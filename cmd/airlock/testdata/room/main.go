// Command room is the part of the action that runs a pull request's code, for the
// tests of the image: it takes the credentials out of its environment, opens a
// room as the action does, and runs a script in it: "room SCRIPT" as the room's own
// user, "room lane SCRIPT" as the user of the second of two lanes.
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
	defer func() {
		if closeErr := room.Close(); err == nil {
			err = closeErr
		}
	}()
	start, script := room.Run, os.Args[1]
	if script == "lane" {
		lanes, err := room.Split(ctx, [][]string{{filepath.Join(room.Dir(), "a")}, {filepath.Join(room.Dir(), "b")}})
		if err != nil {
			return 0, err
		}
		start, script = lanes[1].Run, os.Args[2]
	}
	res, err := start(ctx, command.Spec{Program: "sh", Args: []string{"-c", script}, Stdout: os.Stdout, Stderr: os.Stderr})
	return res.ExitCode, err
}
