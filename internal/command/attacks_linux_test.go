package command_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/agent-airlock/airlock/internal/command"
	"github.com/agent-airlock/airlock/internal/shorttest"
)

// TestAttacksOnThisProcess tests rules R3 and R5 of docs/security.md: a program that runs as an
// identity cannot reach its parent or a process of root's. As root each attack must succeed where
// the test can try it, which proves that it is one.
func TestAttacksOnThisProcess(t *testing.T) {
	if !isRoot(t) {
		return
	}
	open, err := syscall.Open("/etc/passwd", syscall.O_RDONLY, 0) // without close-on-exec
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(open)
	victim := exec.Command("sleep", "600") // as root, with the environment of this process
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

// TestSetuidProgramGivesNothing asserts that a setuid program of root's cannot become root.
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

// attackerDir is the directory of the built attacker, which TestMain removes.
var attackerDir string

func TestMain(m *testing.M) {
	shorttest.LeaveOut( // these build a program, or reach limits
		"TestAttacksOnThisProcess", "TestSetuidProgramGivesNothing", "TestLimits", "TestSupervisorEndsWhatFled", "TestNothingIsLeftBehind",
	)
	code := m.Run()
	if attackerDir != "" {
		_ = os.RemoveAll(attackerDir)
	}
	os.Exit(code)
}

// attacker builds the program in testdata/attacker once, where everybody may run it.
var attacker = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "airlock-attacker-")
	if err != nil {
		return "", err
	}
	attackerDir = dir
	bin := filepath.Join(dir, "attacker")
	if out, err := exec.Command("go", "build", "-o", bin, "./testdata/attacker").CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return bin, os.Chmod(dir, 0o755)
})

// unusedIdentity returns an identity that only this test process uses, so that ending the
// identity's processes ends nothing else.
func unusedIdentity() *command.Identity {
	id := uint32(1<<20 + 2*os.Getpid())
	return &command.Identity{UID: id, GID: id}
}

// hostile returns the Spec of an attack that an unused identity runs in a directory of its own. If it is
// refused, the attacker prints why, and ends with exit code 7.
func hostile(t *testing.T, attack string, args ...string) command.Spec {
	t.Helper()
	bin, err := attacker()
	if err != nil {
		t.Fatal(err)
	}
	spec := unprivileged(t, "")
	spec.Program, spec.Args = bin, append([]string{attack}, args...)
	return spec
}

// unprivileged returns the Spec of a shell script that an unused identity runs in a directory of its own.
// Its arguments are $1 and so on.
func unprivileged(t *testing.T, script string, args ...string) command.Spec {
	t.Helper()
	dir, err := os.MkdirTemp("", "airlock-identity-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	spec := command.Spec{Program: "sh", Args: append([]string{"-c", script, "sh"}, args...), Env: []string{path}, Dir: dir, Identity: unusedIdentity(), Timeout: time.Minute}
	if err := os.Chown(dir, int(spec.Identity.UID), int(spec.Identity.GID)); err != nil && os.Getuid() == 0 {
		t.Fatal(err)
	}
	return spec
}

// isRoot reports whether this process can assume another identity. If it cannot, isRoot asserts
// that Run and Probe report that.
func isRoot(t *testing.T) bool {
	t.Helper()
	if os.Getuid() == 0 {
		return true
	}
	if _, err := command.Run(t.Context(), hostile(t, "root")); err == nil || !strings.Contains(err.Error(), "needs root") {
		t.Errorf("without root: %v", err)
	}
	if err := command.Probe(*unusedIdentity()); err == nil || !strings.Contains(err.Error(), "needs root") {
		t.Errorf("probe without root: %v", err)
	}
	return false
}
