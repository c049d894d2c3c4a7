//go:build unix

package main_test

import (
	"bytes"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/agent-airlock/airlock/internal/githubtest"
	"github.com/agent-airlock/airlock/internal/shorttest"
)

// TestInterrupted asserts that an interruption during the first of two writes leaves a report of
// what was done and what was not, and that the next run does the rest.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	s := server(t, pullRequestFixture(), githubtest.Options{})
	dir := t.TempDir()
	write(t, dir, map[string]string{
		"lines.ndjson": `{"type":"add-issue-comment","body":"Hello"}` + "\n" + `{"type":"create-issue","title":"T","body":"B"}` + "\n",
		"policy.yml":   "add-issue-comment:\ncreate-issue:\n",
	})
	args := []string{"apply", "--input", "lines.ndjson", "--config", "policy.yml", "--pace"}
	cmd := exec.CommandContext(t.Context(), binary, append(args, "1m")...)
	cmd.Dir, cmd.Env = dir, append([]string{"PATH=" + os.Getenv("PATH")}, workflowEnv(s, "pull_request", "pull_request.opened.json")...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	var once sync.Once
	process := make(chan *os.Process, 1)
	s.SetFault(func(r githubtest.Request) githubtest.Fault {
		if r.Method == "POST" && strings.HasSuffix(r.Path, "/issues/2/comments") {
			once.Do(func() { _ = (<-process).Signal(os.Interrupt) })
		}
		return githubtest.Fault{}
	})
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	process <- cmd.Process
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != 1 {
		t.Errorf("exit code %d, want 1", code)
	}
	for _, want := range []string{`"applied": 1`, `"failed": 1`, `"code": "cancelled"`} {
		if !strings.Contains(stdout.String(), want) {
			t.Errorf("the results lack %s:\n%s\n%s", want, stdout.String(), stderr.String())
		}
	}
	s.SetFault(nil)
	again := run(t, dir, workflowEnv(s, "pull_request", "pull_request.opened.json"), "", append(args, "0s")...)
	if again.code != 0 || !strings.Contains(again.stdout, `"adopted": 1`) || len(s.State().Issues[1].Comments) != 1 {
		t.Errorf("the second run ended with %d:\n%s", again.code, again.stderr)
	}
}

// How long after SIGINT the runner sends SIGTERM and SIGKILL to a cancelled step.
const (
	runnerTerminates = 7500 * time.Millisecond
	runnerKills      = runnerTerminates + 2500*time.Millisecond
)

// cancelled is how a cancelled step ended.
type cancelled struct {
	code       int
	terminated bool // it was still running when the runner sent SIGTERM
	log        string
}

// cancelAt runs the program and, as soon as the server receives a request of the
// operation, cancels it as the runner does. Requests of the operation meet the fault; if
// lasts is true, so do all requests after the first of them.
func cancelAt(t *testing.T, s *githubtest.Server, operation string, f githubtest.Fault, lasts bool, dir string, env []string, args ...string) cancelled {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), binary, args...)
	cmd.Dir, cmd.Env = dir, append([]string{"PATH=" + os.Getenv("PATH")}, env...)
	var log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &log, &log
	started, interrupted, gone := make(chan struct{}), make(chan struct{}), make(chan struct{})
	var res cancelled
	var began atomic.Bool
	var runner sync.WaitGroup
	s.SetFault(func(r githubtest.Request) githubtest.Fault {
		if r.Operation != operation && !(lasts && began.Load()) {
			return githubtest.Fault{}
		}
		if began.CompareAndSwap(false, true) {
			<-started
			_ = cmd.Process.Signal(os.Interrupt)
			close(interrupted)
		}
		return f
	})
	runner.Go(func() {
		select {
		case <-gone:
			return
		case <-interrupted:
		}
		select {
		case <-gone:
			return
		case <-time.After(runnerTerminates):
			res.terminated = true
			_ = cmd.Process.Signal(syscall.SIGTERM)
		}
		select {
		case <-gone:
		case <-time.After(runnerKills - runnerTerminates):
			_ = cmd.Process.Kill()
		}
	})
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	close(started)
	_ = cmd.Wait()
	close(gone)
	runner.Wait()
	res.code, res.log = cmd.ProcessState.ExitCode(), log.String()
	return res
}

// TestInterruptedWhileWriting asserts that the write in flight is finished if GitHub accepts it,
// that the report lists what was done and what was not, and that the step ends before the runner
// sends SIGTERM, even if GitHub does not answer at all.
func TestInterruptedWhileWriting(t *testing.T) {
	t.Parallel()
	lines := `{"type":"add-issue-comment","body":"Hello"}` + "\n" + `{"type":"create-issue","title":"T","body":"B"}` + "\n"
	for name, tt := range shorttest.Some(1, map[string]struct {
		fault   githubtest.Fault
		lasts   bool
		effects int
		want    []string // in the results
	}{
		"it takes a moment":      {githubtest.Fault{Delay: 300 * time.Millisecond}, false, 1, []string{`"state":"applied"`, `"code":"cancelled"`}},
		"GitHub never acts":      {githubtest.Fault{Delay: time.Hour}, true, 0, []string{`"code":"ambiguous"`, `"code":"cancelled"`}},
		"the answer never comes": {githubtest.Fault{Delay: time.Hour, After: true}, false, 1, []string{`"state":"applied"`, `"code":"cancelled"`}},
		"the connection is cut":  {githubtest.Fault{Cut: true, After: true}, false, 1, []string{`"state":"applied"`, `"code":"cancelled"`}},
		"GitHub is at its limit": {githubtest.SecondaryLimit(403, 60), true, 0, []string{`"code":"cancelled"`}},
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := server(t, pullRequestFixture(), githubtest.Options{})
			ws := newWorkspace(t, map[string]string{"lines.ndjson": lines})
			inputs := map[string]string{"output-file": "lines.ndjson", "config": "add-issue-comment:\ncreate-issue:\n"}
			env := ws.env(workflowEnv(s, "pull_request", "pull_request.opened.json"), inputs)
			res := cancelAt(t, s, "issues/create-comment", tt.fault, tt.lasts, ws.dir, env, "action")
			if res.code != 1 || res.terminated {
				t.Errorf("exit code %d, still running when the runner sent SIGTERM: %v\n%s", res.code, res.terminated, res.log)
			}
			results := ws.outputs(t)["results"]
			for _, want := range tt.want {
				if !strings.Contains(strings.ReplaceAll(results, " ", ""), want) {
					t.Errorf("the results lack %s:\n%s", want, results)
				}
			}
			if summary := readFile(t, ws.summary); !strings.Contains(summary, "cancelled") {
				t.Errorf("the summary does not say that the run was cancelled:\n%s", summary)
			}
			effects := 0
			for _, w := range s.Writes() {
				if w.Effect {
					effects++
				}
			}
			if effects != tt.effects {
				t.Errorf("%d writes took effect", effects)
			}
		})
	}
}
