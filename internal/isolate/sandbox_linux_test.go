package isolate_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/agent-airlock/airlock/internal/command"
	"github.com/agent-airlock/airlock/internal/isolate"
	"github.com/agent-airlock/airlock/internal/shorttest"
)

func TestMain(m *testing.M) {
	shorttest.LeaveOut( // each opens several sandboxes, runs many programs, or makes hundreds of files or directories
		"TestAttacksOnAnotherWorkersProgram", "TestAttacksFromAWorker", "TestCopiedIsCalled", "TestStrangersFilesStayStrangers",
		"TestFilesOfWorkers", "TestDeepDirectoriesAreRemoved", "TestDeepScratchIsRemoved", "TestSplitRefusals", "TestSandboxesSideBySide",
	)
	shorttest.TempInMemory()
	os.Exit(m.Run())
}

const secret = "ghs_notARealTokenButShapedLikeOne0000000"

// runner is what a hosted runner gives a container action: everything belongs to
// one user, everybody may read it, and some of it everybody may write.
type runner struct {
	base, workspace, temp string
	env                   []string
	identity              command.Identity
}

// runners counts the runners of this process.
var runners atomic.Uint32

func newRunner(t *testing.T) runner {
	t.Helper()
	base := t.TempDir()
	if err := os.Chmod(filepath.Dir(base), 0o755); err != nil { // as a container's root directory
		t.Fatal(err)
	}
	r := runner{base: base, workspace: filepath.Join(base, "workspace"), temp: filepath.Join(base, "temp")}
	// A user of this test alone, so that only its own processes are ended. The next id is the guard's.
	id := 1<<24 + 2*(uint32(os.Getpid())<<6+runners.Add(1)%64)
	r.identity = command.Identity{UID: id, GID: id}
	for path, text := range map[string]string{
		"workspace/main.go": "package main\n", "workspace/.git/config": "extraheader = " + secret, "workspace/sub/.git/config": secret, "workspace/gha-creds-1.json": secret,
		"temp/event.json": "{}", "temp/set_env_1": "", "temp/set_output_1": "", "temp/credentials": secret, "home/.netrc": secret, "workspace/sub/run.sh": "echo ran\n",
	} {
		path = filepath.Join(base, path)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, []byte(text), 0o666), os.Chmod(path, 0o666)); err != nil {
			t.Fatal(err)
		}
	}
	for _, dir := range []string{"workspace", "temp", "home"} {
		if err := os.Chmod(filepath.Join(base, dir), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	socket, err := net.Listen("unix", filepath.Join(base, "engine"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = socket.Close() })
	if err := os.Chmod(filepath.Join(base, "engine"), 0o666); err != nil {
		t.Fatal(err)
	}
	r.env = []string{"PATH=/usr/local/bin:/usr/bin:/bin", "GITHUB_TOKEN=" + secret, "GITHUB_ENV=" + r.temp + "/set_env_1"}
	return r
}

func (r runner) config() isolate.Config {
	id := r.identity
	return isolate.Config{
		Workspace: r.workspace, Credential: true, Environ: r.env, Identity: &id,
		Closed: []string{r.temp, filepath.Join(r.temp, "set_env_1"), filepath.Join(r.base, "home"), filepath.Join(r.base, "engine"), filepath.Join(r.base, "none")},
	}
}

// open opens a sandbox. Without root it asserts that this is refused, and returns nil.
func open(t *testing.T, cfg isolate.Config) *isolate.Sandbox {
	t.Helper()
	sandbox, err := isolate.Open(t.Context(), cfg)
	if os.Getuid() != 0 {
		var refused *isolate.RefusedError
		if !errors.As(err, &refused) || !strings.Contains(err.Error(), "only root") || sandbox != nil {
			t.Errorf("without root, where there is a token: %v", err)
		}
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	return sandbox
}

// permissions returns the permissions of a file.
func permissions(t *testing.T, path string) fs.FileMode {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Mode().Perm()
}

func sh(script string, args ...string) command.Spec {
	return command.Spec{Program: "sh", Args: append([]string{"-c", script, "sh"}, args...), Timeout: time.Minute}
}

// attack is a script that succeeds where nothing is isolated, and must fail in a sandbox.
// Its first argument is the runner's base directory.
type attack struct{ name, script string }

func attacks() []attack {
	return []attack{
		{"environment of the parent", `tr '\0' '\n' </proc/$PPID/environ`},
		{"memory of the parent", `head -c 1 </proc/$PPID/maps && ls /proc/$PPID/fd`},
		{"signal to the parent", `kill -0 $PPID`},
		{"write GITHUB_ENV", `echo EVIL=1 >>$1/temp/set_env_1`},
		{"write GITHUB_OUTPUT", `echo evil=1 >>$1/temp/set_output_1`},
		{"read the event", `cat $1/temp/event.json`},
		{"write the event", `echo '{}' >$1/temp/event.json`},
		{"read checkout's credentials", `cat $1/temp/credentials`},
		{"read git's credentials", `cat $1/workspace/.git/config`},
		{"read git's credentials in the copy", `cat .git/config || cat sub/.git/config || cat gha-creds-1.json`},
		{"plant a hook", `mkdir -p $1/workspace/.git/hooks && echo evil >$1/workspace/.git/hooks/pre-commit`},
		{"change the workspace", `echo evil >$1/workspace/main.go`},
		{"add to the workspace", `echo evil >$1/workspace/evil.go`},
		{"read the home directory", `cat $1/home/.netrc`},
		{"write the home directory", `echo evil >$1/home/.bashrc`},
		{"rename the workspace", `mv $1/workspace $1/evil`},
		{"follow a link to the workspace", `ln -s $1/workspace out && cat out/main.go`},
		{"link a runner's file into the copy", `ln $1/temp/set_env_1 hard && echo EVIL=1 >>hard`},
		{"open the engine's socket", `test -w $1/engine`},
		{"open the closed directories", `chmod o+rwx $1/temp`},
		{"write above the copy", `echo evil >../evil`},
		{"a secret in the environment", `env | grep -e TOKEN -e ghs_ -e GITHUB`},
	}
}

// TestAttacks asserts rule R3 of docs/security.md.
func TestAttacks(t *testing.T) {
	t.Parallel()
	r := newRunner(t)
	sandbox := open(t, r.config())
	if sandbox == nil {
		return
	}
	for _, c := range attacks() {
		t.Run(c.name, func(t *testing.T) {
			res, err := sandbox.Run(t.Context(), sh(c.script, r.base))
			if err != nil || res.ExitCode <= 0 || strings.Contains(res.Stdout.String(), "ghs_") {
				t.Errorf("%v: exit code %d: %s%s", err, res.ExitCode, res.Stdout, res.Stderr)
			}
		})
	}
	res, err := sandbox.Run(t.Context(), sh(`cat main.go && sh sub/run.sh && echo mine >>main.go && echo $HOME >$HOME/f && echo >$TMPDIR/f && echo $CI`))
	if err != nil || res.Stdout.String() != "package main\nran\ntrue\n" {
		t.Errorf("ordinary work: %v, %s%s", err, res.Stdout, res.Stderr)
	}
	if err := sandbox.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Dir(sandbox.Dir())); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the copy is still there: %v", err)
	}
	for path, mode := range map[string]os.FileMode{"workspace": 0o777, "temp": 0o777, "home": 0o777, "engine": 0o666, "temp/set_env_1": 0o666} {
		if got := permissions(t, filepath.Join(r.base, path)); got != mode {
			t.Errorf("%s has not got its rights back: %v, want %v", path, got, mode)
		}
	}
	for path, want := range map[string]string{"workspace/main.go": "package main\n", "temp/set_env_1": "", "temp/set_output_1": "", "temp/event.json": "{}"} {
		if got, err := os.ReadFile(filepath.Join(r.base, path)); err != nil || string(got) != want {
			t.Errorf("%s was changed to %q, %v", path, got, err)
		}
	}
	for _, c := range []string{`cat $1/temp/credentials`, `cat $1/workspace/.git/config`, `echo EVIL=1 >>$1/temp/set_env_1`, `test -w $1/engine`, `echo evil >$1/home/.bashrc`} {
		spec := sh(c, r.base)
		spec.Identity, spec.Dir, spec.Env = r.config().Identity, "/", r.env
		if res, err := command.Run(t.Context(), spec); err != nil || !res.OK() {
			t.Errorf("the attack %s fails in any case: %v, %s", c, err, res.Stderr)
		}
	}
}

// TestRightsGoBackToWhatWasClosed asserts that a closed file gets its rights back, also if a
// program has renamed it. A file that the program put in its place keeps its own rights.
func TestRightsGoBackToWhatWasClosed(t *testing.T) {
	t.Parallel()
	r := newRunner(t)
	sandbox := open(t, r.config())
	if sandbox == nil {
		return
	}
	private := filepath.Join(t.TempDir(), "private")
	if err := errors.Join(os.Mkdir(private, 0o700), os.Chmod(r.base, 0o777)); err != nil { // without the sticky bit
		t.Fatal(err)
	}
	mustRun(t, sandbox.Run, sh(`mv $1/workspace $1/moved && ln -s $2 $1/workspace && mv $1/engine $1/moved-engine && mkfifo -m 600 $1/engine`, r.base, private))
	if err := sandbox.Close(); err != nil {
		t.Error(err)
	}
	for path, mode := range map[string]os.FileMode{private: 0o700, r.base + "/moved": 0o777, r.base + "/moved-engine": 0o666, r.base + "/engine": 0o600} {
		if got := permissions(t, path); got != mode {
			t.Errorf("%s: %v, want %v", path, got, mode)
		}
	}
}

// TestLateWrites asserts that a result is final once it is read: a process that was
// forked twice, into a session of its own, writes until its program has ended and
// not a byte longer.
func TestLateWrites(t *testing.T) {
	t.Parallel()
	r := newRunner(t)
	sandbox := open(t, r.config())
	if sandbox == nil {
		return
	}
	defer sandbox.Close()
	res, err := sandbox.Run(t.Context(), sh(`(setsid sh -c 'trap "" TERM HUP INT; while :; do echo x >>late; done' &) ; until [ -s late ]; do :; done`))
	if err != nil || !res.OK() {
		t.Fatalf("%v, %+v", err, res)
	}
	late := filepath.Join(sandbox.Dir(), "late")
	before, err := os.Stat(late)
	if err != nil {
		t.Fatal(err)
	}
	if res, err := sandbox.Run(t.Context(), sh(`i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done`)); err != nil || !res.OK() {
		t.Fatalf("%v, %+v", err, res)
	}
	if after, err := os.Stat(late); err != nil || after.Size() != before.Size() {
		t.Errorf("%v: it grew from %d bytes", err, before.Size())
	}
}

func TestLimitsOfTheSandbox(t *testing.T) {
	t.Parallel()
	r := newRunner(t)
	cfg := r.config()
	cfg.Limits, cfg.Disk = command.Limits{FileSize: 1 << 20}, 64<<20
	sandbox := open(t, cfg)
	if sandbox == nil {
		return
	}
	defer sandbox.Close()
	res, err := sandbox.Run(t.Context(), sh(`head -c 3000000 /dev/zero >big`))
	if info, statErr := os.Stat(filepath.Join(sandbox.Dir(), "big")); err != nil || res.OK() || statErr != nil || info.Size() != 1<<20 {
		t.Errorf("a large file: %v, %+v", err, res)
	}
	_, err = sandbox.Run(t.Context(), sh(`i=0; while :; do i=$((i+1)); head -c 1000000 /dev/zero >f$i; done`))
	if err == nil || !strings.Contains(err.Error(), "more than 64 MiB of disk") {
		t.Errorf("many files: %v", err)
	}
}

func TestEnvironment(t *testing.T) {
	t.Parallel()
	r := newRunner(t)
	cfg := r.config()
	cfg.Environ = []string{
		"PATH=node_modules/.bin::/usr/bin:.:/bin", "LANG=C.UTF-8", "HOME=/root", "CI=", "GOPROXY=https://user:pass@proxy.test,direct", "GOFLAGS=-mod=mod", "NPM_TOKEN=x",
		"PIP_INDEX_URL=https://pypi.test/simple", "NODE_ENV=ghs_q3Zt8LwX1vRb6NcYpK0sDf7HjM2aGe9uTiQo", "OTHER=1", "LD_PRELOAD=/x", "EXTRA=1", "GITHUB_TOKEN=" + secret,
	}
	cfg.Pass = append(isolate.DefaultPass(), "NPM_TOKEN", "EXTRA", "HOME")
	sandbox := open(t, cfg)
	if sandbox == nil {
		return
	}
	defer sandbox.Close()
	spec := sh("env")
	spec.Env = []string{"ADDED=1"}
	res, err := sandbox.Run(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Fields(strings.ReplaceAll(res.Stdout.String(), filepath.Dir(sandbox.Dir()), "SANDBOX"))
	slices.Sort(got)
	want := []string{"ADDED=1", "CI=true", "EXTRA=1", "GOFLAGS=-mod=mod", "HOME=SANDBOX/home", "LANG=C.UTF-8", "LC_MESSAGES=C", "PATH=/usr/bin:/bin", "PIP_INDEX_URL=https://pypi.test/simple", "PWD=SANDBOX/workspace", "TMPDIR=SANDBOX/tmp"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the environment (-want +got)\n%s", diff)
	}
	if notes := fmt.Sprint(sandbox.Notes()); !strings.Contains(notes, "{GOPROXY its value looks like a secret} {NPM_TOKEN its name is that of a secret} {NODE_ENV its value") || strings.Contains(notes, "ghs_") {
		t.Errorf("notes: %s", notes)
	}
}

// TestRefusals asserts why a sandbox cannot be set up, and that nothing stays closed then.
func TestRefusals(t *testing.T) {
	t.Parallel()
	for _, c := range shorttest.First(4, []struct {
		name    string
		change  func(*isolate.Config, runner) error
		refused bool // the error is a RefusedError
		want    string
	}{
		{"owner's id", func(cfg *isolate.Config, r runner) error { return os.Chown(r.temp, int(cfg.Identity.UID), 0) }, true, "belongs to the user or group"},
		{"owner's group", func(cfg *isolate.Config, r runner) error { return os.Chown(r.workspace, 1001, int(cfg.Identity.GID)) }, true, "belongs to the user or group"},
		{"root's id", func(cfg *isolate.Config, _ runner) error { cfg.Identity.UID = 0; return nil }, true, "name a user and a group that nobody uses"},
		{"programs that others may replace", func(cfg *isolate.Config, r runner) error {
			cfg.Environ = append(cfg.Environ, "PATH=/usr/bin:"+filepath.Join(r.base, "tools/bin"))
			return errors.Join(os.MkdirAll(filepath.Join(r.base, "tools/bin"), 0o755), os.Chmod(filepath.Join(r.base, "tools/bin"), 0o777))
		}, true, "every user may replace the programs in "},
		{"the runner's tools", func(cfg *isolate.Config, r runner) error {
			cfg.Environ = append(cfg.Environ, "RUNNER_TOOL_CACHE="+filepath.Join(r.base, "tools/cache"))
			return errors.Join(os.MkdirAll(filepath.Join(r.base, "tools/cache"), 0o755), os.Chmod(filepath.Join(r.base, "tools"), 0o777))
		}, true, "tools, which later steps would run"},
		{"scratch in the workspace", func(cfg *isolate.Config, r runner) error { cfg.TempDir = r.workspace; return nil }, false, "set TMPDIR to a directory outside of it"},
		{"scratch that is closed", func(cfg *isolate.Config, r runner) error {
			cfg.TempDir = filepath.Join(r.base, "scratch")
			return os.Mkdir(cfg.TempDir, 0o700)
		}, false, "set TMPDIR to a directory that they may"},
		{"too many files", func(cfg *isolate.Config, _ runner) error { cfg.Copy.Entries = 2; return nil }, false, "more than 2 files"},
		{"too large", func(cfg *isolate.Config, _ runner) error { cfg.Copy.Bytes = 10; return nil }, false, "more than 10 bytes"},
		{"too deep", func(_ *isolate.Config, r runner) error {
			return os.MkdirAll(filepath.Join(r.workspace, strings.Repeat("d/", 250)), 0o755)
		}, false, "deeper than 200"},
		{"no workspace", func(cfg *isolate.Config, r runner) error { cfg.Workspace = filepath.Join(r.base, "none"); return nil }, false, "no such file"},
		{"a linked workspace", func(cfg *isolate.Config, r runner) error {
			cfg.Workspace = filepath.Join(r.base, "link")
			return os.Symlink(r.workspace, cfg.Workspace)
		}, false, "not a directory"},
	}) {
		t.Run(c.name, func(t *testing.T) {
			r := newRunner(t)
			cfg := r.config()
			if os.Getuid() != 0 {
				open(t, cfg)
				return
			}
			if err := c.change(&cfg, r); err != nil {
				t.Fatal(err)
			}
			_, err := isolate.Open(t.Context(), cfg)
			var refused *isolate.RefusedError
			if err == nil || !strings.Contains(err.Error(), c.want) || errors.As(err, &refused) != c.refused {
				t.Errorf("%v, want %q", err, c.want)
			}
			if got := permissions(t, r.temp); got != 0o777 {
				t.Errorf("%s stays closed: %v", r.temp, got)
			}
		})
	}
	t.Run("used by another", func(t *testing.T) {
		r := newRunner(t)
		sandbox := open(t, r.config())
		if sandbox == nil {
			return
		}
		defer sandbox.Close()
		if _, err := isolate.Open(t.Context(), r.config()); err == nil || !strings.Contains(err.Error(), "another Airlock uses the user id") {
			t.Error(err)
		}
	})
	t.Run("processes that run already", func(t *testing.T) {
		r := newRunner(t)
		cfg := r.config()
		if os.Getuid() != 0 {
			open(t, cfg)
			return
		}
		spec := sh("echo started; sleep 600")
		spec.Identity, spec.Dir, spec.Env = cfg.Identity, "/", r.env
		started := make(chan struct{})
		spec.Stdout = writer(func(p []byte) (int, error) { close(started); return len(p), nil })
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { defer close(ended); _, _ = command.Run(ctx, spec) }()
		<-started
		if _, err := isolate.Open(t.Context(), cfg); err == nil || !strings.Contains(err.Error(), "already") {
			t.Error(err)
		}
		cancel()
		<-ended
	})
}

type writer func([]byte) (int, error)

func (w writer) Write(p []byte) (int, error) { return w(p) }

// TestSandboxesSideBySide asserts that two sandboxes at the same time have users of their
// own.
func TestSandboxesSideBySide(t *testing.T) {
	t.Parallel()
	r := newRunner(t)
	var users []string
	for range 2 {
		cfg := r.config()
		cfg.Identity = nil
		sandbox := open(t, cfg)
		if sandbox == nil {
			return
		}
		defer sandbox.Close()
		res, err := sandbox.Run(t.Context(), command.Spec{Program: "id", Args: []string{"-u"}})
		if err != nil || !res.OK() {
			t.Fatalf("%v %+v", err, res)
		}
		users = append(users, strings.TrimSpace(res.Stdout.String()))
	}
	if users[0] == users[1] || users[0] == "0" || users[1] == "0" {
		t.Errorf("the sandboxes' users are %q", users)
	}
}

// TestSandboxOfAContainer asserts that the sandboxes of two Airlocks, one of them in a container, have
// different users, so that neither ends the other's programs. The Airlock outside sees the programs
// in the container, but chose its user before they ran. The Airlock in the container, with
// namespaces of its own, does not see the programs outside.
func TestSandboxOfAContainer(t *testing.T) {
	if workspace := os.Getenv("AIRLOCK_TEST_CONTAINER"); workspace != "" {
		runInContainer(t, workspace)
		return
	}
	t.Parallel()
	r := newRunner(t)
	cfg := r.config()
	cfg.Identity = nil
	outside := open(t, cfg)
	if outside == nil {
		return
	}
	defer outside.Close()
	if command.ProbeNoNetwork() != nil { // no right to make namespaces
		return
	}
	container := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestSandboxOfAContainer$", "-test.v")
	container.Env = append(os.Environ(), "AIRLOCK_TEST_CONTAINER="+r.workspace)
	container.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWPID | unix.CLONE_NEWNET | unix.CLONE_NEWNS}
	container.Stderr = os.Stderr
	in, err := container.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := container.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := container.Start(); err != nil {
		t.Fatal(err)
	}
	var said []string
	for lines := bufio.NewScanner(out); lines.Scan(); {
		line := lines.Text()
		said = append(said, line)
		if !strings.HasPrefix(line, "program of ") {
			continue
		}
		if user := mustRun(t, outside.Run, command.Spec{Program: "id", Args: []string{"-u"}}); "program of "+user == line {
			t.Errorf("both have the user %s", user)
		}
		if _, err := io.WriteString(in, "is still there\n"); err != nil {
			t.Fatal(err)
		}
	}
	if err := container.Wait(); err != nil || !slices.Contains(said, "is still there") {
		t.Errorf("%v:\n%s", err, strings.Join(said, "\n"))
	}
}

// runInContainer runs, in a sandbox, a program that prints its user, reads a line and prints that.
func runInContainer(t *testing.T, workspace string) {
	if err := errors.Join(unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""), unix.Mount("proc", "/proc", "proc", 0, "")); err != nil {
		t.Fatal(err)
	}
	sandbox, err := isolate.Open(t.Context(), isolate.Config{Workspace: workspace, Environ: os.Environ()})
	if err != nil {
		t.Fatal(err)
	}
	defer sandbox.Close()
	mustRun(t, sandbox.Run, command.Spec{Program: "sh", Args: []string{"-c", `echo; echo "program of $(id -u)"; read -r word; echo "$word"`},
		Stdin: os.Stdin, Stdout: os.Stdout})
}

// TestProgramsThatNobodyMayReplace asserts that directories of PATH are not a reason to refuse
// if they have the sticky bit, cannot be reached or do not exist.
func TestProgramsThatNobodyMayReplace(t *testing.T) {
	t.Parallel()
	r := newRunner(t)
	sticky, hidden := filepath.Join(r.base, "sticky"), filepath.Join(r.base, "hidden")
	if err := errors.Join(os.Mkdir(sticky, 0o755), os.Chmod(sticky, 0o777|os.ModeSticky), os.MkdirAll(hidden+"/bin", 0o755), os.Chmod(hidden+"/bin", 0o777), os.Chmod(hidden, 0o700)); err != nil {
		t.Fatal(err)
	}
	cfg := r.config()
	cfg.Environ = append(cfg.Environ, "PATH=/bin:"+sticky+":"+hidden+"/bin:"+r.base+"/none")
	if sandbox := open(t, cfg); sandbox != nil {
		if err := sandbox.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestNothingStays asserts that what a program leaves is removed: processes, files, and objects of
// System V, also those that it has given away.
func TestNothingStays(t *testing.T) {
	t.Parallel()
	r := newRunner(t)
	sandbox := open(t, r.config())
	if sandbox == nil {
		return
	}
	name := fmt.Sprintf("airlock-left-%d", os.Getpid())
	res, err := sandbox.Run(t.Context(), sh(`for dir in /tmp /var/tmp /dev/shm /run/lock; do [ -w $dir ] || continue; mkdir -p $dir/$1 && echo evil >$dir/$1/evil || exit 1; done; trap "" TERM; setsid sleep 600 & echo $!`, name))
	sleeper := strings.TrimSpace(res.Stdout.String())
	if err != nil || !res.OK() || sleeper == "" {
		t.Errorf("%v, %+v", err, res)
	}
	if status, err := os.ReadFile("/proc/" + sleeper + "/status"); err == nil && !strings.Contains(string(status), "State:\tZ") {
		t.Errorf("still there:\n%s", status)
	}
	mustRun(t, sandbox.Run, sh(`for i in $(seq 2000); do : >/tmp/$1-$i; done; ipcmk -M 4096 && ipcmk -Q && ipcmk -S 3`, name))
	giveAway(t, r.config().Identity.UID)
	if err := sandbox.Close(); err != nil {
		t.Error(err)
	}
	for _, pattern := range []string{"/tmp/" + name + "*", "/var/tmp/" + name, "/dev/shm/" + name, "/run/lock/" + name} {
		if left, err := filepath.Glob(pattern); err != nil || len(left) > 0 {
			t.Errorf("%d of %s are still there: %v", len(left), pattern, err)
		}
	}
	if left := objects(t, r.config().Identity.UID); len(left) > 0 {
		t.Errorf("still there:\n%s", left)
	}
	if err := sandbox.Close(); err != nil {
		t.Errorf("closing twice: %v", err)
	}
}

// objects lists the objects of System V that a user has made, by table.
func objects(t *testing.T, creator uint32) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, table := range []string{"shm", "msg", "sem"} {
		text, err := os.ReadFile("/proc/sysvipc/" + table)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			if slices.Contains(strings.Fields(line), fmt.Sprint(creator)) {
				all[table] += line
			}
		}
	}
	return all
}

// giveAway makes the user's shared memory another's, as its owner may.
func giveAway(t *testing.T, creator uint32) {
	t.Helper()
	left := objects(t, creator)
	if len(left) != 3 {
		t.Fatalf("the program left %v", left)
	}
	id, err := strconv.Atoi(strings.Fields(left["shm"])[1])
	if err != nil {
		t.Fatal(err)
	}
	var desc unix.SysvShmDesc
	if _, err := unix.SysvShmCtl(id, unix.IPC_STAT, &desc); err != nil {
		t.Fatal(err)
	}
	desc.Perm.Uid, desc.Perm.Gid = 0, 0
	if _, err := unix.SysvShmCtl(id, unix.IPC_SET, &desc); err != nil {
		t.Fatal(err)
	}
}
