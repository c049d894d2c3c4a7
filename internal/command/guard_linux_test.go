package command_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/agent-airlock/airlock/internal/command"
)

// TestGuardOutlivesItsParent kills a process that has a program with an identity and a
// guard: this test itself, run a second time. Another guard was dismissed before.
func TestGuardOutlivesItsParent(t *testing.T) {
	if !isRoot(t) {
		return
	}
	if dir := os.Getenv("AIRLOCK_TEST_GUARDED"); dir != "" {
		hold, err := os.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		for i := range 2 {
			release, err := command.Guard(*unusedIdentity(), hold)
			if err != nil {
				t.Fatal(err)
			}
			if i == 0 {
				release()
			}
		}
		spec := sh(t, fleeing+`touch ready; sleep 600`)
		spec.Identity, spec.Dir = unusedIdentity(), dir
		_, _ = command.Run(t.Context(), spec)
		return
	}
	dir := t.TempDir()
	for _, d := range []string{filepath.Dir(dir), dir} {
		if err := os.Chmod(d, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	killParent(t, dir, "AIRLOCK_TEST_GUARDED")
	assertGone(t, dir)
}

// killParent runs this test a second time, with the directory in an environment variable, and kills that
// process when its program has made the file "ready" there.
func killParent(t *testing.T, dir, variable string) {
	t.Helper()
	parent := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
	parent.Env = append(os.Environ(), variable+"="+dir, "TMPDIR="+t.TempDir()) // a killed process removes nothing
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = parent.Process.Kill() }()
	waitUntil(t, func() bool {
		_, err := os.Stat(filepath.Join(dir, "ready"))
		return err == nil
	}, "its program has started")
	if err := parent.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = parent.Wait()
}
