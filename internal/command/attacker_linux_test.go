package command_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/agent-airlock/airlock/internal/command"
)

// attackerDir is where the attacker was built, for TestMain to remove.
var attackerDir string

func TestMain(m *testing.M) {
	command.EnterChild(os.Args)
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

// nobody is an identity of this test process alone: what it ends is its own.
func nobody() *command.Identity {
	id := uint32(1<<20 + 2*os.Getpid())
	return &command.Identity{UID: id, GID: id}
}

// hostile is a run of an attack by nobody, in a directory that nobody owns.
func hostile(t *testing.T, attack string, args ...string) command.Spec {
	t.Helper()
	bin, err := attacker()
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "airlock-identity-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	spec := command.Spec{Program: bin, Args: append([]string{attack}, args...), Env: []string{path}, Dir: dir, Identity: nobody(), Timeout: time.Minute}
	if err := os.Chown(dir, int(spec.Identity.UID), int(spec.Identity.GID)); err != nil && os.Getuid() == 0 {
		t.Fatal(err)
	}
	return spec
}

// isRoot reports whether the identity can be taken on. Where it cannot, it asserts
// that this is said.
func isRoot(t *testing.T) bool {
	t.Helper()
	if os.Getuid() == 0 {
		return true
	}
	if _, err := command.Run(t.Context(), hostile(t, "root")); err == nil || !strings.Contains(err.Error(), "needs root") {
		t.Errorf("without root: %v", err)
	}
	if err := command.Probe(*nobody()); err == nil || !strings.Contains(err.Error(), "needs root") {
		t.Errorf("probe without root: %v", err)
	}
	return false
}
