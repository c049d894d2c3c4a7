//go:build unix

package main_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/agent-airlock/airlock/internal/githubtest"
)

// TestInterrupted asserts that an interruption between two writes leaves a report
// of what was done and what was not, and that the next run completes it.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	s := server(t, pullRequestFixture(), githubtest.Options{})
	dir := t.TempDir()
	for name, text := range map[string]string{
		"lines.ndjson": `{"type":"add-issue-comment","body":"Hello"}` + "\n" + `{"type":"create-issue","title":"T","body":"B"}` + "\n",
		"policy.yml":   "add-issue-comment:\ncreate-issue:\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
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
