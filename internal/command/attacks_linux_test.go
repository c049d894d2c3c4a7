package command_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// TestAttacksOnThisProcess is rules R3 and R5: a program that runs as an identity
// does not reach its parent. Each attack succeeds as root, so that it is one.
func TestAttacksOnThisProcess(t *testing.T) {
	if !isRoot(t) {
		return
	}
	open, err := syscall.Open("/etc/passwd", syscall.O_RDONLY, 0) // without close-on-exec
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(open)
	victim := exec.Command("sleep", "600") // as root, with a secret in its environment
	if err := victim.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = victim.Process.Kill()
		_ = victim.Wait()
	}()
	pid, parent := strconv.Itoa(victim.Process.Pid), strconv.Itoa(os.Getpid())
	for _, c := range []struct {
		attack  string
		args    []string
		refused string
	}{
		{"read", []string{"/proc/" + parent + "/environ"}, "permission denied"},
		{"read", []string{"/proc/" + pid + "/environ"}, "permission denied"},
		{"read", []string{"/proc/" + pid + "/mem"}, "permission denied"},
		{"signal", []string{parent}, "operation not permitted"},
		{"signal", []string{pid}, "operation not permitted"},
		{"memory", []string{pid}, "operation not permitted"},
		{"limits", []string{pid}, "operation not permitted"},
		{"trace", []string{pid}, "operation not permitted"},
		{"root", nil, "operation not permitted"},
		{"group", nil, "operation not permitted"},
		{"raise", nil, "operation not permitted"},
		{"namespace", nil, "operation not permitted"},
		{"terminal", nil, "no such device or address"},
		{"descriptor", []string{"/etc/passwd"}, "it is not open"},
	} {
		t.Run(c.attack, func(t *testing.T) {
			spec := hostile(t, c.attack, c.args...)
			if r := run(t, spec); r.ExitCode != 7 || !strings.Contains(r.Stdout.String(), c.refused) {
				t.Errorf("exit code %d: %s%s", r.ExitCode, r.Stdout, r.Stderr)
			}
			if c.attack == "terminal" || c.attack == "namespace" || strings.HasSuffix(strings.Join(c.args, ""), "/mem") {
				return // the test has no terminal, nor may it mount or read page 0
			}
			spec.Identity = nil
			if r := run(t, spec); !r.OK() {
				t.Errorf("the attack does nothing as root either: %s%s", r.Stdout, r.Stderr)
			}
		})
	}
}

// TestSetuidProgramGivesNothing runs a program that is root's and setuid.
func TestSetuidProgramGivesNothing(t *testing.T) {
	if !isRoot(t) {
		return
	}
	spec := hostile(t, "root")
	raw, err := os.ReadFile(spec.Program)
	if err != nil {
		t.Fatal(err)
	}
	spec.Program = filepath.Join(spec.Dir, "setuid")
	if err := os.WriteFile(spec.Program, raw, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(spec.Program, 0o755|os.ModeSetuid|os.ModeSetgid); err != nil {
		t.Fatal(err)
	}
	if r := run(t, spec); r.ExitCode != 7 || !strings.Contains(r.Stdout.String(), "operation not permitted") {
		t.Errorf("exit code %d: %s%s", r.ExitCode, r.Stdout, r.Stderr)
	}
}
