package command_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

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

func TestIdentity(t *testing.T) {
	if !isRoot(t) {
		return
	}
	if err := command.Probe(*nobody()); err != nil {
		t.Errorf("probe: %v", err)
	}
	signal.Ignore(syscall.SIGPIPE, syscall.SIGHUP)
	defer signal.Reset(syscall.SIGPIPE, syscall.SIGHUP)
	groups, err := syscall.Getgroups()
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Setgroups([]int{0, 4}); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := syscall.Setgroups(groups); err != nil {
			t.Error(err)
		}
	}()
	spec := hostile(t, "")
	spec.Program, spec.Args = "sh", []string{"-c", `umask; pwd; env | sort; ulimit -c; cat <&3; echo "$1" >mine; cat /proc/self/status`, "sh", "a\xff\nb"}
	spec.Env = append(spec.Env, "ODD=\xfe=")
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	if _, err := write.WriteString("by the pipe\n"); err != nil {
		t.Fatal(err)
	}
	if err := write.Close(); err != nil {
		t.Fatal(err)
	}
	spec.ExtraFiles = []*os.File{read}
	r := run(t, spec)
	uid := strconv.Itoa(int(spec.Identity.UID))
	for _, want := range []string{
		"0022\n" + spec.Dir + "\nODD=\xfe=\n" + path + "\nPWD=" + spec.Dir + "\n0\nby the pipe\n",
		strings.Repeat("\t"+uid, 4) + "\nGid:" + strings.Repeat("\t"+uid, 4), "\nGroups:\t \n", "\nNoNewPrivs:\t1\n",
		"\nCapInh:\t0000000000000000\nCapPrm:\t0000000000000000\nCapEff:\t0000000000000000\nCapBnd:\t0000000000000000\nCapAmb:\t0000000000000000\n",
		"\nSigIgn:\t0000000000000000\n", "\nSigBlk:\t0000000000000000\n",
	} {
		if !strings.Contains(r.Stdout.String(), want) {
			t.Errorf("%q is missing from\n%s%s", want, r.Stdout, r.Stderr)
		}
	}
	if mine, err := os.ReadFile(filepath.Join(spec.Dir, "mine")); err != nil || string(mine) != "a\xff\nb\n" {
		t.Errorf("argument %q, %v", mine, err)
	}
}

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

// TestNothingIsLeftBehind is rule R4. Each program ends at once; what it left keeps
// the output open.
func TestNothingIsLeftBehind(t *testing.T) {
	if !isRoot(t) {
		return
	}
	for _, attack := range []string{"daemon", "headless", "chain", "bomb"} {
		t.Run(attack, func(t *testing.T) {
			spec := hostile(t, attack, "left")
			spec.Limits.Processes = 400
			r := run(t, spec)
			if r.Lingered || r.Duration > 30*time.Second {
				t.Errorf("%+v", r)
			}
			if attack == "bomb" && (r.ExitCode != 7 || !strings.Contains(r.Stdout.String(), "resource temporarily unavailable")) {
				t.Errorf("the bomb was not limited: %s", r.Stdout)
			}
			assertNobodyRuns(t, spec.Identity.UID)
		})
	}
	t.Run("time is over", func(t *testing.T) {
		spec := hostile(t, "wait", "left")
		spec.Timeout, spec.Grace = 200*time.Millisecond, 50*time.Millisecond
		if r := run(t, spec); !r.TimedOut || r.Signal != "killed" {
			t.Errorf("%+v", r)
		}
		assertNobodyRuns(t, spec.Identity.UID)
	})
	t.Run("counted", func(t *testing.T) {
		spec := hostile(t, "")
		spec.Program, spec.Args = "sh", []string{"-c", "setsid sleep 600 & setsid sleep 600 & exit 3"}
		if r := run(t, spec); r.LeftBehind != 2 || r.ExitCode != 3 || r.Signal != "" {
			t.Errorf("%+v", r)
		}
	})
}

// TestTheDeadAreReaped is what process 1 of a container has to do: orphans become its
// children, and stay as zombies until it asks for them.
func TestTheDeadAreReaped(t *testing.T) {
	if !isRoot(t) {
		return
	}
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0); err != nil {
			t.Error(err)
		}
	}()
	spec := hostile(t, "")
	spec.Program, spec.Args = "sh", []string{"-c", "for i in 1 2 3 4 5; do setsid sleep 600 & done; exit 0"}
	if r := run(t, spec); r.LeftBehind != 5 {
		t.Errorf("%+v", r)
	}
	for _, status := range statuses(t) {
		if strings.Contains(status, fmt.Sprintf("\nUid:\t%d", spec.Identity.UID)) && strings.Contains(status, fmt.Sprintf("\nPPid:\t%d\n", os.Getpid())) {
			t.Errorf("still there:\n%.200s", status)
		}
	}
}

// assertNobodyRuns looks for processes of the user. What is dead may wait for
// process 1, which is not always this one.
func assertNobodyRuns(t *testing.T, uid uint32) {
	t.Helper()
	for _, status := range statuses(t) {
		if strings.Contains(status, fmt.Sprintf("\nUid:\t%d", uid)) && !strings.Contains(status, "State:\tZ") {
			t.Errorf("still there:\n%.200s", status)
		}
	}
}

// statuses returns what /proc says of each process.
func statuses(t *testing.T) (all []string) {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/status")
	if err != nil || len(files) == 0 {
		t.Fatalf("%v, %d processes", err, len(files))
	}
	for _, file := range files {
		if status, err := os.ReadFile(file); err == nil { // it may have ended
			all = append(all, string(status))
		}
	}
	return all
}

func TestLimits(t *testing.T) {
	for _, c := range []struct {
		attack  string
		limits  command.Limits
		refused string
	}{
		{"fill", command.Limits{FileSize: 1 << 20}, "file too large"},
		{"allocate", command.Limits{Memory: 512 << 20}, "cannot allocate memory"},
	} {
		spec := hostile(t, c.attack, "file")
		spec.Identity = nil // limits hold without a user of its own as well
		if r := run(t, spec); !r.OK() {
			t.Errorf("%s without a limit: %+v", c.attack, r)
		}
		spec.Limits = c.limits
		if r := run(t, spec); r.ExitCode != 7 || !strings.Contains(r.Stdout.String(), c.refused) {
			t.Errorf("%s: exit code %d: %s%s", c.attack, r.ExitCode, r.Stdout, r.Stderr)
		}
	}
	spec := sh(t, "ulimit -n; ulimit -t; while :; do :; done")
	spec.Limits = command.Limits{OpenFiles: 123, CPU: time.Millisecond}
	if r := run(t, spec); r.Stdout.String() != "123\n1\n" || r.Signal == "" {
		t.Errorf("%+v", r)
	}
}

// TestIdentityErrors are those of the second run.
func TestIdentityErrors(t *testing.T) {
	if !isRoot(t) {
		return
	}
	bin, err := attacker() // which also makes attackerDir
	if err != nil {
		t.Fatal(err)
	}
	closed := t.TempDir() // its parent is root's alone
	if err := os.Chmod(filepath.Dir(closed), 0o700); err != nil {
		t.Fatal(err)
	}
	broken := filepath.Join(attackerDir, "broken")
	if err := os.WriteFile(broken, []byte("#!/no/such/interpreter\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, dir, program, want string
	}{
		{"directory", closed, "sh", "cannot start sh: entering " + closed + ": permission denied"},
		{"program", "/", broken, "cannot start " + broken + ": no such file or directory"},
	} {
		spec := hostile(t, "")
		spec.Dir, spec.Program = c.dir, c.program
		if _, err := command.Run(t.Context(), spec); err == nil || err.Error() != c.want {
			t.Errorf("%s: %v, want %s", c.name, err, c.want)
		}
	}
	for _, id := range []command.Identity{{}, {UID: 0, GID: 9}, {UID: 1<<32 - 1, GID: 9}, {UID: 1<<32 - 2, GID: 9}, {UID: 99}} {
		spec := hostile(t, "wait", "file")
		spec.Identity = &id
		for _, err := range []error{func() error { _, err := command.Run(t.Context(), spec); return err }(), command.Probe(id)} {
			if err == nil || !strings.Contains(err.Error(), "name a user and a group that nobody is") {
				t.Errorf("%+v: %v", id, err)
			}
		}
	}
	// A program that does not begin with EnterChild must not run as something else.
	cmd := exec.Command(bin, "--airlock-child", "3")
	var exit *exec.ExitError
	if err := cmd.Run(); !errors.As(err, &exit) {
		t.Errorf("a program without EnterChild: %v", err)
	}
}

// TestIdentityMayNotEnterTheProgramsFolder: root finds the program, and the identity
// cannot run it. Callers tell that from a fault of ours.
func TestIdentityMayNotEnterTheProgramsFolder(t *testing.T) {
	if !isRoot(t) {
		return
	}
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	tool := filepath.Join(dir, "tool")
	if err := os.WriteFile(tool, []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	_, err := command.Run(t.Context(), command.Spec{Program: "tool", Env: []string{"PATH=" + dir + ":/bin"}, Dir: "/", Identity: nobody(), Timeout: time.Minute})
	if !errors.Is(err, fs.ErrPermission) || !strings.Contains(err.Error(), "cannot start tool: permission denied") {
		t.Errorf("%v", err)
	}
}
