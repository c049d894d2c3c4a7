//go:build postgres && linux

package main_test

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/store/storetest"
)

// TestALoopSaysThatItWaitsForItsDatabase stops the database of a loop that waits for a fix, starts
// it again, and stops it again. The loop says that it waits for the database, goes on, and can be
// ended.
func TestALoopSaysThatItWaitsForItsDatabase(t *testing.T) {
	t.Parallel()
	server, err := storetest.StartPostgres("fsync=off")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Stop)
	location, err := server.NewDatabase(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	p := newLoopPlace(t)
	cmd := exec.Command(binary, "loop", "start", "--issue", "7", "--config", filepath.Join(p.base, "checks.yml"), "--store", location)
	cmd.Dir, cmd.Env = p.dir, p.env
	stderr, err := cmd.StderrPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	lines := bufio.NewScanner(stderr)
	var said strings.Builder
	await := func(words string) {
		t.Helper()
		for lines.Scan() {
			said.WriteString(lines.Text() + "\n")
			if strings.Contains(lines.Text(), words) {
				return
			}
		}
		t.Fatalf("it does not say %q:\n%s", words, said.String())
	}
	await("FIXREQ-7-1")
	server.Kill()
	await("airlock: the loop waits: the store postgres://")
	if s := said.String(); !strings.Contains(s, "does not answer") || !strings.Contains(s, "Ctrl-C ends the waiting") {
		t.Errorf("it says\n%s", s)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	await("airlock: the store answers again: the loop goes on")
	server.Kill()
	await("airlock: the loop waits: ")
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	await("interrupted; the loop stays open, and 'airlock loop start --issue 7' goes on")
	for lines.Scan() {
		said.WriteString(lines.Text() + "\n")
	}
	if _ = cmd.Wait(); cmd.ProcessState.ExitCode() != 3 {
		t.Errorf("exit code %d\n%s", cmd.ProcessState.ExitCode(), said.String())
	}
}
