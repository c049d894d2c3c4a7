// Package command runs a program: its identity, an environment from zero, limits
// of time and output, and the end of everything it started.
package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// DefaultOutputLimit is how much of each output stream is kept, in bytes, when
// a Spec does not say.
const DefaultOutputLimit = 4 << 20

// ErrNotFound is wrapped by the error about a program that no directory of PATH
// holds.
var ErrNotFound = exec.ErrNotFound

// waitDelay is how long output is awaited from processes that outlive the
// program and hold its streams open.
const waitDelay = 2 * time.Second

// Spec says what to run. No shell is involved: each argument reaches the
// program as it is.
type Spec struct {
	// Program is a path, or a name that is looked up in the PATH of Env.
	Program string
	Args    []string // without the program's name
	// Env is the whole environment, as NAME=value; nothing is inherited.
	Env   []string
	Dir   string    // the working directory; it must be given
	Stdin io.Reader // nil reads as empty
	// Stdout and Stderr additionally receive the whole streams as they come; nil
	// for none. A write error ends the run.
	Stdout, Stderr io.Writer
	// ExtraFiles are inherited by the program as its files 3, 4 and so on. It is
	// how a secret can be passed that arguments and environment must not show.
	// Windows has no such thing: the program is not started then.
	ExtraFiles []*os.File
	Timeout    time.Duration // 0: only the context ends the run
	// Grace is the time between asking the process group to end (SIGTERM) and
	// killing it; 0 kills at once. On Windows it is always killed at once.
	Grace       time.Duration
	OutputLimit int // bytes kept of each stream; 0: DefaultOutputLimit
	// Identity runs the program apart from this process; nil runs it as this
	// process's user. With it or with Limits, this program must call EnterChild.
	Identity *Identity
	Limits   Limits
}

// Identity is the user and group that a program runs as, apart from this process:
// in a session of its own, without supplementary groups and capabilities, unable
// to gain any (a setuid program does not help), and killed when this process ends.
// It needs Linux and root.
//
// User and group must be nobody else's, and UID+1 must be nobody's: every process
// of UID is killed when the program has ended. So one program runs as an identity
// at a time.
type Identity struct{ UID, GID uint32 }

// Result is how a run ended. A program that fails is a result, not an error.
type Result struct {
	ExitCode int    // -1 when a signal ended the program
	Signal   string // the signal's name, "" when there was none
	TimedOut bool   // Spec.Timeout was over
	// Lingered reports that a process which left the group still held the output
	// open: what it wrote later is not captured. It cannot happen with an Identity.
	Lingered bool
	// LeftBehind is how many processes the program left, which were killed; they
	// are counted where Spec.Identity tells them from others.
	LeftBehind     int
	Stdout, Stderr Output
	Duration       time.Duration
}

// OK reports whether the program ended by itself with exit code 0.
func (r Result) OK() bool { return r.ExitCode == 0 && !r.TimedOut }

// Run runs the program and waits for its end and for that of its process group;
// with an Identity, for that of everything it started. The error is non-nil only
// when the program could not be run, when ctx ended it, or when a process of the
// Identity cannot be ended; the Result holds then what there was.
func Run(ctx context.Context, spec Spec) (Result, error) {
	path, err := spec.check()
	if err != nil {
		return Result{ExitCode: -1}, err
	}
	runCtx, cancel := ctx, func() {}
	if spec.Timeout > 0 {
		runCtx, cancel = context.WithTimeout(ctx, spec.Timeout)
	}
	defer cancel()

	limit := spec.OutputLimit
	if limit <= 0 {
		limit = DefaultOutputLimit
	}
	stdout := &tee{capture: newCapture(limit), to: spec.Stdout}
	stderr := &tee{capture: newCapture(limit), to: spec.Stderr}
	cmd := exec.CommandContext(runCtx, path)
	cmd.Args = append([]string{spec.Program}, spec.Args...)
	cmd.Env = append([]string{}, spec.Env...) // nil would inherit
	cmd.Dir = spec.Dir
	cmd.Stdin = spec.Stdin
	cmd.ExtraFiles = spec.ExtraFiles
	cmd.Stdout, cmd.Stderr = stdout, stderr
	cmd.WaitDelay = waitDelay + spec.Grace
	prepare(cmd)
	var ended bool       // written by Cancel, which is over when Wait returns
	var kill *time.Timer // likewise
	cmd.Cancel = func() error {
		ended = true
		if spec.Grace > 0 && terminateGroup(cmd.Process) {
			kill = time.AfterFunc(spec.Grace, func() { killGroup(cmd.Process) })
			return nil
		}
		killGroup(cmd.Process)
		return nil
	}
	// The program may be tied to the thread that starts it.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	began := time.Now()
	if err := start(cmd, spec); err != nil {
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		return Result{ExitCode: -1}, fmt.Errorf("cannot start %s: %w", spec.Program, err)
	}
	var r Result
	var endErr error
	unreaped := awaitExit(cmd.Process)
	if spec.Identity != nil {
		r.LeftBehind, endErr = endUser(*spec.Identity, cmd.Process)
	}
	if unreaped {
		killGroup(cmd.Process) // what the program left behind in its group
	}
	err = cmd.Wait()
	if kill != nil {
		kill.Stop()
	}
	if !unreaped {
		killGroup(cmd.Process)
	}

	r.ExitCode, r.Signal, r.Duration = cmd.ProcessState.ExitCode(), signalOf(cmd.ProcessState), time.Since(began)
	r.Stdout, r.Stderr = stdout.output(), stderr.output()
	r.Lingered = errors.Is(err, exec.ErrWaitDelay)
	if endErr != nil {
		return r, endErr
	}
	if ended {
		if ctx.Err() != nil {
			return r, fmt.Errorf("%s was ended: %w", spec.Program, context.Cause(ctx))
		}
		r.TimedOut = true
		return r, nil
	}
	if sink := cmp.Or(stdout.err, stderr.err); sink != nil {
		return r, fmt.Errorf("passing on the output of %s: %w", spec.Program, sink)
	}
	var exit *exec.ExitError
	if err != nil && !r.Lingered && !errors.As(err, &exit) {
		return r, fmt.Errorf("running %s: %w", spec.Program, err)
	}
	return r, nil
}

// check validates the spec and returns the program's path.
func (s Spec) check() (string, error) {
	if s.Dir == "" {
		return "", errors.New("command: no working directory is given")
	}
	pathList := ""
	for _, e := range s.Env {
		name, value, ok := strings.Cut(e, "=")
		if !ok || name == "" || strings.ContainsRune(e, 0) {
			return "", errors.New("command: the environment has an entry that is not NAME=value")
		}
		if name == "PATH" || runtime.GOOS == "windows" && strings.EqualFold(name, "PATH") {
			pathList = value
		}
	}
	return Look(s.Program, pathList)
}

// Look finds a program as Run does: a name in the absolute directories of
// pathList, anything with a separator as the path that it is.
func Look(program, pathList string) (string, error) {
	if program == "" {
		return "", errors.New("command: no program is given")
	}
	if strings.ContainsAny(program, `/`+string(filepath.Separator)) {
		abs, err := filepath.Abs(program)
		if err == nil {
			err = executable(abs)
		}
		if err != nil {
			return "", fmt.Errorf("cannot run %s: %w", program, err)
		}
		return abs, nil
	}
	for _, dir := range filepath.SplitList(pathList) {
		if !filepath.IsAbs(dir) {
			continue // the working directory may be the pull request's
		}
		for _, ext := range extensions {
			if p := filepath.Join(dir, program+ext); executable(p) == nil {
				return p, nil
			}
		}
	}
	return "", fmt.Errorf("%s: %w in the directories of PATH: install it, or extend PATH", program, ErrNotFound)
}

func executable(path string) error {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return err
	case info.IsDir():
		return errors.New("it is a directory")
	case runtime.GOOS != "windows" && info.Mode()&0o111 == 0:
		return errors.New("it is not executable")
	}
	return nil
}

// tee copies a stream to a capture and to a writer of the caller's.
type tee struct {
	*capture
	to  io.Writer // may be nil
	err error     // the writer's
}

// Write implements io.Writer.
func (t *tee) Write(p []byte) (int, error) {
	if t.to != nil {
		if _, t.err = t.to.Write(p); t.err != nil {
			return 0, t.err
		}
	}
	return t.capture.Write(p)
}
