package command_test

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/agent-airlock/airlock/internal/command"
)

// fleeing starts a process that leaves group, session and parent, and ignores signals.
const fleeing = `setsid sh -c '(trap "" TERM HUP; sleep 600 & echo $! > pid.new; mv pid.new pid; wait) &' ; while ! test -s pid; do sleep 0.01; done; `

// TestSupervisorChangesNothing asserts that input, output, environment and result are those of the
// program, as without a supervisor, and that a program that is not there is an error.
func TestSupervisorChangesNothing(t *testing.T) {
	t.Parallel()
	for script, want := range map[string]struct {
		code           int
		signal, stdout string
	}{
		`cat; exit 3`:               {3, "", "input"},
		`kill -TERM $$`:             {-1, "terminated", ""},
		`kill -KILL $$`:             {-1, "killed", ""},
		`echo $SECRET; pwd >&2`:     {0, "", "s3cret\n"},
		`echo /proc/self/fd/[0-9]*`: {0, "", "/proc/self/fd/0 /proc/self/fd/1 /proc/self/fd/2 /proc/self/fd/3\n"}, // the last is sh's own
	} {
		spec := sh(t, script)
		spec.Supervised, spec.Stdin = true, strings.NewReader("input")
		spec.Env = append(spec.Env, "SECRET=s3cret")
		if r := run(t, spec); r.ExitCode != want.code || r.Signal != want.signal || r.Stdout.String() != want.stdout {
			t.Errorf("%s: %+v, %q", script, r, r.Stdout.String())
		}
	}
	spec := sh(t, "")
	spec.Supervised, spec.Program = true, "/nonexistent/program"
	if _, err := command.Run(t.Context(), spec); err == nil {
		t.Error("a program that is not there is started")
	}
}

// TestSupervisorEndsWhatFled asserts that what left a program's group ends with the program, which
// has its grace if it is interrupted.
func TestSupervisorEndsWhatFled(t *testing.T) {
	t.Parallel()
	t.Run("after the program", func(t *testing.T) {
		spec := sh(t, fleeing+`echo done`)
		spec.Supervised = true
		if r := run(t, spec); !r.OK() || r.Stdout.String() != "done\n" || r.Lingered {
			t.Errorf("%+v", r)
		}
		assertGone(t, spec.Dir)
	})
	t.Run("after the time", func(t *testing.T) {
		spec := sh(t, fleeing+`trap "" TERM; echo ready; sleep 600; sleep 600`)
		spec.Supervised, spec.Timeout, spec.Grace = true, time.Second, 100*time.Millisecond
		if r := run(t, spec); !r.TimedOut || r.Stdout.String() != "ready\n" || r.Duration > 20*time.Second {
			t.Errorf("%+v", r)
		}
		assertGone(t, spec.Dir)
	})
	t.Run("with grace", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		spec := sh(t, `trap "echo bye; exit 3" TERM; echo ready; while :; do sleep 0.01; done`)
		spec.Supervised, spec.Grace = true, time.Minute
		spec.Stdout = writer(func(p []byte) (int, error) { cancel(); return len(p), nil })
		if r, err := command.Run(ctx, spec); err == nil || r.ExitCode != 3 || !strings.HasSuffix(r.Stdout.String(), "bye\n") {
			t.Errorf("%+v, %v", r, err)
		}
	})
}

// TestSupervisorOutlivesItsParent kills a process that has a supervised program: this
// test itself, run a second time.
func TestSupervisorOutlivesItsParent(t *testing.T) {
	if dir := os.Getenv("AIRLOCK_TEST_SUPERVISED"); dir != "" {
		spec := sh(t, fleeing+`touch ready; sleep 600`)
		spec.Supervised, spec.Dir = true, dir
		_, _ = command.Run(t.Context(), spec)
		return
	}
	t.Parallel()
	dir := t.TempDir()
	killParent(t, dir, "AIRLOCK_TEST_SUPERVISED")
	assertGone(t, dir)
}
