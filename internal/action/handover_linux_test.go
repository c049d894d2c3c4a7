package action_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// helperDir is where the helper was built, for TestMain to remove.
var helperDir string

// helper builds the program in testdata/handover once.
var helper = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "airlock-handover-")
	if err != nil {
		return "", err
	}
	helperDir = dir
	bin := filepath.Join(dir, "handover")
	if out, err := exec.Command("go", "build", "-o", bin, "./testdata/handover").CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return bin, nil
})

func TestMain(m *testing.M) {
	code := m.Run()
	if helperDir != "" {
		_ = os.RemoveAll(helperDir)
	}
	os.Exit(code)
}

// report is what the helper prints of the secrets that it got, and of its process.
type report struct {
	Secret, Variable, Printed, Orchestration string
	Environ, Args, Further                   []string
	PID                                      int
}

// enter runs the helper and calls look, with its report and process id, while it is still alive.
func enter(t *testing.T, env []string, look func(r report, pid int)) {
	t.Helper()
	bin, err := helper()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), bin, "--flag", "a b", "")
	cmd.Env = env
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	var r report
	if err := json.Unmarshal([]byte(line), &r); err != nil {
		t.Fatalf("%v: %s", err, line)
	}
	look(r, cmd.Process.Pid)
	if err := in.Close(); err != nil {
		t.Error(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}

const secret = "ghs_notARealTokenButShapedLikeOne0000000"

func TestEnterTakesTheTokenOutOfTheProcess(t *testing.T) {
	env := []string{
		"PATH=/usr/bin:/bin", "INPUT_TOKEN=" + secret, "GITHUB_TOKEN=" + secret + "2", "GH_TOKEN=" + secret + "3", "ODD=a=b\nc", "GITHUB_ACTIONS=true",
		"ACTIONS_RUNTIME_TOKEN=runtime-secret", "ACTIONS_ORCHESTRATION_ID=1-2.api.gate.__default", "ACTIONS_ID_TOKEN_REQUEST_TOKEN=oidc-secret", "ACTIONS_ID_TOKEN_REQUEST_URL=https://x", "INPUT_FAIL-ON=error",
		"INPUT_SECRETS=one ghs_\r\n\n  two" + strings.Repeat("2", 40_000) + "\n",
	}
	enter(t, env, func(r report, pid int) {
		if r.Secret != secret || r.Variable != "INPUT_TOKEN" {
			t.Errorf("the token of %q arrived wrongly", r.Variable)
		}
		if len(r.Further) != 2 || r.Further[0] != "one ghs_" || r.Further[1] != "two"+strings.Repeat("2", 40_000) {
			t.Errorf("of the input secrets %d values arrived, the first %.20q", len(r.Further), r.Further)
		}
		if r.Orchestration != "1-2.api.gate.__default" {
			t.Errorf("of the orchestration id %q arrived", r.Orchestration)
		}
		if r.PID != pid {
			t.Errorf("the process was not replaced: %d, then %d", pid, r.PID)
		}
		if diff := cmp.Diff([]string{"--flag", "a b", ""}, r.Args[1:]); diff != "" {
			t.Error(diff)
		}
		want := []string{"GITHUB_ACTIONS=true", "INPUT_FAIL-ON=error", "INPUT_SECRETS=", "INPUT_TOKEN=", "ODD=a=b\nc", "PATH=/usr/bin:/bin"}
		slices.Sort(r.Environ)
		if diff := cmp.Diff(want, r.Environ); diff != "" {
			t.Errorf("the environment (-want +got)\n%s", diff)
		}
		if r.Printed == "" || strings.Contains(r.Printed, secret) || strings.Contains(r.Printed, "ghs_") {
			t.Errorf("Secrets print as %q", r.Printed)
		}
		proc := fmt.Sprintf("/proc/%d/", pid)
		for _, file := range []string{"environ", "cmdline"} {
			data, err := os.ReadFile(proc + file)
			if os.Getuid() != 0 { // not even readable
				if err == nil && file == "environ" {
					t.Errorf("%s can be read by another process of the user", file)
				}
				continue
			}
			if err != nil {
				t.Error(err)
			}
			if s := string(data); strings.Contains(s, "ghs_") || strings.Contains(s, "secret") {
				t.Errorf("/proc/<pid>/%s contains a secret", file)
			}
		}
		// The pipe of the handover is closed, and no other is open.
		for fd := 3; fd < 10; fd++ { // higher ones may come from what started the tests
			if to, _ := os.Readlink(fmt.Sprint(proc, "fd/", fd)); strings.HasPrefix(to, "pipe:") {
				t.Errorf("fd %d is still %s", fd, to)
			}
		}
		assertNotDumpable(t, pid)
	})
}

func TestEnterWithoutAToken(t *testing.T) {
	enter(t, []string{"A=1"}, func(r report, pid int) {
		if r.Secret != "" || r.Variable != "" || !slices.Equal(r.Environ, []string{"A=1"}) {
			t.Errorf("%+v", r)
		}
	})
	enter(t, []string{"ACTIONS_CACHE_URL=x", "GITHUB_TOKEN= "}, func(r report, pid int) {
		if r.Secret != "" || len(r.Environ) != 0 {
			t.Errorf("%+v", r)
		}
	})
}

// TestEnterIgnoresAHandoverItDidNotMake sets the variable of the handover, as an earlier step of
// the job could, and asserts that the token leaves the environment all the same. Without a token,
// the program refuses to go on.
func TestEnterIgnoresAHandoverItDidNotMake(t *testing.T) {
	enter(t, []string{"AIRLOCK_HANDOVER_FD=0", "GITHUB_TOKEN=" + secret}, func(r report, pid int) {
		if r.Secret != secret || len(r.Environ) != 0 {
			t.Errorf("environment %q", r.Environ)
		}
	})
	bin, err := helper()
	if err != nil {
		t.Fatal(err)
	}
	for _, fd := range []string{"0", "1", "99", "x", "-1", ""} {
		cmd := exec.CommandContext(t.Context(), bin)
		cmd.Env = []string{"AIRLOCK_HANDOVER_FD=" + fd}
		out, err := cmd.CombinedOutput()
		if err == nil || !strings.Contains(string(out), "unset it") {
			t.Errorf("%q: %v, %s", fd, err, out)
		}
	}
}

func TestEnterRefusesAnOversizedToken(t *testing.T) {
	bin, err := helper()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), bin)
	cmd.Env = []string{"GITHUB_TOKEN=" + strings.Repeat("x", 61<<10)}
	out, err := cmd.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "too long") || strings.Contains(string(out), "xxx") {
		t.Errorf("%v, %s", err, out)
	}
}

// assertNotDumpable asserts that a process of a user other than root is not dumpable: then its
// files in /proc belong to root.
func assertNotDumpable(t *testing.T, pid int) {
	t.Helper()
	info, err := os.Stat(fmt.Sprintf("/proc/%d/environ", pid))
	if err != nil {
		t.Fatal(err)
	}
	if st := info.Sys().(*syscall.Stat_t); st.Uid != 0 {
		t.Errorf("/proc/<pid>/environ belongs to %d", st.Uid)
	}
}

// TestEnterMakesTheProcessNotDumpable runs the helper as another user if the test runs as root,
// whose processes have files of root in /proc in any case.
func TestEnterMakesTheProcessNotDumpable(t *testing.T) {
	bin, err := helper()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), bin)
	cmd.Env = []string{"GITHUB_TOKEN=" + secret}
	if os.Getuid() == 0 {
		if err := os.Chmod(filepath.Dir(bin), 0o755); err != nil {
			t.Fatal(err)
		}
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65532, Gid: 65532}}
	}
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Error(err)
	}
	assertNotDumpable(t, cmd.Process.Pid)
	if err := in.Close(); err != nil {
		t.Error(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}
