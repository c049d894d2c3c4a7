package main_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// TestNothingActsOnATerminal asserts that control characters of other people's texts are escaped in
// JSON that goes to a terminal, and only in such JSON.
func TestNothingActsOnATerminal(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, map[string]string{"agent.json": `{"name": "odd", "type": "agent", "command": ["x"], "description": "\u001b[31m \u009b31m \u202e back"}`})
	if res := run(t, dir, nil, "", "agents", "add", "agent.json", "--store", "s.db"); res.code != 0 || !strings.Contains(res.stdout, "\u009b31m \u202e back") {
		t.Fatalf("%d: %q %s", res.code, res.stdout, res.stderr)
	}
	screen, program := openTerminal(t)
	cmd := exec.CommandContext(t.Context(), binary, "agents", "show", "odd", "--store", "s.db")
	cmd.Dir, cmd.Env, cmd.Stdout = dir, []string{"PATH=" + os.Getenv("PATH")}, program
	err := cmd.Run()
	program.Close()
	var shown bytes.Buffer
	_, _ = shown.ReadFrom(screen) // which ends with an error
	if err != nil || !strings.Contains(shown.String(), `\u001b[31m \u009b31m \u202e back`) {
		t.Errorf("%v: %q", err, shown.String())
	}
}

// openTerminal returns both ends of a new terminal.
func openTerminal(t *testing.T) (screen, program *os.File) {
	t.Helper()
	screen, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { screen.Close() })
	if err := unix.IoctlSetPointerInt(int(screen.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(int(screen.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	program, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	return screen, program
}
