package command_test

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/agent-airlock/airlock/internal/command"
)

// TestNothingIsLeftBehind tests rule R4. Each program leaves processes that keep the output open,
// and ends at once, except the one whose time is over.
func TestNothingIsLeftBehind(t *testing.T) {
	if !isRoot(t) {
		return
	}
	for _, attack := range []string{"daemon", "headless", "chain", "bomb"} {
		t.Run(attack, func(t *testing.T) {
			spec := hostile(t, attack, "left")
			spec.Limits.Processes = 400
			r := run(t, spec)
			if r.Lingered || r.Duration > 30*time.Second {
				t.Errorf("%+v", r)
			}
			if attack == "bomb" && (r.ExitCode != 7 || !strings.Contains(r.Stdout.String(), "resource temporarily unavailable")) {
				t.Errorf("the bomb was not limited: %s", r.Stdout)
			}
			assertNobodyRuns(t, spec.Identity.UID)
		})
	}
	t.Run("time is over", func(t *testing.T) {
		spec := hostile(t, "wait", "left")
		spec.Timeout, spec.Grace = 200*time.Millisecond, 50*time.Millisecond
		if r := run(t, spec); !r.TimedOut || r.Signal != "killed" {
			t.Errorf("%+v", r)
		}
		assertNobodyRuns(t, spec.Identity.UID)
	})
	t.Run("the program's own exit code is kept", func(t *testing.T) {
		spec := unprivileged(t, leaveSleepers+"exit 3")
		if r := run(t, spec); r.ExitCode != 3 || r.Signal != "" || r.Stdout.String() != strings.Repeat("up\n", 5) {
			t.Errorf("%+v", r)
		}
		assertNobodyRuns(t, spec.Identity.UID)
	})
}

// leaveSleepers is a script that starts five processes in sessions of their own, which sleep, and
// prints "up" for each of them once it runs.
const leaveSleepers = `for i in 1 2 3 4 5; do setsid sh -c 'echo up; exec sleep 600' & done | head -n 5
`

// TestTheDeadAreReaped tests what process 1 of a container has to do: orphans become its
// children, and stay as zombies until it asks for them.
func TestTheDeadAreReaped(t *testing.T) {
	if !isRoot(t) {
		return
	}
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0); err != nil {
			t.Error(err)
		}
	}()
	spec := unprivileged(t, leaveSleepers)
	if r := run(t, spec); r.Stdout.String() != strings.Repeat("up\n", 5) {
		t.Errorf("%+v", r)
	}
	for _, status := range statuses(t) {
		if strings.Contains(status, fmt.Sprintf("\nUid:\t%d", spec.Identity.UID)) && strings.Contains(status, fmt.Sprintf("\nPPid:\t%d\n", os.Getpid())) {
			t.Errorf("still there:\n%.200s", status)
		}
	}
}

// assertNobodyRuns asserts that no process of the user runs. A dead one may still wait
// for process 1 to reap it, which is not always this process.
func assertNobodyRuns(t *testing.T, uid uint32) {
	t.Helper()
	for _, status := range statuses(t) {
		if strings.Contains(status, fmt.Sprintf("\nUid:\t%d", uid)) && !strings.Contains(status, "State:\tZ") {
			t.Errorf("still there:\n%.200s", status)
		}
	}
}

// statuses returns the /proc status of each process.
func statuses(t *testing.T) (all []string) {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/status")
	if err != nil || len(files) == 0 {
		t.Fatalf("%v, %d processes", err, len(files))
	}
	for _, file := range files {
		if status, err := os.ReadFile(file); err == nil { // it may have ended
			all = append(all, string(status))
		}
	}
	return all
}

// TestProcessesEndWhileNothingCanBeOpened tests rule R4 if /proc cannot be read because
// a program has used up all files: this process cannot open any until everything that
// the program started has ended.
func TestProcessesEndWhileNothingCanBeOpened(t *testing.T) {
	if !isRoot(t) {
		return
	}
	alive, inherited, err := os.Pipe() // alive is at its end once inherited is closed in every process
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
	spec := unprivileged(t, "setsid sleep 600 & echo $!; exec cat")
	spec.Stdin, spec.ExtraFiles = stdin, []*os.File{inherited}
	spec.Stdout = writer(func(p []byte) (int, error) {
		_ = inherited.Close()
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
