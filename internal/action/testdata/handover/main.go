// Command handover is the program that the test of Enter starts: it enters, prints
// what it got, and waits until its input ends, so that the test can look at it.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/agent-airlock/airlock/internal/action"
)

func main() {
	secrets, err := action.Enter(os.Environ(), os.Args)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(3)
	}
	secret, variable := secrets.Token()
	_ = json.NewEncoder(os.Stdout).Encode(map[string]any{
		"secret": secret, "variable": variable, "further": secrets.Further(), "orchestration": secrets.Orchestration(), "environ": os.Environ(), "args": os.Args, "pid": os.Getpid(), "printed": fmt.Sprintf("%v %+v %#v %s", secrets, secrets, secrets, secrets),
	})
	_, _ = io.Copy(io.Discard, os.Stdin)
}
