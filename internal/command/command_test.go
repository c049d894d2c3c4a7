//go:build unix

package command_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/agent-airlock/airlock/internal/command"
)

const path = "PATH=/usr/local/bin:/usr/bin:/bin"

func sh(t *testing.T, script string) command.Spec {
	t.Helper()
	return command.Spec{Program: "sh", Args: []string{"-c", script}, Env: []string{path}, Dir: t.TempDir()}
}

func run(t *testing.T, spec command.Spec) command.Result {
	t.Helper()
	r, err := command.Run(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestExit(t *testing.T) {
	tests := []struct {
		script string
		code   int
		signal string
	}{
		{"exit 0", 0, ""},
		{"exit 7", 7, ""},
		{"kill -TERM $$", -1, "terminated"},
		{"kill -9 $$", -1, "killed"},
	}
	for _, tt := range tests {
		r := run(t, sh(t, tt.script))
		if r.ExitCode != tt.code || r.Signal != tt.signal || r.OK() != (tt.code == 0) || r.TimedOut || r.Lingered {
			t.Errorf("%s: %+v", tt.script, r)
		}
	}
}

func TestEnvironmentIsBuiltFromZero(t *testing.T) {
	t.Setenv("GITHUB_TOKEN", "ghs_leak")
	spec := sh(t, "env")
	spec.Env = append(spec.Env, "A=1 2", "B=")
	out := run(t, spec).Stdout.String()
	for _, want := range []string{"A=1 2\n", "B=\n", path + "\n"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is missing from %q", want, out)
		}
	}
	if strings.Contains(out, "ghs_leak") || strings.Contains(out, "HOME=") {
		t.Errorf("inherited: %q", out)
	}
	bare := command.Spec{Program: "/usr/bin/env", Dir: "/"}
	if out := run(t, bare).Stdout.String(); out != "" {
		t.Errorf("no environment gives %q", out)
	}
}

func TestArgumentsReachTheProgramAsTheyAre(t *testing.T) {
	args := []string{"$(touch x)", "; rm -rf .", "a b", "", "*", "-n", "`id`", "\n"}
	spec := command.Spec{Program: "printf", Args: append([]string{`[%s]`}, args...), Env: []string{path}, Dir: t.TempDir()}
	want := "[" + strings.Join(args, "][") + "]"
	if got := run(t, spec).Stdout.String(); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestStdinAndDir(t *testing.T) {
	spec := sh(t, "cat; pwd -P")
	spec.Stdin = strings.NewReader("hello\n")
	dir, err := filepath.EvalSymlinks(spec.Dir)
	if err != nil {
		t.Fatal(err)
	}
	if got := run(t, spec).Stdout.String(); got != "hello\n"+dir+"\n" {
		t.Errorf("got %q", got)
	}
	if got := run(t, sh(t, "cat")).Stdout.String(); got != "" {
		t.Errorf("no input reads as %q", got)
	}
	// A program that does not read all of its input has not failed.
	spec = sh(t, "exit 0")
	spec.Stdin = bytes.NewReader(make([]byte, 1<<20))
	if r := run(t, spec); !r.OK() {
		t.Errorf("%+v", r)
	}
}

func TestOutputIsBoundedAndDrained(t *testing.T) {
	spec := sh(t, "seq 1 200000; echo end >&2")
	spec.OutputLimit = 1000
	var all bytes.Buffer
	spec.Stdout = &all
	r := run(t, spec)
	o := r.Stdout
	if len(o.Head) != 500 || len(o.Tail) != 500 || !o.Truncated() || o.Dropped != int64(all.Len()-1000) {
		t.Errorf("head %d, tail %d, dropped %d of %d", len(o.Head), len(o.Tail), o.Dropped, all.Len())
	}
	if !bytes.HasPrefix(all.Bytes(), o.Head) || !bytes.HasSuffix(all.Bytes(), o.Tail) {
		t.Error("head or tail are not those of the stream")
	}
	if s := o.String(); !strings.Contains(s, "\n[... 1.3 MiB left out ...]\n") || !strings.HasSuffix(s, "200000\n") {
		t.Errorf("%q", s)
	}
	if r.Stderr.String() != "end\n" || r.Stderr.Truncated() {
		t.Errorf("stderr %q", r.Stderr)
	}
}

func TestTimeoutKillsTheGroup(t *testing.T) {
	for _, grace := range []time.Duration{0, 50 * time.Millisecond} {
		spec := sh(t, `trap "" TERM; sleep 600 & echo $! > pid; echo started; wait; sleep 600`)
		spec.Timeout, spec.Grace = 300*time.Millisecond, grace
		r := run(t, spec)
		if !r.TimedOut || r.OK() || r.Stdout.String() != "started\n" || r.Duration > 30*time.Second {
			t.Errorf("grace %v: %+v", grace, r)
		}
		assertGone(t, spec.Dir)
	}
}

func TestGraceLetsTheProgramEnd(t *testing.T) {
	spec := sh(t, `trap "echo bye; exit 3" TERM; while :; do sleep 0.01; done`)
	spec.Timeout, spec.Grace = 200*time.Millisecond, 30*time.Second
	if r := run(t, spec); !r.TimedOut || r.ExitCode != 3 || r.Stdout.String() != "bye\n" {
		t.Errorf("%+v", r)
	}
}

func TestWhatIsLeftInTheGroupIsKilled(t *testing.T) {
	spec := sh(t, `sleep 600 & echo $! > pid; exit 0`)
	if r := run(t, spec); !r.OK() || r.Lingered || r.Duration > 30*time.Second {
		t.Errorf("%+v", r)
	}
	assertGone(t, spec.Dir)
}

// assertGone waits until the process whose id the script wrote is dead. A zombie counts as dead: it
// stays until its parent reaps it.
func assertGone(t *testing.T, dir string) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, "pid"))
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(data)))
	if err != nil {
		t.Fatal(err)
	}
	waitUntil(t, func() bool { return !alive(pid) }, fmt.Sprintf("process %d has ended", pid))
}

// waitUntil waits for a condition, which the text describes, for 20 seconds at most.
func waitUntil(t *testing.T, condition func() bool, text string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !condition() {
		select {
		case <-ctx.Done():
			t.Fatalf("waited in vain until %s", text)
		case <-tick.C:
		}
	}
}

func alive(pid int) bool {
	if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
		return false
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err != nil || !strings.Contains(string(stat), ") Z ")
}

func TestContextEndsTheRun(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	stop := errors.New("stop it")
	spec := sh(t, "echo ready; sleep 600")
	spec.Stdout = writer(func(p []byte) (int, error) { cancel(stop); return len(p), nil })
	r, err := command.Run(ctx, spec)
	if !errors.Is(err, stop) || r.Stdout.String() != "ready\n" {
		t.Errorf("err %v, %+v; want the cause of the end", err, r)
	}
	if _, err := command.Run(ctx, spec); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled context starts a program: %v", err)
	}
}

type writer func([]byte) (int, error)

func (w writer) Write(p []byte) (int, error) { return w(p) }

func TestErrors(t *testing.T) {
	dir := t.TempDir()
	plain := filepath.Join(dir, "plain")
	if err := os.WriteFile(plain, []byte("#!/bin/sh\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name string
		spec command.Spec
		want string
	}{
		{"no program", command.Spec{Dir: dir}, "no program"},
		{"no directory", command.Spec{Program: "sh"}, "no working directory"},
		{"not found", command.Spec{Program: "no-such-program", Dir: dir, Env: []string{path}}, "no-such-program: executable file not found in $PATH: install it, or extend PATH"},
		{"no PATH", command.Spec{Program: "sh", Dir: dir}, "not found"},
		{"relative PATH", command.Spec{Program: "sh", Dir: "/bin", Env: []string{"PATH=.:"}}, "not found"},
		{"a directory", command.Spec{Program: dir + "/", Dir: dir}, "is a directory"},
		{"not executable", command.Spec{Program: plain, Dir: dir}, "not executable"},
		{"no such file", command.Spec{Program: dir + "/x", Dir: dir}, "no such file"},
		{"bad environment", command.Spec{Program: "/bin/sh", Dir: dir, Env: []string{"A"}}, "not NAME=value"},
		{"NUL in the environment", command.Spec{Program: "/bin/sh", Dir: dir, Env: []string{"A=\x00"}}, "not NAME=value"},
		{"missing directory", command.Spec{Program: "/bin/sh", Dir: dir + "/none"}, "cannot start"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r, err := command.Run(t.Context(), tt.spec)
			if err == nil || !strings.Contains(err.Error(), tt.want) || r.OK() {
				t.Errorf("err = %v, want one with %q", err, tt.want)
			}
		})
	}
	if _, err := command.LookPath("no-such-program", "/bin"); !errors.Is(err, exec.ErrNotFound) {
		t.Errorf("LookPath: %v", err)
	}
}

func TestFailingSinkEndsTheRun(t *testing.T) {
	spec := sh(t, "seq 1 100000")
	full := errors.New("disk full")
	spec.Stdout = writer(func([]byte) (int, error) { return 0, full })
	if _, err := command.Run(t.Context(), spec); !errors.Is(err, full) {
		t.Errorf("the error is %v, want the writer's", err)
	}
}

func TestExtraFiles(t *testing.T) {
	spec := sh(t, "sh -c 'cat <&3'") // a child of the program inherits it too
	spec.ExtraFiles = []*os.File{pipe(t, "by the pipe")}
	if r := run(t, spec); r.Stdout.String() != "by the pipe" {
		t.Errorf("the program read %q", r.Stdout)
	}
}

// pipe returns the end of a pipe from which the text can be read.
func pipe(t *testing.T, text string) *os.File {
	t.Helper()
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = read.Close() })
	if _, err := write.WriteString(text); err != nil {
		t.Fatal(err)
	}
	if err := write.Close(); err != nil {
		t.Fatal(err)
	}
	return read
}
