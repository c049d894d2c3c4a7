package isolate_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/agent-airlock/airlock/internal/command"
)

// TestAttacksOnAnotherLanesProgram while it runs. Each script succeeds as the program's
// own user.
func TestAttacksOnAnotherLanesProgram(t *testing.T) {
	room, lanes := openSplit(t, newRunner(t))
	if room == nil {
		return
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	pid, ended := make(chan string, 1), make(chan command.Result, 1)
	go func() {
		spec := in(room, "a", sh(`echo $$; until [ -e stop ]; do sleep 0.05; done; echo whole`))
		spec.Stdout = writer(func(p []byte) (int, error) {
			if text := strings.TrimSpace(string(p)); text != "whole" {
				pid <- text
			}
			return len(p), nil
		})
		res, err := lanes[0].Run(ctx, spec)
		if err != nil {
			t.Error(err)
		}
		ended <- res
	}()
	victim := <-pid
	for _, script := range []string{
		`kill -0 $1`, `cat /proc/$1/environ`, `cat /proc/$1/maps`, `ls /proc/$1/fd/`, `ls /proc/$1/cwd/`,
		`echo 9 >/proc/$1/oom_score_adj`, `cat /proc/$1/stack /proc/$1/syscall`,
	} {
		if res, err := lanes[1].Run(ctx, in(room, "b", sh(script, victim))); err != nil || res.ExitCode <= 0 {
			t.Errorf("%s: %v, exit code %d: %s", script, err, res.ExitCode, res.Stdout)
		}
		if strings.Contains(script, "syscall") {
			continue // a kernel may keep these for root
		}
		own := sh(`sh -c 'exec sleep 600' & p=$!; until grep -q sleep /proc/$p/cmdline; do :; done; set -- $p; `+script, "")
		if res, err := lanes[1].Run(ctx, in(room, "b", own)); err != nil || !res.OK() {
			t.Errorf("%s fails in any case: %v, exit code %d: %s", script, err, res.ExitCode, res.Stderr)
		}
	}
	said(t, lanes[1].Run, in(room, "b", sh(`touch ../a/stop`)))
	if res := <-ended; !res.OK() || !strings.HasSuffix(res.Stdout.String(), "whole\n") {
		t.Errorf("the other lane's program: %+v", res)
	}
}
