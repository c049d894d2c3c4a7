package action

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// TestCoreFilesThatAreCollected asserts that the memory of a process is closed to others if its limit
// does not keep it from a program that collects core files.
func TestCoreFilesThatAreCollected(t *testing.T) {
	if file := os.Getenv("CORE_TEST_PATTERN"); file != "" {
		reportCore(file)
		return
	}
	dir, err := os.MkdirTemp("", "airlock-core-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	var attr *syscall.SysProcAttr
	if os.Getuid() == 0 { // who may raise the limit
		attr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65532, Gid: 65532}}
	}
	for _, c := range []struct {
		pattern string // of core files; "" if it cannot be read
		hard    string // the limit before
		want    string // the limit after, and whether the process is dumpable
	}{
		{"core\n", "unlimited", "1 1"}, {"core\n", "0", "0 1"}, {"/tmp/core.%p\n", "0", "0 1"},
		{"|/usr/share/apport/apport %p\n", "unlimited", "1 1"}, {"|/usr/share/apport/apport %p\n", "1", "1 1"}, {"|/usr/share/apport/apport %p\n", "0", "0 0"},
		{"@/run/core.socket\n", "unlimited", "1 0"}, {"@@/run/core.socket\n", "0", "0 0"},
		{"", "unlimited", "1 1"}, {"", "0", "0 0"},
	} {
		file := filepath.Join(dir, fmt.Sprintf("%x", c.pattern))
		if c.pattern != "" {
			if err := os.WriteFile(file, []byte(c.pattern), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		cmd := exec.CommandContext(t.Context(), "/proc/self/exe", "-test.run=^TestCoreFilesThatAreCollected$")
		cmd.Env = []string{"CORE_TEST_PATTERN=" + file, "CORE_TEST_HARD=" + c.hard, "TMPDIR=" + dir}
		cmd.Dir, cmd.SysProcAttr = "/", attr
		out, err := cmd.CombinedOutput()
		if got, _, _ := strings.Cut(string(out), "\n"); err != nil || got != c.want {
			t.Errorf("hard limit %s, %q: %v, %s, want %s", c.hard, c.pattern, err, out, c.want)
		}
	}
}

// reportCore prints the limit and whether the process is dumpable after noCoreFiles.
func reportCore(patternFile string) {
	if hard := os.Getenv("CORE_TEST_HARD"); hard != "unlimited" {
		if err := limitCore(uint64(hard[0] - '0')); err != nil {
			fmt.Println(err)
			return
		}
	}
	var limit unix.Rlimit
	err := noCoreFiles(patternFile)
	if err == nil {
		err = unix.Getrlimit(unix.RLIMIT_CORE, &limit)
	}
	dumpable, _ := unix.PrctlRetInt(unix.PR_GET_DUMPABLE, 0, 0, 0, 0)
	if err != nil || limit.Cur != limit.Max {
		fmt.Println(err, limit)
		return
	}
	fmt.Println(limit.Max, dumpable)
}
