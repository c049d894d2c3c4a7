package command_test

import (
	"io"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/agent-airlock/airlock/internal/command"
)

// TestProcessesEndWhileNothingCanBeOpened is rule R4 where a program has used up what
// it takes to look into /proc: here this process may open nothing until all that the
// program started are gone.
func TestProcessesEndWhileNothingCanBeOpened(t *testing.T) {
	if !isRoot(t) {
		return
	}
	alive, held, err := os.Pipe() // the programs hold the other end
	if err != nil {
		t.Fatal(err)
	}
	defer alive.Close()
	var was syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &was); err != nil {
		t.Fatal(err)
	}
	restore := func() { _ = syscall.Setrlimit(syscall.RLIMIT_NOFILE, &was) }
	defer restore()
	stdin, end := io.Pipe()
	spec := hostile(t, "")
	spec.Program, spec.Args = "sh", []string{"-c", "setsid sleep 600 & echo $!; exec cat"}
	spec.Stdin, spec.ExtraFiles = stdin, []*os.File{held}
	spec.Stdout = writer(func(p []byte) (int, error) {
		_ = held.Close()
		if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Max: was.Max}); err != nil {
			t.Error(err)
		}
		go func() {
			_, _ = io.ReadAll(alive) // until all are gone
			restore()
		}()
		return len(p), end.Close()
	})
	r, err := command.Run(t.Context(), spec)
	if err != nil || !r.OK() {
		t.Errorf("%v, %+v", err, r)
		if pid, err := strconv.Atoi(strings.TrimSpace(r.Stdout.String())); err == nil {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
	restore()
	assertNobodyRuns(t, spec.Identity.UID)
}
