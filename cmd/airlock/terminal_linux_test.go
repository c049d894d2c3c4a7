package main_test

import (
	"fmt"
	"io"
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
	cmd := exec.CommandContext(t.Context(), binary, "agents", "show", "odd", "--store", "s.db")
	cmd.Dir, cmd.Env = dir, []string{"PATH=" + os.Getenv("PATH")}
	if shown := onTerminal(t, cmd, &cmd.Stdout); !strings.Contains(shown, `\u001b[31m \u009b31m \u202e back`) {
		t.Errorf("%q", shown)
	}
}

// TestColoursOnATerminal asserts that apply shows colours, but not on a terminal that has none.
func TestColoursOnATerminal(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, map[string]string{"lines.ndjson": `{"type":"noop","message":"done"}`, "policy.yml": "noop:\n"})
	for name, colours := range map[string]bool{"xterm": true, "dumb": false} {
		cmd := exec.CommandContext(t.Context(), binary, "apply", "--dry-run", "--input", "lines.ndjson", "--config", "policy.yml")
		cmd.Dir, cmd.Env = dir, append(offline(), "PATH="+os.Getenv("PATH"), "TERM="+name)
		if shown := onTerminal(t, cmd, &cmd.Stderr); strings.Contains(shown, "\x1b[") != colours || !strings.Contains(shown, "noop") {
			t.Errorf("%s: %q", name, shown)
		}
	}
}

// onTerminal runs a command with one of its streams on a new terminal, and returns what that shows.
func onTerminal(t *testing.T, cmd *exec.Cmd, stream *io.Writer) string {
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
	program, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	*stream = program
	err = cmd.Run()
	program.Close()
	shown, _ := io.ReadAll(screen) // which ends with an error
	if err != nil {
		t.Errorf("%v: %q", err, shown)
	}
	return string(shown)
}
