package main_test

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/agent-airlock/airlock/internal/shorttest"
)

// TestInterruptedWhileReading asserts that one signal ends a command that waits for text on its
// standard input, and that the command says so.
func TestInterruptedWhileReading(t *testing.T) {
	t.Parallel()
	for _, args := range shorttest.First(2, [][]string{{"sanitize"}, {"init"}, {"check", "--input", "-"}, {"verify", "--request", "-"}, {"agents", "add", "-"}, {"runs", "create", "phase-validation", "--parameters", "-", "--store", "s.db"}, {"collect"}, {"validate", "-"}}) {
		for _, signal := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
			if code, said := signalled(t, signal, args); code != 3 || !strings.Contains(said, "interrupted before anything was") || !strings.Contains(said, "run it again") {
				t.Errorf("airlock %v, %v: exit code %d:\n%s", args, signal, code, said)
			}
		}
	}
}

// signalled starts a command, sends it a signal when it waits for more of its standard input, and
// returns how it ended.
func signalled(t *testing.T, signal os.Signal, args []string) (code int, said string) {
	t.Helper()
	dir := t.TempDir()
	git(t, dir, "init", "--quiet")
	cmd := exec.CommandContext(t.Context(), binary, args...)
	cmd.Dir, cmd.Env = dir, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "XDG_STATE_HOME=" + filepath.Join(dir, "state")}
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	var begun []byte
	started := func() {}
	waits := func() {
		for !bytes.Contains(begun, []byte("[triage] ")) { // the first question
			more := make([]byte, 1024)
			n, err := stderr.Read(more)
			if begun = append(begun, more[:n]...); err != nil {
				t.Fatalf("%v: %s", err, begun)
			}
		}
	}
	if args[0] == "init" {
		terminal, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer terminal.Close()
		cmd.Stdin = terminal
	} else {
		in, out, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		defer out.Close()
		started = func() { in.Close() }
		size, err := unix.FcntlInt(out.Fd(), unix.F_SETPIPE_SZ, os.Getpagesize())
		if err != nil {
			t.Fatal(err)
		}
		cmd.Stdin = in
		waits = func() {
			if _, err := out.Write(bytes.Repeat([]byte(" "), size+1)); err != nil { // one more than fits: Write returns once the command reads
				said, _ := io.ReadAll(stderr)
				t.Fatalf("airlock %v does not wait: %v\n%s", args, err, said)
			}
		}
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	started()
	waits()
	if err := cmd.Process.Signal(signal); err != nil {
		t.Fatal(err)
	}
	rest, err := io.ReadAll(stderr)
	if err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	return cmd.ProcessState.ExitCode(), string(begun) + string(rest)
}
