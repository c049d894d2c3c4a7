package command_test

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/agent-airlock/airlock/internal/command"
)

func TestIdentity(t *testing.T) {
	if !isRoot(t) {
		return
	}
	if err := command.Probe(*unusedIdentity()); err != nil {
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
	spec := unprivileged(t, `umask; pwd; env | sort; ulimit -c; cat <&3; echo "$1" >mine; cat /proc/self/status`, "a\xff\nb")
	spec.Env = append(spec.Env, "ODD=\xfe=")
	spec.ExtraFiles = []*os.File{pipe(t, "by the pipe\n")}
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

// TestIdentityErrors tests the errors of the child, and the refusal of identities that may be in
// use. The child is a second run of this program, which becomes the command under the identity.
func TestIdentityErrors(t *testing.T) {
	if !isRoot(t) {
		return
	}
	bin, err := attacker() // which also makes attackerDir
	if err != nil {
		t.Fatal(err)
	}
	closed := t.TempDir() // only root may enter its parent
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
		spec := unprivileged(t, "")
		spec.Dir, spec.Program = c.dir, c.program
		if _, err := command.Run(t.Context(), spec); err == nil || err.Error() != c.want {
			t.Errorf("%s: %v, want %s", c.name, err, c.want)
		}
	}
	for _, id := range []command.Identity{{}, {UID: 0, GID: 9}, {UID: 1<<32 - 1, GID: 9}, {UID: 1<<32 - 2, GID: 9}, {UID: 99}} {
		spec := hostile(t, "wait", "file")
		spec.Identity = &id
		for _, err := range []error{func() error { _, err := command.Run(t.Context(), spec); return err }(), command.Probe(id)} {
			if err == nil || !strings.Contains(err.Error(), "name a user and a group that nobody uses") {
				t.Errorf("%+v: %v", id, err)
			}
		}
	}
	// Without an order nothing runs.
	cmd := exec.Command(bin, "--airlock-child", "3")
	var exit *exec.ExitError
	if err := cmd.Run(); !errors.As(err, &exit) {
		t.Errorf("a second run without an order: %v", err)
	}
}

// TestIdentityMayNotEnterTheProgramsDirectory asserts that the error is fs.ErrPermission, which
// callers distinguish from a fault of Airlock, if root finds a program that the identity may not
// run.
func TestIdentityMayNotEnterTheProgramsDirectory(t *testing.T) {
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
	_, err := command.Run(t.Context(), command.Spec{Program: "tool", Env: []string{"PATH=" + dir + ":/bin"}, Dir: "/", Identity: unusedIdentity(), Timeout: time.Minute})
	if !errors.Is(err, fs.ErrPermission) || !strings.Contains(err.Error(), "cannot start tool: permission denied") {
		t.Errorf("%v", err)
	}
}

// TestOutputByName asserts that a program can open /dev/stdout and /dev/stderr, as scripts do, and
// that giving outputs to an identity has not changed the owner of /dev/null.
func TestOutputByName(t *testing.T) {
	if !isRoot(t) {
		return
	}
	if r := run(t, unprivileged(t, "echo out >/dev/stdout; echo err >/dev/stderr")); !r.OK() || r.Stdout.String() != "out\n" || r.Stderr.String() != "err\n" {
		t.Errorf("exit code %d: %q, %q", r.ExitCode, r.Stdout.String(), r.Stderr.String())
	}
	if info, err := os.Stat(os.DevNull); err != nil || info.Sys().(*syscall.Stat_t).Uid != 0 { // the output of TestIdentity's probe goes there
		t.Errorf("%v: its owner changed", err)
	}
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
		spec.Identity = nil // limits also work without an identity
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
