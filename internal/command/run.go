package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"time"

	"github.com/agent-airlock/airlock/internal/crash"
)

// waitDelay is how long output is awaited from processes that outlive the
// program and keep its streams open.
const waitDelay = 2 * time.Second

// endWithin is how long the processes that a program started may need to die.
const endWithin = 20 * time.Second

// Run runs the program until it has ended, and then kills what is left of its process group. With
// an Identity, or if it is Supervised, Run ends everything that the program started, and waits for
// that. The error is non-nil only when the program could not be run, when ctx ended it, when
// Spec.Stdin, Spec.Stdout or Spec.Stderr failed, or when a process of the Identity cannot be ended;
// the Result then describes the run as far as it went.
func Run(ctx context.Context, spec Spec) (Result, error) {
	spec = spec.withPath()
	path, err := spec.check()
	if err != nil {
		return Result{ExitCode: -1}, err
	}
	runCtx, cancel := ctx, func() {}
	if spec.Timeout > 0 {
		runCtx, cancel = context.WithTimeout(ctx, spec.Timeout)
	}
	defer cancel()
	p := newRunning(runCtx, path, spec)
	// The program may be tied to the thread that starts it.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	began := time.Now()
	if err := p.start(spec); err != nil {
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		return Result{ExitCode: -1}, fmt.Errorf("cannot start %s: %w", spec.Program, err)
	}
	if spec.MaxMemory > 0 {
		limitMemory(p.cmd.Process.Pid, spec.MaxMemory)
	}
	endErr, err := p.wait(spec.Identity)
	state := p.cmd.ProcessState
	r := Result{ExitCode: state.ExitCode(), Signal: signalOf(state), Lingered: errors.Is(err, exec.ErrWaitDelay),
		Stdout: p.stdout.output(), Stderr: p.stderr.output(), Duration: time.Since(began)}
	if endErr != nil {
		return r, endErr
	}
	if p.endedByUs {
		if ctx.Err() != nil {
			return r, fmt.Errorf("%s was ended: %w", spec.Program, context.Cause(ctx))
		}
		r.TimedOut = true
		return r, nil
	}
	if sink := cmp.Or(p.stdout.err, p.stderr.err); sink != nil {
		return r, fmt.Errorf("passing on the output of %s: %w", spec.Program, sink)
	}
	if _, exited := errors.AsType[*exec.ExitError](err); err != nil && !r.Lingered && !exited {
		return r, fmt.Errorf("running %s: %w", spec.Program, err)
	}
	return r, nil
}

// running is a program from its start to its end.
type running struct {
	cmd            *exec.Cmd
	stdout, stderr *tee
	lifeline       *os.File    // to the supervisor; nil without one
	endedByUs      bool        // set by Cancel, before Wait returns
	killTimer      *time.Timer // set by Cancel, too; nil if nothing has to be killed later
}

// newRunning prepares a program that ends with the context.
func newRunning(ctx context.Context, path string, spec Spec) *running {
	limit := cmp.Or(max(spec.OutputLimit, 0), DefaultOutputLimit)
	cmd := exec.CommandContext(ctx, path)
	p := &running{cmd: cmd, stdout: &tee{capture: newCapture(limit), to: spec.Stdout}, stderr: &tee{capture: newCapture(limit), to: spec.Stderr}}
	cmd.Args = append([]string{spec.Program}, spec.Args...)
	cmd.Env = append([]string{}, spec.Env...) // nil would inherit
	cmd.Dir = spec.Dir
	cmd.Stdin = spec.Stdin
	cmd.ExtraFiles = spec.ExtraFiles
	cmd.Stdout, cmd.Stderr = p.stdout, p.stderr
	cmd.WaitDelay = waitDelay + spec.Grace
	if spec.Supervised {
		cmd.WaitDelay += endWithin // the supervisor ends everything first
	}
	prepare(cmd)
	cmd.Cancel = func() error {
		p.endedByUs = true
		if spec.Grace > 0 && p.terminate() {
			p.killTimer = time.AfterFunc(spec.Grace, p.killEverything)
			return nil
		}
		p.killEverything()
		return nil
	}
	return p
}

// wait waits for the program's end, and ends what it left running in its group or, with an
// identity, anywhere. endErr is why one of these processes cannot be ended, err the error of
// exec.Cmd.Wait.
func (p *running) wait(identity *Identity) (endErr, err error) {
	unreaped := awaitExit(p.cmd.Process)
	if identity != nil {
		endErr = endUser(*identity, p.cmd.Process)
	}
	if unreaped {
		killGroup(p.cmd.Process) // while no other group can have its number
	}
	err = p.cmd.Wait()
	if p.killTimer != nil {
		p.killTimer.Stop()
	}
	if p.lifeline != nil {
		_ = p.lifeline.Close()
	}
	if !unreaped {
		killGroup(p.cmd.Process)
	}
	return endErr, err
}

// tee copies a stream to a capture and to a writer of the caller's.
type tee struct {
	*capture
	to  io.Writer // may be nil
	err error     // the writer's error
}

// Write implements io.Writer.
func (t *tee) Write(p []byte) (int, error) {
	if t.to != nil {
		if t.err = crash.Try(func() error { _, err := t.to.Write(p); return err }); t.err != nil {
			return 0, t.err
		}
	}
	return t.capture.Write(p)
}
